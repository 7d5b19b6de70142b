"""Kruskal tensors of TensorLy and pyttb: weights and a factor per mode."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import dense_array
from .pieces import Array, counted, value_array


def kruskal_of(obj: Any) -> tuple[Array, list[Array]]:
    """The weights and the factors of a model: of TensorLy's CPTensor or a pair (weights, factors), in which
    weights may be None, of a pyttb.ktensor, and of anything with .weights and .factors. All are float32 if
    all of them were, otherwise float64.

    Without a copy: C-contiguous factors of that type. Those of pyttb are in Fortran order and are copied."""
    weights, factors = parts_of(obj)
    matrices = [
        value_array(dense_array(factor), f"the factor of mode {mode}") for mode, factor in enumerate(factors)
    ]
    if not matrices:
        raise ValueError("the model has no factors: expected one for each mode")
    for mode, matrix in enumerate(matrices):
        if matrix.ndim != 2 or matrix.shape[1] != matrices[0].shape[-1]:
            raise ValueError(
                f"the factor of mode {mode} has the shape {matrix.shape}: expected two dimensions, and "
                f"{counted(matrices[0].shape[-1], 'column')} as that of mode 0 has"
            )
    rank = matrices[0].shape[1]
    scale = (
        np.ones(rank, dtype=matrices[0].dtype)
        if weights is None
        else value_array(dense_array(weights), "the weights")
    )
    if scale.shape != (rank,):
        raise ValueError(
            f"the weights have the shape {scale.shape}: expected {counted(rank, 'number')}, one for each "
            f"component"
        )
    single = all(array.dtype == np.float32 for array in (scale, *matrices))
    dtype = np.float32 if single else np.float64
    scale, matrices = (
        scale.astype(dtype, copy=False),
        [matrix.astype(dtype, copy=False) for matrix in matrices],
    )
    check_finite_model(scale, matrices)
    return scale, matrices


def parts_of(obj: Any) -> tuple[Any, Sequence[Any]]:
    if hasattr(obj, "factor_matrices") and hasattr(obj, "weights"):
        return obj.weights, list(obj.factor_matrices)
    if hasattr(obj, "factors") and hasattr(obj, "weights"):
        return obj.weights, list(obj.factors)
    if isinstance(obj, (tuple, list)) and len(obj) == 2 and isinstance(obj[1], (tuple, list)):
        return obj[0], list(obj[1])
    raise TypeError(
        f"found {type(obj).__name__}: expected a model, such as TensorLy's CPTensor, a pair (weights, "
        f"factors) or a pyttb.ktensor"
    )


def check_finite_model(weights: Array, factors: list[Array]) -> None:
    if not np.isfinite(weights).all():
        raise ValueError(f"weight {int(np.isfinite(weights).argmin())} is not finite")
    for mode, factor in enumerate(factors):
        finite = np.isfinite(factor)
        if not finite.all():
            row, component = np.unravel_index(int(finite.argmin()), factor.shape)
            raise ValueError(
                f"the factor of mode {mode} is {factor[row, component]} in row {row}, component {component}"
            )


def to_tensorly(weights: Array, factors: Sequence[Array]) -> Any:
    """A CPTensor of TensorLy's current backend. With that of NumPy the arrays are shared."""
    tensorly = importlib.import_module("tensorly")
    cp_tensor = importlib.import_module("tensorly.cp_tensor")
    if tensorly.get_backend() != "numpy":
        weights, factors = tensorly.tensor(weights), [tensorly.tensor(factor) for factor in factors]
    return cp_tensor.CPTensor((weights, list(factors)))


def to_pyttb_ktensor(weights: Array, factors: Sequence[Array]) -> Any:
    """A pyttb.ktensor, which copies its factors into Fortran order."""
    pyttb = importlib.import_module("pyttb")
    return pyttb.ktensor([np.asarray(factor) for factor in factors], np.asarray(weights))
