"""What test_mpi.py runs on several processes: mpirun -n 3 python mpi_script.py NAME ARGUMENTS. Each part ends with the word
that the test waits for, from every process."""

from __future__ import annotations

import pathlib
import pickle
import sys
import warnings
from typing import Any

import numpy as np
from conftest import random_tensor
from mpi4py import MPI

import polyad

WORLD = MPI.COMM_WORLD


def largest_difference(one: Any, other: Any) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(one, other))


def require_same_model(mine: polyad.CPModel, alone: polyad.CPModel) -> None:
    assert abs(mine.fit - alone.fit) < 1e-12, (mine.fit, alone.fit)
    assert np.allclose(mine.weights, alone.weights, rtol=1e-12, atol=0), mine.weights - alone.weights
    assert largest_difference(mine.factors, alone.factors) < 1e-12, largest_difference(mine.factors, alone.factors)
    assert mine.history.iterations == alone.history.iterations and mine.stop == alone.stop
    assert mine.labels == alone.labels and mine.modes == alone.modes
    assert mine.info["processes"] == WORLD.size


def part_of(x: polyad.Tensor) -> polyad.Tensor:
    """Every third entry, or so: another part on every process."""
    mine = slice(WORLD.rank, None, WORLD.size)
    return polyad.from_pieces([c[mine] for c in x.coords], x.values[mine], x.shape, x.modes, x.labels, comm=WORLD)


def cp(_: list[str]) -> None:
    """The model of one process, from the same tensor on all, from parts and from a list of options."""
    runs: list[dict[str, Any]] = [{}, {"method": "opt"}, {"nonneg": True}, {"missing": True, "test": 0.1}, {"implicit": True}]
    for seed, options in enumerate(runs):
        x = random_tensor(seed, shape=(11, 8, 6), nnz=200, labelled=seed % 2 == 0)
        if "nonneg" in options or "implicit" in options:
            x = polyad.from_pieces(x.coords, np.abs(x.values), x.shape, x.modes, x.labels)
        options = {"rank": 3, "max_iter": 4, "tol": 0, "seed": seed, "threads": 1, **options}
        alone = polyad.cp(x, **options)
        require_same_model(polyad.cp(x, comm=WORLD, **options), alone)
        require_same_model(polyad.cp(part_of(x), **options), alone)


def distribution(words: list[str]) -> None:
    """Every way to distribute gives the model of one process."""
    x = random_tensor(3, shape=(11, 8, 6), nnz=200, labelled=True)
    options: dict[str, Any] = {"rank": 3, "max_iter": 4, "tol": 0, "threads": 1}
    alone = polyad.cp(x, **options)
    fine = polyad.partition(x, WORLD.size, effort="fast", cache=False)
    coarse = polyad.partition(x, WORLD.size, model="coarse", effort="fast", cache=False)
    file = pathlib.Path(words[0], "parts")
    if WORLD.rank == 0:
        fine.save(file)
    WORLD.Barrier()
    last = WORLD.size - 1
    ways: list[tuple[dict[str, Any], str, str]] = [
        ({"distribution": "coarse"}, "coarse", ""),
        ({"distribution": "coarse", "partition": "random"}, "coarse", "random"),
        ({"distribution": "medium"}, "medium", ""),
        ({"grid": (1, WORLD.size, 1)}, "medium", ""),
        ({"grid": f"{WORLD.size}x1x1"}, "medium", ""),
        ({"grid": "splatt"}, "medium", ""),
        ({"distribution": "fine", "partition": "random"}, "fine", "random"),
        ({"partition": fine}, "fine", "file"),
        ({"partition": coarse}, "coarse", "file"),
        ({"distribution": "fine", "partition": fine.parts}, "fine", "file"),
        ({"distribution": "fine", "partition": file}, "fine", "file"),
        ({"distribution": "coarse", "partition": np.full(25, last)}, "coarse", "file"),  # all on one process
    ]
    for way, scheme, partition in ways:
        for given in (x, part_of(x)):
            if partition == "file" and scheme == "fine" and given is not x:
                continue  # parts are in the order of the entries
            mine = polyad.cp(given, comm=WORLD, **way, **options)
            require_same_model(mine, alone)
            found = {key: mine.info.get(key) for key in ("distribution", "partition", "grid")}
            assert found["distribution"] == scheme and partition in ("", found["partition"]), (way, found)
            if isinstance(way.get("grid"), tuple):
                assert found["grid"] == list(way["grid"]), (way, found)
    raises(ValueError, "expected one of auto", lambda: polyad.cp(x, 2, comm=WORLD, distribution="thin"))
    raises(ValueError, "processes", lambda: polyad.cp(x, 2, comm=WORLD, grid=(WORLD.size, 2, 1)))
    raises(ValueError, "other arguments", lambda: polyad.cp(x, 2, comm=WORLD, grid=(1, 1 + WORLD.rank, 1)))
    raises(ValueError, "distribution", lambda: polyad.cp(x, 2, comm=WORLD, partition=fine.parts))
    raises(ValueError, "fine", lambda: polyad.cp(x, 2, comm=WORLD, partition=fine, distribution="coarse"))


def checkpoints(words: list[str]) -> None:
    """A run of several processes goes on where that of another number stopped."""
    x = random_tensor(4, labelled=True)
    options: dict[str, Any] = {"rank": 3, "tol": 0, "threads": 1}
    alone = polyad.cp(x, max_iter=9, **options)
    place = pathlib.Path(words[0], "states")
    begun = polyad.cp(x, max_iter=50, comm=WORLD, checkpoint=place, callback=lambda it: it.iteration < 4, **options)
    assert begun.stop == "callback" and begun.history.iterations == 4
    mine = polyad.cp(x, max_iter=9, comm=WORLD, checkpoint=place, every="2it", **options)
    require_same_model(mine, alone)
    assert mine.info["checkpoint"]["resumed_iteration"] == 4
    raises(ValueError, "another directory", lambda: polyad.cp(x, 4, comm=WORLD, checkpoint=place))


def einsum(_: list[str]) -> None:
    """The result of one process, on every process."""
    random = np.random.default_rng(2)
    shapes = [("acik,bcjk->abji", (5, 4, 3, 6), (2, 4, 7, 6)), ("ij,jk->ik", (9, 1), (1, 5)), ("ij,ij->", (4, 6), (4, 6)),
              ("i,j->ij", (1,), (7,)), ("iij,jk->ik", (3, 3, 4), (4, 2)), ("ij,jk->ik", (0, 3), (3, 2))]
    for expression, one, other in shapes:
        for kind, tolerance in [(np.float64, 1e-12), (np.float32, 1e-4)]:
            a, b = random.normal(size=one).astype(kind), np.asfortranarray(random.normal(size=other).astype(kind))
            mine = polyad.einsum(expression, a, b, comm=WORLD)
            assert mine.dtype == kind and mine.shape == np.einsum(expression, a, b).shape
            assert np.allclose(mine, np.einsum(expression, a, b), atol=tolerance), expression
            assert len(set(WORLD.allgather(mine.tobytes()))) == 1
    a, b = np.ones((4, 6)), np.ones((6, 5))
    for grid in [(WORLD.size,), (1, WORLD.size), f"{WORLD.size}x1"]:
        assert (polyad.einsum("ij,jk->ik", a, b, comm=WORLD, grid=grid) == 6).all()
    raises(ValueError, "array b", lambda: polyad.einsum("ij,jk->ik", a, b + WORLD.rank, comm=WORLD))
    raises(ValueError, "other arguments", lambda: polyad.einsum("ij,jk->ik" if WORLD.rank else "ij,jk->ki", a, b, comm=WORLD))
    raises(ValueError, "processes", lambda: polyad.einsum("ij,jk->ik", a, b, comm=WORLD, grid=(WORLD.size, 2)))
    last = WORLD.rank == WORLD.size - 1
    raises(ValueError if last else polyad.Error, "real", lambda: polyad.einsum("ij,jk->ik", a, b * (1j if last else 1), comm=WORLD))


def rank(_: list[str]) -> None:
    """The table of one process, to the last bit, whoever does which start."""
    for seed, starts in [(1, 3), (2, 1), (3, 4)]:
        x = polyad.generate.planted((14, 12, 9), 400, rank=2, noise=0.1, seed=seed).tensor
        init = "svd" if seed == 3 else "auto"
        options: dict[str, Any] = {"starts": starts, "max_iter": 20, "threads": 1, "seed": seed, "init": init}
        alone = polyad.rank(x, [1, 2, 3], **options)
        for given in (x, part_of(x)):
            mine = polyad.rank(given, [1, 2, 3], comm=WORLD, **options)
            assert mine.best == alone.best and mine.why == alone.why and mine.info["processes"] == WORLD.size
            assert mine.table == alone.table or given is not x, (mine.table, alone.table)
            assert [one["components"] for one in mine.table] == [1, 2, 3]
    raises(ValueError, "other arguments", lambda: polyad.rank(x, [1, 2 + WORLD.rank], comm=WORLD))
    raises(ValueError, "ascending", lambda: polyad.rank(x, [0], comm=WORLD))
    raises(MemoryError, "does not fit", lambda: polyad.rank(x, [1], comm=WORLD, memory=1000))


def model(words: list[str]) -> None:
    """The model belongs to each process: what it does needs no others, in any order."""
    x = random_tensor(5, labelled=True)
    mine = polyad.cp(x, 3, comm=WORLD, max_iter=5, threads=1)
    alone = polyad.cp(x, 3, max_iter=5, threads=1)
    if WORLD.rank == WORLD.size - 1:
        assert mine.summary() and mine.details() and mine._repr_html_()
        assert repr(mine.components()) and largest_difference([mine.predict(x)], [alone.predict(x)]) < 1e-12
    place = pathlib.Path(words[0], f"model-{WORLD.rank}")
    mine.save(place)
    again = polyad.CPModel.load(place)
    assert again.fit == mine.fit and largest_difference(again.factors, mine.factors) == 0
    copy = pickle.loads(pickle.dumps(mine))
    assert copy.fit == mine.fit and copy.labels == mine.labels
    further = polyad.cp(x, 3, comm=WORLD, init=mine, max_iter=2, threads=1)
    assert abs(further.fit - polyad.cp(x, 3, init=alone, max_iter=2, threads=1).fit) < 1e-12


def files(words: list[str]) -> None:
    """Every process reads a part, and all have the labels."""
    whole = polyad.read(words[0])
    mine = polyad.read(words[0], comm=WORLD)
    assert WORLD.allreduce(mine.nnz) == whole.nnz and mine.nnz < whole.nnz
    assert mine.shape == whole.shape and mine.labels == whole.labels and mine.comm is WORLD
    assert mine.stats()["nnz"] == whole.nnz
    require_same_model(polyad.cp(mine, 4, max_iter=4, threads=1), polyad.cp(whole, 4, max_iter=4, threads=1))


def recommender(_: list[str]) -> None:
    for seed, options in enumerate([{}, {"method": "als"}, {"implicit": True}, {"lists": "ratings", "dtype": "float64"}]):
        random = np.random.default_rng(seed)
        cells = random.choice(40 * 30, size=600, replace=False)
        ratings = polyad.from_pieces([cells // 30, cells % 30], random.integers(1, 6, 600), (40, 30))
        given = {"factors": 4, "epochs": 4, "threads": 1, **options}
        mine = polyad.Recommender(**given).fit(ratings, test=0.1, comm=WORLD)
        everyone = WORLD.allgather(mine.user_factors.tobytes())
        assert all(one == everyone[0] for one in everyone)
        ids, scores = mine.recommend([1, 2, 3], N=5)  # needs no other process
        assert all(one == (ids.tolist(), scores.tolist()) for one in WORLD.allgather((ids.tolist(), scores.tolist())))
        if "method" in options or "implicit" in options:  # SGD visits ratings in another order on several processes
            alone = polyad.Recommender(**given).fit(ratings, test=0.1)
            tolerance = 1e-4  # of float32
            assert largest_difference([mine.user_factors, mine.item_factors], [alone.user_factors, alone.item_factors]) < tolerance
            assert (alone.recommend([1, 2, 3], N=5)[0] == ids).all()
        copy = pickle.loads(pickle.dumps(mine))
        assert (copy.recommend([1, 2, 3], N=5)[0] == ids).all()
    split = polyad.generate.ratings(400, 300, 20000, test=0.1)
    errors = [
        polyad.Recommender(8, epochs=30, threads=1, lists="ratings").fit(split.train, test=split.test, comm=comm).test_rmse or 0.0
        for comm in (WORLD, MPI.COMM_SELF)
    ]
    assert abs(errors[0] / errors[1] - 1) < 0.01 and errors[0] < 0.9, errors  # another order, but as good a model


def host(_: list[str]) -> None:
    """Messages and collectives of another library on the same communicator never meet those of the package."""
    x = random_tensor(7)
    size, rank = WORLD.size, WORLD.rank
    for _round in range(2):
        received = [bytearray(8) for _ in range(4)]
        waiting = [WORLD.Irecv([buffer, MPI.BYTE], source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG) for buffer in received]
        total = np.zeros(1)
        reducing = WORLD.Iallreduce(np.ones(1), total)
        mine = polyad.cp(x, 2, comm=WORLD, max_iter=3)
        sending = [WORLD.Isend([b"%8d" % rank, MPI.BYTE], dest=(rank + 1) % size, tag=tag) for tag in (0, 1, 15, 32766)]
        assert polyad.cp(x, 2, comm=WORLD, max_iter=3).fit == mine.fit
        MPI.Request.Waitall([*waiting, *sending, reducing])
        assert total[0] == size and {bytes(buffer) for buffer in received} == {b"%8d" % ((rank - 1) % size)}
    for _round in range(2):  # communicators of the host come and go
        half = WORLD.Split(rank % 2, -rank)
        fit = polyad.cp(x, 2, comm=half, max_iter=3).fit
        assert abs(fit - mine.fit) < 1e-12
        half.Free()
    assert polyad.cp(x, 2, comm=MPI.COMM_SELF, max_iter=3).info["processes"] == 1


def raises(kind: type[BaseException], text: str, call: Any) -> None:
    try:
        call()
    except kind as error:
        assert text in str(error), (text, str(error))
    else:
        raise AssertionError(f"expected an error: {text}")


def errors(words: list[str]) -> None:
    """An error on one process is an error on all; then all go on."""
    x, rank = random_tensor(9), WORLD.rank
    last = rank == WORLD.size - 1
    raises(ValueError if last else polyad.Error, "cannot", lambda: polyad.cp(Bad() if last else x, 2, comm=WORLD))
    raises(ValueError, "other arguments", lambda: polyad.cp(x, 2 + rank, comm=WORLD))
    raises(ValueError, "another tensor than process 0", lambda: polyad.cp(random_tensor(9 + rank), 2, comm=WORLD))
    raises(ValueError, "other dims", lambda: polyad.from_pieces([[0], [0]], [1.0], (2, 2 + rank), comm=WORLD))
    raises(ValueError, "shape", lambda: polyad.tensor(([[0, 1], [0, 1]], [1.0, 2.0]), comm=WORLD))
    raises(ValueError, "rank", lambda: polyad.cp(x, 0, comm=WORLD))
    raises(OSError, "missing.tns", lambda: polyad.read(pathlib.Path(words[0], "missing.tns"), comm=WORLD))
    raises(ValueError, "mpi4py", lambda: polyad.cp(x, 2, comm="world"))
    raises(polyad.Error, "MPI_COMM_NULL", lambda: polyad.cp(x, 2, comm=MPI.COMM_NULL))

    def fail(_: Any) -> None:
        if last:
            raise KeyError("of the callback")

    raises(KeyError if last else polyad.Error, "of the callback", lambda: polyad.cp(x, 2, comm=WORLD, callback=fail))
    stopped = polyad.cp(x, 2, comm=WORLD, max_iter=50, tol=0, callback=lambda it: not last or it.iteration < 3)
    assert stopped.stop == "callback" and stopped.history.iterations == 3
    assert polyad.cp(x, 2, comm=WORLD, max_iter=3).history.iterations == 3


class Bad:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("cannot be read here")


def alone(_: list[str]) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _round in range(2):
            polyad.cp(random_tensor(1), 2, max_iter=2)
    assert [str(one.message) for one in told] == [
        f"{WORLD.size} processes run, and each works alone; comm=MPI.COMM_WORLD makes them work together"
    ]
    assert told[0].filename == __file__, told[0].filename


if __name__ == "__main__":
    if sys.argv[1] != "alone":
        warnings.filterwarnings("ignore", message=".*each works alone")
    globals()[sys.argv[1]](sys.argv[2:])
    print("done", flush=True)
