"""Contraction of dense arrays, against NumPy and the program."""

from __future__ import annotations

import numpy as np
import polyad
import pytest


def random_expression(random: np.random.Generator) -> tuple[str, np.ndarray, np.ndarray]:
    letters = list("abcdefgh")
    random.shuffle(letters)
    only_a, only_b, both, kept = (int(count) for count in random.integers(0, 3, size=4))
    kept = 0  # an index that all three have is no contraction
    a = letters[:only_a] + letters[4 : 4 + both]
    b = letters[2 : 2 + only_b] + letters[4 : 4 + both]
    if only_a + both == 0 or only_b + both == 0:
        return random_expression(random)
    c = letters[:only_a] + letters[2 : 2 + only_b]
    for names in (a, b, c):
        random.shuffle(names)
    extents = {letter: int(random.integers(1, 6)) for letter in letters}
    arrays = [random.normal(size=[extents[letter] for letter in names]) for names in (a, b)]
    return f"{''.join(a)},{''.join(b)}->{''.join(c)}", arrays[0], arrays[1]


def test_against_numpy():
    for seed in range(60):
        random = np.random.default_rng(seed)
        expression, a, b = random_expression(random)
        if seed % 3 == 1:
            a = np.asfortranarray(a)
        if seed % 3 == 2:
            b = np.repeat(b, 2, axis=0)[::2]
        found = polyad.einsum(expression, a, b)
        expected = np.einsum(expression, a, b)
        assert found.shape == expected.shape and found.dtype == np.float64, expression
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-12), expression


def test_single_precision_and_other_numbers():
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 4), dtype=np.float32)
    assert polyad.einsum("ik,kj->ij", a, b).dtype == np.float32
    assert polyad.einsum("ik,kj->ij", a, b.astype(int)).dtype == np.float64
    assert np.allclose(polyad.einsum("C[ij] = A[ik] * B[kj]", a, b.tolist()), a @ b)


def test_same_bits_as_the_program(program, tmp_path):
    random = np.random.default_rng(1)
    a, b = random.normal(size=(7, 5, 6, 4)), random.normal(size=(3, 5, 8, 4))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    program("contract", "acik,bcjk->abji", tmp_path / "a.npy", tmp_path / "b.npy", "-o", tmp_path / "c.npy", "-t", 2, "-q")
    assert np.array_equal(polyad.einsum("acik,bcjk->abji", a, b, threads=2), np.load(tmp_path / "c.npy"))


def test_explain(capsys):
    polyad.einsum("ik,kj->ij", np.ones((2, 3)), np.ones((3, 2)), explain=True)
    assert "C" in capsys.readouterr().out


def test_faults():
    for expression, shapes in [("ik,kj->ij", [(2, 3), (4, 2)]), ("ik,kj", [(2, 3), (3)]), ("i", [(2,), (2,)])]:
        with pytest.raises(ValueError) as caught:
            polyad.einsum(expression, np.ones(shapes[0]), np.ones(shapes[1]))
        assert isinstance(caught.value, polyad.Error)
    with pytest.raises(ValueError, match="complex"):
        polyad.einsum("ik,kj->ij", np.ones((2, 2), complex), np.ones((2, 2)))
    with pytest.raises(polyad.Error):
        polyad.einsum("ik,kj->ij", np.full((2, 2), np.nan), np.ones((2, 2)))
