"""What `polyad complete` and `polyad plan --for complete` promise."""

import itertools
import json
import math
import pathlib
import statistics
import unittest

from program import NO_SHARED_DATA, SHARED_DATA, SOURCE, WITH_MPI, ProgramTest, run

# The keys are an interface; docs/json.md says what they mean.
KEYS = {"train_rmse", "train_mae", "rmse_per_epoch", "epochs", "undone", "best_epoch", "stop", "per_epoch", "users", "items", "ratings",
        "test_ratings", "test", "validation_ratings", "validate", "epoch_chosen_by", "duplicates", "test_duplicates", "unknown", "mean", "deviation", "rank", "biases", "method", "lists", "list_model", "schedule", "learning_rate",
        "regularisation", "shrinkage", "seed", "precision", "processes", "virtual_processes", "explicit_update", "random_owners", "progress", "threads", "device", "by", "weighed", "partition", "sync", "lambda_max", "rows_by_lambda",
        "staleness_words_per_epoch", "volume_words_per_epoch", "predicted_volume_words_per_epoch", "communication",
        "schedule_ratio", "predicted_seconds_per_epoch", "machine", "ratings_per_second", "seconds", "peak_memory_bytes"}
TEST_KEYS = {"baselines", "test_rmse", "test_mae", "ranking"}
PLAN_KEYS = {"users", "items", "ratings", "rank", "words_per_row", "strategies", "recommended", "machine", "threads", "seconds",
             "peak_memory_bytes"}
WAY_KEYS = {"processes", "by", "partition", "sync", "auto", "lambda_max", "connectivity", "lambda2", "imbalance", "progress", "staleness_words",
            "volume_words", "max_volume_words", "messages", "max_messages", "schedule_ratio", "predicted_seconds_per_epoch",
            "partition_seconds", "complete_options"}
MOVIES = SHARED_DATA / "ratings" / "movietweetings-100K.ratings.dat.gz" if SHARED_DATA else None


def read_ratings(path: pathlib.Path) -> dict[tuple[str, str], float]:
    lines = [line.split() for line in path.read_text().splitlines() if line[0] != "#"]
    return {(user, item): float(rating) for user, item, rating in lines}


def list_measures(lists: dict[str, list[str]], relevant: dict[str, set[str]], k: int, num_items: int) -> dict[str, float]:
    """Of the lists of users to whom something is relevant, by the definitions of docs/recommend.md."""
    sums = dict.fromkeys(("precision", "recall", "ndcg", "map", "mrr", "hit_rate"), 0.0)
    for user, good in relevant.items():
        places = [place for place, item in enumerate(lists[user], start=1) if item in good]
        possible = min(k, len(good))
        sums["precision"] += len(places) / k
        sums["recall"] += len(places) / len(good)
        sums["ndcg"] += sum(1 / math.log2(p + 1) for p in places) / sum(1 / math.log2(p + 1) for p in range(1, possible + 1))
        sums["map"] += sum(hits / place for hits, place in enumerate(places, start=1)) / possible
        sums["mrr"] += 1 / places[0] if places else 0
        sums["hit_rate"] += bool(places)
    means = {name: total / len(relevant) for name, total in sums.items()}
    return {**means, "coverage": len({item for user in relevant for item in lists[user]}) / num_items}


class CompleteTest(ProgramTest):
    def ratings(self, users: int = 300, items: int = 120, count: int = 8000, name: str = "ratings.tns") -> pathlib.Path:
        path = self.folder / name
        self.succeed("generate", "ratings", path, "--users", users, "--items", items, "--nnz", count, "-r", 2, "--test", 0.1, "-q")
        return path

    def complete(self, path: pathlib.Path, *options: object, processes: int = 0) -> dict:
        return self.result("complete", path, "-q", "-t", 1, *options, processes=processes)


    def assert_refused(self, part: str, code: int, *arguments: object, processes: int = 0) -> None:
        process = run(*arguments, processes=processes)
        self.assertIn(part, process.stderr)
        self.assertEqual(process.returncode, code)

    def assert_warns_of_learned(self, processes: int) -> None:
        path = self.ratings()
        lines = [line for line in path.read_text().splitlines() if line[0] != "#"]
        unknown = [line for line in (self.folder / "ratings-test.tns").read_text().splitlines() if line[0] != "#"]
        known = {tuple(line.split()[:2]) for line in lines}
        self.assertFalse(known & {tuple(line.split()[:2]) for line in unknown})
        mixed = self.write("mixed.tns", "\n".join([*lines[::len(lines) // 57][:57], *unknown[:43]]) + "\n")
        leaked = self.write("leaked.tns", "\n".join(lines[:57]) + "\n")

        def text_of(*options: object) -> str:
            return run("complete", path, "-r", 2, "-e", 2, *options, processes=processes).stderr

        for kind, options in (("test", ("--test", mixed)), ("test", ("--test", mixed, "--by", "items")), ("test", ("--test", mixed, "--validate", 0.0001)),
                              ("validation", ("--validate", mixed))):
            self.assertIn(f"mixed.tns: 57 of 100 {kind} ratings are of a user and an item that also have a training rating: "
                          f"{kind} errors say little about unknown ratings", text_of(*options), options)
        for options in (("--test", self.folder / "ratings-test.tns"), ("--test", 0.1), ("--test", 0.1, "--validate", 0.1)):
            self.assertNotIn("also have a training rating", text_of(*options), options)
        said = run("complete", path, "-r", 2, "-e", 2, "--test", leaked, "--relevant", 1, processes=processes)
        self.assertIn("lists are not measured: of 57 test ratings of 1 or more, none is relevant, because each is of a user and an item "
                      "that also have a training rating", said.stdout)
        self.assertIn("57 validation ratings were left out, because the training ratings have them too",
                      text_of("--method", "als", "--validate", mixed))


class ResultTest(CompleteTest):
    def test_every_key_is_there_and_documented(self) -> None:
        path = self.ratings()
        result = self.complete(path, "-r", 4, "-e", 3)
        self.assertEqual(set(result), KEYS)
        tested = self.complete(path, "-r", 4, "-e", 3, "--test", 0.1)
        self.assertEqual(set(tested), KEYS | TEST_KEYS)
        documented = (SOURCE / "docs" / "json.md").read_text()
        inner = set(tested["per_epoch"][0]) | set(tested["communication"]) | set(tested["ranking"]) | set(tested["seconds"]) | set(tested["list_model"])
        for key in KEYS | TEST_KEYS | inner | set(tested["seconds"]["processes"][0]) | PLAN_KEYS | WAY_KEYS:
            self.assertRegex(documented, rf"[`.\]]{key}`")

    def test_measures_of_lists_are_their_definitions(self) -> None:
        path, k = self.ratings(), 7
        train, test = read_ratings(path), read_ratings(self.folder / "ratings-test.tns")
        found = self.complete(path, "-r", 4, "-e", 3, "--test", self.folder / "ratings-test.tns", "--ranking", k, "--relevant", 4,
                              "--out", self.folder / "model")["ranking"]
        relevant: dict[str, set[str]] = {}
        for (user, item), rating in test.items():
            if rating >= 4 and (user, item) not in train:
                relevant.setdefault(user, set()).add(item)
        self.assertEqual((found["k"], found["threshold"], found["users"]), (k, 4, len(relevant)))

        items = sorted({item for _, item in train}, key=int)
        counts = {item: sum(one == item for _, one in train) for item in items}
        popular = sorted(items, key=lambda item: -counts[item])
        by_popularity = {user: [item for item in popular if (user, item) not in train][:k] for user in relevant}
        self.succeed("recommend", self.folder / "model", "--all", "--top", k, "--out", self.folder / "all.tsv", "-q")
        by_model: dict[str, list[str]] = {user: [] for user in relevant}
        for line in (self.folder / "all.tsv").read_text().splitlines()[1:]:
            user, item, _ = line.split("\t")
            by_model.setdefault(user, []).append(item)
        for figures, lists in ((found, by_model), (found["popularity"], by_popularity)):
            for name, value in list_measures(lists, relevant, k, len(items)).items():
                self.assertAlmostEqual(figures[name], value, places=12, msg=name)
        shares = []
        for user, good in relevant.items():
            pairs = [(counts[a] > counts[b]) + (counts[a] == counts[b]) / 2 for a in good & set(items) for b in items
                     if b not in good and (user, b) not in train]
            shares.append(sum(pairs) / len(pairs) if pairs else 0.5)
        self.assertAlmostEqual(found["popularity"]["auc"], sum(shares) / len(shares), places=12)

    def test_the_test_error_is_that_of_predict(self) -> None:
        path, test = self.ratings(), self.folder / "ratings-test.tns"
        for precision, places in (("double", 10), ("single", 5)):
            result = self.complete(path, "-r", 4, "-e", 3, "--test", test, "--out", self.folder / "model", "--precision", precision)
            predicted = self.result("predict", self.folder / "model", test, "-q", "--skip-unknown")
            self.assertEqual(predicted["count"], result["test_ratings"])
            self.assertAlmostEqual(predicted["rmse"], result["test_rmse"], places=places)
            self.assertAlmostEqual(predicted["mae"], result["test_mae"], places=places)
            trained = self.result("predict", self.folder / "model", path, "-q")
            self.assertAlmostEqual(trained["rmse"], result["train_rmse"], places=places)

    def test_validation_ratings_choose_the_epoch(self) -> None:
        path, test = self.ratings(), self.folder / "ratings-test.tns"
        alone = self.complete(path, "-r", 4, "--test", 0.1)
        self.assertEqual((alone["epoch_chosen_by"], alone["validation_ratings"], alone["validate"]), ("test", 0, "none"))
        result = self.complete(path, "-r", 4, "--test", 0.1, "--validate", 0.2, "--lr", 0.3)
        self.assertEqual(set(result), KEYS | TEST_KEYS | {"validation_rmse", "validation_mae"})
        self.assertEqual(result["test_ratings"], alone["test_ratings"])
        self.assertEqual(result["ratings"] + result["validation_ratings"], alone["ratings"])
        self.assertAlmostEqual(result["validation_ratings"] / alone["ratings"], 0.2, delta=0.03)
        self.assertEqual((result["epoch_chosen_by"], result["stop"]), ("validation", "validation error"))
        self.assertEqual([one["validation_rmse"] for one in result["per_epoch"]], result["rmse_per_epoch"])
        self.assertEqual(min(result["rmse_per_epoch"]), result["validation_rmse"])
        self.assertNotIn("test_rmse", result["per_epoch"][0])
        lines = self.succeed("complete", path, "-r", 4, "--test", 0.1, "--validate", 0.2)
        self.assertIn(", validation RMSE ", lines.splitlines()[0])
        self.assertIn("which chose the epoch", self.succeed("complete", path, "-r", 4, "--test", 0.1))

        # The test ratings have no say: whatever they are, the model is the same.
        other = self.write("other.tns", "".join(" ".join([*line.split()[:2], "1"]) + "\n"
                                                for line in test.read_text().splitlines() if line[0] != "#"))
        models = []
        for file in (test, other):
            self.complete(path, "-r", 4, "--test", file, "--validate", 0.2, "--out", self.folder / "model", "--precision", "double")
            models.append((self.folder / "model" / "model.npz").read_bytes())
        self.assertEqual(models[0], models[1])
        tested = self.complete(path, "-r", 4, "--test", test, "--validate", other, "--out", self.folder / "model", "--precision", "double")
        predicted = self.result("predict", self.folder / "model", test, "-q", "--skip-unknown")
        self.assertAlmostEqual(predicted["rmse"], tested["test_rmse"], places=10)
        only = self.complete(path, "-r", 4, "--validate", "leave-one-out", "-e", 2)
        self.assertEqual(set(only), KEYS | {"validation_rmse", "validation_mae"})
        self.assertEqual(only["validation_ratings"], only["users"])

    def test_test_ratings_that_were_learned_are_warned_of(self) -> None:
        self.assert_warns_of_learned(1)

    def test_folds_test_every_rating_once(self) -> None:
        path = self.ratings()
        total = len(read_ratings(path))
        result = self.complete(path, "-r", 4, "-e", 4, "--folds", 4)
        self.assertEqual(len(result["folds"]), 4)
        self.assertEqual(sum(fold["test_ratings"] for fold in result["folds"]), total)
        for fold in result["folds"]:
            self.assertEqual(fold["ratings"] + fold["test_ratings"] + fold["validation_ratings"], total)
            self.assertAlmostEqual(fold["test_ratings"] / total, 0.25, delta=0.03)
            self.assertAlmostEqual(fold["validation_ratings"] / (total - fold["test_ratings"]), 0.1, delta=0.02)
        for key in ("test_rmse", "test_mae", "ndcg", "popularity_ndcg"):
            values = [fold[key] for fold in result["folds"]]
            self.assertAlmostEqual(result[key]["mean"], statistics.mean(values), places=12)
            self.assertAlmostEqual(result[key]["deviation"], statistics.stdev(values), places=12)
        plain = self.complete(path, "-r", 4, "-e", 4, "--folds", 2, "--patience", 0, "--ranking", 0)
        self.assertEqual({fold["validation_ratings"] for fold in plain["folds"]}, {0})
        self.assertNotIn("ndcg", plain)
        lines = self.succeed("complete", path, "-r", 4, "-e", 4, "--folds", 4).splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["fold", "1", "2", "3", "4", "mean", "deviation"])
        for option in (("--test", 0.1), ("--out", self.folder / "model"), ("--resume", self.folder), ("--report", self.folder / "x.html")):
            self.assertEqual(run("complete", path, "--folds", 2, *option).returncode, 2)
        self.assertFalse((self.folder / "model").exists())

    def test_what_is_no_rating_is_warned_of(self) -> None:
        path = self.ratings(60, 40, 900)
        lines = [line.split()[:2] for line in path.read_text().splitlines() if line[0] != "#"]
        values = {"all ratings are 1: they tell nothing": lambda place: 1,
                  "the ratings look like counts: 50 % are 1, the largest is 1,200": lambda place: (1, 2, 1, 3, 1, 12, 1, 1200)[place % 8],
                  "": lambda place: (1, 2, 1, 3, 1, 10)[place % 6]}
        for sentence, value in values.items():
            file = self.write("x.tns", "".join(f"{user} {item} {value(place)}\n" for place, (user, item) in enumerate(lines)))
            process = run("complete", file, "-e", 1, "-q")
            self.assertEqual(process.returncode, 0)
            self.assertEqual(bool(process.stderr), bool(sentence), process.stderr)
            self.assertIn(sentence, process.stderr)

    def test_it_learns(self) -> None:
        path = self.ratings(400, 200, 30000)
        result = self.complete(path, "-r", 4, "--test", self.folder / "ratings-test.tns")
        self.assertLess(result["test_rmse"], 0.82)
        self.assertGreater(result["deviation"], 0.95)
        self.assertEqual(min(result["rmse_per_epoch"]), result["test_rmse"])
        self.assertEqual(result["rmse_per_epoch"].index(result["test_rmse"]) + 1, result["best_epoch"])
        self.assertEqual(result["stop"], "test error")
        self.assertLessEqual(result["epochs"], result["best_epoch"] + 3)  # a small gain is kept, but does not go on

    def test_equal_ratings_have_no_deviation(self) -> None:
        path = self.folder / "equal.tns"
        path.write_text("".join(f"{u} {i} 4\n" for u in range(1, 9) for i in range(1, 7) if (u + i) % 3))
        for method in ("sgd", "als"):
            result = self.complete(path, "-r", 2, "-e", 2, "--method", method)
            self.assertEqual((result["mean"], result["deviation"]), (4, 0), method)

    def test_every_schedule_and_precision(self) -> None:
        path = self.ratings()
        for schedule in ("adagrad", "constant", "inverse", "bold"):
            for precision in ("single", "double"):
                result = self.complete(path, "-r", 3, "-e", 8, "--test", 0.1, "--schedule", schedule, "--precision", precision)
                self.assertLess(result["test_rmse"], result["deviation"], schedule)
                self.assertEqual((result["schedule"], result["precision"]), (schedule, precision))

    def test_plain_factors(self) -> None:
        result = self.complete(self.ratings(), "--no-bias", "-r", 3, "--test", 0.1)
        self.assertEqual((result["mean"], result["biases"]), (0, False))
        self.assertLess(result["test_rmse"], 1.05)

    def test_threads_change_nothing(self) -> None:
        path = self.ratings(500, 300, 20000)
        results = [self.result("complete", path, "-q", "-t", threads, "-e", 4, "--test", 0.1) for threads in (1, 3)]
        self.assertEqual(results[0]["rmse_per_epoch"], results[1]["rmse_per_epoch"])

    def test_formats_of_the_same_ratings_give_the_same(self) -> None:
        lines = [(i % 17, (3 * i) % 11, 1 + (i * 7) % 5) for i in range(80)]
        lines = [(u, v, r) for (u, v), r in {(u, v): r for u, v, r in lines}.items()]
        texts = {
            "u.data": "".join(f"{u + 1}\t{v + 1}\t{r}\t88125094{v % 10}\n" for u, v, r in lines),
            "ratings.dat": "".join(f"{u + 1}::{v + 1}::{r}::88125094{v % 10}\n" for u, v, r in lines),
            "ratings.csv": "userId,movieId,rating,timestamp\n" + "".join(f"{u + 1},{v + 1},{r},881250949\n" for u, v, r in lines),
            "x.mtx": f"%%MatrixMarket matrix coordinate real general\n17 11 {len(lines)}\n"
            + "".join(f"{u + 1} {v + 1} {r}\n" for u, v, r in lines),
            "x.tns": "".join(f"{u + 1} {v + 1} {r}\n" for u, v, r in lines),
            "x.libmf": "".join(f"{u} {v} {r}\n" for u, v, r in lines),
        }
        results = {name: self.complete(self.write(name, text), "-e", 3)["rmse_per_epoch"] for name, text in texts.items()}
        for name, errors in results.items():
            self.assertEqual(errors, results["x.tns"], name)

    def test_names_are_kept_and_recommended(self) -> None:
        rows = [f"user {i % 7},film {j},{1 + (i + j) % 5}" for i in range(7) for j in range(9) if (i + j) % 3]
        path = self.write("r.csv", "who,what,stars\n" + "\n".join(rows) + "\n")
        self.complete(path, "--columns", "who,what,stars", "-r", 2, "--out", self.folder / "model")
        found = self.result("recommend", self.folder / "model", "-q", "--user", "user 3", "--top", 2)
        self.assertEqual(found["recommendations"][0]["user"], "user 3")
        self.assertTrue(found["recommendations"][0]["items"][0]["item"].startswith("film "))

    def test_training_goes_on(self) -> None:
        path, model = self.ratings(), self.folder / "model"
        at_once = self.complete(path, "-r", 4, "-e", 6, "--precision", "double")
        self.complete(path, "-r", 4, "-e", 3, "--precision", "double", "--out", model)
        resumed = self.complete(path, "-r", 4, "-e", 3, "--precision", "double", "--resume", model, "--out", model)
        self.assertEqual(resumed["per_epoch"][-1]["epoch"], 6)
        self.assertAlmostEqual(resumed["train_rmse"], at_once["train_rmse"], places=9)
        self.assert_refused("--rank 5: the model in", 2, "complete", path, "-r", 5, "--resume", model)

    def test_a_model_is_kept_until_an_epoch_is_better_and_with_rows_that_nothing_is_said_of(self) -> None:
        path, model = self.ratings(), self.folder / "model"
        first = self.complete(path, "-r", 4, "--test", 0.1, "--out", model)
        again = self.complete(path, "-r", 4, "-e", 0, "--test", 0.1, "--resume", model, "--out", self.folder / "again")
        self.assertAlmostEqual(again["test_rmse"], first["test_rmse"], places=6)
        self.assertEqual(again["best_epoch"], first["best_epoch"])
        resumed = self.complete(path, "-r", 4, "-e", 2, "--test", 0.1, "--resume", model, "--lr", 0.2)
        self.assertLessEqual(resumed["test_rmse"], again["test_rmse"])
        some = self.write("some.tns", "".join(f"{line}\n" for line in path.read_text().splitlines()
                                              if line[0] != "#" and int(line.split()[0]) <= 20))
        self.complete(some, "--dims", "300x120", "-r", 4, "-e", 1, "--resume", model, "--out", self.folder / "some")
        best = [self.result("recommend", place, "-q", "--user", 250, "--with-rated", "--top", 1, "--lists", "ratings")["recommendations"][0]["items"]
                for place in (model, self.folder / "some")]
        self.assertAlmostEqual(best[0][0]["rating"], best[1][0]["rating"], delta=0.5)
        before = model / "model.npz"
        self.assert_refused("--json", 2, "complete", path, "-r", 4, "--resume", model, "--json", before)

    def test_names_find_their_rows_when_training_goes_on(self) -> None:
        rows = [(f"u{i}", f"f{j}", 1 + (i * j) % 5) for i in range(12) for j in range(9) if (i + j) % 3]
        first = self.write("first.csv", "who,what,stars\n" + "".join(f"{u},{f},{r}\n" for u, f, r in rows))
        more = [("a0", "b0", 3), ("a0", "f1", 2)]  # names that come before the others
        second = self.write("second.csv", "who,what,stars\n" + "".join(f"{u},{f},{r}\n" for u, f, r in rows + more))
        options = ("--columns", "who,what,stars", "-r", 3, "--precision", "double")
        trained = self.complete(first, *options, "-e", 30, "--out", self.folder / "model")
        resumed = self.complete(second, *options, "-e", 1, "--resume", self.folder / "model")
        fresh = self.complete(second, *options, "-e", 1)
        self.assertLess(resumed["train_rmse"], trained["train_rmse"] + 0.1)
        self.assertLess(resumed["train_rmse"], fresh["train_rmse"] - 0.1)
        self.assert_refused("have names", 2, "complete", self.write("n.tns", "1 1 3\n"), "-r", 3, "--resume", self.folder / "model")
        self.assert_refused("leave out --no-bias", 2, "complete", second, *options, "--no-bias", "--resume", self.folder / "model")

    def test_the_index_base_of_a_test_is_that_of_the_training(self) -> None:
        train = self.write("train.tns", "0 0 5\n1 1 1\n2 2 3\n1 2 4\n")
        test = self.write("test.tns", "1 1 1\n2 2 3\n")  # no 0, so that it would look 1-based
        result = self.complete(train, "--test", test, "-e", 0)
        self.assertEqual((result["test_ratings"], result["unknown"]), (2, 0))


class OddRatingsTest(CompleteTest):
    def test_one_rating(self) -> None:
        result = self.complete(self.write("x.tns", "3 2 4\n"), "-e", 2)
        self.assertLess(result["train_rmse"], 0.01)

    def test_all_equal(self) -> None:
        result = self.complete(self.write("x.tns", "".join(f"{i} {j} 3\n" for i in range(1, 9) for j in range(1, 5))), "--test", 0.2)
        self.assertLess(result["test_rmse"], 0.05)

    def test_a_later_rating_of_the_same_item_counts(self) -> None:
        path = self.write("x.tns", "1 1 1\n1 2 2\n1 1 5\n")
        process = run("complete", path, "--json", "-", "-q")
        self.assertEqual(process.returncode, 0)
        result = json.loads(process.stdout)
        self.assertEqual((result["ratings"], result["duplicates"], result["mean"]), (2, 1, 3.5))
        self.assertIn("1 rating was repeated by a later line, and dropped", process.stderr)

    def test_duplicates_in_a_test_are_told(self) -> None:
        path, test = self.write("x.tns", "1 1 1\n1 2 2\n2 2 5\n"), self.write("t.tns", "2 1 1\n2 1 3\n1 1 2\n2 1 4\n")
        process = run("complete", path, "--test", test, "-e", 0, "--json", "-", "-q")
        result = json.loads(process.stdout)
        self.assertEqual((result["test_ratings"], result["test_duplicates"], result["duplicates"]), (2, 2, 0))
        self.assertIn("t.tns: 2 ratings were repeated by a later line, and dropped", process.stderr)

    def test_a_zero_is_a_rating(self) -> None:
        self.assertEqual(self.complete(self.write("x.tns", "1 1 0\n2 1 4\n"))["mean"], 2)

    def test_a_step_that_diverges_is_halved_and_told(self) -> None:
        process = run("complete", self.ratings(), "--schedule", "constant", "--lr", 50, "-e", 2, "--json", "-", "-q")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("undone, and the step halved", process.stderr)
        result = json.loads(process.stdout)
        self.assertTrue(result["per_epoch"][0]["undone"])
        self.assertEqual(result["undone"], sum(epoch["undone"] for epoch in result["per_epoch"]))
        self.assertEqual((result["epochs"], len(result["per_epoch"])), (2, 2 + result["undone"]))
        self.assertLess(result["train_rmse"], 2 * result["deviation"])

    def test_nothing_to_learn_from_or_to_test_on_is_told(self) -> None:
        two = self.write("two.tns", "1 1 3\n2 1 4\n")
        self.assert_refused("--test leaves no rating to learn from", 2, "complete", two, "--test", 0.9999)
        process = run("complete", two, "--test", "leave-one-out", "-q")
        self.assertIn("there is nothing to test on", process.stderr)
        self.assertEqual(process.returncode, 0)

    def test_what_cannot_be_kept_is_told_before_training(self) -> None:
        path = self.write("x.tns", "1 1 3\n2 1 4\n3 2 1\n")
        self.write("x.mode-1-who.map", "ann\n")
        process = run("complete", path, "--out", self.folder / "model")
        self.assertIn("has 3 users but 1 names for them: a model cannot be kept", process.stderr)
        self.assertNotIn("epoch", process.stdout)
        huge = self.write("huge.tns", "1 1 1e40\n2 1 4e40\n3 2 2e40\n")
        self.assert_refused("are beyond single precision", 2, "complete", huge)
        self.assertLess(self.complete(huge, "--precision", "double")["train_rmse"], 2e40)

    def test_small_ratings_are_ratings(self) -> None:
        path = self.ratings(60, 40, 900)
        small = self.write("small.tns", "".join(" ".join([*line.split()[:2], f"{float(line.split()[2]) * 1e-14!r}"]) + "\n"
                                                for line in path.read_text().splitlines() if line[0] != "#"))
        rmse = [self.complete(file, "-e", 3, "--precision", "double")["train_rmse"] for file in (path, small)]
        self.assertAlmostEqual(rmse[1] * 1e14, rmse[0], places=6)

    def test_what_makes_no_sense_is_refused(self) -> None:
        path = self.ratings(30, 20, 200)
        for option in ("--ranking", "--relevant"):
            self.assert_refused(f"{option} requires --test or --folds", 2, "complete", path, option, 2)
        self.assert_refused("--patience requires --test or --validate", 2, "complete", path, "--patience", 2)
        self.assert_refused("--validate 1.5: expected a share between 0 and 1, as in 0.1", 2, "complete", path, "--validate", 1.5)
        self.assert_refused("--test 1.5: expected a share between 0 and 1, as in 0.1", 2, "complete", path, "--test", 1.5)
        self.assert_refused("--relevant has no effect: it requires --ranking of at least 1", 2, "complete", path, "--test", 0.1,
                            "--ranking", 0, "--relevant", 4)
        self.assert_refused("--decay requires --schedule inverse", 2, "complete", path, "--decay", 0.5)
        self.assert_refused("--sync 2: expected auto, max, or a number from 1 to that of processes, 1", 2, "complete", path,
                          "--sync", 2)
        self.assert_refused("has 4 modes; ratings have two, users and items", 2, "complete", SOURCE / "data" / "debian.tns.gz")
        self.assert_refused("more than --memory 1kB", 3, "complete", path, "--memory", "1kB")
        self.assert_refused("No such file", 2, "complete", path, "--test", self.folder / "absent.tns")
        self.assert_refused("Not a directory", 2, "complete", path, "--out", self.write("file", ""))
        self.assert_refused(f"--out {path} would overwrite the input", 2, "complete", path, "--out", path)


@unittest.skipUnless(WITH_MPI, "this build has no MPI")
class ManyProcessesTest(CompleteTest):
    def test_test_ratings_that_were_learned_are_counted_on_all_processes(self) -> None:
        self.assert_warns_of_learned(3)

    def test_the_same_ratings_validate_and_test_on_any_number_of_processes(self) -> None:
        path = self.ratings()
        for options in (("--test", 0.1, "--validate", 0.2), ("--test", self.folder / "ratings-test.tns", "--validate", "leave-one-out")):
            results = [self.complete(path, "-r", 4, "-e", 3, *options, "--sync", "max", "--precision", "double", processes=processes)
                       for processes in (1, 2, 3)]
            for key in ("ratings", "test_ratings", "validation_ratings"):
                self.assertEqual(len({result[key] for result in results}), 1, key)
            for result in results[1:]:
                self.assertAlmostEqual(result["test_rmse"], results[0]["test_rmse"], delta=0.02)
                for name, error in result["baselines"].items():
                    self.assertAlmostEqual(error, results[0]["baselines"][name], places=9)

    def test_words_and_messages_are_as_predicted(self) -> None:
        path = self.ratings()
        for by, num_travelling in (("users", 120), ("items", 300)):
            for sync, partition in itertools.product((1, 2, "max", "auto"), ("random", "block", "hypergraph")):
                result = self.complete(path, "-e", 2, "--by", by, "--sync", sync, "--partition", partition, processes=3)
                self.assertEqual(result["volume_words_per_epoch"], result["predicted_volume_words_per_epoch"])
                self.assertGreater(result["volume_words_per_epoch"], 0)
                self.assertEqual(sum(result["rows_by_lambda"]), num_travelling)
                communication = result["communication"]
                self.assertEqual(communication["messages_per_epoch"], communication["predicted_messages_per_epoch"])
                if sync == "max":
                    self.assertEqual((result["staleness_words_per_epoch"], result["sync"]), (0, result["lambda_max"]))

    def test_a_run_does_what_the_plan_said(self) -> None:
        path = self.ratings()
        plan = self.result("plan", path, "--for", "complete", "-k", "2,3", "-r", 8, "--sync", "1,2", "--with-hypergraph", "-q")
        self.assertEqual(set(plan), PLAN_KEYS)
        self.assertEqual(len(plan["strategies"]), 2 * 2 * 3 * 2)
        for way in plan["strategies"]:
            self.assertEqual(set(way), WAY_KEYS)
            if way["processes"] != 3:
                continue
            result = self.complete(path, "-e", 1, *way["complete_options"], processes=3)
            self.assertEqual((result["by"], result["partition"], result["sync"]), (way["by"], way["partition"], way["sync"]))
            self.assertEqual(result["volume_words_per_epoch"], way["volume_words"])
            self.assertEqual(result["communication"]["messages_per_epoch"], way["messages"])
            self.assertEqual(result["staleness_words_per_epoch"], way["staleness_words"])

    def test_more_processes_than_users(self) -> None:
        path = self.write("x.tns", "1 1 5\n2 1 3\n1 2 4\n")
        result = self.complete(path, "-e", 2, "--sync", "max", "--test", path, processes=4)
        self.assertEqual(result["ratings"], 3)

    def test_the_same_ratings_are_held_out_and_found_in_the_model(self) -> None:
        path = self.ratings()
        results = [self.complete(path, "--test", 0.2, "-e", 2, "--out", self.folder / f"m{n}", processes=n) for n in (1, 2)]
        self.assertEqual(results[0]["test_ratings"], results[1]["test_ratings"])
        for n in (1, 2):
            found = self.result("recommend", self.folder / f"m{n}", "-q", "--user", 5, "--top", 3)
            self.assertEqual(len(found["recommendations"][0]["items"]), 3)

    def test_a_partition_from_a_file(self) -> None:
        path = self.ratings(30, 20, 200)
        parts = self.write("x.part", "".join(f"{i % 2}\n" for i in range(30)))
        self.assertEqual(self.complete(path, "-e", 1, "--partition", parts, processes=2)["partition"], "file")
        short = self.write("y.part", "0\n1\n")
        self.assert_refused("y.part", 2, "complete", path, "--partition", short, processes=2)


@unittest.skipUnless(MOVIES and MOVIES.exists(), NO_SHARED_DATA)
class MovieTweetingsTest(CompleteTest):
    def test_it_is_better_than_biases_alone(self) -> None:
        for processes in (0, 4) if WITH_MPI else (0,):
            result = self.complete(MOVIES, "--test", 0.1, *(["--sync", "max"] if processes else []), processes=processes)
            self.assertLess(result["test_rmse"], 1.53)
            self.assertGreater(result["ranking"]["users"], 1000)


class PlanTest(CompleteTest):
    def test_neither_staleness_nor_words_grow_with_sub_epochs(self) -> None:
        plan = self.result("plan", self.ratings(), "--for", "complete", "-k", "16", "--sync", "1-16", "-q")
        for by, partition in itertools.product(("users", "items"), ("random", "block")):
            ways = [way for way in plan["strategies"] if (way["by"], way["partition"]) == (by, partition)]
            self.assertEqual([way["sync"] for way in ways], list(range(1, 17)))
            for before, after in zip(ways, ways[1:]):
                self.assertLessEqual(after["staleness_words"], before["staleness_words"])
                self.assertLessEqual(after["volume_words"], before["volume_words"])
            self.assertEqual(ways[-1]["staleness_words"], 0)
            best = plan["strategies"][plan["recommended"]]
            if (by, partition) == (best["by"], best["partition"]):
                self.assertGreaterEqual(best["progress"], 0.9)

    def test_what_makes_no_sense_is_refused(self) -> None:
        path = self.ratings(30, 20, 200)
        for option, value in (("--sync", 2), ("--by", "items")):
            self.assert_refused("require --for complete", 2, "plan", path, "-k", 4, option, value)
        self.assert_refused("--for complete distributes users or items", 2, "plan", path, "-k", 4, "--for", "complete", "--grid", "2x2")
        self.assert_refused("--per-machine requires --for cpd", 2, "plan", path, "-k", 4, "--for", "complete", "--per-machine", 2)
        self.assert_refused("--threads-per-process requires --for cpd", 2, "plan", path, "-k", 4, "--for", "complete",
                            "--threads-per-process", 2)
        self.assert_refused("--memory requires --for cpd", 2, "plan", path, "-k", 4, "--for", "complete", "--memory", "1GB")


if __name__ == "__main__":
    unittest.main()
