"""Progress by bars of other packages, and sparklines (polyad/_bars.py)."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import pytest
from polyad._bars import Bars, Trend, is_bar, sparkline


@dataclass
class Told:
    phase: str
    done: int
    total: int
    unit: str = "iterations"
    figure: str = ""


class Recorder:
    """Made and told as bars of tqdm are."""

    made: list[Recorder] = []

    def __init__(self, total: int | None = None, desc: str = "", unit: str = "") -> None:
        self.total, self.desc, self.unit, self.n, self.postfix, self.is_open = total, desc, unit, 0, "", True
        Recorder.made.append(self)

    def update(self, count: int) -> None:
        assert self.is_open and count >= 0
        self.n += count

    def set_postfix_str(self, text: str) -> None:
        self.postfix = text

    def close(self) -> None:
        self.is_open = False


def test_every_phase_has_a_bar() -> None:
    Recorder.made = []
    assert is_bar(Recorder) and not is_bar(print) and not is_bar("auto")
    bars = Bars(Recorder)
    for state in (
        Told("reading", 5, 10, "bytes"),
        Told("reading", 10, 10, "bytes"),
        Told("iterating", 3, 0, figure="fit 0.5"),
        Told("iterating", 9, 0, figure="fit 0.7"),
        Told("iterating", 2, 0),
    ):
        bars(state)
    bars.close()
    found = [(bar.desc, bar.total, bar.n, bar.unit, bar.postfix, bar.is_open) for bar in Recorder.made]
    assert found == [
        ("reading", 10, 10, " byte", "", False),
        ("iterating", None, 9, " iteration", "fit 0.7", False),
        ("iterating", None, 2, " iteration", "", False),
    ]


def test_bars_of_tqdm_are_made_and_used() -> None:
    tqdm: Any = pytest.importorskip("tqdm").tqdm
    out = io.StringIO()

    class ToText(tqdm):  # type: ignore[misc]
        def __init__(self, **options: Any) -> None:
            super().__init__(file=out, mininterval=0, **options)

    bars = Bars(ToText)
    for done in (1, 2, 4):
        bars(Told("iterating", done, 4, figure=f"fit 0.{done}"))
    bars.close()
    assert "iterating: 100%" in out.getvalue() and "4/4" in out.getvalue() and "fit 0.4" in out.getvalue()
    mine = ToText(total=1)
    bars = Bars(mine)
    bars(Told("reading", 3, 8))
    bars(Told("iterating", 2, 5))
    bars.close()
    assert (mine.n, mine.total, mine.desc) == (2, 5, "iterating: ") and not mine.disable
    mine.close()


def test_sparklines_reach_from_the_least_to_the_largest() -> None:
    assert sparkline([]) == "" and sparkline([3.0]) == "▁" and sparkline([1, 1]) == "▁▁"
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert len(sparkline(list(range(1000)), 10)) == 10 and sparkline(list(range(1000)), 10)[-1] == "█"
    trend = Trend()
    for figure in ("fit 0.1", "fit 0.2", "no number", "fit -1e-3"):
        line = trend.line(Told("iterating", 1, 4, figure=figure))
    assert line == "▅█▁"
    assert trend.line(Told("writing", 1, 4, figure="fit 5")) == "▁"
