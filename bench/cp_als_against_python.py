#!/usr/bin/env python3
"""Decomposes the same sparse tensor with Polyad, pyttb and TensorLy, in turn, and prints seconds and ratios.

    python3 -m venv venv && venv/bin/pip install numpy pyttb tensorly sparse
    venv/bin/python bench/cp_als_against_python.py [--dims 400x300x200] [--nnz 200000] [--rank 16] [--iterations 10]
                                                   [--rounds 5] [--threads N] [--only pyttb,tensorly-dense]

The contestants are `pyttb` (cp_als of an sptensor), `tensorly-dense` (parafac of a NumPy array) and `tensorly-sparse`
(tensorly.contrib.sparse, a COO array of the package `sparse`). Those that are not installed do not take part. The tensor is
that of `polyad generate planted`; all run CP-ALS with the same number of components, from random factors, in double
precision, for a fixed number of iterations.

The time is that of one iteration, without reading the tensor and without the initial factors: Polyad reports it; a Python
contestant runs once with 1 iteration and once with 1 + ITERATIONS, and the difference is divided by ITERATIONS. Printed are
the best round of each, the ratio of these to Polyad's, the median of the ratios within a round, and the fits of the last
round. Every other round has the reverse order. Python contestants may take 8 GB of address space.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

POLYAD = pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "polyad"
ADDRESS_SPACE = 8 << 30
PACKAGES = {"pyttb": ("pyttb",), "tensorly-dense": ("tensorly",), "tensorly-sparse": ("tensorly", "sparse")}


# --- in a process of its own: one Python contestant, once ---


def decompose_with_pyttb(dims: tuple[int, ...], indices, values, rank: int) -> Callable[[int], float]:
    import pyttb

    tensor = pyttb.sptensor(indices, values[:, None], dims)
    return lambda iterations: pyttb.cp_als(tensor, rank, stoptol=0, maxiters=iterations, printitn=0)[2]["fit"]


def decompose_with_tensorly(dims: tuple[int, ...], indices, values, rank: int, is_sparse: bool) -> Callable[[int], float]:
    import numpy

    if is_sparse:
        import sparse
        from tensorly.contrib.sparse.decomposition import parafac

        tensor = sparse.COO(indices.T, values, shape=dims)
    else:
        from tensorly.decomposition import parafac

        tensor = numpy.zeros(dims)
        tensor[tuple(indices.T)] = values

    def fit(iterations: int) -> float:
        _, errors = parafac(tensor, rank, n_iter_max=iterations, init="random", tol=0, random_state=1, return_errors=True)
        return 1 - float(getattr(errors[-1], "fill_value", errors[-1]))  # an array of no dimensions, where sparse

    return fit


def run_peer(contestant: str, path: str, dims: tuple[int, ...], rank: int, iterations: int) -> None:
    import numpy

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    fields = numpy.loadtxt(path)
    indices, values = fields[:, :-1].astype(numpy.int64) - 1, fields[:, -1]
    if contestant == "pyttb":
        decompose = decompose_with_pyttb(dims, indices, values, rank)
    else:
        decompose = decompose_with_tensorly(dims, indices, values, rank, contestant == "tensorly-sparse")
    decompose(1)  # what is compiled or cached on first use is not measured
    start = time.perf_counter()
    decompose(1)
    middle = time.perf_counter()
    fit = decompose(1 + iterations)
    seconds = (time.perf_counter() - middle - (middle - start)) / iterations
    print(json.dumps({"seconds": seconds, "fit": fit}))


# --- the contest ---


def once(contestant: str, path: pathlib.Path, options: argparse.Namespace) -> dict:
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads), "OPENBLAS_NUM_THREADS": str(options.threads)}
    if contestant == "polyad":
        command = [options.polyad, "cpd", path, "-r", options.rank, "-i", options.iterations, "--tol", 0, "-t", options.threads,
                   "--quiet", "--json", "-"]
    else:
        command = [sys.executable, __file__, "--peer", contestant, "--file", path, "--dims", options.dims, "--rank", options.rank,
                   "--iterations", options.iterations]
    words = subprocess.run([str(word) for word in command], env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    result = json.loads(words)
    if contestant == "polyad":
        return {"seconds": result["seconds"]["iterate"] / result["iterations"], "fit": result["fit"]}
    return result


def compete(contestants: list[str], options: argparse.Namespace, folder: pathlib.Path) -> None:
    path = folder / "x.tns"
    command = [options.polyad, "generate", "planted", path, "--dims", options.dims, "--nnz", options.nnz, "-r", options.rank,
               "--noise", "0.1", "--quiet"]
    subprocess.run([str(word) for word in command], check=True)
    rounds: dict[str, list[float]] = {name: [] for name in contestants}
    fits: dict[str, float] = {}
    for number in range(options.rounds):
        for name in contestants if number % 2 == 0 else reversed(contestants):
            result = once(name, path, options)
            rounds[name].append(result["seconds"])
            fits[name] = result["fit"]
    nonzeros = sum(not line.startswith("#") for line in open(path))
    print(f"{options.dims}, {nonzeros} nonzeros, {options.rank} components, {options.threads} threads, best of {options.rounds} "
          f"rounds in turn; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"{'program':<16} {'s/iteration':>11} {'ratio':>8} {'median':>8} {'fit':>8}")
    for name, seconds in rounds.items():
        median = statistics.median(a / b for a, b in zip(seconds, rounds["polyad"]))
        print(f"{name:<16} {min(seconds):>11.5f} {min(seconds) / min(rounds['polyad']):>8.1f} {median:>8.1f} {fits[name]:>8.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", default="400x300x200")
    parser.add_argument("--nnz", type=int, default=200_000)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", default=",".join(PACKAGES), help="the contestants besides Polyad")
    parser.add_argument("--polyad", default=str(POLYAD))
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        dims = tuple(int(extent) for extent in options.dims.split("x"))
        return run_peer(options.peer, options.file, dims, options.rank, options.iterations)
    contestants = ["polyad"]
    for name in options.only.split(","):
        missing = [package for package in PACKAGES[name] if importlib.util.find_spec(package) is None]
        if missing:
            print(f"{name} does not take part: {', '.join(missing)} not installed")
        else:
            contestants.append(name)
    with tempfile.TemporaryDirectory(prefix="polyad-bench-") as folder:
        compete(contestants, options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
