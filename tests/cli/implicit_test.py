"""`polyad cpd --implicit`: which cells are preferred, and how surely; all cells count."""

import itertools
import json
import math
import os
import random
import unittest

from kruskal_model import Rows, read_ktensor, solved, value_at, write_ktensor
from program import WITH_MPI, ProgramTest, run

os.environ["OMP_WAIT_POLICY"] = "passive"  # more threads than cores must not wait in circles

class ImplicitTest(ProgramTest):
    def write_cells(self, dims: list[int], count: int, seed: int, empty: dict[int, int] = {}) -> None:
        draw = random.Random(seed)
        places = [p for p in itertools.product(*map(range, dims)) if all(p[m] != i for m, i in empty.items())]
        self.dims = dims
        self.cells = {p: draw.choice([1.0, 2.0, 5.0, 0.5, -1.0, 0.0]) for p in draw.sample(places, min(count, len(places)))}
        self.x = self.write("x.tns", "".join(" ".join(str(i + 1) for i in p) + f" {x}\n" for p, x in sorted(self.cells.items())))

    def write_start(self, rank: int, seed: int) -> list[Rows]:
        self.start = self.folder / "start.ktensor"
        return write_ktensor(self.start, self.dims, self.cells, rank, random.Random(seed))

    def decompose(self, *options: object, processes: int = 0) -> tuple[dict, tuple[list[float], list[Rows]]]:
        out = self.folder / "m.ktensor"
        result = self.result("cpd", self.x, "--dims", "x".join(map(str, self.dims)), "--implicit", *options, "--out", out,
                             "--tol", 0, "-q", processes=processes)
        return result, read_ktensor(out)


class OracleTest(ImplicitTest):
    def sweep(self, factors: list[Rows], alpha: float, reg: float, shrink: float) -> None:
        """Each row by weighted least squares over all cells of its slice, none left out."""
        mean = sum(map(abs, self.cells.values())) / len(self.cells)
        rank = len(factors[0][0])
        for mode, extent in enumerate(self.dims):
            others = [range(1) if m == mode else range(d) for m, d in enumerate(self.dims)]
            for i in range(extent):
                count = sum(p[mode] == i for p in self.cells)
                if count == 0:
                    continue
                matrix = [[0.0] * rank for _ in range(rank)]
                right = [0.0] * rank
                for other in itertools.product(*others):
                    place = other[:mode] + (i,) + other[mode + 1:]
                    h = [math.prod(factors[m][place[m]][r] for m in range(len(self.dims)) if m != mode) for r in range(rank)]
                    x = self.cells.get(place, 0.0)
                    weight, preference = 1 + alpha * abs(x) / mean, 1.0 if x > 0 else 0.0
                    for r in range(rank):
                        scaled = weight * h[r]
                        right[r] += scaled * preference
                        matrix[r] = [a + scaled * b for a, b in zip(matrix[r], h)]
                for r in range(rank):
                    matrix[r][r] += reg * count + shrink
                factors[mode][i] = solved(matrix, right)

    def loss(self, factors: list[Rows], alpha: float) -> float:
        mean = sum(map(abs, self.cells.values())) / len(self.cells)
        model = ([1.0] * len(factors[0][0]), factors)
        total = 0.0
        for place in itertools.product(*map(range, self.dims)):
            x = self.cells.get(place, 0.0)
            total += (1 + alpha * abs(x) / mean) * ((1.0 if x > 0 else 0.0) - value_at(model, place)) ** 2
        return total

    def test_rows_solve_weighted_least_squares_over_all_cells(self) -> None:
        shapes = (([9, 7], 30, {}), ([9, 7], 20, {0: 3, 1: 0}), ([5, 4, 6], 40, {2: 5}), ([4, 3, 2, 5], 30, {0: 0}),
                  ([3, 2, 3, 1, 4], 25, {}), ([1, 1], 1, {}))
        for (dims, count, empty), rank in itertools.product(shapes, (1, 3, 37)):
            for seed, (alpha, reg, shrink) in enumerate(((3, 0.2, 10), (0, 0, 1), (0.7, 0.05, 0.5))):
                if rank == 37 and seed != 1:
                    continue
                with self.subTest(dims=dims, empty=empty, rank=rank, seed=seed):
                    self.write_cells(dims, count, seed, empty)
                    factors = self.write_start(rank, seed)
                    for _ in range(2):
                        self.sweep(factors, alpha, reg, shrink)
                    result, model = self.decompose("-r", rank, "-i", 2, "--mode-order", "natural", "--init", self.start,
                                                   "--alpha", alpha, "--reg", reg, "--shrink", shrink)
                    expected = ([1.0] * rank, factors)
                    for place in itertools.product(*map(range, dims)):
                        self.assertAlmostEqual(value_at(model, place), value_at(expected, place), delta=1e-8)
                    zero = self.loss([[[0.0]] * extent for extent in dims], alpha)
                    fit = 1 - math.sqrt(self.loss(factors, alpha) / zero) if zero > 0 else 1
                    self.assertAlmostEqual(result["fit"], fit, delta=1e-8)
                    self.assertAlmostEqual(result["norm"], math.sqrt(zero), delta=1e-8)

    def test_two_modes_are_as_complete_has_them(self) -> None:
        self.x = self.folder / "r.tns"
        self.succeed("generate", "ratings", self.x, "--users", 80, "--items", 50, "--nnz", 1500, "-q")
        for options in (("--alpha", 5), ("--reg", 0.1, "--shrink", 3, "--seed", 7)):
            predictions = []
            for command in (("complete", "--epochs", 4, "--popularity", 0), ("cpd", "-i", 4, "--tol", 0, "--mode-order", "2,1")):
                out, table = self.folder / command[0], self.folder / f"{command[0]}.tsv"
                self.succeed(command[0], self.x, "--implicit", "-r", 6, "--precision", "double", *command[1:], *options, "--out",
                             out, "-q")
                self.succeed("predict", out, self.x, "--out", table, "-q")
                predictions.append([float(line.split("\t")[2]) for line in table.read_text().splitlines()[1:]])
            for a, b in zip(*predictions, strict=True):
                self.assertAlmostEqual(a, b, delta=1e-10)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_processes_do_not_matter(self) -> None:
        for dims, count in (([30, 20, 7], 500), ([12, 9, 5, 4], 400)):
            self.write_cells(dims, count, 4, {0: 3})
            one, model = self.decompose("-r", 4, "-i", 6, "--test", 0.2)
            for processes in (2, 3, 8):
                with self.subTest(dims=dims, processes=processes):
                    several, other = self.decompose("-r", 4, "-i", 6, "--test", 0.2, processes=processes)
                    self.assertAlmostEqual(several["fit"], one["fit"], delta=1e-9)
                    self.assertEqual(several["ranking"].keys(), one["ranking"].keys())
                    for key in ("ndcg", "auc", "users"):
                        self.assertAlmostEqual(several["ranking"][key], one["ranking"][key], delta=1e-9)
                    for place in itertools.product(*map(range, dims)):
                        self.assertAlmostEqual(value_at(other, place), value_at(model, place), delta=1e-8)


class ListsTest(ImplicitTest):
    def test_lists_follow_the_context(self) -> None:
        """Users like one half of the items before noon, the other half later."""
        draw = random.Random(2)
        lines = [f"{u + 1} {i + 1} {h + 1} 1\n" for u, i, h in itertools.product(range(60), range(40), range(8))
                 if (i % 2 == 0) == (h < 4) and (i // 2 + u) % 4 == 0 and draw.random() < 0.6]
        self.x, self.dims = self.write("x.tns", "".join(lines)), [60, 40, 8]
        result, _ = self.decompose("-r", 8, "-i", 30, "--test", 0.1)
        self.assertGreater(result["ranking"]["ndcg"], 2 * result["ranking"]["popularity"]["ndcg"])
        self.assertGreater(result["ranking"]["auc"], 0.9)
        for hour in (2, 7):
            found = self.result("recommend", self.folder / "m.ktensor", "--user", 6, "--at", f"mode3={hour}", "--top", 5)
            items = [one["item"] - 1 for one in found["recommendations"][0]["items"]]
            self.assertTrue(all((i % 2 == 0) == (hour <= 4) and (i // 2 + 5) % 4 == 0 for i in items), items)

    def test_models_below_popularity_are_warned_of(self) -> None:
        """Both where users only take what all take, and where they do not."""
        found = set()
        for seed, dims in itertools.product(range(3), ([40, 30, 5], [60, 30])):
            draw = random.Random(seed)
            for follows_all in (True, False):
                places = set()
                while len(places) < 250:
                    user, rest = draw.randrange(dims[0]), [draw.randrange(extent) for extent in dims[2:]]
                    item = int(dims[1] * draw.random() ** 3) if follows_all else user % 5 * 6 + draw.randrange(6)
                    places.add((user, item, *rest))
                lines = [" ".join(str(place + 1) for place in cell) + " 1\n" for cell in sorted(places)]
                self.x = self.write("x.tns", "".join(lines))
                done = run("cpd", self.x, "-r", 6, "--implicit", "--shrink", 0.1, "--reg", 0, "--test", 0.2, "-q", "--json", "-")
                lists = json.loads(done.stdout)["ranking"]
                is_below = lists["ndcg"] < lists["popularity"]["ndcg"]
                found.add(is_below)
                figures = f"have an NDCG of {lists['popularity']['ndcg']:.4f}, and those of this model {lists['ndcg']:.4f}; "
                hint = "try other --reg and --shrink\n" if len(dims) == 2 else "perhaps few cells are known of a combination "
                self.assertEqual(figures + hint in done.stderr, is_below, done.stderr)
        self.assertEqual(found, {False, True})

    def test_words(self) -> None:
        self.write_cells([9, 8, 4], 90, 1)
        text = self.succeed("cpd", self.x, "-r", 2, "--implicit", "--test", 0.2)
        self.assertIn("\nimplicit feedback: all cells by their weights: fit 0.", text)
        self.assertIn("\n20 % of the cells were held out, at different combinations of places (here users) of all modes but "
                      "the second (items)\nlists of 10 items for ", text)
        result = run("cpd", self.x, "-r", 2, "--implicit", "--reg", 50)
        self.assertIn("polyad: warning: the model has vanished; try --reg and --shrink smaller than 50 and 1\n", result.stderr)
        page = self.folder / "page.html"
        self.succeed("cpd", self.x, "-r", 2, "--implicit", "--alpha", 4, "--report", page, "-q")
        self.assertIn("--implicit", page.read_text())

    def test_requests_that_make_no_sense(self) -> None:
        self.write_cells([5, 4, 3], 20, 1)
        ask = ("cpd", self.x, "-r", 2)
        self.assert_fails("--missing and --implicit exclude each other", 2, *ask, "--implicit", "--missing")
        self.assert_fails("--implicit requires --method als", 2, *ask, "--implicit", "--method", "opt")
        self.assert_fails("--biases requires --missing; see polyad cpd --help", 2, *ask, "--implicit", "--biases")
        self.assert_fails("--reg requires --missing or --implicit", 2, *ask, "--reg", 1)
        self.assert_fails("--test requires --missing or --implicit", 2, *ask, "--test", 0.1)
        self.assert_fails("--test 1: expected a share between 0 and 1, as in 0.1", 2, *ask, "--implicit", "--test", 1)
        self.assert_fails(f"{self.x}: has 3 modes; ratings have two, users and items (--columns picks them from a csv); "
                          "cpd with --missing or --implicit takes any number of modes", 2, "complete", self.x, "-r", 2, "--implicit")


if __name__ == "__main__":
    unittest.main()
