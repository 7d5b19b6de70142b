#!/usr/bin/env python3
"""Runs small decompositions on a GPU under NVIDIA's compute-sanitizer: every kernel, with few nonzeros.

usage: tools/sanitize_gpu.py [--polyad PROGRAM] [--tools memcheck,racecheck,synccheck,initcheck] [--jobs N]

PROGRAM is one that was built with CUDA (default: build/cuda/bin/polyad). The tests of the folder tests/gpu take hours under
racecheck; these runs take minutes. The exit code is 1 if a tool reports an error or a run fails.
"""

import argparse
import concurrent.futures
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Name, options of `generate zipf` and those of `cpd` or `complete`. A slice of the second tensor is longer than a chunk, and one of the
# third longer than a piece of cells (4,096).
TENSORS = {
    "order3": ["--dims", "40x30x20", "--nnz", "1500"],
    "long": ["--dims", "3x500x400", "--nnz", "4000"],
    "cells": ["--dims", "2x3000x40", "--nnz", "9000"],
    "order5": ["--dims", "12x11x10x9x8", "--nnz", "800"],
    "matrix": ["--dims", "200x90", "--nnz", "2500"],
}
DECOMPOSE = ["--device", "gpu", "-i", "3", "--tol", "0", "--quiet"]
RUNS = [
    ("order3", ["cpd", "-r", "16", *DECOMPOSE]),
    ("order3", ["cpd", "-r", "37", "--precision", "single", *DECOMPOSE]),
    ("order3", ["cpd", "-r", "129", *DECOMPOSE]),
    ("long", ["cpd", "-r", "16", *DECOMPOSE]),
    ("long", ["cpd", "-r", "5", "--nonneg", *DECOMPOSE]),
    ("order5", ["cpd", "-r", "1", *DECOMPOSE]),
    ("order5", ["cpd", "-r", "24", "--precision", "single", *DECOMPOSE]),
    ("order3", ["cpd", "-r", "33", "--nonneg", "--precision", "single", *DECOMPOSE]),
    ("order3", ["cpd", "-r", "16", "--missing", *DECOMPOSE]),
    ("order3", ["cpd", "-r", "16", "--missing", "--biases", *DECOMPOSE]),
    ("cells", ["cpd", "-r", "12", "--missing", *DECOMPOSE]),
    ("cells", ["cpd", "-r", "65", "--implicit", "--precision", "single", *DECOMPOSE]),
    ("order5", ["cpd", "-r", "7", "--implicit", *DECOMPOSE]),
    ("matrix", ["complete", "-r", "20", "--method", "als", "--device", "gpu", "--epochs", "3", "--quiet"]),
    ("matrix", ["complete", "-r", "127", "--implicit", "--solver", "cholesky", "--device", "gpu", "--epochs", "2", "--quiet"]),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--polyad", default=str(ROOT / "build/cuda/bin/polyad"))
    parser.add_argument("--tools", type=lambda text: text.split(","), default=["memcheck", "racecheck", "synccheck", "initcheck"])
    parser.add_argument("--jobs", type=int, default=4, help="runs at the same time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="polyad-gpu-") as folder:
        for name, words in TENSORS.items():
            subprocess.run([options.polyad, "generate", "zipf", f"{folder}/{name}.tns", *words, "--quiet"], check=True)

        def check(tool: str, tensor: str, words: list[str]) -> bool:
            command = [options.polyad, words[0], f"{folder}/{tensor}.tns", *words[1:]]
            run = subprocess.run(["compute-sanitizer", "--tool", tool, "--error-exitcode", "99", *command], capture_output=True, text=True)
            summary = [line for line in run.stdout.splitlines() if "SUMMARY" in line]
            print(f"{tool:<10} {tensor:<7} {' '.join(words)}: {' '.join(summary).strip('= ')} (exit code {run.returncode})", flush=True)
            if run.returncode != 0:
                print(run.stdout[-2000:], run.stderr[-1000:], flush=True)
            return run.returncode == 0

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            checks = [pool.submit(check, tool, tensor, words) for tool in options.tools for tensor, words in RUNS]
            good = [each.result() for each in checks]
    print(f"{sum(good)} of {len(good)} runs without a finding")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
