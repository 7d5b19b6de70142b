"""Contraction of dense tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._errors import bad_option
from ._host import Progress, host, memory_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray


def einsum(
    expression: str,
    a: Any,
    b: Any,
    *,
    memory: str | int | None = None,
    explain: bool = False,
    threads: int | None = None,
    progress: Progress = "auto",
) -> NDArray[np.floating[Any]]:
    """Multiplies two dense tensors and sums over the indices that the result does not have.

    The expression names the indices as ``numpy.einsum`` does, "acik,bcjk->abji", or as a formula,
    "C[abji] = A[acik] * B[bcjk]". The result is of single precision if both arrays are. ``memory`` ("8GB") limits what the
    tensors and blocks take at once; ``explain`` prints how the algorithm was derived and what each step costs.
    """
    first, second = np.asarray(a), np.asarray(b)
    for name, array in [("a", first), ("b", second)]:
        if array.dtype.kind not in "fiub":
            raise bad_option(name, f"{name} is an array of {array.dtype}; expected real numbers")
    single = first.dtype == np.float32 and second.dtype == np.float32
    kind: Any = np.float32 if single else np.float64
    contract: Any = _core.contract_single if single else _core.contract_double
    result, derivation = contract(
        host(threads, progress),
        expression,
        np.asfortranarray(first, dtype=kind),
        np.asfortranarray(second, dtype=kind),
        memory_bytes(memory),
    )
    if explain:
        print(derivation)
    product: NDArray[np.floating[Any]] = result
    return product
