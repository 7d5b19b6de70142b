"""Faults in the middle of long runs: a process that dies, a disk that fills, memory that ends."""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.environ["POLYAD_SOURCE"], "tests", "cli"))
from program import POLYAD, SOURCE, WITH_MPI, ProgramTest, run  # noqa: E402

PATIENCE = 60  # seconds until a run counts as hung
os.environ["OMP_WAIT_POLICY"] = "passive"


class FaultTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.x = self.folder / "x.tns"
        self.succeed("generate", "planted", self.x, "--dims", "60x50x40", "--nnz", 3000, "--noise", 0.1, "-q")

    def command(self, *options: object, iterations: int) -> list[str]:
        return list(map(str, ["cpd", self.x, "-r", 5, "-i", iterations, "--tol", 0, "-t", 1, "-q", *options]))


@unittest.skipUnless(WITH_MPI, "this build has no MPI")
class DyingProcessTest(FaultTest):
    def checkpoints(self, states: pathlib.Path) -> set[int]:
        return {int(name) for name in os.listdir(states) if name.isdigit()} if states.exists() else set()

    def test_one_process_of_four_is_killed(self) -> None:
        """The launcher ends the others, and names it."""
        states = self.folder / "states"
        for number in (signal.SIGKILL, signal.SIGABRT):
            # Every process writes its number to a file before it becomes the program.
            tell = f'echo $$ > {self.folder}/pid${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; exec "$@"'
            process = subprocess.Popen([SOURCE / "tools" / "mpirun", "4", "sh", "-c", tell, "sh", POLYAD,
                                        *self.command("--checkpoint", states, "--every", "3it", iterations=100_000_000)],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            before = self.checkpoints(states)
            while process.poll() is None and self.checkpoints(states) <= before:
                time.sleep(0.02)
            numbers = [int((self.folder / f"pid{rank}").read_text()) for rank in range(4)]
            os.kill(numbers[2], number)
            out, said = process.communicate(timeout=PATIENCE)
            self.assertNotEqual(process.returncode, 0)
            self.assertRegex(said + out, r"rank 2\b|RANK 2\b|BAD TERMINATION")
            latest = time.monotonic() + PATIENCE
            while any(pathlib.Path(f"/proc/{one}").exists() for one in numbers) and time.monotonic() < latest:
                time.sleep(0.05)
            self.assertEqual([one for one in numbers if pathlib.Path(f"/proc/{one}").exists()], [])
            # What it had so far is there, and the next run removes what is not whole.
            reached = max(self.checkpoints(states))
            result = self.result(*self.command("--checkpoint", states, iterations=reached + 3), processes=4)
            self.assertGreaterEqual(result["checkpoint"]["resumed_iteration"], 3)
            self.assertTrue(all(name.isdigit() for name in os.listdir(states)), os.listdir(states))


class FullDiskTest(FaultTest):
    def mount(self, options: str) -> pathlib.Path:
        place = pathlib.Path(tempfile.mkdtemp(prefix="polyad-test-"))
        self.addCleanup(place.rmdir)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("a tmpfs cannot be mounted here")
        self.addCleanup(lambda: subprocess.run(["umount", str(place)], check=True))
        return place

    def assert_kept(self, disk: pathlib.Path, processes: int) -> None:
        """A run whose first checkpoints fit, and the next one does not."""
        whole = self.result(*self.command(iterations=20), processes=processes)
        ended = run(*self.command("--checkpoint", disk / "states", "--every", "4it", "--keep", 9, "--json", "-", iterations=20),
                    processes=processes)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stderr, r"no checkpoint after iteration \d+: .*No space left on device; the run goes on")
        result = json.loads(ended.stdout)
        self.assertEqual(result["fit_trajectory"], whole["fit_trajectory"])
        kept = os.listdir(disk / "states")
        self.assertTrue(kept and all(name.isdigit() for name in kept), kept)
        self.assertLess(len(kept), 5)
        self.assertEqual(result["checkpoint"]["written"], len(kept))
        self.assertIn("no faults", self.succeed("check", disk / "states"))
        (disk / "ballast").unlink(missing_ok=True)
        again = self.result(*self.command("--checkpoint", disk / "states", "--keep", 1, iterations=20), processes=processes)
        self.assertEqual(again["fit_trajectory"], whole["fit_trajectory"])
        self.assertEqual(again["checkpoint"]["resumed_iteration"], max(map(int, kept)))

    def test_a_disk_that_fills_keeps_the_checkpoint_before(self) -> None:
        for processes in (0, 3) if WITH_MPI else (0,):
            disk = self.mount("size=100k")
            (disk / "ballast").write_bytes(bytes(40 << 10))
            self.assert_kept(disk, processes)

    def test_files_that_may_not_grow_keep_the_run(self) -> None:
        """Where nothing can be mounted: the limit of the size of a file ends every checkpoint."""
        states = self.folder / "states"
        self.succeed(*self.command("--checkpoint", states, iterations=4))
        kept = {file.name: file.read_bytes() for file in (states / "000004").iterdir()}

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        ended = run(*self.command("--checkpoint", states, "--every", "3it", iterations=10), preexec_fn=limit)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stderr, r"no checkpoint after iteration 7: .*File too large; the run goes on")
        self.assertEqual(os.listdir(states), ["000004"])
        self.assertEqual({file.name: file.read_bytes() for file in (states / "000004").iterdir()}, kept)


class NoMemoryTest(FaultTest):
    def test_what_was_wanted_and_what_is_free_is_told(self) -> None:
        limit = 600 << 20
        # With a limit of its own, as the memory of the machine is not enough.
        ended = subprocess.run([POLYAD, "cpd", str(self.x), "-r", "20000", "-i", "2", "-q", "-t", "1", "--memory", "1000TB"],
                               capture_output=True, text=True, timeout=600, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual(ended.returncode, 3, ended.stderr)
        amount = r"([\d.]+) ([kMGT]?)B"
        self.assertRegex(ended.stderr, f"^polyad: out of memory: {amount} were asked for, and about {amount} are free\n$")
        wanted, free = (float(number) * 1000 ** " kMGT".index(prefix or " ")
                        for number, prefix in re.findall(amount, ended.stderr))
        self.assertLess(free, min(wanted, limit))
        # Before a run, the limit says what would fit.
        ended = run("cpd", self.x, "-r", 20000, "-i", 2, "-q", "--memory", "600MB")
        self.assertEqual(ended.returncode, 3)
        self.assertIn("does not fit into 600 MB", ended.stderr)


if __name__ == "__main__":
    unittest.main()
