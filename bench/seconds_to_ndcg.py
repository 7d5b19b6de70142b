#!/usr/bin/env python3
"""Seconds until the lists of `polyad complete --implicit` are as good as those of implicit, on the same ratings.

    bench/seconds_to_ndcg.py RATINGS... [--ranks 32,64] [--threads 1,2] [--rounds 5] [--relevant 4] [--input-format F]

implicit (`pip install implicit`) trains its ALS with its defaults, 15 iterations of three steps of conjugate gradients
in single precision, on four fifths of the ratings; its NDCG@10 on the rest, at ratings of at least --relevant, is the
aim. Polyad gets as many epochs as it takes to reach it, found by a run per number of epochs, and with its own defaults
else. Then both train in turn, --rounds times, and the medians of the seconds of training are compared: without reading
files, and without the lists. The last column is what 15 epochs of Polyad take, as many as those of implicit. Both
leave items of the training out of lists, and rank items that the training has.
The Python that runs this needs implicit, numpy and scipy. For implicit, OPENBLAS_NUM_THREADS is 1, as it recommends.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import implicit
import numpy
import scipy.sparse

POLYAD = pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "polyad"
K, ITERATIONS, MAX_EPOCHS = 10, 15, 50


class Ratings:
    """Four fifths to learn from, by a fixed seed, and the rest to test on, as matrices and as files."""

    def __init__(self, path: str, folder: pathlib.Path, args: argparse.Namespace) -> None:
        whole = folder / "whole.tns"
        form = ["--input-format", args.input_format] if args.input_format else []
        subprocess.run([args.polyad, "convert", path, str(whole), "-q", *form], check=True, stderr=subprocess.DEVNULL)
        table = numpy.loadtxt(whole, comments="#")
        pairs = {(int(row[0]) - 1, int(row[1]) - 1): row[-1] for row in table}  # of several ratings the last
        users, items = (numpy.array(column) for column in zip(*pairs))
        values = numpy.array(list(pairs.values()), dtype=numpy.float32)
        is_test = numpy.random.default_rng(1).random(len(values)) < 0.2
        shape = (users.max() + 1, items.max() + 1)
        learned = ~is_test
        self.train = scipy.sparse.csr_matrix((values[learned], (users[learned], items[learned])), shape=shape)
        self.files = folder / "train.tns", folder / "test.tns"
        for file, chosen in zip(self.files, (learned, is_test)):
            rows = numpy.column_stack((users[chosen] + 1, items[chosen] + 1, values[chosen]))
            numpy.savetxt(file, rows, fmt=("%d", "%d", "%g"))
        known_users, known_items = numpy.diff(self.train.indptr) > 0, self.train.getnnz(axis=0) > 0
        self.known_items = known_items
        self.relevant: dict[int, set[int]] = {}
        for user, item, value in zip(users[is_test], items[is_test], values[is_test]):
            if value >= args.relevant and known_users[user] and known_items[item]:
                self.relevant.setdefault(int(user), set()).add(int(item))

    def ndcg(self, model: "implicit.als.AlternatingLeastSquares") -> float:
        discounts = 1 / numpy.log2(numpy.arange(2, K + 2))
        users = numpy.array(sorted(self.relevant))
        unknown = numpy.flatnonzero(~self.known_items)
        lists, _ = model.recommend(users, self.train[users], N=K, filter_items=unknown if len(unknown) else None)
        sums = 0.0
        for user, items in zip(users, lists):
            good = self.relevant[int(user)]
            sums += discounts[[item in good for item in items]].sum() / discounts[: min(K, len(good))].sum()
        return sums / len(users)


def train_implicit(ratings: Ratings, rank: int, threads: int) -> tuple["implicit.als.AlternatingLeastSquares", float]:
    model = implicit.als.AlternatingLeastSquares(factors=rank, iterations=ITERATIONS, random_state=1, num_threads=threads, use_gpu=False)
    start = time.perf_counter()
    model.fit(ratings.train, show_progress=False)
    return model, time.perf_counter() - start


def train_polyad(ratings: Ratings, rank: int, threads: int, epochs: int, args: argparse.Namespace) -> dict:
    train, test = map(str, ratings.files)
    command = [args.polyad, "complete", train, "--implicit", "-r", str(rank), "-t", str(threads), "-e", str(epochs)]
    command += [*args.polyad_options.split(), "--test", test, "--relevant", str(args.relevant), "--ranking", str(K), "--json", "-", "-q"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def epochs_to(aim: float, ratings: Ratings, rank: int, args: argparse.Namespace) -> tuple[int, float]:
    """The least number of epochs whose lists are as good, or the best that there is, with their NDCG."""
    best = (0, 0.0)
    for epochs in range(1, MAX_EPOCHS + 1):
        result = train_polyad(ratings, rank, max(args.threads), epochs, args)
        found = result["ranking"]["ndcg"]
        if found > best[1]:
            best = (epochs, found)
        if found >= aim or result["epochs"] < epochs:
            break
    return best


def compare(name: str, ratings: Ratings, rank: int, args: argparse.Namespace) -> None:
    aim = ratings.ndcg(train_implicit(ratings, rank, max(args.threads))[0])
    epochs, reached = epochs_to(aim, ratings, rank, args)
    for threads in args.threads:
        ours, theirs, equal = [], [], []
        for _ in range(args.rounds):
            theirs.append(train_implicit(ratings, rank, threads)[1])
            ours.append(train_polyad(ratings, rank, threads, epochs, args)["seconds"]["train"])
            per_epoch = train_polyad(ratings, rank, threads, ITERATIONS, args)["per_epoch"]
            equal.append(statistics.median(epoch["seconds"] for epoch in per_epoch))
        a, b = statistics.median(ours), statistics.median(theirs)
        note = "" if reached >= aim else "  (not reached)"
        print(f"{name:<24} {rank:>4} {threads:>7} {aim:>9.4f} {b:>9.3f} {reached:>9.4f} {epochs:>6} {a:>9.3f} {b / a:>6.2f}"
              f" {ITERATIONS * statistics.median(equal):>9.3f}{note}", flush=True)


def main() -> None:
    numbers = lambda text: [int(word) for word in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ratings", nargs="+", metavar="RATINGS")
    parser.add_argument("--ranks", type=numbers, default=[32, 64])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--relevant", type=float, default=4)
    parser.add_argument("--input-format")
    parser.add_argument("--polyad", default=str(POLYAD), help="the program")
    parser.add_argument("--polyad-options", default="", help="further options of `polyad complete`, in one word")
    args = parser.parse_args()
    print(f"{'':24} {'':4} {'':7} {'implicit':>19} {'Polyad':>26} {'times':>6} {'15':>9}")
    print(f"{'ratings':<24} {'rank':>4} {'threads':>7} {'NDCG@10':>9} {'seconds':>9} {'NDCG@10':>9} {'epochs':>6} "
          f"{'seconds':>9} {'faster':>6} {'epochs':>9}")
    for path in args.ratings:
        with tempfile.TemporaryDirectory() as folder:
            ratings = Ratings(path, pathlib.Path(folder), args)
            for rank in args.ranks:
                compare(pathlib.Path(path).name[:24], ratings, rank, args)


if __name__ == "__main__":
    main()
