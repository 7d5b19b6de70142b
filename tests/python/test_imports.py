"""The package beside others that bring threads, BLAS and much thread-local memory of their own, imported before and after it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

OTHERS = ["numpy", "scipy.linalg", "pandas", "pyarrow", "sklearn.decomposition", "torch"]
WORK = """
import numpy as np
x = np.random.default_rng(1).random((6, 5, 4))
assert polyad.cp(x, 2, max_iter=5).fit > 0.3
assert np.allclose(polyad.einsum("ij,jk->ik", x[0], x[0].T), x[0] @ x[0].T)
"""


def is_installed(name: str) -> bool:
    return importlib.util.find_spec(name.split(".")[0]) is not None


def run_with(imports: list[str]) -> None:
    script = "".join(f"import {name}\n" for name in imports) + WORK
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, env=environment)
    assert result.returncode == 0, f"{imports}: {result.stderr}"


@pytest.mark.parametrize("other", OTHERS)
def test_beside_one(other):
    if not is_installed(other):
        pytest.skip(f"{other.split('.')[0]} is not installed")
    run_with([other, "polyad"])
    run_with(["polyad", other])


def test_beside_all():
    present = [name for name in OTHERS if is_installed(name)]
    run_with([*present, "polyad"])
    run_with([*present[:1:-1], "polyad", *present[1::-1]])
