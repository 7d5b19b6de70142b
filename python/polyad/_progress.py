"""Who shows the progress of a task: a terminal, a notebook, or a function."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable
from typing import Any

from ._bars import Bars, Trend, is_bar
from ._errors import bad_option


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this; nothing is imported to find out."""
    return "ipykernel" in sys.modules and "IPython" in sys.modules


def _on_terminal() -> bool:
    try:
        return bool(sys.__stderr__ is not None and sys.stderr is sys.__stderr__ and sys.stderr.isatty())
    except (AttributeError, ValueError):  # closed, or no stream at all
        return False


class _Notebook:
    """One line below the cell, which is replaced while the task runs."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._trend = Trend()

    def __call__(self, state: Any) -> None:
        from IPython.display import HTML, display

        shown = HTML(f"<code>{html.escape(f'{state} {self._trend.line(state)}')}</code>")
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)


def teller(progress: str | bool | Callable[[Any], object]) -> Any:
    """What ``Host`` takes as ``on_progress``."""
    if is_bar(progress):
        return Bars(progress)  # type: ignore[arg-type]
    if callable(progress):
        return progress
    if progress is False or progress is None:
        return None
    if progress is True or progress == "auto":
        if _in_notebook():
            return _Notebook()
        return "terminal" if progress is True or _on_terminal() else None
    raise bad_option("progress", f"progress={progress!r}: expected 'auto', True, False, a function, or tqdm")
