"""`polyad cpd --missing`: biases, nonnegative factors, formats and distributions, against naive least squares."""

import itertools
import math
import os
import random
import unittest

from kruskal_model import read_ktensor, solved, value_at, write_ktensor
from program import WITH_MPI, ProgramTest
from rating_model import read_npz

os.environ["OMP_WAIT_POLICY"] = "passive"  # more threads than cores must not wait in circles

Place = tuple[int, ...]
FORMATS = ("csf", "csf-one", "csf-two", "csf-all", "coo", "hicoo")


class Oracle:
    """Alternating least squares over the cells, by definition: value = mean + biases + components."""

    def __init__(self, cells: dict[Place, tuple[float, float]], factors: list[list[list[float]]], reg: float) -> None:
        mean_weight = sum(w for _, w in cells.values()) / len(cells)
        self.cells = {place: (x, w / mean_weight) for place, (x, w) in cells.items() if w > 0}
        self.factors, self.reg, self.order = factors, reg, len(factors)
        total = sum(w for _, w in self.cells.values())
        self.mean = sum(w * x for x, w in self.cells.values()) / total
        self.unit = math.sqrt(sum(w * (x - self.mean) ** 2 for x, w in self.cells.values()) / total)
        self.biases = [[0.0] * len(factor) for factor in factors]

    def value(self, place: Place) -> float:
        rows = [factor[i] for factor, i in zip(self.factors, place)]
        return self.mean + sum(bias[i] for bias, i in zip(self.biases, place)) + sum(map(math.prod, zip(*rows)))

    def sweep(self) -> None:
        for mode, factor in enumerate(self.factors):
            for i in range(len(factor)):
                self.solve(mode, i)

    def solve(self, mode: int, i: int) -> None:
        own = [(place, x, w) for place, (x, w) in self.cells.items() if place[mode] == i]
        if not own:
            return
        rank = len(self.factors[mode][i])
        ridge = self.reg * len(own)
        matrix = [[0.0] * (rank + 1) for _ in range(rank + 1)]
        for r in range(rank):
            matrix[r][r] = ridge * self.unit ** (2 - 2 / self.order)
        matrix[rank][rank] = ridge
        right = [0.0] * (rank + 1)
        for place, x, w in own:
            others = [m for m in range(self.order) if m != mode]
            h = [math.prod(self.factors[m][place[m]][r] for m in others) for r in range(rank)] + [1.0]
            rest = x - self.mean - sum(self.biases[m][place[m]] for m in others)
            for r in range(rank + 1):
                right[r] += w * rest * h[r]
                matrix[r] = [a + w * h[r] * b for a, b in zip(matrix[r], h)]
        *self.factors[mode][i], self.biases[mode][i] = solved(matrix, right)


class MissingModelsTest(ProgramTest):
    def write_cells(self, dims: list[int], share: float, draw: random.Random) -> None:
        """Values about 3 with weights, at a share of all places; the last slice of each mode stays empty."""
        self.dims = [extent + 1 for extent in dims]
        places = list(itertools.product(*map(range, dims)))
        chosen = set(draw.sample(places, int(share * len(places))))
        chosen |= {tuple(min(i, extent - 1) for extent in dims) for i in range(max(dims))}  # no other slice is empty
        self.cells = {p: (draw.gauss(3, 1) + sum(p) / 5, draw.choice([0.5, 1.0, 3.0])) for p in sorted(chosen)}
        index = {p: " ".join(str(i + 1) for i in p) for p in self.cells}
        self.x = self.write("x.tns", "".join(f"{index[p]} {x!r}\n" for p, (x, _) in self.cells.items()))
        self.w = self.write("w.tns", "".join(f"{index[p]} {w!r}\n" for p, (_, w) in self.cells.items()))
        self.options = ("--dims", "x".join(map(str, self.dims)), "--mode-order", "natural", "--tol", 0, "-q")

    def run_model(self, *options: object, processes: int = 1) -> dict:
        self.out = self.folder / "m.ktensor"
        result = self.result("cpd", self.x, "--missing", *self.options, "--out", self.out, *options, processes=processes)
        self.model = read_ktensor(self.out)
        return result

    def assert_same_runs(self, found: dict, expected: dict, delta: float) -> None:
        for key in ("fit_trajectory", "test_rmse_per_iteration"):
            for here, there in zip(found.get(key, []), expected.get(key, []), strict=True):
                self.assertAlmostEqual(here, there, delta=delta * abs(there))

    def test_biases_are_those_of_weighted_least_squares(self) -> None:
        for seed, (dims, rank) in enumerate((([9, 8], 2), ([30, 4], 1), ([7, 6, 8], 2), ([5, 4, 3, 6], 3), ([4, 3, 2, 3, 4], 2))):
            draw = random.Random(seed)
            self.write_cells(dims, 0.7, draw)
            start = self.folder / "start.ktensor"
            oracle = Oracle(self.cells, write_ktensor(start, self.dims, self.cells, rank, draw), 0.02)
            for _ in range(3):
                oracle.sweep()
            for more in ((), ("--format", "coo"), ("--format", "csf-one")):
                with self.subTest(dims=dims, more=more):
                    result = self.run_model("-r", rank, "--biases", "--weights", self.w, "--reg", 0.02, "-i", 3, "--init", start, *more)
                    self.assertAlmostEqual(result["mean"], oracle.mean, delta=1e-12)
                    self.assertEqual(len(result["weights"]), rank + 1 + len(dims))
                    for place in itertools.product(*map(range, self.dims)):  # empty slices have mean and other biases
                        self.assertAlmostEqual(value_at(self.model, place), oracle.value(place), delta=1e-7)
                    squares = sum(w * x * x for x, w in oracle.cells.values())
                    errors = sum(w * (x - oracle.value(place)) ** 2 for place, (x, w) in oracle.cells.items())
                    self.assertAlmostEqual(result["fit"], 1 - math.sqrt(errors / squares), delta=1e-8)

    def test_the_last_components_are_the_mean_and_the_biases(self) -> None:
        draw = random.Random(5)
        self.write_cells([6, 5, 4], 0.8, draw)
        result = self.run_model("-r", 2, "--biases", "--test", 0.1)
        weights, factors = self.model
        self.assertEqual(weights, result["weights"])
        for m, extent in enumerate(self.dims):
            for component in range(2, 6):
                column = [row[component] for row in factors[m]]
                self.assertAlmostEqual(math.hypot(*column), 1, delta=1e-12)
                if component != 3 + m:
                    self.assertEqual(column, [column[0]] * extent)
        self.assertAlmostEqual(weights[2] * math.prod(factor[0][2] for factor in factors), result["mean"], delta=1e-12)
        place = self.write("unknown.tns", f"{self.dims[0]} {self.dims[1]} {self.dims[2]} 1\n")
        predicted = self.result("predict", self.out, place, "-q")
        self.assertAlmostEqual(predicted["rmse"], abs(1 - result["mean"]), delta=1e-9)

    def test_two_modes_are_those_of_complete(self) -> None:
        """Without regularisation, where both mean the same."""
        for seed in range(3):
            self.write_cells([8, 7], 0.8, random.Random(seed))
            result = self.result("cpd", self.x, "-r", 2, "--missing", "--biases", "--reg", 0, "-i", 4, "--tol", 0, "-q", "--seed", seed,
                                 "--init", "normal", "--mode-order", "2,1", "--out", self.folder / "m.ktensor")
            other = self.result("complete", self.x, "-r", 2, "--method", "als", "--solver", "cholesky", "--reg", 0, "--shrink", 0,
                                "--epochs", 4, "--seed", seed, "--precision", "double", "--out", self.folder / "ratings", "-q")
            model, ratings = read_ktensor(self.folder / "m.ktensor"), read_npz(self.folder / "ratings" / "model.npz")
            self.assertAlmostEqual(result["mean"], ratings["mean"], delta=1e-12)
            for i, j in self.cells:  # figures of `complete` are of clipped values
                value = (ratings["mean"] + ratings["user_biases"][i] + ratings["item_biases"][j]
                         + sum(map(math.prod, zip(ratings["user_factors"][i], ratings["item_factors"][j]))))
                self.assertAlmostEqual(value_at(model, (i, j)), value, delta=1e-7)
            self.assertEqual(other["epochs"], 4)

    def test_it_goes_on_from_a_model_with_biases(self) -> None:
        self.write_cells([7, 6, 5], 0.8, random.Random(8))
        options = ("-r", 2, "--biases", "--reg", 0)
        self.run_model(*options, "-i", 4)
        first = self.folder / "first.ktensor"
        self.out.rename(first)
        again = self.run_model(*options, "-i", 3, "--init", first)
        start = self.folder / "start.ktensor"
        self.out.rename(start)
        whole = self.run_model(*options, "-i", 7)
        for here, there in zip(again["fit_trajectory"], whole["fit_trajectory"][4:], strict=True):
            self.assertAlmostEqual(here, there, delta=1e-8)
        self.assert_fails(f"--init {start}: the model has 6 components, more than --rank 2", 2, "cpd", self.x, "-r", 2, "--missing",
                          *self.options, "--init", start)

    def test_equal_values_are_the_mean(self) -> None:
        self.x = self.write("x.tns", "".join(f"{i} {j} 4\n" for i in range(1, 5) for j in range(1, 4)))
        self.options = ("-q",)
        self.assertAlmostEqual(self.run_model("-r", 1, "--biases")["fit"], 1, delta=1e-9)
        self.assertAlmostEqual(value_at(self.model, (2, 1)), 4, delta=1e-9)

    def slopes(self, mode: int) -> list[tuple[float, float, float]]:
        """Of half the squared error, for each entry of a factor of the model: the entry, its slope, and the size of the slope's terms."""
        weights, factors = self.model
        result = []
        for i, row in enumerate(factors[mode]):
            for r, entry in enumerate(row):
                slope = size = 0.0
                for place, (x, _) in self.cells.items():
                    if place[mode] == i:
                        h = weights[r] * math.prod(factors[m][place[m]][r] for m in range(len(factors)) if m != mode)
                        slope += (value_at(self.model, place) - x) * h
                        size += abs(x * h)
                result.append((entry, slope, size))
        return result

    def test_nonnegative_factors_are_minima(self) -> None:
        for seed, (dims, modes) in enumerate((([9, 8], ""), ([7, 6, 8], ""), ([7, 6, 8], "=1,3"), ([5, 4, 3, 6], ""))):
            self.write_cells(dims, 0.7, random.Random(seed))
            self.cells = {place: (x - 2.5, w) for place, (x, w) in self.cells.items()}
            self.x = self.write("x.tns", "".join(" ".join(str(i + 1) for i in p) + f" {x!r}\n" for p, (x, _) in self.cells.items()))
            with self.subTest(dims=dims, modes=modes):
                result = self.run_model("-r", 3, f"--nonneg{modes}", "--reg", 0, "-i", 60, "--seed", seed)
                fits = result["fit_trajectory"]
                for before, now in itertools.pairwise(fits):
                    self.assertGreaterEqual(now, before - 1e-12)
                self.assertEqual(result["nonneg"], [1, 3] if modes else list(range(1, len(dims) + 1)))
                for mode in result["nonneg"]:
                    self.assertGreaterEqual(min(min(row) for row in self.model[1][mode - 1]), 0)
                for entry, slope, size in self.slopes(len(dims) - 1):  # of the mode that was updated last
                    self.assertGreaterEqual(slope, -1e-6 * (1 + size))
                    if entry > 1e-9:
                        self.assertLessEqual(abs(slope), 1e-6 * (1 + size))

    def test_where_all_cells_are_known_nonnegative_factors_are_those_of_other_decompositions(self) -> None:
        draw = random.Random(2)
        for dims in ([6, 5, 4], [9, 7]):
            truth = [[[draw.random() * (draw.random() < 0.7) for _ in range(2)] for _ in range(extent)] for extent in dims]
            lines = [" ".join(str(i + 1) for i in place) + f" {value_at(([1.0] * 2, truth), place) + 0.05 * draw.random()}"
                     for place in itertools.product(*map(range, dims))]
            path = self.write("full.tns", "\n".join(lines) + "\n")
            options = ("cpd", path, "-r", 2, "--nonneg", "-i", 3000, "--tol", 1e-13, "-q", "--starts", 5)
            plain, observed = self.result(*options), self.result(*options, "--missing", "--reg", 0)
            self.assertAlmostEqual(plain["fit"], observed["fit"], delta=1e-5)

    def test_every_format_gives_the_same(self) -> None:
        for seed, (dims, more) in enumerate((([150, 9], ()), ([9, 20, 7], ("--biases",)), ([9, 5, 7], ("--nonneg",)),
                                             ([4, 5, 3, 6], ("--biases", "--precision", "single")))):
            self.write_cells(dims, 0.5, random.Random(seed))
            delta = 2e-3 if "single" in more else 1e-7
            for threads in (1, 3):
                options = ("-r", 3, "--reg", 0.05, "--test", 0.1, "--weights", self.w, "-i", 5, "-t", threads, *more)
                expected = self.run_model(*options)
                self.assertEqual(expected["format"], "csf-all")
                for name in FORMATS:
                    with self.subTest(dims=dims, format=name, threads=threads):
                        result = self.run_model(*options, "--format", name)
                        self.assertEqual(result["format"], "csf-all" if name == "csf" else name)
                        self.assert_same_runs(result, expected, delta)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_every_distribution_gives_the_same(self) -> None:
        for seed, (dims, more) in enumerate((([30, 9], ("--biases",)), ([9, 20, 7], ("--nonneg",)), ([9, 6, 7], ("--implicit",)),
                                             ([4, 5, 3, 6], ("--biases",)))):
            self.write_cells(dims, 0.4, random.Random(seed))
            kind = () if "--implicit" in more else ("--missing", "--test", 0.1)
            options = ("cpd", self.x, *self.options, "-r", 3, "--reg", 0.05, "-i", 4, "-t", 1, *kind, *more)
            expected = self.result(*options)
            for processes, how in ((2, ("--distribution", "medium")), (3, ("--distribution", "fine")), (3, ("--format", "csf-one")),
                                   (4, ("--distribution", "medium", "--row-owners", "even", "--format", "coo")),
                                   (5, ("--distribution", "fine", "--partition", "random", "--row-owners", "random")),
                                   (3, ("--format", "hicoo")), (8, ("--distribution", "medium")), (8, ("--distribution", "coarse"))):
                with self.subTest(dims=dims, processes=processes, how=how):
                    result = self.result(*options, *how, processes=processes)
                    self.assert_same_runs(result, expected, 1e-7)
                    sent = result["communication"]
                    self.assertEqual(sent["volume_words_per_iteration"], sent["predicted_volume_words_per_iteration"])

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_models_with_biases_on_several_processes(self) -> None:
        self.write_cells([9, 6, 7], 0.5, random.Random(4))
        options = ("-r", 2, "--reg", 0.05, "-i", 4, "-t", 1, "--biases", "--weights", self.w)
        alone, expected = self.run_model(*options), self.model
        for processes, distribution in ((3, "coarse"), (4, "medium")):
            self.assert_same_runs(self.run_model(*options, "--distribution", distribution, processes=processes), alone, 1e-7)
            for place in itertools.product(*map(range, self.dims)):
                self.assertAlmostEqual(value_at(self.model, place), value_at(expected, place), delta=1e-6)


if __name__ == "__main__":
    unittest.main()
