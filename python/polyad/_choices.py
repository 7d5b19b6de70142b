"""What to choose before a decomposition: the number of components, and how to distribute it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from . import _core, _mpi
from ._cp import Mode, is_single, nonnegative_modes
from ._errors import bad_option
from ._host import Progress, host, memory_bytes, set_numbers
from ._partition import Partition
from ._tensor import PathLike, comm_of, share, tensor


class RankTable:
    """How many components suit a tensor: ``best`` (None where the evidence does not decide), ``why``, and the evidence."""

    def __init__(self, core: _core.RankChoice) -> None:
        self.best: int | None = core.rank
        self.why: str = core.reason
        self.info: dict[str, Any] = json.loads(core.json())
        self._text: str = core.table

    @property
    def table(self) -> list[dict[str, Any]]:
        """For each number of components: fit, held-out error, core consistency, stability, ... (docs/rank.md)."""
        return list(self.info["counts"])

    def __repr__(self) -> str:
        return f"{self._text}\n\n{self.best if self.best is not None else 'undecided'}: {self.why}"


def rank(
    x: Any,
    components: int | Iterable[int] | None = None,
    *,
    starts: int = 3,
    holdout: float = 0.05,
    max_iter: int = 200,
    tol: float = 1e-6,
    seed: int = 1,
    init: str = "auto",
    nonneg: bool | Mode | Sequence[Mode] = False,
    dtype: Any = "float64",
    format: str = "auto",
    memory: str | int | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
    comm: Any = None,
) -> RankTable:
    """Decomposes a tensor with several numbers of components, by default 1 to 8, and recommends one.

    With ``comm``, a communicator of mpi4py, its processes do a part of the ``starts`` each, and all get the table; every one of
    them needs memory for the whole tensor.
    """
    arguments = dict(locals())
    comm = comm_of(x, comm)
    processes = None if comm is None else _mpi.group(comm)
    _mpi.require_same(processes, arguments)
    with _mpi.agreed(processes):
        given = tensor(x)
        wanted = [components] if isinstance(components, int) else components
        counts = [] if wanted is None else sorted({int(count) for count in wanted})
        options = _core.RankOptions()
        options.ranks = counts
        set_numbers(
            options,
            num_starts=("starts", starts),
            held_out=("holdout", holdout),
            max_iterations=("max_iter", max_iter),
            tolerance=("tol", tol),
            seed=("seed", seed),
        )
        options.set_start(init)
        options.nonnegative, options.nonnegative_modes = nonnegative_modes(nonneg, given.modes)
        options.set_single(is_single(dtype))
        options.set_format(format)
        options.max_memory_bytes = memory_bytes(memory)
        informed = host(threads, progress, processes)
    _mpi.require_same(processes, {"components": counts})
    mine, is_last_use = (given._core, given is not x) if comm is None else share(given, comm)
    return RankTable(_core.choose_rank(informed, mine, is_last_use, options))


class PlanTable:
    """The ways to distribute a tensor over processes, with what an iteration is predicted to take."""

    def __init__(self, core: _core.Plan) -> None:
        self._core = core
        self.why: str = core.reason
        self.info: dict[str, Any] = json.loads(core.json())

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """By number of processes, then by predicted time; docs/json.md describes the keys."""
        return list(self.info["strategies"])

    @property
    def recommended(self) -> dict[str, Any] | None:
        """The fastest that fits, with the ``cpd_options`` of the program that run it; None where none does."""
        number = self.info["recommended"]
        return None if number is None else self.candidates[number]

    def report(self, path: PathLike) -> None:
        """Writes an HTML report."""
        _core.save_plan_report(host(), self._core, os.fspath(path))

    def __repr__(self) -> str:
        return self._core.summary()


def plan(
    x: Any,
    rank: int = 16,
    processes: int | Sequence[int] = (16, 512),
    *,
    threads_per_process: int = 1,
    processes_per_machine: int | None = None,
    hypergraph: bool = False,
    seconds: float = 60.0,
    memory: str | int | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> PlanTable:
    """Compares the ways to distribute a tensor over numbers of processes, for ``mpirun polyad cpd``, without running any.

    ``hypergraph`` also tries partitions of the tensor's hypergraph, each for at most ``seconds``; ``memory`` is what a process may
    use. ``processes_per_machine`` is for rows that go in stages, the first of which stays within a machine; by default there is one.
    """
    counts = [processes] if isinstance(processes, int) else [int(count) for count in processes]
    core = _core.plan(
        host(threads, progress),
        tensor(x)._core,
        rank,
        counts,
        threads_per_process,
        processes_per_machine or 0,
        bool(hypergraph),
        seconds,
        memory_bytes(memory),
    )
    return PlanTable(core)


def partition(
    x: Any,
    parts: int,
    *,
    model: str = "fine",
    method: str = "hypergraph",
    metric: str = "connectivity",
    rho: float = 2.0,
    weights: str = "per-mode",
    imbalance: float = 0.05,
    effort: str = "default",
    seconds: float = 0.0,
    seed: int = 1,
    cache: bool = True,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Partition:
    """Divides a tensor among processes so that they send little and have equally much to do: ``labels, metrics = partition(...)``.

    ``model`` says what is assigned to parts: entries ("fine"), slices ("coarse"), or the rows or columns of a matrix ("row",
    "column"). After ``seconds``, if not 0, the best partition so far is taken. docs/partition.md explains the options.
    """
    if model == "fine-with-rows":  # has two results
        raise bad_option("model", "model='fine-with-rows': expected one of fine, coarse, row, column; polyad partition --out-rows writes owners of rows")
    options = _core.PartitionOptions()
    options.parts = parts
    options.set_model(model)
    options.set_method(method)
    options.set_metric(metric)
    options.rho = rho
    options.set_weights(weights)
    options.imbalance = imbalance
    options.set_effort(effort)
    options.time_limit_seconds = seconds
    options.seed = seed
    options.no_cache = not cache
    return Partition(*_core.partition(host(threads, progress), tensor(x)._core, options))
