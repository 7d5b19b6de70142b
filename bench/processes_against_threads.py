#!/usr/bin/env python3
"""Decomposes tensors with the cores of one machine divided into processes and threads in several ways.

    bench/processes_against_threads.py [nell netflix delicious fb] [--layouts 1x16,2x8,4x4,16x1] [--scale 1]
                                       [--distributions auto,coarse,medium,fine] [--rounds 5] [--rank 16]
                                       [--iterations 10] [--folder DIR] [--before PROGRAM]

A layout 2x8 is two processes of eight threads. Every layout is run with each distribution, all in turn; the time is that of the best iteration of all rounds. "of threads" is the time over that of the
first layout, which should be one process; "predicted" is what Polyad predicts from the constants of this machine, which
are measured first with one process per core, and "choosing" is the time that auto takes to choose, as a share of ten
iterations. "of best" is the time of auto over that of the fastest distribution in this layout. Then follow milliseconds
per iteration, in the mean, of passes over the nonzeros, of the update of rows in passes of their own, and of exchanging
rows and waiting for others, each of the process for which it takes longest. --before names another build of Polyad, such
as that of the version before, which is run in turn as well, and whose lines say so.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

from cp_als_against_peers import NAMES, POLYAD, Tensor, prepare
from cp_als_on_processes import MPIRUN, parser_of_runs

DISTRIBUTIONS = "auto,coarse,medium,fine"


def start(program: pathlib.Path, layout: tuple[int, int], folder: pathlib.Path, *command: object) -> dict:
    processes, threads = layout
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive",
                   "POLYAD_MACHINE": str(folder / "machine.json")}
    words = subprocess.run([str(word) for word in (MPIRUN, processes, program, *command, "--quiet", "--json", "-")],
                           check=True, capture_output=True, text=True, env=environment)
    return json.loads(words.stdout)


def decompose(program: pathlib.Path, tensor: Tensor, layout: tuple[int, int], distribution: str, options: argparse.Namespace,
              folder: pathlib.Path) -> dict:
    return start(program, layout, folder, "cpd", tensor.polyad_file, "-r", options.rank, "-i", options.iterations, "--tol", 0, "-t", layout[1],
                 "--distribution", distribution)


def describe(run: dict) -> str:
    if run["distribution"] == "medium":
        return f"medium {'x'.join(map(str, run['grid']))} {run['policy']} {run['row_owners']}"
    return "" if run["distribution"] == "none" else f"{run['distribution']} {run['partition']}"


def phases(run: dict) -> str:
    return "".join(f"{1e3 * run['seconds'][phase] / run['iterations']:>7.1f}" for phase in ("mttkrp", "solve", "communicate"))


def measure(tensor: Tensor, options: argparse.Namespace, folder: pathlib.Path) -> None:
    best: dict[tuple[tuple[int, int], str, str], dict] = {}
    programs = {"": POLYAD, **({" before": options.before} if options.before else {})}
    for _ in range(options.rounds):
        for layout in options.layouts:
            for distribution in options.distributions.split(",") if layout[0] > 1 else ("auto",):
                for version, program in programs.items():
                    run = decompose(program, tensor, layout, distribution, options, folder)
                    kept = best.setdefault((layout, distribution, version), run)
                    if run["seconds"]["fastest_iteration"] < kept["seconds"]["fastest_iteration"]:
                        best[layout, distribution, version] = run
    first = options.layouts[0]
    threads = min(run["seconds"]["fastest_iteration"] for (layout, _, version), run in best.items() if (layout, version) == (first, ""))
    for (layout, distribution, version), run in best.items():
        seconds = run["seconds"]["fastest_iteration"]
        fastest = min(other["seconds"]["fastest_iteration"] for (where, _, by), other in best.items() if (where, by) == (layout, version))
        choosing = f"{run['seconds']['choose_distribution'] / (10 * seconds):>8.0%}" if distribution == "auto" else f"{'':>8}"
        print(f"{tensor.name:<10} {'x'.join(map(str, layout)):>6} {distribution + version:<14} {1e3 * seconds:>8.1f} {seconds / threads:>10.2f} "
              f"{1e3 * run['predicted']['seconds_per_iteration']:>9.1f} {seconds / fastest:>7.2f} {choosing} {phases(run)}  {describe(run)}", flush=True)


def parse_layouts(text: str) -> list[tuple[int, int]]:
    return [(int(processes), int(threads)) for processes, threads in (word.split("x") for word in text.split(","))]


def parse_options() -> argparse.Namespace:
    cores = os.cpu_count() or 1
    usual = dict.fromkeys(f"{n}x{cores // n}" for n in (1, 2, 4, cores) if n <= cores)
    parser = parser_of_runs("CP-ALS on one machine: processes against threads.", "all of them", 5)
    parser.add_argument("--layouts", type=parse_layouts, default=parse_layouts(",".join(usual)), help="as in 1x16,2x8,16x1")
    parser.add_argument("--distributions", default=DISTRIBUTIONS, help="as in auto,fine")
    parser.add_argument("--before", type=pathlib.Path, metavar="PROGRAM", help="another build of Polyad that is run as well")
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    with tempfile.TemporaryDirectory(prefix="polyad-bench-") as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        cores = max(processes * threads for processes, threads in options.layouts)
        start(POLYAD, (cores, 1), folder, "doctor", "--calibrate")
        print(f"{options.rank} components, best iteration of {options.rounds} rounds; load of the machine {os.getloadavg()[0]:.1f}")
        print(f"{'tensor':<10} {'layout':>6} {'':<14} {'ms':>8} {'of threads':>10} {'predicted':>9} {'of best':>7} {'choosing':>8} {'mttkrp':>7}{'solve':>7}{'comm':>7}")
        for name in options.tensors or NAMES:
            measure(prepare(name, options.scale, folder, False), options, folder)


if __name__ == "__main__":
    main()
