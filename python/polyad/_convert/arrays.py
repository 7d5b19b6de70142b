"""NumPy arrays, and what becomes one: coordinates with values, lists of names, dense arrays."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .names import label_texts, sort_labels
from .pieces import (
    Array,
    Indices,
    Pieces,
    combined,
    counted,
    finish,
    index_array,
    mode_labels,
    mode_names,
    value_array,
)

GivenLabels = Mapping[str | int, Sequence[object]] | Sequence[Sequence[object] | None] | None


# --- coordinates and values ---


def from_coordinates(
    coords: object,
    values: object,
    *,
    shape: Sequence[int] | None,
    modes: Sequence[str] | None,
    labels: GivenLabels,
    missing: str | None,
) -> Pieces:
    """Coordinates as an array of ndim × nnz or nnz × ndim, as one array per mode, or as a list of tuples,
    one per nonzero.

    Without a copy: int64 arrays of ndim × nnz in C order, of nnz × ndim in Fortran order, and contiguous
    ones per mode."""
    if is_list_of_tuples(coords):
        return from_tuples(coords, values, shape=shape, modes=modes, labels=labels, missing=missing)
    numbers = value_array([] if values is None else values)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers.reshape(-1)
    if numbers.ndim != 1:
        raise ValueError(f"the values have the shape {numbers.shape}: expected one dimension")
    by_mode = coordinates_by_mode(coords, len(numbers), shape)
    return finish(by_mode, numbers, shape=shape, modes=modes, labels=labels, missing=missing)


def is_list_of_tuples(obj: object) -> bool:
    """Each of which has the indices or names of one nonzero."""
    return isinstance(obj, list) and len(obj) > 0 and all(isinstance(entry, tuple) for entry in obj)


def coordinates_by_mode(coords: object, num_values: int, shape: Sequence[int] | None) -> list[Indices]:
    if isinstance(coords, (list, tuple)) and any(is_vector(of_mode) for of_mode in coords):
        return [index_array(of_mode, f"the indices of mode {mode}") for mode, of_mode in enumerate(coords)]
    array = np.asarray(coords)
    if array.ndim == 1 and array.size == num_values == 0 and shape is not None:
        return [np.zeros(0, dtype=np.int64) for _ in shape]
    if array.ndim == 1:
        return [index_array(array, "the indices")]
    if array.ndim != 2:
        raise ValueError(f"the coordinates have the shape {array.shape}: expected ndim × nnz or nnz × ndim")
    if array.shape[0] == array.shape[1] == num_values and num_values > 1:
        array = resolved_square(array, shape)
    elif array.shape[1] != num_values and array.shape[0] == num_values:
        array = array.T
    elif array.shape[1] != num_values:
        raise ValueError(
            f"the coordinates have the shape {array.shape}, and there are {counted(num_values, 'value')}: "
            f"expected "
            f"ndim × {num_values} or {num_values} × ndim"
        )
    return [index_array(array[mode], "the coordinates") for mode in range(len(array))]


def is_vector(obj: object) -> bool:
    return getattr(obj, "ndim", 0) == 1


def resolved_square(array: Array, shape: Sequence[int] | None) -> Array:
    """The coordinates as ndim × nnz, where there are as many nonzeros as modes and only the extents can
    tell the two ways apart."""
    size = len(array)
    if np.array_equal(array, array.T):
        return array
    if shape is not None and len(shape) == size:
        extents = np.asarray(shape)
        fits = [bool((way >= 0).all() and (way < extents[:, None]).all()) for way in (array, array.T)]
        if fits[0] != fits[1]:
            return array if fits[0] else array.T
    raise ValueError(
        f"the coordinates have the shape {array.shape} and there are {size} values, so that both ndim × nnz "
        f"and nnz × ndim are "
        "possible: expected a list with one array per mode, such as list(coords), or a list of tuples, one "
        "per nonzero"
    )


# --- lists of tuples of names or indices ---


def from_tuples(
    tuples: object,
    values: object,
    *,
    shape: Sequence[int] | None,
    modes: Sequence[str] | None,
    labels: GivenLabels,
    missing: str | None,
) -> Pieces:
    """A tuple per nonzero, or per event if there are no values, each of which counts 1. A mode in which all
    entries are whole numbers has indices; in others every distinct entry gets an index, in the order of the
    program's labels."""
    rows: list[tuple[Any, ...]] = tuples  # type: ignore[assignment]
    order = len(rows[0])
    for place, row in enumerate(rows):
        if len(row) != order:
            raise ValueError(
                f"tuple {place} has {counted(len(row), 'entry', 'entries')}: expected {order}, as the first "
                f"one has"
            )
    numbers = np.ones(len(rows)) if values is None else value_array(values)
    if numbers.ndim != 1 or len(numbers) != len(rows):
        raise ValueError(
            f"there are {counted(len(rows), 'tuple')}, and values of the shape {numbers.shape}: expected "
            f"one for each"
        )
    coords, found = [], list(given_labels(labels, modes, order))
    for mode, entries in enumerate(zip(*rows)):
        indices, texts = numbered(entries, found[mode], mode)
        coords.append(indices)
        found[mode] = texts
    return finish(coords, numbers, shape=shape, modes=modes, labels=found, missing=missing)


def given_labels(labels: GivenLabels, modes: Sequence[str] | None, order: int) -> list[list[str] | None]:
    return mode_labels(labels, mode_names(modes, order), order) or [None] * order


def numbered(
    entries: tuple[Any, ...], known: list[str] | None, mode: int
) -> tuple[Indices, list[str] | None]:
    if all(isinstance(entry, (int, np.integer)) and not isinstance(entry, bool) for entry in entries):
        return index_array(np.array(entries, dtype=np.int64), f"the indices of mode {mode}"), known
    texts = label_texts(entries)
    for place, entry in enumerate(entries):
        if entry is None or (isinstance(entry, float) and math.isnan(entry)):
            raise ValueError(f"tuple {place} has {entry!r} in mode {mode}: expected a name")
    labels = sort_labels(list(set(texts))) if known is None else known
    place_of = {text: index for index, text in enumerate(labels)}
    unknown = next((text for text in texts if text not in place_of), None)
    if unknown is not None:
        raise ValueError(f"{unknown!r} is no label of mode {mode}: expected one of those that are given")
    return np.fromiter((place_of[text] for text in texts), dtype=np.int64, count=len(texts)), labels


# --- dense arrays ---


def dense_array(obj: Any) -> Array:
    """An array of NumPy, without a copy where the object shares its memory: by __array__ or DLPack."""
    if isinstance(obj, np.ndarray):
        return obj
    if hasattr(obj, "detach") and hasattr(obj, "cpu"):  # torch
        tensor = obj.detach().cpu()
        return np.asarray((tensor.float() if "bfloat16" in str(tensor.dtype) else tensor).numpy())
    if hasattr(obj, "__array__"):
        return np.asarray(obj)
    try:
        return np.from_dlpack(obj)
    except (RuntimeError, TypeError, BufferError, ValueError) as error:
        raise TypeError(
            f"the array of {type(obj).__name__} cannot be read in this machine's main memory: {error}"
        ) from error


def from_dense(
    array: Array,
    *,
    shape: Sequence[int] | None,
    modes: Sequence[str] | None,
    labels: GivenLabels,
    missing: str | None,
) -> Pieces:
    """The cells that are not zero; with missing="nan" those that are not NaN, zeros included. Always a
    copy."""
    if shape is not None and tuple(shape) != array.shape:
        raise ValueError(f"the array has the shape {array.shape}: expected {tuple(shape)}, as shape= says")
    if array.ndim == 0:
        raise ValueError("found a single number: expected an array of one dimension or more")
    if array.dtype.kind not in "buif":
        value_array(array.reshape(-1))  # says what is wrong
    if isinstance(array, np.ma.MaskedArray):
        array = unmasked(array, missing)
    kept = ~np.isnan(array) if missing is not None else array != 0
    places = np.nonzero(kept)
    coords = [np.ascontiguousarray(of_mode, dtype=np.int64) for of_mode in places]
    return finish(
        coords, value_array(array[places]), shape=array.shape, modes=modes, labels=labels, missing=None
    )


def unmasked(array: np.ma.MaskedArray[Any, Any], missing: str | None) -> Array:
    mask = np.ma.getmaskarray(array)
    if not mask.any():
        return np.asarray(array.data)
    if missing is None:
        place = ", ".join(str(index) for index in np.argwhere(mask)[0])
        raise ValueError(
            f"the array has a mask, as at [{place}]: expected missing='nan', which leaves masked cells out"
        )
    return np.where(mask, math.nan, np.asarray(array.data, dtype=np.float64))


# --- out ---


def parse_bytes(size: str | int | float) -> int:
    """Of 4000000, "4GB", "1.5 GiB"."""
    if isinstance(size, (int, float)):
        return int(size)
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([KMGT]?)(I?)B?\s*", size.upper())
    if found is None:
        raise ValueError(f"max_bytes={size!r}: expected a size such as '4GB' or '512MiB'")
    base = 1024 if found[3] else 1000
    return int(float(found[1]) * base ** ("KMGT".index(found[2]) + 1 if found[2] else 0))


def bytes_text(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:,.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.2f} {unit}"


def to_numpy(pieces: Pieces, max_bytes: str | int | float = "1GB", *, missing: str | None = None) -> Array:
    """A dense array; nonzeros with the same coordinates are added. Cells without a nonzero are 0, or NaN
    with missing="nan". Always a copy."""
    limit = parse_bytes(max_bytes)
    cells = math.prod(pieces.shape)
    needed = cells * pieces.values.itemsize
    if needed > limit:
        raise MemoryError(
            f"a dense array of shape {pieces.shape} takes {bytes_text(needed)}, which is more than "
            f"max_bytes={max_bytes!r} allows; "
            f"the {pieces.nnz} nonzeros take "
            f"{bytes_text(pieces.nnz * (8 * pieces.ndim + pieces.values.itemsize))}"
        )
    one_each = combined(pieces)
    dense = np.full(pieces.shape, 0 if missing is None else math.nan, dtype=pieces.values.dtype)
    dense[tuple(one_each.coords)] = one_each.values
    return dense
