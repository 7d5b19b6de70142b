"""Runs the built program the way a user does."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

POLYAD = os.environ["POLYAD"]
SOURCE = pathlib.Path(os.environ["POLYAD_SOURCE"])
TEST_DATA = pathlib.Path(os.environ["POLYAD_TEST_DATA"])
SHARED_DATA = pathlib.Path(os.environ["POLYAD_SHARED_DATA"])
WITH_MPI = os.environ["POLYAD_WITH_MPI"] == "ON"
NO_SHARED_DATA = "the shared data is not beside the checkout"  # why a test is skipped


def run(*arguments: object, processes: int = 0, **options) -> subprocess.CompletedProcess:
    """Runs `polyad ARGUMENTS`, under MPI when a number of processes is given."""
    start = [str(SOURCE / "tools" / "mpirun"), str(processes)] if processes else []
    command = [*start, POLYAD, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


class ProgramTest(unittest.TestCase):
    """A folder of its own for each test, and the ways to call the program."""

    def setUp(self) -> None:
        self.maxDiff = None
        folder = tempfile.TemporaryDirectory(prefix="polyad-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Never the cache of whoever runs the tests; and apart from the folder, for MPI's libraries write there too.
        cache = tempfile.TemporaryDirectory(prefix="polyad-cache-")
        self.addCleanup(cache.cleanup)
        self.cache = pathlib.Path(cache.name) / "polyad" / "partitions"
        os.environ["XDG_CACHE_HOME"] = cache.name

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def succeed(self, *arguments: object, processes: int = 0) -> str:
        """What a successful run prints on standard output."""
        result = run(*arguments, processes=processes)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def result(self, *arguments: object, processes: int = 0) -> dict:
        """The JSON result of a successful run."""
        return json.loads(self.succeed(*arguments, "--json", "-", processes=processes))

    def assert_fails(self, sentence: str, code: int, *arguments: object, **options) -> None:
        """The run fails with this code and says exactly this sentence on standard error."""
        result = run(*arguments, **options)
        self.assertEqual((result.stderr.strip(), result.returncode), ("polyad: " + sentence, code))
