#!/usr/bin/env python3
"""Milliseconds per epoch of `polyad complete` on a GPU and on the processor, in turn; best of all epochs of several rounds.

usage: bench/complete_on_gpu.py [--polyad PROGRAM] [--rank 64 ...] [--method implicit als] [--rounds 2] [--epochs 5]
                                [--users 138493] [--items 26744] [--ratings 10000000] [RATINGS]

PROGRAM is one that was built with CUDA (default: build/cuda/bin/polyad). RATINGS is a file; without it ratings are generated. The
processor solves systems exactly (cholesky), as the GPU does, and by conjugate gradients (cg). Also prints the time of the whole
training on the GPU and on the processor, which includes building trees and copying them, and how far the losses of the last epoch of
the GPU in double precision and of the processor in double precision differ, relative to the latter (one round of it).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTESTANTS = {"GPU, double": ["--device", "gpu", "--precision", "double"], "GPU, single": ["--device", "gpu"],
               "cholesky, single": ["--device", "cpu", "--solver", "cholesky"], "cg, single": ["--device", "cpu", "--solver", "cg"]}
REFERENCE = ["--device", "cpu", "--solver", "cholesky", "--precision", "double"]
METHODS = {"implicit": ["--implicit", "--reg", "0.2"], "als": ["--method", "als", "--reg", "0.2", "--lists", "ratings"]}


def train(options: argparse.Namespace, ratings: str, rank: int, method: str, how: list[str], result: Path) -> dict:
    subprocess.run([options.polyad, "complete", ratings, "-r", str(rank), "-e", str(options.epochs), *METHODS[method], *how, "--quiet",
                    "--json", result], check=True, stdout=subprocess.DEVNULL)
    return json.loads(result.read_text(encoding="utf-8"))


def compare(options: argparse.Namespace, ratings: str, rank: int, method: str, result: Path) -> None:
    runs: dict[str, list[dict]] = {contestant: [] for contestant in CONTESTANTS}
    for _ in range(options.rounds):
        for contestant, how in CONTESTANTS.items():
            runs[contestant].append(train(options, ratings, rank, method, how, result))
    best = {c: min(1e3 * epoch["seconds"] for run in of_c for epoch in run["per_epoch"]) for c, of_c in runs.items()}
    whole = {c: min(run["seconds"]["train"] for run in of_c) for c, of_c in runs.items()}
    expected = train(options, ratings, rank, method, REFERENCE, result)["per_epoch"][-1]["loss"]
    loss = runs["GPU, double"][0]["per_epoch"][-1]["loss"]
    times = "  ".join(f"{best[c]:16.1f}" for c in CONTESTANTS)
    print(f"{method:9} {runs['GPU, double'][0]['ratings']:>10} {rank:4}  {times}  {whole['GPU, single']:9.2f}  {whole['cholesky, single']:9.2f}"
          f"  {abs(loss - expected) / abs(expected):13.1e}  {runs['GPU, double'][0]['device']}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--polyad", default=str(ROOT / "build/cuda/bin/polyad"))
    parser.add_argument("--rank", type=int, nargs="+", default=[64])
    parser.add_argument("--method", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--users", type=int, default=138493)
    parser.add_argument("--items", type=int, default=26744)
    parser.add_argument("--ratings", type=int, default=10_000_000)
    parser.add_argument("file", nargs="?", metavar="RATINGS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ratings = options.file or f"{folder}/ratings.ptb"
        if options.file is None:
            subprocess.run([options.polyad, "generate", "ratings", ratings, "--users", str(options.users), "--items", str(options.items),
                            "--nnz", str(options.ratings), "--quiet"], check=True)
        print(f"{'method':9} {'ratings':>10} rank  {'  '.join(f'{c:>16}' for c in CONTESTANTS)}  train GPU  processor  losses differ")
        for method in options.method:
            for rank in options.rank:
                compare(options, ratings, rank, method, Path(folder) / "result.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
