"""Very large sparse tensors: CP decomposition, recommenders and contraction.

>>> import polyad
>>> x = polyad.read("x.tns")
>>> model = polyad.cp(x, rank=8, nonneg=True)
>>> weights, factors = model
"""

from __future__ import annotations

try:
    from . import _core
except ImportError as error:  # pragma: no cover
    if "static TLS" in str(error):
        raise ImportError(f"{error}; import polyad before the other packages") from error
    raise

from . import generate
from ._choices import PlanTable, RankTable, partition, plan, rank
from ._cp import Comparison, Component, Components, CPModel, History, Iteration, Pair, Residuals, compare, cp
from ._dense import einsum
from ._errors import Error, FileError, InputError, ResourceError
from ._host import show_versions, threads
from ._partition import Partition
from ._recommender import Recommender
from ._tensor import Stats, Tensor, from_frame, from_pieces, read, tensor

__version__: str = _core.version

__all__ = [
    "CPModel",
    "Comparison",
    "Component",
    "Components",
    "Error",
    "FileError",
    "History",
    "InputError",
    "Iteration",
    "Pair",
    "Partition",
    "PlanTable",
    "RankTable",
    "Recommender",
    "Residuals",
    "ResourceError",
    "Stats",
    "Tensor",
    "compare",
    "cp",
    "einsum",
    "from_frame",
    "from_pieces",
    "generate",
    "partition",
    "plan",
    "rank",
    "read",
    "show_versions",
    "tensor",
    "threads",
]
