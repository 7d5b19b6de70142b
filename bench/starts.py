#!/usr/bin/env python3
"""Decomposes tensors from several random starts of each kind, and from singular vectors, and prints the fits that they reach.

    bench/starts.py TENSOR... [--rank 10] [--starts 10] [--iterations 50] [--tolerance 1e-5] [--nonneg]

For every kind of initial factors (`polyad cpd --init`): the lowest, the median and the highest fit, the mean number of
iterations, and what the kind loses to the best fit of all, at the median. Singular vectors (svd) have one start. Options
of polyad for a tensor may follow its name after a comma: flights.csv,--columns=day,--value=1
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess

POLYAD = pathlib.Path(os.environ.get("POLYAD", pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "polyad"))
KINDS = ("uniform", "normal", "svd")


def run(tensor: str, kind: str, options: argparse.Namespace) -> list[dict]:
    file, *further = tensor.split(",--")
    command = [POLYAD, "cpd", file, "-r", options.rank, "-i", options.iterations, "--tol", options.tolerance,
               "--starts", 1 if kind == "svd" else options.starts, "--init", kind, "-q", "--json", "-", *(["--nonneg"] if options.nonneg else []),
               *("--" + word for word in further)]
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ended.returncode != 0:
        raise SystemExit(ended.stderr)
    result = json.loads(ended.stdout)
    return result.get("starts", [result])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tensors", nargs="+")
    parser.add_argument("--rank", type=int, default=10)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--nonneg", action="store_true")
    options = parser.parse_args()
    print(f"{options.rank} components, {options.starts} starts, at most {options.iterations} iterations, tolerance "
          f"{options.tolerance}{', nonnegative' if options.nonneg else ''}")
    print(f"{'tensor':<26} {'start':<8} {'lowest':>8} {'median':>8} {'highest':>8} {'iterations':>10} {'lost':>7}")
    for tensor in options.tensors:
        runs = {kind: run(tensor, kind, options) for kind in KINDS}
        best = max(start["fit"] for starts in runs.values() for start in starts)
        for kind, starts in runs.items():
            fits = sorted(start["fit"] for start in starts)
            iterations = statistics.mean(start["iterations"] for start in starts)
            lost = 1 - statistics.median(fits) / best
            name = pathlib.Path(tensor.split(",--")[0]).name.split(".")[0]
            print(f"{name if kind == KINDS[0] else '':<26} {kind:<8} {fits[0]:>8.5f} {statistics.median(fits):>8.5f} "
                  f"{fits[-1]:>8.5f} {iterations:>10.1f} {100 * lost:>6.2f}%", flush=True)


if __name__ == "__main__":
    main()
