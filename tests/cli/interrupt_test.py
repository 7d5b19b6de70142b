"""Signals end commands that have no checkpoints at once, with a sentence, and leave no half file."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from program import POLYAD, ProgramTest

SENTENCE = "polyad: a signal ended the command; files that it had completed are kept, unfinished ones were removed\n"


def handles(process: subprocess.Popen, number: int) -> bool:
    """Whether the program has come so far that it handles the signal."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return False
    mask = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")), "0")
    return bool(int(mask, 16) >> (number - 1) & 1)


class InterruptTest(ProgramTest):
    def interrupt(self, number: int, seconds: float, *arguments: object) -> subprocess.Popen:
        process = subprocess.Popen([POLYAD, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not handles(process, number):
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(number)
        process.said = process.communicate(timeout=120)[1]
        return process

    def test_long_commands(self) -> None:
        x, out = self.folder / "x.tns", self.folder / "out"
        self.succeed("generate", "zipf", x, "--dims", "3000x2500x2000", "--nnz", 200000, "-q")
        out.mkdir()
        for number, seconds, arguments in (
                (signal.SIGINT, 0.5, ["rank", x, "--components", "3,4,5", "-i", 10_000_000, "--tol", 0, "-t", 1, "-q", "--json", out / "rank.json"]),
                (signal.SIGTERM, 0.5, ["partition", x, "-k", 64, "--time", 600, "-t", 1, "-q", "--out", out / "parts"]),
                (signal.SIGTERM, 0.5, ["plan", x, "-r", 8, "-k", "64,128,256", "--with-hypergraph", "-t", 1, "-q", "--report", out / "plan.html"]),
                (signal.SIGINT, 0.1, ["convert", x, out / "x.tns.gz", "-t", 1, "-q"]),
                (signal.SIGHUP, 0.2, ["convert", x, out / "x.tns.gz", "-t", 1, "-q"])):
            with self.subTest(arguments[0]):
                process = self.interrupt(number, seconds, *arguments)
                self.assertEqual((process.returncode, process.said), (-number, SENTENCE))
                self.assertEqual(os.listdir(out), [])


if __name__ == "__main__":
    unittest.main()
