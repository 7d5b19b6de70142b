#!/usr/bin/env python3
"""Compares rules for when the iterations of `polyad cpd` end: what they lose to a run that goes on.

    bench/tolerance.py TENSOR... [--rank 10] [--seeds 3] [--tolerance 1e-5] [--iterations 500] [--longest 2000]

Every tensor is decomposed from several seeds with `--tol 1e-9` and at most --longest iterations. Along each of these runs
this script finds where it would have ended by the rule of `--tol` (a change of the fit smaller than the tolerance times
the fit) and by the absolute rule (a change smaller than the tolerance), after at most --iterations. It prints for both
rules the mean fit, the mean number of iterations, and what the fit lacks of the last one. Options of polyad for a tensor
may follow its name after a comma, as for bench/starts.py.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
from collections.abc import Callable

POLYAD = pathlib.Path(os.environ.get("POLYAD", pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "polyad"))


def trajectory(tensor: str, seed: int, options: argparse.Namespace) -> list[float]:
    file, *further = tensor.split(",--")
    command = [POLYAD, "cpd", file, "-r", options.rank, "-i", options.longest, "--tol", 1e-9, "--seed", seed, "-q", "--json",
               "-", *("--" + word for word in further)]
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ended.returncode != 0:
        raise SystemExit(ended.stderr)
    return json.loads(ended.stdout)["fit_trajectory"]


def end_of(fits: list[float], iterations: int, is_small: Callable[[float, float], bool]) -> int:
    """The number of iterations after which a run ends where is_small(change, fit)."""
    for i in range(1, min(len(fits), iterations)):
        if is_small(abs(fits[i] - fits[i - 1]), fits[i]):
            return i + 1
    return min(len(fits), iterations)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tensors", nargs="+")
    parser.add_argument("--rank", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--longest", type=int, default=2000)
    options = parser.parse_args()
    rules = {"relative": lambda change, fit: change < options.tolerance * abs(fit),
             "absolute": lambda change, _: change < options.tolerance}
    print(f"{options.rank} components, seeds 1 to {options.seeds}, tolerance {options.tolerance}, at most "
          f"{options.iterations} iterations")
    print(f"{'tensor':<26}" + "".join(f" {rule + ' fit':>14} {'iterations':>10} {'lost':>7}" for rule in rules))
    for tensor in options.tensors:
        runs = [trajectory(tensor, seed, options) for seed in range(1, options.seeds + 1)]
        line = f"{pathlib.Path(tensor.split(',--')[0]).name.split('.')[0]:<26}"
        for is_small in rules.values():
            ends = [end_of(fits, options.iterations, is_small) for fits in runs]
            fit = statistics.mean(fits[end - 1] for fits, end in zip(runs, ends))
            lost = 1 - fit / statistics.mean(max(fits) for fits in runs)
            line += f" {fit:>14.5f} {statistics.mean(ends):>10.1f} {100 * lost:>6.2f}%"
        print(line, flush=True)


if __name__ == "__main__":
    main()
