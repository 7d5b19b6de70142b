"""The model for lists that `polyad complete` trains beside that of ratings: what it is, and what uses it."""

import os
import random
import re
import unittest
from collections.abc import Callable

from complete_als_test import solve
from program import WITH_MPI, ProgramTest, run
from rating_model import read_npz

os.environ["OMP_WAIT_POLICY"] = "passive"  # more threads than cores must not wait in circles
USERS, ITEMS = 14, 11
REG, SHRINK = 0.2, 20


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b))


def mean_cube(cells: dict[tuple[int, int], float]) -> float:
    return sum(abs(value) ** 3 for value in cells.values()) / len(cells)


def row_of(known: dict[int, float], items: list[list[float]], mean: float, alpha: float, reg: float = REG) -> list[float]:
    """Of a user with these ratings: the row that minimises the loss over all items, by its definition. `mean`: of cubes."""
    rank = len(items[0])
    matrix = [[(reg * len(known) + SHRINK if a == b else 0.0) for b in range(rank)] for a in range(rank)]
    right = [0.0] * rank
    for item, h in enumerate(items):
        value = known.get(item, 0)
        weight = 1 + alpha * abs(value) ** 3 / mean
        for a in range(rank):
            right[a] += weight * h[a] * (value > 0)
            for b in range(rank):
                matrix[a][b] += weight * h[a] * h[b]
    return solve(matrix, right)


class ListsTest(ProgramTest):
    def ratings(self, seed: int = 1, share: float = 0.4, values: tuple = (0, 1, 2, 3, 4, 5)) -> dict[tuple[int, int], float]:
        """User 3 and item 5 have none."""
        draw = random.Random(seed)
        cells = {(u, i): draw.choice(values) for u in range(USERS) for i in range(ITEMS)
                 if u != 3 and i != 5 and draw.random() < share}
        cells[USERS - 1, ITEMS - 1] = values[-1]
        self.x = self.write("x.tns", "".join(f"{u + 1} {i + 1} {v}\n" for (u, i), v in cells.items()))
        self.place = self.folder / "model"
        return cells

    def train(self, *options: object, processes: int = 0) -> dict:
        return self.result("complete", self.x, "-t", 1, "-q", "-r", 3, "--precision", "double", "--out", self.place, *options,
                           processes=processes)

    def recommended(self, *options: object) -> list[dict]:
        return self.result("recommend", self.place, "-q", "--top", ITEMS, *options)["recommendations"]

    def assert_list(self, found: list[dict], scores: dict[int, float], places: int = 8) -> None:
        self.assertEqual({one["item"] - 1 for one in found}, set(scores))
        for one in found:
            self.assertAlmostEqual(one["rating"], scores[one["item"] - 1], places=places)
        ratings = [one["rating"] for one in found]
        self.assertEqual(ratings, sorted(ratings, reverse=True))

    def test_lists_are_those_of_the_definition(self) -> None:
        """Users are solved last: each row minimises the loss for the items as they are; popularity is added."""
        for seed, method, alpha, popularity in ((1, "sgd", 3, 0.25), (2, "als", 0.5, 0), (3, "sgd", 20, 2)):
            with self.subTest(seed=seed):
                cells = self.ratings(seed, values=(0, 1, 2, 5) if seed < 3 else (-2, 1, 3))
                self.train("--method", method, "--alpha", alpha, "--popularity", popularity, "-e", 4)
                arrays = read_npz(self.place / "model.npz")
                self.assertEqual((arrays["list_alpha"], arrays["list_power"], arrays["list_regularisation"], arrays["list_shrinkage"]),
                                 (alpha, 3, REG, SHRINK))
                items, biases = arrays["list_item_factors"], arrays["list_item_biases"]
                mean = mean_cube(cells)
                active = len({u for u, _ in cells})
                for item in range(ITEMS):
                    liked = sum(v > 0 for (_, i), v in cells.items() if i == item)
                    self.assertAlmostEqual(biases[item], popularity * liked / active)
                self.assertEqual(items[5], [0.0] * 3)
                for user in range(USERS):
                    known = {i: v for (u, i), v in cells.items() if u == user}
                    expected = row_of(known, items, mean, alpha)
                    for here, there in zip(arrays["list_user_factors"][user], expected if known else [0.0] * 3):
                        self.assertAlmostEqual(here, there, places=8)
                    self.assert_list(self.recommended("--user", user + 1)[0]["items"],
                                     {i: dot(expected, items[i]) + biases[i] for i in range(ITEMS) if i != 5 and i not in known})

    def test_new_users_get_the_lists_of_the_definition(self) -> None:
        cells = self.ratings(4)
        self.train()
        arrays = read_npz(self.place / "model.npz")
        mean = mean_cube(cells)
        new = {"ann": {2: 5, 7: 1}, "bob": {0: 0, 1: 3, 9: 4}}
        file = self.write("new.csv", "".join(f"{name},{item + 1},{value}\n" for name, known in new.items() for item, value in known.items()))
        allowed = self.write("stock", "2\n3\n5\n9\n")
        for options, candidates in (((), set(range(ITEMS)) - {5}), (("--candidates", allowed), {1, 2, 4, 8})):
            for one in self.recommended("--new-users", file, *options):
                known = new[one["user"]]
                row = row_of(known, arrays["list_item_factors"], mean, 3)
                self.assert_list(one["items"], {i: dot(row, arrays["list_item_factors"][i]) + arrays["list_item_biases"][i]
                                                for i in candidates - set(known)})

    def test_neighbours_add_what_their_definition_says(self) -> None:
        """For users of the model, new ones and those of a copy of the ratings with dislikes; by both kinds of models."""
        def similarities(cells: dict[tuple[int, int], float], counts: Callable[[float], float]) -> dict[tuple[int, int], float]:
            liked = [{i: counts(v) for (u, i), v in cells.items() if u == user and v > 0} for user in range(USERS)]
            together = {(i, j): sum((items[i] * items[j]) ** 0.5 / len(items) for items in liked if i in items and j in items)
                        for i in range(ITEMS) for j in range(ITEMS)}
            known = {i for i in range(ITEMS) if sum(i in items for items in liked) >= 4}
            return {(i, j): together[i, j] / ((together[i, i] * together[j, j]) ** 0.5 + 1)
                    for i in known for j in known if i != j}

        for seed, options, weight in ((11, ("--implicit",), 2), (12, (), 0.5)):
            with self.subTest(seed=seed):
                cells = self.ratings(seed, share=0.6, values=(-1, 1, 2))
                power = 1 if options else 3
                mean = sum(abs(value) ** power for value in cells.values()) / len(cells)

                def counts(value: float, power: int = power, mean: float = mean) -> float:
                    return min(4, (1 + 3 * abs(value) ** power / mean) / (1 + 3))

                run = self.train(*options, "--neighbours", weight)
                self.assertEqual((run if options else run["list_model"])["neighbours"], weight)
                arrays = read_npz(self.place / "model.npz")
                prefix = "" if options else "list_"
                self.assertEqual(arrays[prefix + "neighbours"], weight)
                rows, items, biases = (arrays[prefix + name] for name in ("user_factors", "item_factors", "item_biases"))
                similar = similarities(cells, counts)
                self.assertTrue(similar)
                positive = [(i, v) for (_, i), v in cells.items() if v > 0]
                scale = 0.25 * len(positive) / sum(counts(v) for _, v in positive) / len({u for u, _ in cells})
                for item in range(ITEMS):
                    self.assertAlmostEqual(biases[item], scale * sum(counts(v) for i, v in positive if i == item))
                for user in range(USERS):
                    known = {i: v for (u, i), v in cells.items() if u == user}
                    self.assert_list(self.recommended("--user", user + 1)[0]["items"], {
                        i: dot(rows[user], items[i]) + biases[i] + weight * sum(counts(v) * similar.get((i, j), 0) for j, v in known.items() if v > 0)
                        for i in range(ITEMS) if i != 5 and i not in known}, places=6)
                new = {0: 1, 2: 2, 4: -1}
                file = self.write("new.csv", "".join(f"ann,{item + 1},{value}\n" for item, value in new.items()))
                with_them = {one["item"] - 1: one["rating"] for one in self.recommended("--new-users", file)[0]["items"]}
                self.train(*options, "--popularity", 0.25)
                without = {one["item"] - 1: one["rating"] for one in self.recommended("--new-users", file)[0]["items"]}
                usual = read_npz(self.place / "model.npz")[prefix + "item_biases"]
                for item, score in with_them.items():
                    gain = weight * sum(counts(new[j]) * similar.get((item, j), 0) for j in (0, 2))
                    self.assertAlmostEqual(score, without[item] - usual[item] + biases[item] + gain, places=6)

    def test_similar_items_are_those_of_the_same_model(self) -> None:
        self.ratings(5)
        self.train()
        arrays = read_npz(self.place / "model.npz")
        for lists, name in (("auto", "list_item_factors"), ("ranking", "list_item_factors"), ("ratings", "item_factors")):
            rows = arrays[name]
            found = self.result("recommend", self.place, "-q", "--similar-items", 2, "--lists", lists)["similar_items"][0]["similar"]
            for one in found:
                a, b = rows[1], rows[one["item"] - 1]
                self.assertAlmostEqual(one["cosine"], dot(a, b) / (dot(a, a) * dot(b, b)) ** 0.5, places=8)

    def test_ratings_are_predicted_as_before(self) -> None:
        """The second model changes nothing of the first."""
        self.ratings(6)
        both = self.train("--test", 0.2)
        with_lists = read_npz(self.place / "model.npz")
        alone = self.train("--test", 0.2, "--lists", "ratings")
        arrays = read_npz(self.place / "model.npz")
        self.assertEqual({key: value for key, value in with_lists.items() if not key.startswith("list_")}, arrays)
        self.assertEqual(both["per_epoch"][-1]["test_rmse"], alone["per_epoch"][-1]["test_rmse"])
        self.assertEqual((both["test_rmse"], both["lists"], alone["lists"]), (alone["test_rmse"], "ranking", "ratings"))
        self.assertNotIn("list_model", alone)
        self.assertGreaterEqual(both["seconds"]["lists"], 0)
        self.assertNotIn("lists", alone["seconds"])

    def test_the_model_for_lists_is_that_of_implicit_feedback(self) -> None:
        """Of the cubes of the ratings, which are the ratings where these are 0 and 1."""
        self.ratings(7, values=(0, 1))
        for test in ((), ("--test", 0.3)):
            beside = self.train(*test)
            lists = read_npz(self.place / "model.npz")
            one = self.train("--implicit", *test)
            arrays = read_npz(self.place / "model.npz")
            for here, there in zip(lists["list_user_factors"], arrays["user_factors"], strict=True):
                for x, y in zip(here, there):
                    self.assertAlmostEqual(x, y, places=9)
            self.assertEqual(lists["list_item_biases"], arrays["item_biases"])
            self.assertEqual(beside.get("ranking"), one.get("ranking"))
            self.assertEqual(beside["list_model"]["sweeps"], one["epochs"])

    def many_ratings(self, num_users: int, num_items: int) -> dict[tuple[int, int], float]:
        """Enough to choose settings by; few per user, who like items of their group."""
        draw = random.Random(num_users)
        cells = {}
        while len(cells) < 20500:
            user = draw.randrange(num_users)
            item = int(num_items * draw.random() ** 3) // 4 * 4 + (user % 4 if draw.random() < 0.7 else draw.randrange(4))
            if item < num_items:
                cells[user, item] = float(draw.randint(1, 5))
        self.x = self.write("x.tns", "".join(f"{u + 1} {i + 1} {v:g}\n" for (u, i), v in cells.items()))
        self.place = self.folder / "model"
        return cells

    def test_settings_are_chosen_by_held_out_training_ratings(self) -> None:
        cells = self.many_ratings(4000, 400)
        mean = mean_cube(cells)
        for implicit in ((), ("--implicit",)):
            with self.subTest(implicit=implicit):
                found = self.train("-e", 3, *implicit)
                trials = found["list_trials"]
                self.assertEqual([(one["regularisation"], one["item_regularisation"], one["popularity"], one["neighbours"]) for one in trials],
                                 [(reg, of_items, *weights) for reg, of_items in ((0.2, 0.2), (0.05, 0.4))
                                  for weights in ((0.25, 0), (0.5, 0.2), (0.5, 0.35), (1, 0.5))])
                best = max(trials, key=lambda one: one["ndcg"])
                expected = best if best["ndcg"] > 1.02 * trials[0]["ndcg"] else trials[0]
                self.assertEqual([one for one in trials if one["chosen"]], [expected])
                model = found if implicit else found["list_model"]
                for key in ("regularisation", "item_regularisation", "popularity", "neighbours"):
                    self.assertEqual(model[key], expected[key])
                arrays = read_npz(self.place / "model.npz")
                name = "" if implicit else "list_"
                self.assertEqual(arrays[name + "regularisation"], expected["regularisation"])
                if expected["item_regularisation"] != expected["regularisation"]:
                    self.assertAlmostEqual(arrays[name + "item_regularisation"], expected["item_regularisation"])
                if implicit:
                    continue
                for user in (0, 17, 333):
                    known = {i: v for (u, i), v in cells.items() if u == user}
                    row = row_of(known, arrays["list_item_factors"], mean, 3, expected["regularisation"])
                    for here, there in zip(arrays["list_user_factors"][user], row):
                        self.assertAlmostEqual(here, there, places=8)
        for named in (("--popularity", 0.25), ("--implicit", "--reg", 0.2), ("--implicit", "--shrink", 20), ("--lists", "ratings")):
            self.assertNotIn("list_trials", self.train("-e", 1, *named))

    @unittest.skipUnless(WITH_MPI, "built without MPI")
    def test_the_same_settings_are_chosen_on_any_number_of_processes(self) -> None:
        self.many_ratings(4000, 400)
        for implicit in ((), ("--implicit",)):
            one = self.train("-e", 2, *implicit)
            arrays = read_npz(self.place / "model.npz")
            for processes in (2, 3, 4):
                with self.subTest(implicit=implicit, processes=processes):
                    other = self.train("-e", 2, *implicit, processes=processes)
                    for here, there in zip(one["list_trials"], other["list_trials"], strict=True):
                        self.assertAlmostEqual(here.pop("ndcg"), there["ndcg"], places=6)
                        here["ndcg"] = there["ndcg"]
                        self.assertEqual(here, there)
                    name = "user_factors" if implicit else "list_user_factors"
                    for here, there in zip(arrays[name][:200], read_npz(self.place / "model.npz")[name][:200]):
                        for x, y in zip(here, there):
                            self.assertAlmostEqual(x, y, places=7)

    def test_few_ratings_choose_nothing(self) -> None:
        self.ratings(9)
        found = self.train()
        self.assertNotIn("list_trials", found)
        self.assertEqual([found["list_model"][key] for key in ("regularisation", "item_regularisation", "popularity")], [REG, REG, 0.25])

    def test_test_ratings_are_not_learned_from(self) -> None:
        cells = self.ratings(8)
        held = {key for z, key in enumerate(cells) if z % 5 == 0 and key != (USERS - 1, ITEMS - 1)}
        lines = {key: f"{key[0] + 1} {key[1] + 1} {value}\n" for key, value in cells.items()}
        test = self.write("test.tns", "".join(lines[key] for key in held))
        self.x = self.write("train.tns", "".join(line for key, line in lines.items() if key not in held))
        self.train("--dims", f"{USERS}x{ITEMS}")
        alone = read_npz(self.place / "model.npz")
        self.train("--dims", f"{USERS}x{ITEMS}", "--test", test)
        tested = read_npz(self.place / "model.npz")
        for name in ("list_user_factors", "list_item_factors", "list_item_biases"):
            self.assertEqual(alone[name], tested[name])

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_any_number_of_processes_gives_the_same(self) -> None:
        self.ratings(9)
        for options in (("--test", 0.2), ("--test", 0.2, "--by", "items"), ("--test", 0.2, "--validate", 0.2), ("--implicit", "--test", 0.2)):
            alone = self.train(*options)
            lists = self.recommended("--user", 1, "--user", 2)
            for processes in (2, 3, 7):
                with self.subTest(options=options, processes=processes):
                    result = self.train(*options, processes=processes)
                    for key in ("ndcg", "auc", "recall"):
                        self.assertAlmostEqual(result["ranking"][key], alone["ranking"][key], places=7)
                    for here, there in zip(self.recommended("--user", 1, "--user", 2), lists, strict=True):
                        self.assert_list(here["items"], {one["item"] - 1: one["rating"] for one in there["items"]})

    def test_folds_measure_lists(self) -> None:
        self.ratings(10, values=(0, 1))
        folds = self.result("complete", self.x, "-r", 3, "-q", "--folds", 3, "--implicit", "--precision", "double")
        self.assertEqual({"ndcg", "popularity_ndcg", "folds"}, set(folds))
        self.assertEqual(sum(one["test_ratings"] for one in folds["folds"]), folds["folds"][0]["ratings"] + folds["folds"][0]["test_ratings"])
        self.assertAlmostEqual(folds["ndcg"]["mean"], sum(one["ndcg"] for one in folds["folds"]) / 3)
        both = self.result("complete", self.x, "-r", 3, "-q", "--folds", 3, "--precision", "double", "--patience", 0)
        for here, there in zip(both["folds"], folds["folds"], strict=True):
            self.assertAlmostEqual(here["ndcg"], there["ndcg"])

    def test_a_resumed_training_trains_it_anew(self) -> None:
        """On the ratings of this run: as a training from the start does, whatever the number of further epochs."""
        for processes in (0, 3) if WITH_MPI else (0,):
            self.ratings(11)
            self.train("--lists", "ratings", processes=processes)
            self.ratings(14)
            model = str(self.place)
            self.place = self.folder / "fresh"
            self.train(processes=processes)
            fresh = read_npz(self.place / "model.npz")
            for epochs in (0, 2):
                self.place = self.folder / "again"
                again = run("complete", self.x, "-r", 3, "--precision", "double", "-e", epochs, "--out", self.place, "--resume", model, "-q",
                            processes=processes)
                self.assertEqual((again.returncode, again.stderr), (0, ""))
                arrays = read_npz(self.place / "model.npz")
                for name in ("list_user_factors", "list_item_factors"):
                    for here, there in zip(arrays[name], fresh[name], strict=True):
                        for x, y in zip(here, there):
                            self.assertAlmostEqual(x, y, places=8)
                self.assertEqual(run("recommend", self.place, "--user", 1).stderr, "")

    def test_least_squares_are_not_resumed(self) -> None:
        self.ratings(15)
        self.train()
        for option in (("--method", "als"), ("--implicit",)):
            self.assert_fails("--resume requires --method sgd: least squares settle within few epochs from any start, so train again, on "
                              "all ratings", 2, "complete", self.x, *option, "--resume", self.place)

    def test_memory_counts_least_squares(self) -> None:
        generated = self.folder / "g.ptb"
        self.succeed("generate", "ratings", generated, "--users", 5000, "--items", 1500, "--nnz", 200000, "-q")
        out = ("--out", self.folder / "m")
        for processes in (0, 3) if WITH_MPI else (0,):
            for options in (("--implicit", "-r", 40), ("--implicit", *out), ("--method", "als", "--test", 0.1), ("--method", "als", *out), (), out,
                            ("--precision", "double", "--implicit", "-r", 40)):
                with self.subTest(processes=processes, options=options):
                    words = ("complete", generated, "-e", 2, "-t", 1, "-q", *options)
                    refused = run(*words, "--memory", "1kB", processes=processes)
                    self.assertEqual(refused.returncode, 3)
                    size = re.search(r"would need about ([0-9.]+) MB, more than --memory 1kB", refused.stderr)
                    needed = float(size[1]) * 1e6
                    peak = self.result(*words, "--memory", f"{needed * 1.01:.0f}", processes=processes)["peak_memory_bytes"]
                    self.assertLess(peak, 1.1 * needed)
                    self.assertLess(needed, 2 * peak)

    def test_what_has_no_effect_is_refused(self) -> None:
        self.ratings(12)
        for sentence, options in (
                ("--implicit trains one model, for lists: --lists has no effect", ("--implicit", "--lists", "ranking")),
                ("--alpha has no effect: it requires --implicit, or --lists ranking", ("--alpha", 2, "--lists", "ratings")),
                ("--popularity has no effect: it requires --implicit, or --lists ranking", ("--popularity", 1, "--lists", "ratings")),
                ("--neighbours has no effect: it requires --implicit, or --lists ranking", ("--neighbours", 1, "--lists", "ratings"))):
            self.assert_fails(sentence, 2, "complete", self.x, *options)
        self.train("--implicit")
        self.assert_fails(f"{self.place}: --lists ratings: a model of implicit feedback predicts none", 2,
                          "recommend", self.place, "--user", 1, "--lists", "ratings")
        self.train("--lists", "ratings")
        self.assert_fails(f"{self.place}: --lists ranking: the model was trained without one for lists", 2,
                          "recommend", self.place, "--user", 1, "--lists", "ranking")

    def test_least_squares_say_why_they_stopped(self) -> None:
        self.ratings(13)
        found = {self.train("--method", "als", "--test", 0.3, "--reg", reg, "--shrink", shrink, "--patience", patience, "-e", 500)["stop"]
                 for reg, shrink, patience in ((1, 5, 400), (0, 0.01, 1))}
        self.assertEqual(found, {"converged", "test error"})

    def test_test_ratings_that_are_learned_from_count_nowhere(self) -> None:
        cells = self.ratings(14)
        held = {(0, 10): 3, (1, 10): 5}
        for key in held:
            cells.pop(key, None)
        lines = [f"{u + 1} {i + 1} {v}\n" for (u, i), v in cells.items()]
        self.x = self.write("train.tns", "".join(lines))
        test = self.write("test.tns", "".join(lines[:5]) + "".join(f"{u + 1} {i + 1} {v}\n" for (u, i), v in held.items()))
        result = self.train("--method", "als", "--test", test)
        self.assertEqual(result["test_ratings"], 2)
        mean = sum(cells.values()) / len(cells)
        self.assertAlmostEqual(result["baselines"]["mean"], (sum((v - mean) ** 2 for v in held.values()) / 2) ** 0.5)


if __name__ == "__main__":
    unittest.main()
