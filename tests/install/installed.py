"""What this build installs, in an empty folder."""

import os
import pathlib
import tempfile
import unittest

from command import run

BUILD = pathlib.Path(os.environ["POLYAD_BUILD"])
COMPILER = os.environ["POLYAD_CXX"]
WITH_MPI = os.environ["POLYAD_WITH_MPI"] == "ON"


class InstalledTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="polyad-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    def environment(self) -> dict[str, str]:
        found = next(self.prefix.rglob("pkgconfig"))
        return {**os.environ, "PKG_CONFIG_PATH": str(found), "LD_LIBRARY_PATH": str(found.parent)}
