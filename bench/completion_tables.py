#!/usr/bin/env python3
"""Staleness and words of completions as planned, and errors as trained: the tables of docs/complete.md.

    bench/completion_tables.py RATINGS... [--processes 16,64,256,512] [--sync 1,8,32] [--rank 16]
                               [--run 16] [--run-sync 1,4,16] [--epochs 10] [--seeds 3] [--time 120]

For each file: by `polyad plan --for complete`, users at random against users by the hypergraph, for each number of
processes and sub-epochs. With --run also by `mpirun`: the test error after --epochs epochs, a tenth held out, mean
over seeds, with the published step schedule (constant) and without early stopping.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTITIONS = ("random", "hypergraph")


def result(command: list[str]) -> dict:
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",") if word]


def planned(args: argparse.Namespace, ratings: pathlib.Path) -> None:
    print(f"\n{ratings.name}: words per epoch, rank {args.rank}")
    print("| processes | sync | staleness random | hypergraph | ratio | volume random | hypergraph | ratio | lambda max |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for processes in numbers(args.processes):
        command = [args.polyad, "plan", str(ratings), "--for", "complete", "-k", str(processes), "-r", str(args.rank)]
        syncs = sorted({min(sync, processes) for sync in numbers(args.sync)})  # beyond which nothing changes
        command += ["--by", "users", "--sync", ",".join(map(str, syncs)), "--partition", "random", "--with-hypergraph", "--time", str(args.time)]
        ways = result([*command, "--json", "-", "-q"])["strategies"]
        for sync in sorted({way["sync"] for way in ways}):
            random, made = ([w for w in ways if w["sync"] == sync and w["partition"] == p][0] for p in PARTITIONS)
            ratios = [made[key] / random[key] if random[key] else 1 for key in ("staleness_words", "volume_words")]
            print(f"| {processes} | {sync} | {random['staleness_words']:,} | {made['staleness_words']:,} | {ratios[0]:.2f} "
                  f"| {random['volume_words']:,} | {made['volume_words']:,} | {ratios[1]:.2f} "
                  f"| {random['lambda_max']} to {made['lambda_max']} |", flush=True)


def trained(args: argparse.Namespace, ratings: pathlib.Path) -> None:
    print(f"\n{ratings.name}: test RMSE after {args.epochs} epochs on {args.run} processes, mean of {args.seeds} seeds")
    print("| sync | random | hypergraph |")
    print("| --- | --- | --- |")
    for sync in numbers(args.run_sync):
        errors = []
        for partition in PARTITIONS:
            command = [str(ROOT / "tools" / "mpirun"), str(args.run), args.polyad, "complete", str(ratings), "-r", str(args.rank)]
            command += ["-t", "1", "--schedule", "constant", "--epochs", str(args.epochs), "--patience", "0", "--test", "0.1"]
            command += ["--by", "users", "--sync", str(sync), "--partition", partition, "--ranking", "0", "--json", "-", "-q"]
            seeds = [result([*command, "--seed", str(seed)])["rmse_per_epoch"][-1] for seed in range(1, args.seeds + 1)]
            errors.append(statistics.mean(seeds))
        print(f"| {sync} | {errors[0]:.4f} | {errors[1]:.4f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ratings", nargs="+", type=pathlib.Path)
    parser.add_argument("--polyad", default=str(ROOT / "build" / "bin" / "polyad"))
    parser.add_argument("--processes", default="16,64,256,512")
    parser.add_argument("--sync", default="1,8,32")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--run", type=int, default=0)
    parser.add_argument("--run-sync", default="1,4,16")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--time", type=float, default=120)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for path in args.ratings:  # partitions are kept beside the file: beside a copy
            ratings = pathlib.Path(shutil.copy(path, folder))
            planned(args, ratings)
            if args.run:
                trained(args, ratings)


if __name__ == "__main__":
    main()
