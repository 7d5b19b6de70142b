"""Tables of events (pandas, polars, Arrow, dictionaries of columns) and Series with the names of cells, in and out."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .names import label_texts, sort_labels
from .pieces import Array, Indices, Pieces, combined, counted, finish
from .times import Rule, parse_rule, parse_rule_text, quantile_bins, time_bins, width_bins

Uniques = np.ndarray[Any, Any] | list[Any]


@dataclass
class Column:
    """The entries of a column: row i has uniques[codes[i]], or nothing where the code is -1."""

    codes: Indices
    uniques: Uniques
    zone: str = ""  # behind times that had a zone and are in UTC


# --- columns of tables ---


def is_frame(obj: object) -> bool:
    return (
        (isinstance(obj, Mapping) and len(obj) > 0 and all(isinstance(name, str) for name in obj))
        or (isinstance(obj, np.ndarray) and obj.dtype.names is not None)
        or (hasattr(obj, "columns") and not hasattr(obj, "__array_interface__"))
        or hasattr(obj, "column_names")
        or (hasattr(obj, "__arrow_c_stream__") and not hasattr(obj, "__array__"))
        or hasattr(obj, "__dataframe__")
    )


class Frame:
    """A table of any library, column by column."""

    def __init__(self, frame: Any) -> None:
        self._frame = readable(frame)

    def names(self) -> list[Any]:
        frame = self._frame
        if isinstance(frame, Mapping):
            return list(frame)
        if isinstance(frame, np.ndarray):
            return list(frame.dtype.names or ())
        return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)

    def column(self, name: Any) -> Any:
        names = self.names()
        if name not in names:
            raise ValueError(f"the table has no column {name!r}: expected one of {', '.join(repr(known) for known in names)}")
        if names.count(name) > 1:
            raise ValueError(f"the table has {counted(names.count(name), 'column')} called {name!r}: expected one")
        return self._frame[name]


def readable(frame: Any) -> Any:
    """The table itself if its columns can be taken from it, else one that a library has made of it that was imported already."""
    if isinstance(frame, (Mapping, np.ndarray)):
        return frame
    if hasattr(frame, "collect") and hasattr(frame, "lazy"):  # polars.LazyFrame
        return frame.collect()
    has_columns = hasattr(frame, "columns") or hasattr(frame, "column_names")
    if has_columns and type(frame).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow") and hasattr(frame, "shape"):
        return frame
    if hasattr(frame, "__arrow_c_stream__"):
        if "pyarrow" in sys.modules:
            return sys.modules["pyarrow"].table(frame)
        if "polars" in sys.modules:
            return sys.modules["polars"].DataFrame(frame)
    if hasattr(frame, "__dataframe__") and "pandas" in sys.modules:
        return sys.modules["pandas"].api.interchange.from_dataframe(frame)
    if hasattr(frame, "__dataframe__") and "pyarrow" in sys.modules:
        return importlib.import_module("pyarrow.interchange").from_dataframe(frame)
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__dataframe__"):
        raise TypeError(
            f"a table of the type {type(frame).__name__} is read by pyarrow, polars or pandas, none of which was imported: expected "
            "one of them to be imported before"
        )
    raise TypeError(
        f"found {type(frame).__name__}: expected a table, such as a DataFrame of pandas or polars, a Table of pyarrow or a "
        "dictionary of columns"
    )


def factorise(column: Any) -> Column:
    """Every different entry once. The libraries do this themselves where they can."""
    if hasattr(column, "factorize"):  # pandas
        return factorise_pandas(column)
    if hasattr(column, "combine_chunks") or hasattr(column, "dictionary_encode"):  # pyarrow
        return factorise_arrow(column)
    if hasattr(column, "rank") and hasattr(column, "to_list"):  # polars
        return factorise_polars(column)
    if isinstance(column, (list, tuple)):
        types = {type(entry) for entry in column}
        if len(types) > 1 or not types <= {int, float, bool}:
            return factorise_list(list(column))
    return factorise_array(np.asarray(column))


def factorise_pandas(column: Any) -> Column:
    zone = ""
    if getattr(column.dtype, "tz", None) is not None:
        column, zone = column.dt.tz_convert(None), "+00:00"
    if column.dtype.kind == "O" and not hasattr(column.dtype, "categories"):
        return factorise_list(column.tolist())
    codes, uniques = column.factorize()
    entries = uniques.to_numpy() if hasattr(uniques, "to_numpy") else np.asarray(uniques)
    return Column(codes.astype(np.int64, copy=False), entries.tolist() if entries.dtype.kind == "O" else entries, zone)


def factorise_polars(column: Any) -> Column:
    zone, kind = "", str(column.dtype)
    if getattr(column.dtype, "time_zone", None) is not None:
        column, zone = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None), "+00:00"
    if kind.startswith(("Categorical", "Enum")):
        column = column.cast(str)
    if kind.startswith(("Float", "Decimal", "Object", "List", "Struct", "Time", "Duration", "Binary")):
        return factorise_list(column.to_list())
    ranks = column.rank("dense").fill_null(0).to_numpy()
    uniques = column.drop_nulls().unique().sort()
    is_text = kind.startswith(("String", "Utf8", "Categorical", "Enum"))
    return Column(ranks.astype(np.int64) - 1, uniques.to_list() if is_text else uniques.to_numpy(), zone)


def factorise_arrow(column: Any) -> Column:
    zone = "+00:00" if getattr(column.type, "tz", None) is not None else ""
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if not hasattr(whole, "dictionary"):
        try:
            whole = whole.dictionary_encode()
        except Exception:  # of types that pyarrow has no such function for; ArrowNotImplementedError is not imported
            return factorise_list(whole.to_pylist())
        whole = whole.combine_chunks() if hasattr(whole, "combine_chunks") else whole
    if hasattr(whole, "chunks"):  # an old pyarrow
        whole = whole.unify_dictionaries().chunk(0)
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    uniques = whole.dictionary
    if str(uniques.type).startswith(("timestamp", "date", "int", "uint")) and uniques.null_count == 0:
        return Column(codes, uniques.to_numpy(zero_copy_only=False), zone)
    return merged(codes, uniques.to_pylist())


def merged(codes: Indices, entries: list[Any]) -> Column:
    """Of a dictionary that may have nulls and equal entries."""
    inner = factorise_list(entries)
    with_null = np.append(inner.codes, -1)
    return Column(with_null[codes], inner.uniques)


def factorise_list(entries: list[Any]) -> Column:
    place_of: dict[Any, int] = {}
    codes = np.empty(len(entries), dtype=np.int64)
    for row, entry in enumerate(entries):
        codes[row] = -1 if is_null(entry) else place_of.setdefault((type(entry), entry), len(place_of))
    return Column(codes, [entry for _, entry in place_of])


def is_null(entry: Any) -> bool:
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, (float, np.floating)) and math.isnan(entry)


def factorise_array(column: Array) -> Column:
    if column.ndim != 1:
        raise ValueError(f"a column has the shape {column.shape}: expected one dimension")
    if column.dtype.kind in "OSU":
        return factorise_list(column.tolist())
    uniques, codes = np.unique(column, return_inverse=True)
    codes = codes.reshape(-1).astype(np.int64, copy=False)
    if uniques.dtype.kind in "fM":
        is_nothing = np.isnan(uniques) if uniques.dtype.kind == "f" else np.isnat(uniques)
        codes[is_nothing[codes]] = -1
        uniques = uniques[~is_nothing]  # which are at the end
    return Column(codes, uniques)


def numbers_of_column(frame: Frame, name: Any) -> Array:
    column = frame.column(name)
    if hasattr(column, "to_numpy") and hasattr(column, "rank"):  # pandas, polars
        try:
            array = column.to_numpy(dtype=np.float64, na_value=math.nan) if hasattr(column, "factorize") else column.to_numpy()
        except (TypeError, ValueError) as error:
            raise TypeError(f"the column {name!r} is of the type {column.dtype}: expected numbers") from error
    else:
        array = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if array.dtype.kind == "O":
        array = numbers_of_objects(array, name)
    if array.dtype.kind not in "buif":
        raise TypeError(f"the column {name!r} is of the type {array.dtype}: expected numbers")
    values: Array = np.ascontiguousarray(array, dtype=np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        row = int(finite.argmin())
        raise ValueError(f"row {row} of the column {name!r} has the value {values[row]}, or none: expected finite numbers")
    return values


def numbers_of_objects(array: Array, name: Any) -> Array:
    """Of decimal numbers, and of truth values or whole numbers with gaps."""
    for row, entry in enumerate(array):
        if isinstance(entry, (str, bytes)):
            raise TypeError(f"row {row} of the column {name!r} has {entry!r}: expected numbers")
    try:
        return np.array([math.nan if is_null(entry) else float(entry) for entry in array], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the column {name!r} has entries that are no numbers: {error}") from error


# --- tables of events ---


def frame_pieces(
    frame: Any,
    modes: Sequence[str],
    values: str | None = None,
    *,
    time: Mapping[str, object] | None = None,
    agg: str = "sum",
) -> Pieces:
    """The tensor of a table of events, with a mode for each of the columns `modes`.

    Every different entry of a column is an index, named by its label, in the order of the program: numerical if all of them are
    numbers, otherwise alphabetical. `time` bins the entries of a column: {"when": "day"}, or "hour", "week", "month", "year",
    "hour_of_day", "weekday", "month_of_year", with the meaning and the labels of the program's --columns when:day (it has no
    year); a number of seconds; "width=10" and "quantiles=4" of numbers. "when:day" in `modes` says the same. Bins without an
    entry have an index too, so that the axis has no gaps.

    The value of a row is that of the column `values`, or 1. `agg` is the value of a cell with several rows: "sum", "mean", "max",
    "last", "count" or "refuse", as --duplicates of the program means it. The nonzeros are sorted by their coordinates. The table
    is not changed, and nothing is shared with it."""
    if isinstance(modes, str):
        raise TypeError(f"modes={modes!r} is a text: expected a list of the names of columns")
    table = Frame(frame)
    chosen = [split_mode(mode, table) for mode in modes]
    rules = dict(time or {})
    names = [name for name, _ in chosen]
    for name in rules:
        if name not in names:
            raise ValueError(f"time has the column {name!r}: expected one of modes, which are {', '.join(map(repr, names))}")
    coords: list[Indices] = []
    labels: list[Sequence[object] | None] = []
    for name, rule in chosen:
        indices, texts = mode_of_column(table, name, parse_rule(rules[name], str(name)) if name in rules else rule)
        coords.append(indices)
        labels.append(texts)
    if not coords:
        raise ValueError("modes is empty: expected the names of columns")
    if len(coords[0]) == 0:
        raise ValueError("the table has no rows: expected one or more")
    numbers = np.ones(len(coords[0])) if values is None else numbers_of_column(table, values)
    whole = finish(coords, numbers, shape=None, modes=[str(name) for name in names], labels=labels, missing=None)
    return combined(whole, agg)


def split_mode(mode: Any, table: Frame) -> tuple[Any, Rule]:
    """The column and the rule of "when:day"; a column that has this name is taken as it is."""
    if not isinstance(mode, str) or mode in table.names() or ":" not in mode:
        return mode, Rule()
    name, _, text = mode.rpartition(":")
    rule = parse_rule_text(text)
    return (mode, Rule()) if rule is None else (name, rule)


def mode_of_column(table: Frame, name: Any, rule: Rule) -> tuple[Indices, list[str]]:
    column = factorise(table.column(name))
    check_gaps(column, name)
    if rule.kind == "label":
        indices, labels = name_entries(column)
    elif rule.kind == "quantiles":
        counts = np.bincount(column.codes, minlength=len(column.uniques))
        indices, labels = quantile_bins(column.uniques, counts, int(rule.size), str(name))
    elif rule.kind == "width" or (rule.kind == "seconds" and has_numbers(column.uniques)):
        indices, labels = width_bins(column.uniques, rule.size, str(name))
    else:
        indices, labels = time_bins(column.uniques, rule, str(name))
    return np.ascontiguousarray(indices[column.codes]), labels


def has_numbers(uniques: Uniques) -> bool:
    if isinstance(uniques, np.ndarray):
        return uniques.dtype.kind in "iuf"
    return all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in uniques)


def check_gaps(column: Column, name: Any) -> None:
    empty = column.codes < 0
    if isinstance(column.uniques, list) and "" in column.uniques:
        empty = empty | (column.codes == column.uniques.index(""))
    if empty.any():
        raise ValueError(f"row {int(empty.argmax())} of the column {name!r} is empty: expected an entry in every row of a mode")


def name_entries(column: Column) -> tuple[Indices, list[str]]:
    texts = label_texts(column.uniques, column.zone)
    labels = sort_labels(list(set(texts)))
    place_of = {label: place for place, label in enumerate(labels)}
    return np.fromiter((place_of[text] for text in texts), dtype=np.int64, count=len(texts)), labels


# --- Series of pandas ---


def is_series(obj: object) -> bool:
    return hasattr(obj, "index") and hasattr(obj, "factorize") and hasattr(obj, "to_frame")


def series_parts(series: Any) -> tuple[list[Indices], Array, tuple[int, ...], list[str] | None, list[list[str] | None]]:
    """Of a Series whose index has a level per mode. The levels are the labels, in their order, those that do not occur included;
    a level that counts 0, 1, 2, ... has indices instead. The values are shared where they are float64 or float32."""
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
            raise ValueError(f"entry {int(indices.argmin())} of the Series has no name in level {mode} of its index")
        coords.append(indices)
        labels.append(None if is_count(level) else label_texts(level.to_numpy()))
        shape.append(len(level))
    names = list(index.names)
    modes = names if all(isinstance(name, str) for name in names) else None
    return coords, series.to_numpy(), tuple(shape), modes, labels


def is_count(level: Any) -> bool:
    """Whether a level is 0, 1, 2, ..., len - 1."""
    return level.dtype.kind in "iu" and len(level) > 0 and bool((level.to_numpy() == np.arange(len(level))).all())


# --- out ---


def names_of_columns(pieces: Pieces) -> tuple[list[str], str]:
    """Those of the modes, mode1, mode2, ... unless they have names, as in the program's csv files, and that of the values."""
    modes = pieces.modes or [f"mode{mode + 1}" for mode in range(pieces.ndim)]
    value = "value"
    while value in modes:
        value += "_"
    return modes, value


def labels_of(pieces: Pieces, mode: int) -> list[str] | None:
    return None if pieces.labels is None else pieces.labels[mode]


def to_pandas(pieces: Pieces) -> Any:
    """A Series whose MultiIndex has a level per mode with all labels, or with numbers from 0. Duplicates stay. The values are
    shared where pandas does not copy them."""
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
    names = modes if pieces.modes is not None else [None] * pieces.ndim
    if pieces.ndim == 1:
        index = levels[0].take(codes[0]).rename(names[0])
    else:
        index = pandas.MultiIndex(levels=levels, codes=codes, names=names, verify_integrity=False)
    return pandas.Series(pieces.values, index=index, name=value)


def to_polars(pieces: Pieces) -> Any:
    """A polars.DataFrame with a column per mode, of labels where there are some, else of indices from 0, and the values."""
    polars = importlib.import_module("polars")
    modes, value = names_of_columns(pieces)
    columns = {}
    for mode, name in enumerate(modes):
        labels = labels_of(pieces, mode)
        indices = pieces.coords[mode]
        columns[name] = polars.Series(name, indices if labels is None else polars.Series(labels, dtype=polars.String).gather(indices))
    columns[value] = polars.Series(value, pieces.values)
    return polars.DataFrame(columns)


def to_arrow(pieces: Pieces) -> Any:
    """A pyarrow.Table with a column per mode, of labels (as a dictionary) where there are some, else of indices from 0, and the
    values. Indices without labels and values are shared."""
    arrow = importlib.import_module("pyarrow")
    modes, value = names_of_columns(pieces)
    columns = []
    for mode in range(pieces.ndim):
        labels = labels_of(pieces, mode)
        indices = arrow.array(pieces.coords[mode])
        columns.append(indices if labels is None else arrow.DictionaryArray.from_arrays(indices, arrow.array(labels, arrow.string())))
    columns.append(arrow.array(pieces.values))
    return arrow.table(columns, names=[*modes, value])
