"""The number of components, and plans for processes."""

from __future__ import annotations

import json

import numpy as np
import polyad
import pytest


def planted(seed: int = 1) -> polyad.Tensor:
    random = np.random.default_rng(seed)
    factors = [random.random((extent, 2)) * (random.random((extent, 2)) < 0.5) for extent in (12, 10, 8)]
    whole = np.einsum("ar,br,cr->abc", *factors)
    coords = np.nonzero(whole)
    return polyad.from_pieces(list(coords), whole[coords], whole.shape)


def test_rank():
    found = polyad.rank(planted(), range(1, 4), starts=2)
    assert found.best == 2 and found.why
    assert [row["components"] for row in found.table] == [1, 2, 3]
    assert found.table[1]["fit"] > 0.999 and "fit" in repr(found)


def test_rank_is_that_of_the_program(debian, program):
    theirs = json.loads(program("rank", debian, "--components", "1-2", "--starts", 2, "-i", 5, "-t", 2, "-q", "--json", "-"))
    ours = polyad.rank(polyad.read(debian), [2, 1], starts=2, max_iter=5, threads=2)
    assert ours.table == theirs["counts"] and ours.best == theirs["recommended"]


def test_plan_is_that_of_the_program(debian, program, tmp_path):
    theirs = json.loads(program("plan", debian, "-r", 8, "-k", "4,16", "-t", 2, "-q", "--json", "-"))
    ours = polyad.plan(polyad.read(debian), 8, [4, 16], threads=2)
    assert [c["volume_words"] for c in ours.candidates] == [c["volume_words"] for c in theirs["strategies"]]
    assert ours.recommended["processes"] in (4, 16) and "16" in repr(ours)
    ours.report(tmp_path / "plan.html")
    assert (tmp_path / "plan.html").stat().st_size > 1000
    assert polyad.plan(polyad.read(debian), 8, 4, memory="1kB").recommended is None


def test_faults():
    x = planted()
    for call, option in [
        (lambda: polyad.rank(x, [0]), "components"),
        (lambda: polyad.rank(x, starts=0), "starts"),
        (lambda: polyad.rank(x, holdout=0.9), "holdout"),
        (lambda: polyad.plan(x, 0), "rank"),
        (lambda: polyad.plan(x, 2, []), "processes"),
    ]:
        with pytest.raises(ValueError) as caught:
            call()
        assert caught.value.option == option


@pytest.mark.parametrize(
    "keywords, words",
    [
        ({}, []),
        ({"model": "coarse", "weights": "together", "effort": "fast"}, ["--model", "coarse", "--weights", "together", "--level", "fast"]),
        ({"method": "bisection", "metric": "lambda2", "rho": 3, "imbalance": 0.1, "seed": 2},
         ["--method", "bisection", "--metric", "lambda2", "--rho", 3, "--imbalance", 0.1, "--seed", 2]),
        ({"method": "random"}, ["--method", "random"]),
    ],
)
def test_partition_is_that_of_the_program(program, make_tensor, tmp_path, keywords, words):
    x = make_tensor(3, shape=(12, 9, 7), nnz=150)
    x.save(tmp_path / "x.tns")
    program("partition", tmp_path / "x.tns", "-k", 3, "--no-cache", "--out", tmp_path / "x.part", "-q", *words)
    found = polyad.partition(polyad.read(tmp_path / "x.tns"), 3, cache=False, **keywords)
    parts, metrics = found
    assert parts.tolist() == [int(line) for line in (tmp_path / "x.part").read_text().split()]
    assert metrics["parts"] == 3 and str(metrics["connectivity"]) and repr(found)
    found.save(tmp_path / "ours.part")
    assert (tmp_path / "ours.part").read_bytes() == (tmp_path / "x.part").read_bytes()


def test_partition_refuses_nonsense(make_tensor):
    x = make_tensor(3)
    with pytest.raises(ValueError, match="model='slices': expected one of fine"):
        polyad.partition(x, 2, model="slices")
    with pytest.raises(ValueError):
        polyad.partition(x, 0)


def test_compare_is_that_of_the_program(program, make_tensor, tmp_path):
    x = make_tensor(3, shape=(12, 9, 7), nnz=150)
    one, other = (polyad.cp(x, rank, max_iter=20, seed=rank) for rank in (3, 4))
    one.save(tmp_path / "one.npz")
    other.save(tmp_path / "other.npz")
    theirs = json.loads(program("compare", tmp_path / "one.npz", tmp_path / "other.npz", "-q", "--json", "-"))
    ours = polyad.compare(one, other)
    assert ours.score == theirs["score"] and len(ours.pairs) == 3
    assert ours.info["score"] == ours.score and ours.summary
    assert polyad.compare(one, (one.weights, one.factors)).score == pytest.approx(1)
    assert {pair.first for pair in ours.pairs} == {0, 1, 2} and ours.pairs[0].congruence >= ours.pairs[1].congruence
    with pytest.raises(ValueError):
        polyad.compare(one, polyad.cp(make_tensor(1), 2, max_iter=2))
