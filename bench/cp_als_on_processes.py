#!/usr/bin/env python3
"""Decomposes a tensor on growing numbers of processes, and prints how that scales.

    bench/cp_als_on_processes.py [nell netflix delicious fb] [--processes 1,2,4] [--scale 1] [--folder DIR]
                                 [--rounds 3] [--rank 16] [--iterations 10] [--options "--distribution fine"]

One thread per process. Beside Polyad runs SPLATT where a build of it with MPI is on the PATH as `splatt-mpi`, in
turn and on the same tensor without empty slices. The time is that of the best iteration of all rounds. "of bound" is
the speedup over what the machine itself allows: the ratio of its random gathers on so many processes to that on one
(`polyad doctor --calibrate`), at most the number of processes. "ratio" is SPLATT's time over Polyad's.

Words are those sent per iteration, as counted, which Polyad compares with its plan on every run. Memory is that of
the largest process. Files are made as bench/cp_als_against_peers.py makes them.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from cp_als_against_peers import NAMES, POLYAD, SPLATT_ITERATION, Tensor, prepare

MPIRUN = pathlib.Path(__file__).resolve().parent.parent / "tools" / "mpirun"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}


def start(processes: int, command: list[object], **environment: str) -> str:
    words = subprocess.run([str(word) for word in (MPIRUN, processes, *command)], check=True, capture_output=True, text=True,
                           env={**ENVIRONMENT, **environment})
    return words.stdout


def gathers_per_second(processes: int, folder: pathlib.Path) -> float:
    words = start(processes, [POLYAD, "doctor", "--calibrate", "--quiet", "--json", "-"],
                  POLYAD_MACHINE=str(folder / f"machine-{processes}.json"))
    return processes / json.loads(words)["machine"]["seconds_per_far_gather"]


def polyad(tensor: Tensor, processes: int, options: argparse.Namespace) -> dict:
    return json.loads(start(processes, [POLYAD, "cpd", tensor.polyad_file, "-r", options.rank, "-i", options.iterations, "--tol", 0,
                                        "-t", 1, "--quiet", "--json", "-", *options.options.split()]))


def splatt(program: str, tensor: Tensor, processes: int, options: argparse.Namespace) -> float:
    words = start(processes, [program, "cpd", "-r", options.rank, "-i", options.iterations, "--tol=0", "-t", 1, "--seed=1",
                              "--nowrite", "-v", tensor.peers_file], GLIBC_TUNABLES="glibc.malloc.hugetlb=1")
    return min(float(time) for time, _ in SPLATT_ITERATION.findall(words))


def measure(tensor: Tensor, options: argparse.Namespace, folder: pathlib.Path) -> None:
    peer = shutil.which("splatt-mpi")
    alone, gathers_alone = 0.0, 0.0
    for processes in options.processes:
        runs, peer_seconds = [], []
        for _ in range(options.rounds):
            runs.append(polyad(tensor, processes, options))
            if peer:
                peer_seconds.append(splatt(peer, tensor, processes, options))
        best = min(runs, key=lambda run: run["seconds"]["fastest_iteration"])
        seconds, gathers = best["seconds"]["fastest_iteration"], gathers_per_second(processes, folder)
        alone, gathers_alone = alone or seconds * processes, gathers_alone or gathers / processes
        bound = min(processes, gathers / gathers_alone)
        grid = "x".join(map(str, best["grid"])) if best["distribution"] == "medium" else best["partition"]
        against = f"{min(peer_seconds):>9.4f} {min(peer_seconds) / seconds:>6.2f}" if peer else f"{'-':>9} {'-':>6}"
        print(f"{tensor.name:<10} {processes:>3} {seconds:>9.4f} {alone / seconds:>8.2f} {alone / seconds / bound:>8.2f} {against} "
              f"{best['communication']['volume_words_per_iteration']:>12} {best['peak_memory_bytes'] / 1e6:>7.0f}  "
              f"{best['distribution']} {grid} {best['policy']}, predicted {best['predicted']['seconds_per_iteration']:.4f}", flush=True)


def parser_of_runs(description: str, usual: str, rounds: int) -> argparse.ArgumentParser:
    """With the options of benchmarks that decompose tensors: which ones, and how."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("tensors", nargs="*", metavar="TENSOR", help=f"of {', '.join(NAMES)}; {usual} unless said")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies dimensions and nonzeros")
    parser.add_argument("--folder", type=pathlib.Path, help="keep the files here and use those that are there")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--rank", type=int, default=16, help="number of components")
    parser.add_argument("--iterations", type=int, default=10)
    return parser


def parse_options() -> argparse.Namespace:
    parser = parser_of_runs("CP-ALS of Polyad on growing numbers of processes.", "netflix", 3)
    parser.add_argument("--processes", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2, 4])
    parser.add_argument("--options", default="", help="more options of polyad cpd")
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    with tempfile.TemporaryDirectory(prefix="polyad-bench-") as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{options.rank} components, {options.iterations} iterations, best of {options.rounds} rounds; load of the machine "
              f"{os.getloadavg()[0]:.1f}")
        print(f"{'tensor':<10} {'P':>3} {'s/iter':>9} {'speedup':>8} {'of bound':>8} {'splatt':>9} {'ratio':>6} {'words':>12} {'MB':>7}")
        for name in options.tensors or ["netflix"]:
            measure(prepare(name, options.scale, folder, bool(shutil.which("splatt-mpi"))), options, folder)


if __name__ == "__main__":
    main()
