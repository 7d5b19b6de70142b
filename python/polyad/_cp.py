"""CP decomposition, and the models that it makes."""

from __future__ import annotations

import contextlib
import html
import json
import os
import pathlib
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _core, _mpi
from ._errors import bad_option
from ._host import Progress, host, memory_bytes, seconds_of, set_checkpoint, set_numbers
from ._partition import Partition
from ._tensor import PathLike, Tensor, comm_of, from_pieces, share, tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

Mode = Union[int, str]


@dataclass(frozen=True)
class Iteration:
    """What a callback of ``cp`` is told after each iteration."""

    iteration: int  # from 1
    fit: float
    change: float  # of the fit, in this iteration
    start: int  # number of the random start, from 1


@dataclass(frozen=True)
class History:
    """How a decomposition went."""

    fits: NDArray[np.float64]  # after each iteration
    seconds: dict[str, float]  # by activity
    stop: str | None  # "converged", "test_error", "iterations", "callback", "time" or "interrupted"

    @property
    def iterations(self) -> int:
        return len(self.fits)


def mode_number(modes: Sequence[str], mode: Mode) -> int:
    """The number of a mode, from 0, that is given by its number or its name."""
    if isinstance(mode, str):
        if mode in modes:
            return modes.index(mode)
        names = ", ".join(name for name in modes if name) or "the modes have no names"
        raise bad_option("mode", f"mode {mode!r}: there is none of this name ({names})")
    if not -len(modes) <= mode < len(modes):
        raise bad_option("mode", f"mode {mode}: expected 0 to {len(modes) - 1}")
    return int(mode) % len(modes)


class Component:
    """One component of a model: ``model[0]``."""

    def __init__(self, model: CPModel, number: int) -> None:
        self._model = model
        self.number = number

    @property
    def weight(self) -> float:
        return float(self._model.weights[self.number])

    @property
    def columns(self) -> list[NDArray[np.float64]]:
        """Of each mode the column of the factor."""
        return [factor[:, self.number] for factor in self._model.factors]

    def top(self, mode: Mode, n: int = 10) -> list[tuple[Any, float]]:
        """The entries of largest magnitude in a mode: (label, or index from 0 where there are no labels; value)."""
        number = mode_number(self._model.modes, mode)
        column = self._model.factors[number][:, self.number]
        labels = self._model.labels[number]
        order = np.argsort(-np.abs(column), kind="stable")[: max(n, 0)]
        return [(labels[i] if labels is not None and i < len(labels) else int(i), float(column[i])) for i in order]

    def __repr__(self) -> str:
        lines = [f"component {self.number}, weight {self.weight:.4g}"]
        for mode, name in enumerate(self._model.modes):
            entries = ", ".join(f"{label} {value:.3g}" for label, value in self.top(mode, 5))
            lines.append(f"  {name or f'mode {mode}'}: {entries}")
        return "\n".join(lines)


class Residuals:
    """Value minus prediction at the entries of a tensor."""

    def __init__(self, x: Tensor, predictions: NDArray[np.float64]) -> None:
        self.tensor = x
        self.predictions = predictions
        self.values: NDArray[np.float64] = x.values - predictions

    @property
    def rmse(self) -> float:
        return float(np.sqrt(np.mean(self.values**2))) if len(self.values) else 0.0

    def largest(self, n: int = 10) -> list[dict[str, Any]]:
        """The entries that the model is furthest from: dicts of place (labels, or indices from 0), value, prediction and
        residual."""
        count = min(max(n, 0), len(self.values))
        magnitudes = -np.abs(self.values)
        found = np.argpartition(magnitudes, count - 1)[:count] if 0 < count < len(magnitudes) else np.arange(count)
        found = found[np.lexsort((found, magnitudes[found]))]
        coords, labels = self.tensor.coords, self.tensor.labels
        return [
            {
                "place": tuple(_named(labels[mode], int(column[i])) for mode, column in enumerate(coords)),
                "value": float(self.tensor.values[i]),
                "prediction": float(self.predictions[i]),
                "residual": float(self.values[i]),
            }
            for i in found
        ]

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"<polyad.Residuals of {len(self):,} entries, root mean square {self.rmse:.4g}>"


def _named(labels: list[str] | None, index: int) -> Any:
    return labels[index] if labels is not None and index < len(labels) else index


class Components(list):  # type: ignore[type-arg]
    """The strongest entries of every component: a list of dicts, one for each entry."""

    def __init__(self, rows: list[dict[str, Any]], text: str) -> None:
        super().__init__(rows)
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def to_pandas(self) -> Any:
        """The same as a DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(list(self))


class CPModel:
    """The sum over r of ``weights[r]`` times the outer product of the columns r of ``factors``. It is the pair that TensorLy
    uses: ``weights, factors = model``. Modes and indices count from 0."""

    def __init__(
        self, core: _core.CpModel, *, interrupted: bool = False, modes: tuple[str, ...] | None = None
    ) -> None:
        self._core = core
        self._interrupted = interrupted
        self._modes = modes  # files do not name modes without labels; None: as the library says
        self._weights: NDArray[np.float64] | None = None
        self._factors: list[NDArray[np.float64]] | None = None

    @property
    def rank(self) -> int:
        return self._core.rank

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._core.shape)

    @property
    def ndim(self) -> int:
        return len(self._core.shape)

    @property
    def modes(self) -> tuple[str, ...]:
        if self._modes is None:
            self._modes = tuple(self._core.mode_name(mode) for mode in range(self.ndim))
        return self._modes

    @property
    def labels(self) -> tuple[list[str] | None, ...]:
        return tuple(self._core.labels(mode) for mode in range(self.ndim))

    @property
    def weights(self) -> NDArray[np.float64]:
        if self._weights is None:
            self._weights = self._core.weights()
        return self._weights

    @property
    def factors(self) -> list[NDArray[np.float64]]:
        """Of each mode an array with a row for every index and a column for every component. The arrays stay when the
        model is gone."""
        if self._factors is None:
            self._factors = [self._core.factor(mode) for mode in range(self.ndim)]
        return self._factors

    @property
    def fit(self) -> float:
        """1 - |x - model| / |x|."""
        return self._core.fit

    @property
    def stop(self) -> str | None:
        """Why the iterations ended: "converged", "test_error", "iterations", "callback", "time" or "interrupted"."""
        return "interrupted" if self._interrupted else self._core.stop

    @property
    def history(self) -> History:
        return History(self._core.fits(), dict(self.info.get("seconds", {})), self.stop)

    @property
    def info(self) -> dict[str, Any]:
        """All figures of the run: the JSON of ``polyad cpd`` (docs/json.md)."""
        info: dict[str, Any] = json.loads(self._core.json())
        return info

    def summary(self) -> str:
        """What was done, the fit, and how long it took."""
        return self._core.summary()

    def details(self) -> str:
        """How it was computed."""
        return self._core.details()

    def __iter__(self) -> Iterator[Any]:
        yield self.weights
        yield self.factors

    def __len__(self) -> int:
        return 2  # weights and factors, as in TensorLy; the number of components is `rank`

    def __getitem__(self, number: int) -> Component:
        if not -self.rank <= number < self.rank:
            raise IndexError(f"component {number}: the model has {self.rank}, from 0")
        return Component(self, int(number) % self.rank)

    def components(self, top: int = 5) -> Components:
        """The strongest entries of every component in every mode."""
        rows = [
            {"component": r, "weight": self[r].weight, "mode": name or mode, "label": label, "value": value}
            for r in range(self.rank)
            for mode, name in enumerate(self.modes)
            for label, value in self[r].top(mode, top)
        ]
        return Components(rows, self._core.component_table(top))

    def _places(self, coords: Any) -> list[NDArray[np.int64]]:
        """An array of indices per mode, of labels or indices in any of the forms that predict takes."""
        per_mode = isinstance(coords, tuple) and any(np.ndim(column) == 1 for column in coords)
        columns = list(coords) if per_mode else list(np.asarray(coords, dtype=None if _is_array(coords) else object).T)
        if len(columns) != self.ndim:
            raise bad_option("coords", f"coords have {len(columns)} modes; the model has {self.ndim}")
        return [_indices(column, self.labels[mode]) for mode, column in enumerate(columns)]

    def predict(self, coords: Any, *, threads: int | None = None) -> Any:
        """The entries of the model at given places: an array of n rows with an index, or label, per mode; a tuple of one
        array per mode; a tensor, for its own places; or one tuple of indices or labels, for one number."""
        if isinstance(coords, Tensor):
            return _core.predict(host(threads), self._core, coords._core)
        one = isinstance(coords, tuple) and len(coords) == self.ndim and all(np.ndim(part) == 0 for part in coords)
        places = self._places([coords] if one else coords)
        at = from_pieces(places, np.zeros(len(places[0])), self.shape)
        values = _core.predict(host(threads), self._core, at._core)
        return float(values[0]) if one else values

    def residuals(self, x: Any) -> Residuals:
        """Value minus prediction at the entries of a tensor."""
        known = tensor(x)
        return Residuals(known, self.predict(known))

    def save(self, path: PathLike, *, overwrite: bool = True) -> None:
        """Writes the model with its labels: a folder, x.ktensor or x.npz, as ``polyad cpd --out`` does."""
        _core.save_model(host(), self._core, os.fspath(path), bool(overwrite))

    @classmethod
    def load(cls, path: PathLike) -> CPModel:
        """Reads a model of Polyad, SPLATT, Tensor Toolbox, pyttb, GenTen or NumPy."""
        return cls(_core.load_model(host(), os.fspath(path)))

    @classmethod
    def from_factors(cls, weights: Any, factors: Sequence[Any] | None = None) -> CPModel:
        """A model of weights, or None, and factors: a pair, a CPTensor of TensorLy, a ktensor of pyttb, or two arguments."""
        from . import _convert

        scale, matrices = _convert.kruskal_of(weights if factors is None else (weights, list(factors)))
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "model.npz")
            arrays = {f"factor_{mode}": matrix for mode, matrix in enumerate(matrices)}
            np.savez(place, weights=scale, **arrays)  # type: ignore[arg-type]
            return cls.load(place)

    def report(self, path: PathLike, *, top: int = 5) -> None:
        """Writes an HTML report: one file that needs no network."""
        _core.save_cp_report(host(), self._core, os.fspath(path), int(top))

    def __repr__(self) -> str:
        shape = " x ".join(f"{extent:,}" for extent in self.shape)
        return f"<polyad.CPModel of {self.rank} components, {shape}, fit {self.fit:.4f}>"

    def _repr_html_(self) -> str:
        """In notebooks: the cards of the report, in a frame that keeps their style to themselves."""
        page = html.escape(self._core.component_cards(5), quote=True)
        height = min(900, 60 + 320 * self.rank)
        return (
            f"<div>{html.escape(repr(self)[1:-1])}</div>"
            f'<iframe sandbox="" srcdoc="{page}" style="width: 100%; height: {height}px; border: 0"></iframe>'
        )

    def to_tensorly(self) -> Any:
        """The model as a CPTensor of TensorLy."""
        from . import _convert

        return _convert.to_tensorly(self.weights, self.factors)

    def to_pyttb(self) -> Any:
        """The model as a ktensor of pyttb."""
        from . import _convert

        return _convert.to_pyttb_ktensor(self.weights, self.factors)

    def __reduce__(self) -> tuple[Any, ...]:
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder, "model")
            self.save(place)
            files = {file.name: file.read_bytes() for file in place.iterdir()}
        return _unpickled, (files, self._interrupted, self.modes)


def _unpickled(files: dict[str, bytes], interrupted: bool, modes: tuple[str, ...]) -> CPModel:
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "model")
        place.mkdir()
        for name, contents in files.items():
            (place / name).write_bytes(contents)
        return CPModel(_core.load_model(host(), os.fspath(place)), interrupted=interrupted, modes=modes)


def _is_array(coords: Any) -> bool:
    return hasattr(coords, "__array__")


def _indices(column: Any, labels: list[str] | None) -> NDArray[np.int64]:
    """Indices as they are; labels by their place in the mode."""
    values = np.asarray(column)
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    numbers = {name: index for index, name in enumerate(labels or [])}
    found = np.empty(len(values), dtype=np.int64)
    for i, value in enumerate(values):
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            found[i] = value
        elif str(value) in numbers:
            found[i] = numbers[str(value)]
        else:
            raise bad_option("coords", f"coords: {value!r} is no index and no label of its mode")
    return found


def nonnegative_modes(nonneg: Any, modes: Sequence[str]) -> tuple[bool, list[int]]:
    """Whether all factors are to be nonnegative, else which."""
    if nonneg is True or nonneg is False:
        return nonneg, []
    chosen = [nonneg] if isinstance(nonneg, (int, str)) else list(nonneg)
    return False, [mode_number(modes, mode) for mode in chosen]


def _start(init: Any, options: _core.CpOptions) -> None:
    if isinstance(init, CPModel):
        options.set_start_model(init._core)
    elif isinstance(init, str):
        options.set_start(init)
    elif isinstance(init, (tuple, list)) or hasattr(init, "weights"):
        options.set_start_model(CPModel.from_factors(init)._core)
    else:
        raise bad_option("init", f"init={init!r}: expected 'auto', 'uniform', 'normal', 'svd' or a model")


def is_single(dtype: Any) -> bool:
    """Whether a type of numbers is single precision; only float64 and float32 are accepted."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise bad_option("dtype", f"dtype={dtype!r}: expected 'float64' or 'float32'")
    return bool(kind == np.dtype(np.float32))


def _cell_weights(weights: Any, x: Tensor) -> Tensor:
    """Weights of the entries of x, in their order, or a tensor of them."""
    if isinstance(weights, Tensor):
        return weights
    if np.ndim(weights) == 1:
        made = from_pieces(x.coords, np.asarray(weights, dtype=float), x.shape, x.modes, x.labels)
        return Tensor(made._core, x.comm)
    return tensor(weights)


def grid_text(grid: str | Sequence[int]) -> str:
    """A process grid as on the command line: "2x3x1" for (2, 3, 1); names as they are."""
    return grid if isinstance(grid, str) else "x".join(str(int(extent)) for extent in grid)


def _partition_of(partition: Any, distribution: str) -> tuple[str, str, Partition | None]:
    """The distribution, and the name or file of a partition, or the parts themselves."""
    if isinstance(partition, (str, os.PathLike)):
        return distribution, os.fspath(partition), None
    made = partition if isinstance(partition, Partition) else Partition.of_parts(partition)
    if made is not partition and distribution not in ("fine", "coarse"):
        raise bad_option("distribution", "parts require distribution='fine', for entries, or 'coarse', for slices")
    scheme = made.scheme if made is partition else distribution
    if scheme is None:
        raise bad_option("partition", "partition: expected one of model 'fine' or 'coarse'")
    if distribution not in ("auto", scheme):
        raise bad_option("distribution", f"distribution={distribution!r}: the partition is {scheme}")
    return scheme, "", made


@contextlib.contextmanager
def _as_file(parts: Partition, processes: _core.Comm | None) -> Iterator[str]:
    """A file of parts that has the same name on all processes, some of which see the same folder. Collective."""
    number = int.from_bytes(os.urandom(8), "little")
    name = f"polyad-parts-{number if processes is None else processes.of_first(number):016x}"
    path = os.path.join(tempfile.gettempdir(), name)
    with _mpi.agreed(processes):
        handle, own = tempfile.mkstemp(prefix="polyad-parts-")
        os.close(handle)
        parts.save(own)
        os.replace(own, path)
    try:
        yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)


def cp(
    x: Any,
    rank: int,
    *,
    method: str = "als",
    nonneg: bool | Mode | Sequence[Mode] = False,
    missing: bool = False,
    weights: Any = None,
    biases: bool = False,
    implicit: bool = False,
    alpha: float = 3.0,
    reg: float | None = None,
    shrink: float | None = None,
    test: float = 0.0,
    init: Any = "auto",
    max_iter: int = 50,
    tol: float = 1e-5,
    seed: int = 1,
    starts: int = 1,
    dtype: Any = "float64",
    format: str = "auto",
    device: str = "auto",
    mode_order: Sequence[Mode] | None = None,
    memory: str | int | None = None,
    threads: int | None = None,
    callback: Callable[[Iteration], object] | None = None,
    progress: Progress = "auto",
    comm: Any = None,
    distribution: str = "auto",
    grid: str | Sequence[int] = "auto",
    partition: Any = "auto",
    checkpoint: PathLike | None = None,
    every: str = "10min",
    keep: int = 2,
    time_limit: str | float | None = None,
) -> CPModel:
    """The CP decomposition of a sparse tensor into ``rank`` components.

    ``x`` is a ``Tensor`` or anything that ``polyad.tensor`` takes. Cells that it does not have are zeros; with ``missing``
    they are unknown, ``weights`` says how much the error of each entry counts, and ``biases`` adds the mean and a bias for
    every row of every mode, as the last components. ``nonneg`` keeps all factors nonnegative, or those of some modes. ``init`` is
    "auto", "uniform", "normal", "svd", or a model to continue from, also a pair of weights and factors; ``starts`` random starts are
    tried with the seeds ``seed``, ``seed`` + 1, ... and the best model is returned. ``memory`` ("800MB") refuses
    what would not fit. ``device`` is "cpu", "gpu" or "gpu:1" in a build with CUDA. ``callback`` is called with an ``Iteration`` after each iteration and ends the run by returning False.
    Ctrl-C also ends it; the model so far is returned, with ``stop`` "interrupted".

    With ``comm``, a communicator of mpi4py, its processes work together: all call this function with the same arguments, and all
    get the whole model. ``x`` is the same on all of them, or a tensor of which each has a part (``read``, ``tensor``).
    ``distribution`` says what each process gets: slices ("coarse"), a block of the process ``grid`` ("medium", (2, 3, 1)) or
    entries ("fine"); ``partition`` which of them: "block", "random", "hypergraph", a file, or what ``polyad.partition`` returned.

    ``checkpoint`` is a folder that keeps the state of the run, after so much time or so many iterations as ``every`` says ("10min",
    "20it"), and at its end; the newest ``keep`` stay. The same call again goes on from there. ``time_limit`` ("1h50m", or seconds)
    ends the run before this time is over, with ``stop`` "time".
    """
    arguments = dict(locals())
    comm = comm_of(x, comm)
    processes = None if comm is None else _mpi.group(comm)
    _mpi.require_same(processes, arguments)
    cell_weights = None
    with _mpi.agreed(processes):
        given = tensor(x, missing="nan") if missing and not isinstance(x, Tensor) else tensor(x)
        options = _core.CpOptions()
        set_numbers(
            options,
            rank=("rank", rank),
            max_iterations=("max_iter", max_iter),
            tolerance=("tol", tol),
            seed=("seed", seed),
            num_starts=("starts", starts),
        )
        options.set_method(method)
        options.nonnegative, options.nonnegative_modes = nonnegative_modes(nonneg, given.modes)
        _start(init, options)
        options.set_single(is_single(dtype))
        options.set_format(format)
        options.set_device(device)
        options.mode_order = [] if mode_order is None else [mode_number(given.modes, mode) for mode in mode_order]
        options.max_memory_bytes = memory_bytes(memory)
        options.max_seconds = seconds_of(time_limit)
        set_checkpoint(options, checkpoint, every, keep)
        if missing:
            options.set_missing(reg, test, bool(biases))
        if implicit:
            options.set_implicit(alpha, reg, shrink, test)
        if not missing and not implicit and (reg is not None or test):
            name = "test" if reg is None else "reg"
            raise bad_option(name, f"{name} requires missing=True or implicit=True")
        if biases and not missing:
            raise bad_option("biases", "biases requires missing=True")
        if weights is not None:
            if not missing:
                raise bad_option("weights", "weights requires missing=True")
            cell_weights = _cell_weights(weights, given)
        told = None if callback is None else lambda *figures: callback(Iteration(*figures))
        informed = host(threads, progress, processes)
        scheme, name, parts = _partition_of(partition, distribution)
        options.set_distribution(scheme, grid_text(grid), name or "auto", given.ndim)
    with contextlib.ExitStack() as files:
        if parts is not None:
            options.set_distribution(scheme, grid_text(grid), files.enter_context(_as_file(parts, processes)), given.ndim)
        mine, is_last_use = (given._core, given is not x) if comm is None else share(given, comm)
        if cell_weights is not None:
            options.set_weights(cell_weights._core if comm is None else share(cell_weights, comm)[0])
        core, interrupted = _core.decompose(informed, mine, is_last_use, options, told)
    if interrupted:
        warnings.warn("interrupted: the model of the iterations so far is returned", stacklevel=2)
    return CPModel(core, interrupted=interrupted)


@dataclass(frozen=True)
class Pair:
    """A component of one model, and that of another which it is like."""

    first: int  # number of the component, from 0
    second: int
    congruence: float  # product of the magnitudes of the cosines: 1 for the same component, up to signs and scale
    cosines: list[float]  # of each mode


class Comparison:
    """How similar two models are: ``score``, from 0 to 1, is the mean congruence of the ``pairs``, the most similar first."""

    def __init__(
        self, score: float, pairs: list[tuple[int, int, float, list[float]]], summary: str, text: str
    ) -> None:
        self.score = score
        self.pairs = [Pair(*pair) for pair in pairs]
        self.info: dict[str, Any] = json.loads(text)
        self.summary = summary

    def __repr__(self) -> str:
        return self.summary


def compare(first: Any, second: Any, *, threads: int | None = None) -> Comparison:
    """Pairs the components of two models of the same shape, each a ``CPModel`` or a pair of weights and factors."""
    models = [one if isinstance(one, CPModel) else CPModel.from_factors(one) for one in (first, second)]
    return Comparison(*_core.compare(host(threads), models[0]._core, models[1]._core))
