"""Checks the snippets of README.md and docs/. Fences marked `bash` must succeed, those of each page in a fresh folder; those of all
pages in one folder are snippets_in_one_folder_test.py. Fences marked `text` are not run, and those marked `python` by
tests/python/test_docs.py. Pictures are well-formed."""

import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from snippets import FENCE, PAGES, SOURCE, RunSnippets, snippets


class SnippetsTest(RunSnippets):
    def test_every_fence_has_a_language_that_is_known(self) -> None:
        for page in PAGES:
            for language, body in FENCE.findall(page.read_text()):
                self.assertIn(language, {"bash", "text", "cpp", "json", "cmake", "python"}, f"{page.name}: {body}")

    def test_pictures_are_well_formed(self) -> None:
        pictures = list((SOURCE / "docs").rglob("*.svg"))
        self.assertGreater(len(pictures), 3)
        for picture in pictures:
            xml.etree.ElementTree.parse(picture)

    def test_cpp_snippets_compile(self) -> None:
        compiled = 0
        for page in PAGES:
            for body in snippets(page, "cpp"):
                if "mpi_comm.hpp" in body and os.environ["POLYAD_WITH_MPI"] != "ON":
                    continue
                with self.subTest(page=page.name, snippet=body), tempfile.TemporaryDirectory(prefix="polyad-docs-") as folder:
                    source = pathlib.Path(folder) / "snippet.cpp"
                    source.write_text(body)
                    command = [os.environ["POLYAD_CXX"], "-std=c++20", "-fopenmp", "-fsyntax-only", f"-I{SOURCE}",
                               f"-I{os.environ['POLYAD_BUILD']}/include",
                               *(f"-I{path}" for path in os.environ["POLYAD_MPI_INCLUDE"].split(":") if path), source]
                    result = subprocess.run(command, text=True, capture_output=True, timeout=600)
                    self.assertEqual(result.returncode, 0, f"{page.name}:\n{body}\n{result.stderr}")
                    compiled += 1
        self.assertGreater(compiled, 3)

    def test_bash_snippets_of_each_page_succeed_in_a_folder_of_its_own(self) -> None:
        self.assertGreater(sum(self.run_snippets([page]) for page in PAGES), 30)


if __name__ == "__main__":
    unittest.main()
