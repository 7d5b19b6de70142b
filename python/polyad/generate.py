"""Synthetic tensors, as ``polyad generate`` makes them: functions of their options and the seed alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import _core
from ._cp import CPModel
from ._host import host
from ._tensor import Tensor

__all__ = ["Planted", "Ratings", "communities", "corner", "like", "planted", "ratings", "zipf"]


@dataclass(frozen=True)
class Planted:
    """A tensor, and the components that it is made of."""

    tensor: Tensor
    truth: CPModel


@dataclass(frozen=True)
class Ratings:
    """Ratings of users x items; each is in one of the two tensors."""

    train: Tensor
    test: Tensor
    noise_floor: float  # root mean square error, on all ratings, of the model that made them


def _skewed(
    shape: Sequence[int], nnz: int, seed: int, exponents: Sequence[float] | None, ordered: bool
) -> _core.SkewedOptions:
    options = _core.SkewedOptions()
    options.dims = [int(extent) for extent in shape]
    options.num_nonzeros = nnz
    options.seed = seed
    options.exponents = [] if exponents is None else [float(exponent) for exponent in exponents]
    options.set_ordered(bool(ordered))
    return options


def _fibers(options: _core.SkewedOptions, mode: int | None, mean: float) -> None:
    if mode is not None:
        options.fiber_mode = mode
        options.fiber_mean = mean


def _made(options: _core.SkewedOptions) -> Tensor:
    return Tensor(_core.generate_skewed(host(), options))


def zipf(
    shape: Sequence[int],
    nnz: int,
    *,
    exponents: Sequence[float] | None = None,
    fiber_mode: int | None = None,
    fiber_mean: float = 1.0,
    ordered: bool = False,
    seed: int = 1,
) -> Tensor:
    """Indices that follow a Zipf law in each mode, with these ``exponents``; without them they are uniform. With ``fiber_mode``,
    from 0, whole fibers along this mode are drawn. ``ordered`` numbers indices by frequency."""
    options = _skewed(shape, nnz, seed, exponents, ordered)
    _fibers(options, fiber_mode, fiber_mean)
    return _made(options)


def communities(
    shape: Sequence[int],
    nnz: int,
    block_shape: Sequence[int],
    *,
    blocks: int = 16,
    block_share: float = 0.3,
    exponents: Sequence[float] | None = None,
    fiber_mode: int | None = None,
    fiber_mean: float = 1.0,
    ordered: bool = False,
    seed: int = 1,
) -> Tensor:
    """Dense blocks at random positions, with ``block_share`` of the draws, in a background as of ``zipf``."""
    options = _skewed(shape, nnz, seed, exponents, ordered)
    _fibers(options, fiber_mode, fiber_mean)
    options.block_dims = [int(extent) for extent in block_shape]
    options.num_blocks = blocks
    options.block_share = block_share
    return _made(options)


def corner(
    shape: Sequence[int],
    nnz: int,
    corner_shape: Sequence[int],
    *,
    corner_share: float = 0.3,
    diagonal_share: float = 0.5,
    diagonal_distance: float = 20.0,
    exponents: Sequence[float] | None = None,
    seed: int = 1,
) -> Tensor:
    """Entries near the diagonal of the first two modes and in a dense corner, as in friendship data."""
    options = _skewed(shape, nnz, seed, exponents, True)
    options.corner_dims = [int(extent) for extent in corner_shape]
    options.corner_share = corner_share
    options.diagonal_share = diagonal_share
    options.diagonal_distance = diagonal_distance
    return _made(options)


def like(name: str, *, scale: float = 1.0, nnz: int | None = None, seed: int = 1) -> Tensor:
    """A tensor that resembles a public one: "nell", "netflix", "delicious" or "fb", with shape and number of entries times
    ``scale``."""
    options = _core.options_like(name, scale)
    options.seed = seed
    if nnz is not None:
        options.num_nonzeros = nnz
    return _made(options)


def planted(
    shape: Sequence[int], nnz: int = 0, *, rank: int = 4, noise: float = 0.0, observed: float = 0.0, seed: int = 1
) -> Planted:
    """A tensor of ``rank`` components, which a decomposition can find, with about ``nnz`` entries; ``noise`` is relative to
    their root mean square. With ``observed``, components are dense and this share of all cells is known."""
    options = _core.PlantedOptions()
    options.dims = [int(extent) for extent in shape]
    options.num_nonzeros = nnz
    options.num_components = rank
    options.noise = noise
    options.observed = observed
    options.seed = seed
    made, truth = _core.generate_planted(host(), options)
    return Planted(Tensor(made), CPModel(truth))


def ratings(
    users: int, items: int, nnz: int, *, factors: int = 10, noise: float = 0.7, test: float = 0.0, seed: int = 1
) -> Ratings:
    """Ratings from 0.5 to 5 of a model of ``factors``, of which the share ``test`` is held out."""
    options = _core.RatingsOptions()
    options.num_users = users
    options.num_items = items
    options.num_ratings = nnz
    options.num_factors = factors
    options.noise = noise
    options.test_fraction = test
    options.seed = seed
    train, held_out, floor = _core.generate_ratings(host(), options)
    return Ratings(Tensor(train), Tensor(held_out), floor)
