#!/usr/bin/env python3
"""Decomposes the same sparse tensor by polyad.cp, pyttb and TensorLy in one process, from the same start, and prints
seconds, ratios and fits.

    ./run wheel && venv/bin/pip install build/wheels/polyad-*.whl pyttb tensorly sparse
    venv/bin/python bench/cp_in_python.py [--shape 400x300x200] [--nnz 200000] [--rank 16] [--iterations 10]
                                          [--rounds 5] [--threads N] [--only pyttb,tensorly-dense]

The contestants are `pyttb` (cp_als of an sptensor), `tensorly-dense` (parafac of a NumPy array) and `tensorly-sparse`
(tensorly.contrib.sparse, a COO array of the package `sparse`). Those that are not installed do not take part, and
neither does `tensorly-dense` where its array would take more than 2 GB. All of them update the modes in their order,
from the same random factors, in double precision, so that the fits after the same number of iterations agree up to
rounding: the difference to that of Polyad is printed.

`call` is the time of a whole call with all iterations, given an object of the contestant's own kind (Polyad: a
scipy.sparse.coo_array where SciPy is installed, else coordinates and values). `iteration` is the difference of the best
calls with 1 + ITERATIONS and with 1 iteration, divided by ITERATIONS. The contestants take the rounds in turn, every
other one in the reverse order, and the best round counts. bench/cp_als_against_python.py compares the program with
each of them in a process of its own.
"""

import argparse
import importlib.util
import math
import os
import sys
import time
import warnings
from collections.abc import Callable

PACKAGES = {
    "polyad": ("polyad",),
    "pyttb": ("pyttb",),
    "tensorly-dense": ("tensorly",),
    "tensorly-sparse": ("tensorly", "sparse"),
}
MOST_DENSE_BYTES = 2 << 30

# After so many iterations from the common start: the fit.
Decompose = Callable[[int], float]


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", default="400x300x200")
    parser.add_argument("--nnz", type=int, default=200_000)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="pyttb,tensorly-dense,tensorly-sparse", help="the contestants besides Polyad")
    options = parser.parse_args()
    options.shape = tuple(int(extent) for extent in options.shape.split("x"))
    return options


def planted_tensor(options: argparse.Namespace):
    """The coordinates (mode by mode) and values of a sum of blocks of rank 1, one per component, which have about the
    wanted number of nonzeros together; a tenth of noise; and the factors that all begin with."""
    import numpy

    random = numpy.random.default_rng(options.seed)
    share = (options.nnz / options.rank / math.prod(options.shape)) ** (1 / len(options.shape))
    sides = [min(max(round(share * extent), 1), extent) for extent in options.shape]
    flat, values = [], []
    for _ in range(options.rank):
        rows = [random.choice(extent, size=side, replace=False) for extent, side in zip(options.shape, sides)]
        block = numpy.ones(1)
        for side in sides:
            block = numpy.multiply.outer(block, 0.5 + random.random(side))
        flat.append(numpy.ravel_multi_index(numpy.ix_(*rows), options.shape).reshape(-1))
        values.append(block.reshape(-1))
    cells, place = numpy.unique(numpy.concatenate(flat), return_inverse=True)
    sums = numpy.bincount(place.reshape(-1), weights=numpy.concatenate(values))
    sums *= 1 + 0.1 * random.normal(size=len(sums))
    coords = [numpy.ascontiguousarray(indices) for indices in numpy.unravel_index(cells, options.shape)]
    start = [random.random((extent, options.rank)) for extent in options.shape]
    for indices, factor in zip(coords, start):
        factor[numpy.bincount(indices, minlength=len(factor)) == 0] = 0  # Polyad has no rows of empty slices
    return coords, sums, start


def polyad_contestant(coords, values, start, options) -> Decompose:
    import numpy
    import polyad

    x = (coords, values)
    if importlib.util.find_spec("scipy"):
        import scipy.sparse

        x = scipy.sparse.coo_array((values, tuple(coords)), shape=options.shape)
    init = (numpy.ones(options.rank), start)
    order = list(range(len(options.shape)))

    def run(iterations: int) -> float:
        return polyad.cp(x, options.rank, init=init, max_iter=iterations, tol=0, mode_order=order, threads=options.threads,
                         progress=False).fit

    return run


def pyttb_contestant(coords, values, start, options) -> Decompose:
    import numpy
    import pyttb

    x = pyttb.sptensor(numpy.stack(coords, axis=1), values[:, None], options.shape)
    init = pyttb.ktensor([factor.copy() for factor in start])

    def run(iterations: int) -> float:
        return pyttb.cp_als(x, options.rank, stoptol=0, maxiters=iterations, init=init, printitn=0)[2]["fit"]

    return run


def tensorly_contestant(coords, values, start, options, is_sparse: bool) -> Decompose:
    import numpy
    from tensorly.cp_tensor import CPTensor

    if is_sparse:
        import sparse
        from tensorly.contrib.sparse.decomposition import parafac

        x = sparse.COO(numpy.stack(coords), values, shape=options.shape)
        factors = [sparse.COO.from_numpy(factor) for factor in start]
        weights = sparse.COO.from_numpy(numpy.ones(options.rank))
    else:
        from tensorly.decomposition import parafac

        x = numpy.zeros(options.shape)
        x[tuple(coords)] = values
        weights, factors = numpy.ones(options.rank), start

    def run(iterations: int) -> float:
        init = CPTensor((weights.copy(), [factor.copy() for factor in factors]))
        _, errors = parafac(x, options.rank, n_iter_max=iterations, init=init, tol=0, return_errors=True)
        return 1 - float(getattr(errors[-1], "fill_value", errors[-1]))  # an array of no dimensions, where sparse

    return run


def contestant(name: str, coords, values, start, options) -> Decompose:
    if name == "polyad":
        return polyad_contestant(coords, values, start, options)
    if name == "pyttb":
        return pyttb_contestant(coords, values, start, options)
    return tensorly_contestant(coords, values, start, options, name == "tensorly-sparse")


def taking_part(options: argparse.Namespace) -> list[str]:
    names = []
    for name in ["polyad", *(name for name in options.only.split(",") if name)]:
        missing = [package for package in PACKAGES[name] if importlib.util.find_spec(package) is None]
        if missing and name == "polyad":
            sys.exit("the package polyad is not installed: ./run wheel makes a wheel of it")
        if missing:
            print(f"{name} does not take part: {', '.join(missing)} not installed")
        elif name == "tensorly-dense" and 8 * math.prod(options.shape) > MOST_DENSE_BYTES:
            print(f"{name} does not take part: its array would take {8 * math.prod(options.shape) / 1e9:.1f} GB")
        else:
            names.append(name)
    return names


def seconds_of(decompose: Decompose, iterations: int) -> tuple[float, float]:
    begin = time.perf_counter()
    fit = decompose(iterations)
    return time.perf_counter() - begin, fit


def compete(names: list[str], options: argparse.Namespace) -> None:
    coords, values, start = planted_tensor(options)
    runs: dict[str, Decompose] = {}
    for name in list(names):
        try:
            runs[name] = contestant(name, coords, values, start, options)
            runs[name](1)  # what is compiled or cached on first use is not measured
        except Exception as error:
            if name == "polyad":
                raise
            print(f"{name} does not take part: {type(error).__name__}: {str(error).splitlines()[0][:120]}")
            names.remove(name)
    calls: dict[str, list[float]] = {name: [] for name in names}
    shortest: dict[str, list[float]] = {name: [] for name in names}  # calls with one iteration
    fits: dict[str, float] = {}
    for number in range(options.rounds):
        for name in names if number % 2 == 0 else list(reversed(names)):
            shortest[name].append(seconds_of(runs[name], 1)[0])
            seconds, fits[name] = seconds_of(runs[name], 1 + options.iterations)
            calls[name].append(seconds)
    steps = {name: (min(calls[name]) - min(shortest[name])) / options.iterations for name in names}
    shape = "x".join(map(str, options.shape))
    print(f"{shape}, {len(values)} nonzeros, {options.rank} components, {1 + options.iterations} iterations, {options.threads} "
          f"threads, best of {options.rounds} rounds in turn; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"{'':<16} {'call, s':>9} {'ratio':>7} {'iteration, s':>13} {'ratio':>7} {'fit':>9} {'difference':>11}")
    for name in names:
        call = min(calls[name])
        print(f"{name:<16} {call:>9.3f} {call / min(calls['polyad']):>7.1f} {steps[name]:>13.5f} "
              f"{steps[name] / steps['polyad']:>7.1f} {fits[name]:>9.6f} {abs(fits[name] - fits['polyad']):>11.1e}")


def main() -> None:
    options = parse_options()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before NumPy is imported
        os.environ[name] = str(options.threads)
    warnings.simplefilter("ignore")
    compete(taking_part(options), options)


if __name__ == "__main__":
    main()
