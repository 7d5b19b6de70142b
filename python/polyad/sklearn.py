"""Estimators for scikit-learn, which is imported here and nowhere else in the package."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import (  # type: ignore
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state  # type: ignore
from sklearn.utils.validation import check_is_fitted  # type: ignore

from . import _convert
from ._cp import CPModel, cp
from ._tensor import Tensor, from_frame, tensor

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

__all__ = ["CP", "TensorFeatures"]


# --- rows of one mode, where the factors of the others are known ---


def factor_products(coords: Sequence[Indices], factors: Sequence[Floats]) -> Floats:
    """Of each entry the product of its rows of the factors, a column per component."""
    products: Floats = factors[0][coords[0]]
    for indices, factor in zip(coords[1:], factors[1:]):
        products = products * factor[indices]
    return products


def sums_by_row(rows: Indices, values: Floats, products: Floats, num_rows: int) -> Floats:
    """The matricised tensor times the products of the factors, a row for each index of the mode."""
    columns = [np.bincount(rows, weights=values * column, minlength=num_rows) for column in products.T]
    return np.stack(columns, axis=1) if columns else np.zeros((num_rows, 0))


def cross_products(factors: Sequence[Floats]) -> Floats:
    gram: Floats = factors[0].T @ factors[0]
    for factor in factors[1:]:
        gram = gram * (factor.T @ factor)
    return gram


def least_squares(gram: Floats, right: Floats) -> Floats:
    """The smallest solutions of gram · row = right, one for each row of `right`."""
    return np.asarray(np.linalg.lstsq(gram, right.T, rcond=None)[0].T)


def nonnegative_least_squares(
    gram: Floats, right: Floats, sweeps: int = 1000, tolerance: float = 1e-12
) -> Floats:
    """The same without negative numbers, by coordinate descent on all rows at once."""
    rows = np.maximum(least_squares(gram, right), 0)
    scale = np.diag(gram)
    for _ in range(sweeps):
        largest = 0.0
        for r in np.flatnonzero(scale > 0):
            column = np.maximum(rows[:, r] + (right[:, r] - rows @ gram[:, r]) / scale[r], 0)
            largest = max(largest, float(np.abs(column - rows[:, r]).max(initial=0)))
            rows[:, r] = column
        if largest <= tolerance * max(float(rows.max(initial=0)), 1e-300):
            break
    return rows


def rows_of_known_cells(rows: Indices, values: Floats, products: Floats, num_rows: int) -> Floats:
    """The smallest least-squares solution of each row, from the cells that are known."""
    found = np.zeros((num_rows, products.shape[1]))
    order = np.argsort(rows, kind="stable")
    bounds = np.searchsorted(rows[order], np.arange(num_rows + 1))
    for row in range(num_rows):
        cells = order[bounds[row] : bounds[row + 1]]
        if len(cells):
            found[row] = np.linalg.lstsq(products[cells], values[cells], rcond=None)[0]
    return found


class _Projection:
    """The scores of the indices of one mode, given the factors of the others."""

    def __init__(self, factors: Sequence[Floats], *, nonneg: bool, missing: bool) -> None:
        self._factors, self._nonneg, self._missing = list(factors), nonneg, missing

    def scores(self, rows: Indices, coords: Sequence[Indices], values: Floats, num_rows: int) -> Floats:
        products = factor_products(coords, self._factors)
        if self._missing:
            return rows_of_known_cells(rows, values, products, num_rows)
        right = sums_by_row(rows, values, products, num_rows)
        gram = cross_products(self._factors)
        return nonnegative_least_squares(gram, right) if self._nonneg else least_squares(gram, right)

    def fit_of(self, rows: Indices, coords: Sequence[Indices], values: Floats, scores: Floats) -> float:
        """1 - |x - model| / |x|, of all cells or of those that are known."""
        predictions = (factor_products(coords, self._factors) * scores[rows]).sum(axis=1)
        norm = float(values @ values)
        if self._missing:
            error = float(((values - predictions) ** 2).sum())
        else:
            of_model = float(((scores.T @ scores) * cross_products(self._factors)).sum())
            error = norm - 2 * float(values @ predictions) + of_model
        return 1.0 - float(np.sqrt(max(error, 0.0) / norm)) if norm > 0 else float(error == 0)


def seed_of(random_state: Any) -> int:
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


# --- estimators ---


def _decomposed(estimator: CP | TensorFeatures, x: Tensor, **more: Any) -> CPModel:
    """The model of a tensor, with the parameters that both estimators have."""
    return cp(
        x,
        estimator.n_components,
        nonneg=estimator.nonneg,
        max_iter=estimator.max_iter,
        tol=estimator.tol,
        starts=estimator.starts,
        seed=seed_of(estimator.random_state),
        threads=estimator.threads,
        **more,
    )


class CP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The CP decomposition as an estimator: the first mode of X has the samples, the others have the
    features.

    X is an array of two or more dimensions, or anything that ``polyad.tensor`` takes. Scores are the rows
    of the first factor: X is approximately the sum over r of the outer products of ``scores[:, r]`` and
    the row r of each of ``components_``. ``missing=True``: cells that are NaN, or not stored, are unknown
    and not zero; the scores of a sample are then those that fit its known cells best.

    Attributes after ``fit``: ``components_``, for matrices an array of n_components × features, for
    tensors a list with one such array per mode of features; ``n_iter_``; ``fit_``, 1 - |X - model| / |X|;
    and ``model_``, the ``polyad.CPModel`` with everything else.
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        nonneg: bool = False,
        missing: bool = False,
        reg: float | None = None,
        init: Any = "auto",
        max_iter: int = 50,
        tol: float = 1e-5,
        starts: int = 1,
        random_state: Any = 1,
        threads: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.nonneg = nonneg
        self.missing = missing
        self.reg = reg
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.starts = starts
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> CP:
        x = tensor(X, missing="nan") if self.missing else tensor(X)
        self.model_: CPModel = _decomposed(self, x, missing=self.missing, reg=self.reg, init=self.init)
        components = [np.ascontiguousarray(factor.T) for factor in self.model_.factors[1:]]
        self.components_: Any = components[0] if len(components) == 1 else components
        self.n_iter_ = self.model_.history.iterations
        self.fit_ = self.model_.fit
        self.n_features_in_ = self.model_.shape[1]
        return self

    @property
    def _n_features_out(self) -> int:
        return self.model_.rank

    def _entries(self, X: Any) -> tuple[list[Indices], Floats, int]:
        check_is_fitted(self, "model_")
        x = tensor(X, missing="nan") if self.missing else tensor(X)
        expected = self.model_.shape[1:]
        if x.ndim != len(expected) + 1 or any(found > known for found, known in zip(x.shape[1:], expected)):
            raise ValueError(
                f"X has the shape {x.shape}: expected samples of the shape {expected}, as those of fit had"
            )
        cells = _convert.combined(_convert.Pieces(list(x.coords), x.values, x.shape))
        return cells.coords, cells.values, x.shape[0]

    def _projection(self) -> _Projection:
        return _Projection(self.model_.factors[1:], nonneg=bool(self.nonneg), missing=self.missing)

    def transform(self, X: Any) -> Floats:
        """The scores of samples, which need not be those of ``fit``: an array of samples × n_components."""
        coords, values, num_samples = self._entries(X)
        return self._projection().scores(coords[0], coords[1:], values, num_samples)

    def score(self, X: Any, y: Any = None) -> float:
        """1 - |X - model| / |X| for these samples, with the scores of ``transform``."""
        coords, values, num_samples = self._entries(X)
        projection = self._projection()
        scores = projection.scores(coords[0], coords[1:], values, num_samples)
        return projection.fit_of(coords[0], coords[1:], values, scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing
        return tags


class TensorFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns a table of events into features of what takes part in them.

    The events are a tensor with a mode for each of ``columns`` (as ``modes`` of ``polyad.from_frame``:
    ``["user", "page", "when:weekday"]``), whose cells are counts, or the column ``values`` combined by
    ``agg``. Its CP decomposition is computed by ``fit``. ``transform`` gives each row of a table the
    component scores of its entry in the column ``mode`` (default: the first), which follow from all
    events of that entry in this table; so it has as many rows as the table and may stand in a pipeline.
    The entries may be new; names of the other columns that did not occur in ``fit`` are left out, with a
    warning.

    Attributes after ``fit``: ``model_``, the ``polyad.CPModel``; ``components_``, a dict with an array of
    n_components × extent for each other column; ``labels_``, a dict with the names of its indices;
    ``n_iter_``.
    """

    def __init__(
        self,
        columns: Sequence[str] = (),
        *,
        mode: str | None = None,
        n_components: int = 8,
        values: str | None = None,
        time: Mapping[str, object] | None = None,
        agg: str = "sum",
        nonneg: bool = True,
        max_iter: int = 50,
        tol: float = 1e-5,
        starts: int = 1,
        random_state: Any = 1,
        threads: int | None = None,
    ) -> None:
        self.columns = columns
        self.mode = mode
        self.n_components = n_components
        self.values = values
        self.time = time
        self.agg = agg
        self.nonneg = nonneg
        self.max_iter = max_iter
        self.tol = tol
        self.starts = starts
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> TensorFeatures:
        x = from_frame(X, list(self.columns), self.values, time=self.time, agg=self.agg)
        self._place = 0 if self.mode is None else self._place_of(self.mode, list(x.modes))
        self.model_: CPModel = _decomposed(self, x)
        others = [(name, m) for m, name in enumerate(x.modes) if m != self._place]
        self.components_ = {name: np.ascontiguousarray(self.model_.factors[m].T) for name, m in others}
        self.labels_ = {name: x.labels[m] for name, m in others}
        self.n_iter_ = self.model_.history.iterations
        return self

    @staticmethod
    def _place_of(mode: str, modes: list[str]) -> int:
        if mode not in modes:
            raise ValueError(
                f"mode={mode!r}: expected one of columns, which are {', '.join(map(repr, modes))}"
            )
        return modes.index(mode)

    @property
    def _n_features_out(self) -> int:
        return self.model_.rank

    def _scores(self, X: Any) -> tuple[Indices, list[str], Floats]:
        """Of each row its entry, the names of the entries, and their scores."""
        check_is_fitted(self, "model_")
        known: list[Sequence[str] | None] = list(self.model_.labels)
        known[self._place] = None
        places, labels = _convert.frame_places(X, list(self.columns), known, time=self.time)
        entries, names = places[self._place], labels[self._place]
        values = np.ones(len(entries)) if self.values is None else _convert.frame_values(X, self.values)
        is_known = np.logical_and.reduce([indices >= 0 for indices in places])
        if not is_known.all():
            warnings.warn(
                f"{int((~is_known).sum())} of {len(is_known)} rows have names that the table of fit did not "
                f"have, and are "
                "left out of the scores",
                stacklevel=3,
            )
        coords = [indices[is_known] for indices in places]
        shape = tuple(len(of_mode) for of_mode in labels)
        cells = _convert.combined(_convert.Pieces(coords, values[is_known], shape), self.agg)
        others = [m for m in range(len(coords)) if m != self._place]
        projection = _Projection(
            [self.model_.factors[m] for m in others], nonneg=bool(self.nonneg), missing=False
        )
        of_others = [cells.coords[m] for m in others]
        return (
            entries,
            names,
            projection.scores(cells.coords[self._place], of_others, cells.values, len(names)),
        )

    def transform(self, X: Any) -> Floats:
        """Of each row of the table the scores of its entry in the column ``mode``: rows × n_components."""
        entries, _, scores = self._scores(X)
        return np.asarray(scores[entries])

    def entries(self, X: Any) -> tuple[list[str], Floats]:
        """The different entries of the column ``mode``, in the order of their labels, and the scores of
        each."""
        _, names, scores = self._scores(X)
        return names, scores
