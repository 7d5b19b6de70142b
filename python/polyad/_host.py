"""What every task is told about its surroundings: threads, warnings and progress."""

from __future__ import annotations

import contextlib
import contextvars
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Union

from . import _core, _progress
from ._errors import bad_option

Progress = Union[str, bool, Callable[[Any], object]]

_threads: contextvars.ContextVar[int] = contextvars.ContextVar("polyad_threads", default=0)


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Within this context, tasks run on so many threads: ``with polyad.threads(4): ...``"""
    token = _threads.set(int(count))
    try:
        yield
    finally:
        _threads.reset(token)


def show_versions() -> None:
    """Prints what the package was built with, the machine, and the versions of Python and NumPy: for reports of faults."""
    import platform
    import sys

    import numpy

    print(_core.doctor(host()))
    print(f"Python     {sys.version.split()[0]}, NumPy {numpy.__version__}, {platform.platform()}")


def _package_of(frame_name: str) -> bool:
    return frame_name == "polyad" or frame_name.startswith("polyad.")


def warn(kind: str, text: str) -> None:
    """Shows a warning of the library at the line of the caller; notes are for terminals and are left out."""
    if kind != "warning":
        return
    import sys

    level, frame = 1, sys._getframe()
    while frame is not None and _package_of(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(text, stacklevel=level)


def host(count: int | None = None, progress: Progress = False, processes: _core.Comm | None = None) -> _core.Host:
    return _core.Host(_threads.get() if count is None else int(count), warn, _progress.teller(progress), processes)


def set_numbers(options: Any, **numbers: tuple[str, Any]) -> None:
    """Sets fields of options, each by the keyword that users know it by and its value, with a sentence for a wrong type."""
    for field, (keyword, value) in numbers.items():
        try:
            setattr(options, field, value)
        except TypeError:
            kind = "a whole number" if isinstance(getattr(options, field), int) else "a number"
            raise bad_option(keyword, f"{keyword}={value!r}: expected {kind}" + (" from 0" if field == "seed" else "")) from None


def memory_bytes(memory: str | int | float | None) -> int:
    """800MB, or a number of bytes; None is no limit."""
    return 0 if memory is None else _core.parse_bytes(str(memory if isinstance(memory, str) else int(memory)), "memory")


def set_checkpoint(options: Any, directory: Any, every: str, keep: int) -> None:
    """Where the state of a run is kept; None: nowhere, and then nothing may be said about it."""
    if directory is not None:
        options.set_checkpoint(os.fspath(directory), str(every), int(keep))
    elif every != "10min" or keep != 2:
        name = "every" if every != "10min" else "keep"
        raise bad_option(name, f"{name} requires checkpoint, the folder that keeps the state of the run")


def seconds_of(duration: str | float | None) -> float:
    """1h50m, or a number of seconds; None is no limit."""
    if duration is None:
        return 0.0
    if isinstance(duration, str):
        return _core.parse_duration(duration, "time_limit")
    if not duration > 0:
        raise bad_option("time_limit", f"time_limit={duration!r}: expected more than 0 seconds, or None for no limit")
    return float(duration)
