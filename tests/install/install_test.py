"""Installs into an empty folder and uses what is there as another project would: every public header alone and
all together, a consumer by find_package and by pkg-config, on one process and on several."""

import concurrent.futures
import json
import os
import pathlib
import tempfile
import unittest

from command import run

SOURCE = pathlib.Path(os.environ["POLYAD_SOURCE"])
BUILD = pathlib.Path(os.environ["POLYAD_BUILD"])
COMPILER = os.environ["POLYAD_CXX"]
WITH_MPI = os.environ["POLYAD_WITH_MPI"] == "ON"
TENSOR = SOURCE / "data" / "debian.tns.gz"
CONSUMER = pathlib.Path(__file__).parent / "consumer"


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="polyad-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        run("cmake", "-S", CONSUMER, "-B", cls.folder / "consumer", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "--build", cls.folder / "consumer")
        program = [cls.prefix / "bin" / "polyad", "cpd", TENSOR, "-r", 4, "-i", 10, "--tol", 0, "-q", "--json", "-"]
        cls.fit = json.loads(run(*program))["fit"]

    def compile(self, name: str, text: str) -> None:
        source = self.folder / name
        source.write_text(text)
        mpi = run("pkg-config", "--cflags", "polyad", env=self.environment()).split() if WITH_MPI else []
        run(COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{self.prefix / 'include'}", *mpi, source)

    def environment(self) -> dict[str, str]:
        found = next(self.prefix.rglob("pkgconfig"))
        return {**os.environ, "PKG_CONFIG_PATH": str(found), "LD_LIBRARY_PATH": str(found.parent)}

    def fits(self, output: str) -> None:
        """The output is one or more fits, each that of the program."""
        self.assertRegex(output, r"^(0\.\d+\n)+$")
        for line in output.split():
            self.assertAlmostEqual(float(line), self.fit, delta=1e-9)

    def test_every_header_compiles_alone_and_all_together(self) -> None:
        folder = self.prefix / "include"
        headers = sorted(str(header.relative_to(folder)) for header in folder.rglob("*.hpp"))
        self.assertGreater(len(headers), 15)
        self.assertEqual("polyad/comm/mpi_comm.hpp" in headers, WITH_MPI)
        texts = {f"alone{i}.cpp": f'#include <{header}>\n#include <{header}>\n' for i, header in enumerate(headers)}
        texts["together.cpp"] = "".join(f"#include <{header}>\n" for header in headers)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.compile, texts.keys(), texts.values()))

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
