"""Runs the tests of the Python package with pytest, in the environment that `./run python` makes."""

import os
import pathlib
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["POLYAD_SOURCE"])
PACKAGE = pathlib.Path(os.environ["POLYAD_BUILD"]) / "python"
PYTHON = SOURCE / "build" / "python" / "venv" / "bin" / "python"


def is_there() -> bool:
    """Whether the package was built, and the environment has what it needs."""
    if not PYTHON.exists() or not (PACKAGE / "polyad" / "__init__.py").exists():
        return False
    return subprocess.run([PYTHON, "-c", "import nanobind_backend, numpy, pytest"], capture_output=True).returncode == 0


class PackageTest(unittest.TestCase):
    def test_package(self) -> None:
        if not is_there():
            self.skipTest("the Python package is not built: ./run python builds it, with tools from PyPI")
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
        subprocess.run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", SOURCE / "tests" / "python"], check=True,
                       env=environment)


if __name__ == "__main__":
    unittest.main()
