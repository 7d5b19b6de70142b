"""What the tests of the Python package have in common. They need NumPy and pytest; what else they need is skipped where it is
not installed."""

from __future__ import annotations

import os
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import polyad
import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line for each test that was skipped, which tools/run_ctest.py collects."""
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        terminalreporter.write_line(f"[skipped] {report.nodeid}: {reason.removeprefix('Skipped: ')}")


@pytest.fixture
def debian() -> pathlib.Path:
    return SOURCE / "data" / "debian.tns.gz"


@pytest.fixture
def program() -> Callable[..., str]:
    """Runs the program; the tests that need it are skipped where it is not built."""
    path = pathlib.Path(os.environ.get("POLYAD", SOURCE / "build" / "portable" / "bin" / "polyad"))
    if not path.exists():
        pytest.skip("the program is not built")

    def run(*words: object) -> str:
        return subprocess.run([path, *map(str, words)], check=True, text=True, capture_output=True).stdout

    return run


def random_tensor(seed: int, shape: tuple[int, ...] = (9, 7, 5), nnz: int = 120, labelled: bool = False) -> polyad.Tensor:
    random = np.random.default_rng(seed)
    cells = random.choice(int(np.prod(shape)), size=nnz, replace=False)
    labels = [[f"{mode}-{i}" for i in range(extent)] for mode, extent in enumerate(shape)] if labelled else None
    modes = [f"mode{mode}" for mode in range(len(shape))] if labelled else None
    return polyad.from_pieces(list(np.unravel_index(cells, shape)), random.normal(size=nnz), shape, modes, labels)


@pytest.fixture
def make_tensor() -> Callable[..., polyad.Tensor]:
    return random_tensor
