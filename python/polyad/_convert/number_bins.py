"""Bins of numbers, with the meaning and the labels of the program's --columns NAME:width=10 and
NAME:quantiles=4 (polyad/io/text/number_bins.cpp; docs/formats.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .pieces import Indices
from .times import MOST_BINS, REAL


def numbers_of(uniques: np.ndarray[Any, Any] | list[Any], column: str) -> list[float]:
    numbers = []
    for entry in uniques.tolist() if isinstance(uniques, np.ndarray) else uniques:
        try:
            if isinstance(entry, (str, bytes)) and not REAL.fullmatch(str(entry)):
                raise ValueError
            number = float(entry)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"{str(entry)!r} in the column {column!r} is no number to bin")
        numbers.append(number)
    return numbers


def bound_text(number: float, width: float) -> str:
    bound = number * width
    return f"{bound if bound != 0 else 0.0:.15g}"


def width_bin(number: float, width: float, column: str) -> int:
    """That of the interval [k * width, (k + 1) * width) whose bounds, as written, hold the number."""
    if not abs(number / width) < 1e13:
        raise ValueError(f"{number!r} in the column {column!r} is too large for bins of {width:g}")
    place = math.floor(number / width)
    if abs(number) < 2.0**50 and number == math.floor(number) and width == math.floor(width):
        return place
    ratio = number / width
    nearest = math.copysign(math.floor(abs(ratio) + 0.5), ratio)
    if abs(ratio - nearest) > 1e-9 * max(1.0, abs(place)):
        return place
    if number >= float(bound_text(place + 1, width)):
        place += 1
    if number < float(bound_text(place, width)):
        place -= 1
    return place


def width_bins(
    uniques: np.ndarray[Any, Any] | list[Any], width: float, column: str
) -> tuple[Indices, list[str]]:
    bins = [width_bin(number, width, column) for number in numbers_of(uniques, column)]
    if not bins:
        return np.zeros(0, dtype=np.int64), []
    first, last = min(bins), max(bins)

    def label(place: int) -> str:
        return f"[{bound_text(place, width)}, {bound_text(place + 1, width)})"

    if last - first >= MOST_BINS:
        raise ValueError(
            f"the numbers in the column {column!r} extend from {label(first)} to {label(last)}: expected at "
            f"most {MOST_BINS} bins; "
            "those of a larger width are fewer"
        )
    return np.array(bins, dtype=np.int64) - first, [label(place) for place in range(first, last + 1)]


def number_label(number: float) -> str:
    """The shortest text that is read back as the same number; whole numbers have no decimals."""
    text = repr(number + 0.0 if number != 0 else 0.0)
    return text[:-2] if text.endswith(".0") else text


def quantile_bins(
    uniques: np.ndarray[Any, Any] | list[Any], counts: Indices, num_bins: int, column: str
) -> tuple[Indices, list[str]]:
    """Intervals of about as many entries each; counts[i] entries are uniques[i]."""
    numbers = np.array(numbers_of(uniques, column), dtype=np.float64) + 0.0
    distinct, place = np.unique(numbers, return_inverse=True)
    entries = np.bincount(place, weights=counts, minlength=len(distinct)).astype(np.int64)
    smaller = np.cumsum(entries) - entries
    total = max(int(entries.sum()), 1)
    bins = np.array([num_bins * int(count) // total for count in smaller], dtype=np.int64)
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    texts = [number_label(float(number)) for number in distinct]
    labels = [f"[{texts[a]}, {texts[b]})" for a, b in zip(starts[:-1], starts[1:])]
    if len(starts):
        labels.append(f"[{texts[starts[-1]]}, {texts[-1]}]")
    bin_of = np.searchsorted(starts, np.arange(len(distinct)), side="right") - 1
    return bin_of[place.reshape(-1)].astype(np.int64), labels


def places_in_intervals(
    uniques: np.ndarray[Any, Any] | list[Any], labels: Sequence[str], column: str
) -> Indices:
    """The place of the interval "[1, 5)" or "[12, 40]" that holds each number, or -1."""
    bounds = [[float(bound) for bound in label[1:-1].split(", ")] for label in labels]
    lower, upper = np.array(bounds).T
    numbers = np.array(numbers_of(uniques, column), dtype=np.float64)
    found = np.searchsorted(lower, numbers, side="right") - 1
    is_closed = np.array([label.endswith("]") for label in labels])
    is_inside = (numbers < upper[found]) | (is_closed[found] & (numbers == upper[found]))
    return np.where((found >= 0) & is_inside, found, -1).astype(np.int64)
