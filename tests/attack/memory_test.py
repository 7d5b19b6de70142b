"""--memory is kept by the whole run: reading, sorting, iterating, finishing and writing; or the run is refused."""

import json
import os
import random
import subprocess
import sys
import unittest

sys.path.append(os.path.join(os.environ["POLYAD_SOURCE"], "tests", "cli"))
from program import POLYAD, ProgramTest, run  # noqa: E402


def measured(*arguments: object) -> tuple[int, str, int]:
    """Exit code, standard error and peak memory in bytes of a run, as the system counts it."""
    read, write = os.pipe()
    process = subprocess.Popen([POLYAD, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=write)
    os.close(write)
    with os.fdopen(read) as messages:
        text = messages.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, text, usage.ru_maxrss * 1024


class MemoryTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        tiny = self.result("cpd", self.write("tiny.tns", "1 1 1 1\n2 2 2 2\n"), "-r", 2, "-t", 2, "-q")
        # What the program and its libraries take differs between machines, and its prediction is coarse: what it is too
        # large by must not make up for too small a prediction of the data.
        self.more = tiny["peak_memory_bytes"] - tiny["predicted"]["peak_memory_bytes"]

    def generate(self, name: str, dims: str, count: int) -> str:
        path = self.folder / name
        self.succeed("generate", "zipf", path, "--dims", dims, "--nnz", count, "-q")
        return str(path)

    def assert_kept(self, *arguments: object) -> None:
        """By a run with about as much memory as is predicted, and by those with less, unless that is refused. What
        reading took is a part of the prediction and differs a little from run to run."""
        common = (*arguments, "-i", 2, "-t", 2, "-q")
        predicted = self.result(*common)["predicted"]["peak_memory_bytes"]
        for limit in (predicted * 21 // 20, predicted * 9 // 10, predicted * 6 // 10):
            code, messages, peak = measured(*common, "--memory", limit)
            with self.subTest(arguments, limit=limit, peak=peak):
                self.assertIn(code, (0, 3), messages)
                if code == 3:
                    self.assertRegex(messages, r"polyad: (the decomposition does not fit into|sorting \d+ nonzeros)")
                    self.assertLess(limit, predicted, messages)
                    continue
                self.assertLessEqual(peak, limit + self.more)
                self.assertEqual("more than the" in messages, peak > limit, messages)

    def test_many_rows(self) -> None:
        rows = self.generate("rows.tns", "90000x60000x50", 150000)
        out = self.folder / "out"
        for options in (("-r", 8), ("-r", 8, "--init", "svd"), ("-r", 8, "--out", out / "model"), ("-r", 9, "--out", out / "model"),
                        ("-r", 17, "--out", out / "x.npz"), ("-r", 21, "--report", out / "x.html"),
                        ("-r", 9, "--precision", "single", "--out", out / "x.ktensor"),
                        ("-r", 5, "--method", "opt"), ("-r", 5, "--format", "csf-all")):
            out.mkdir(exist_ok=True)
            self.assert_kept("cpd", rows, *options)

    def test_many_modes(self) -> None:
        modes = self.generate("modes.tns", "30000x20000x900x50x20", 100000)
        for options in (("-r", 5), ("-r", 5, "--format", "csf-all"), ("-r", 12, "--format", "hicoo")):
            self.assert_kept("cpd", modes, *options)

    def test_duplicates(self) -> None:
        rng = random.Random(1)
        lines = [f"{rng.randrange(300) + 1} {rng.randrange(200) + 1} {rng.randrange(40) + 1} 1\n" for _ in range(20000)]
        path = self.write("twice.tns", "".join(lines * 12))
        self.assert_kept("cpd", path, "-r", 4)

    def test_labels(self) -> None:
        rng = random.Random(2)
        rows = [f"a-person-with-a-long-name-{rng.randrange(50000)},item-{rng.randrange(30000)},{rng.random():.3f}\n"
                for _ in range(80000)]
        path = self.write("x.csv", "user,item,n\n" + "".join(rows))
        self.assert_kept("cpd", path, "--columns", "user,item,n", "-r", 9)

    def test_the_peak_is_that_of_this_program(self) -> None:
        """And not that of a larger one that has started it."""
        start = ("import os, sys; ballast = bytearray(300 << 20); ballast[::4096] = b'x' * len(ballast[::4096]); "
                 "os.execv(sys.argv[1], sys.argv[1:])")
        result = subprocess.run([sys.executable, "-c", start, POLYAD, "cpd", self.folder / "tiny.tns", "-r", "2", "-q",
                                 "--json", "-"], capture_output=True, text=True, timeout=600)
        self.assertLess(json.loads(result.stdout)["peak_memory_bytes"], 200 << 20)

    def test_a_limit_that_was_exceeded_is_told(self) -> None:
        many = ("cpd", self.folder / "tiny.tns", "-r", 2, "-i", 1, "-t", 2000, "-q")  # whose stacks nobody predicts
        alone = self.result(*many)
        limit = alone["predicted"]["peak_memory_bytes"]
        if alone["peak_memory_bytes"] <= limit:
            self.skipTest("threads take less here")
        result = run(*many, "--memory", (limit + alone["peak_memory_bytes"]) // 2)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"^polyad: warning: a process took [0-9.]+ MB of memory, more than the [0-9.]+ MB that "
                                        r"--memory allows\n$")


if __name__ == "__main__":
    unittest.main()
