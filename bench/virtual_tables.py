#!/usr/bin/env python3
"""Staleness, volume and test error over sub-epochs: Figures 5 and 6 and Table 2 of Abubaker et al. 2023 in kind.

    bench/virtual_tables.py RATINGS... [--processes 512] [--sync 1,2,4,...,256] [--rank 50] [--epochs 20]
                            [--table 64,128,256,512] [--table-sync 32] [--by users] [--test 0.2] [--seed 1]
                            [--options "..."] [--cache DIR]

All of it by `polyad complete --virtual`, on one process: the errors, words and staleness are those of as many real
processes, bit for bit; only epoch times are predictions, with the constants of this machine. RAND and HP are
--partition random and hypergraph, as published: balanced by ratings at random, and by the sum of lambda^2. The other
options are by default those of the publication, explicit steps of constant size and random owners, except that there are
biases: without them the errors are those of users and items that the training does not know. --options replaces these
options; repeat them in it to add others.
"""

import argparse
import json
import math
import pathlib
import shlex
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLISHED = "--explicit-update --random-owners --schedule constant"
PARTITIONS = {"RAND": "random", "HP": "hypergraph"}


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",") if word]


class Runs:
    """Runs of one file, each made once."""

    def __init__(self, args: argparse.Namespace, ratings: pathlib.Path, cache: str) -> None:
        self.args, self.ratings, self.cache, self.known = args, ratings, cache, {}

    def of(self, processes: int, sync: int, method: str) -> dict:
        key = processes, sync, method
        if key not in self.known:
            args = self.args
            command = [args.polyad, "complete", str(self.ratings), "--virtual", str(processes), "--sync", str(sync), "-r", str(args.rank)]
            command += ["--partition", PARTITIONS[method], "--by", args.by, "--test", str(args.test), "--seed", str(args.seed)]
            command += ["--epochs", str(args.epochs), "--patience", "0", "--ranking", "0", *shlex.split(args.options)]
            if method == "HP":
                command += ["--cache", self.cache]
            run = subprocess.run([*command, "--json", "-", "-q"], check=True, capture_output=True, text=True)
            self.known[key] = json.loads(run.stdout)
        return self.known[key]


def table(head: list[str], rows: list[list[str]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def figure_5(runs: Runs, args: argparse.Namespace) -> None:
    print(f"Figure 5, {args.processes} processes: words per epoch, and test RMSE after {args.epochs} epochs\n")
    rows = []
    for sync in numbers(args.sync):
        made = [runs.of(args.processes, sync, method) for method in PARTITIONS]
        rows.append([str(sync), *(f"{run['staleness_words_per_epoch']:,}" for run in made),
                     *(f"{run['volume_words_per_epoch']:,}" for run in made), *(f"{run['rmse_per_epoch'][-1]:.4f}" for run in made)])
    table(["sync", "staleness RAND", "HP", "volume RAND", "HP", "RMSE RAND", "HP"], rows)


def figure_6(runs: Runs, args: argparse.Namespace) -> None:
    print(f"Figure 6, {args.processes} processes, HP: test RMSE after each epoch\n")
    syncs = numbers(args.sync)
    epochs = sorted({min(epoch, args.epochs) for epoch in (1, 2, 3, 5, 10, 15, 20, 30, 50)})
    rows = [[str(epoch), *(f"{runs.of(args.processes, sync, 'HP')['rmse_per_epoch'][epoch - 1]:.4f}" for sync in syncs)] for epoch in epochs]
    table(["epoch", *(f"sync {sync}" for sync in syncs)], rows)


def table_2(all_runs: list[Runs], args: argparse.Namespace) -> None:
    sync = args.table_sync
    print(f"Table 2, HP: sync {sync} divided by sync 1\n")
    keys = ("predicted_seconds_per_epoch", "staleness_words_per_epoch", "volume_words_per_epoch")
    rows, sums = [], {}
    for runs in all_runs:
        for processes in numbers(args.table):
            many, one = (runs.of(processes, n, "HP") for n in (sync, 1))
            ratios = [many[key] / one[key] for key in keys] + [many["rmse_per_epoch"][-1] / one["rmse_per_epoch"][-1]]
            rows.append([runs.ratings.name, str(processes), *(f"{ratio:.2f}" for ratio in ratios)])
            sums.setdefault(processes, []).append(ratios)
    if len(all_runs) > 1:
        for processes, of_files in sums.items():
            means = [math.prod(column) ** (1 / len(of_files)) for column in zip(*of_files)]
            rows.append(["geometric mean", str(processes), *(f"{mean:.2f}" for mean in means)])
    table(["ratings", "processes", "epoch time (predicted)", "staleness", "volume", "RMSE"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ratings", nargs="+", type=pathlib.Path)
    parser.add_argument("--polyad", default=str(ROOT / "build" / "bin" / "polyad"))
    parser.add_argument("--processes", type=int, default=512)
    parser.add_argument("--sync", default="1,2,4,8,16,32,64,128,256")
    parser.add_argument("--rank", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--table", default="64,128,256,512")
    parser.add_argument("--table-sync", type=int, default=32)
    parser.add_argument("--by", default="users", choices=("users", "items"))
    parser.add_argument("--test", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--options", default=PUBLISHED,
                        help=f"further options of `polyad complete`, in place of the published ones: \"{PUBLISHED}\"")
    parser.add_argument("--cache", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        all_runs = [Runs(args, path, args.cache or folder) for path in args.ratings]
        for runs in all_runs:
            print(f"{runs.ratings.name}, {args.options}, rank {args.rank}, {args.test} held out\n")
            figure_5(runs, args)
            figure_6(runs, args)
        table_2(all_runs, args)


if __name__ == "__main__":
    main()
