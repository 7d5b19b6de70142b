"""Makes the packages of this build and uses them as on another machine: nothing of the build is needed, and every level of
vectors that this machine has gives the same answer."""

import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from command import run

SOURCE = pathlib.Path(os.environ["POLYAD_SOURCE"])
BUILD = pathlib.Path(os.environ["POLYAD_BUILD"])
TENSOR = SOURCE / "data" / "debian.tns.gz"


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="polyad-package-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        generators = "DEB;TGZ" if shutil.which("dpkg-shlibdeps") else "TGZ"
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", generators, "-B", cls.folder / "made")
        cls.prefix = cls.folder / "unpacked"
        cls.prefix.mkdir()
        (archive,) = (cls.folder / "made").glob("*.tar.gz")
        run("tar", "xzf", archive, "-C", cls.prefix, "--strip-components=1")
        cls.program = cls.prefix / "bin" / "polyad"
        (cls.library,) = cls.prefix.rglob("lib*/**/pkgconfig")
        cls.library = cls.library.parent

    def assert_is_complete(self, prefix: pathlib.Path) -> None:
        library = prefix / self.library.relative_to(self.prefix)
        for file in ["bin/polyad", "share/man/man1/polyad.1", "share/man/man1/polyad-cpd.1", "include/polyad/polyad.hpp",
                     "share/bash-completion/completions/polyad", "share/zsh/site-functions/_polyad",
                     "share/fish/vendor_completions.d/polyad.fish", "share/doc/polyad/copyright"]:
            self.assertTrue((prefix / file).is_file(), file)
        for file in ["libpolyad.so", "libpolyad_serial.so", "cmake/polyad/polyadConfig.cmake", "pkgconfig/polyad.pc"]:
            self.assertTrue((library / file).is_file(), file)

    def run_with(self, library: pathlib.Path, *words: object) -> dict:
        return json.loads(run(self.program, *words, "-q", "--json", "-", env={**os.environ, "LD_LIBRARY_PATH": str(library)}))

    def test_archive_runs_where_it_is_unpacked(self) -> None:
        self.assert_is_complete(self.prefix)
        loaded = dict(re.findall(r"(\S+) => (\S+)", run("ldd", self.program)))
        self.assertTrue(pathlib.Path(loaded["libpolyad.so.0.1"]).is_relative_to(self.prefix), loaded)
        self.assertNotIn("not found", loaded.values())
        for binary in [self.program, *self.library.rglob("libpolyad*.so")]:
            self.assertNotIn(str(BUILD), run("readelf", "-d", binary))
        self.assertEqual(json.loads(run(self.program, "doctor", "--json", "-", "-q"))["threads_work"], True)

    def test_only_libraries_that_every_release_has(self) -> None:
        for library in self.library.rglob("libpolyad*.so.*"):
            self.assertNotRegex(run("readelf", "-d", library), r"NEEDED.*lib(fmt|zoltan|trilinos|mtkahypar)")

    def test_levels_of_vectors(self) -> None:
        """The lowest level, which the dynamic linker takes on a machine with no other, and those above it."""
        lowest = self.folder / "lowest"
        lowest.mkdir()
        shutil.copy(self.library / "libpolyad.so.0.1", lowest)
        command = ["cpd", TENSOR, "-r", 5, "-i", 20, "--tol", 0, "--seed", 6]
        fit = self.run_with(lowest, *command)["fit"]
        vectors = [self.run_with(lowest, "doctor")["vectors"]]
        loader = run("/usr/bin/env", "sh", "-c", f"$(readelf -l {self.program} | sed -n 's/.*interpreter: \\(.*\\)]/\\1/p') --help")
        for level in sorted((self.library / "glibc-hwcaps").glob("*")):
            if re.search(rf"{level.name} \(supported", loader):
                self.assertAlmostEqual(self.run_with(level, *command)["fit"], fit, delta=1e-10)
                vectors.append(self.run_with(level, "doctor")["vectors"])
        self.assertEqual(len(set(vectors)), len(vectors), vectors)
        self.assertEqual(self.run_with(self.library, "doctor")["vectors"], vectors[-1])

    @unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "no tools for Debian packages")
    def test_debian_package(self) -> None:
        (package,) = (self.folder / "made").glob("*.deb")
        run("dpkg-deb", "-x", package, self.folder / "root")
        self.assert_is_complete(self.folder / "root" / "usr")
        fields = run("dpkg-deb", "-f", package)
        self.assertRegex(fields, r"(?m)^Depends: .*libc6 .*libgomp1")
        self.assertNotRegex(fields, r"Depends: .*libfmt")
        self.assertIn("threads_work", run(self.folder / "root" / "usr" / "bin" / "polyad", "doctor", "--json", "-", "-q"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
