#!/usr/bin/env python3
"""Milliseconds per iteration of `polyad cpd` on a GPU and on the processor, in turn; best of several rounds.

usage: bench/gpu_against_cpu.py [--polyad PROGRAM] [--rank 16 ...] [--rounds 3] [--iterations 30] [--scale 1] [--with OPTIONS]
                                [--without-processor] [--blco PROGRAM] [--folder DIR] [TENSOR ...]

PROGRAM is one that was built with CUDA (default: build/cuda/bin/polyad). TENSOR is a name for `polyad generate like` or a file
(default: nell netflix delicious fb). Also says how long the nonzeros take to reach the GPU, how far the two fits differ, the bytes
that an iteration in double precision reads and writes on the GPU, disregarding caches, their fraction of what a copy moves in that
time (after `polyad doctor --calibrate`; larger than 1 where rows come from a cache), and the predicted time; and how long the processor
solves the small systems of an iteration in double precision (`systems`), while the GPU sums the next mode.
OPTIONS are further ones of `cpd`, as in --with="--missing --test 0". --without-processor leaves out what is compared with, where that takes
too long. --blco names the program `cpd64` of BLCO, built outside this repository, which then runs in turn with the others, in double
precision and on the same tensor without empty slices: `blco` is its time, the mean of its iterations but the first, and `of blco` how many
times faster Polyad is.
--folder keeps the files of the tensors and uses those that are there.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cp_als_against_peers import prepare

ROOT = Path(__file__).resolve().parent.parent
NAMES = ["nell", "netflix", "delicious", "fb"]
CONTESTANTS = [("GPU, double", ["--device", "gpu"]), ("GPU, single", ["--device", "gpu", "--precision", "single"]),
               ("processor", ["--device", "cpu"])]
BLCO_ITERATION = re.compile(r"^--> Iter\s+\d+: .*time = ([0-9.]+)", re.MULTILINE)


def contestants_of(options: argparse.Namespace) -> list[tuple[str, list[str]]]:
    return CONTESTANTS[:2] if options.without_processor else CONTESTANTS


def decompose(options: argparse.Namespace, tensor: str, rank: int, device: list[str], result: Path) -> dict:
    command = [options.polyad, "cpd", tensor, "-r", str(rank), "-i", str(options.iterations), "--tol", "0", "--quiet", *device,
               *options.extra]
    subprocess.run([*command, "--json", result], check=True, stdout=subprocess.DEVNULL)
    return json.loads(result.read_text(encoding="utf-8"))


def milliseconds_of_blco(options: argparse.Namespace, text: str, rank: int) -> float:
    """Kernel 10 is the one that BLCO chooses by itself. Its program may crash when it frees its memory in the end."""
    command = ["stdbuf", "-oL", options.blco, "-k", "10", "-i", text, "-r", str(rank), "-m", str(options.iterations), "-e", "0", "-x", "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    times = [float(time) for time in BLCO_ITERATION.findall(run.stdout)]
    if len(times) != options.iterations:
        raise SystemExit(f"BLCO ended after {len(times)} iterations: {run.stdout[-500:]} {run.stderr[-500:]}")
    return 1e3 * statistics.mean(times[1:])


def compare(options: argparse.Namespace, name: str, tensor: str, text: str, rank: int, result: Path) -> None:
    contestants = contestants_of(options)
    runs: dict[str, list[dict]] = {contestant: [] for contestant, _ in contestants}
    blco: list[float] = []
    for _ in range(options.rounds):
        for contestant, device in contestants:
            runs[contestant].append(decompose(options, tensor, rank, device, result))
        if text:
            blco.append(milliseconds_of_blco(options, text, rank))
    best = {c: min(1e3 * run["seconds"]["per_iteration"] for run in of_c) for c, of_c in runs.items()}
    on_gpu = runs["GPU, double"][0]
    fits_differ = ratio = "-"
    if "processor" in runs:
        ratio = f"{best['processor'] / best['GPU, double']:.1f}"
        fits_differ = f"{abs(on_gpu['fit'] - runs['processor'][0]['fit']):.1e}"
    systems = min(1e3 * run["seconds"]["solve"] / options.iterations for run in runs["GPU, double"])
    upload = min(run["seconds"]["upload"] for run in runs["GPU, double"])
    traffic = on_gpu.get("device_bytes_per_iteration") or 0
    fraction = max((run.get("device_copy_fraction") or 0 for run in runs["GPU, double"]), default=0)
    predicted = 1e3 * (on_gpu["predicted"]["seconds_per_iteration"] or 0)
    times = "  ".join(f"{best[c]:10.3f}" if c in best else f"{'-':>10}" for c, _ in CONTESTANTS)
    peer = f"{min(blco):8.3f}  {min(blco) / best['GPU, double']:7.2f}" if blco else f"{'-':>8}  {'-':>7}"
    print(f"{name:10} {on_gpu['nnz']:>10} {rank:4}  {times}  {ratio:>6}  {upload:8.3f}  {fits_differ:>14}  {traffic / 1e9:5.2f}  {fraction:8.2f}"
          f"  {predicted:9.3f}  {systems:7.3f}  {peer}  {on_gpu['device']}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--polyad", default=str(ROOT / "build/cuda/bin/polyad"))
    parser.add_argument("--rank", type=int, nargs="+", default=[16])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--with", dest="extra", type=str.split, default=[], metavar="OPTIONS")
    parser.add_argument("--without-processor", action="store_true")
    parser.add_argument("--blco", metavar="PROGRAM")
    parser.add_argument("--folder", type=Path, metavar="DIR")
    parser.add_argument("tensors", nargs="*", default=NAMES, metavar="TENSOR")
    options = parser.parse_args()
    if options.blco and options.iterations < 2:
        parser.error("--blco needs at least two iterations: the first is not counted")
    if options.blco and any(Path(name).exists() for name in options.tensors):
        parser.error("--blco is for generated tensors, by their names: BLCO reads another format")
    with tempfile.TemporaryDirectory() as folder:
        if options.folder:
            options.folder.mkdir(parents=True, exist_ok=True)
        print(f"{'tensor':10} {'nonzeros':>10} rank  {'  '.join(f'{c:>10.10}' for c, _ in CONTESTANTS)}  ratio  upload s  fits differ by  GB/it  of copy  predicted  systems      blco  of blco")
        for name in options.tensors:
            tensor, text = name, ""
            if not Path(name).exists():
                files = prepare(name, options.scale, options.folder or Path(folder), bool(options.blco), options.polyad)
                tensor, text = str(files.polyad_file), str(files.peers_file) if options.blco else ""
            for rank in options.rank:
                compare(options, Path(name).stem, tensor, text, rank, Path(folder) / "result.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
