#!/usr/bin/env python3
"""Milliseconds per iteration of `polyad cpd` on a GPU and on the processor, in turn; best of several rounds.

usage: bench/gpu_against_cpu.py [--polyad PROGRAM] [--rank 16 ...] [--rounds 3] [--iterations 30] [--scale 1] [--with OPTIONS] [TENSOR ...]

PROGRAM is one that was built with CUDA (default: build/cuda/bin/polyad). TENSOR is a name for `polyad generate like` or a file
(default: nell netflix delicious fb). Also says how long the nonzeros take to reach the GPU, how far the two fits differ, the bytes
that an iteration in double precision reads and writes on the GPU, disregarding caches, their fraction of what a copy moves in that
time (after `polyad doctor --calibrate`; larger than 1 where rows come from a cache), and the predicted time.
OPTIONS are further ones of `cpd`, as in --with="--missing --test 0".
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ["nell", "netflix", "delicious", "fb"]
CONTESTANTS = [("GPU, double", ["--device", "gpu"]), ("GPU, single", ["--device", "gpu", "--precision", "single"]),
               ("processor", ["--device", "cpu"])]


def decompose(options: argparse.Namespace, tensor: str, rank: int, device: list[str], result: Path) -> dict:
    command = [options.polyad, "cpd", tensor, "-r", str(rank), "-i", str(options.iterations), "--tol", "0", "--quiet", *device,
               *options.extra]
    subprocess.run([*command, "--json", result], check=True, stdout=subprocess.DEVNULL)
    return json.loads(result.read_text(encoding="utf-8"))


def compare(options: argparse.Namespace, name: str, tensor: str, rank: int, result: Path) -> None:
    runs: dict[str, list[dict]] = {contestant: [] for contestant, _ in CONTESTANTS}
    for _ in range(options.rounds):
        for contestant, device in CONTESTANTS:
            runs[contestant].append(decompose(options, tensor, rank, device, result))
    best = {c: min(1e3 * run["seconds"]["per_iteration"] for run in of_c) for c, of_c in runs.items()}
    on_gpu, on_cpu = runs["GPU, double"][0], runs["processor"][0]
    upload = min(run["seconds"]["upload"] for run in runs["GPU, double"])
    traffic = on_gpu.get("device_bytes_per_iteration") or 0
    fraction = max((run.get("device_copy_fraction") or 0 for run in runs["GPU, double"]), default=0)
    predicted = 1e3 * (on_gpu["predicted"]["seconds_per_iteration"] or 0)
    times = "  ".join(f"{best[c]:10.3f}" for c, _ in CONTESTANTS)
    print(f"{name:10} {on_cpu['nnz']:>10} {rank:4}  {times}  {best['processor'] / best['GPU, double']:6.1f}"
          f"  {upload:8.3f}  {abs(on_gpu['fit'] - on_cpu['fit']):14.1e}  {traffic / 1e9:5.2f}  {fraction:8.2f}  {predicted:9.3f}  {on_gpu['device']}",
          flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--polyad", default=str(ROOT / "build/cuda/bin/polyad"))
    parser.add_argument("--rank", type=int, nargs="+", default=[16])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--with", dest="extra", type=str.split, default=[], metavar="OPTIONS")
    parser.add_argument("tensors", nargs="*", default=NAMES, metavar="TENSOR")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'tensor':10} {'nonzeros':>10} rank  {'  '.join(f'{c:>10.10}' for c, _ in CONTESTANTS)}  ratio  upload s  fits differ by  GB/it  of copy  predicted")
        for name in options.tensors:
            tensor = name
            if not Path(name).exists():
                tensor = f"{folder}/{name}.ptb"
                subprocess.run([options.polyad, "generate", "like", name, tensor, "--scale", str(options.scale), "--quiet"], check=True)
            for rank in options.rank:
                compare(options, Path(name).stem, tensor, rank, Path(folder) / "result.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
