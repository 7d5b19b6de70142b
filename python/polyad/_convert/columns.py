"""The columns of tables: of pandas, polars, Arrow, dictionaries, and of what these can read."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .pieces import Array, Indices, counted

Uniques = np.ndarray[Any, Any] | list[Any]


@dataclass
class Column:
    """The entries of a column: row i has uniques[codes[i]], or nothing where the code is -1."""

    codes: Indices
    uniques: Uniques
    zone: str = ""  # behind times that had a zone and are in UTC


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
            raise ValueError(
                f"the table has no column {name!r}: expected one of "
                f"{', '.join(repr(known) for known in names)}"
            )
        if names.count(name) > 1:
            raise ValueError(
                f"the table has {counted(names.count(name), 'column')} called {name!r}: expected one"
            )
        return self._frame[name]


def readable(frame: Any) -> Any:
    """The table itself if its columns can be taken from it, else one that a library has made of it that was
    imported already."""
    if isinstance(frame, (Mapping, np.ndarray)):
        return frame
    if hasattr(frame, "collect") and hasattr(frame, "lazy"):  # polars.LazyFrame
        return frame.collect()
    has_columns = hasattr(frame, "columns") or hasattr(frame, "column_names")
    if (
        has_columns
        and type(frame).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow")
        and hasattr(frame, "shape")
    ):
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
            f"a table of the type {type(frame).__name__} is read by pyarrow, polars or pandas, none of "
            f"which was imported: expected "
            "one of them to be imported before"
        )
    raise TypeError(
        f"found {type(frame).__name__}: expected a table, such as a DataFrame of pandas or polars, a Table "
        f"of pyarrow or a "
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
    codes, uniques = column.factorize()
    if column.dtype == object and any(type(entry) is not str for entry in uniques):
        return factorise_list(column.tolist())  # which does not take 1 and True for the same
    entries = uniques.to_numpy() if hasattr(uniques, "to_numpy") else np.asarray(uniques)
    return Column(
        codes.astype(np.int64, copy=False), entries.tolist() if entries.dtype.kind == "O" else entries, zone
    )


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
        except (
            Exception
        ):  # of types that pyarrow has no such function for; ArrowNotImplementedError is not imported
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
    if set(map(type, entries)) == {str}:
        number_of = {text: number for number, text in enumerate(dict.fromkeys(entries))}
        numbers = map(number_of.__getitem__, entries)
        return Column(np.fromiter(numbers, dtype=np.int64, count=len(entries)), list(number_of))
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
            array = (
                column.to_numpy(dtype=np.float64, na_value=math.nan)
                if hasattr(column, "factorize")
                else column.to_numpy()
            )
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
        raise ValueError(
            f"row {row} of the column {name!r} has the value {values[row]}, or none: expected finite numbers"
        )
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
