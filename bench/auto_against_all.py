#!/usr/bin/env python3
"""Compares the distribution that cpd chooses with the best of all that plan evaluates, by exact counts and the model.

    bench/auto_against_all.py [TENSOR...] [--processes 2,4,8,16,32,64] [--rank 16] [--scale 0.02] [--shared DIR]

TENSOR is a name of the list below or a file (default: the whole list): tensors like those of the literature, generated
at a scale of the published size, and real ones from the folder of shared data, which are left out where it is not. For each number of
processes cpd runs one iteration, on so many processes, and says what auto chose, from a sample of the nonzeros; plan evaluates every
strategy with all grids, exactly. "of best" is the exactly planned time of what auto chose over that of the best strategy.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
POLYAD = SOURCE / "build/bin/polyad"
MPIRUN = SOURCE / "tools/mpirun"
LIKES = ("nell", "netflix", "delicious", "fb")
BUNDLED = {"debian": SOURCE / "data/debian.tns.gz"}
SHARED = {"uber": "tensors/uber-2014-apr.tns.gz", "flights": "tensors/nycflights13/nycflights13.tns.gz",
          "codex-s": "kg/codex-s/codex-s.tns.gz", "kinship": "kg/kinship/kinship.tns.gz", "umls": "kg/umls/umls.tns.gz",
          "nations": "kg/nations/nations.tns.gz",
          "WikiPeople-3": "kg/WikiPeople-3/WikiPeople-3.tns.gz", "un-votes": "ratings/un_votes/un_votes.tns.gz"}
WORST = 1.05  # how far from the best auto may be
ANY_GRID = ("--grid-primes", 6)  # of 2 to 64 processes all prime factors


def polyad(*words: object, processes: int = 1) -> dict:
    start = [MPIRUN, processes] if processes > 1 else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    command = [str(word) for word in (*start, POLYAD, *words, "--quiet", "--json", "-")]
    run = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: {run.stderr}")
    return json.loads(run.stdout)


def tensors(options: argparse.Namespace, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    found = {}
    for name in options.tensors or (*LIKES, *BUNDLED, *SHARED):
        if name in LIKES:
            found[name] = folder / f"{name}.ptb"
            subprocess.run([POLYAD, "generate", "like", name, found[name], "--scale", str(options.scale), "--quiet"], check=True)
        else:
            path = BUNDLED.get(name, options.shared / SHARED[name] if name in SHARED else pathlib.Path(name))
            if path.exists():
                found[name] = path
            else:
                print(f"{name}: left out, {path} is not there")
    return found


def key(one: dict) -> tuple:
    return (one["distribution"], one["partition"] if one["distribution"] != "medium" else "", tuple(one["grid"]), one["policy"],
            one["row_owners"])


def text(one: dict) -> str:
    medium = one["distribution"] == "medium"
    words = ["medium", "x".join(map(str, one["grid"])), one["policy"]] if medium else [one["distribution"], one["partition"]]
    return " ".join([*words, *([] if one["row_owners"] == "none" else [one["row_owners"]])])


def planned(path: pathlib.Path, processes: int, rank: int, chosen: dict, listed: list[dict]) -> dict:
    """What auto chose, as plan sees it: from the list, or planned for itself."""
    for strategy in listed:
        if key(strategy) == key(chosen):
            return strategy
    options = ["--distribution", chosen["distribution"]]
    if chosen["distribution"] == "medium":
        options += ["--grid", "x".join(map(str, chosen["grid"])), "--policy", chosen["policy"]]
    else:
        options += ["--partition", chosen["partition"]]
    if chosen["row_owners"] != "none":
        options += ["--row-owners", chosen["row_owners"]]
    return polyad("plan", path, "-k", processes, "-r", rank, *options)["strategies"][0]


def compare(name: str, path: pathlib.Path, processes: int, options: argparse.Namespace) -> float:
    chosen = polyad("cpd", path, "-r", options.rank, "-i", 1, "-t", 1, processes=processes)
    listed = polyad("plan", path, "-k", processes, "-r", options.rank, *ANY_GRID)["strategies"]
    seconds = "predicted_seconds_per_iteration"
    best = min(listed, key=lambda strategy: strategy[seconds])
    auto = planned(path, processes, options.rank, chosen, listed)
    ratio = auto[seconds] / min(best[seconds], auto[seconds])
    print(f"| {name} | {processes} | {text(chosen)} | {text(best)} | {1e3 * best[seconds]:.3f} | {len(listed)} | {ratio:.3f} |", flush=True)
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description="auto against the best of all distributions, by exact counts and the model.")
    parser.add_argument("tensors", nargs="*", help="names or files; default: all")
    parser.add_argument("--processes", type=lambda words: [int(word) for word in words.split(",")], default=[2, 4, 8, 16, 32, 64])
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--scale", type=float, default=0.02, help="of generated tensors, 1 for that of bench/cp_als_against_peers.py")
    parser.add_argument("--shared", type=pathlib.Path, default=pathlib.Path(os.environ.get("POLYAD_SHARED_DATA", SOURCE.parent / "shared/data")))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="polyad-bench-") as temporary:
        found = tensors(options, pathlib.Path(temporary))
        print("| tensor | processes | auto | best | ms | strategies | of best |\n| --- | --- | --- | --- | --- | --- | --- |")
        ratios = [compare(name, path, processes, options) for name, path in found.items() for processes in options.processes]
    print(f"\n{sum(ratio <= WORST for ratio in ratios)} of {len(ratios)} within {WORST:.2f} of the best, the worst {max(ratios):.3f}")


if __name__ == "__main__":
    main()
