#!/usr/bin/env python3
"""Learns from the same ratings with Polyad and with LIBMF, in turn, and prints seconds and ratios.

    bench/complete_against_libmf.py [--folder DIR] [--ratings 10000000] [--ranks 32,64] [--threads 1,2]
                                    [--epochs 20] [--rounds 3] [--lr 0.1] [--reg 0.05]

LIBMF's `mf-train`, built outside this repository with the vectors of the machine, is looked for on the PATH; else the
package libmf of this Python (`pip install libmf`), which needs numpy, is taken. Without both Polyad runs alone. The ratings are those of `polyad generate ratings` (138,493 users, 26,744 items for
10 million), a tenth held out. An epoch is timed without testing, the mean of epochs 2 to 5 in the best of all rounds; the error after each epoch
is asked for in a run of its own. "Time to the error" is epochs times seconds per epoch until the test error is at
most that of LIBMF after --epochs epochs. Both get the same rank, threads, step and regularisation; LIBMF has no
biases. The machine should have nothing else to do.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

POLYAD = pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "polyad"
# What mf-train does, by the package: it prints the same lines.
PACKAGE = """
import sys, numpy
from libmf import mf
train, test, rank, threads, epochs, lr, reg = sys.argv[1:]
model = mf.MF(fun=mf.P_L2_MFR, k=int(rank), nr_threads=int(threads), nr_iters=int(epochs), eta=float(lr), quiet=False,
              lambda_p1=0.0, lambda_q1=0.0, lambda_p2=float(reg), lambda_q2=float(reg))
read = lambda path: numpy.fromfile(path, sep=" ").reshape(-1, 3)
model.mf_train_test(read(train), read(test)) if test else model.fit(read(train))
"""
USERS, ITEMS, FULL = 138_493, 26_744, 10_000_000


def ratings_files(folder: pathlib.Path, count: int, polyad: str) -> dict[str, pathlib.Path]:
    """Train and test, for Polyad and as LIBMF reads them: 0-based lines of user, item and rating."""
    scale = count / FULL
    base = folder / f"ratings-{count}"
    files = {
        "train": base.with_suffix(".tns"),
        "test": folder / f"ratings-{count}-test.tns",
        "mf_train": base.with_suffix(".mf"),
        "mf_test": folder / f"ratings-{count}-test.mf",
    }
    if not files["train"].exists():
        users, items = max(1, round(USERS * scale)), max(1, round(ITEMS * scale))
        command = [polyad, "generate", "ratings", str(files["train"]), "--users", str(users), "--items", str(items)]
        subprocess.run([*command, "--nnz", str(count), "--test", "0.1", "-q"], check=True)
    for ours, theirs in (("train", "mf_train"), ("test", "mf_test")):
        if files[theirs].exists():
            continue
        with open(files[ours]) as lines, open(files[theirs], "w") as out:
            for line in lines:
                if not line.startswith("#"):
                    user, item, rating = line.split()
                    out.write(f"{int(user) - 1} {int(item) - 1} {rating}\n")
    return files


class Bench:
    def __init__(self, args: argparse.Namespace, files: dict[str, pathlib.Path]) -> None:
        self.args, self.files = args, files

    def polyad(self, rank: int, threads: int, epochs: int, test: bool) -> dict:
        command = [self.args.polyad, "complete", str(self.files["train"]), "-r", str(rank), "-t", str(threads)]
        command += ["--epochs", str(epochs), "--lr", str(self.args.lr), "--reg", str(self.args.reg)]
        command += ["--lists", "ratings", "--json", "-", "-q"]
        if test:
            command += ["--test", str(self.files["test"]), "--patience", "0", "--ranking", "0"]
        environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)

    def libmf(self, rank: int, threads: int, epochs: int, test: bool) -> tuple[list[float], list[float]]:
        """Seconds between the lines of its epochs, and the test errors in them."""
        times, errors = [], []
        with tempfile.TemporaryDirectory() as folder:
            if shutil.which("mf-train"):
                command = ["mf-train", "-k", str(rank), "-s", str(threads), "-t", str(epochs), "-r", str(self.args.lr)]
                command += ["-l2", str(self.args.reg)] + (["-p", str(self.files["mf_test"])] if test else [])
                command += [str(self.files["mf_train"]), str(pathlib.Path(folder) / "model")]
            else:
                command = [sys.executable, "-W", "ignore", "-c", PACKAGE, str(self.files["mf_train"]), str(self.files["mf_test"]) if test else ""]
                command += [str(number) for number in (rank, threads, epochs, self.args.lr, self.args.reg)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout
                for line in process.stdout:
                    words = line.split()
                    if words and words[0].isdigit():
                        times.append(time.perf_counter())
                        errors.append(float(words[2]) if test else 0.0)
        return [b - a for a, b in zip(times, times[1:])], errors

    def compare(self, rank: int, threads: int) -> None:
        has_libmf = shutil.which("mf-train") is not None or importlib.util.find_spec("libmf") is not None
        ours, theirs = [], []
        for _ in range(self.args.rounds):
            result = self.polyad(rank, threads, 5, False)
            ours.append(statistics.mean(epoch["seconds"] for epoch in result["per_epoch"][1:]))
            if has_libmf:
                theirs.append(statistics.mean(self.libmf(rank, threads, 5, False)[0]))  # not the least: lines may wait to be read
        line = f"rank {rank:3}, {threads:2} threads: polyad {min(ours):.4f} s per epoch"
        if not has_libmf:
            print(line, flush=True)
            return
        print(f"{line}, LIBMF {min(theirs):.4f} s, {min(theirs) / min(ours):.2f} times faster", flush=True)
        errors = self.libmf(rank, threads, self.args.epochs, True)[1]
        curve = self.polyad(rank, threads, self.args.epochs, True)["rmse_per_epoch"]
        target = errors[-1]
        reached = next((i + 1 for i, error in enumerate(curve) if error <= target), None)
        first = next(i + 1 for i, error in enumerate(errors) if error <= target)
        print(f"  test error: LIBMF {target:.4f} after {first} epochs; polyad {min(curve):.4f} at best, ", end="")
        if reached is None:
            print("which is not as low", flush=True)
            return
        ratio = first * min(theirs) / (reached * min(ours))
        print(f"as low after {reached} epochs: {ratio:.2f} times sooner", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--polyad", default=str(POLYAD))
    parser.add_argument("--ratings", type=int, default=FULL)
    parser.add_argument("--ranks", default="32,64")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--reg", type=float, default=0.05)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or pathlib.Path(temporary)
        bench = Bench(args, ratings_files(folder, args.ratings, args.polyad))
        for rank in args.ranks.split(","):
            for threads in args.threads.split(","):
                bench.compare(int(rank), int(threads))


if __name__ == "__main__":
    main()
