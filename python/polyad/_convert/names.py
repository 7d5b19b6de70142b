"""Names of indices as the program writes and sorts them (polyad/tensor/labels.cpp, docs/formats.md)."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

WHOLE = re.compile(r"-?[0-9]+", re.ASCII)
NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
BREAKS = str.maketrans("\n\r", "  ")


def sort_labels(labels: Sequence[str]) -> list[str]:
    """Distinct labels in numerical order if all of them are numbers, otherwise in alphabetical order."""
    if all(WHOLE.fullmatch(label) for label in labels):
        return sort_whole_numbers(labels)
    numbers = [number_of(label) for label in labels]
    if all(number is not None for number in numbers):
        return [label for _, label in sorted(zip((number or 0.0 for number in numbers), labels))]
    return sorted(labels)


def sort_whole_numbers(labels: Sequence[str]) -> list[str]:
    """Of any length; "07" comes before "7", which has the same value, and "-0" before "0"."""

    def size(label: str) -> tuple[int, str]:
        digits = label.lstrip("-0")
        return len(digits), digits

    below = sorted(label for label in labels if label.startswith("-"))
    above = sorted(label for label in labels if not label.startswith("-"))
    return sorted(below, key=size, reverse=True) + sorted(above, key=size)


def number_of(label: str) -> float | None:
    """Of a text with or without decimals and exponent, unless it is too large or too small for a float."""
    if not NUMBER.fullmatch(label):
        return None
    number = float(label)
    if math.isinf(number) or (
        number == 0 and any(digit in "123456789" for digit in re.split("[eE]", label)[0])
    ):
        return None
    return number


def label_texts(names: Sequence[object] | np.ndarray[Any, Any], zone: str = "") -> list[str]:
    """Names as the program reads them in a table: whole numbers as they are, others as the shortest number
    that is read back as the same, truth values as 1 and 0, dates as 2014-04-01, times as 2014-04-01
    13:05:00, or as dates if all of them are at midnight; line breaks become blanks."""
    if isinstance(names, np.ndarray):
        if names.dtype.kind == "M":
            return time_texts(names, zone)
        names = names.tolist()
    if names and all(isinstance(name, datetime.datetime) for name in names):
        return datetime_texts([name for name in names if isinstance(name, datetime.datetime)])
    return [label_text(name) for name in names]


def datetime_texts(times: list[datetime.datetime]) -> list[str]:
    if len({time.tzinfo is None for time in times}) > 1:
        raise ValueError(
            "some of the times have a time zone and some have none: expected all of them to have one, or none"
        )
    zone = "" if times[0].tzinfo is None else "+00:00"
    plain = [time.astimezone(datetime.timezone.utc).replace(tzinfo=None) if zone else time for time in times]
    return time_texts(np.array(plain, dtype="datetime64[us]"), zone)


def label_text(name: object) -> str:
    if isinstance(name, str):
        return name.translate(BREAKS) if "\n" in name or "\r" in name else name
    if isinstance(name, (bool, np.bool_)):
        return "1" if name else "0"
    if isinstance(name, (float, np.floating)):
        return repr(float(name))
    if isinstance(name, bytes):
        return name.decode("utf-8", "surrogateescape").translate(BREAKS)
    return str(name).translate(BREAKS)


def time_texts(times: np.ndarray[Any, Any], zone: str) -> list[str]:
    if not zone and (times == times.astype("datetime64[D]")).all():
        return [str(text) for text in np.datetime_as_string(times.astype("datetime64[D]"))]
    if (times == times.astype("datetime64[s]")).all():
        times = times.astype("datetime64[s]")
    return [str(text).replace("T", " ") + zone for text in np.datetime_as_string(times)]
