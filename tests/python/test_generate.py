"""Synthetic tensors: those of the program, bit for bit."""

from __future__ import annotations

import numpy as np
import polyad
import pytest
from polyad import generate


def require_same(ours: polyad.Tensor, theirs: polyad.Tensor) -> None:
    assert ours.shape == theirs.shape
    assert all(np.array_equal(a, b) for a, b in zip(ours.coords, theirs.coords, strict=True))
    assert np.array_equal(ours.values, theirs.values)


SHAPE = ["--dims", "30x20x10"]


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: generate.zipf((30, 20, 10), 500), ["zipf", *SHAPE, "--nnz", 500]),
        (lambda: generate.zipf((30, 20, 10), 300, exponents=[0.6, 0.6, 0.9], fiber_mode=1, fiber_mean=2, ordered=True, seed=4),
         ["zipf", *SHAPE, "--nnz", 300, "--exponents", "0.6,0.6,0.9", "--fiber-mode", 2, "--fiber-mean", 2, "--ordered", "--seed", 4]),
        (lambda: generate.communities((30, 20, 10), 400, (5, 4, 3), blocks=4, block_share=0.2),
         ["communities", *SHAPE, "--nnz", 400, "--block-dims", "5x4x3", "--blocks", 4, "--block-share", 0.2]),
        (lambda: generate.corner((30, 20, 10), 400, (5, 4, 3), corner_share=0.2, diagonal_share=0.4, diagonal_distance=3),
         ["corner", *SHAPE, "--nnz", 400, "--corner-dims", "5x4x3", "--corner-share", 0.2, "--diagonal-share", 0.4,
          "--diagonal-distance", 3]),
        (lambda: generate.like("fb", scale=0.001, nnz=200, seed=2), ["like", "fb", "--scale", 0.001, "--nnz", 200, "--seed", 2]),
    ],
)
def test_same_as_the_program(program, tmp_path, make, words):
    kind, *rest = words
    place = [rest.pop(0), tmp_path / "x.ptb"] if kind == "like" else [tmp_path / "x.ptb"]
    program("generate", kind, *place, *rest, "-q")
    require_same(make(), polyad.read(tmp_path / "x.ptb"))


def test_planted(program, tmp_path):
    program("generate", "planted", tmp_path / "x.ptb", *SHAPE, "--nnz", 600, "-r", 3, "--noise", 0.1, "-q")
    ours = generate.planted((30, 20, 10), 600, rank=3, noise=0.1)
    require_same(ours.tensor, polyad.read(tmp_path / "x.ptb"))
    truth = polyad.CPModel.load(tmp_path / "x-truth.ktensor")
    assert all(np.array_equal(a, b) for a, b in zip(ours.truth.factors, truth.factors, strict=True))
    exact = generate.planted((30, 20, 10), 600, rank=3)
    assert polyad.compare(polyad.cp(exact.tensor, 3, max_iter=200, starts=3), exact.truth).score > 0.95
    assert generate.planted((9, 8, 7), observed=0.5).tensor.nnz == 252


def test_ratings(program, tmp_path):
    program("generate", "ratings", tmp_path / "r.ptb", "--users", 40, "--items", 30, "--nnz", 500, "--test", 0.2, "-r", 3, "-q")
    ours = generate.ratings(40, 30, 500, factors=3, test=0.2)
    require_same(ours.train, polyad.read(tmp_path / "r.ptb"))
    require_same(ours.test, polyad.read(tmp_path / "r-test.ptb"))
    assert 0 < ours.noise_floor < 1


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="2"):
        generate.zipf((2, 2), 5)
    with pytest.raises(ValueError):
        generate.like("nothing")
