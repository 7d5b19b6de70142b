"""The documentation as a whole, without network: every page and notebook is in the navigation of the site, every link within the repository
leads to a file and to a heading, and the pictures of README.md can be drawn. Where MkDocs is installed, here or by
`./run docs`, the site is built and must have no warning."""

import ast
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unicodedata
import unittest
import xml.etree.ElementTree

SOURCE = pathlib.Path(os.environ["POLYAD_SOURCE"])
PAGES = [*SOURCE.glob("*.md"), *sorted((SOURCE / "docs").rglob("*.md")), *sorted((SOURCE / "data").glob("*.md"))]
NOTEBOOKS = sorted((SOURCE / "docs" / "notebooks").glob("*.ipynb"))
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
NAVIGATION = re.compile(r"^ *- [^:\n]+(?:: )\"?([\w/-]+\.md)\"?$|^ *- \"[^\"]+\": ([\w/-]+\.md)$", re.MULTILINE)


def text_of(page: pathlib.Path) -> str:
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")
    return FENCE.sub("", text)


def slug_on_github(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def slug_on_site(heading: str) -> str:
    """As the extension toc of Python-Markdown makes it."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def anchors(page: pathlib.Path) -> set[str]:
    """Of the headings, where GitHub and the site agree on them."""
    headings = [re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading) for heading in HEADING.findall(text_of(page))]
    return {slug_on_github(heading) for heading in headings} & {slug_on_site(heading) for heading in headings}


def pages_from_elsewhere() -> dict[str, str]:
    """PAGES of tools/site/hooks.py, which imports MkDocs and so cannot be imported everywhere."""
    for statement in ast.parse((SOURCE / "tools" / "site" / "hooks.py").read_text()).body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id == "PAGES":
            return ast.literal_eval(statement.value)
    raise AssertionError("tools/site/hooks.py defines no PAGES")


def python_with_mkdocs() -> str | None:
    for python in (SOURCE / ".venv" / "bin" / "python", sys.executable):
        found = subprocess.run([str(python), "-c", "import mkdocs, material"], capture_output=True) if os.path.exists(python) else None
        if found and found.returncode == 0:
            return str(python)
    return None


class LinksTest(unittest.TestCase):
    def test_links_within_the_repository_lead_to_files_and_headings(self) -> None:
        checked = anchored = 0
        for page in [*PAGES, *NOTEBOOKS]:
            for link in LINK.findall(text_of(page)):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = page.parent / path if path else page
                self.assertTrue(target.exists(), f"{page.name}: {link}: there is no such file")
                checked += 1
                if anchor:
                    self.assertIn(anchor, anchors(target), f"{page.name}: {link}: there is no such heading")
                    anchored += 1
        self.assertGreater(checked, 100)
        self.assertGreater(anchored, 5)


class PicturesTest(unittest.TestCase):
    def test_the_script_draws_what_the_command_in_the_readme_prints(self) -> None:
        with tempfile.TemporaryDirectory(prefix="polyad-pictures-") as folder:
            # Without a PATH there is no browser, which takes long and is not needed for the terminal.
            command = [sys.executable, SOURCE / "tools" / "draw_pictures.py", "--polyad", os.environ["POLYAD"], "--out", folder]
            result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300,
                                    env={**os.environ, "PATH": ""})
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("report.png is left as it is", result.stdout)
            drawn = xml.etree.ElementTree.parse(pathlib.Path(folder) / "terminal.svg")
        lines = [line.text.replace("\u00a0", " ") for line in drawn.iter("{http://www.w3.org/2000/svg}text")]
        self.assertTrue(lines[0].startswith("$ polyad cpd data/flights.csv.gz --columns "), lines[0])
        self.assertIn("polyad cpd data/flights.csv.gz --columns ", (SOURCE / "README.md").read_text())
        self.assertIn("component 1: weight", "\n".join(lines))

    def test_pictures_are_small(self) -> None:
        self.assertLess(sum(path.stat().st_size for path in (SOURCE / "docs" / "pictures").iterdir()), 2 << 20)


class SiteTest(unittest.TestCase):
    def test_every_page_is_in_the_navigation_once(self) -> None:
        navigation = (SOURCE / "mkdocs.yml").read_text().split("\nnav:\n")[1]
        listed = [plain or quoted for plain, quoted in NAVIGATION.findall(navigation)]
        self.assertEqual(len(listed), navigation.count(".md"))
        pages = [path.relative_to(SOURCE / "docs").as_posix() for path in (SOURCE / "docs").rglob("*.md")]
        pages += [f"notebooks/{path.stem}.md" for path in NOTEBOOKS]
        self.assertEqual(sorted(listed), sorted([*pages, *pages_from_elsewhere()]))

    def test_every_markdown_file_of_the_repository_is_a_page(self) -> None:
        elsewhere = {path.relative_to(SOURCE).as_posix() for path in PAGES if path.parent != SOURCE / "docs"}
        self.assertEqual(elsewhere, set(pages_from_elsewhere().values()))

    def test_it_builds_without_a_warning(self) -> None:
        python = python_with_mkdocs()
        if not python:
            self.skipTest("MkDocs is not installed; ./run docs installs it")
        with tempfile.TemporaryDirectory(prefix="polyad-site-") as folder:
            result = subprocess.run([python, "-m", "mkdocs", "build", "--strict", "--site-dir", folder], cwd=SOURCE,
                                    capture_output=True, text=True, timeout=600)
            self.assertEqual(result.returncode, 0, result.stderr)
            for page in ("index.html", "first-hour.html", "demo/flights.html", "notebooks/events.html", "notebooks/events.ipynb",
                         "source/examples/decompose_file.cpp"):
                self.assertTrue((pathlib.Path(folder) / page).exists(), page)


if __name__ == "__main__":
    unittest.main()
