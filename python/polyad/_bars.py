"""Progress by bars of other packages, such as tqdm, and as a small picture of how a figure went."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

LEVELS = "▁▂▃▄▅▆▇█"


class State(Protocol):
    """What a task tells of its current phase."""

    phase: str
    done: int
    total: int
    unit: str
    figure: str


def is_bar(progress: object) -> bool:
    """Whether bars are made by calling this, as tqdm.tqdm is; or whether it is one."""
    return callable(getattr(progress, "update", None)) and callable(getattr(progress, "close", None))


class Bars:
    """Shows each phase of a task by a bar of its own, which `make` makes: tqdm.tqdm, tqdm.auto.tqdm, or
    anything that is called as they are. One that was made already is used for all phases and not closed."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make: Callable[..., Any] | None = make if isinstance(make, type) else None
        self._bar: Any = None if isinstance(make, type) else make
        self._phase: str | None = None
        self._shown = 0

    def __call__(self, state: State) -> None:
        if state.phase != self._phase or state.done < self._shown:
            self._begin(state)
        self._bar.update(state.done - self._shown)
        self._shown = state.done
        if state.figure and hasattr(self._bar, "set_postfix_str"):
            self._bar.set_postfix_str(state.figure)

    def _begin(self, state: State) -> None:
        self.close()
        self._phase, self._shown = state.phase, 0
        if self._make is not None:
            self._bar = self._make(
                total=state.total or None, desc=state.phase, unit=" " + state.unit.rstrip("s")
            )
            return
        self._bar.reset(total=state.total or None)
        self._bar.set_description(state.phase)

    def close(self) -> None:
        """Leaves the bar as it is, where it was made here."""
        if self._make is not None and self._bar is not None:
            self._bar.close()
            self._bar = None


def sparkline(numbers: Sequence[float], width: int = 24) -> str:
    """Numbers as a row of small columns, from the least to the largest; of more than `width` those at equal
    distances, the last included."""
    if not numbers:
        return ""
    count = min(len(numbers), width)
    steps = max(count - 1, 1)
    chosen = [numbers[(len(numbers) - 1) * i // steps] for i in range(count)]
    least, largest = min(chosen), max(chosen)
    scale = (len(LEVELS) - 1) / (largest - least) if largest > least else 0.0
    return "".join(LEVELS[round((number - least) * scale)] for number in chosen)


class Trend:
    """How the figure of a task went so far, as in "fit 0.17": one sparkline per phase."""

    def __init__(self) -> None:
        self._phase: str | None = None
        self._numbers: list[float] = []

    def line(self, state: State) -> str:
        """That of all states so far, with this one."""
        if state.phase != self._phase:
            self._phase, self._numbers = state.phase, []
        found = re.search(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$", state.figure)
        if found:
            self._numbers.append(float(found[0]))
        return sparkline(self._numbers)
