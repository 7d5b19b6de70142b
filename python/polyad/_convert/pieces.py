"""What all kinds of data become: the coordinates, values, extents and names of a sparse tensor; and the
checks of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Indices: TypeAlias = npt.NDArray[np.int64]
Labels: TypeAlias = "list[list[str] | None] | None"

MOST_MODES = 16


@dataclass
class Pieces:
    """A sparse tensor in coordinate form. Nonzero z has the index coords[m][z] in mode m, counted from 0."""

    coords: list[Indices]  # one array per mode, C-contiguous
    values: Array  # float64 or float32, C-contiguous
    shape: tuple[int, ...]
    modes: list[str] | None = None  # the names of the modes
    labels: Labels = None  # of each mode a name for every index, or None

    @property
    def nnz(self) -> int:
        return len(self.values)

    @property
    def ndim(self) -> int:
        return len(self.shape)


# --- numbers ---


def value_array(values: object, what: str = "the values") -> Array:
    """Values as a C-contiguous array of float64 or float32: without a copy if they are that already.
    float16 becomes float32, truth values and whole numbers become float64, beyond 2**53 rounded."""
    array = np.asarray(values)
    kind = array.dtype.kind
    if kind == "O" and array.size > 0:
        raise TypeError(
            f"{what} have the dtype object: expected numbers, as values.astype(float) makes of them"
        )
    if kind == "c":
        raise TypeError(f"{what} are complex ({array.dtype}): expected real numbers")
    if kind not in "buif" and array.size > 0:
        raise TypeError(f"{what} have the dtype {array.dtype}: expected numbers")
    single = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    return np.ascontiguousarray(array, dtype=np.float32 if single else np.float64)


def index_array(indices: object, what: str) -> Indices:
    """Indices as a C-contiguous array of int64: without a copy if they are that already."""
    array = np.asarray(indices)
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu":
        hint = ", as indices.astype(int) makes of them" if array.dtype.kind == "f" else ""
        raise TypeError(f"{what} have the dtype {array.dtype}: expected whole numbers{hint}")
    if array.dtype == np.uint64 and int(array.max()) > np.iinfo(np.int64).max:
        raise ValueError(f"{what} have {int(array.max())}: expected indices below 2**63")
    return np.ascontiguousarray(array, dtype=np.int64)


def known_values(values: Array, missing: str | None) -> npt.NDArray[np.bool_] | None:
    """Which values are kept where NaN stands for a missing cell; None: all of them are."""
    if missing is None:
        return None
    known: npt.NDArray[np.bool_] = ~np.isnan(values)
    return None if known.all() else known


def check_missing(missing: str | None) -> None:
    if missing not in (None, "nan"):
        raise ValueError(f"missing={missing!r}: expected None or 'nan', which leaves out cells that are NaN")


# --- the whole ---


def finish(
    coords: list[Indices],
    values: Array,
    *,
    shape: Sequence[int] | None,
    modes: Sequence[str] | None,
    labels: Mapping[str | int, Sequence[object]] | Sequence[Sequence[object] | None] | None,
    missing: str | None,
) -> Pieces:
    """Checks everything that is known of a tensor, and leaves out what is missing."""
    for mode, indices in enumerate(coords):
        if indices.ndim != 1 or len(indices) != len(values):
            raise ValueError(
                f"mode {mode} has {counted(indices.size, 'index', 'indices')} of shape {indices.shape}, and "
                f"there are "
                f"{counted(len(values), 'value')}: expected one index per value"
            )
    if not 1 <= len(coords) <= MOST_MODES:
        raise ValueError(f"found {counted(len(coords), 'mode')}: expected 1 to {MOST_MODES}")
    known = known_values(values, missing)
    if known is not None:
        coords, values = [indices[known] for indices in coords], values[known]
    names = mode_names(modes, len(coords))
    texts = mode_labels(labels, names, len(coords))
    extents = extents_of(coords, shape, texts)
    check_labels(texts, extents)
    check_indices(coords, extents)
    check_finite(coords, values)
    return Pieces(coords, values, extents, names, texts)


def mode_names(modes: Sequence[str] | None, order: int) -> list[str] | None:
    if modes is None:
        return None
    if isinstance(modes, str):
        raise TypeError(f"modes={modes!r} is a text: expected a list of {counted(order, 'name')}")
    names = list(modes)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"modes has {name!r}: expected texts")
    if len(names) != order:
        raise ValueError(f"modes has {counted(len(names), 'name')}: expected {order}, one for each mode")
    if not any(names):
        return None
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"modes has {twice!r} more than once: expected different names")
    return names


def mode_labels(
    labels: Mapping[str | int, Sequence[object]] | Sequence[Sequence[object] | None] | None,
    modes: list[str] | None,
    order: int,
) -> Labels:
    if labels is None:
        return None
    texts: list[list[str] | None] = [None] * order
    if isinstance(labels, Mapping):
        for mode, of_mode in labels.items():
            texts[place_of_mode(mode, modes, order)] = [str(label) for label in of_mode]
    else:
        if len(labels) != order:
            raise ValueError(
                f"labels are given for {counted(len(labels), 'mode')}: expected {order} lists, or None for "
                f"a mode"
            )
        texts = [None if of_mode is None else [str(label) for label in of_mode] for of_mode in labels]
    return texts if any(of_mode is not None for of_mode in texts) else None


def place_of_mode(mode: str | int, modes: list[str] | None, order: int) -> int:
    if isinstance(mode, str):
        if modes is None or mode not in modes:
            raise ValueError(
                f"there is no mode {mode!r}: expected one of {modes or 'none, as modes have no names'}"
            )
        return modes.index(mode)
    if not 0 <= mode < order:
        raise ValueError(f"there is no mode {mode}: expected 0 to {order - 1}")
    return mode


def extents_of(coords: list[Indices], shape: Sequence[int] | None, labels: Labels) -> tuple[int, ...]:
    if shape is not None:
        extents = tuple(int(extent) for extent in shape)
        if len(extents) != len(coords):
            raise ValueError(
                f"shape={extents} has {counted(len(extents), 'extent')}: expected {len(coords)}, one for "
                f"each mode"
            )
        for mode, extent in enumerate(extents):
            if extent < 1:
                raise ValueError(
                    f"the extent of mode {mode} is {extent}, so there are no cells: expected 1 or more"
                )
        return extents
    found = []
    for mode, indices in enumerate(coords):
        texts = labels[mode] if labels is not None else None
        if texts:
            found.append(len(texts))
        elif len(indices) == 0:
            raise ValueError("there are no nonzeros, so the extents are unknown: expected shape=")
        else:
            found.append(max(int(indices.max()), 0) + 1)
    return tuple(found)


def check_labels(labels: Labels, extents: tuple[int, ...]) -> None:
    for mode, texts in enumerate(labels or []):
        if texts is not None and len(texts) != extents[mode]:
            raise ValueError(
                f"mode {mode} has {counted(len(texts), 'label')} and the extent {extents[mode]}: expected a "
                f"label for each index"
            )


def check_indices(coords: list[Indices], extents: tuple[int, ...]) -> None:
    for mode, indices in enumerate(coords):
        if len(indices) == 0:
            continue
        if int(indices.min()) < 0:
            place = int(indices.argmin())
            raise ValueError(
                f"nonzero {place} has the index {indices[place]} in mode {mode}: expected indices from 0 on"
            )
        if int(indices.max()) >= extents[mode]:
            place = int(indices.argmax())
            raise ValueError(
                f"nonzero {place} has the index {indices[place]} in mode {mode}, beyond its extent: "
                f"expected 0 to "
                f"{extents[mode] - 1}"
            )


def check_finite(coords: list[Indices], values: Array) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    place = int(finite.argmin())
    cell = ", ".join(str(indices[place]) for indices in coords)
    hint = "; missing='nan' leaves such cells out" if np.isnan(values[place]) else ""
    raise ValueError(f"the value at [{cell}] is {values[place]}: expected finite numbers{hint}")


def with_names(
    pieces: Pieces,
    *,
    shape: Sequence[int] | None,
    modes: Sequence[str] | None,
    labels: Mapping[str | int, Sequence[object]] | Sequence[Sequence[object] | None] | None,
    missing: str | None,
) -> Pieces:
    """Pieces with other extents or names, where these are given."""
    names = pieces.modes if modes is None else modes
    texts: Any = pieces.labels if labels is None else labels
    extents = pieces.shape if shape is None else shape
    return finish(pieces.coords, pieces.values, shape=extents, modes=names, labels=texts, missing=missing)


def counted(count: int, noun: str, plural: str | None = None) -> str:
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


# --- cells with several entries ---

RULES = ("sum", "mean", "max", "last", "count", "refuse")


def combined(pieces: Pieces, agg: str = "sum") -> Pieces:
    """The same tensor with one nonzero per cell, in the order of the coordinates. `agg` is the value of a
    cell with several entries, as --duplicates of the program means it."""
    if agg not in RULES:
        raise ValueError(f"agg={agg!r}: expected one of {', '.join(RULES)}")
    if pieces.nnz == 0:
        return pieces
    order, first = sorted_cells(pieces.coords, pieces.shape)
    starts = np.flatnonzero(first)
    if agg == "refuse" and len(starts) < pieces.nnz:
        refuse_duplicate(pieces, order, first)
    coords = [indices[order[starts]] for indices in pieces.coords]
    values = combine_values(pieces.values[order], first, starts, agg)
    return Pieces(
        coords, values.astype(pieces.values.dtype, copy=False), pieces.shape, pieces.modes, pieces.labels
    )


def sorted_cells(coords: list[Indices], shape: tuple[int, ...]) -> tuple[Indices, npt.NDArray[np.bool_]]:
    """The nonzeros by their coordinates, those of a cell as they were; and which of them is the first of
    its cell."""
    most = np.iinfo(np.int64).max
    cells = 1
    for extent in shape:
        cells *= extent
    if cells <= most:
        key = np.zeros(len(coords[0]), dtype=np.int64)
        for indices, extent in zip(coords, shape):
            key = key * extent + indices
        order = np.argsort(key, kind="stable")
        sorted_key = key[order]
        differs = sorted_key[1:] != sorted_key[:-1]
    else:
        order = np.lexsort(tuple(reversed(coords)))
        differs = np.zeros(len(order) - 1, dtype=np.bool_)
        for indices in coords:
            differs |= indices[order[1:]] != indices[order[:-1]]
    return order, np.concatenate([[True], differs])


def combine_values(values: Array, first: npt.NDArray[np.bool_], starts: Indices, agg: str) -> Array:
    counts = np.diff(starts, append=len(values))
    if agg == "count":
        return counts.astype(np.float64)
    if agg == "max":
        return np.asarray(np.maximum.reduceat(values, starts))
    if agg in ("last", "refuse"):
        return values[starts + counts - 1]
    sums = np.bincount(
        np.cumsum(first) - 1, weights=values
    )  # in the order of the entries, as the program adds them
    return sums / counts if agg == "mean" else sums


def refuse_duplicate(pieces: Pieces, order: Indices, first: npt.NDArray[np.bool_]) -> None:
    second = int(np.flatnonzero(~first)[0])
    names = []
    for mode, indices in enumerate(pieces.coords):
        texts = pieces.labels[mode] if pieces.labels is not None else None
        index = int(indices[order[second]])
        names.append(repr(texts[index]) if texts is not None else str(index))
    raise ValueError(
        f"the cell [{', '.join(names)}] has more than one entry, the first two of which are entries "
        f"{order[second - 1]} and "
        f"{order[second]}: agg='refuse' expects one; 'sum', 'mean', 'max', 'last' and 'count' combine them"
    )
