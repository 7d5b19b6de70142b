"""Bins of times and numbers, with the meaning and the labels of the program's --columns NAME:day,
NAME:width=10 and so on (polyad/io/text/time_text.cpp, number_bins.cpp; docs/formats.md)."""

from __future__ import annotations

import datetime
import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .names import NUMBER
from .pieces import Indices

MOST_BINS = 1 << 20
TIME_BINS = ("hour", "day", "week", "month", "year", "hour-of-day", "weekday", "month-of-year")
CYCLES = {"hour-of-day": 24, "weekday": 7, "month-of-year": 12}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
EPOCH = datetime.date(1970, 1, 1).toordinal()
EARLIEST_SECOND = (
    datetime.date(1, 1, 8).toordinal() - EPOCH
) * 86400  # of which the week is in the year 1 too


@dataclass(frozen=True)
class Rule:
    """How the entries of a column become indices: "label", one of TIME_BINS, "seconds", "width" or
    "quantiles"."""

    kind: str = "label"
    size: float = 0.0  # the seconds, the width, or the number of quantiles
    dates: str = ""  # "dmy" or "mdy": stated; else found


def parse_rule(rule: object, column: str) -> Rule:
    """Of "day", "hour_of_day", "month=dmy", "width=10", "quantiles=4", "label", or of a number of seconds."""
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, (int, float)) and not isinstance(rule, bool):
        if not (rule > 0 and math.isfinite(rule)):
            raise ValueError(f"the bins of {column!r} are {rule} wide: expected more than 0")
        return Rule("seconds", float(rule))
    if isinstance(rule, datetime.timedelta):
        return parse_rule(rule.total_seconds(), column)
    if isinstance(rule, str):
        parsed = parse_rule_text(rule)
        if parsed is not None:
            return parsed
    raise ValueError(
        f"the bins of {column!r} are {rule!r}: expected one of {', '.join(TIME_BINS)}, one of them with "
        f"=dmy or =mdy, a number of "
        "seconds, 'width=10' or 'quantiles=4'"
    )


def parse_rule_text(text: str) -> Rule | None:
    name, equals, size = text.replace("_", "-").partition("=")
    if name in TIME_BINS and (not equals or size in ("dmy", "mdy")):
        return Rule(name, dates=size)
    if name == "label" and not equals:
        return Rule()
    if name not in ("width", "quantiles") or not NUMBER.fullmatch(size):
        return None
    number = float(size)
    if name == "width" and number > 0 and math.isfinite(number):
        return Rule("width", number)
    if name == "quantiles" and 1 <= number <= MOST_BINS and number == math.floor(number):
        return Rule("quantiles", number)
    return None


# --- times as seconds since 1970 ---


DATE = re.compile(
    r"(?:(?P<digits>[0-9]{8})(?![0-9])|(?P<first>[0-9]{1,4})(?P<sep>[-/.])(?P<second>[0-9]{1,2})(?P=sep)(?P<third>[0-9]{1,4}))"
    r"(?:[T ](?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2})(?::(?P<seconds>[0-9]{2})(?:\.[0-9]*)?)?)?(?: "
    r"?(?P<half>AM|am|PM|pm))?"
    r"(?P<zone>Z|UTC|GMT| UTC| GMT|(?: "
    r"?(?P<sign>[+-])(?P<zone_hours>[0-9]{2})(?::?(?P<zone_minutes>[0-9]{2}))?))?)?",
    re.ASCII,
)
DIGITS_OF_A_DATE = re.compile(r"(?:19|20)[0-9]{6}", re.ASCII)
REAL = re.compile(r"[+]?" + NUMBER.pattern, re.ASCII)


def seconds_of_text(text: str, day_first: bool) -> int | None:
    """Seconds since 1970 in UTC, if the text is a time. Fractions of seconds are dropped."""
    if REAL.fullmatch(text) and not DIGITS_OF_A_DATE.fullmatch(text):
        return seconds_of_number(float(text))
    found = DATE.fullmatch(text)
    if found is None:
        return None
    day = day_of(found, day_first)
    if day is None:
        return None
    clock = seconds_of_clock(found)
    return None if clock is None else day * 86400 + clock


def day_of(found: re.Match[str], day_first: bool) -> int | None:
    if found["digits"]:
        digits = found["digits"]
        return day_number(digits[:4], digits[4:6], digits[6:])
    first, second, third, separator = found["first"], found["second"], found["third"], found["sep"]
    if separator == "-" and len(second) < 2:
        return None
    if len(first) == 4:
        if separator == "." or len(third) > 2 or (separator == "-" and len(third) < 2):
            return None
        return day_number(first, second, third)
    if len(third) != 4:
        return None
    if separator == "." or day_first:
        return day_number(third, second, first)
    return day_number(third, first, second)


def day_number(year: str, month: str, day: str) -> int | None:
    try:
        return datetime.date(int(year), int(month), int(day)).toordinal() - EPOCH
    except ValueError:
        return None


def seconds_of_clock(found: re.Match[str]) -> int | None:
    if found["hour"] is None:
        return 0
    hour, minute, second = int(found["hour"]), int(found["minute"] or 0), int(found["seconds"] or 0)
    if hour > 23 or minute > 59 or second > 60:
        return None
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"] in ("PM", "pm") else 0)
    ahead = 0
    if found["sign"]:
        hours, minutes = int(found["zone_hours"]), int(found["zone_minutes"] or 0)
        if hours > 15 or minutes > 59:
            return None
        ahead = (hours * 60 + minutes) * (60 if found["sign"] == "+" else -60)
    return hour * 3600 + minute * 60 + min(second, 59) - ahead


def seconds_of_number(number: float) -> int | None:
    """Of seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by their size."""
    if not 0 <= number <= 9.2e18:
        return None
    for largest, unit in ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9)):
        if number < largest:
            return int(number / unit)
    return None


NO_TIME = "expected a date such as 2014-04-01T13:05, 4/1/2014 1:05 PM or 1.4.2014, or seconds since 1970"


def seconds_of(uniques: np.ndarray[Any, Any] | list[Any], rule: Rule, column: str) -> Indices:
    """Of all different entries of a column of times."""
    if isinstance(uniques, np.ndarray) and uniques.dtype.kind == "M":
        return check_earliest(uniques.astype("datetime64[s]").astype(np.int64), uniques, column)
    if isinstance(uniques, np.ndarray) and uniques.dtype.kind in "iu":
        seconds, is_left = seconds_of_whole_numbers(uniques)
        entries: list[Any] | np.ndarray[Any, Any] = uniques
    else:
        entries = [entry if type(entry) is str else text_of_time(entry) for entry in uniques]
        seconds, is_left = seconds_of_iso_texts(entries)
    left = np.flatnonzero(is_left)
    day_first = dates_have_day_first([text_of_time(entries[place]) for place in left], rule, column)
    for place in left:
        text = text_of_time(entries[place])
        second = seconds_of_text(text, day_first)
        if second is None:
            raise ValueError(fault_of_time(text, day_first, rule, column))
        seconds[place] = second
    return check_earliest(seconds, entries, column)


def seconds_of_iso_texts(entries: list[str]) -> tuple[Indices, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Of those that are written as 2014-04-01, 2014-04-01T13:05 or 2014-04-01 13:05:30, all at once; and
    which are left, because they are written otherwise or NumPy finds a fault in one of them."""
    seconds = np.zeros(len(entries), dtype=np.int64)
    is_left = np.ones(len(entries), dtype=np.bool_)
    lengths = np.fromiter(map(len, entries), dtype=np.int64, count=len(entries))
    for length in (10, 16, 19):
        places = np.flatnonzero(lengths == length)
        if len(places) == 0:
            continue
        texts = np.array([entries[place] for place in places], dtype=f"U{length}")
        letters = texts.view(np.uint32).reshape(-1, length)
        fits = has_form(letters, "0000-00-00T00:00:00"[:length])
        try:
            seconds[places[fits]] = texts[fits].astype("datetime64[s]").astype(np.int64)
        except ValueError:
            continue  # one by one, which finds the fault
        is_left[places[fits]] = False
    return seconds, is_left


def seconds_of_whole_numbers(
    numbers: np.ndarray[Any, Any],
) -> tuple[Indices, np.ndarray[Any, np.dtype[np.bool_]]]:
    """As seconds_of_number; left are those with the digits of a date, and those that are no times."""
    reals = numbers.astype(np.float64)
    seconds = np.zeros(len(numbers), dtype=np.int64)
    is_left = (reals < 0) | (reals > 9.2e18) | ((reals >= 1.9e7) & (reals < 2.1e7))
    smallest = 0.0
    for largest, unit in ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9)):
        fits = ~is_left & (reals >= smallest) & (reals < largest)
        seconds[fits] = (reals[fits] / unit).astype(np.int64)
        smallest = largest
    return seconds, is_left


def has_form(letters: np.ndarray[Any, Any], form: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    fits = np.ones(len(letters), dtype=np.bool_)
    for column, sign in enumerate(form):
        letter = letters[:, column]
        if sign == "0":
            fits &= (letter >= ord("0")) & (letter <= ord("9"))
        else:
            fits &= (letter == ord(sign)) | ((sign == "T") & (letter == ord(" ")))
    return fits


def text_of_time(entry: object) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, datetime.datetime):
        if entry.tzinfo is not None:
            entry = entry.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return entry.isoformat()
    if isinstance(entry, (bool, np.bool_)):
        return repr(entry)  # which is no time
    if isinstance(entry, (float, np.floating)):
        return repr(float(entry))
    return str(entry)


def check_earliest(seconds: Indices, entries: Sequence[Any] | np.ndarray[Any, Any], column: str) -> Indices:
    if len(seconds) and int(seconds.min()) < EARLIEST_SECOND:
        raise ValueError(
            f"{str(entries[int(seconds.argmin())])!r} in the column {column!r} is too early: expected times "
            f"from "
            "the year 1 on"
        )
    return seconds


def date_signs(text: str) -> tuple[bool, bool]:
    """Whether a date may have the month first, and the day first, where the two are different times."""
    with_month, with_day = seconds_of_text(text, False), seconds_of_text(text, True)
    return (False, False) if with_month == with_day else (with_month is not None, with_day is not None)


def dates_have_day_first(entries: list[str], rule: Rule, column: str) -> bool:
    """One rule for all dates of a column that end with the year and have slashes or hyphens: that of the
    option, or that of the dates that can be read in one way only."""
    if rule.dates:
        return rule.dates == "dmy"
    ambiguous = ""
    for text in entries:
        if ("/" not in text and "-" not in text) or text[:4].isdecimal():
            continue  # no date that ends with the year
        month_first, day_first = date_signs(text)
        if month_first != day_first:
            return day_first
        if month_first and not ambiguous:
            ambiguous = text
    if ambiguous:
        kind = rule.kind if rule.kind in TIME_BINS else "day"
        warnings.warn(
            f"the dates in the column {column!r} are read with the month first ({ambiguous}), as none of "
            f"them shows which it is; "
            f"'{kind}=dmy' reads them with the day first, '{kind}=mdy' confirms the month",
            stacklevel=2,
        )
    return False


def fault_of_time(text: str, day_first: bool, rule: Rule, column: str) -> str:
    month_sign, day_sign = date_signs(text)
    where = f"{text!r} in the column {column!r}"
    if month_sign == day_sign:
        return f"{where} is no time: {NO_TIME}"
    found, expected = ("month", "day") if month_sign else ("day", "month")
    reason = (
        f"as {rule.kind}={rule.dates} says" if rule.dates else "as another date in the same column has it"
    )
    return f"{where} has the {found} first: expected the {expected}, {reason}"


# --- bins of times ---


def bins_of(seconds: Indices, kind: str, size: float) -> Indices:
    """The number of the bin of each second; bins that follow each other have numbers that do."""
    days = seconds // 86400
    if kind == "seconds":
        return np.floor_divide(seconds, size).astype(np.int64) if size != int(size) else seconds // int(size)
    if kind == "hour":
        return seconds // 3600
    if kind == "week":
        return (days + 3) // 7  # 1970 began with a Thursday
    if kind == "hour-of-day":
        return (seconds - days * 86400) // 3600
    if kind == "weekday":
        return (days + 3) % 7
    if kind in ("month", "year", "month-of-year"):
        months: Indices = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) + 1970 * 12
        return months if kind == "month" else months // 12 if kind == "year" else months % 12
    return days


def label_of(number: int, kind: str, size: float) -> str:
    if kind == "hour":
        return f"{label_of(number // 24, 'day', 0)}T{number % 24:02}"
    if kind == "week":
        year, week, _ = datetime.date.fromordinal(7 * number - 3 + EPOCH).isocalendar()
        return f"{year:04}-W{week:02}"
    if kind == "month":
        return f"{number // 12:04}-{number % 12 + 1:02}"
    if kind == "year":
        return f"{number:04}"
    if kind == "hour-of-day":
        return f"{number:02}"
    if kind == "weekday":
        return WEEKDAYS[number]
    if kind == "month-of-year":
        return MONTHS[number]
    if kind == "seconds":
        start = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=number * size)
        return start.isoformat(timespec="auto")
    return datetime.date.fromordinal(number + EPOCH).isoformat()


def time_bins(
    uniques: np.ndarray[Any, Any] | list[Any], rule: Rule, column: str
) -> tuple[Indices, list[str]]:
    """The index of each entry, and the labels of all bins, those without an entry included, so that the
    axis has no gaps."""
    bins = bins_of(seconds_of(uniques, rule, column), rule.kind, rule.size)
    if rule.kind in CYCLES:
        first, last = 0, CYCLES[rule.kind] - 1
    elif len(bins) == 0:
        first, last = 0, -1
    else:
        first, last = int(bins.min()), int(bins.max())
    if last - first >= MOST_BINS:
        raise ValueError(
            f"the times in the column {column!r} extend from {label_of(first, rule.kind, rule.size)} to "
            f"{label_of(last, rule.kind, rule.size)}: expected at most {MOST_BINS} bins; longer ones, such "
            f"as months, are fewer"
        )
    return bins - first, [label_of(number, rule.kind, rule.size) for number in range(first, last + 1)]
