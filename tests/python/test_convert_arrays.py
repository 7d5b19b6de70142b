"""Coordinates, lists of tuples and dense arrays in and out (polyad/_convert/arrays.py, pieces.py)."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from convert_support import DTYPES, SEEDS, assert_same, dense_of, random_pieces
from polyad._convert import Pieces, combined, pieces_of, to_numpy

ORDERS = range(1, 7)


def test_only_numpy_is_imported() -> None:
    code = """
import sys, numpy
import polyad._convert as convert
convert.pieces_of((numpy.array([[0, 1], [2, 0], [1, 1]]), [1., 2.]))
convert.pieces_of([("a", "b")])
convert.frame_pieces({"who": ["a", "b"], "when": ["2014-04-01", "2014-04-03"]}, ["who", "when:day"])
others = ("scipy", "pandas", "polars", "pyarrow", "torch", "sparse", "pyttb", "tensorly", "sklearn")
print(*[name for name in others if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.split() == []


# --- coordinates ---


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", SEEDS)
def test_coordinates_are_read_in_every_layout(order: int, seed: int) -> None:
    x = random_pieces(seed, order, distinct=seed % 2 == 0)
    stack = np.stack(x.coords)
    for coords in (x.coords, tuple(x.coords), [of_mode.astype(np.int32) for of_mode in x.coords]):
        if x.nnz or isinstance(coords, list):
            assert_same(pieces_of((coords, x.values), shape=x.shape), x)
    assert_same(pieces_of(x.coords, x.values, shape=x.shape), x)
    if order != x.nnz:
        for layout in (stack, stack.T, np.asfortranarray(stack), stack.T.copy(), stack[:, ::-1][:, ::-1]):
            assert_same(pieces_of(layout, x.values, shape=x.shape), x)
            assert_same(pieces_of((layout, x.values), shape=x.shape), x)
    if x.nnz:
        rows = list(zip(*[of_mode.tolist() for of_mode in x.coords]))
        assert_same(pieces_of(rows, x.values, shape=x.shape), x)
        assert_same(pieces_of((rows, x.values.tolist()), shape=x.shape), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_values_of_every_type_are_read(dtype: str, seed: int) -> None:
    x = random_pieces(seed, 3, nnz=10)
    values = np.abs(x.values).astype(dtype)
    found = pieces_of((x.coords, values), shape=x.shape)
    assert found.values.dtype == (np.float32 if dtype in ("float16", "float32") else np.float64)
    np.testing.assert_array_equal(found.values, values.astype(np.float64))
    swapped = values.astype(values.dtype.newbyteorder())
    np.testing.assert_array_equal(pieces_of((x.coords, swapped), shape=x.shape).values, found.values)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64"])
def test_indices_of_every_type_are_read(dtype: str) -> None:
    x = random_pieces(1, 4, nnz=20)
    assert_same(pieces_of((np.stack(x.coords).astype(dtype), x.values), shape=x.shape), x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fitting_arrays_are_shared(dtype: str) -> None:
    coords = np.array([[0, 1, 2, 2], [1, 1, 0, 3], [4, 0, 0, 0]])
    values = np.array([1, 2, 3, 4], dtype=dtype)
    for layout in (coords, np.asfortranarray(coords.T), list(coords)):
        found = pieces_of((layout, values))
        assert all(
            np.shares_memory(indices, np.asarray(layout) if isinstance(layout, np.ndarray) else coords)
            for indices in found.coords
        )
        assert np.shares_memory(found.values, values)
    again = pieces_of(found, modes=["a", "b", "c"])
    assert np.shares_memory(again.values, values) and again.modes == ["a", "b", "c"]
    copied = pieces_of((coords.T.copy(), values))
    assert not np.shares_memory(copied.coords[0], coords)


def test_extents_are_those_of_the_largest_indices() -> None:
    found = pieces_of((np.array([[0, 4], [2, 1], [0, 0]]).reshape(3, 2), [1.0, 2.0]))
    assert found.shape == (5, 3, 1)


def test_square_coordinates_are_resolved_by_extents_or_refused() -> None:
    coords, values = np.array([[0, 8], [5, 6]]), [1.0, 2.0]
    with pytest.raises(ValueError, match="both ndim × nnz and nnz × ndim are possible"):
        pieces_of((coords, values))
    with pytest.raises(ValueError, match="both ndim × nnz and nnz × ndim are possible"):
        pieces_of((coords, values), shape=(9, 9))
    assert [list(c) for c in pieces_of((coords, values), shape=(9, 7)).coords] == [[0, 8], [5, 6]]
    assert [list(c) for c in pieces_of((coords, values), shape=(6, 9)).coords] == [[0, 5], [8, 6]]
    assert [list(c) for c in pieces_of((list(coords), values)).coords] == [[0, 8], [5, 6]]
    assert [list(c) for c in pieces_of([(0, 8), (5, 6)], values).coords] == [[0, 5], [8, 6]]
    assert [list(c) for c in pieces_of((np.array([[3, 1], [1, 2]]), values)).coords] == [[3, 1], [1, 2]]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        (
            ([[0, -1, 0], [0, 0, 1]], [1, 2, 3]),
            {},
            ValueError,
            "nonzero 1 has the index -1 in mode 0: expected indices from 0",
        ),
        (
            ([[0, 7, 0], [0, 0, 1]], [1, 2, 3]),
            {"shape": (7, 2)},
            ValueError,
            "the index 7 in mode 0, beyond its extent: expected 0 to 6",
        ),
        (
            ([[0, 1, 0], [0, 0, 1]], [1, 2, 3, 4]),
            {},
            ValueError,
            r"the shape \(2, 3\), and there are 4 values: expected ndim × 4",
        ),
        (([[0, 1, 0], [0, 0, 1]], [1, 2, 3]), {"shape": (7,)}, ValueError, "has 1 extent: expected 2"),
        (([[0, 1, 0], [0, 0, 1]], [1, 2, 3]), {"shape": (7, 0)}, ValueError, "the extent of mode 1 is 0"),
        (
            ([[0, 1, 0], [0, 0, 1]], [1, np.nan, 3]),
            {},
            ValueError,
            r"the value at \[1, 0\] is nan.*missing='nan'",
        ),
        (
            ([[0, 1, 0], [0, 0, 1]], [1, np.inf, 3]),
            {"missing": "nan"},
            ValueError,
            r"the value at \[1, 0\] is inf: expected finite numbers$",
        ),
        (([[0, 1, 0], [0, 0, 1]], [1, 2, None]), {}, TypeError, "dtype object"),
        (([[0, 1, 0], [0, 0, 1]], [1, 2, 3j]), {}, TypeError, "complex"),
        (([[0, 1, 0], [0, 0, 1]], ["1", "2", "3"]), {}, TypeError, "expected numbers"),
        (([[0, 1.5, 0], [0, 0, 1]], [1, 2, 3]), {}, TypeError, "dtype float64: expected whole numbers"),
        (([np.array([0, 1]), np.array([0])], [1, 2]), {}, ValueError, "mode 1 has 1 index .* 2 values"),
        (
            (np.zeros((2, 0), dtype=int), []),
            {},
            ValueError,
            "no nonzeros, so the extents are unknown: expected shape=",
        ),
        (([[0, 1, 0], [0, 0, 1]], [1, 2, 3]), {"modes": ["a"]}, ValueError, "modes has 1 name: expected 2"),
        (([[0, 1, 0], [0, 0, 1]], [1, 2, 3]), {"modes": ["a", "a"]}, ValueError, "'a' more than once"),
        (([[0, 1, 0], [0, 0, 1]], [1, 2, 3]), {"modes": "ab"}, TypeError, "is a text"),
        (([[0, 1, 0], [0, 0, 1]], [1, 2, 3]), {"labels": [["x"], None]}, ValueError, "beyond its extent"),
        (
            ([[0, 1, 0], [0, 0, 1]], [1, 2, 3]),
            {"labels": [["x"], None], "shape": (2, 2)},
            ValueError,
            "1 label and the extent 2",
        ),
        (([[0, 1, 0], [0, 0, 1]], [1, 2, 3]), {"labels": {"who": ["x", "y"]}}, ValueError, "no mode 'who'"),
        (
            ([[0, 1, 0], [0, 0, 1]], [1, 2, 3]),
            {"labels": {5: ["x", "y"]}},
            ValueError,
            "no mode 5: expected 0 to 1",
        ),
        (([[0, 1, 0], [0, 0, 1]], [1, 2, 3]), {"missing": "zero"}, ValueError, "missing='zero'"),
        ((np.zeros((17, 3), dtype=int), [1, 2, 3]), {}, ValueError, "found 17 modes: expected 1 to 16"),
        ((np.array([[2**63], [0]], dtype=np.uint64), [1]), {}, ValueError, r"below 2\*\*63"),
    ],
)
def test_bad_coordinates_are_explained(
    arguments: Any, options: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        pieces_of(arguments, **options)


@pytest.mark.parametrize("obj", [None, "x.tns", b"x", 3, {1: 2}, object()])
def test_what_is_no_tensor_is_refused(obj: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="expected"):
        pieces_of(obj)


def test_missing_values_are_left_out() -> None:
    found = pieces_of(([[0, 1, 0], [0, 0, 1]], [1, np.nan, 0]), shape=(2, 2), missing="nan")
    assert found.values.tolist() == [1, 0] and found.coords[0].tolist() == [0, 0]


def test_labels_and_modes_travel() -> None:
    given = {"labels": {"who": ["ann", "bob"], 1: ["tea", "milk", "water"]}, "modes": ["who", "what"]}
    found = pieces_of(([[0, 1, 0], [0, 0, 1]], [1, 2, 3]), **given)  # type: ignore[arg-type]
    assert (
        found.shape == (2, 3)
        and found.labels == [["ann", "bob"], ["tea", "milk", "water"]]
        and found.modes == ["who", "what"]
    )


# --- lists of tuples ---


def test_tuples_of_names_are_numbered_as_the_program_does() -> None:
    found = pieces_of([("bob", 10, "9"), ("ann", 2, "10"), ("bob", 2, "9")], modes=["who", "number", "text"])
    assert found.labels == [["ann", "bob"], None, ["9", "10"]]
    assert [indices.tolist() for indices in found.coords] == [[1, 0, 1], [10, 2, 2], [0, 1, 0]]
    assert found.values.tolist() == [1, 1, 1] and found.shape == (2, 11, 2)


def test_tuples_of_names_are_looked_up_in_given_labels() -> None:
    labels = [["tea", "milk", "water"], None]
    found = pieces_of([("water", "x"), ("tea", "y")], [2, 3], labels=labels)
    assert (
        found.coords[0].tolist() == [2, 0]
        and found.shape == (3, 2)
        and found.labels == [labels[0], ["x", "y"]]
    )
    with pytest.raises(ValueError, match="'beer' is no label of mode 0"):
        pieces_of([("beer", "x")], [2], labels=labels)


def test_bad_tuples_are_explained() -> None:
    with pytest.raises(ValueError, match="tuple 1 has 3 entries: expected 2"):
        pieces_of([("a", "b"), ("a", "b", "c")])
    with pytest.raises(ValueError, match="tuple 1 has None in mode 1"):
        pieces_of([("a", "b"), ("a", None)])
    with pytest.raises(ValueError, match="2 tuples, and values of the shape"):
        pieces_of([("a", "b"), ("a", "c")], [1.0])


# --- dense arrays ---


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", SEEDS)
def test_dense_arrays_go_in_and_out(order: int, seed: int) -> None:
    x = random_pieces(seed, order)
    dense = dense_of(x)
    for layout in (dense, np.asfortranarray(dense), dense[..., ::-1][..., ::-1], dense.tolist()):
        assert_same(pieces_of(layout), x)
    np.testing.assert_array_equal(to_numpy(pieces_of(dense)), dense)
    duplicated = random_pieces(seed, order, distinct=False)
    np.testing.assert_array_equal(to_numpy(duplicated), dense_of(duplicated))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dense_arrays_of_every_type_are_read(dtype: str) -> None:
    dense = np.abs(dense_of(random_pieces(3, 3, nnz=9))).astype(dtype)
    found = pieces_of(dense)
    np.testing.assert_array_equal(to_numpy(found), dense)
    assert found.nnz == np.count_nonzero(dense)


@pytest.mark.parametrize("seed", SEEDS)
def test_cells_that_are_nan_are_unknown_and_zeros_are_known(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.choice([0.0, 1.5, np.nan], size=(4, 3, 5))
    found = pieces_of(dense, missing="nan")
    assert found.nnz == np.count_nonzero(~np.isnan(dense))
    np.testing.assert_array_equal(to_numpy(found, missing="nan"), dense)
    masked = np.ma.masked_invalid(dense)
    np.testing.assert_array_equal(to_numpy(pieces_of(masked, missing="nan"), missing="nan"), dense)
    with pytest.raises(ValueError, match="is nan.*missing='nan' leaves such cells out"):
        pieces_of(dense)
    with pytest.raises(ValueError, match="has a mask"):
        pieces_of(masked)


def test_the_cell_of_a_bad_value_is_named() -> None:
    dense = np.zeros((2, 3, 4))
    dense[1, 2, 3] = np.nan
    with pytest.raises(ValueError, match=r"the value at \[1, 2, 3\] is nan"):
        pieces_of(dense)
    dense[1, 2, 3] = -np.inf
    with pytest.raises(ValueError, match=r"the value at \[1, 2, 3\] is -inf"):
        pieces_of(dense, missing="nan")


@pytest.mark.parametrize(
    ("array", "error", "words"),
    [
        (np.float64(3), ValueError, "single number"),
        (np.zeros((0, 3)), ValueError, "extent of mode 0 is 0"),
        (np.array([["a", "b"]]), TypeError, "expected numbers"),
        (np.array([[1, None]]), TypeError, "dtype object"),
        (np.array([[1j]]), TypeError, "complex"),
        (np.array([["2014-04-01"]], dtype="datetime64[D]"), TypeError, "expected numbers"),
    ],
)
def test_bad_arrays_are_explained(array: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        pieces_of(array)


def test_zeros_alone_are_a_tensor_without_nonzeros() -> None:
    found = pieces_of(np.zeros((2, 3)))
    assert found.shape == (2, 3) and found.nnz == 0
    np.testing.assert_array_equal(to_numpy(found), np.zeros((2, 3)))


class ArrayLike:
    """With the protocol that the test names, and nothing else of an array."""

    def __init__(self, array: Any) -> None:
        self.array = array


class ByArray(ArrayLike):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class ByDlpack(ArrayLike):
    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("kind", [ByArray, ByDlpack])
def test_array_protocols_are_read(kind: Any) -> None:
    x = random_pieces(5, 3, nnz=8)
    assert_same(pieces_of(kind(dense_of(x))), x)


def test_large_dense_arrays_are_refused_with_their_size() -> None:
    x = Pieces([np.zeros(1, dtype=np.int64)] * 3, np.ones(1), (10_000, 10_000, 10_000))
    with pytest.raises(
        MemoryError,
        match=r"shape \(10000, 10000, 10000\) takes 8.00 TB.*max_bytes='1GB'.*1 nonzeros take 32 bytes",
    ):
        to_numpy(x)
    small = Pieces([np.zeros(1, dtype=np.int64)] * 3, np.ones(1), (10, 10, 10))
    assert (
        to_numpy(small, 8000).sum() == 1
        and to_numpy(small, "8kB").sum() == 1
        and to_numpy(small, "7.9 KiB").sum() == 1
    )
    with pytest.raises(MemoryError):
        to_numpy(small, 7999)
    with pytest.raises(ValueError, match="expected a size"):
        to_numpy(small, "much")


# --- duplicates ---


@pytest.mark.parametrize("agg", ["sum", "mean", "max", "last", "count"])
@pytest.mark.parametrize("seed", SEEDS)
def test_duplicates_are_combined(agg: str, seed: int) -> None:
    x = random_pieces(seed, 1 + seed % 4, nnz=40, distinct=False)
    cells: dict[tuple[int, ...], list[float]] = {}
    for z, value in enumerate(x.values.tolist()):
        cells.setdefault(tuple(int(indices[z]) for indices in x.coords), []).append(value)
    rule = {"sum": sum, "mean": lambda v: sum(v) / len(v), "max": max, "last": lambda v: v[-1], "count": len}[
        agg
    ]
    found = combined(x, agg)
    assert list(zip(*[indices.tolist() for indices in found.coords])) == sorted(cells)
    assert found.values.tolist() == [rule(cells[cell]) for cell in sorted(cells)]  # type: ignore[operator]
    huge = Pieces(x.coords, x.values, tuple(2**40 for _ in x.shape))
    assert combined(huge, agg).values.tolist() == found.values.tolist()


def test_duplicates_are_refused_by_name() -> None:
    x = Pieces([np.array([0, 1, 0]), np.array([1, 0, 1])], np.ones(3), (2, 2), None, [["a", "b"], None])
    with pytest.raises(ValueError, match=r"\['a', 1\] has more than one entry, .* entries 0 and 2"):
        combined(x, "refuse")
    with pytest.raises(ValueError, match="agg='median': expected one of sum, mean"):
        combined(x, "median")
