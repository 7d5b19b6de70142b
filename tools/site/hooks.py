"""Hooks of MkDocs (mkdocs.yml): what the site has besides docs/.

- Markdown files of the repository outside docs/ are pages as well: index.md is README.md.
- Links to files of the repository outside docs/, such as examples, lead to copies under source/.
- The notebooks in docs/notebooks are pages, too: notebooks/x.md is notebooks/x.ipynb, with its outputs.
- Where the program has been built, the reports of the demo are made and shown under demo/.
"""

import json
import os
import pathlib
import posixpath
import re
import subprocess
import tempfile

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("POLYAD", ROOT / "build" / "bin" / "polyad"))
PAGES = {  # of the site: of the repository
    "index.md": "README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "hacking.md": "HACKING.md",
    "debian.md": "data/README.md",
    "flights.md": "data/flights.md",
}
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

FLIGHTS = ["data/flights.csv.gz", "--columns", "airline,from,to,date:week", "--value", "1"]
DEBIAN = ["data/debian.tns.gz"]
DEMO = {
    "flights.html": ("Decomposition: flights from New York City", ["cpd", *FLIGHTS, "-r", "10", "--nonneg"]),
    "debian.html": ("Decomposition: dependencies of Debian packages", ["cpd", *DEBIAN, "-r", "8", "--nonneg", "--seed", "6"]),
    "plan.html": ("Plan: the same tensor on 4 to 256 processes", ["plan", *DEBIAN, "-r", "8", "-k", "4,16,64,256"]),
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    if PROGRAM.is_file():
        config.nav.append({"Example reports": "demo/index.md"})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, source in PAGES.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=notebook_page(path)))
    for target in sorted(linked_sources(files)):
        files.append(File.generated(config, f"source/{target}", abs_src_path=str(ROOT / target)))
    if PROGRAM.is_file():
        add_demo(files, config)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrites links that lead out of docs/, or to notebooks. Fences are kept as they are."""
    pieces, end = [], 0
    for fence in FENCE.finditer(markdown):
        pieces += [rewrite(markdown[end : fence.start()], page.file.src_uri), fence.group()]
        end = fence.end()
    return "".join(pieces) + rewrite(markdown[end:], page.file.src_uri)


def rewrite(text: str, name: str) -> str:
    """The text of a page of the site with links as they must be there."""
    return LINK.sub(lambda link: f"{link[1]}({site_link(link[2], name)})", text)


def notebook_page(path: pathlib.Path) -> str:
    """A notebook as Markdown: its texts, its code, and what the code printed."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            text = "".join(output.get("text") or output["data"]["text/plain"]).rstrip()
            parts.append(f"```text\n{text}\n```")
    title, _, rest = "\n\n".join(parts).partition("\n")
    return f'{title}\n\n<a href="{path.name}" download>Download this notebook</a>\n{rest}\n'


def folder_of(name: str) -> str:
    """The folder in the repository that links of a page of the site are relative to."""
    return posixpath.dirname(PAGES.get(name, f"docs/{name}"))


def repository_path(target: str, folder: str) -> tuple[str, str] | None:
    """A link as path from the root of the repository and anchor; none if it leads elsewhere."""
    path, mark, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", target) or folder.startswith("docs/demo"):
        return None
    return posixpath.normpath(posixpath.join(folder, path)), mark + anchor


def site_link(target: str, name: str) -> str:
    found = repository_path(target, folder_of(name))
    if not found:
        return target
    path, anchor = found
    return posixpath.relpath(place_on_site(path), posixpath.dirname(name) or ".") + anchor


def place_on_site(path: str) -> str:
    """Where a file of the repository is on the site."""
    for name, source in PAGES.items():
        if path == source:
            return name
    if path.startswith("docs/notebooks/"):
        path = re.sub(r"\.ipynb$", ".md", path)
    return path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}"


def linked_sources(files: Files) -> set[str]:
    """The files outside docs/ that pages link to. A link to a folder is refused by MkDocs as not found."""
    linked = set()
    for file in files.documentation_pages():
        folder = folder_of(file.src_uri)
        for _, target in LINK.findall(FENCE.sub("", file.content_string)):
            found = repository_path(target, folder)
            if found and not found[0].startswith("docs/") and found[0] not in PAGES.values() and (ROOT / found[0]).is_file():
                linked.add(found[0])
    return linked


def add_demo(files: Files, config: MkDocsConfig) -> None:
    lines = ["# Example reports", "", "Pages that `polyad --report` writes, from data of the repository.", ""]
    for name, (title, command) in DEMO.items():
        with tempfile.TemporaryDirectory(prefix="polyad-demo-") as folder:
            report = pathlib.Path(folder) / name
            subprocess.run([PROGRAM, *command, "--quiet", "--report", report], cwd=ROOT, check=True)
            files.append(File.generated(config, f"demo/{name}", content=report.read_bytes()))
        lines += [f"- [{title}]({name}), by", "", f"        polyad {' '.join(command)} --report {name}", ""]
    files.append(File.generated(config, "demo/index.md", content="\n".join(lines)))
