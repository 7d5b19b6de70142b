"""Exceptions. Each is a polyad.Error, and also the built-in exception that Python programs expect."""

from __future__ import annotations

from typing import Any


class Error(RuntimeError):
    """What went wrong, in a sentence. Attributes: ``code`` ("bad_input", "bad_option", "io", "resource", "comm",
    "internal"), ``file`` and ``line`` where the error is about a file, and ``option``, the argument at fault."""

    code: str = "internal"
    file: str | None = None
    line: int | None = None
    option: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.code, str(self), self.__dict__)


class InputError(Error, ValueError):
    """A file or an array holds something impossible, or an argument does."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class ResourceError(Error, MemoryError):
    """Memory, disk space or time has run out, or would."""


_KINDS: dict[str, type[Error]] = {
    "bad_input": InputError,
    "bad_option": InputError,
    "io": FileError,
    "resource": ResourceError,
}


def _rebuilt(code: str, text: str, state: dict[str, Any]) -> Error:
    error = _KINDS.get(code, Error)(text)
    error.__dict__.update(state)
    return error


def make(code: str, text: str, file: str = "", line: int = 0, option: str = "") -> Error:
    """The exception for an error of the library."""
    error = _KINDS.get(code, Error)(text)
    error.code = code
    error.file = file or None
    error.line = line or None
    error.option = option or None
    return error


def bad_option(option: str, text: str) -> Error:
    """An argument that makes no sense: ``text`` says what was expected."""
    return make("bad_option", text, option=option)
