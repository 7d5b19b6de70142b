"""Recommenders: models of ratings, or of what users chose."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _core, _mpi
from ._cp import is_single
from ._errors import Error, bad_option
from ._host import Progress, host, memory_bytes, seconds_of, set_checkpoint, set_numbers
from ._tensor import PathLike, Tensor, comm_of, share, tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Lists = tuple[NDArray[np.int64], NDArray[np.float64]]

Id = Union[int, str]
ItemRatings = tuple[Sequence[Id], Sequence[float]]  # users, and what they gave


def _held_out(options: _core.CompleteOptions, name: str, what: Any) -> Tensor | None:
    """Which ratings are not learned from: a share, "leave-one-out", or a tensor, which is returned."""
    if what is None:
        return None
    if isinstance(what, str):
        if what != "leave-one-out":
            raise bad_option(name, f"{name}={what!r}: expected a share as in 0.1, 'leave-one-out' or ratings")
        getattr(options, f"{name}_leave_one_out")()
    elif np.isscalar(what):
        getattr(options, f"{name}_fraction")(float(what))  # type: ignore[arg-type]
    else:
        return tensor(what)
    return None


def _whole_numbers(ids: Any, name: str) -> list[int]:
    numbers = np.asarray(ids)
    if numbers.size == 0:
        return []
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
        raise bad_option(name, f"{name}: expected numbers of items, from 0")
    return [int(number) for number in numbers]


# By their names in the library.
_NUMBERS = {
    "factors": "factors",
    "max_epochs": "epochs",
    "alpha": "alpha",
    "learning_rate": "lr",
    "decay": "decay",
    "regularisation": "reg",
    "shrinkage": "shrink",
    "popularity": "popularity",
    "neighbours": "neighbours",
    "cg_steps": "cg_steps",
    "patience": "patience",
    "seed": "seed",
}


class Recommender:
    """Learns from ratings of items by users what else they would like. The methods have the names that they have in the
    package implicit. Users and items are numbers from 0, or labels where the ratings have any.

    ``implicit=True`` learns from what users chose, such as clicks or counts; otherwise values are ratings, which ``predict``
    predicts. Lists are then by a second model, trained for lists; ``lists="ratings"`` ranks by predicted rating.
    docs/complete.md explains the other options.
    """

    def __init__(
        self,
        factors: int = 16,
        *,
        implicit: bool = False,
        method: str = "sgd",
        epochs: int = 50,
        alpha: float = 3.0,
        lr: float | None = None,
        schedule: str = "adagrad",
        decay: float | None = None,
        reg: float | None = None,
        shrink: float | None = None,
        bias: bool = True,
        lists: str = "auto",
        popularity: float | None = None,
        neighbours: float | None = None,
        solver: str = "auto",
        cg_steps: int | None = None,
        patience: int = 3,
        seed: int = 1,
        dtype: Any = "float32",
        device: str = "auto",
        threads: int | None = None,
    ) -> None:
        self._options = {
            "factors": factors,
            "implicit": implicit,
            "method": method,
            "epochs": epochs,
            "alpha": alpha,
            "lr": lr,
            "schedule": schedule,
            "decay": decay,
            "reg": reg,
            "shrink": shrink,
            "bias": bias,
            "lists": lists,
            "popularity": popularity,
            "neighbours": neighbours,
            "solver": solver,
            "cg_steps": cg_steps,
            "patience": patience,
            "seed": seed,
            "dtype": dtype,
            "device": device,
        }
        self._threads = threads
        self._core: _core.CompletionModel | None = None
        self._interrupted = False
        self._arrays: dict[str, NDArray[np.float64]] = {}

    def _training_options(self) -> _core.CompleteOptions:
        given = self._options
        options = _core.CompleteOptions()
        set_numbers(options, **{field: (keyword, given[keyword]) for field, keyword in _NUMBERS.items()})
        options.implicit = bool(given["implicit"])
        options.set_method(given["method"])
        options.set_schedule(given["schedule"])
        options.no_bias = not given["bias"]
        options.set_lists(given["lists"])
        options.set_solver(given["solver"])
        options.set_single(is_single(given["dtype"]))
        options.set_device(given["device"])
        return options

    def fit(
        self,
        user_items: Any,
        *,
        test: Any = None,
        validate: Any = None,
        ranking: int = 10,
        relevant: float | None = None,
        memory: str | int | None = None,
        checkpoint: PathLike | None = None,
        every: str = "10min",
        keep: int = 2,
        time_limit: str | float | None = None,
        callback: Callable[[Any], object] | None = None,
        progress: Progress = "auto",
        comm: Any = None,
    ) -> Recommender:
        """Learns from a matrix of users x items: a ``Tensor`` of two modes or anything that ``polyad.tensor`` takes.

        ``test`` ratings are not learned from and measure the model: a share as in 0.1, "leave-one-out", or ratings of their
        own; ``validate`` ratings choose the epoch. ``callback`` is called after each epoch with ``epoch``, ``train_rmse``,
        ``test_rmse`` and ``seconds``, and ends the training by returning False, as does Ctrl-C. With ``comm``, a communicator of
        mpi4py, its processes work together, as in ``cp``, and all get the whole model.

        ``checkpoint`` is a folder that keeps the state of the training, after so much time or so many epochs as ``every`` says
        ("10min", "20it"), and at its end; the newest ``keep`` stay. The same call again, of a recommender with the same options,
        goes on from there. ``time_limit`` ("1h50m", or seconds) ends the training before, with the model so far; ``stop`` is then
        "time".
        """
        arguments = {**self._options, **locals()}
        comm = comm_of(user_items, comm)
        processes = None if comm is None else _mpi.group(comm)
        _mpi.require_same(processes, arguments)
        with _mpi.agreed(processes):
            given = tensor(user_items)
            options = self._training_options()
            others = {name: _held_out(options, name, what) for name, what in [("test", test), ("validate", validate)]}
            options.ranking = ranking
            options.relevant = relevant
            options.max_memory_bytes = memory_bytes(memory)
            options.max_seconds = seconds_of(time_limit)
            set_checkpoint(options, checkpoint, every, keep)
            informed = host(self._threads, progress, processes)
        for name, ratings in others.items():
            if ratings is not None:
                of_task = ratings._core if comm is None else share(ratings, comm)[0]
                getattr(options, f"{name}_tensor")(of_task)
        mine, is_last_use = (given._core, given is not user_items) if comm is None else share(given, comm)
        core, interrupted = _core.complete(informed, mine, is_last_use, options, callback)
        self._core, self._interrupted, self._arrays = core, interrupted, {}
        if interrupted:
            warnings.warn("interrupted: the model of the epochs so far is kept", stacklevel=2)
        return self

    @property
    def _model(self) -> _core.CompletionModel:
        if self._core is None:
            raise Error("the recommender has not been fitted")
        return self._core

    def _array(self, name: str) -> NDArray[np.float64]:
        if name not in self._arrays:
            self._arrays[name] = getattr(self._model, name)()
        return self._arrays[name]

    @property
    def user_factors(self) -> NDArray[np.float64]:
        return self._array("user_factors")

    @property
    def item_factors(self) -> NDArray[np.float64]:
        return self._array("item_factors")

    @property
    def user_biases(self) -> NDArray[np.float64]:
        """One for each user; none in a model without biases."""
        return self._array("user_biases")

    @property
    def item_biases(self) -> NDArray[np.float64]:
        return self._array("item_biases")

    @property
    def mean(self) -> float:
        """Of the ratings; 0 in a model without biases."""
        return self._model.mean

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of users and items."""
        return self._model.num_users, self._model.num_items

    @property
    def user_labels(self) -> list[str] | None:
        return self._model.labels(0)

    @property
    def item_labels(self) -> list[str] | None:
        return self._model.labels(1)

    @property
    def history(self) -> list[Any]:
        """The epochs of the training, with ``epoch``, ``train_rmse``, ``test_rmse`` and ``seconds``."""
        return self._model.epochs()

    @property
    def test_rmse(self) -> float | None:
        return self._model.test_rmse

    @property
    def stop(self) -> str | None:
        """Why the training ended: "epochs", "test_error", "converged", "callback", "time" or "interrupted"."""
        return "interrupted" if self._interrupted else self._model.stop

    @property
    def info(self) -> dict[str, Any]:
        """All figures of the training: the JSON of ``polyad complete`` (docs/json.md)."""
        info: dict[str, Any] = json.loads(self._model.json())
        return info

    def summary(self) -> str:
        """What was done, and the errors."""
        return self._model.summary()

    def _wanted(self, N: int, items: Any, filter_items: Any) -> _core.RecommendOptions:
        options = _core.RecommendOptions()
        options.top = N
        if items is not None:
            options.candidates = _whole_numbers(items, "items")
        if filter_items is not None:
            options.exclude = _whole_numbers(filter_items, "filter_items")
        return options

    def _lists(self, options: _core.RecommendOptions, N: int, one: bool) -> Lists:
        found = _core.recommend(host(self._threads), self._model, options)
        if one:
            ids, scores = found[0]
            return ids, scores
        ids = np.full((len(found), N), -1, dtype=np.int64)
        scores = np.full((len(found), N), -np.inf)
        for row, (row_ids, row_scores) in enumerate(found):
            ids[row, : len(row_ids)] = row_ids
            scores[row, : len(row_ids)] = row_scores
        return ids, scores

    def recommend(
        self,
        userid: Id | Sequence[Id] | None = None,
        N: int = 10,
        *,
        user_items: tuple[Sequence[int], Sequence[float]] | None = None,
        filter_already_liked_items: bool = True,
        filter_items: Any = None,
        items: Any = None,
    ) -> Lists:
        """The best items for a user: (items, scores), by descending score. Several users get arrays with a row for each;
        rows with fewer than N items end in -1.

        Somebody who is not in the model is described by ``user_items``, the numbers of items and their ratings. Only
        ``items`` are recommended, and none of ``filter_items``. Items without training ratings never are.
        """
        options = self._wanted(N, items, filter_items)
        options.with_rated = not filter_already_liked_items
        if user_items is not None:
            if userid is not None:
                raise bad_option("user_items", "user_items describes a new user: no userid goes with it")
            rated, ratings = user_items
            options.set_new_user(_whole_numbers(rated, "user_items"), [float(rating) for rating in ratings])
            return self._lists(options, N, True)
        if userid is None:
            raise bad_option("userid", "recommend needs a userid, or user_items of a new user")
        one = _set_ids(options, "users", "user_names", userid)
        return self._lists(options, N, one)

    def similar_items(
        self, itemid: Id | Sequence[Id], N: int = 10, *, support: float = 5.0, filter_items: Any = None, items: Any = None
    ) -> Lists:
        """The items most similar to one: (items, similarities). The cosine of one with n ratings is multiplied by
        n / (n + support)."""
        options = self._wanted(N, items, filter_items)
        options.support = support
        return self._lists(options, N, _set_ids(options, "similar_items", "similar_item_names", itemid))

    def similar_users(self, userid: Id | Sequence[Id], N: int = 10, *, support: float = 5.0) -> Lists:
        """The users most similar to one: (users, similarities)."""
        options = self._wanted(N, None, None)
        options.support = support
        return self._lists(options, N, _set_ids(options, "similar_users", "similar_user_names", userid))

    def add_items(self, items: Mapping[str, ItemRatings] | Sequence[ItemRatings]) -> NDArray[np.int64]:
        """Adds items that the training has not seen, and returns their numbers: for each its users and their ratings,
        ``(users, ratings)``, by label where items have labels, else in a list. The factors of users stay as they are; those of
        the items are what the training would find for them. They can be recommended, found and predicted from then on."""
        by_name = isinstance(items, Mapping)
        rated = list(items.items()) if isinstance(items, Mapping) else [("", one) for one in items]
        before, labels = self.shape[1], self.item_labels
        if by_name != (labels is not None):
            raise bad_option("items", "items: expected " + ("a list" if by_name else "a dict by label") + ", as items have "
                             + ("no labels" if by_name else "labels"))
        new = []
        for name, (users, ratings) in rated:
            rows = _numbers(users, self.user_labels)
            if rows.shape != np.shape(ratings) or rows.ndim != 1:
                raise bad_option("items", f"items: {name or 'an item'} has {rows.size} users and {np.size(ratings)} ratings")
            new.append((str(name), rows.tolist(), [float(rating) for rating in ratings]))
        self._core, self._arrays = _core.add_items(host(self._threads), self._model, new), {}
        if not by_name:
            return np.arange(before, before + len(new), dtype=np.int64)
        return _numbers([name for name, _, _ in new], self.item_labels) if new else np.empty(0, dtype=np.int64)

    def partial_fit_users(self, userids: Id | Sequence[Id], user_items: Any) -> Recommender:
        """Gives users the rows that the training would find for them with the items as they are: users of the model, whose
        ratings are replaced, or new ones, with numbers or labels that the model does not have. ``user_items`` has a row for each
        of ``userids``: a matrix, or a list of ``(items, ratings)``. A user without ratings is forgotten."""
        ids: list[Any] = [userids] if np.ndim(userids) == 0 else list(userids)  # type: ignore[arg-type]
        rows = _rows_of(user_items, self.item_labels)
        if len(rows) != len(ids):
            raise bad_option("user_items", f"user_items: {len(rows)} rows were given for {len(ids)} users")
        named = self.user_labels is not None
        new = []
        for one, (items, ratings) in zip(ids, rows):
            number = 0 if isinstance(one, str) else int(one)
            label = str(one) if isinstance(one, str) else ""
            if named and not label and 0 <= number < self.shape[0]:
                label = (self.user_labels or [])[number]
            new.append((number, label, items, ratings))
        self._core, self._arrays = _core.update_users(host(self._threads), self._model, new), {}
        return self

    def predict(self, users: Any, items: Any) -> Any:
        """Predicted ratings of items by users, pair by pair; with ``implicit``, preferences. They are not clipped to the range
        of the ratings."""
        rows, columns = np.broadcast_arrays(_numbers(users, self.user_labels), _numbers(items, self.item_labels))
        for ids, count, name in [(rows, self.shape[0], "users"), (columns, self.shape[1], "items")]:
            if ids.size and (ids.min() < 0 or ids.max() >= count):
                raise bad_option(name, f"{name}: the model has {count:,}, from 0")
        values = self.mean + np.einsum("...f,...f->...", self.user_factors[rows], self.item_factors[columns])
        if self.user_biases.size:
            values = values + self.user_biases[rows]
        if self.item_biases.size:
            values = values + self.item_biases[columns]
        return values

    def save(self, folder: PathLike) -> None:
        """Writes the folder that ``polyad recommend`` and ``Recommender.load`` read."""
        _core.save_completion_model(host(), self._model, os.fspath(folder))

    @classmethod
    def load(cls, folder: PathLike) -> Recommender:
        """Reads what ``save`` or ``polyad complete --out`` wrote."""
        model = cls()
        model._core = _core.load_completion_model(host(), os.fspath(folder))
        model._options["factors"] = model._core.num_factors
        return model

    def report(self, path: PathLike) -> None:
        """Writes an HTML report on the training."""
        _core.save_completion_report(host(), self._model, os.fspath(path))

    def __repr__(self) -> str:
        if self._core is None:
            return f"<polyad.Recommender of {self._options['factors']} factors, not fitted>"
        users, items = self.shape
        return f"<polyad.Recommender of {self._core.num_factors} factors, {users:,} users, {items:,} items>"

    def __getstate__(self) -> dict[str, Any]:
        state = {"options": self._options, "threads": self._threads, "interrupted": self._interrupted, "files": None}
        if self._core is not None:
            with tempfile.TemporaryDirectory() as folder:
                place = pathlib.Path(folder, "model")
                self.save(place)
                state["files"] = {file.name: file.read_bytes() for file in place.iterdir()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Options that came later have their defaults.
        self._options = {**type(self)()._options, **state["options"]}
        self._threads, self._arrays = state["threads"], {}
        self._interrupted, self._core = state["interrupted"], None
        if state["files"] is not None:
            with tempfile.TemporaryDirectory() as folder:
                place = pathlib.Path(folder, "model")
                place.mkdir()
                for name, contents in state["files"].items():
                    (place / name).write_bytes(contents)
                self._core = _core.load_completion_model(host(), os.fspath(place))


def _rows_of(user_items: Any, item_labels: list[str] | None) -> list[tuple[list[int], list[float]]]:
    """Items and ratings of each row of a matrix, or as they are given."""
    if isinstance(user_items, (list, tuple)):
        given = [user_items] if len(user_items) == 2 and np.ndim(user_items[0]) == 1 else list(user_items)
        return [(_numbers(items, item_labels).tolist(), [float(x) for x in ratings]) for items, ratings in given]
    matrix = tensor(user_items)
    if matrix.ndim != 2:
        raise bad_option("user_items", f"user_items: expected a matrix, found {matrix.ndim} modes")
    rows: list[tuple[list[int], list[float]]] = [([], []) for _ in range(matrix.shape[0])]
    for row, item, rating in zip(*(column.tolist() for column in matrix.coords), matrix.values.tolist()):
        rows[row][0].append(item)
        rows[row][1].append(rating)
    return rows


def _set_ids(options: _core.RecommendOptions, numbers: str, names: str, ids: Any) -> bool:
    """Sets one or several ids, which are numbers or labels; returns whether it is one."""
    one = np.ndim(ids) == 0
    wanted = [ids] if one else list(ids)
    if all(isinstance(one_id, str) for one_id in wanted):
        setattr(options, names, [str(one_id) for one_id in wanted])
    elif all(isinstance(one_id, (int, np.integer)) and not isinstance(one_id, bool) for one_id in wanted):
        setattr(options, numbers, [int(one_id) for one_id in wanted])
    else:
        raise bad_option("userid", f"{ids!r}: expected numbers from 0, or labels")
    return one


def _numbers(ids: Any, labels: list[str] | None) -> NDArray[np.int64]:
    values = np.asarray(ids)
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    places = {name: number for number, name in enumerate(labels or [])}
    unknown = [name for name in values.ravel() if str(name) not in places]
    if unknown:
        raise bad_option("ids", f"{unknown[0]!r}: expected a number from 0, or a label")
    found = [places[str(name)] for name in values.ravel()]
    return np.array(found, dtype=np.int64).reshape(values.shape)
