"""Contraction of dense tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _mpi
from ._cp import grid_text
from ._errors import bad_option
from ._host import Progress, host, memory_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _real_array(name: str, given: Any) -> NDArray[Any]:
    array: NDArray[Any] = np.asarray(given)
    if array.dtype.kind not in "fiub":
        raise bad_option(name, f"{name} is an array of {array.dtype}; expected real numbers")
    return array


def einsum(
    expression: str,
    a: Any,
    b: Any,
    *,
    grid: str | Sequence[int] = "auto",
    memory: str | int | None = None,
    explain: bool = False,
    threads: int | None = None,
    progress: Progress = "auto",
    comm: Any = None,
) -> NDArray[np.floating[Any]]:
    """Multiplies two dense tensors and sums over the indices that the result does not have.

    The expression names the indices as ``numpy.einsum`` does, "acik,bcjk->abji", or as a formula,
    "C[abji] = A[acik] * B[bcjk]". The result is of single precision if both arrays are. ``memory`` ("8GB") limits what the
    tensors and blocks take at once; ``explain`` prints how the algorithm was derived and what each step costs.

    With ``comm``, a communicator of mpi4py, its processes work together: all call this function with the same arrays, and all
    get the whole result. ``grid`` is their grid, as in (2, 3); "auto": the one that is predicted to be the fastest.
    """
    if comm is None:
        _mpi.warn_if_alone()
    processes = None if comm is None else _mpi.group(comm)
    _mpi.require_same(processes, {"expression": expression, "grid": grid, "memory": memory, "explain": explain})
    with _mpi.agreed(processes):
        first, second = _real_array("a", a), _real_array("b", b)
        text = grid_text(grid)
        extents = [] if text == "auto" else _core.parse_grid(text)
        limit = memory_bytes(memory)
    _mpi.require_same_array(processes, "a", first)
    _mpi.require_same_array(processes, "b", second)
    single = first.dtype == np.float32 and second.dtype == np.float32
    kind: Any = np.float32 if single else np.float64
    contract: Any = _core.contract_single if single else _core.contract_double
    with _mpi.agreed(processes):
        informed = host(threads, progress, processes)
        left, right = np.asfortranarray(first, dtype=kind), np.asfortranarray(second, dtype=kind)
    result, derivation = contract(informed, expression, left, right, extents, limit)
    if explain and (processes is None or processes.rank == 0):
        print(derivation)
    product: NDArray[np.floating[Any]] = result
    return product
