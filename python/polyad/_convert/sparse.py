"""Sparse tensors of SciPy, PyData, PyTorch and pyttb, recognised by their attributes, and back to these."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from .pieces import Array, Indices, Pieces, combined, counted, index_array, value_array

Found = tuple[list[Indices], Array, tuple[int, ...]]


# --- in ---


def is_scipy(obj: object) -> bool:
    return hasattr(obj, "tocoo") and hasattr(obj, "format") and not hasattr(obj, "fill_value")


def from_scipy(obj: Any) -> Found:
    """Stored zeros are kept, except those that fill up blocks of bsr and diagonals of dia. Without a copy:
    values of float64 or float32; int64 indices of coo. SciPy keeps int32 indices where these suffice, which
    are copied."""
    coo = obj.tocoo(copy=False)
    coords = coo.coords if hasattr(coo, "coords") else (coo.row, coo.col)
    indices = [index_array(of_mode, f"the indices of mode {mode}") for mode, of_mode in enumerate(coords)]
    values = value_array(coo.data)
    if obj.format == "bsr":
        kept = values != 0
        indices, values = [of_mode[kept] for of_mode in indices], values[kept]
    return indices, values, tuple(coo.shape)


def is_pydata(obj: object) -> bool:
    return hasattr(obj, "fill_value") and hasattr(obj, "todense") and hasattr(obj, "nnz")


def from_pydata(obj: Any, missing: str | None) -> Found:
    """COO, GCXS and DOK. The fill value must be 0, or NaN for missing cells. Without a copy: the
    coordinates and the values of a COO array."""
    for convert in ("tocoo", "to_coo"):
        if hasattr(obj, convert):
            obj = getattr(obj, convert)()
    fill = obj.fill_value
    is_nan = fill.dtype.kind == "f" and math.isnan(fill)
    if is_nan and missing is None:
        raise ValueError(
            "the fill value of the sparse array is nan: expected missing='nan', which leaves such cells out"
        )
    if not is_nan and fill != 0:
        raise ValueError(
            f"the fill value of the sparse array is {fill}: expected 0, or nan with missing='nan'"
        )
    coords = index_array(obj.coords, "the coordinates")
    return [coords[mode] for mode in range(len(coords))], value_array(obj.data), tuple(obj.shape)


def is_torch_sparse(obj: object) -> bool:
    return "torch.sparse" in str(getattr(obj, "layout", ""))


def from_torch(obj: Any) -> Found:
    """Sparse tensors of every layout; those on an accelerator are copied to main memory. Without a copy:
    the indices and values of a coalesced COO tensor in main memory."""
    tensor = obj.detach().cpu()
    if "sparse_coo" not in str(tensor.layout):
        tensor = tensor.to_sparse_coo()
    if not tensor.is_coalesced():
        tensor = tensor.coalesce()
    values = tensor.values()
    if values.ndim != 1:
        raise ValueError(
            f"the tensor has {counted(values.ndim - 1, 'dense dimension')}: expected sparse ones only, as "
            f"x.to_dense().to_sparse() has"
        )
    if "bfloat16" in str(values.dtype):
        values = values.float()
    indices = index_array(tensor.indices().numpy(), "the indices")
    return (
        [indices[mode] for mode in range(len(indices))],
        value_array(values.numpy()),
        tuple(int(n) for n in tensor.shape),
    )


def is_pyttb(obj: object) -> bool:
    return hasattr(obj, "subs") and hasattr(obj, "vals")


def from_pyttb(obj: Any) -> Found:
    """An sptensor. Without a copy: its values; its subscripts have a row per nonzero."""
    shape = tuple(int(extent) for extent in obj.shape)
    if obj.subs.size == 0:
        return [np.zeros(0, dtype=np.int64) for _ in shape], np.zeros(0), shape
    coords = [index_array(obj.subs[:, mode], "the subscripts") for mode in range(obj.subs.shape[1])]
    return coords, value_array(np.asarray(obj.vals).reshape(-1)), shape


# --- out ---


def stacked(coords: list[Indices]) -> Indices:
    """The coordinates as one array of ndim × nnz, without a copy if they are the rows of one."""
    base = coords[0].base
    if (
        isinstance(base, np.ndarray)
        and base.dtype == np.int64
        and base.flags.c_contiguous
        and base.shape == (len(coords), len(coords[0]))
        and all(same_place(base[mode], indices) for mode, indices in enumerate(coords))
    ):
        return base
    return np.stack(coords)


def same_place(a: Array, b: Array) -> bool:
    return bool(a.__array_interface__["data"][0] == b.__array_interface__["data"][0])


def to_scipy(pieces: Pieces) -> Any:
    """A scipy.sparse.coo_array, n-dimensional as SciPy has them from version 1.15 on. Duplicates stay. The
    values are shared, and so are the indices where SciPy does not make them smaller."""
    sparse = importlib.import_module("scipy.sparse")
    try:
        return sparse.coo_array((pieces.values, tuple(pieces.coords)), shape=pieces.shape)
    except (TypeError, ValueError) as error:
        if pieces.ndim == 2:
            raise
        raise ValueError(
            f"this version of SciPy has no sparse arrays of {counted(pieces.ndim, 'dimension')}: {error}"
        ) from error


def to_sparse(pieces: Pieces) -> Any:
    """A sparse.COO of PyData, sorted; nonzeros with the same coordinates are added."""
    sparse = importlib.import_module("sparse")
    return sparse.COO(stacked(pieces.coords), pieces.values, shape=pieces.shape)


def to_torch(pieces: Pieces) -> Any:
    """A torch.sparse_coo_tensor. Duplicates stay until it is coalesced. The values are shared, and the
    indices too if they are the rows of one array."""
    torch = importlib.import_module("torch")
    indices, values = writeable(stacked(pieces.coords)), writeable(pieces.values)
    return torch.sparse_coo_tensor(torch.from_numpy(indices), torch.from_numpy(values), pieces.shape, check_invariants=True)


def writeable(array: Array) -> Array:
    return array if array.flags.writeable else array.copy()  # torch has no arrays that are read only


def to_pyttb(pieces: Pieces) -> Any:
    """A pyttb.sptensor; nonzeros with the same coordinates are added, as it has none. Always a copy."""
    pyttb = importlib.import_module("pyttb")
    one_each = combined(pieces)
    if one_each.nnz == 0:
        return pyttb.sptensor(shape=pieces.shape)
    return pyttb.sptensor(np.stack(one_each.coords, axis=1), one_each.values[:, None], pieces.shape)
