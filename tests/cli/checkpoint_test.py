"""`polyad cpd --checkpoint`: runs that are stopped, killed or cut short go on as if nothing had happened."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

from program import POLYAD, SOURCE, WITH_MPI, ProgramTest, run

sys.path.insert(0, str(SOURCE / "tools"))
from kill_runs import kill_session, processes  # noqa: E402

os.environ["OMP_WAIT_POLICY"] = "passive"

METHODS = {
    "als": [], "nonneg": ["--nonneg"], "single": ["--precision", "single"], "opt": ["--method", "opt"],
    "missing": ["--missing", "--test", 0.1], "biases": ["--missing", "--biases"], "implicit": ["--implicit", "--shrink", 0.1],
    "svd": ["--init", "svd"],
}


def children_of(parent: int) -> list[int]:
    """The processes of the program that a launcher has started."""
    return [number for number, name, fields in processes() if int(fields[1]) == parent and name == pathlib.Path(POLYAD).name]


class CheckpointTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.x = self.folder / "x.tns"
        self.states = self.folder / "states"
        self.succeed("generate", "planted", self.x, "--dims", "40x30x20", "--nnz", 3000, "--noise", 0.1, "-q")

    def command(self, *options: object, iterations: int = 20) -> list[object]:
        return ["cpd", self.x, "-r", 5, "-i", iterations, "--tol", 0, "-t", 1, "-q", *options]

    def model(self, name: str) -> dict[str, bytes]:
        """The files of a model, but for the times of its run."""
        return {file.name: file.read_bytes() for file in (self.folder / name).iterdir() if file.name != "summary.json"}

    def names(self) -> list[str]:
        return sorted(os.listdir(self.states))

    def both(self, options: list[object], processes: int = 0, then: int = 0, half: int = 10) -> tuple[dict, dict]:
        """A run of 20 iterations, and one of 10 that goes on to 20, on other processes if `then` says so."""
        shutil.rmtree(self.states, ignore_errors=True)
        whole = self.result(*self.command(*options, "--out", self.folder / "whole"), processes=processes)
        kept = ["--checkpoint", self.states, "--every", "7it", *options]
        first = self.result(*self.command(*kept, iterations=half), processes=processes)
        again = self.result(*self.command(*kept, "--out", self.folder / "again"), processes=then or processes)
        self.assertEqual((first["checkpoint"]["resumed_iteration"], first["iterations"]), (0, half))
        self.assertEqual((again["checkpoint"]["resumed_iteration"], again["iterations"]), (half, whole["iterations"]))
        self.assertGreater(whole["iterations"], half)
        return whole, again

    def test_ten_and_ten_are_twenty_to_the_last_bit(self) -> None:
        for name, options in METHODS.items():
            with self.subTest(name):
                # With cells that are held out the error rises early, and the best model so far is a part of the state.
                whole, again = self.both(options, half=4 if name == "missing" else 10)
                self.assertEqual(again["fit_trajectory"], whole["fit_trajectory"])
                self.assertEqual(again.get("test_rmse_per_iteration"), whole.get("test_rmse_per_iteration"))
                self.assertEqual(again.get("evaluations"), whole.get("evaluations"))
                self.assertEqual(self.model("again"), self.model("whole"))

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_the_same_on_several_processes(self) -> None:
        for name, options in (("als", []), ("opt", ["--method", "opt"]), ("missing", ["--missing"]),
                              ("fine", ["--distribution", "fine"]), ("replicated", ["--replicate", 3, "--distribution", "medium"]),
                              ("routed", ["--distribution", "fine", "--exchange", "routed:2"])):
            with self.subTest(name):
                whole, again = self.both(options, processes=3)
                self.assertEqual(again["fit_trajectory"], whole["fit_trajectory"])
                self.assertEqual(self.model("again"), self.model("whole"))

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_a_run_goes_on_on_other_processes(self) -> None:
        for processes, then in ((3, 1), (1, 3), (2, 3)):
            with self.subTest(f"{processes} to {then}"):
                whole, again = self.both([], processes=processes, then=then)
                for here, there in zip(again["fit_trajectory"], whole["fit_trajectory"], strict=True):
                    self.assertAlmostEqual((1 - here) ** 2, (1 - there) ** 2, delta=1e-12)

    def test_several_starts_go_on_where_they_were(self) -> None:
        options = ["--starts", 3, "--checkpoint", self.states, "--every", "3it", "--keep", 100]
        whole = self.result(*self.command(*options, "--out", self.folder / "whole", iterations=7))
        for name in self.names():
            for newer in [other for other in self.names() if other > name]:
                shutil.rmtree(self.states / newer)
            again = self.result(*self.command(*options, "--out", self.folder / "again", iterations=7))
            self.assertEqual((again["starts"], again["fit_trajectory"]), (whole["starts"], whole["fit_trajectory"]), name)
            self.assertEqual(self.model("again"), self.model("whole"))

    def test_a_run_that_had_ended_ends_again(self) -> None:
        arguments = ["cpd", self.x, "-r", 5, "-i", 200, "-t", 1, "-q", "--checkpoint", self.states]
        first, again = self.result(*arguments), self.result(*arguments)
        self.assertEqual((again["stop"], again["fit_trajectory"]), ("converged", first["fit_trajectory"]))
        self.assertEqual(again["checkpoint"]["written"], 0)

    def test_as_many_are_kept_as_asked_for(self) -> None:
        self.succeed(*self.command("--checkpoint", self.states, "--every", "3it"))
        self.assertEqual(self.names(), ["000018", "000020"])
        self.succeed(*self.command("--checkpoint", self.states, "--every", "3it", "--keep", 1, iterations=25))
        self.assertEqual(self.names(), ["000025"])

    def test_checkpoints_of_other_runs_are_refused(self) -> None:
        self.succeed(*self.command("--checkpoint", self.states, iterations=4))
        manifest = self.states / "000004" / "manifest.json"
        here = f"{manifest}: is a checkpoint of "
        there = "; give another directory for other checkpoints"
        for option, value, old in (("--seed", 2, 1), ("--method", "opt", "als"), ("--precision", "single", "double"),
                                   ("--starts", 2, 1)):
            self.assert_fails(f"{here}a run with {option} {old}; this one has {value}{there}", 2,
                              *self.command(option, value, "--checkpoint", self.states))
        self.assert_fails(f"{here}a run with --rank 5; this one has 4{there}", 2,
                          "cpd", self.x, "-r", 4, "-q", "--checkpoint", self.states)
        self.assert_fails(f"--iters 3: the newest checkpoint in {self.states} is of iteration 4", 2,
                          *self.command("--checkpoint", self.states, iterations=3))
        lines = self.x.read_text().splitlines()
        self.x.write_text("\n".join([*lines[:-1], lines[-1].rsplit(maxsplit=1)[0] + " 77.5"]) + "\n")
        ended = run(*self.command("--checkpoint", self.states))
        self.assertRegex(ended.stderr, "is a checkpoint of another tensor: it is .* expected ")
        self.assertEqual(ended.returncode, 2)

    def test_a_damaged_byte_anywhere_is_found(self) -> None:
        self.succeed(*self.command("--checkpoint", self.states, "--every", "3it", "--method", "opt", iterations=6))
        rng = random.Random(5)
        files = sorted((self.states / "000006").iterdir())
        self.assertEqual([file.name for file in files], ["manifest.json", "numbers.bin", "rows-00000.bin"])
        for file in files:
            sound = file.read_bytes()
            for at in [0, len(sound) - 1, *rng.sample(range(len(sound)), 12)]:
                file.write_bytes(sound[:at] + bytes([sound[at] ^ (1 << rng.randrange(8))]) + sound[at + 1:])
                ended = run(*self.command("--checkpoint", self.states, "--method", "opt"))
                self.assertEqual(ended.returncode, 2, f"{file.name}, byte {at}: {ended.stderr}")
                self.assertIn(f"{file.parent}/", ended.stderr)
                self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
            file.write_bytes(sound[:-3])
            self.assertEqual(run(*self.command("--checkpoint", self.states, "--method", "opt")).returncode, 2)
            file.write_bytes(sound)
        self.succeed(*self.command("--checkpoint", self.states, "--method", "opt"))

    def test_check_says_what_checkpoints_hold(self) -> None:
        self.succeed(*self.command("--checkpoint", self.states, "--every", "3it", iterations=6))
        lines = self.succeed("check", self.states).splitlines()
        self.assertRegex(lines[0], rf"^{self.states}/000003: iteration 3 of polyad cpd, fit 0\.\d+; 40x30x20 with [\d,]+ nonzeros, rank 5, ")
        self.assertEqual(lines[2:], [f"{self.states}: no faults; 2 checkpoints"])
        self.assertEqual(self.succeed("check", self.states / "000006").splitlines()[-1], f"{self.states}/000006: no faults; 1 checkpoint")
        numbers = self.states / "000006" / "numbers.bin"
        numbers.write_bytes(numbers.read_bytes()[:-8])
        ended = run("check", self.states)
        self.assertEqual(ended.returncode, 2)
        self.assertRegex(ended.stdout, rf"(?m)^{numbers}: is damaged: it has \d+ bytes, expected \d+$")
        self.assert_fails(f"--fix: {self.states} holds checkpoints, which cannot be mended", 2, "check", self.states, "--fix", self.folder / "y.tns")

    def test_newer_versions_are_named(self) -> None:
        self.succeed(*self.command("--checkpoint", self.states, iterations=2))
        manifest = self.states / "000002" / "manifest.json"
        text = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**text, "polyad_checkpoint": 7, "program": "polyad 9.9"}))
        self.assert_fails(f"{manifest}: is of version 7 of checkpoints, written by polyad 9.9; this program reads version 1 and older", 2,
                          *self.command("--checkpoint", self.states))

    def test_places_that_cannot_be_written_to(self) -> None:
        self.assert_fails(f"--checkpoint {self.x} would overwrite the input", 2, *self.command("--checkpoint", self.x))
        file = self.write("file", "")
        self.assert_fails(f"{file}: cannot be written: Not a directory", 2, *self.command("--checkpoint", file))
        self.assertEqual(run(*self.command("--every", "3it")).returncode, 2)
        for every in ("0it", "it", "x", "5 apples"):
            self.assertEqual(run(*self.command("--checkpoint", self.states, "--every", every)).returncode, 2)

    def start(self, *options: object, processes: int = 0) -> subprocess.Popen:
        launcher = [str(SOURCE / "tools" / "mpirun"), str(processes)] if processes else []
        return subprocess.Popen([*launcher, POLYAD, *map(str, self.command(*options, iterations=1_000_000))],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def wait_for_checkpoint(self, process: subprocess.Popen) -> None:
        while process.poll() is None and not (self.states.is_dir() and any(name.isdigit() for name in self.names())):
            time.sleep(0.01)

    def test_signals_stop_after_the_iteration(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            shutil.rmtree(self.states, ignore_errors=True)
            model = self.folder / f"model{number}"
            process = self.start("--checkpoint", self.states, "--every", "5it", "--out", model)
            self.wait_for_checkpoint(process)
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 4, said)
            self.assertRegex(said, rf"^polyad: a signal ended the run after iteration \d+ of at most 1000000; the same command "
                                   rf"goes on from {self.states}\n$")
            summary = json.loads((model / "summary.json").read_text())
            self.assertEqual(summary["stop"], "interrupted")
            self.assertEqual(int(self.names()[-1]), summary["iterations"])
            self.assertTrue(all(name.isdigit() for name in self.names()))

    def test_other_signals_save_and_go_on(self) -> None:
        process = self.start("--checkpoint", self.states, "--every", "1h")
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        while not self.states.is_dir():
            time.sleep(0.01)
        self.assertEqual(self.names(), [])
        for number in (signal.SIGUSR1, signal.SIGXCPU):
            before = self.names()
            process.send_signal(number)
            deadline = time.monotonic() + 60
            while self.names() == before and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertNotEqual(self.names(), before)
            self.assertIsNone(process.poll())

    def test_a_time_limit_keeps_the_model(self) -> None:
        model = self.folder / "model"
        ended = run("cpd", self.x, "-r", 5, "-i", 10_000_000, "--tol", 0, "-t", 1, "-q", "--time-limit", "1s", "--out", model)
        self.assertEqual(ended.returncode, 4, ended.stderr)
        self.assertRegex(ended.stderr, r"^polyad: the time limit ended the run after iteration \d+ of at most 10000000; with "
                                       r"--checkpoint the same command would go on\n$")
        self.assertEqual(json.loads((model / "summary.json").read_text())["stop"], "time limit")

    def kill_and_go_on(self, kills: int, processes: int) -> None:
        """Killed at random moments, again and again, it comes to the answer of a run that was not."""
        rng = random.Random(processes)
        whole = self.result(*self.command("--out", self.folder / "whole", iterations=40), processes=processes)
        arguments = self.command("--checkpoint", self.states, "--every", "1it", "--out", self.folder / "again", iterations=40)
        launcher = [str(SOURCE / "tools" / "mpirun"), str(processes)] if processes else []
        for _ in range(kills):
            process = subprocess.Popen([*launcher, POLYAD, *map(str, arguments)], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(rng.uniform(0, 0.4 if processes else 0.15))
            kill_session(process.pid)
            process.wait()
        again = self.result(*arguments, processes=processes)
        self.assertEqual(again["fit_trajectory"], whole["fit_trajectory"])
        self.assertEqual(self.model("again"), self.model("whole"))
        self.assertTrue(all(name.isdigit() for name in self.names()), self.names())

    def test_killed_runs_go_on(self) -> None:
        self.kill_and_go_on(10, 0)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_killed_runs_of_several_processes_go_on(self) -> None:
        self.kill_and_go_on(4, 3)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_a_signal_to_one_process_stops_all(self) -> None:
        process = self.start("--checkpoint", self.states, "--every", "5it", processes=3)
        self.wait_for_checkpoint(process)
        os.kill(max(children_of(process.pid)), signal.SIGTERM)
        _, said = process.communicate(timeout=120)
        self.assertIn("polyad: a signal ended the run after iteration ", said)
        self.assertNotEqual(process.returncode, 0)
        self.assertTrue(all(name.isdigit() for name in self.names()))

    def test_one_run_at_a_time(self) -> None:
        process = self.start("--checkpoint", self.states, "--every", "1h")
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        while not self.states.is_dir():
            time.sleep(0.01)
        self.assert_fails(f"{self.states}: another run is writing its checkpoints there; give another directory", 2,
                          *self.command("--checkpoint", self.states))


if __name__ == "__main__":
    unittest.main()
