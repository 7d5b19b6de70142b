"""Tables of events and Series in and out, and the same tables read by the program
(polyad/_convert/frames.py, times.py)."""

from __future__ import annotations

import csv
import datetime
import os
import pathlib
import random
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from convert_support import SEEDS, assert_same, random_cases, random_pieces
from polyad._convert import Pieces, frame_pieces, frame_places, pieces_of, to_arrow, to_pandas, to_polars
from polyad._convert.names import sort_labels

EVENTS: dict[str, list[Any]] = {
    "who": ["bob", "ann", "bob", "cid", "ann"],
    "item": [10, 9, 10, 100, 9],
    "when": ["2014-04-01T13:05", "2014-04-03", "2014-04-01 23:59:59", "2014-04-03T00:30+02:00", "1.4.2014"],
    "score": [1.5, 2.0, 3.0, 4.0, 5.0],
}


LIBRARIES = ["lists", "numpy", "pandas", "polars", "pyarrow"]


def frames(columns: dict[str, list[Any]], library: str) -> list[Any]:
    """The same table in the forms that a library has; skips the test where it is not installed."""
    if library == "lists":
        return [columns]
    if library == "numpy":
        return [{name: np.array(column) for name, column in columns.items()}]
    module = pytest.importorskip(library)
    if library == "pandas":
        table = module.DataFrame(columns)
        categories = {name: "category" for name in columns if name != "value"}
        return [
            table,
            table.convert_dtypes(),
            table.astype(categories),
            table.astype(dict.fromkeys(categories, object)),
        ]
    if library == "polars":
        return [module.DataFrame(columns), module.DataFrame(columns).lazy()]
    table = module.table(columns)
    return [table, table.to_reader(), module.concat_tables([table[:2], table[2:]])]


def assert_identical(found: Pieces, expected: Pieces) -> None:
    assert found.shape == expected.shape and found.labels == expected.labels and found.modes == expected.modes
    for a, b in zip(found.coords, expected.coords):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(found.values, expected.values)


# --- tables of every library ---


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_table_is_the_same_tensor_in_every_library(library: str) -> None:
    for frame in frames({name: column for name, column in EVENTS.items() if name != "score"}, library):
        found = frame_pieces(frame, ["who", "item", "when"], time={"when": "day"})
        assert found.modes == ["who", "item", "when"]
        assert found.labels == [
            ["ann", "bob", "cid"],
            ["9", "10", "100"],
            ["2014-04-01", "2014-04-02", "2014-04-03"],
        ]
        assert [indices.tolist() for indices in found.coords] == [[0, 0, 1, 2], [0, 0, 1, 2], [0, 2, 0, 1]]
        assert found.values.tolist() == [1, 1, 2, 1]


@pytest.mark.parametrize("library", LIBRARIES)
def test_values_and_names_are_the_same_in_every_library(library: str) -> None:
    for seed in SEEDS:
        rng = random.Random(seed)
        rows = 1 + rng.randrange(60)
        columns: dict[str, list[Any]] = {
            "name": [rng.choice(["x", "y", "Zoë", "10", "9"]) for _ in range(rows)],
            "whole": [rng.choice([-5, 0, 3, 12, 100]) for _ in range(rows)],
            "real": [rng.choice([-0.5, 1e-7, 2.0, 1e20]) for _ in range(rows)],
            "truth": [rng.random() < 0.5 for _ in range(rows)],
            "date": [datetime.date(2020, 1, rng.randrange(1, 5)) for _ in range(rows)],
            "time": [
                datetime.datetime(2020, 1, 1, rng.randrange(24), rng.randrange(60)) for _ in range(rows)
            ],
            "value": [rng.choice([1.5, -2.0, 0.25]) for _ in range(rows)],
        }
        modes = ["name", "whole", "real", "truth", "date", "time:hour"]
        first = frame_pieces(columns, modes, "value", agg="mean")
        assert first.labels is not None and first.labels[2] == [
            t for t in ["-0.5", "1e-07", "2.0", "1e+20"] if float(t) in columns["real"]
        ]
        for frame in frames(columns, library):
            assert_identical(frame_pieces(frame, modes, "value", agg="mean"), first)


@pytest.mark.parametrize("library", [name for name in LIBRARIES if name != "numpy"])  # which has no zones
def test_times_of_zones_are_those_of_utc(library: str) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    times = [
        datetime.datetime(2014, 4, 1, 1, 30, tzinfo=zone),
        datetime.datetime(2014, 4, 1, 3, 0, tzinfo=zone),
    ]
    expected = {
        "when:day": ["2014-03-31", "2014-04-01"],
        "when:hour": ["2014-03-31T23", "2014-04-01T00", "2014-04-01T01"],
        "when": ["2014-03-31 23:30:00+00:00", "2014-04-01 01:00:00+00:00"],
    }
    for mode, labels in expected.items():
        for frame in frames({"when": times}, library):
            assert frame_pieces(frame, [mode]).labels == [labels]


def test_structured_arrays_are_tables() -> None:
    table = np.array([("a", 2, 0.5), ("b", 1, 1.5)], dtype=[("who", "U4"), ("what", "i4"), ("value", "f4")])
    found = frame_pieces(table, ["who", "what"], "value")
    assert found.labels == [["a", "b"], ["1", "2"]] and found.values.tolist() == [0.5, 1.5]
    assert_identical(pieces_of(table, "value", modes=["who", "what"]), found)


class ByArrow:
    """A table that only hands out an Arrow stream."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


class ByInterchange:
    def __init__(self, table: Any) -> None:
        self.table = table

    def __dataframe__(self, *arguments: Any, **options: Any) -> Any:
        return self.table.__dataframe__(*arguments, **options)


@pytest.mark.parametrize("kind", [ByArrow, ByInterchange])
def test_protocols_of_tables_are_read(kind: Any) -> None:
    arrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas is about to give up the interchange protocol
        found = frame_pieces(kind(arrow.table(EVENTS)), ["who", "item"], "score")
    assert_identical(found, frame_pieces(EVENTS, ["who", "item"], "score"))


def test_unread_protocols_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pandas", "polars", "pyarrow"):
        monkeypatch.delitem(sys.modules, library, raising=False)
    with pytest.raises(TypeError, match="none of which was imported"):
        frame_pieces(ByArrow(None), ["who"])


# --- names, bins and aggregates ---


def test_names_are_sorted_as_the_program_does() -> None:
    assert sort_labels(["10", "9", "-0", "0", "-12", "07", "7", "-3"]) == [
        "-12",
        "-3",
        "-0",
        "0",
        "07",
        "7",
        "9",
        "10",
    ]
    assert sort_labels(["1.5", "1e1", "2", ".5"]) == [".5", "1.5", "2", "1e1"]
    assert sort_labels(["10", "9", "x"]) == ["10", "9", "x"]
    assert sort_labels(["10", "9", "+1"]) == ["+1", "10", "9"]
    assert sort_labels(["10", "9", "inf"]) == ["10", "9", "inf"]
    assert sort_labels(["10", "9.0", "1e999"]) == ["10", "1e999", "9.0"]
    assert sort_labels(["9" * 5000, "1" + "0" * 5000]) == ["9" * 5000, "1" + "0" * 5000]


@pytest.mark.parametrize(
    ("rule", "labels"),
    [
        ("day", ["2013-12-30", "2013-12-31", "2014-01-01"]),
        ("week", ["2014-W01"]),
        ("month", ["2013-12", "2014-01"]),
        ("year", ["2013", "2014"]),
        ("weekday", ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]),
        ("hour_of_day", [f"{hour:02}" for hour in range(24)]),
        (86400, ["2013-12-30T00:00:00", "2013-12-31T00:00:00", "2014-01-01T00:00:00"]),
        (datetime.timedelta(days=2), ["2013-12-29T00:00:00", "2013-12-31T00:00:00"]),
    ],
)
def test_bins_have_no_gaps(rule: Any, labels: list[str]) -> None:
    texts = ["2013-12-30 12:00", "2014-01-01"]
    for times in (
        texts,
        np.array(texts, dtype="datetime64[ns]"),
        np.array(texts, dtype="datetime64[s]").astype(np.int64),
    ):
        if (
            isinstance(rule, (int, datetime.timedelta))
            and not isinstance(times, list)
            and times.dtype.kind == "i"
        ):
            continue  # numbers are binned as numbers
        found = frame_pieces({"when": times}, ["when"], time={"when": rule})
        assert found.labels == [labels]


def test_a_column_may_have_two_modes() -> None:
    table = {"who": ["a", "b"], "when": ["2014-04-01T10:00", "2014-04-02T11:00"]}
    found = frame_pieces(table, ["who", "when:day", "when:hour-of-day"])
    assert found.modes == ["who", "when:day", "when:hour-of-day"] and found.shape == (2, 2, 24)
    with pytest.raises(ValueError, match="modes has 'who' more than once"):
        frame_pieces(table, ["who", "who"])


def test_numbers_are_binned_by_width() -> None:
    found = frame_pieces({"age": [23, 31, 58], "town": ["A", "B", "A"]}, ["town", "age"], time={"age": 10})
    assert found.labels == [["A", "B"], ["[20, 30)", "[30, 40)", "[40, 50)", "[50, 60)"]]


def test_the_order_of_dates_is_found_stated_or_warned_of() -> None:
    assert frame_pieces({"at": ["31/12/2014", "01/02/2014"]}, ["at:month"]).labels == [
        [f"2014-{m:02}" for m in range(2, 13)]
    ]
    assert frame_pieces({"at": ["3/2/2014"]}, ["at:day=dmy"]).labels == [["2014-02-03"]]
    with pytest.warns(UserWarning, match=r"'at' are read with the month first \(3/2/2014\).*'day=dmy'"):
        assert frame_pieces({"at": ["3/2/2014"]}, ["at:day"]).labels == [["2014-03-02"]]
    with pytest.raises(
        ValueError,
        match="'01/13/2014' in the column 'at' has the month first: expected the day, as another date",
    ):
        frame_pieces({"at": ["13/01/2014", "01/13/2014"]}, ["at:day"])
    with pytest.raises(ValueError, match="has the month first: expected the day, as day=dmy says"):
        frame_pieces({"at": ["01/13/2014"]}, ["at:day=dmy"])


@pytest.mark.parametrize(
    ("columns", "modes", "options", "error", "words"),
    [
        ({"a": ["x"]}, ["b"], {}, ValueError, "no column 'b': expected one of 'a'"),
        ({"a": ["x"]}, "a", {}, TypeError, "modes='a' is a text"),
        ({"a": ["x"]}, [], {}, ValueError, "modes is empty"),
        ({"a": []}, ["a"], {}, ValueError, "no rows"),
        ({"a": ["x", None]}, ["a"], {}, ValueError, "row 1 of the column 'a' is empty"),
        ({"a": ["x", ""]}, ["a"], {}, ValueError, "row 1 of the column 'a' is empty"),
        ({"a": [1.0, float("nan")]}, ["a"], {}, ValueError, "row 1 of the column 'a' is empty"),
        (
            {"a": ["x", "y"], "v": [1.0, float("nan")]},
            ["a"],
            {"values": "v"},
            ValueError,
            "row 1 of the column 'v' has the value nan",
        ),
        (
            {"a": ["x", "y"], "v": ["1", "2"]},
            ["a"],
            {"values": "v"},
            TypeError,
            "the column 'v'.*expected numbers",
        ),
        ({"a": ["x", "y"], "v": [1.0]}, ["a"], {"values": "v"}, ValueError, "2 indices .* 1 value"),
        ({"a": ["x", "x"]}, ["a"], {"agg": "refuse"}, ValueError, r"\['x'\] has more than one entry"),
        ({"a": ["x", "x"]}, ["a"], {"agg": "first"}, ValueError, "agg='first'"),
        (
            {"a": ["tea"]},
            ["a:day"],
            {},
            ValueError,
            "'tea' in the column 'a' is no time: expected a date such as",
        ),
        ({"a": ["x"]}, ["a"], {"time": {"b": "day"}}, ValueError, "time has the column 'b'"),
        (
            {"a": ["2014-01-01"]},
            ["a"],
            {"time": {"a": "fortnight"}},
            ValueError,
            "'fortnight': expected one of hour, day",
        ),
        ({"a": ["2014-01-01"]}, ["a"], {"time": {"a": 0}}, ValueError, "expected more than 0"),
        ({"a": ["2014-01-01", "1014-01-01"]}, ["a:hour"], {}, ValueError, "at most 1048576 bins"),
        ({"a": [1, 10**9]}, ["a:width=1"], {}, ValueError, "at most 1048576 bins"),
        ({"a": ["x"]}, ["a:width=1"], {}, ValueError, "'x' in the column 'a' is no number to bin"),
        ({"a": ["0000-01-01"]}, ["a:day"], {}, ValueError, "is too early"),
        ({"a": ["0001-01-02"]}, ["a:day"], {}, ValueError, "too early"),
    ],
)
def test_bad_tables_are_explained(
    columns: Any, modes: Any, options: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        frame_pieces(columns, modes, **options)


def test_a_table_without_modes_is_explained() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=r"a table \(DataFrame\): expected modes="):
        pieces_of(pandas.DataFrame(EVENTS))
    with pytest.raises(TypeError, match="expected the name of a column"):
        pieces_of(pandas.DataFrame(EVENTS), [1, 2], modes=["who"])
    assert_identical(
        pieces_of(pandas.DataFrame(EVENTS), "score", modes=["who", "item"]),
        frame_pieces(EVENTS, ["who", "item"], "score"),
    )


# --- the program ---


def program() -> str:
    """The program, which ./run python names by POLYAD; tests that need it are skipped without it."""
    source = pathlib.Path(__file__).resolve().parents[2]
    places = (os.environ.get("POLYAD"), source / "build/portable/bin/polyad", source / "build/bin/polyad")
    for place in places:
        if place and os.access(place, os.X_OK):
            return str(place)
    pytest.skip("the program is not built")


def read_by_program(
    columns: dict[str, list[Any]], modes: list[str], value: str, agg: str, folder: pathlib.Path
) -> Pieces:
    with open(folder / "table.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))
    found = program()
    command = [
        found,
        "convert",
        "table.csv",
        "table.tns",
        "--columns",
        ",".join(modes),
        "--value",
        value,
        "--duplicates",
        agg,
        "--header",
        "--quiet",
        "--force",
    ]
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    lines = (folder / "table.tns").read_text().splitlines()
    shape = tuple(int(extent) for extent in lines[0].removeprefix("# dims:").replace("x", " ").split())
    fields = [line.split() for line in lines if not line.startswith("#")]
    coords = [np.array([int(row[mode]) - 1 for row in fields], dtype=np.int64) for mode in range(len(modes))]
    values = np.array([float(row[-1]) for row in fields])
    labels: list[list[str] | None] = []
    for mode in range(len(modes)):
        (path,) = folder.glob(f"table.mode-{mode + 1}*.map")
        labels.append(path.read_text(encoding="utf-8").splitlines())
        path.unlink()
    return Pieces(coords, values, shape, None, labels)


BINS = ["", ":hour", ":day", ":week", ":month", ":hour-of-day", ":weekday", ":month-of-year"]


def random_time(rng: random.Random, style: int) -> str:
    spread = rng.choice([3, 400, 100_000])
    when = datetime.datetime(2014, 3, 31) + datetime.timedelta(
        hours=rng.randrange(-spread, spread), seconds=rng.randrange(3600)
    )
    clock = rng.choice(
        [
            "",
            f" {when:%H:%M}",
            f"T{when:%H:%M:%S}",
            f" {when:%H:%M:%S}.250",
            f" {when:%I:%M %p}",
            f"T{when:%H}",
        ]
    )
    zone = rng.choice(["", "Z", " UTC", "+02:00", "-0530", "+05"]) if clock else ""
    if style == 0:
        return when.strftime(rng.choice(["%Y-%m-%d", "%Y/%m/%d", "%Y%m%d"])) + clock + zone
    if style == 1:
        return rng.choice([f"{when.day}.{when.month}.{when.year}", f"{when:%Y-%m-%d}"]) + clock + zone
    if style == 2:
        return f"{when.month}/{when.day}/{when.year}" + clock + zone
    seconds = int((when - datetime.datetime(1970, 1, 1)).total_seconds())
    if style == 3:
        return str(seconds * 10 ** rng.choice([0, 3, 6, 9])) if seconds >= 10**9 else str(max(seconds, 0))
    return rng.choice([str(max(seconds, 0)), f"{max(seconds, 0)}.75", "20140401", f"{max(seconds, 0)}.0"])


@pytest.mark.parametrize("seed", range(40))
def test_the_program_reads_the_same_tensor(seed: int, tmp_path: pathlib.Path) -> None:
    rng = random.Random(seed)
    rows = rng.choice([1, 2, 30, 200])
    names = rng.choice(
        [
            ["x", "y", "z z"],
            ["10", "9", "-3", "07", "7"],
            ["1.5", "1e1", "2", ".5"],
            ["b", "Zoë", "ä", "€", "B"],
            ["9", "10", "+1"],
        ]
    )
    numbers: list[float] = rng.choice(
        [[23, 31, 58, 64, -7], [0.1, 0.3, 0.7, 0.8999999, 1.0], [1e6, 2.5e6, -3e6]]
    )
    style = rng.randrange(5)
    columns: dict[str, list[Any]] = {
        "name": [rng.choice(names) for _ in range(rows)],
        "when": [random_time(rng, style) for _ in range(rows)],
        "number": [rng.choice(numbers) for _ in range(rows)],
        "score": [round(rng.uniform(-5, 5), 3) for _ in range(rows)],
    }
    if style == 2:
        columns["when"][0] = "12/31/2014"  # shows the order
    width = rng.choice(
        [
            "",
            ":quantiles=3",
            ":quantiles=1",
            ":width=0.1" if abs(numbers[0]) < 1 else f":width={rng.choice([7, 10, 1e5])}",
        ]
    )
    if abs(numbers[0]) >= 1e6 and width in (":width=7", ":width=10"):
        width = ":width=2.5e5"
    modes = ["name", "when" + rng.choice(BINS), "number" + width]
    rng.shuffle(modes)
    value, agg = rng.choice(["1", "score"]), rng.choice(["sum", "mean", "max", "last", "count"])
    expected = read_by_program(columns, modes, value, agg, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = frame_pieces(
            {**columns, "number": [str(n) for n in columns["number"]]},
            modes,
            None if value == "1" else value,
            agg=agg,
        )
    assert found.labels == expected.labels
    assert found.shape == expected.shape
    for a, b in zip(found.coords, expected.coords):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(found.values, expected.values)
    if "1e1" not in names:
        typed = {**columns, "when": [int(t) for t in columns["when"]]} if style == 3 else columns
        assert_identical(frame_pieces(typed, modes, None if value == "1" else value, agg=agg), found)


def test_bad_times_are_refused_where_the_program_does(tmp_path: pathlib.Path) -> None:
    found = program()
    texts = [
        "2014-4-1",
        "2014.04.01",
        "2014-04-31",
        "2014-04-01T24:00",
        "2014-04-01 13:60",
        "2014-04-01 13:05 PM",
        "2014-04-01T1:05 pm",
        "13:05",
        "1/2/14",
        "2014-04-01+02:00",
        "2014-04-01T13:05+16:00",
        "2014-04-01 12 AM",
        "2014-04-01T",
        "20140401T1305",
        "1e9",
        "+5",
        "-5",
        "9.3e18",
        "5e17",
        "99999999999",
        "100000000000",
        "18990101",
        "20149999",
        "19000101",
        "1.2.2014",
        "1-02-2014",
        "01-2-2014",
        "0000-01-01",
        "0001-01-07",
        "0001-01-08",
        "9999-12-31",
        "2014-04-01T13:05:60",
        "2014-04-01T13:05:61",
        "2014-04-01T13:05:30.",
        "2014-04-01 13:05 +02",
        "2014-04-01 13:05 GMT",
        "2014-04-01 13:05UTC",
        "2014-04-01x",
        "nan",
        "inf",
        "2014-04-01T13:05-5",
        "12014-01-01",
    ]
    for text in texts:
        (tmp_path / "t.csv").write_text(f'who,when\na,"{text}"\n')
        command = [
            found,
            "convert",
            "t.csv",
            "t.tns",
            "--columns",
            "who,when:hour",
            "--value",
            "1",
            "--header",
            "--quiet",
            "--force",
        ]
        done = subprocess.run(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        expected = (tmp_path / "t.mode-2-when.map").read_text().strip() if done.returncode == 0 else None
        (tmp_path / "t.mode-2-when.map").unlink(missing_ok=True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels = frame_pieces({"when": [text]}, ["when:hour"]).labels
            result = labels[0][0] if labels and labels[0] else None
        except ValueError:
            result = None
        assert result == expected, (text, done.stdout)


# --- Series, and tables out ---


def test_series_go_out_and_in() -> None:
    pytest.importorskip("pandas")
    for seed, x in random_cases():
        if x.ndim == 1:  # an index without levels has no labels that do not occur
            x = random_pieces(seed, 1, nnz=x.shape[0])
        if seed % 3:
            x.modes = [f"m{mode}" for mode in range(x.ndim)]
        x.labels = some_labels(x, seed)
        back = pieces_of(to_pandas(x))
        assert_same(back, x)
        assert back.modes == x.modes
        assert (back.labels or [None] * x.ndim) == x.labels


def some_labels(x: Pieces, seed: int) -> list[list[str] | None]:
    """Every other mode has labels."""
    texts = [[f"{mode}-{index:02}" for index in range(extent)] for mode, extent in enumerate(x.shape)]
    return [of_mode if (mode + seed) % 2 else None for mode, of_mode in enumerate(texts)]


def test_series_values_are_shared() -> None:
    pytest.importorskip("pandas")
    x = random_pieces(3, 3, nnz=10)
    series = to_pandas(x)
    assert np.shares_memory(pieces_of(series).values, series.to_numpy())


def test_a_series_of_counts_is_a_tensor() -> None:
    pandas = pytest.importorskip("pandas")
    counts = pandas.DataFrame(EVENTS).groupby(["who", "item"]).size()
    found = pieces_of(counts)
    assert found.modes == ["who", "item"] and found.labels == [["ann", "bob", "cid"], ["9", "10", "100"]]
    assert found.values.tolist() == [2, 2, 1]
    missing = pandas.Series([1.0, 2.0], index=pandas.MultiIndex.from_tuples([("a", "x"), (None, "y")]))
    with pytest.raises(ValueError, match="entry 1 of the Series has no name in level 0"):
        pieces_of(missing)
    with pytest.raises(TypeError, match="the values of the Series have the dtype"):
        pieces_of(pandas.Series(["p", "q"], index=pandas.MultiIndex.from_tuples([("a", "x"), ("b", "y")])))


def test_series_with_types_of_pandas_are_read() -> None:
    pandas = pytest.importorskip("pandas")
    index = pandas.MultiIndex.from_tuples([("a", "x"), ("b", "y")])
    assert pieces_of(pandas.Series([1, 2], index=index, dtype="Int64")).values.tolist() == [1, 2]
    with_gap = pandas.Series([1, None], index=index, dtype="Float64")
    assert pieces_of(with_gap, missing="nan").values.tolist() == [1]
    with pytest.raises(ValueError, match="is nan"):
        pieces_of(with_gap)


def test_repeated_labels_go_to_pandas() -> None:
    pytest.importorskip("pandas")
    x = Pieces(
        [np.array([0, 1, 2]), np.array([0, 0, 1])],
        np.array([1.0, 2.0, 3.0]),
        (3, 2),
        ["a", "b"],
        [["x", "y", "x"], None],
    )
    assert to_pandas(x).to_dict() == {("x", 0): 1.0, ("y", 0): 2.0, ("x", 1): 3.0}


def named_cells(x: Pieces) -> dict[tuple[str, ...], float]:
    names = [
        labels or [str(index) for index in range(extent)] for labels, extent in zip(x.labels or [], x.shape)
    ]
    cells = zip(*[[names[m][index] for index in indices] for m, indices in enumerate(x.coords)])
    return dict(zip(cells, x.values.tolist()))


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_go_out_and_in(library: str) -> None:
    pytest.importorskip(library)
    for seed in SEEDS:
        x = random_pieces(seed, 1 + seed % 5, nnz=7)
        x.modes = [f"m{mode}" for mode in range(x.ndim)]
        x.labels = some_labels(x, seed)
        table = (to_polars if library == "polars" else to_arrow)(x)
        assert named_cells(frame_pieces(table, x.modes, "value")) == named_cells(x)


def test_columns_out_have_names() -> None:
    polars = pytest.importorskip("polars")
    x = Pieces([np.array([0]), np.array([1])], np.array([1.5]), (2, 2), ["value", "b"])
    assert to_polars(x).columns == ["value", "b", "value_"]
    x.modes = None
    assert to_polars(x).columns == ["mode1", "mode2", "value"]
    assert isinstance(to_polars(x), polars.DataFrame)


# --- places of other tables ---


def test_rows_of_another_table_are_found_by_their_labels() -> None:
    train = {"who": ["a", "b", "b"], "when": ["2014-04-01", "2014-04-03", "2014-04-02"], "age": [1, 5, 40]}
    modes = ["who", "when:day", "age:quantiles=2"]
    known = frame_pieces(train, modes).labels
    assert known is not None and known[2] == ["[1, 40)", "[40, 40]"]
    other = {
        "who": ["c", "b", "b"],
        "when": ["2014-04-02 13:05", "2014-04-04", "2014-04-01"],
        "age": [4.5, 40, 41],
    }
    places, labels = frame_places(other, modes, known)
    assert [indices.tolist() for indices in places] == [
        [-1, 1, 1],
        [1, -1, 0],
        [0, 1, -1],
    ] and labels == known
    places, labels = frame_places(other, modes, [None, *known[1:]])
    assert places[0].tolist() == [1, 0, 0] and labels[0] == ["b", "c"]
    again, _ = frame_places(train, modes, known)
    assert [indices.tolist() for indices in again] == [[0, 1, 1], [0, 2, 1], [0, 0, 1]]
