"""The snippets of README.md and docs/, and how to run them: where `polyad` is the built program, and data/ and tools/ are those of
the repository."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["POLYAD_SOURCE"])
POLYAD = pathlib.Path(os.environ["POLYAD"])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [SOURCE / "README.md", SOURCE / "HACKING.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").rglob("*.md"))]


def snippets(page: pathlib.Path, wanted: str) -> list[str]:
    """The fences of a page that are marked with this language."""
    return [body for language, body in FENCE.findall(page.read_text()) if language == wanted]


class RunSnippets(unittest.TestCase):
    def run_snippets(self, pages: list[pathlib.Path]) -> int:
        """Runs the bash fences of the pages one after the other in one fresh folder; returns their number."""
        ran = 0
        with tempfile.TemporaryDirectory(prefix="polyad-docs-") as folder:
            (pathlib.Path(folder) / "data").symlink_to(SOURCE / "data")
            (pathlib.Path(folder) / "tools").symlink_to(SOURCE / "tools")
            environment = {**os.environ, "PATH": f"{POLYAD.parent}:{os.environ['PATH']}", "XDG_CACHE_HOME": f"{folder}/cache"}
            for page in pages:
                for body in snippets(page, "bash"):
                    with self.subTest(page=page.name, snippet=body):
                        result = subprocess.run(["bash", "-euo", "pipefail", "-c", body], cwd=folder, text=True,
                                                capture_output=True, timeout=600, env=environment)
                        self.assertEqual(result.returncode, 0, f"{page.name}:\n{body}\n{result.stderr}")
                        ran += 1
        return ran
