"""Sparse tensors with labels."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _core, _errors as errors, _mpi
from ._errors import Error, bad_option
from ._host import Progress, host

if TYPE_CHECKING:
    from numpy.typing import NDArray

PathLike = Union[str, "os.PathLike[str]"]


_MAX_SHOWN = 10_000_000  # entries of a tensor whose figures a notebook shows


class Stats:
    """Figures of a tensor: ``print(x.stats())`` shows them, ``info`` has all of them."""

    def __init__(self, summary: str, text: str) -> None:
        self.summary = summary
        self.info: dict[str, Any] = json.loads(text)

    def __getitem__(self, key: str) -> Any:
        return self.info[key]

    def __repr__(self) -> str:
        return self.summary


class Tensor:
    """A sparse tensor with labels, from ``polyad.read`` or ``polyad.tensor``. It cannot be changed."""

    def __init__(self, core: _core.Tensor, comm: Any = None) -> None:
        self._core = core
        self._comm = comm

    @property
    def comm(self) -> Any:
        """The communicator of mpi4py over whose processes the entries are distributed: ``coords`` and ``values`` are those of
        this process, ``shape`` and ``labels`` those of the whole tensor. None: this process has all."""
        return self._comm

    def _processes(self) -> _core.Comm | None:
        return None if self._comm is None else _mpi.group(self._comm)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._core.shape)

    @property
    def ndim(self) -> int:
        return len(self._core.shape)

    @property
    def nnz(self) -> int:
        """Number of entries that are stored, here; several may have the same coordinates."""
        return self._core.nnz

    @property
    def dtype(self) -> np.dtype[np.float64]:
        return np.dtype(np.float64)

    @property
    def nbytes(self) -> int:
        return 8 * self.nnz * (self.ndim + 1)

    @property
    def density(self) -> float:
        """Stored entries divided by cells."""
        cells = float(np.prod(np.array(self.shape, dtype=float)))
        return self.nnz / cells if cells else 0.0

    @property
    def modes(self) -> tuple[str, ...]:
        """Names of the modes; empty texts where they have none."""
        return tuple(self._core.mode_name(mode) for mode in range(self.ndim))

    @property
    def labels(self) -> tuple[list[str] | None, ...]:
        """Of each mode the names of its indices, or None."""
        return tuple(self._core.labels(mode) for mode in range(self.ndim))

    @property
    def coords(self) -> tuple[NDArray[np.int64], ...]:
        """Of each mode the indices of the entries, from 0: arrays that show the tensor itself and cannot be written."""
        return tuple(self._core.coords(mode) for mode in range(self.ndim))

    @property
    def values(self) -> NDArray[np.float64]:
        """The values of the entries: an array that shows the tensor itself and cannot be written."""
        return self._core.values()

    def stats(self, *, formats: bool = False, rank: int = 16, threads: int | None = None) -> Stats:
        """Counts entries, duplicates and slices; with ``formats`` also what a decomposition of ``rank`` components would
        need in each storage format."""
        of_all = host(threads, processes=self._processes())
        return Stats(*_core.stats(of_all, self._core, bool(formats), int(rank)))

    def save(self, path: PathLike, *, format: str | None = None, compress: bool = False, overwrite: bool = True) -> None:
        """Writes the tensor with its labels, in the format that the name asks for (docs/formats.md)."""
        of_all = host(processes=self._processes())
        _core.save_tensor(of_all, self._core, os.fspath(path), format, bool(compress), bool(overwrite))

    def _pieces(self) -> Any:
        from . import _convert

        return _convert.as_pieces(self)

    def to_numpy(self, max_bytes: str | int | float = "1GB", *, missing: str | None = None) -> NDArray[Any]:
        """A dense array, unless it would take more than ``max_bytes``; with missing="nan", cells without an entry are NaN."""
        from . import _convert

        return _convert.to_numpy(self._pieces(), max_bytes, missing=missing)

    def to_scipy(self) -> Any:
        """A scipy.sparse.coo_array."""
        from . import _convert

        return _convert.to_scipy(self._pieces())

    def to_sparse(self) -> Any:
        """A sparse.COO of PyData."""
        from . import _convert

        return _convert.to_sparse(self._pieces())

    def to_torch(self) -> Any:
        """A torch.sparse_coo_tensor."""
        from . import _convert

        return _convert.to_torch(self._pieces())

    def to_pandas(self) -> Any:
        """A pandas.Series with a level of its index for each mode."""
        from . import _convert

        return _convert.to_pandas(self._pieces())

    def to_polars(self) -> Any:
        """A polars.DataFrame with a column for each mode, and the values."""
        from . import _convert

        return _convert.to_polars(self._pieces())

    def to_arrow(self) -> Any:
        """A pyarrow.Table with a column for each mode, and the values."""
        from . import _convert

        return _convert.to_arrow(self._pieces())

    def to_pyttb(self) -> Any:
        """A pyttb.sptensor."""
        from . import _convert

        return _convert.to_pyttb(self._pieces())

    def __repr__(self) -> str:
        shape = " x ".join(f"{extent:,}" for extent in self.shape)
        names = ", ".join(name for name in self.modes if name)
        return f"<polyad.Tensor {shape}, {self.nnz:,} entries" + (f", modes {names}>" if names else ">")

    def _repr_html_(self) -> str:
        """In notebooks: the figures of the tensor with its slices by size, unless it takes long to count them."""
        return f"<pre>{html.escape(repr(self) if self.nnz > _MAX_SHOWN else repr(self.stats()))}</pre>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.coords, self.values, self.shape, self.modes, self.labels)


def _rebuilt(coords: Any, values: Any, shape: Any, modes: Any, labels: Any) -> Tensor:
    return from_pieces(coords, values, shape, modes, labels)


def from_pieces(
    coords: Sequence[NDArray[np.int64]],
    values: NDArray[np.floating[Any]],
    shape: Sequence[int],
    modes: Sequence[str] | None = None,
    labels: Sequence[Sequence[str] | None] | None = None,
    *,
    comm: Any = None,
) -> Tensor:
    """A tensor of one array of indices per mode, counted from 0, and an array of values.

    With ``comm``, every process of this communicator of mpi4py gives entries of its own, and what they give together is the
    tensor; ``shape`` and ``labels`` are those of the whole.
    """
    if comm is not None:
        with _mpi.agreed(_mpi.group(comm)):
            part = from_pieces(coords, values, shape, modes, labels)
        return _as_part(part, comm)
    columns = [np.ascontiguousarray(column, dtype=np.int64) for column in coords]
    named = None if labels is None else [None if names is None else [str(name) for name in names] for names in labels]
    core = _core.tensor_from_pieces(
        columns,
        np.ascontiguousarray(values, dtype=np.float64),
        [int(extent) for extent in shape],
        None if modes is None else [str(name) for name in modes],
        named,
    )
    return Tensor(core)


def _of_pieces(make: Callable[..., Any], *words: Any, **options: Any) -> Tensor:
    """The tensor of what a function of _convert returns; its faults are those of the input."""
    try:
        pieces = make(*words, **options)
    except Error:
        raise
    except ValueError as fault:
        raise errors.make("bad_input", str(fault)) from fault
    return from_pieces(pieces.coords, pieces.values, pieces.shape, pieces.modes, pieces.labels)


def tensor(
    obj: Any,
    values: Any = None,
    *,
    shape: Sequence[int] | None = None,
    modes: Sequence[str] | None = None,
    labels: Any = None,
    missing: str | None = None,
    comm: Any = None,
) -> Tensor:
    """A tensor of whatever holds one: coordinates and values; tuples of names; dense arrays; sparse ones of SciPy, PyData,
    PyTorch and pyttb; a pandas.Series; or a table, whose columns ``modes`` are the modes and ``values`` the values.

    ``shape``, ``modes`` and ``labels`` state what the object does not know. With missing="nan", NaN are unknown cells and zeros
    of dense arrays known ones, for ``cp(..., missing=True)``. With ``comm``, every process gives entries of its own, of a tensor
    of this ``shape``; see ``from_pieces``.
    """
    if comm is not None:
        with _mpi.agreed(_mpi.group(comm)):
            if shape is None:
                raise bad_option("shape", "shape: expected that of the whole tensor, of which every process gives a part")
            part = tensor(obj, values, shape=shape, modes=modes, labels=labels, missing=missing)
        return _as_part(part, comm)
    given = (values, shape, modes, labels, missing)
    if isinstance(obj, Tensor) and all(option is None for option in given):
        return obj
    from . import _convert

    return _of_pieces(_convert.pieces_of, obj, values, shape=shape, modes=modes, labels=labels, missing=missing)


def _as_part(part: Tensor, comm: Any) -> Tensor:
    """What this process gives to a tensor of several. Collective."""
    _core.check_shares(host(processes=_mpi.group(comm)), part._core)
    return Tensor(part._core, comm)


def comm_of(x: Any, comm: Any) -> Any:
    """The communicator of a task: the one that is given, or that of a tensor that has parts; None for one process."""
    own = x.comm if isinstance(x, Tensor) else None
    if comm is None and own is None:
        _mpi.warn_if_alone()
    if comm is not None and own is not None and not _mpi.same_group(comm, own):
        raise bad_option("comm", "comm: expected the communicator over which the tensor is distributed")
    return own if comm is None else comm


def share(x: Tensor, comm: Any) -> tuple[_core.Tensor, bool]:
    """What this process gives to a task of several, and whether nobody else needs it: its part of a tensor that has parts,
    else an equal part of what all of them have. Collective."""
    if x.comm is not None:
        return x._core, False
    return _core.own_share(host(processes=_mpi.group(comm)), x._core), True


def from_frame(
    frame: Any,
    modes: Sequence[str],
    values: str | None = None,
    *,
    time: Mapping[str, object] | None = None,
    agg: str = "sum",
) -> Tensor:
    """The tensor of a table of events (pandas, polars, pyarrow, a dict of columns), with a mode for each of the columns ``modes``.

    Without a column of ``values`` events are counted. ``time={"when": "day"}`` puts times into bins, as "when:day" in ``modes``
    does; ``agg`` ("sum", "mean", "max", "last", "count", "refuse") is the value of a cell with several events.
    """
    from . import _convert

    return _of_pieces(_convert.frame_pieces, frame, modes, values, time=time, agg=agg)


def _label_sources(labels: Any, options: _core.LoadOptions) -> list[tuple[int, str]]:
    if labels is None:
        return []
    if labels is False:
        options.no_labels = True
    elif isinstance(labels, Mapping):
        return [(int(mode), os.fspath(path)) for mode, path in labels.items()]
    elif isinstance(labels, (str, os.PathLike)):
        options.label_folder = os.fspath(labels)
    else:
        raise bad_option("labels", f"labels={labels!r}: expected False, a folder, or a dict of modes and files")
    return []


def _joined(columns: str | Sequence[str] | None) -> str:
    if columns is None:
        return ""
    return columns if isinstance(columns, str) else ",".join(str(column) for column in columns)


def read(
    path: PathLike | Sequence[PathLike],
    *,
    format: str | None = None,
    dims: Sequence[int] | None = None,
    index_base: int | None = None,
    columns: str | Sequence[str] | None = None,
    value: str | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal_comma: bool = False,
    multiline: bool = False,
    fields: int = 0,
    missing_value: float | None = None,
    duplicates: str | None = None,
    transform: str = "none",
    min_count: int | Sequence[int] | None = None,
    labels: Any = None,
    dense_zeros: bool = False,
    threads: int | None = None,
    progress: Progress = "auto",
    comm: Any = None,
) -> Tensor:
    """Reads a tensor of any format that docs/formats.md lists, compressed or not; several files are read as one.

    ``columns`` and ``value`` say which columns of a table are modes and values: ``columns="user,item,time:day"``,
    ``value="stars"``; ``value=1`` counts lines. ``labels`` is False, a folder, or a dict of modes, from 0, and label files.
    ``dense_zeros`` keeps zeros of dense arrays, for ``cp(..., missing=True)``. With ``comm``, a communicator of mpi4py, every
    process reads a part of the file, and the tensor is distributed over them.
    """
    processes = None if comm is None else _mpi.group(comm)
    with _mpi.agreed(processes):
        paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
        places = [os.fspath(one) for one in paths]
        options = _core.LoadOptions()
        options.index_base = index_base
        options.dims = [] if dims is None else [int(extent) for extent in dims]
        options.columns = _joined(columns)
        options.value = "" if value is None else str(value)
        options.header = header
        options.separator = "" if separator is None else separator
        options.decimal_comma = bool(decimal_comma)
        options.multiline = bool(multiline)
        options.fields = int(fields)
        options.missing_value = missing_value
        if min_count is not None:
            options.min_count = [int(min_count)] if np.isscalar(min_count) else [int(n) for n in min_count]  # type: ignore
        options.dense_zeros = bool(dense_zeros)
        files = _label_sources(labels, options)
        told = host(threads, progress, processes)
    return Tensor(_core.read(told, places, options, format, duplicates, transform, files), comm)
