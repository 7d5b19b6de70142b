"""Installs into an empty folder and compiles every public header there, alone and all together."""

import concurrent.futures
import unittest

from command import run
from installed import COMPILER, WITH_MPI, InstalledTest


class HeadersTest(InstalledTest):
    def compile(self, name: str, text: str) -> None:
        source = self.folder / name
        source.write_text(text)
        mpi = run("pkg-config", "--cflags", "polyad", env=self.environment()).split() if WITH_MPI else []
        run(COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{self.prefix / 'include'}", *mpi, source)

    def test_every_header_compiles_alone_and_all_together(self) -> None:
        folder = self.prefix / "include"
        headers = sorted(str(header.relative_to(folder)) for header in folder.rglob("*.hpp"))
        self.assertGreater(len(headers), 15)
        self.assertEqual("polyad/comm/mpi_comm.hpp" in headers, WITH_MPI)
        texts = {f"alone{i}.cpp": f'#include <{header}>\n#include <{header}>\n' for i, header in enumerate(headers)}
        texts["together.cpp"] = "".join(f"#include <{header}>\n" for header in headers)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.compile, texts.keys(), texts.values()))


if __name__ == "__main__":
    unittest.main()
