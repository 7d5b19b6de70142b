"""Series of pandas with the names of cells, in and out; and tables of pandas, polars and Arrow out."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .names import label_texts
from .pieces import Array, Indices, Pieces

# --- Series of pandas ---


def is_series(obj: object) -> bool:
    return hasattr(obj, "index") and hasattr(obj, "factorize") and hasattr(obj, "to_frame")


def series_parts(
    series: Any,
) -> tuple[list[Indices], Array, tuple[int, ...], list[str] | None, list[list[str] | None]]:
    """Of a Series whose index has a level per mode. The levels are the labels, in their order, those that
    do not occur included; a level that counts 0, 1, 2, ... has indices instead. The values are shared where
    they are float64 or float32."""
    index = series.index
    levels = getattr(index, "levels", None)
    if levels is None:
        codes, level = index.factorize(sort=True)
        all_codes, levels = [codes], [level]
        if is_count(index) and len(index):
            all_codes, levels = [index.to_numpy()], [index]
    else:
        all_codes = list(index.codes)
    coords, labels, shape = [], [], []
    for mode, (codes, level) in enumerate(zip(all_codes, levels)):
        indices = np.ascontiguousarray(codes, dtype=np.int64)
        if len(indices) and int(indices.min()) < 0:
            raise ValueError(
                f"entry {int(indices.argmin())} of the Series has no name in level {mode} of its index"
            )
        coords.append(indices)
        labels.append(None if is_count(level) else label_texts(level.to_numpy()))
        shape.append(len(level))
    names = list(index.names)
    modes = names if all(isinstance(name, str) for name in names) else None
    values = series.to_numpy()
    if values.dtype == object and getattr(series.dtype, "kind", "O") in "buif":  # of pandas' types with NA
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    return coords, values, tuple(shape), modes, labels


def is_count(level: Any) -> bool:
    """Whether a level is 0, 1, 2, ..., len - 1."""
    return (
        level.dtype.kind in "iu"
        and len(level) > 0
        and bool((level.to_numpy() == np.arange(len(level))).all())
    )


# --- out ---


def names_of_columns(pieces: Pieces) -> tuple[list[str], str]:
    """Those of the modes, mode1, mode2, ... unless they have names, as in the program's csv files, and that
    of the values."""
    modes = [name or f"mode{mode + 1}" for mode, name in enumerate(pieces.modes or [""] * pieces.ndim)]
    value = "value"
    while value in modes:
        value += "_"
    return modes, value


def labels_of(pieces: Pieces, mode: int) -> list[str] | None:
    return None if pieces.labels is None else pieces.labels[mode]


def to_pandas(pieces: Pieces) -> Any:
    """A Series whose MultiIndex has a level per mode with all labels, or with numbers from 0. Duplicates
    stay. The values are shared where pandas does not copy them."""
    pandas = importlib.import_module("pandas")
    modes, value = names_of_columns(pieces)
    levels = [pandas.RangeIndex(extent) for extent in pieces.shape]
    codes: list[Any] = list(pieces.coords)
    for mode in range(pieces.ndim):
        labels = labels_of(pieces, mode)
        if labels is None:
            continue
        level = pandas.Index(labels)
        if not level.is_unique:
            places, level = level.factorize()
            codes[mode] = places[codes[mode]]
        levels[mode] = level
    names = [name or None for name in pieces.modes or [""] * pieces.ndim]
    if pieces.ndim == 1:
        index = levels[0].take(codes[0]).rename(names[0])
    else:
        index = pandas.MultiIndex(levels=levels, codes=codes, names=names, verify_integrity=False)
    return pandas.Series(pieces.values, index=index, name=value)


def to_polars(pieces: Pieces) -> Any:
    """A polars.DataFrame with a column per mode, of labels where there are some, else of indices from 0,
    and the values."""
    polars = importlib.import_module("polars")
    modes, value = names_of_columns(pieces)
    columns = {}
    for mode, name in enumerate(modes):
        labels = labels_of(pieces, mode)
        indices = pieces.coords[mode]
        columns[name] = polars.Series(
            name, indices if labels is None else polars.Series(labels, dtype=polars.String).gather(indices)
        )
    columns[value] = polars.Series(value, pieces.values)
    return polars.DataFrame(columns)


def to_arrow(pieces: Pieces) -> Any:
    """A pyarrow.Table with a column per mode, of labels (as a dictionary) where there are some, else of
    indices from 0, and the values. Indices without labels and values are shared."""
    arrow = importlib.import_module("pyarrow")
    modes, value = names_of_columns(pieces)
    columns = []
    for mode in range(pieces.ndim):
        labels = labels_of(pieces, mode)
        indices = arrow.array(pieces.coords[mode])
        columns.append(
            indices
            if labels is None
            else arrow.DictionaryArray.from_arrays(indices, arrow.array(labels, arrow.string()))
        )
    columns.append(arrow.array(pieces.values))
    return arrow.table(columns, names=[*modes, value])
