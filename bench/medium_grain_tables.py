#!/usr/bin/env python3
"""Medium grain on many processes: volume, imbalance and predicted time, as in the figures of Miao et al. 2023.

    bench/medium_grain_tables.py [TENSOR...] [--processes 64,128,256,512,1024,1536] [--rank 16] [--scale 0.1]

TENSOR is a file, or one of nell, netflix, delicious and fb (default: these four), which are generated at a scale of the published size.
`polyad plan` counts exactly, on one process, what would be sent. For each number of processes the rows of the table are

- the grid and the policy of SPLATT (--grid splatt --policy nnz --row-owners even), with which the others are compared;
- the grid of Miao et al. (--grid predicted) with each of their policies and SPLATT's;
- what `auto` takes: the fastest of all grids, policies and owners of rows by the model.

Columns: words that all processes send in an iteration, and those words as a fraction of SPLATT's; imbalance (max - min) / max of nonzeros,
volume and rows; predicted milliseconds of an iteration, and how many times faster than SPLATT's; and the seconds that it took on this machine
to plan for one number of processes, with exact counts on one process. (`cpd` chooses from a sample of the nonzeros, on all processes:
`bench/processes_against_threads.py` prints the time of that.) No mode is replicated and rows go directly, as there.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

POLYAD = os.environ.get("POLYAD", str(pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "polyad"))
LIKES = ("nell", "netflix", "delicious", "fb")
WAYS = {"SPLATT": ("--grid", "splatt", "--policy", "nnz", "--row-owners", "even"),
        **{policy: ("--grid", "predicted", "--policy", policy, "--row-owners", "even")
           for policy in ("nnz", "set", "ordered-1", "ordered-2", "max-min")},
        "auto": ()}


def plan(tensor: pathlib.Path, processes: list[int], rank: int, options: tuple[str, ...]) -> tuple[dict[int, dict], float]:
    """[number of processes]: the fastest strategy; and the seconds that all plans took."""
    words = [POLYAD, "plan", tensor, "-k", ",".join(map(str, processes)), "-r", rank, "--distribution", "medium", "--replicate", "none",
             "--exchange", "direct", *options, "-q", "--json", "-"]
    result = json.loads(subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout)
    best = {one["processes"]: result["strategies"][one["recommended"]] for one in result["recommended_on"]}
    return best, result["seconds"]["plan"]


def lines(tensor: pathlib.Path, processes: list[int], rank: int) -> list[str]:
    found = {way: plan(tensor, processes, rank, options) for way, options in WAYS.items()}
    text = []
    for count in processes:
        baseline = found["SPLATT"][0][count]
        for way, (best, seconds) in found.items():
            one = best[count]
            grid = "x".join(map(str, one["grid"])) + (f" {one['policy']} {one['row_owners']}" if way == "auto" else "")
            imbalance = " | ".join(f"{one['imbalance'][key]:.2f}" for key in ("nnz", "volume", "rows"))
            time, splatt = (1e3 * run["predicted_seconds_per_iteration"] for run in (one, baseline))
            text.append(f"| {count:,} | {way} | {grid} | {one['volume_words']:,} | {one['volume_words'] / max(1, baseline['volume_words']):.2f} "
                        f"| {imbalance} | {time:.3g} | {splatt / time:.2f} | {seconds / len(processes):.2g} |")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tensors", nargs="*", default=list(LIKES))
    parser.add_argument("--processes", default="64,128,256,512,1024,1536")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--scale", type=float, default=0.1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for tensor in options.tensors:
            path = pathlib.Path(tensor)
            if tensor in LIKES:
                path = pathlib.Path(folder, f"{tensor}.ptb")
                subprocess.run([POLYAD, "generate", "like", tensor, path, "--scale", str(options.scale), "-q"], check=True)
            print(f"{tensor}, {options.rank} components\n\n| processes | policy | grid | words | of SPLATT's | nonzeros | volume | rows "
                  f"| ms | times faster | planned in s |\n|{' --- |' * 11}")
            print("\n".join(lines(path, [int(count) for count in options.processes.split(",")], options.rank)) + "\n", flush=True)


if __name__ == "__main__":
    main()
