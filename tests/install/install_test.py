"""Installs into an empty folder and uses what is there as another project would: a consumer by find_package and by
pkg-config, on one process and on several. The headers are compiled one by one in headers_test.py."""

import json
import os
import pathlib
import unittest

from command import run
from installed import COMPILER, WITH_MPI, InstalledTest

SOURCE = pathlib.Path(os.environ["POLYAD_SOURCE"])
TENSOR = SOURCE / "data" / "debian.tns.gz"
CONSUMER = pathlib.Path(__file__).parent / "consumer"


class InstallTest(InstalledTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        run("cmake", "-S", CONSUMER, "-B", cls.folder / "consumer", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "--build", cls.folder / "consumer")
        program = [cls.prefix / "bin" / "polyad", "cpd", TENSOR, "-r", 4, "-i", 10, "--tol", 0, "-q", "--json", "-"]
        cls.fit = json.loads(run(*program))["fit"]

    def fits(self, output: str) -> None:
        """The output is one or more fits, each that of the program."""
        self.assertRegex(output, r"^(0\.\d+\n)+$")
        for line in output.split():
            self.assertAlmostEqual(float(line), self.fit, delta=1e-9)

    def test_find_package(self) -> None:
        self.fits(run(self.folder / "consumer" / "decompose_file", TENSOR))
        self.fits(run(self.folder / "consumer" / "two_contexts", TENSOR))

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_find_package_with_mpi(self) -> None:
        mpirun = SOURCE / "tools" / "mpirun"
        self.fits(run(mpirun, 2, self.folder / "consumer" / "decompose_file", TENSOR))
        self.fits(run(mpirun, 4, self.folder / "consumer" / "sub_communicator", TENSOR))

    def test_pkg_config(self) -> None:
        for package in ["polyad-serial"] + (["polyad"] if WITH_MPI else []):
            flags = run("pkg-config", "--cflags", "--libs", package, env=self.environment()).split()
            program = self.folder / package
            run(COMPILER, "-std=c++20", "-O1", CONSUMER / "decompose_file.cpp", "-o", program, *flags)
            self.fits(run(program, TENSOR, env=self.environment()))

    def test_add_subdirectory(self) -> None:
        """Configured only: building would compile the library once more."""
        folder = self.folder / "parent"
        folder.mkdir()
        (folder / "main.cpp").write_text("int main() {}\n")
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(parent LANGUAGES CXX)\n"
            f"add_subdirectory({SOURCE} polyad)\nadd_executable(parent main.cpp)\n"
            "target_link_libraries(parent PRIVATE polyad::polyad polyad::serial)\n")
        run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={COMPILER}",
            f"-DPOLYAD_MPI={os.environ['POLYAD_WITH_MPI']}")
        self.assertFalse((folder / "build" / "bin").exists())

    def test_the_version_is_that_of_the_program(self) -> None:
        (line,) = [line for line in (self.prefix / "include/polyad/version.hpp").read_text().splitlines()
                   if line.startswith("#define POLYAD_VERSION ")]
        self.assertEqual(run(self.prefix / "bin" / "polyad", "--version").strip(), "polyad " + line.split('"')[1])


if __name__ == "__main__":
    unittest.main()
