"""What `polyad recommend` promises with a model that `polyad cpd` wrote."""

import itertools
import math
import random
import unittest

from kruskal_model import read_ktensor
from program import ProgramTest, run

Place = tuple[int, ...]


class CpModelTest(ProgramTest):
    def decompose(self, dims: list[int], rank: int, seed: int, empty: dict[int, int] = {}) -> None:
        """Writes x.tns, with one empty slice in the modes of `empty`, and its model m.ktensor."""
        draw = random.Random(seed)
        places = [place for place in itertools.product(*map(range, dims))
                  if all(place[m] != i for m, i in empty.items())]
        self.dims, self.known = dims, set(draw.sample(places, max(1, len(places) // 3)))
        lines = [" ".join(str(i + 1) for i in place) + f" {draw.gauss(1, 1)}\n" for place in sorted(self.known)]
        self.x = self.write("x.tns", "".join(lines))
        self.place = self.folder / "m.ktensor"
        self.succeed("cpd", self.x, "-r", rank, "-i", 4, "--seed", seed, "--dims", "x".join(map(str, dims)),
                     "--out", self.place, "-q")
        self.weights, self.factors = read_ktensor(self.place)

    def rows_of(self, mode: int) -> list[int]:
        """Those of slices that are not empty."""
        return [i for i, row in enumerate(self.factors[mode]) if any(row)]

    def row(self, mode: int, index: int | None) -> list[float]:
        """A row, or the mean of those of slices that are not empty."""
        if index is not None and any(self.factors[mode][index]):
            return self.factors[mode][index]
        rows = self.rows_of(mode)
        return [sum(self.factors[mode][i][r] for i in rows) / len(rows) for r in range(len(self.weights))]

    def score(self, place: list[int | None]) -> float:
        rows = [self.row(m, i) for m, i in enumerate(place)]
        return sum(w * math.prod(row[r] for row in rows) for r, w in enumerate(self.weights))

    def best(self, sides: tuple[int, int], user: int, at: dict[int, int], left_out: set[int], top: int) -> list[tuple[int, float]]:
        scores = []
        for item in self.rows_of(sides[1]):
            place = [at.get(m) for m in range(len(self.dims))]
            place[sides[0]], place[sides[1]] = user, item
            if item not in left_out:
                scores.append((item, self.score(place)))
        return sorted(scores, key=lambda one: -one[1])[:top]

    def check(self, found: dict, expected: list[tuple[int, float]]) -> None:
        self.assertEqual([one["item"] - 1 for one in found["items"]], [item for item, _ in expected])
        for one, (_, score) in zip(found["items"], expected):
            self.assertAlmostEqual(one["rating"], score, places=9)


class ListsTest(CpModelTest):
    def test_scores_are_values_of_the_model_wherever_it_is_evaluated(self) -> None:
        draw = random.Random(3)
        for dims, rank in (([7, 9], 3), ([5, 8, 4], 2), ([4, 6, 3, 5], 3), ([3, 5, 2, 1, 4], 1)):
            for seed in range(4):
                self.decompose(dims, rank, seed)
                sides = (0, 1) if seed == 0 else tuple(draw.sample(range(len(dims)), 2))
                others = [m for m in range(len(dims)) if m not in sides]
                at = {m: draw.randrange(dims[m]) for m in draw.sample(others, draw.randint(0, len(others)))}
                user = draw.randrange(dims[sides[0]])
                has = {place[sides[1]] for place in self.known if place[sides[0]] == user}
                options = [word for m, i in at.items() for word in ("--at", f"mode{m + 1}={i + 1}")]
                options += ["--user", user + 1, "--top", 5]
                if seed > 0:
                    options += ["--user-mode", f"mode{sides[0] + 1}", "--item-mode", sides[1] + 1]
                with self.subTest(dims=dims, seed=seed, sides=sides, at=at, user=user):
                    result = self.result("recommend", self.place, *options)
                    self.check(result["recommendations"][0], self.best(sides, user, at, set(), 5))
                    self.assertEqual(result["recommendations"][0]["rated"], None)
                    self.assertEqual(result["decomposition"], {
                        "user_mode": f"mode{sides[0] + 1}", "item_mode": f"mode{sides[1] + 1}",
                        "at": [{"mode": f"mode{m + 1}", "place": str(i + 1)} for m, i in at.items()],
                        "averaged": [f"mode{m + 1}" for m in others if m not in at], "known": None})
                    result = self.result("recommend", self.place, *options, "--known", self.x)
                    self.check(result["recommendations"][0], self.best(sides, user, at, has, 5))
                    self.assertEqual(result["recommendations"][0]["rated"], len(has))
                    result = self.result("recommend", self.place, *options, "--known", self.x, "--with-rated")
                    self.check(result["recommendations"][0], self.best(sides, user, at, set(), 5))

    def test_empty_slices(self) -> None:
        """An item without cells is not recommended; users and places without cells get the mean of the others."""
        self.decompose([6, 8, 5], 3, seed=1, empty={0: 2, 1: 4, 2: 0})
        result = run("recommend", self.place, "--user", 3, "--at", "mode3=1", "--top", 8, "--known", self.x, "--json", "-")
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"{self.place}: mode3 1 has no cells in the tensor; the mean over all others is used", result.stderr)
        self.assertIn(f"{self.place}: 3 has no cells in the tensor, and gets what everyone likes", result.stderr)
        found = self.result("recommend", self.place, "--user", 3, "--at", "mode3=1", "--top", 8, "--known", self.x, "-q")
        self.check(found["recommendations"][0], self.best((0, 1), 2, {2: 0}, set(), 8))
        self.assertEqual((found["items"], found["rated_items"]), (8, 7))

    def test_candidates_all_users_and_the_table(self) -> None:
        self.decompose([6, 9, 3], 2, seed=2)
        few, out = self.write("few.txt", "2\n3\n5\n7\n"), self.folder / "all.tsv"
        bad = self.write("bad.txt", "5\n")
        self.succeed("recommend", self.place, "--all", "--candidates", few, "--exclude", bad, "--known", self.x, "--out", out,
                     "--top", 2, "--at", "3=2", "-q")
        rows = [line.split("\t") for line in out.read_text().splitlines()]
        expected = []
        for user in range(6):
            has = {place[1] for place in self.known if place[0] == user}
            expected += [(user, *one) for one in self.best((0, 1), user, {2: 1}, has | {0, 3, 4, 5, 7, 8}, 2)]
        self.assertEqual(rows[0], ["mode1", "mode2", "prediction"])
        self.assertEqual([(int(u) - 1, int(i) - 1) for u, i, _ in rows[1:]], [one[:2] for one in expected])

    def test_similar_items_are_those_with_like_factors(self) -> None:
        self.decompose([6, 9, 4], 3, seed=5)
        scales = [w * c for w, c in zip(self.weights, self.row(2, 1))]

        def cosine(i: int, j: int) -> float:
            a, b = ([math.sqrt(abs(s)) * v for s, v in zip(scales, self.factors[1][k])] for k in (i, j))
            return sum(x * y for x, y in zip(a, b)) / math.hypot(*a) / math.hypot(*b)

        ranked = sorted(((cosine(2, j), j) for j in range(9) if j != 2), reverse=True)
        found = self.result("recommend", self.place, "--similar-items", 3, "--at", "mode3=2", "--support", 0)["similar_items"][0]
        self.assertEqual([one["item"] - 1 for one in found["similar"]], [j for _, j in ranked])
        self.assertTrue(all(one["ratings"] is None for one in found["similar"]))
        found = self.result("recommend", self.place, "--similar-items", 3, "--known", self.x)["similar_items"][0]
        for one in found["similar"]:
            users = {place[0] for place in self.known if place[1] == one["item"] - 1}
            self.assertEqual(one["ratings"], len(users))


class NamesTest(CpModelTest):
    def setUp(self) -> None:
        super().setUp()
        draw = random.Random(1)
        lines = [f"ann{u},film {i},h{h},{draw.randint(1, 5)}\n"
                 for u, i, h in itertools.product(range(5), range(7), range(3)) if draw.random() < 0.4]
        self.table = self.write("x.csv", "user,item,hour,count\n" + "".join(lines))
        self.place = self.folder / "model"
        self.succeed("cpd", self.table, "--columns", "user,item,hour,count", "-r", 2, "--out", self.place, "-q")

    def lists(self, *options: object) -> dict:
        return self.result("recommend", self.place, "--user", "ann2", *options)["recommendations"][0]

    def test_known_tables_may_have_more_columns_and_other_names(self) -> None:
        by_name = self.lists("--at", "hour=h1", "--known", self.table)
        self.assertGreater(by_name["rated"], 0)
        self.assertLess(len(by_name["items"]), 7)
        text = self.table.read_text()
        other = self.write("other.csv", text.replace("user,item", "who,what"))
        self.assertEqual(self.lists("--at", "hour=h1", "--known", other, "--columns", "who,what"), by_name)
        few = self.write("few.csv", "item,user\nfilm 3,ann2\nfilm 99,ann2\n")
        self.assertEqual(self.lists("--known", few)["rated"], 1)
        self.assertNotIn("film 3", [one["item"] for one in self.lists("--known", few)["items"]])

    def test_words(self) -> None:
        result = run("recommend", self.place, "--user", "ann2", "--top", 2)
        self.assertEqual(result.stderr.strip(), "polyad: note: items that users have already are not left out; --known FILE "
                                                "says which they are")
        lines = result.stdout.splitlines()
        self.assertEqual(lines[:3], ["5 users, 7 items, 2 components", "mean over hour", "for user ann2:"])
        lines = self.succeed("recommend", self.place, "--user", "ann2", "--at", "hour=h1", "--known", self.table).splitlines()
        self.assertEqual(lines[1], "at hour h1")
        self.assertRegex(lines[2], r"^for user ann2, with \d+ ratings:$")

    def test_requests_that_make_no_sense(self) -> None:
        ask = ("recommend", self.place, "--user", "ann2")
        self.assert_fails("--at huor: the model has no such mode (did you mean hour?); its modes are user, item, hour", 2, *ask,
                          "--at", "huor=h1")
        self.assert_fails("--at hour=h11: 'h11' is no hour of the model (did you mean h1?)", 2, *ask, "--at", "hour=h11")
        self.assert_fails("--at hour: expected a mode and a place, as in hour=9", 2, *ask, "--at", "hour")
        self.assert_fails("--at names two places of hour; ask once for each", 2, *ask, "--at", "hour=h1", "--at", "3=h2")
        self.assert_fails("--at item=film 1: item is the mode of the items; --user-mode and --item-mode choose others", 2, *ask,
                          "--at", "item=film 1")
        self.assert_fails("--user-mode and --item-mode are both hour", 2, *ask, "--user-mode", "hour", "--item-mode", 3)
        self.assert_fails("--columns requires --known", 2, *ask, "--columns", "user,item")
        self.assert_fails("--with-rated has no effect without --known: nothing is left out", 2, *ask, "--with-rated")
        self.assert_fails("--support 5 needs numbers of ratings, which a CP model does not have: give --known FILE, or "
                          "--support 0 for cosines alone", 2, "recommend", self.place, "--similar-items", "film 1")
        mine = self.write("mine.tsv", "film 1\t5\n")
        self.assert_fails("--ratings requires a model of ratings, which complete writes; this is a CP model", 2, "recommend",
                          self.place, "--ratings", mine)

    def test_a_model_of_ratings_has_no_other_modes(self) -> None:
        ratings, model = self.folder / "r.tns", self.folder / "ratings-model"
        self.succeed("generate", "ratings", ratings, "--users", 20, "--items", 10, "--nnz", 80, "-q")
        self.succeed("complete", ratings, "-r", 2, "--epochs", 1, "--out", model, "-q")
        for option, value in (("--at", "hour=9"), ("--user-mode", "item"), ("--item-mode", "user"), ("--known", ratings),
                              ("--columns", "user,item")):
            self.assert_fails(f"{option} is for models that cpd writes; this is a model of ratings, which has users and items "
                              "only, and its training ratings", 2, "recommend", model, "--user", 1, option, value)


if __name__ == "__main__":
    unittest.main()
