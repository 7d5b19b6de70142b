#!/usr/bin/env python3
"""Lists and predicted ratings of Polyad and of other recommenders, learned from the same ratings, in turn.

    bench/recommenders.py RATINGS [--polyad build/bin/polyad] [--seeds 5] [--rank 32] [--threads 2] [--relevant 4]
                          [--binary] [--only WORD,...] [--json FILE]

RATINGS: lines of user, item and rating (a time behind them is not used), separated by commas, tabs, "::" or blanks, with or
without a header, also in gzip; or an archive of MovieLens as it is downloaded, such as ml-100k.zip, ml-1m.zip and ml-25m.zip. For every seed a random fifth of the ratings is the test. A fifth of the others is the
validation: a contestant with several settings is trained on the rest with each, and the setting whose lists have the
highest NDCG@10 there (or whose predictions have the lowest RMSE, where it has both) is trained again on all
training ratings and measured on the test, once. No choice is made on a test rating. "defaults" are contestants with one setting.

All are measured by the evaluator below. Candidates are the items with training ratings, without those that the user rated in the
training. Relevant are the held-out items of the user that are rated at least --relevant (by default 4/5 of the largest rating; with
--binary all). Figures are means over the users with training ratings and a relevant item; RMSE is over all test ratings.
Seconds are those of the last training, without reading files. `+-` is the standard deviation over the seeds.

--binary sets all ratings to 1, so that only what was chosen is known.

Needs numpy and scipy. Takes implicit (and threadpoolctl), scikit-surprise and LIBMF (`mf-train` on the PATH, or the
package libmf, whose version of LIBMF has another loss for --binary) where they are installed; the others are left out, and a line says so. EASE is a few lines here [Steck 2019].
"""

import argparse
import collections
import contextlib
import gzip
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
K = 10
MAX_EASE_ITEMS = 5000  # its matrix has the square of this


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("ratings", type=pathlib.Path)
    parser.add_argument("--polyad", default=str(ROOT / "build" / "bin" / "polyad"))
    parser.add_argument("--seeds", type=int, default=5, help="number of splits")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--relevant", type=float)
    parser.add_argument("--binary", action="store_true")
    parser.add_argument("--validation-only", action="store_true", help="print the figures of every setting on the validation, test nothing")
    parser.add_argument("--only", default="", help="contestants whose name has one of these words")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    return parser.parse_args()


ARGS = arguments()
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(ARGS.threads)  # before numpy is read

import numpy as np  # noqa: E402
import scipy.sparse as sparse  # noqa: E402


class Ratings:
    """users, items (numbers from 0) and values of some ratings, of `shape` users and items in all."""

    def __init__(self, users, items, values, shape):
        self.users, self.items, self.values, self.shape = users, items, values, shape

    def part(self, which):
        return Ratings(self.users[which], self.items[which], self.values[which], self.shape)

    def matrix(self, values=None):
        return sparse.csr_matrix((self.values if values is None else values, (self.users, self.items)), self.shape)

    def split(self, generator, share):
        is_test = generator.random(len(self.values)) < share
        return self.part(~is_test), self.part(is_test)

    def write(self, path, base=1):
        with open(path, "w") as out:
            for user, item, value in zip(self.users, self.items, self.values):
                out.write(f"{user + base} {item + base} {value:g}\n")
        return str(path)


def open_text(path: pathlib.Path):
    if path.suffix != ".zip":
        return (gzip.open if path.suffix == ".gz" else open)(path, "rt")
    archive = zipfile.ZipFile(path)
    names = [name for name in archive.namelist() if name.rpartition("/")[2] in ("ratings.dat", "ratings.csv", "u.data")]
    if len(names) != 1:
        sys.exit(f"{path}: expected one of ratings.dat, ratings.csv and u.data in it, found {len(names)}")
    return io.TextIOWrapper(archive.open(names[0]))


def read(path: pathlib.Path, binary: bool) -> Ratings:
    cells: dict[tuple[str, str], float] = {}
    header = None
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line[0] in "#%":
                continue
            words = re.split(r"::|[,\t]|(?<!:) +", line.strip())
            try:
                value = 1.0 if binary and len(words) == 2 else float(words[2])
                cells[words[0], words[1]] = 1.0 if binary else value  # the last counts
            except (ValueError, IndexError):
                if header is not None or cells:
                    sys.exit(f"{path}:{number}: expected a user, an item and a rating, not {line.strip()!r}")
                header = number, line.strip()
    if not cells:
        number, found = header or (1, "")
        sys.exit(f"{path}:{number}: expected a user, an item and a rating, not {found!r}; no line of the file has them")
    names = [{name: i for i, name in enumerate(dict.fromkeys(key[m] for key in cells))} for m in (0, 1)]
    indices = [np.array([names[m][key[m]] for key in cells]) for m in (0, 1)]
    return Ratings(*indices, np.array(list(cells.values())), (len(names[0]), len(names[1])))


class Task:
    """Training ratings, and lists of items for the users who have some."""

    def __init__(self, train: Ratings, folder: pathlib.Path):
        self.train, self.folder = train, folder
        self.rated = train.matrix(np.ones(len(train.values)))
        self.is_candidate = np.bincount(train.items, minlength=train.shape[1]) > 0
        self._file = None

    def file(self) -> str:
        if self._file is None:
            self._file = self.train.write(self.folder / f"train-{id(self)}.tns")
        return self._file

    def best(self, scores_of) -> np.ndarray:
        """[user]: the K best candidates; scores_of(users) returns a row of scores for each of them."""
        lists = np.full((self.train.shape[0], K), -1)
        for begin in range(0, self.train.shape[0], 1000):
            users = np.arange(begin, min(begin + 1000, self.train.shape[0]))
            scores = np.array(scores_of(users), dtype=np.float64)
            scores[:, ~self.is_candidate] = -np.inf
            scores[self.rated[users].nonzero()] = -np.inf
            first = np.argpartition(-scores, K, axis=1)[:, :K]
            order = np.argsort(-np.take_along_axis(scores, first, 1), axis=1, kind="stable")
            lists[users] = np.take_along_axis(first, order, 1)
        return lists


def measure(task: Task, held: Ratings, relevant: float, result: dict) -> dict:
    """NDCG and recall of lists, and RMSE of predictions, where the contestant has them."""
    figures = {"seconds": result["seconds"]}
    if result.get("predictions") is not None:
        errors = result["predictions"] - held.values
        figures["rmse"] = float(np.sqrt(np.mean(errors**2)))
    if result.get("lists") is None:
        return figures
    wanted = collections.defaultdict(set)
    for user, item, value in zip(held.users, held.items, held.values):
        if value >= relevant and task.rated.indptr[user] < task.rated.indptr[user + 1]:
            wanted[user].add(item)
    gains = 1 / np.log2(np.arange(K) + 2)
    ndcg, recall = [], []
    for user, items in wanted.items():
        hits = np.array([item in items for item in result["lists"][user]])
        ndcg.append((hits * gains).sum() / gains[: len(items)].sum())
        recall.append(hits.sum() / len(items))
    return figures | {"ndcg": float(np.mean(ndcg)), "recall": float(np.mean(recall)), "users": len(ndcg)}


# Contestants: fit(task, held, setting) returns lists, predictions of `held`, and the seconds of training.


def popularity(task, held, setting):
    begin = time.perf_counter()
    counts = np.bincount(task.train.items, minlength=task.train.shape[1]).astype(float)
    seconds = time.perf_counter() - begin
    return {"lists": task.best(lambda users: np.tile(counts, (len(users), 1))), "seconds": seconds}


def run_polyad(*words) -> dict:
    command = [ARGS.polyad, *words, "-q", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def polyad_lists(task, model, *options):
    """As `polyad recommend --all` writes them."""
    table = task.folder / "lists.tsv"
    run_polyad("recommend", model, "--all", "--top", str(K), "--out", str(table), *options)
    lists = np.full((task.train.shape[0], K), -1)
    place = collections.Counter()
    with open(table) as lines:
        next(lines)
        for line in lines:
            user, item = (int(word) - 1 for word in line.split("\t")[:2])
            lists[user, place[user]] = item
            place[user] += 1
    return lists


def polyad_complete(task, held, setting):
    model = str(task.folder / "model")
    options = ["-r", str(ARGS.rank), "-t", str(ARGS.threads), *setting.get("complete", [])]
    run = run_polyad("complete", task.file(), *options, "--out", model)
    seconds = run["seconds"]["train"] + run["seconds"].get("lists", 0)
    result = {"lists": polyad_lists(task, model, *setting.get("recommend", [])), "seconds": seconds}
    if "--implicit" not in options and not ARGS.binary:
        table = task.folder / "predictions.tsv"
        run_polyad("predict", model, held.write(task.folder / "held.tns"), "--out", str(table))
        with open(table) as lines:
            column = next(lines).rstrip("\n").split("\t").index("prediction")
            result["predictions"] = np.array([float(line.split("\t")[column]) for line in lines])
    return result


def polyad_pure_svd(task, held, setting):
    """The two-mode decomposition is a singular value decomposition, whose projection of a user's ratings scores items."""
    model = str(task.folder / "cpd.npz")
    run = run_polyad("cpd", task.file(), "-r", str(setting["rank"]), "-t", str(ARGS.threads), "--out", model)
    factors = np.load(model)
    users, items = (factors[name] for name in sorted(name for name in factors if name.startswith("factor")))
    users = users * factors["weights"]
    padded = [np.zeros((extent, setting["rank"])) for extent in task.train.shape]
    padded[0][: len(users)], padded[1][: len(items)] = users, items
    return {"lists": task.best(lambda some: padded[0][some] @ padded[1].T), "seconds": run["seconds"]["start"] + run["seconds"]["iterate"]}


def implicit_als(task, held, setting):
    from implicit.als import AlternatingLeastSquares
    import threadpoolctl
    with threadpoolctl.threadpool_limits(1, "blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the threads of BLAS, which has one here as it asks for
        model = AlternatingLeastSquares(factors=ARGS.rank, random_state=1, num_threads=ARGS.threads, **setting)
        begin = time.perf_counter()
        model.fit(task.train.matrix().astype(np.float32), show_progress=False)
        seconds = time.perf_counter() - begin
    lists = task.best(lambda users: model.user_factors[users] @ model.item_factors.T)
    return {"lists": lists, "seconds": seconds}


def surprise_svd(task, held, setting):
    import surprise
    train = task.train
    scale = (train.values.min(), train.values.max())
    frame = [(int(u), int(i), float(v), None) for u, i, v in zip(train.users, train.items, train.values)]
    data = surprise.Dataset(surprise.Reader(rating_scale=scale))
    full = data.construct_trainset(frame)
    model = surprise.SVD(n_factors=ARGS.rank, random_state=1, **setting)
    begin = time.perf_counter()
    model.fit(full)
    seconds = time.perf_counter() - begin
    predictions = np.array([model.predict(int(u), int(i)).est for u, i in zip(held.users, held.items)])
    items = np.zeros((train.shape[1], ARGS.rank + 1))
    for inner in full.all_items():
        items[full.to_raw_iid(inner)] = [*model.qi[inner], model.bi[inner]]
    users = np.zeros((train.shape[0], ARGS.rank + 1))
    users[:, -1] = 1
    for inner in full.all_users():
        users[full.to_raw_uid(inner), :-1] = model.pu[inner]
    return {"lists": task.best(lambda some: users[some] @ items.T), "predictions": predictions, "seconds": seconds}


def libmf(task, held, setting):
    """One-class matrix factorisation (-f 12) for lists of --binary; ratings (-f 0) otherwise."""
    train = task.train.write(task.folder / "libmf.txt", base=0)
    model = task.folder / "libmf.model"
    command = ["mf-train", "-k", str(ARGS.rank), "-s", str(ARGS.threads), "-t", "30", "-f", "12" if ARGS.binary else "0"]
    begin = time.perf_counter()
    subprocess.run([*command, *setting, train, str(model)], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - begin  # reading included: it has no other way
    factors = {"p": np.zeros((task.train.shape[0], ARGS.rank)), "q": np.zeros((task.train.shape[1], ARGS.rank))}
    middle = 0.0
    for line in open(model):
        words = line.split()
        if words[0] == "b":
            middle = float(words[1])
        elif words[0][0] in "pq" and words[1] == "T":
            factors[words[0][0]][int(words[0][1:])] = [float(word) for word in words[2 : 2 + ARGS.rank]]
    result = {"lists": task.best(lambda some: factors["p"][some] @ factors["q"].T), "seconds": seconds}
    if not ARGS.binary:
        dots = np.einsum("zk,zk->z", factors["p"][held.users], factors["q"][held.items])
        result["predictions"] = np.where(dots == 0, middle, dots)
    return result


def libmf_package(task, held, setting):
    """The same by the package libmf. With --binary by its pairwise ranking of a user's items (BPR): it has no squared loss for one class."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from libmf import mf  # which prints
    train = task.train
    reg = float(setting[1])
    model = mf.MF(fun=mf.P_ROW_BPR_MFOC if ARGS.binary else mf.P_L2_MFR, k=ARGS.rank, nr_threads=ARGS.threads, nr_iters=30, quiet=True,
                  lambda_p1=0.0, lambda_q1=0.0, lambda_p2=reg, lambda_q2=reg)
    begin = time.perf_counter()
    model.fit(np.column_stack([train.users, train.items, train.values]))
    seconds = time.perf_counter() - begin
    factors = []
    for found, extent in ((model.p_factors(), train.shape[0]), (model.q_factors(), train.shape[1])):
        factors.append(np.zeros((extent, ARGS.rank)))
        factors[-1][: len(found)] = np.nan_to_num(found[:, : ARGS.rank])  # rows without ratings are not numbers
    users, items = factors
    result = {"lists": task.best(lambda some: users[some] @ items.T), "seconds": seconds}
    if not ARGS.binary:
        dots = np.einsum("zk,zk->z", users[held.users], items[held.items])
        result["predictions"] = np.where(dots == 0, model.model.b, dots)
    return result


def ease(task, held, setting):
    """Item weights B of zero diagonal that minimise |X - X B|^2 + l |B|^2."""
    begin = time.perf_counter()
    gram = (task.rated.T @ task.rated).toarray().astype(np.float32)
    gram[np.diag_indices_from(gram)] += setting["l2"]
    inverse = np.linalg.inv(gram)
    weights = inverse / -np.diag(inverse)
    weights[np.diag_indices_from(weights)] = 0
    seconds = time.perf_counter() - begin
    return {"lists": task.best(lambda users: task.rated[users] @ weights), "seconds": seconds}


def grid(**values) -> list[dict]:
    settings: list[dict] = [{}]
    for name, choices in values.items():
        settings = [setting | {name: choice} for setting in settings for choice in choices]
    return settings


def polyad_settings(first: list[str], **values) -> list[dict]:
    return [{"complete": first + [word for name, value in one.items() for word in (f"--{name}", str(value))]} for one in grid(**values)]


def contestants(num_items: int) -> dict:
    found = {"items with the most ratings": (popularity, [{}])}
    if not ARGS.binary:
        found["polyad complete, defaults"] = (polyad_complete, [{}])
        found["polyad complete --lists ratings"] = (polyad_complete, [{"complete": ["--lists", "ratings"]}])
    found["polyad complete --implicit, defaults"] = (polyad_complete, [{"complete": ["--implicit"]}])
    found["polyad complete --implicit, tuned"] = (
        polyad_complete, polyad_settings(["--implicit"], alpha=[1, 3, 10], reg=[0.05, 0.2, 0.5], shrink=[5, 20]))
    ranks = sorted({max(1, ARGS.rank // 4), max(1, ARGS.rank // 2), ARGS.rank})
    found["polyad cpd as PureSVD, rank tuned"] = (polyad_pure_svd, [{"rank": rank} for rank in ranks])
    if importlib.util.find_spec("implicit"):
        found["implicit ALS, defaults"] = (implicit_als, [{}])
        found["implicit ALS, tuned"] = (implicit_als, grid(alpha=[0.3, 1.0, 3.0], regularization=[0.01, 1, 5, 10, 30, 100]))
    else:
        print("implicit is not installed, and left out")
    if ARGS.binary:
        print("Surprise's SVD learns nothing from equal ratings, and is left out")
    elif importlib.util.find_spec("surprise"):
        found["Surprise SVD, tuned"] = (surprise_svd, grid(n_epochs=[20, 40], reg_all=[0.02, 0.05, 0.1]))
    else:
        print("Surprise is not installed, and left out")
    has_program = shutil.which("mf-train") is not None
    if has_program or importlib.util.find_spec("libmf"):
        found["LIBMF, tuned"] = (libmf if has_program else libmf_package, [["-l2", str(reg)] for reg in (0.01, 0.05, 0.1, 0.2)])
    else:
        print("LIBMF is neither on the PATH (mf-train) nor installed (the package libmf), and left out")
    if num_items <= MAX_EASE_ITEMS:
        found["EASE, tuned"] = (ease, grid(l2=[30, 100, 300, 1000]))
    else:
        print(f"EASE is left out: {num_items:,} items are more than {MAX_EASE_ITEMS:,}")
    words = [word for word in ARGS.only.split(",") if word]
    return {name: one for name, one in found.items() if not words or any(word in name for word in words)}


def goodness(figures: dict) -> float:
    is_of_ratings = "rmse" in figures
    return -figures["rmse"] if is_of_ratings else figures["ndcg"]


def choose(fit, settings, task, held, relevant, name):
    if len(settings) == 1 and not ARGS.validation_only:
        return settings[0]
    scored = []
    for setting in settings:
        figures = measure(task, held, relevant, fit(task, held, setting))
        scored.append((goodness(figures), setting))
        if ARGS.validation_only:
            print(name, setting, {key: round(value, 4) for key, value in figures.items()}, flush=True)
    return max(scored, key=lambda one: one[0])[1]


def spread(values: list[float], digits: int) -> str:
    text = f"{np.mean(values):.{digits}f}"
    return text if len(values) == 1 else f"{text} ± {np.std(values, ddof=1):.{digits}f}"


def print_table(found: dict[str, list[dict]]) -> None:
    print(f"\n| | NDCG@{K} | recall@{K} | RMSE | seconds |\n| --- | --- | --- | --- | --- |")
    for name, runs in found.items():
        cells = [spread([run[key] for run in runs], digits) if key in runs[0] else ""
                 for key, digits in (("ndcg", 4), ("recall", 4), ("rmse", 4), ("seconds", 2))]
        print(f"| {name} | " + " | ".join(cells) + " |")


def main() -> None:
    ratings = read(ARGS.ratings, ARGS.binary)
    relevant = 1.0 if ARGS.binary else ARGS.relevant if ARGS.relevant is not None else 0.8 * ratings.values.max()
    print(f"{ratings.shape[0]:,} users, {ratings.shape[1]:,} items, {len(ratings.values):,} ratings; "
          f"{relevant:g} or more is relevant; rank {ARGS.rank}, {ARGS.threads} threads")
    fits = contestants(ratings.shape[1])
    found: dict[str, list[dict]] = {name: [] for name in fits}
    for seed in range(ARGS.first_seed, ARGS.first_seed + ARGS.seeds):
        generator = np.random.default_rng(seed)
        train, test = ratings.split(generator, 0.2)
        rest, validation = train.split(generator, 0.2)
        with tempfile.TemporaryDirectory() as folder:
            small, full = Task(rest, pathlib.Path(folder)), Task(train, pathlib.Path(folder))
            names = list(fits)
            for name in names[seed % len(names):] + names[: seed % len(names)]:  # another first every time
                fit, settings = fits[name]
                setting = choose(fit, settings, small, validation, relevant, name)
                if ARGS.validation_only:
                    continue
                figures = measure(full, test, relevant, fit(full, test, setting))
                found[name].append(figures | {"setting": setting, "seed": seed})
                print(f"seed {seed}: {name}: " + json.dumps({key: value for key, value in found[name][-1].items() if key != "seed"}),
                      file=sys.stderr, flush=True)
    if not ARGS.validation_only:
        print_table(found)
    if ARGS.json:
        ARGS.json.write_text(json.dumps(found, indent=1))


main()
