# A Spack recipe that builds the checkout in which it lies:
#   spack repo add packaging/spack/spack_repo/polyad
#   spack install polyad

from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Polyad(CMakePackage):
    """CP decomposition of sparse tensors, matrix completion for recommenders and contraction of dense tensors, on the
    threads of one machine or on many machines through MPI."""

    git = f"file://{Path(__file__).resolve().parents[6]}"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("mpi", default=True, description="Run on many processes through MPI")
    variant("shared", default=True, description="Build shared libraries")
    variant("zoltan", default=False, when="+mpi", description="Use Zoltan as a further partitioner")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.10:", type="test")
    depends_on("googletest", type="test")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("fmt")
    depends_on("lapack")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")
    depends_on("trilinos+zoltan", when="+zoltan")

    conflicts("%gcc@:11", msg="Polyad needs a compiler with C++20")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("POLYAD_MPI", "mpi"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("POLYAD_ZOLTAN", "zoltan"),
            self.define("POLYAD_MT_KAHYPAR", False),
            self.define("POLYAD_PROCESSOR", "flags"),
            self.define("POLYAD_BENCH", False),
            self.define("BUILD_TESTING", self.run_tests),
        ]
