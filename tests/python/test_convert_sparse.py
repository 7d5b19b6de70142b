"""Sparse tensors and models of other libraries, in and out (polyad/_convert/sparse.py, models.py)."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from convert_support import DTYPES, SEEDS, assert_same, dense_of, random_cases, random_pieces
from polyad._convert import (
    Pieces,
    kruskal_of,
    pieces_of,
    to_numpy,
    to_pyttb,
    to_pyttb_ktensor,
    to_scipy,
    to_sparse,
    to_tensorly,
    to_torch,
)

# --- SciPy ---


def scipy_of(pieces: Pieces) -> Any:
    """Skips the test where SciPy has no arrays of that order."""
    scipy = pytest.importorskip("scipy")
    if pieces.ndim != 2 and tuple(int(part) for part in scipy.__version__.split(".")[:2]) < (1, 15):
        with pytest.raises(ValueError, match="this version of SciPy has no sparse arrays"):
            to_scipy(pieces)
        pytest.skip("SciPy has sparse arrays of other orders than 2 from version 1.15 on")
    return to_scipy(pieces)


@pytest.mark.parametrize("order", range(1, 7))
def test_scipy_arrays_go_in_and_out(order: int) -> None:
    for _, x in random_cases([order]):
        there = scipy_of(x)
        np.testing.assert_array_equal(there.todense(), dense_of(x))
        back = pieces_of(there)
        assert_same(back, x)
        assert back.nnz == x.nnz


def test_scipy_matrices_of_every_layout_are_read() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    for seed, layout in itertools.product(SEEDS, ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]):
        x = random_pieces(seed, 2)
        for kind in (sparse.coo_array, sparse.coo_matrix):
            matrix = kind((x.values, tuple(x.coords)), shape=x.shape).asformat(layout)
            assert_same(pieces_of(matrix), x)
            assert pieces_of(matrix).nnz == x.nnz


def test_scipy_matrices_of_every_type_are_read() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    for dtype in DTYPES:
        if dtype != "float16":  # which SciPy does not have
            dense = np.abs(dense_of(random_pieces(2, 2, nnz=6))).astype(dtype)
            np.testing.assert_array_equal(to_numpy(pieces_of(sparse.csr_array(dense))), dense)


def test_scipy_values_and_long_indices_are_shared() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    x = random_pieces(1, 3, nnz=10)
    coo = scipy_of(x)
    coo.coords = tuple(of_mode.astype(np.int64) for of_mode in coo.coords)
    found = pieces_of(coo)
    assert np.shares_memory(found.values, coo.data) and np.shares_memory(found.values, x.values)
    assert all(np.shares_memory(a, b) for a, b in zip(found.coords, coo.coords))
    csr = sparse.csr_array(dense_of(random_pieces(1, 2, nnz=6)))
    assert np.shares_memory(pieces_of(csr).values, csr.data)


def test_stored_zeros_of_scipy_are_kept() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    csr = sparse.csr_array((np.array([0.0, 2.0]), (np.array([0, 1]), np.array([1, 2]))), shape=(3, 3))
    assert pieces_of(csr).nnz == 2


def test_a_wrong_shape_is_explained() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match="beyond its extent"):
        pieces_of(sparse.csr_array(np.eye(3)), shape=(2, 2))
    assert pieces_of(sparse.csr_array(np.eye(3)), shape=(5, 4)).shape == (5, 4)
    with pytest.raises(ValueError, match=r"value at \[1, 1\] is nan"):
        pieces_of(sparse.csr_array(np.diag([1, np.nan])))


# --- PyData ---


def test_pydata_arrays_go_in_and_out() -> None:
    sparse = pytest.importorskip("sparse")
    for _, x in random_cases():
        there = to_sparse(x)
        np.testing.assert_array_equal(there.todense(), dense_of(x))
        assert_same(pieces_of(there), x)
        if x.ndim >= 2:
            assert_same(pieces_of(sparse.GCXS.from_coo(there)), x)
        assert_same(pieces_of(sparse.DOK.from_coo(there)), x)


def test_pydata_arrays_are_shared() -> None:
    sparse = pytest.importorskip("sparse")
    coo = sparse.COO(np.array([[0, 1, 2], [1, 0, 1], [0, 0, 3]]), np.array([1.0, 2, 3]), shape=(3, 2, 4))
    found = pieces_of(coo)
    assert np.shares_memory(found.values, coo.data) and all(
        np.shares_memory(indices, coo.coords) for indices in found.coords
    )
    back = to_sparse(found)
    assert np.shares_memory(back.coords, coo.coords)


def test_fill_values_of_pydata_are_zero_or_missing() -> None:
    sparse = pytest.importorskip("sparse")
    dense = np.array([[1.0, np.nan], [0.0, 2.0]])
    coo = sparse.COO.from_numpy(dense, fill_value=np.nan)
    found = pieces_of(coo, missing="nan")
    assert found.nnz == 3
    np.testing.assert_array_equal(to_numpy(found, missing="nan"), dense)
    with pytest.raises(ValueError, match="fill value of the sparse array is nan: expected missing='nan'"):
        pieces_of(coo)
    with pytest.raises(ValueError, match="fill value of the sparse array is 1.0: expected 0"):
        pieces_of(sparse.COO.from_numpy(dense, fill_value=1.0), missing="nan")


# --- PyTorch ---


def test_torch_tensors_go_in_and_out() -> None:
    torch = pytest.importorskip("torch")
    for _, x in random_cases():
        there = to_torch(x)
        np.testing.assert_array_equal(there.to_dense().numpy(), dense_of(x))
        assert_same(pieces_of(there), x)
        assert_same(pieces_of(there.coalesce()), x)
        assert_same(pieces_of(there.to_dense()), x)
        assert_same(pieces_of(torch.from_numpy(dense_of(x)).requires_grad_()), x)
        if x.ndim == 2:
            for layout in (torch.sparse_csr, torch.sparse_csc):
                assert_same(pieces_of(there.to_dense().to_sparse(layout=layout)), x)


def test_torch_tensors_are_shared() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.sparse_coo_tensor(
        torch.tensor([[0, 1], [2, 0], [1, 1]]), torch.tensor([1.0, 2.0], dtype=torch.float64)
    ).coalesce()
    found = pieces_of(tensor)
    assert np.shares_memory(found.values, tensor.values().numpy())
    assert all(np.shares_memory(indices, tensor.indices().numpy()) for indices in found.coords)


def test_torch_tensors_of_every_type_are_read() -> None:
    torch = pytest.importorskip("torch")
    for dtype in ("bfloat16", "float16", "float32", "float64", "int32", "uint8", "bool"):
        dense = torch.tensor([[1, 0, 2], [0, 3, 0]]).to(getattr(torch, dtype))
        expected = dense.to(torch.float64).numpy()
        np.testing.assert_array_equal(to_numpy(pieces_of(dense)), expected)
        np.testing.assert_array_equal(to_numpy(pieces_of(dense.to_sparse())), expected)


class TorchLike:
    """Acts as a sparse tensor of PyTorch, for machines without it."""

    layout = "torch.sparse_coo"

    def __init__(self, indices: Any, values: Any, shape: tuple[int, ...], coalesced: bool) -> None:
        self._indices, self._values, self.shape, self._coalesced = indices, values, shape, coalesced

    def detach(self) -> TorchLike:
        return self

    cpu = detach

    def is_coalesced(self) -> bool:
        return self._coalesced

    def coalesce(self) -> TorchLike:
        return TorchLike(self._indices, self._values, self.shape, True)

    def indices(self) -> Any:
        if not self._coalesced:
            raise RuntimeError("not coalesced")
        return Numpy(self._indices)

    def values(self) -> Any:
        return Numpy(self._values)


class Numpy:
    def __init__(self, array: Any) -> None:
        self.array, self.ndim, self.dtype = array, array.ndim, f"torch.{array.dtype}"

    def numpy(self) -> Any:
        return self.array


@pytest.mark.parametrize("coalesced", [True, False])
def test_what_acts_as_a_sparse_tensor_of_torch_is_read(coalesced: bool) -> None:
    x = random_pieces(4, 3, nnz=10)
    indices = np.stack(x.coords)
    found = pieces_of(TorchLike(indices, x.values, x.shape, coalesced))
    assert_same(found, x)
    assert np.shares_memory(found.values, x.values) and all(
        np.shares_memory(of_mode, indices) for of_mode in found.coords
    )
    with pytest.raises(ValueError, match="1 dense dimension"):
        pieces_of(TorchLike(indices, np.ones((10, 2)), x.shape, coalesced))


# --- pyttb ---


def test_pyttb_tensors_go_in_and_out() -> None:
    pyttb = pytest.importorskip("pyttb")
    for _, x in random_cases():
        there = to_pyttb(x)
        assert there.shape == x.shape
        assert_same(pieces_of(there), x)
        dense = pyttb.tensor(dense_of(x), x.shape)
        assert_same(pieces_of(dense), x)


def test_pyttb_values_are_shared() -> None:
    pytest.importorskip("pyttb")
    there = to_pyttb(random_pieces(1, 3, nnz=10))
    assert np.shares_memory(pieces_of(there).values, there.vals)


# --- models ---


def random_model(seed: int, order: int, rank: int) -> tuple[Any, list[Any]]:
    rng = np.random.default_rng(seed)
    return rng.random(rank), [rng.random((2 + mode, rank)) for mode in range(order)]


@pytest.mark.parametrize("kind", ["pair", "tensorly", "pyttb"])
def test_models_go_in_and_out(kind: str) -> None:
    if kind != "pair":
        pytest.importorskip(kind)
    make: Any = {"pair": lambda *pair: pair, "tensorly": to_tensorly, "pyttb": to_pyttb_ktensor}[kind]
    for order, rank in itertools.product(range(2, 6), [1, 3]):
        weights, factors = random_model(order, order, rank)
        found_weights, found_factors = kruskal_of(make(weights, factors))
        np.testing.assert_array_equal(found_weights, weights)
        for found, factor in zip(found_factors, factors):
            np.testing.assert_array_equal(found, factor)
            assert found.flags.c_contiguous
            assert np.shares_memory(found, factor) or kind == "pyttb"


def test_tensorly_and_pyttb_see_the_same_tensor() -> None:
    tensorly = pytest.importorskip("tensorly")
    pytest.importorskip("pyttb")
    weights, factors = random_model(1, 3, 2)
    dense = np.einsum("r,ir,jr,kr->ijk", weights, *factors)
    np.testing.assert_allclose(tensorly.cp_to_tensor(to_tensorly(weights, factors)), dense)
    np.testing.assert_allclose(to_pyttb_ktensor(weights, factors).full().data, dense)


def test_models_without_weights_have_ones() -> None:
    factors = [np.ones((2, 3), dtype=np.float32), np.ones((4, 3), dtype=np.float32)]
    weights, found = kruskal_of((None, factors))
    assert (
        weights.tolist() == [1, 1, 1]
        and weights.dtype == np.float32
        and np.shares_memory(found[1], factors[1])
    )
    weights, found = kruskal_of((np.ones(3), factors))
    assert all(array.dtype == np.float64 for array in (weights, *found))


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        (3, TypeError, "expected a model"),
        ((None, []), ValueError, "no factors"),
        ((None, [np.ones((2, 3)), np.ones((2, 4))]), ValueError, r"factor of mode 1 has the shape \(2, 4\)"),
        ((None, [np.ones(3)]), ValueError, r"factor of mode 0 has the shape \(3,\)"),
        ((np.ones(2), [np.ones((2, 3))]), ValueError, "expected 3 numbers"),
        ((np.array([np.nan]), [np.ones((2, 1))]), ValueError, "weight 0 is not finite"),
        (
            (None, [np.ones((2, 1)), np.array([[1], [np.inf]])]),
            ValueError,
            "mode 1 is inf in row 1, component 0",
        ),
    ],
)
def test_bad_models_are_explained(model: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        kruskal_of(model)


def test_a_model_is_no_tensor() -> None:
    tensorly = pytest.importorskip("tensorly")
    model = tensorly.cp_tensor.CPTensor((np.ones(1), [np.ones((2, 1)), np.ones((3, 1))]))
    with pytest.raises(TypeError, match="CPTensor, which is a model"):
        pieces_of(model)


@pytest.mark.parametrize(
    ("library", "convert"),
    [("scipy.sparse", scipy_of), ("sparse", to_sparse), ("pyttb", to_pyttb), ("torch", to_torch)],
)
def test_empty_tensors_go_everywhere(library: str, convert: Any) -> None:
    pytest.importorskip(library)
    x = Pieces([np.zeros(0, dtype=np.int64)] * 3, np.zeros(0), (2, 3, 4))
    assert_same(pieces_of(convert(x)), x)
