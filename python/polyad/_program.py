"""The command line program that comes with the wheel."""

from __future__ import annotations

import os
import pathlib
import sys


def main() -> None:
    """Runs the program in place of Python."""
    program = pathlib.Path(__file__).parent / "bin" / "polyad"
    if not program.exists():
        sys.exit(f"polyad: {program} is missing: the package was built without the program")
    os.execv(program, ["polyad", *sys.argv[1:]])
