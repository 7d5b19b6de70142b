"""Damaged files: whatever is in a file, a command ends in time and in bounded memory with a result or with one sentence, shows nothing
on the terminal that is not printable, and leaves its inputs alone.

POLYAD_MUTATIONS=5000 tries as many files in place of a few; POLYAD_MUTATIONS_SEED=7 others; POLYAD_MUTATIONS_KEEP=DIR keeps those that failed."""

import concurrent.futures
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from attack_seeds import Seed, make_seeds  # noqa: E402
from mutators import mutate  # noqa: E402
from program import POLYAD  # noqa: E402

COUNT = int(os.environ.get("POLYAD_MUTATIONS", 120))
FIRST = int(os.environ.get("POLYAD_MUTATIONS_SEED", 1)) * 1_000_000
KEEP = os.environ.get("POLYAD_MUTATIONS_KEEP", "")
SECONDS = 60
ADDRESSES = 3 << 30  # bytes of data: private memory, stacks of threads included
RESIDENT = 700 << 20  # bytes


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def tree(path: pathlib.Path) -> dict[str, bytes]:
    if path.is_file():
        return {path.name: path.read_bytes()}
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def unprintable(data: bytes) -> list[str]:
    text = data.decode("utf-8", errors="surrogateescape")
    return sorted({hex(ord(c)) for c in text
                   if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F or 0xD800 <= ord(c) <= 0xDFFF or c in "\u202e\u2066"})


def fault_of(code: int, out: bytes, err: bytes) -> str:
    if code not in (0, 2, 3):
        return f"exit code {code}"
    if bad := unprintable(out) + unprintable(err):
        return f"characters {bad}"
    lines = err.decode().splitlines()
    messages = [line for line in lines if line.startswith(("polyad: warning: ", "polyad: note: "))]
    sentences = [line for line in lines if line not in messages]
    if code == 0:
        return f"unexpected words {sentences}" if sentences else ""
    if len(sentences) != 1 or not sentences[0].startswith("polyad: ") or lines[-1] != sentences[0]:
        return f"expected one sentence, found {lines}"
    return "no sentence" if len(sentences[0]) < 20 else ""


def damaged(number: int, seeds: list[Seed], good: pathlib.Path) -> "Attack":
    draw = random.Random(number)
    seed = seeds[number % len(seeds)]
    command = draw.choice(seed.commands)
    other = draw.choice(seeds).damaged.read_bytes()
    return Attack(number, seed, command, good, mutate(seed.damaged.name, seed.damaged.read_bytes(), draw, other))


class Attack:
    """One file, sound or damaged, and one command."""

    def __init__(self, number: int, seed: Seed, command: str, good: pathlib.Path, data: bytes) -> None:
        self.number, self.seed, self.command, self.good, self.data = number, seed, command, good, data
        self.code = -1

    def run(self) -> str:
        """What is wrong; empty when all is well."""
        with tempfile.TemporaryDirectory(prefix="polyad-attack-") as name:
            folder = pathlib.Path(name)
            x, out = folder / self.seed.path.name, folder / "out"
            out.mkdir()
            if self.seed.inside:
                shutil.copytree(self.seed.path, x)
            (x / self.seed.inside if self.seed.inside else x).write_bytes(self.data)
            before = tree(x)
            fault = self.run_in(x, out) or ("the input was changed" if tree(x) != before else "")
            if fault and KEEP:
                shutil.copytree(folder, pathlib.Path(KEEP) / str(self.number))
            return fault and f"{self.number}: polyad {self.command} ({self.seed.damaged.name}): {fault}"

    def run_in(self, x: pathlib.Path, out: pathlib.Path) -> str:
        words = [word.format(x=x, out=out, good=self.good) for word in self.command.split()]
        environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(out), "XDG_CACHE_HOME": str(out)}
        with open(out.parent / "stdout", "w+b") as stdout, open(out.parent / "stderr", "w+b") as stderr:
            process = subprocess.Popen([POLYAD, *words, "-q"], stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL,
                                       preexec_fn=limit, env=environment)
            try:
                status, usage = self.wait(process)
            except subprocess.TimeoutExpired:
                return f"not done after {SECONDS} s"
            stdout.seek(0)
            stderr.seek(0)
            self.code = os.waitstatus_to_exitcode(status)
            fault = fault_of(self.code, stdout.read(), stderr.read())
        if not fault and usage.ru_maxrss * 1024 > RESIDENT:
            return f"took {usage.ru_maxrss >> 10} MiB of memory"
        return fault

    @staticmethod
    def wait(process: subprocess.Popen) -> tuple:
        """Kills what takes too long; says what memory it had."""
        done = concurrent.futures.ThreadPoolExecutor(1)
        future = done.submit(os.wait4, process.pid, 0)
        try:
            _, status, usage = future.result(SECONDS)
        except concurrent.futures.TimeoutError:
            process.kill()
            future.result()
            process.returncode = -9
            raise subprocess.TimeoutExpired(process.args, SECONDS) from None
        finally:
            done.shutdown()
        process.returncode = os.waitstatus_to_exitcode(status)
        return status, usage


class MutationsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="polyad-good-")
        self.addCleanup(folder.cleanup)
        self.good = pathlib.Path(folder.name)
        self.seeds = make_seeds(self.good)
        self.before = tree(self.good)

    def attack(self, attacks: Iterable[Attack]) -> list[str]:
        """What went wrong."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            faults = [fault for fault in pool.map(Attack.run, attacks) if fault]
        self.assertEqual(self.before, tree(self.good), "a file was changed that was read")
        return faults

    def test_every_command_takes_a_sound_file(self) -> None:
        first = {command: seed for seed in reversed(self.seeds) for command in seed.commands}
        attacks = [Attack(0, seed, command, self.good, seed.damaged.read_bytes()) for command, seed in first.items()]
        self.assertEqual(self.attack(attacks), [])
        self.assertEqual([attack.command for attack in attacks if attack.code != 0], [])

    def test_every_damaged_file_ends_in_a_result_or_a_sentence(self) -> None:
        faults = self.attack(damaged(FIRST + n, self.seeds, self.good) for n in range(COUNT))
        self.assertEqual(faults, [], f"{len(faults)} of {COUNT}")


if __name__ == "__main__":
    unittest.main()
