"""Runs that are killed, run out of space, or write to the same place at the same time: the old output or the new one is
there, whole, and nothing else. POLYAD_ATTACK=all tries every system call and many rounds."""

import collections
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator

sys.path.append(os.path.join(os.environ["POLYAD_SOURCE"], "tests", "cli"))
from program import POLYAD, ProgramTest, run  # noqa: E402

TRIES_ALL = os.environ.get("POLYAD_ATTACK") == "all"
SWITCHING = "rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,link,linkat"
WRITING = "fsync,write,openat,fchmod,flock"
NUM_WRITING = 6  # points among these, unless all are tried


def can_trace() -> bool:
    tracer = shutil.which("strace")
    return tracer is not None and subprocess.run([tracer, "-o", os.devnull, "true"], capture_output=True).returncode == 0


def parts(directory: pathlib.Path) -> dict:
    """The files of a model; its summary has times that differ from run to run."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name not in ("summary.json", "notes.txt")}


class StoppedTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("x.tns", "\n".join(f"{i % 7 + 1} {i % 5 + 1} {i % 3 + 1} {i * 7 % 60 + 1}" for i in range(60)) + "\n")
        self.write("r.tns", "\n".join(f"{i % 9 + 1} {i % 5 + 1} {i % 4 + 1}" for i in range(45)) + "\n")

    def command(self, kind: str, seed: int, out: pathlib.Path) -> list:
        # Other ranks, so that a mixture could be seen; the old cpd has a mode more than the new.
        if kind == "cpd":
            return ["cpd", self.folder / "x.tns", "-r", 1 + seed, "-i", 2, "--seed", seed, "-q", "-t", 1, "--out", out]
        return ["complete", self.folder / "r.tns", "-r", 1 + seed, "-e", 1, "--seed", seed, "-q", "-t", 1, "--out", out]

    def prepare(self, kind: str) -> tuple:
        old, new = self.folder / f"{kind}-old", self.folder / f"{kind}-new"
        self.succeed(*self.command(kind, 1, old))
        self.succeed(*self.command(kind, 2, new))
        (old / "notes.txt").write_text("mine")
        return old, new

    def read(self, kind: str, model: pathlib.Path) -> str:
        """What Polyad itself reads of a model."""
        points = self.write("points.tns", "1 1 1\n2 2 1\n" if kind == "cpd" else "1 1\n2 2\n")
        return self.succeed("predict", model, points, "-q")


@unittest.skipUnless(can_trace(), "strace is not installed, or may not trace")
class KilledTest(StoppedTest):
    def trace(self, words: list, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run(["strace", "-f", "-o", str(self.folder / "trace"), *options, POLYAD, *map(str, words)],
                              capture_output=True, text=True, timeout=600)

    @contextlib.contextmanager
    def stopped_after(self, calls: str, words: list, *options: str) -> Iterator[subprocess.Popen]:
        """The program, stopped at the end of the first of these calls until the block is left. Nothing depends on time: on a busy
        machine seconds may pass between two lines of a test."""
        trace = self.folder / "trace"
        trace.unlink(missing_ok=True)
        traced = subprocess.Popen(["strace", "-f", "-o", trace, *options, "-e", f"inject={calls}:signal=SIGSTOP:when=1", POLYAD,
                                   *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not (stop := re.search(r"^(\d+) +--- stopped by SIGSTOP", trace.read_text() if trace.exists() else "", re.M)):
            self.assertIsNone(traced.poll())
            time.sleep(0.02)
        try:
            yield traced
        finally:
            os.kill(int(stop[1]), signal.SIGCONT)

    def points(self, words: list, calls: str, *options: str) -> list:
        """Every call of these in an undisturbed run that the name of the output or its temporaries occurs in, and others
        that have descriptors only: [(call, which)]."""
        self.assertEqual(self.trace(words, "-e", f"trace={calls}", *options).returncode, 0)
        counts, found = collections.Counter(), []
        for line in (self.folder / "trace").read_text().splitlines():
            if match := re.match(r"\d+ +(\w+)\((.*)", line):
                counts[match[1]] += 1
                if "place" in match[2] or match[1] in ("fsync", "write", "fchmod", "flock"):
                    found.append((match[1], counts[match[1]]))
        return found

    def kill_everywhere(self, kind: str, calls: str, most: int, *options: str) -> int:
        old, new = self.prepare(kind)
        place = self.folder / "place"
        expected = [self.read(kind, old), self.read(kind, new)]
        self.assertNotEqual(*expected)
        shutil.copytree(old, place)
        words = self.command(kind, 2, place)
        found = self.points(words, calls, *options)
        step = max(1, len(found) // most)
        for call, number in found[::step]:
            with self.subTest(f"{kind}: killed at {call} {number}"):
                shutil.rmtree(place)
                shutil.copytree(old, place)
                result = self.trace(words, "-e", f"trace={calls}", *options, "-e",
                                    f"inject={call}:signal=SIGKILL:when={number}")
                self.assertIn(result.returncode, (0, -9, 137), result.stderr)
                self.assertIn(self.read(kind, place), expected)
                if not options:
                    self.assertIn(parts(place), [parts(old), parts(new)])
                    self.assertEqual((place / "notes.txt").read_text(), "mine")
                self.succeed(*words)
                self.assertEqual(parts(place), parts(new))
                self.assertEqual((place / "notes.txt").read_text(), "mine")
                self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])
        return len(found)

    def test_a_decomposition_is_killed_at_every_switch(self) -> None:
        self.assertGreater(self.kill_everywhere("cpd", SWITCHING, 1000 if TRIES_ALL else 16), 10)

    def test_a_recommender_is_killed_at_every_switch(self) -> None:
        self.assertGreater(self.kill_everywhere("complete", SWITCHING, 1000 if TRIES_ALL else 12), 6)

    def test_a_decomposition_is_killed_while_it_is_written(self) -> None:
        self.assertGreater(self.kill_everywhere("cpd", WRITING, 1000 if TRIES_ALL else NUM_WRITING), 10)

    def test_where_directories_cannot_be_exchanged_the_old_model_is_found_too(self) -> None:
        no_exchange = ("-e", "inject=renameat2:error=EINVAL")
        self.assertGreater(self.kill_everywhere("cpd", SWITCHING, 1000 if TRIES_ALL else 12, *no_exchange), 10)

    def test_a_file_that_came_in_the_meantime_is_kept(self) -> None:
        """Also where the file system has no rename that does not replace, nor hard links."""
        place = self.folder / "place.tns"
        words = ["convert", self.folder / "x.tns", place, "-q"]
        for missing in ((), ("renameat2",), ("renameat2", "link")):
            faults = [word for call in missing for word in ("-e", f"inject={call}:error=EPERM")]
            with self.subTest(missing):
                result = self.trace(words, "-e", "trace=fsync,renameat2,link", *faults)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                whole = place.read_bytes()
                place.unlink()
                # The contents are made durable before the name is taken.
                with self.stopped_after("fsync", words, "-e", "trace=fsync,renameat2,link", *faults) as traced:
                    self.assertFalse(place.exists())
                    place.write_text("mine")
                _, errors = traced.communicate(timeout=600)
                self.assertEqual((traced.returncode, errors), (2, f"polyad: {place}: exists already; --force replaces it\n"))
                self.assertEqual(place.read_text(), "mine")
                place.unlink()
                self.assertNotEqual(whole, b"")
                self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])

    def test_a_model_that_is_replaced_while_it_is_read_has_its_own_labels(self) -> None:
        tables = []
        for name, people in (("a", "ann bob"), ("b", "cy di")):
            lines = [f"{who},{what},{len(who) * (what + 1)}" for who in people.split() for what in range(3)]
            ratings = self.write(f"{name}.csv", "who,what,n\n" + "\n".join(lines) + "\n")
            self.succeed("cpd", ratings, "--columns", "who,what,n", "-r", 1, "-i", 3, "-q", "--out", self.folder / name)
            points = self.write("points.tns", "1 1\n2 2\n")
            tables.append(self.succeed("predict", self.folder / name, points, "-q"))
        self.assertNotEqual(*tables)
        (self.folder / "a").rename(self.folder / "m")
        labels = next((self.folder / "m").glob("mode-1-*.map"))
        # The labels are looked for after the factors have been read.
        words = ["predict", self.folder / "m", points, "-q"]
        with self.stopped_after("%%stat", words, "-P", str(labels), "-e", "trace=%%stat") as traced:
            (self.folder / "m").rename(self.folder / "old")
            (self.folder / "b").rename(self.folder / "m")
        table, errors = traced.communicate(timeout=600)
        self.assertEqual((traced.returncode, errors), (0, ""))
        self.assertIn(table, tables)

    def test_a_signal_leaves_no_temporary_files(self) -> None:
        old, _ = self.prepare("cpd")
        words = self.command("cpd", 2, old)
        before = parts(old)
        for name, status in (("SIGINT", -2), ("SIGTERM", -15), ("SIGHUP", -1)):
            result = self.trace(words, "-e", "trace=fsync", "-e", f"inject=fsync:signal={name}:when=5")
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertEqual(parts(old), before)
            self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])


class TwoWritersTest(StoppedTest):
    def race(self, words: list, results: list, place: pathlib.Path, rounds: int) -> None:
        """Both commands write to `place`; whichever is last, the output is one of the results."""
        for _ in range(rounds):
            runs = [subprocess.Popen([POLYAD, *map(str, one)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    for one in words]
            for one in runs:
                _, errors = one.communicate(timeout=600)
                if one.returncode != 0:
                    self.assertRegex(errors, "another (run has written a model|process has locked)")
            found = parts(place) if place.is_dir() else place.read_bytes()
            self.assertIn(found, results)
            self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])

    def test_files_are_not_mixed(self) -> None:
        rounds = 40 if TRIES_ALL else 4
        for name in ("out.tns", "out.tns.gz", "out.ptb"):
            words, results = [], []
            for seed in (1, 2):
                made = self.folder / f"{seed}{name}"
                words.append(["generate", "zipf", self.folder / name, "--dims", "90x80x70", "--nnz", 20000 * seed, "--seed",
                              seed, "-q", "-t", 1])
                self.succeed(*[made if word == self.folder / name else word for word in words[-1]])
                results.append(made.read_bytes())
            self.race(words, results, self.folder / name, rounds)

    def test_without_force_one_of_two_runs_is_refused(self) -> None:
        self.succeed("generate", "zipf", self.folder / "z.tns", "--dims", "900x800x700", "--nnz", 20000, "-q")
        self.succeed(*self.command("cpd", 1, self.folder / "m.npz"))
        for source, name, sentence in (("z.tns", "out.tns", "exists already"), ("z.tns", "out.ptb", "exists already"),
                                       ("m.npz", "out.ktensor", "exists already"), ("m.npz", "out", "holds a model already")):
            place = self.folder / name
            words = [POLYAD, "convert", str(self.folder / source), str(place), "-q"]
            for _ in range(20 if TRIES_ALL else 3):
                runs = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(2)]
                ends = sorted((one.communicate(timeout=600)[1], one.returncode) for one in runs)
                self.assertEqual(ends, [("", 0), (f"polyad: {place}: {sentence}; --force replaces it\n", 2)])
                self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])
                shutil.rmtree(place) if place.is_dir() else place.unlink()

    def test_models_are_not_mixed(self) -> None:
        for kind in ("cpd", "complete"):
            old, new = self.prepare(kind)
            (old / "notes.txt").unlink()
            place = self.folder / "place"
            words = [self.command(kind, seed, place) for seed in (1, 2)]
            self.race(words, [parts(old), parts(new)], place, 40 if TRIES_ALL else 4)
            shutil.rmtree(place)


class NoSpaceTest(StoppedTest):
    def mount(self, options: str) -> pathlib.Path:
        """A small file system of its own, where this is allowed."""
        place = pathlib.Path(tempfile.mkdtemp(prefix="polyad-test-"))
        self.addCleanup(place.rmdir)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("a tmpfs cannot be mounted here")
        self.addCleanup(lambda: subprocess.run(["umount", str(place)], check=True))
        return place

    def test_a_disk_without_inodes_leaves_the_old_model(self) -> None:
        for kind, inodes in (("cpd", range(7, 13)), ("complete", range(5, 9))):
            ends = collections.Counter()
            for number in inodes:
                disk = self.mount(f"size=4m,nr_inodes={number}")
                # Root, the model's directory and its files take the first of them.
                if run(*self.command(kind, 1, disk / "m")).returncode != 0:
                    continue
                before = parts(disk / "m")
                result = run(*self.command(kind, 2, disk / "m"))
                ends[result.returncode] += 1
                self.assertEqual(os.listdir(disk), ["m"])
                if result.returncode != 0:
                    self.assertEqual(result.returncode, 3, result.stderr)
                    self.assertRegex(result.stderr, r"cannot be written: No space left on device")
                    self.assertEqual(parts(disk / "m"), before)
            self.assertGreater(ends[3], 0, ends)

    def test_a_disk_without_space_is_seen_before_the_work(self) -> None:
        disk = self.mount("size=64k")
        self.succeed("generate", "zipf", self.folder / "z.tns", "--dims", "3000x2000x9", "--nnz", 20000, "-q")
        for words in (["cpd", self.folder / "z.tns", "-r", 4, "--out", disk / "m"],
                      ["cpd", self.folder / "z.tns", "-r", 4, "--out", disk / "m.npz"],
                      ["cpd", self.folder / "z.tns", "-r", 4, "--out", disk / "m.ktensor.gz"],
                      ["convert", self.folder / "z.tns", disk / "z.tns"], ["convert", self.folder / "z.tns", disk / "z.tns.gz"],
                      ["convert", self.folder / "z.tns", disk / "z.ptb"],
                      ["check", self.folder / "z.tns", "--fix", disk / "z.tns"],
                      ["generate", "zipf", disk / "z.tns", "--dims", "3000x2000x9", "--nnz", 20000]):
            with self.subTest(" ".join(map(str, words))):
                result = run(*words)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertRegex(result.stderr, r"would take .*, and \S+ \w?B are free there")
                self.assertEqual(os.listdir(disk), [])

    def test_a_link_to_another_file_system_is_followed(self) -> None:
        disk = self.mount("size=1m")
        (self.folder / "link.tns").symlink_to(disk / "x.tns")
        (self.folder / "link").symlink_to(disk / "model")
        self.succeed("convert", self.folder / "x.tns", self.folder / "link.tns")
        numbers = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
        (self.folder / "v.npy").write_bytes(numbers + struct.pack("<d", 2))
        (self.folder / "link.npy").symlink_to(disk / "v.npy")
        self.succeed("contract", "i,i->i", self.folder / "v.npy", self.folder / "v.npy", "-o", self.folder / "link.npy")
        self.assertEqual(struct.unpack("<d", (disk / "v.npy").read_bytes()[-8:]), (4.0,))
        self.succeed(*self.command("cpd", 1, self.folder / "link"))
        self.succeed(*self.command("cpd", 2, self.folder / "link"))
        self.assertTrue((self.folder / "link.tns").is_symlink() and (self.folder / "link").is_symlink())
        self.assertEqual(sorted(os.listdir(disk)), ["model", "v.npy", "x.tns"])
        self.read("cpd", disk / "model")

    def test_a_size_limit_leaves_the_old_output(self) -> None:
        self.succeed("generate", "zipf", self.folder / "z.tns", "--dims", "300x200x9", "--nnz", 3000, "-q")

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

        for name in ("m", "m.ktensor", "m.npz"):
            words = ["cpd", self.folder / "z.tns", "-r", 4, "-i", 1, "-q", "-t", 1, "--out", self.folder / name]
            self.succeed(*words)
            before = self.read("cpd", self.folder / name)
            result = run(*words, preexec_fn=limit)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("cannot be written: File too large", result.stderr)
            self.assertEqual(self.read("cpd", self.folder / name), before)
            self.assertEqual([file for file in os.listdir(self.folder) if "partial" in file], [])


if __name__ == "__main__":
    unittest.main()
