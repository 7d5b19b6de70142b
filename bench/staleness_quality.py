#!/usr/bin/env python3
"""How stale a partition of ratings by rows makes a completion: sums of lambda^2, beside simple partitions and bisection.

    bench/staleness_quality.py --polyad build/bin/polyad ratings.dat.gz votes.tns.gz

Makes ratings with communities, takes the matrices that are named besides, partitions their rows by every method, one thread each,
imbalance 0.05, and prints as a table the sum of lambda^2, the largest lambda, and the staleness: the sum of lambda - ETA over the
columns that more than ETA parts need. Numbers of parts that are more than a matrix has rows are left out.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

ETA = 32
COMMUNITIES = ["--dims", "40000x6000", "--nnz", "1000000", "--exponents", "0.6,0.9", "--blocks", "128", "--block-dims", "400x60",
               "--block-share", "0.8"]
METHODS = {
    "random": ["--method", "random"],
    "block": ["--method", "block"],
    "bisection": ["--method", "bisection", "--metric", "lambda2"],
    "hypergraph": ["--method", "hypergraph", "--metric", "lambda2"],
}


def run(*command: object) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run([*map(str, command)], stdout=subprocess.PIPE, text=True, env=environment, check=True).stdout


def cell(result: dict) -> str:
    staleness = sum(count * (parts - ETA) for parts, count in enumerate(result["nets_by_lambda"]) if parts > ETA)
    imbalance = result["imbalance"][0]
    mark = f" ({100 * imbalance:.0f} %)" if imbalance > 0.0505 else ""
    return f"{result['lambda2']:,.0f}, {result['lambda_max']}, {staleness:,}{mark}"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("ratings", nargs="*", type=pathlib.Path, help="further matrices, of any format")
    arguments.add_argument("--polyad", default="build/bin/polyad")
    arguments.add_argument("--parts", type=lambda text: [int(count) for count in text.split(",")], default=[16, 64, 256, 512])
    arguments.add_argument("--seed", type=int, default=1)
    args = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        communities = folder / "communities.tns"
        run(args.polyad, "generate", "communities", communities, *COMMUNITIES, "-q")
        matrices = [communities, *(folder / path.name for path in args.ratings)]
        for path in args.ratings:
            shutil.copy(path, folder / path.name)
        print("| ratings, parts | " + " | ".join(METHODS) + " |\n" + "| --- " * (len(METHODS) + 1) + "|")
        for matrix in matrices:
            rows = json.loads(run(args.polyad, "stats", matrix, "-q", "--json", "-"))["modes"][0]["nonempty"]
            for parts in args.parts:
                if parts > rows:
                    continue
                cells = []
                for method, options in METHODS.items():
                    seed = [] if method == "block" else ["--seed", args.seed]
                    cells.append(cell(json.loads(run(args.polyad, "partition", matrix, "-k", parts, "--model", "row", *options,
                                                     *seed, "-t", 1, "--no-cache", "-q", "--json", "-"))))
                print(f"| {matrix.name.split('.')[0]}, {parts} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
