"""Random tensors, and what the tests of conversions compare."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from polyad._convert import Pieces

SEEDS = range(12)
DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]


def random_shape(rng: random.Random, order: int) -> tuple[int, ...]:
    return tuple(rng.choice([1, 2, 3, 5, 7] if order <= 4 else [1, 2, 3]) for _ in range(order))


def random_pieces(
    seed: int, order: int, *, nnz: int | None = None, distinct: bool = True, dtype: str = "float64"
) -> Pieces:
    """With empty slices, as most cells are empty; without zeros among the values."""
    rng = random.Random(1000 * order + seed)
    shape = random_shape(rng, order)
    cells = math.prod(shape)
    if nnz is None:
        nnz = rng.choice([0, 1, 2, cells // 3, cells])
    if distinct:
        nnz = min(nnz, cells)
        flat = np.array(sorted(rng.sample(range(cells), nnz)), dtype=np.int64)
    else:
        flat = np.array([rng.randrange(cells) for _ in range(nnz)], dtype=np.int64)
    coords = [np.ascontiguousarray(indices, dtype=np.int64) for indices in np.unravel_index(flat, shape)]
    values = np.array([rng.choice([-3, -1, 0.5, 2, 7]) for _ in range(nnz)], dtype=dtype)
    return Pieces(coords, values, shape)


def random_cases(orders: Iterable[int] = range(1, 7)) -> Iterator[tuple[int, Pieces]]:
    """Tensors of all orders with their seeds; every other one has duplicates. A test of a library that may be
    missing runs all of them, so that it is skipped once."""
    for order in orders:
        for seed in SEEDS:
            yield seed, random_pieces(seed, order, distinct=seed % 2 == 0)


def dense_of(pieces: Pieces) -> np.ndarray[Any, Any]:
    """Cell by cell, without the code under test."""
    dense = np.zeros(pieces.shape)
    for z, value in enumerate(pieces.values.tolist()):
        dense[tuple(int(indices[z]) for indices in pieces.coords)] += value
    return dense


def assert_same(found: Pieces, expected: Pieces) -> None:
    """The same tensor, whatever the order of the nonzeros."""
    assert found.shape == expected.shape
    assert len(found.coords) == len(found.shape)
    for indices in found.coords:
        assert (
            indices.dtype == np.int64 and indices.flags.c_contiguous and indices.shape == found.values.shape
        )
    assert found.values.dtype in (np.float64, np.float32) and found.values.flags.c_contiguous
    np.testing.assert_array_equal(dense_of(found), dense_of(expected))
