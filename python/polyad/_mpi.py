"""Several processes: communicators of mpi4py, of which this module needs to know nothing before one is given."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._errors import Error, bad_option
from ._host import warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

# By their names in mpi.h and in mpi4py.
_HANDLES = {
    "MPI_COMM_NULL": "COMM_NULL",
    "MPI_COMM_WORLD": "COMM_WORLD",
    "MPI_BYTE": "BYTE",
    "MPI_INT32_T": "INT32_T",
    "MPI_INT64_T": "INT64_T",
    "MPI_FLOAT": "FLOAT",
    "MPI_DOUBLE": "DOUBLE",
    "MPI_SUM": "SUM",
    "MPI_MAX": "MAX",
    "MPI_MIN": "MIN",
    "MPI_REQUEST_NULL": "REQUEST_NULL",
    "MPI_INFO_NULL": "INFO_NULL",
    "MPI_ERRORS_RETURN": "ERRORS_RETURN",
}
_NUMBERS = {
    "MPI_IN_PLACE": "IN_PLACE",
    "MPI_COMM_TYPE_SHARED": "COMM_TYPE_SHARED",
    "MPI_THREAD_SINGLE": "THREAD_SINGLE",
    "MPI_THREAD_FUNNELED": "THREAD_FUNNELED",
}

_keyval: int | None = None  # of the attribute of a communicator that has the number of its duplicate
_groups: dict[int, _core.Comm] = {}  # by that number
_numbers = itertools.count()
_is_warned = False


def _mpi_of(comm: Any) -> Any:
    """The module mpi4py.MPI, which whoever has a communicator has imported."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(comm, mpi.Comm):
        raise bad_option("comm", f"comm={comm!r}: expected a communicator of mpi4py, such as mpi4py.MPI.COMM_WORLD")
    return mpi


def _constants(mpi: Any) -> dict[str, int]:
    mask = (1 << 64) - 1
    constants = {name: int(mpi._handleof(getattr(mpi, own))) & mask for name, own in _HANDLES.items()}
    constants.update({name: int(getattr(mpi, own)) & mask for name, own in _NUMBERS.items()})
    return constants


def _duplicate(mpi: Any, comm: Any) -> _core.Comm:
    handle = int(mpi._handleof(comm)) & ((1 << 64) - 1)
    return _core.comm_of_mpi(mpi.__file__, mpi._sizeof(mpi.Comm) == 4, _constants(mpi), handle)


def _forget(_comm: Any, _keyval: int, number: int) -> None:
    """Called when a communicator is freed: its duplicate goes as well."""
    _groups.pop(number, None)


def group(comm: Any) -> _core.Comm:
    """The processes of a communicator, for the library. It has a duplicate, so that its messages never meet others; this is
    made once and freed with the communicator. Collective."""
    global _keyval
    mpi = _mpi_of(comm)
    if comm == mpi.COMM_NULL or comm.Is_inter():
        return _duplicate(mpi, comm)  # which raises an error
    if _keyval is None:
        _keyval = mpi.Comm.Create_keyval(delete_fn=_forget)
        atexit.register(_groups.clear)  # before MPI is finalised
    number = comm.Get_attr(_keyval)
    if number is None:
        number = next(_numbers)
        _groups[number] = _duplicate(mpi, comm)
        comm.Set_attr(_keyval, number)
    return _groups[number]


def same_group(one: Any, other: Any) -> bool:
    """Whether two communicators have the same processes in the same order."""
    mpi = _mpi_of(one)
    return bool(mpi.Comm.Compare(one, other) in (mpi.IDENT, mpi.CONGRUENT))


@contextlib.contextmanager
def agreed(processes: _core.Comm | None) -> Iterator[None]:
    """Around what a process does by itself. What is raised within is raised there, and as an Error on all other processes, so
    that none waits for one that has left. Its end is collective."""
    if processes is None:
        yield
        return
    try:
        yield
    except Exception as error:
        with contextlib.suppress(Error):  # what others are told: here the error itself is raised
            processes.throw_together(error.code if isinstance(error, Error) else "internal", str(error) or repr(error))
        raise
    processes.throw_together("", "")


_OWN = ("callback", "comm", "progress", "threads")  # may differ between processes


def require_same(processes: _core.Comm | None, arguments: dict[str, Any]) -> None:
    """Raises an error on all processes unless all were called with the same numbers and names. Collective."""
    if processes is None:
        return
    plain = {name: x for name, x in arguments.items() if name not in _OWN and _is_plain(x)}
    _require_same_bytes(processes, [repr(sorted(plain.items())).encode()], "arguments")


def _is_plain(x: Any) -> bool:
    """Whether an argument is a number, a name, or some of these."""
    if isinstance(x, (list, tuple)):
        return len(x) < 100 and all(_is_plain(one) for one in x)
    return isinstance(x, (bool, int, float, str, type(None)))


def require_same_array(processes: _core.Comm | None, name: str, array: NDArray[Any]) -> None:
    """Raises an error on all processes unless all have the same array. Collective."""
    if processes is not None:
        frame = repr((array.shape, array.dtype.str)).encode()
        _require_same_bytes(processes, [frame, np.ascontiguousarray(array).data], f"array {name}")


def _require_same_bytes(processes: _core.Comm, parts: list[Any], what: str) -> None:
    import hashlib

    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
    other = processes.first_other(int.from_bytes(digest.digest(), "little"))
    if other:
        raise bad_option("comm", f"process {other} was given other {what} than process 0: expected the same on all")


def warn_if_alone() -> None:
    """Warns, once, where many processes were started and each is about to do all of the work by itself."""
    global _is_warned
    mpi = sys.modules.get("mpi4py.MPI")
    if _is_warned or mpi is None or not mpi.Is_initialized() or mpi.Is_finalized():
        return
    names = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_NTASKS")
    if all(os.environ.get(name, "1") == "1" for name in names) or mpi.COMM_WORLD.Get_size() == 1:
        return
    _is_warned = True
    count = mpi.COMM_WORLD.Get_size()
    warn("warning", f"{count} processes run, and each works alone; comm=MPI.COMM_WORLD makes them work together")
