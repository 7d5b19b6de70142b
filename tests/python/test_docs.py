"""Runs the Python snippets of the documentation: those of a page one after the other, in one fresh folder with data/. A snippet
that begins with "# needs NAME" runs where this package is installed."""

from __future__ import annotations

import importlib.util
import pathlib
import re

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [page for page in [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))] if "```python\n" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets(page, tmp_path, monkeypatch):
    (tmp_path / "data").symlink_to(SOURCE / "data")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "snippets"}
    text = page.read_text()
    for match in FENCE.finditer(text):
        needs = re.match(r"# needs (\w+)\n", match[2])
        if match[1] == "python" and not (needs and importlib.util.find_spec(needs[1]) is None):
            line = text.count("\n", 0, match.start()) + 1
            exec(compile("\n" * line + match[2], str(page), "exec"), names)
