"""Runs the notebooks of docs/notebooks, each in a fresh folder with data/, and compares what they print with what is stored in
them. Those that need a package that is not installed are skipped."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import re

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("run_notebooks", SOURCE / "tools" / "run_notebooks.py")
tool = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tool)

PATHS = tool.notebooks()


def test_there_are_notebooks():
    assert {path.stem for path in PATHS} >= {"events", "graph", "recommender"}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_cells_run_and_print_what_is_stored(path):
    stored = json.loads(path.read_text(encoding="utf-8"))
    missing = tool.missing_modules(stored)
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")
    assert tool.differences(stored, tool.run(stored, path.name)) == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_files_are_small_and_as_the_tool_writes_them(path):
    text = path.read_text(encoding="utf-8")
    stored = json.loads(text)
    assert len(text.encode()) < 150_000
    assert text == tool.text_of(stored) and stored["metadata"] == tool.METADATA, "tools/run_notebooks.py writes notebooks"
    assert [cell["execution_count"] for cell in tool.code_cells(stored)] == list(range(1, len(tool.code_cells(stored)) + 1))
    for cell in tool.code_cells(stored):
        assert {output["output_type"] for output in cell["outputs"]} <= {"stream", "execute_result"}
        assert not re.search(r"/(home|root|tmp|work|usr|var)/| object at 0x", tool.output_text(cell))


def test_run_cell_stores_prints_and_the_last_expression():
    names = {"__name__": "__main__"}
    first = tool.run_cell("a = 2\nprint('one')\na + 1", "<cell>", 1, names)
    assert [output["output_type"] for output in first] == ["stream", "execute_result"]
    assert tool.output_text({"outputs": first}) == "one\n\n3"
    assert tool.run_cell("b = a\nNone", "<cell>", 2, names) == [] and names["b"] == 2
    with pytest.raises(ZeroDivisionError):
        tool.run_cell("1 / 0", "<cell>", 3, names)


@pytest.mark.parametrize(
    ("stored", "found", "same"),
    [
        ("fit 0.5902 of 8", "fit 0.5899 of 8", True),
        ("fit 0.5902", "fit 0.7", False),
        ("336,776 events, 6.1%", "336,776 events, 6.0%", True),
        ("336,776 events", "236,776 events", False),
        ("a 0.90, b 0.90\nc", "b 0.90, a 0.90\nc", True),  # nearly equal entries
        ("a b c", "a b c\nd", False),
        ("model 1 is best " * 5, "model 1 was wrong " * 5, False),
        ("libgtk-3-0 0.89", "libgtk-4-0 0.89", True),  # one name of a list
        ("1 2", "1", False),
    ],
)
def test_differences_of_outputs(stored, found, same):
    assert (tool.difference(stored, found) is None) == same


def test_missing_modules_are_named():
    cell = {"cell_type": "code", "source": ["import json, no_such_module.part\n", "from another_missing import x"]}
    assert tool.missing_modules({"cells": [cell]}) == ["another_missing", "no_such_module"]
