#!/usr/bin/env python3
"""Runs the notebooks of docs/notebooks, each in a fresh folder with data/, and writes what their cells print into them.

    tools/run_notebooks.py                                  # all, with the package polyad on the path
    tools/run_notebooks.py docs/notebooks/events.ipynb      # one
    tools/run_notebooks.py --check                          # changes nothing: are the outputs in the files those of a run?

It needs no Jupyter. Outputs are text: what cells print, and the repr of their last expression. HTML and pictures, which Jupyter
would add, are left out, so that files stay small; nothing that is written depends on the machine or the time.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import importlib.util
import io
import json
import linecache
import math
import os
import pathlib
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator
from typing import Any

SOURCE = pathlib.Path(__file__).resolve().parents[1]
FOLDER = SOURCE / "docs" / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
NUMBER = re.compile(r"[-+]?(?:\d+(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?%?")


def notebooks() -> list[pathlib.Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def missing_modules(notebook: dict[str, Any]) -> list[str]:
    """The modules that its cells import and this Python does not have."""
    imported: set[str] = set()
    for cell in code_cells(notebook):
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    return sorted(name for name in imported if importlib.util.find_spec(name) is None)


@contextlib.contextmanager
def fresh_folder() -> Iterator[None]:
    """A current folder with nothing but a link to data/."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="polyad-notebook-") as folder:
        os.symlink(SOURCE / "data", os.path.join(folder, "data"))
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def lines_of(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def run_cell(source: str, name: str, count: int, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs a cell, and returns its outputs as Jupyter stores them."""
    linecache.cache[name] = (len(source), None, lines_of(source), name)  # for tracebacks
    body = ast.parse(source, name)
    last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(body, name, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines_of(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines_of(repr(value))}
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def run(notebook: dict[str, Any], title: str) -> dict[str, Any]:
    """The notebook with the outputs of a run. What a cell raises comes out, with the cell in its traceback."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells: list[dict[str, Any]] = []
    count = 0
    with fresh_folder():
        for number, cell in enumerate(notebook["cells"], start=1):
            source = "".join(cell["source"])
            made = {"cell_type": cell["cell_type"], "id": f"cell-{number}", "metadata": {}, "source": lines_of(source)}
            if cell["cell_type"] == "code":
                count += 1
                made["execution_count"] = count
                made["outputs"] = run_cell(source, f"<{title}, cell {number}>", count, names)
            cells.append(made)
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def text_of(notebook: dict[str, Any]) -> str:
    """As Jupyter writes a file, with keys in the order of the alphabet."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def output_text(cell: dict[str, Any]) -> str:
    return "\n".join("".join(output.get("text") or output["data"]["text/plain"]) for output in cell["outputs"])


def value_of(number: str) -> float:
    return float(number.rstrip("%").replace(",", ""))


def difference(stored: str, found: str) -> str | None:
    """What differs between two outputs by more than another processor may cause: numbers by 5%, or by little next to one; words
    by a tenth, in any order, because entries that are nearly equal may change places."""
    if stored.count("\n") != found.count("\n"):
        return f"{stored.count(chr(10)) + 1} lines are stored, {found.count(chr(10)) + 1} were found"
    numbers, words = [], []
    for text in (stored, found):
        pieces = [piece.strip("()[]{},;:'\"<>") for piece in text.split()]
        numbers.append([value_of(piece) for piece in pieces if NUMBER.fullmatch(piece)])
        words.append(collections.Counter(piece for piece in pieces if piece and not NUMBER.fullmatch(piece)))
    changed = sum(((words[0] - words[1]) + (words[1] - words[0])).values()) / 2
    if changed > 0.1 * max(sum(words[0].values()), 20):
        return f"stored are {list(words[0] - words[1])}, found are {list(words[1] - words[0])}"
    if len(numbers[0]) != len(numbers[1]):
        return f"{len(numbers[0])} numbers are stored, {len(numbers[1])} were found"
    for before, after in zip(*numbers, strict=True):
        if not math.isclose(before, after, rel_tol=0.05, abs_tol=0.02):
            return f"{before:g} is stored, {after:g} was found"
    return None


def differences(stored: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """One line for each cell whose outputs are not those that are stored."""
    lines = []
    for number, (before, after) in enumerate(zip(code_cells(stored), code_cells(found), strict=True), start=1):
        reason = difference(output_text(before), output_text(after))
        if reason:
            lines.append(f"code cell {number}: {reason}\n--- stored\n{output_text(before)}\n--- found\n{output_text(after)}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path, metavar="NOTEBOOK", help="default: all of docs/notebooks")
    parser.add_argument("--check", action="store_true", help="compare outputs, and leave the files as they are")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.notebooks or notebooks():
        stored = json.loads(path.read_text(encoding="utf-8"))
        missing = missing_modules(stored)
        if missing:
            print(f"{path.name}: left as it is, because {', '.join(missing)} cannot be imported", file=sys.stderr)
            failed = True
            continue
        try:
            found = run(stored, path.name)
        except Exception:
            traceback.print_exc()
            failed = True
            continue
        if arguments.check:
            for line in differences(stored, found):
                print(f"{path.name}: {line}", file=sys.stderr)
                failed = True
        else:
            path.write_text(text_of(found), encoding="utf-8")
            print(f"{path.name}: {len(code_cells(found))} cells, {path.stat().st_size:,} bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
