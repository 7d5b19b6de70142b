"""The package beside others that bring threads, BLAS and much thread-local memory of their own, imported before and after it."""

from __future__ import annotations

import importlib.util
import itertools
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
# Libraries that bring OpenMP, BLAS and thread-local memory, and what must not depend on the order in which they are loaded.
HEAVY = ["torch", "pyarrow", "sklearn.decomposition", "polyad"]
BITS = """
import hashlib
import numpy as np
x = np.random.default_rng(1).random((40, 30, 20))
model = polyad.cp(x, 5, max_iter=10, threads=2)
arrays = [model.weights, *model.factors, polyad.einsum("ijk,ljk->il", x, x, threads=2)]
print(hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
"""


def is_installed(name: str) -> bool:
    return importlib.util.find_spec(name.split(".")[0]) is not None


def run_with(imports: list[str], work: str = WORK) -> str:
    script = "".join(f"import {name}\n" for name in imports) + work
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, env=environment)
    assert result.returncode == 0, f"{imports}: {result.stderr}"
    return result.stdout


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


def test_any_order_gives_the_same_bits():
    missing = [name for name in HEAVY if not is_installed(name)]
    if missing:
        pytest.skip(f"{missing[0].split('.')[0]} is not installed")
    alone = run_with(["polyad"], BITS)
    for order in itertools.permutations(HEAVY):
        assert run_with(list(order), BITS) == alone, order
