"""Data of other libraries in and out. Only NumPy is imported: other libraries are recognised by what their
objects can do, and are imported by the to_... functions, for which they are needed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import (
    GivenLabels,
    dense_array,
    from_coordinates,
    from_dense,
    from_tuples,
    is_list_of_tuples,
    to_numpy,
)
from .columns import is_frame
from .frames import frame_pieces, frame_places, frame_values
from .models import kruskal_of, to_pyttb_ktensor, to_tensorly
from .pieces import Array, Indices, Pieces, check_missing, combined, finish, value_array, with_names
from .sparse import (
    from_pydata,
    from_pyttb,
    from_scipy,
    from_torch,
    is_pydata,
    is_pyttb,
    is_scipy,
    is_torch_sparse,
    to_pyttb,
    to_scipy,
    to_sparse,
    to_torch,
)
from .tables import is_series, series_parts, to_arrow, to_pandas, to_polars

__all__ = [
    "Pieces",
    "combined",
    "frame_pieces",
    "frame_places",
    "frame_values",
    "kruskal_of",
    "pieces_of",
    "to_arrow",
    "to_numpy",
    "to_pandas",
    "to_polars",
    "to_pyttb",
    "to_pyttb_ktensor",
    "to_scipy",
    "to_sparse",
    "to_tensorly",
    "to_torch",
]


def pieces_of(
    obj: Any,
    values: Any = None,
    *,
    shape: Sequence[int] | None = None,
    modes: Sequence[str] | None = None,
    labels: GivenLabels = None,
    missing: str | None = None,
) -> Pieces:
    """The sparse tensor that an object stands for: coordinates and values; a list of tuples of names; a
    dense array of any library; a sparse one of SciPy, PyData, PyTorch or pyttb; a pandas.Series with a
    level of its index per mode; or a table whose columns `modes` are the modes, and `values` the values.

    `shape`, `modes` and `labels` state what the object does not know. missing="nan": cells that are NaN are
    left out as unknown, and zeros of dense arrays are kept as known cells. Otherwise zeros of dense arrays
    are left out, and NaN is an error.

    Arrays are shared, not copied, where they are C-contiguous int64 (indices) or float64 and float32
    (values): coordinates of ndim × nnz, sparse.COO, int64 indices of scipy.sparse.coo_array,
    sparse_coo_tensor of PyTorch, and the values of all sparse kinds. Everything else is copied once."""
    check_missing(missing)
    refuse_unknown(obj)
    if is_tensor(obj):
        return with_names(as_pieces(obj), shape=shape, modes=modes, labels=labels, missing=missing)
    if is_table(obj):
        return table_pieces(obj, values, shape=shape, modes=modes, labels=labels)
    if values is None and isinstance(obj, tuple) and len(obj) == 2:
        obj, values = obj
    if values is not None:
        return from_coordinates(obj, values, shape=shape, modes=modes, labels=labels, missing=missing)
    if is_list_of_tuples(obj):
        return from_tuples(obj, None, shape=shape, modes=modes, labels=labels, missing=missing)
    if is_series(obj):
        return from_series(obj, shape=shape, modes=modes, labels=labels, missing=missing)
    found = sparse_parts(obj, missing)
    if found is not None:
        coords, numbers, extents = found
        return finish(
            coords,
            numbers,
            shape=extents if shape is None else shape,
            modes=modes,
            labels=labels,
            missing=missing,
        )
    return from_dense(array_of(obj), shape=shape, modes=modes, labels=labels, missing=missing)


def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor of Polyad, which has all that Pieces have."""
    return all(hasattr(obj, name) for name in ("coords", "values", "shape", "modes", "labels"))


def as_pieces(obj: Any) -> Pieces:
    if isinstance(obj, Pieces):
        return obj
    return Pieces(list(obj.coords), obj.values, tuple(obj.shape), list(obj.modes), list(obj.labels))


def sparse_parts(obj: Any, missing: str | None) -> tuple[list[Indices], Array, tuple[int, ...]] | None:
    if is_torch_sparse(obj):
        return from_torch(obj)
    if is_pyttb(obj):
        return from_pyttb(obj)
    if is_scipy(obj):
        return from_scipy(obj)
    if is_pydata(obj):
        return from_pydata(obj, missing)
    return None


def is_table(obj: Any) -> bool:
    is_other = is_series(obj) or is_scipy(obj) or hasattr(obj, "layout")  # some of these are dictionaries too
    return not is_other and is_frame(obj)


def table_pieces(obj: Any, values: Any, *, shape: Any, modes: Sequence[str] | None, labels: Any) -> Pieces:
    if modes is None:
        raise TypeError(
            f"found a table ({type(obj).__name__}): expected modes=, the columns that are modes, and the "
            f"column of the values; or "
            "its to_numpy(), if each of its cells is one of the tensor"
        )
    if shape is not None or labels is not None:
        raise ValueError(
            "shape= and labels= are those of the entries of a table: expected modes= and values only"
        )
    if values is not None and not isinstance(values, str):
        raise TypeError(f"the values of a table are {type(values).__name__}: expected the name of a column")
    return frame_pieces(obj, modes, values)


def from_series(
    series: Any,
    *,
    shape: Sequence[int] | None,
    modes: Sequence[str] | None,
    labels: GivenLabels,
    missing: str | None,
) -> Pieces:
    coords, values, extents, names, texts = series_parts(series)
    return finish(
        coords,
        value_array(values, "the values of the Series"),
        shape=extents if shape is None else shape,
        modes=names if modes is None else modes,
        labels=texts if labels is None else labels,
        missing=missing,
    )


def array_of(obj: Any) -> Array:
    if isinstance(obj, (list, tuple)):
        return np.asarray(obj)
    if hasattr(obj, "__array__") or hasattr(obj, "__dlpack__"):
        return dense_array(obj)
    if hasattr(obj, "data") and isinstance(obj.data, np.ndarray) and hasattr(obj, "shape"):  # pyttb.tensor
        return obj.data.reshape(obj.shape, order="F") if obj.data.shape != tuple(obj.shape) else obj.data
    raise TypeError(
        f"found {type(obj).__name__}: expected (coords, values), an array, a sparse array, a Series, a "
        f"table or a list of tuples"
    )


def refuse_unknown(obj: Any) -> None:
    if obj is None:
        raise TypeError("found None: expected a tensor")
    if isinstance(obj, (str, bytes, os.PathLike)):
        raise TypeError(f"found {obj!r}: expected a tensor; polyad.read reads files")
    if hasattr(obj, "factor_matrices") or (hasattr(obj, "factors") and hasattr(obj, "weights")):
        raise TypeError(f"found {type(obj).__name__}, which is a model: expected a tensor")
