"""CP models of the Tensor Toolbox's text format, and what is needed to compute them naively."""

import math
import pathlib
import random
from collections.abc import Iterable

Rows = list[list[float]]


def read_ktensor(path: pathlib.Path) -> tuple[list[float], list[list[list[float]]]]:
    """The weights and factors of a model in the text format of the Tensor Toolbox."""
    lines = [line.split() for line in path.read_text().splitlines() if line.strip()]
    rank = int(lines[3][0])
    weights = [float(word) for word in lines[4]]
    factors, at = [], 5
    while at < len(lines):
        rows = int(lines[at + 2][0])
        factors.append([[float(word) for word in row] for row in lines[at + 3:at + 3 + rows]])
        at += 3 + rows
    assert all(len(row) == rank for factor in factors for row in factor)
    return weights, factors


def value_at(model: tuple[list[float], list[list[list[float]]]], place: tuple[int, ...]) -> float:
    weights, factors = model
    return sum(weight * math.prod(factor[i][r] for factor, i in zip(factors, place))
               for r, weight in enumerate(weights))


def write_ktensor(path: pathlib.Path, dims: list[int], cells: Iterable[tuple[int, ...]], rank: int, draw: random.Random) -> list[Rows]:
    """Writes a random model in which rows of empty slices are zero, and columns and weights are of length 1. Returns its factors."""
    factors = []
    for m, extent in enumerate(dims):
        used = {place[m] for place in cells}
        rows = [[draw.gauss(0, 1) * (i in used) for _ in range(rank)] for i in range(extent)]
        norms = [math.hypot(*column) for column in zip(*rows)]
        factors.append([[x / norm for x, norm in zip(row, norms)] for row in rows])
    text = f"ktensor\n{len(dims)}\n{' '.join(map(str, dims))}\n{rank}\n{' '.join(['1'] * rank)}\n"
    for factor in factors:
        text += f"matrix\n2\n{len(factor)} {rank}\n" + "".join(" ".join(map(repr, row)) + "\n" for row in factor)
    path.write_text(text)
    return factors


def solved(matrix: Rows, right: list[float]) -> list[float]:
    """By elimination with pivots."""
    n = len(right)
    rows = [row[:] + [b] for row, b in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, n):
            factor = rows[k][i] / rows[i][i]
            if factor != 0:
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    result = [0.0] * n
    for i in reversed(range(n)):
        result[i] = (rows[i][n] - sum(rows[i][j] * result[j] for j in range(i + 1, n))) / rows[i][i]
    return result
