"""Runs the snippets of README.md and docs/. Fences marked `bash` must succeed where `polyad` is the built program and data/ and
tools/ are those of the repository: those of each page in a fresh folder, and those of all pages one after the other in one
folder. Fences marked `text` are not run, and those marked `python` by tests/python/test_docs.py. Pictures are well-formed."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

SOURCE = pathlib.Path(os.environ["POLYAD_SOURCE"])
POLYAD = pathlib.Path(os.environ["POLYAD"])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [SOURCE / "README.md", SOURCE / "HACKING.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").rglob("*.md"))]


class SnippetsTest(unittest.TestCase):
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
            for language, body in FENCE.findall(page.read_text()):
                if language != "cpp" or ("mpi_comm.hpp" in body and os.environ["POLYAD_WITH_MPI"] != "ON"):
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

    def run_snippets(self, pages: list[pathlib.Path]) -> int:
        """Runs the bash fences of the pages one after the other in one fresh folder; returns their number."""
        ran = 0
        with tempfile.TemporaryDirectory(prefix="polyad-docs-") as folder:
            (pathlib.Path(folder) / "data").symlink_to(SOURCE / "data")
            (pathlib.Path(folder) / "tools").symlink_to(SOURCE / "tools")
            environment = {**os.environ, "PATH": f"{POLYAD.parent}:{os.environ['PATH']}", "XDG_CACHE_HOME": f"{folder}/cache"}
            for page in pages:
                for body in (body for language, body in FENCE.findall(page.read_text()) if language == "bash"):
                    with self.subTest(page=page.name, snippet=body):
                        result = subprocess.run(["bash", "-euo", "pipefail", "-c", body], cwd=folder, text=True,
                                                capture_output=True, timeout=600, env=environment)
                        self.assertEqual(result.returncode, 0, f"{page.name}:\n{body}\n{result.stderr}")
                        ran += 1
        return ran

    def test_bash_snippets_of_each_page_succeed_in_a_folder_of_its_own(self) -> None:
        self.assertGreater(sum(self.run_snippets([page]) for page in PAGES), 30)

    def test_bash_snippets_of_all_pages_succeed_one_after_the_other_in_one_folder(self) -> None:
        self.assertGreater(self.run_snippets(PAGES), 30)


if __name__ == "__main__":
    unittest.main()
