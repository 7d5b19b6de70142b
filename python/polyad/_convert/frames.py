"""Tensors of tables of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .columns import Column, Frame, Uniques, factorise, numbers_of_column
from .names import label_texts, sort_labels
from .number_bins import places_in_intervals, quantile_bins, width_bins
from .pieces import Array, Indices, Pieces, combined, finish
from .times import Rule, parse_rule, parse_rule_text, time_bins


def frame_pieces(
    frame: Any,
    modes: Sequence[str],
    values: str | None = None,
    *,
    time: Mapping[str, object] | None = None,
    agg: str = "sum",
) -> Pieces:
    """The tensor of a table of events, with a mode for each of the columns `modes`.

    Every different entry of a column is an index, named by its label, in the order of the program:
    numerical if all of them are numbers, otherwise alphabetical. `time` bins the entries of a column:
    {"when": "day"}, or "hour", "week", "month", "year", "hour_of_day", "weekday", "month_of_year", with the
    meaning and the labels of the program's --columns when:day (it has no year); a number of seconds;
    "width=10" and "quantiles=4" of numbers. Bins without an entry have an index too, so that the axis has
    no gaps. "when:day" in `modes` says the same; a column may have several such modes, which are called as
    they are written then.

    The value of a row is that of the column `values`, or 1. `agg` is the value of a cell with several rows:
    "sum", "mean", "max", "last", "count" or "refuse", as --duplicates of the program means it. The nonzeros
    are sorted by their coordinates. The table is not changed, and nothing is shared with it."""
    table = Frame(frame)
    chosen = modes_of_table(table, modes, time)
    columns = [name for name, _ in chosen]
    names = [str(mode if columns.count(name) > 1 else name) for mode, name in zip(modes, columns)]
    coords: list[Indices] = []
    labels: list[Sequence[object] | None] = []
    for name, rule in chosen:
        indices, texts = mode_of_column(table, name, rule)
        coords.append(indices)
        labels.append(texts)
    if not coords:
        raise ValueError("modes is empty: expected the names of columns")
    if len(coords[0]) == 0:
        raise ValueError("the table has no rows: expected one or more")
    numbers = np.ones(len(coords[0])) if values is None else numbers_of_column(table, values)
    whole = finish(coords, numbers, shape=None, modes=names, labels=labels, missing=None)
    return combined(whole, agg)


def frame_values(frame: Any, name: str) -> Array:
    """The numbers of a column, all of which must be finite."""
    return numbers_of_column(Frame(frame), name)


def modes_of_table(
    table: Frame, modes: Sequence[str], time: Mapping[str, object] | None
) -> list[tuple[Any, Rule]]:
    """The columns that are modes, and how their entries become indices."""
    if isinstance(modes, str):
        raise TypeError(f"modes={modes!r} is a text: expected a list of the names of columns")
    chosen = [split_mode(mode, table) for mode in modes]
    names = [name for name, _ in chosen]
    rules = dict(time or {})
    for name in rules:
        if name not in names:
            known = ", ".join(map(repr, names))
            raise ValueError(f"time has the column {name!r}: expected one of modes, which are {known}")
    return [(name, parse_rule(rules[name], str(name)) if name in rules else rule) for name, rule in chosen]


def frame_places(
    frame: Any,
    modes: Sequence[str],
    known: Sequence[Sequence[str] | None],
    *,
    time: Mapping[str, object] | None = None,
) -> tuple[list[Indices], list[list[str]]]:
    """Of each row of a table its place in a tensor that frame_pieces made of another one: of each mode the
    index among its labels, or -1 for what is not among them. A mode whose known labels are None is numbered
    anew. The labels of all modes are returned too. Numbers in bins of quantiles are put into those known."""
    table = Frame(frame)
    places: list[Indices] = []
    labels: list[list[str]] = []
    for (name, rule), texts in zip(modes_of_table(table, modes, time), known):
        if texts is not None and rule.kind == "quantiles":
            column = factorise(table.column(name))
            check_gaps(column, name)
            indices = places_in_intervals(column.uniques, texts, str(name))[column.codes]
        else:
            indices, found = mode_of_column(table, name, rule)
            if texts is not None:
                place_of = {text: place for place, text in enumerate(texts)}
                indices = np.array([place_of.get(text, -1) for text in found], dtype=np.int64)[indices]
            else:
                texts = found
        places.append(np.ascontiguousarray(indices))
        labels.append(list(texts))
    return places, labels


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
        raise ValueError(
            f"row {int(empty.argmax())} of the column {name!r} is empty: expected an entry in every row of "
            f"a mode"
        )


def name_entries(column: Column) -> tuple[Indices, list[str]]:
    texts = label_texts(column.uniques, column.zone)
    labels = sort_labels(list(set(texts)))
    place_of = {label: place for place, label in enumerate(labels)}
    return np.fromiter((place_of[text] for text in texts), dtype=np.int64, count=len(texts)), labels
