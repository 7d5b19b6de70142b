"""Partitions of tensors: which process gets which entries or slices."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ._errors import bad_option

if TYPE_CHECKING:
    from numpy.typing import NDArray

PathLike = Union[str, "os.PathLike[str]"]


class Partition:
    """A partition of a tensor: ``parts`` has the part of each entry, in the order of the tensor, or of each slice, mode after
    mode, or of each row or column; ``info`` has the metrics (docs/json.md)."""

    def __init__(self, parts: NDArray[np.int32], text: str = "{}", summary: str = "") -> None:
        self.parts = parts
        self.info: dict[str, Any] = json.loads(text)
        self.summary = summary

    @classmethod
    def of_parts(cls, parts: Any) -> Partition:
        """A partition that somebody else has made: an array with a part, from 0, for each entry or slice."""
        numbers = np.asarray(parts)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise bad_option("partition", f"partition={parts!r}: expected a name, a file, or a part for each entry or slice")
        return cls(numbers.astype(np.int32), summary=f"{numbers.size:,} entries or slices, parts to {numbers.max(initial=0)}")

    @property
    def scheme(self) -> str | None:
        """The ``distribution`` of ``polyad.cp`` that takes it: "fine" or "coarse"; None for partitions of rows and columns."""
        model = self.info.get("model")
        return model if model in ("fine", "coarse") else None

    def __iter__(self) -> Iterator[Any]:
        yield self.parts
        yield self.info

    def save(self, path: PathLike) -> None:
        """Writes a part per line, as ``polyad partition --out`` does, for ``polyad cpd --partition``."""
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"{part}\n" for part in self.parts.tolist())

    def __repr__(self) -> str:
        return self.summary
