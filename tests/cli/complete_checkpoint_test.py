"""`polyad complete --checkpoint`: trainings that are stopped, killed or cut short go on as if nothing had happened."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from interrupt_test import SENTENCE, handles
from program import POLYAD, SOURCE, WITH_MPI, ProgramTest, run

sys.path.insert(0, str(SOURCE / "tools"))
from kill_runs import kill_session  # noqa: E402
from checkpoint_test import children_of  # noqa: E402

os.environ["OMP_WAIT_POLICY"] = "passive"

METHODS = {
    "sgd": [], "als": ["--method", "als"], "implicit": ["--implicit"], "cg": ["--implicit", "--solver", "cg"],
    "bold": ["--schedule", "bold", "--lists", "ratings", "--precision", "double"],
    "items": ["--by", "items", "--test", 0.2, "--patience", 2],
    "no bias": ["--no-bias", "--schedule", "inverse", "--lists", "ratings"],
    "validated": ["--test", 0.1, "--validate", 0.1, "--lr", 0.3, "--lists", "ratings"],
    "virtual": ["--virtual", 5, "--sync", 3, "--lists", "ratings"],
    "undone": ["--schedule", "constant", "--lr", 2.5, "--explicit-update", "--lists", "ratings"],
}
TIMES = {"seconds", "per_epoch", "peak_memory_bytes", "ratings_per_second", "checkpoint", "communication", "volume_words_per_epoch"}


class CompleteCheckpointTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.ratings = self.folder / "ratings.tns"
        self.states = self.folder / "states"
        self.succeed("generate", "ratings", self.ratings, "--users", 150, "--items", 90, "--nnz", 4000, "-r", 2, "-q")

    def command(self, *options: object, epochs: int = 20) -> list[object]:
        return ["complete", self.ratings, "-r", 4, "-e", epochs, "-t", 1, "-q", *options]

    def model(self, name: str) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in (self.folder / name).iterdir()}

    def both(self, options: list[object], processes: int = 0, then: int = 0, half: int = 10) -> tuple[dict, dict]:
        """A training of 20 epochs, and one of 10 that goes on to 20, on other processes if `then` says so."""
        shutil.rmtree(self.states, ignore_errors=True)
        whole = self.result(*self.command(*options, "--out", self.folder / "whole"), processes=processes)
        kept = ["--checkpoint", self.states, "--every", "7it", *options]
        first = self.result(*self.command(*kept, epochs=half), processes=processes)
        again = self.result(*self.command(*kept, "--out", self.folder / "again"), processes=then or processes)
        self.assertEqual(first["checkpoint"]["resumed_iteration"], 0)
        self.assertEqual(again["checkpoint"]["resumed_iteration"], first["per_epoch"][-1]["epoch"])
        return whole, again

    def assert_same(self, whole: dict, again: dict) -> None:
        self.assertEqual({key: again[key] for key in again if key not in TIMES}, {key: whole[key] for key in whole if key not in TIMES})
        self.assertEqual(self.model("again"), self.model("whole"))

    def test_ten_and_ten_are_twenty_to_the_last_bit(self) -> None:
        for name, options in METHODS.items():
            with self.subTest(name):
                whole, again = self.both(options, half=3 if name in ("items", "validated") else 10)
                self.assert_same(whole, again)
        self.assertGreater(whole["undone"], 0)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_the_same_on_several_processes(self) -> None:
        for name in ("sgd", "als", "implicit", "items", "virtual"):
            with self.subTest(name):
                self.assert_same(*self.both(METHODS[name], processes=3, half=3))

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_a_training_goes_on_with_other_processes(self) -> None:
        whole, again = self.both(METHODS["als"], processes=3, then=1)
        for one, other in zip(whole["rmse_per_epoch"], again["rmse_per_epoch"], strict=True):
            self.assertAlmostEqual(one, other, places=5)
        # The same number of parts is the same training, however many processes work on them.
        self.assertEqual(*(result["rmse_per_epoch"] for result in self.both(METHODS["virtual"], processes=3, then=2)))
        # Other parts, and the other side: another order of the same steps.
        for options, processes, then in ((["--lists", "ratings"], 3, 2), (["--lists", "ratings"], 1, 3)):
            whole, again = self.both(options, processes=processes, then=then)
            self.assertEqual(again["rmse_per_epoch"][:10], whole["rmse_per_epoch"][:10])
            self.assertAlmostEqual(again["train_rmse"], whole["train_rmse"], delta=0.05)

    def test_a_resumed_model_has_no_checkpoints(self) -> None:
        self.succeed(*self.command("--out", self.folder / "before", epochs=3))
        self.assert_fails("--checkpoint and --resume exclude each other: the model may be another one when the run goes on", 2,
                          *self.command("--resume", self.folder / "before", "--checkpoint", self.states, epochs=3))
        self.assertFalse(self.states.exists())

    def test_other_ratings_and_options_are_named(self) -> None:
        self.succeed(*self.command("--checkpoint", self.states, epochs=4))
        here = f"{self.states / '000004' / 'manifest.json'}: is a checkpoint of "
        there = "; give another directory for other checkpoints"
        for option, value, old in (("--seed", 2, 1), ("--method", "als", "sgd"), ("--reg", 0.1, 0.05), ("--precision", "double", "single")):
            self.assert_fails(f"{here}a run with {option} {old}; this one has {value}{there}", 2,
                              *self.command(option, value, "--checkpoint", self.states))
        self.assert_fails(f"--epochs 3: the newest checkpoint in {self.states} is of epoch 4", 2,
                          *self.command("--checkpoint", self.states, epochs=3))
        self.assertIn("is a checkpoint of polyad complete, expected one of polyad cpd",
                      run("cpd", self.ratings, "-r", 2, "--checkpoint", self.states).stderr)
        lines = self.ratings.read_text().splitlines()
        self.ratings.write_text("\n".join([*lines[:-1], lines[-1].rsplit(maxsplit=1)[0] + " 77.5"]) + "\n")
        ended = run(*self.command("--checkpoint", self.states))
        self.assertRegex(ended.stderr, "is a checkpoint of another tensor: it is .* expected ")
        self.assertEqual(ended.returncode, 2)
        for others in (["--folds", 3], ["--search", "rank=2,4", "--test", 0.1]):
            for option in (["--checkpoint", self.folder / "none"], ["--time-limit", "1s"]):
                self.assertEqual(run(*self.command(*others, *option)).returncode, 2)
                self.assertFalse((self.folder / "none").exists())

    def test_a_checkpoint_has_the_error_of_its_epoch(self) -> None:
        for method in ("sgd", "als"):
            states = self.folder / method
            result = self.result(*self.command("--method", method, "--lists", "ratings", "--checkpoint", states, "--keep", 2, "--every", "1it",
                                               epochs=3))
            found = [checkpoint["fit"] for checkpoint in self.result("check", states)["checkpoints"]]
            for fit, rmse in zip(found, result["rmse_per_epoch"][-2:], strict=True):
                self.assertAlmostEqual(fit, rmse, delta=1e-12)

    def test_damage_is_found_in_both_models(self) -> None:
        self.succeed(*self.command("--checkpoint", self.states, epochs=3))
        self.assertIn(f"{self.states}: no faults; 2 checkpoints", self.succeed("check", self.states))
        rng = random.Random(3)
        for file in sorted([*(self.states / "000003").iterdir(), *(self.states / "lists" / "000003").iterdir()]):
            sound = file.read_bytes()
            for at in [0, len(sound) - 1, *rng.sample(range(len(sound)), 8)]:
                file.write_bytes(sound[:at] + bytes([sound[at] ^ (1 << rng.randrange(8))]) + sound[at + 1:])
                for arguments in (self.command("--checkpoint", self.states), ["check", self.states]):
                    ended = run(*arguments)
                    self.assertEqual(ended.returncode, 2, f"{file}, byte {at}: {ended.stderr}")
                    self.assertIn(f"{file.parent}/", ended.stderr + ended.stdout)
            file.write_bytes(sound)
        self.succeed(*self.command("--checkpoint", self.states))

    def start(self, *options: object) -> subprocess.Popen:
        return subprocess.Popen([POLYAD, *map(str, self.command(*options, epochs=1_000_000))], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def test_signals_stop_after_the_epoch(self) -> None:
        for number, method in ((signal.SIGINT, "sgd"), (signal.SIGTERM, "als"), (signal.SIGHUP, "undone")):
            shutil.rmtree(self.states, ignore_errors=True)
            model, result = self.folder / f"model{number}", self.folder / "result.json"
            process = self.start(*METHODS[method], "--checkpoint", self.states, "--every", "3it", "--out", model, "--json", result)
            while process.poll() is None and not (self.states.is_dir() and any(name.isdigit() for name in os.listdir(self.states))):
                time.sleep(0.01)
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 4, said)
            self.assertRegex(said.splitlines()[-1], rf"^polyad: a signal ended the run after epoch \d+ of at most 1000000; the same command "
                                                    rf"goes on from {self.states}$")
            summary = json.loads(result.read_text())
            self.assertEqual(summary["stop"], "interrupted")
            self.assertEqual(max(int(name) for name in os.listdir(self.states) if name.isdigit()), summary["epochs"])
            self.assertIn("model.npz", os.listdir(model))
            self.succeed("recommend", model, "--user", 1)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_a_signal_to_one_process_stops_all(self) -> None:
        for method in ("sgd", "als"):
            shutil.rmtree(self.states, ignore_errors=True)
            process = subprocess.Popen([SOURCE / "tools" / "mpirun", "3", POLYAD, *map(str, self.command(
                *METHODS[method], "--checkpoint", self.states, "--every", "3it", epochs=1_000_000))], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, start_new_session=True)
            while process.poll() is None and not (self.states.is_dir() and any(name.isdigit() for name in os.listdir(self.states))):
                time.sleep(0.01)
            os.kill(max(children_of(process.pid)), signal.SIGTERM)
            _, said = process.communicate(timeout=120)
            self.assertRegex(said, r"polyad: a signal ended the run after epoch \d+ of at most 1000000")
            self.assertNotEqual(process.returncode, 0)
            self.assertTrue(all(name.isdigit() or name == "lists" for name in os.listdir(self.states)))

    def test_a_signal_at_any_moment_ends_with_a_sentence_and_the_model_so_far(self) -> None:
        """Reading, choosing settings of lists, training of both models, measuring lists, writing."""
        self.succeed("generate", "ratings", self.ratings, "--users", 1500, "--items", 400, "--nnz", 40000, "-r", 2, "-q")
        model, rng, codes = self.folder / "model", random.Random(7), []
        for options in ([], ["--implicit"]):
            arguments = self.command(*options, "--test", 0.1, "--ranking", 10, "--out", model, epochs=20)
            began = time.monotonic()
            self.succeed(*arguments)
            seconds = time.monotonic() - began
            for moment in range(12):
                shutil.rmtree(model)
                process = subprocess.Popen([POLYAD, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                while process.poll() is None and not handles(process, signal.SIGTERM):
                    time.sleep(0.001)
                time.sleep(seconds * (moment + rng.random()) / 12)
                process.send_signal(signal.SIGTERM)
                _, said = process.communicate(timeout=60)
                codes.append(process.returncode)
                self.assertIn(process.returncode, (0, 4, -signal.SIGTERM), said)
                self.assertTrue(model.exists() or process.returncode < 0)
                if process.returncode == 4:
                    self.assertRegex(said, r"^polyad: a signal ended the run after (epoch \d+ of at most 20(, without a model for lists)?|"
                                           r"sweep \d+ of at most 20 of the model for lists)(, before its lists were measured)?; "
                                           r"with --checkpoint the same command would go on\n$")
                    self.succeed("recommend", model, "--user", 1)
                elif process.returncode < 0:
                    self.assertEqual(said, SENTENCE)
                if not model.exists():
                    model.mkdir()
            shutil.rmtree(model)
        self.assertIn(4, codes)
        self.assertIn(-signal.SIGTERM, codes)

    def test_sentences_count_the_epochs_of_the_run(self) -> None:
        before = self.folder / "before"
        self.succeed(*self.command("--out", before, epochs=30))
        ended = run(*self.command("--resume", before, "--lists", "ratings", "--time-limit", "1s", epochs=10_000_000))
        self.assertEqual(ended.returncode, 4, ended.stderr)
        found = re.search(r"^polyad: the time limit ended the run after epoch (\d+) of at most 10000030; ", ended.stderr)
        self.assertTrue(found and int(found[1]) > 30, ended.stderr)

    def test_what_a_training_goes_on_from_is_told_when_it_is_known(self) -> None:
        self.succeed("generate", "ratings", self.ratings, "--users", 1500, "--items", 400, "--nnz", 40000, "-r", 2, "-q")
        command = ["complete", self.ratings, "-r", 4, "-t", 1, "--implicit", "--checkpoint", self.states]
        self.succeed(*command, "-e", 2)
        told = run(*command, "-e", 5).stderr
        anew = "other settings of lists are chosen than before: their model is trained from the start"
        self.assertNotEqual(anew in told, f"going on from {self.states} after epoch 2" in told, told)

    def test_a_signal_ends_a_search_and_keeps_nothing(self) -> None:
        process = self.start("--search", "rank=2,4", "--validate", 0.1, "--patience", 0, "--out", self.folder / "model")
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        self.assertIn(process.returncode, (4, -signal.SIGTERM), said)
        if process.returncode == 4:
            self.assertEqual(said, "polyad: a signal ended the run before its last training; nothing is kept\n")
        self.assertFalse((self.folder / "model").exists())

    def test_a_time_limit_keeps_the_model(self) -> None:
        model = self.folder / "model"
        ended = run(*self.command("--time-limit", "1s", "--out", model, epochs=10_000_000))
        self.assertEqual(ended.returncode, 4, ended.stderr)
        self.assertRegex(ended.stderr, r"polyad: the time limit ended the run after epoch \d+ of at most 10000000; with --checkpoint the "
                                       r"same command would go on\n$")
        self.assertTrue((model / "model.npz").exists())

    def kill_and_go_on(self, options: list[object], kills: int, processes: int) -> None:
        rng = random.Random(processes)
        shutil.rmtree(self.states, ignore_errors=True)
        began = time.monotonic()
        whole = self.result(*self.command(*options, "--out", self.folder / "whole", epochs=40), processes=processes)
        seconds = time.monotonic() - began
        arguments = self.command(*options, "--checkpoint", self.states, "--every", "1it", "--out", self.folder / "again", epochs=40)
        launcher = [str(SOURCE / "tools" / "mpirun"), str(processes)] if processes else []
        for _ in range(kills):
            process = subprocess.Popen([*launcher, POLYAD, *map(str, arguments)], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(rng.uniform(0, 1.2 * seconds))
            kill_session(process.pid)
            process.wait()
        self.assert_same(whole, self.result(*arguments, processes=processes))
        for folder in (self.states, self.states / "lists"):
            if folder.exists():
                self.assertTrue(all(name.isdigit() or name == "lists" for name in os.listdir(folder)), os.listdir(folder))

    def test_killed_trainings_go_on(self) -> None:
        for method in ("sgd", "implicit"):
            self.kill_and_go_on(METHODS[method], 8, 0)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_killed_trainings_of_several_processes_go_on(self) -> None:
        self.kill_and_go_on(METHODS["sgd"], 4, 3)


if __name__ == "__main__":
    unittest.main()
