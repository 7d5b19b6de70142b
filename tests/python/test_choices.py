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
