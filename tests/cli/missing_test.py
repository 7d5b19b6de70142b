"""`polyad cpd --missing`: cells that the input does not have are unknown, and the model predicts them."""

import itertools
import math
import os
import random
import unittest

from kruskal_model import read_ktensor, solved, value_at, write_ktensor
from program import WITH_MPI, ProgramTest, run
from rating_model import npy

os.environ["OMP_WAIT_POLICY"] = "passive"  # more threads than cores must not wait in circles


class MissingTest(ProgramTest):
    def planted(self, dims: str, rank: int, observed: float, *options: object) -> None:
        self.x = self.folder / "x.tns"
        self.succeed("generate", "planted", self.x, "--dims", dims, "-r", rank, "--observed", observed, *options, "-q")
        self.dims = [int(word) for word in dims.split("x")]

    def error_at_unknown_cells(self, *options: object) -> float:
        """Of a model of x.tns, relative to the truth, at cells that x.tns does not have."""
        self.succeed("cpd", self.x, "--seed", 3, *options, "--out", self.folder / "m.ktensor", "-q")
        model, truth = read_ktensor(self.folder / "m.ktensor"), read_ktensor(self.folder / "x-truth.ktensor")
        known = {tuple(int(word) - 1 for word in line.split()[:-1])
                 for line in self.x.read_text().splitlines() if line[0] != "#"}
        draw = random.Random(1)
        errors = squares = 0.0
        for _ in range(2000):
            place = tuple(draw.randrange(extent) for extent in self.dims)
            if place not in known:
                right = value_at(truth, place)
                errors += (value_at(model, place) - right) ** 2
                squares += right ** 2
        return math.sqrt(errors / squares)

    def test_unknown_cells_are_predicted(self) -> None:
        """Of the other cells, 5 to 10 % determine all; as zeros, the unknown ones hide everything."""
        for dims, rank, observed in (("40x50x60", 3, 0.05), ("18x20x22x24", 3, 0.05), ("11x12x13x14x15", 2, 0.1)):
            with self.subTest(dims=dims):
                self.planted(dims, rank, observed, "--seed", 4)
                with_unknown = ("-r", rank, "--missing", "--starts", 4, "-i", 150)
                self.assertLess(self.error_at_unknown_cells(*with_unknown), 0.02)
                self.assertGreater(self.error_at_unknown_cells("-r", rank), 0.8)

    def test_single_precision_and_little_regularisation(self) -> None:
        self.planted("40x50x60", 2, 0.1)
        self.assertLess(self.error_at_unknown_cells("-r", 2, "--missing", "--reg", 0, "-i", 60, "--precision", "single"), 1e-3)
        self.assertLess(self.error_at_unknown_cells("-r", 2, "--missing", "--reg", 0, "-i", 100, "--tol", 1e-14), 1e-6)
        self.assertLess(self.error_at_unknown_cells("-r", 2, "--missing", "--reg", 0.1), 0.9)

    def test_the_held_out_error_is_that_of_unknown_cells(self) -> None:
        self.planted("30x35x40", 3, 0.2, "--noise", 0.1)
        result = self.result("cpd", self.x, "-r", 3, "--missing", "--test", 0.2, "--starts", 3, "-q")
        rms = result["norm"] / math.sqrt(result["nnz"])
        self.assertTrue(result["missing"])
        self.assertGreater(result["test_rmse"], 0.08 * rms)
        self.assertLess(result["test_rmse"], 0.13 * rms)
        self.assertEqual(result["test_rmse"], min(result["test_rmse_per_iteration"]))
        self.assertEqual(result["test_rmse"], result["test_rmse_per_iteration"][result["model_iteration"] - 1])

    def test_where_all_cells_are_known_it_is_a_decomposition_like_any_other(self) -> None:
        lines = [" ".join(str(i + 1) for i in place) + f" {sum((1 + i) ** 0.5 for i in place) + 0.1 * (hash(place) % 7)}"
                 for place in itertools.product(range(7), range(6), range(5))]
        path = self.write("full.tns", "\n".join(lines) + "\n")
        plain = self.result("cpd", path, "-r", 2, "-i", 2000, "--tol", 1e-13, "-q", "--starts", 3)
        observed = self.result("cpd", path, "-r", 2, "-i", 2000, "--tol", 1e-13, "-q", "--missing", "--reg", 0, "--starts", 3)
        self.assertAlmostEqual(plain["fit"], observed["fit"], delta=1e-6)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_any_number_of_processes_gives_the_same(self) -> None:
        self.planted("9x30x20", 3, 0.1, "--noise", 0.2)
        options = ("cpd", self.x, "-r", 3, "--missing", "--test", 0.1, "-i", 12, "--tol", 0, "-t", 1, "-q")
        alone = self.result(*options)
        for processes in (2, 3, 8, 11):
            for partition in ("block", "random"):
                with self.subTest(processes=processes, partition=partition):
                    result = self.result(*options, "--partition", partition, processes=processes)
                    self.assertEqual(result["distribution"], "coarse")
                    for key in ("fit_trajectory", "test_rmse_per_iteration"):
                        for here, there in zip(result[key], alone[key], strict=True):
                            self.assertAlmostEqual(here, there, delta=1e-7 * abs(there))
                    sent = result["communication"]
                    self.assertEqual(sent["volume_words_per_iteration"], sent["predicted_volume_words_per_iteration"])

    def test_zeros_of_dense_arrays_are_known_and_nan_are_not(self) -> None:
        draw, dims = random.Random(6), (4, 5, 3)
        places = list(itertools.product(*map(range, dims)))
        cells = {place: draw.choice([0.0, 0.0, 1.0, 2.5, math.nan]) for place in places}
        known = {place: x for place, x in cells.items() if not math.isnan(x)}
        lines = [" ".join(str(i + 1) for i in place) + f" {x}" for place, x in known.items()]
        sparse = self.write("sparse.tns", "\n".join(lines) + "\n")
        array = self.folder / "x.npy"
        array.write_bytes(npy(dims, list(cells.values())))
        full = {place: 0.0 if math.isnan(x) else x for place, x in cells.items()}
        first_fastest = [full[place[::-1]] for place in itertools.product(*map(range, dims[::-1]))]
        text = self.write("x.tensor", "tensor\n3\n4 5 3\n" + "".join(f"{x}\n" for x in first_fastest))
        options = ("-r", 2, "--missing", "-i", 5, "--tol", 0, "--mode-order", "natural", "-q")
        expected, found = self.result("cpd", sparse, *options), self.result("cpd", array, *options)
        self.assertEqual((found["nnz"], found["fit_trajectory"]), (len(known), expected["fit_trajectory"]))
        self.assertEqual(self.result("cpd", text, *options)["nnz"], len(places))
        self.assertEqual(self.result("cpd", array, "-r", 2, "-q")["nnz"], sum(x != 0 for x in known.values()))

    def write_weighted(self, dims: list[int], seed: int) -> None:
        """x.tns, w.tns with a weight for each of its cells in another order, and both in x.csv."""
        draw, self.dims = random.Random(seed), dims
        places = list(itertools.product(*map(range, dims)))
        self.cells = {p: (draw.gauss(1, 1), draw.choice([0.0, 0.5, 1.0, 3.0])) for p in draw.sample(places, len(places) * 9 // 10)}
        index = {p: " ".join(str(i + 1) for i in p) for p in self.cells}
        self.x = self.write("x.tns", "".join(f"{index[p]} {x}\n" for p, (x, _) in self.cells.items()))
        self.w = self.write("w.tns", "".join(f"{index[p]} {w}\n" for p, (_, w) in sorted(self.cells.items())))
        self.modes = ",".join(f"m{m}" for m in range(len(dims)))
        lines = [index[p].replace(" ", ",") + f",{x},{w}\n" for p, (x, w) in self.cells.items()]
        self.table = self.write("x.csv", self.modes + ",value,sure\n" + "".join(lines))

    def sweep(self, factors: list[list[list[float]]]) -> None:
        rank, order = len(factors[0][0]), len(self.dims)
        for mode, extent in enumerate(self.dims):
            for i in range(extent):
                matrix, right = [[0.0] * rank for _ in range(rank)], [0.0] * rank
                for place, (x, weight) in self.cells.items():
                    if place[mode] != i:
                        continue
                    h = [math.prod(factors[m][place[m]][r] for m in range(order) if m != mode) for r in range(rank)]
                    for r in range(rank):
                        right[r] += weight * x * h[r]
                        matrix[r] = [a + weight * h[r] * b for a, b in zip(matrix[r], h)]
                factors[mode][i] = solved(matrix, right)

    def test_weights_are_those_of_weighted_least_squares(self) -> None:
        for seed, (dims, rank) in enumerate((([9, 8], 2), ([7, 6, 8], 2), ([5, 4, 3, 6], 3))):
            self.write_weighted(dims, seed)
            start, out = self.folder / "start.ktensor", self.folder / "m.ktensor"
            factors = write_ktensor(start, dims, self.cells, rank, random.Random(seed))
            for _ in range(2):
                self.sweep(factors)
            options = ("-r", rank, "--missing", "--reg", 0, "-i", 2, "--tol", 0, "--mode-order", "natural", "-q", "--out", out)
            for source in ((self.x, "--weights", self.w, "--init", start),
                           (self.table, "--columns", ",".join(f"m{m}:index" for m in range(len(dims))), "--value", "value",
                            "--weights", "sure", "--init", start)):
                with self.subTest(dims=dims, source=source):
                    result, model = self.result("cpd", *source, *options), read_ktensor(out)
                    squares = errors = 0.0
                    for place, (x, weight) in self.cells.items():
                        right = value_at(([1.0] * rank, factors), place)
                        self.assertAlmostEqual(value_at(model, place), right, delta=1e-7)
                        squares += weight * x * x
                        errors += weight * (x - right) ** 2
                    self.assertAlmostEqual(result["fit"], 1 - math.sqrt(errors / squares), delta=1e-8)

    def test_the_value_of_a_cell_without_weight_does_not_matter(self) -> None:
        """Not to the scale of regularisation either: -999 where nothing was measured."""
        self.planted("12x10x8", 2, 0.5)
        lines = [line for line in self.x.read_text().splitlines() if line[0] != "#"]
        left_out = range(0, len(lines), 10)
        marked = [line.rsplit(" ", 1)[0] + " -999" if i in left_out else line for i, line in enumerate(lines)]
        weights = [line.rsplit(" ", 1)[0] + (" 0" if i in left_out else " 2") for i, line in enumerate(lines)]
        x, y = self.write("marked.tns", "\n".join(marked) + "\n"), self.write("kept.tns", "\n".join(lines) + "\n")
        w = self.write("weights.tns", "\n".join(weights) + "\n")
        options = ("-r", 2, "--missing", "--weights", w, "--reg", 0.01, "-i", 50, "--tol", 0, "--dims", "12x10x8", "-q")
        fits = [self.result("cpd", path, *options)["fit"] for path in (x, y)]
        self.assertGreater(fits[0], 0.5)
        self.assertAlmostEqual(*fits, places=12)

    def test_a_model_of_zeros_is_told(self) -> None:
        self.planted("12x10x8", 2, 0.5)
        result = run("cpd", self.x, "-r", 2, "--missing", "--reg", 100)
        self.assertIn("the model has vanished; try --reg smaller than 100", result.stderr)
        self.assertIn("fit 0.000000 after", result.stdout)

    def ones_and_threes(self) -> tuple:
        rng = random.Random(1)
        cells = sorted({tuple(rng.randrange(20) for _ in range(3)) for _ in range(1500)})
        path = self.write("x.tns", "".join(f"{i + 1} {j + 1} {k + 1} {rng.choice((1, 3))}\n" for i, j, k in cells))
        return "cpd", path, "-r", 8, "--missing", "--test", 0.2, "--dims", "20x20x20"

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_the_mean_is_that_of_the_cells_of_all_processes(self) -> None:
        one, three = (self.result(*self.ones_and_threes(), "-q", processes=processes) for processes in (1, 3))
        self.assertAlmostEqual(one["test_rmse_of_mean"], three["test_rmse_of_mean"], places=12)

    def test_the_mean_predicts_cells_beside_the_model(self) -> None:
        options = self.ones_and_threes()
        self.assertAlmostEqual(self.result(*options, "-q")["test_rmse_of_mean"], 1, delta=0.01)
        result = run(*options)
        self.assertIn("cells that were held out are predicted worse than by the mean of the others (RMSE ", result.stderr)
        self.assertIn("try --reg larger than 0.001, --biases or fewer components\n", result.stderr)
        self.assertRegex(result.stdout, r"; of the mean of the others: (1|0\.99\d*|1\.00\d*)\n")

    def test_a_run_that_the_held_out_error_ends_says_so(self) -> None:
        options, states = self.ones_and_threes(), ("--checkpoint", self.folder / "states")
        first, again = self.result(*options, "-q", *states), self.result(*options, "-q", *states)
        for result in (first, again):
            errors = result["test_rmse_per_iteration"]
            self.assertEqual((result["stop"], result["model_iteration"]), ("test error", errors.index(min(errors)) + 1))
            self.assertLess(result["model_iteration"], result["iterations"])
            self.assertLess(result["iterations"], 50)
        self.assertEqual((again["fit_trajectory"], again["checkpoint"]["written"]), (first["fit_trajectory"], 0))
        text = self.succeed(*options, "--report", self.folder / "page.html")
        for page in (text, (self.folder / "page.html").read_text()):
            self.assertIn(f"{first['iterations']} iterations (test error)", page)
        # Where the loss settles before, it is as ever.
        self.planted("12x10x8", 2, 0.5, "--noise", 0.3)
        self.assertEqual(self.result("cpd", self.x, "-r", 2, "--missing", "--test", 0.1, "--tol", 0.01, "-q")["stop"], "converged")

    def test_a_cell_to_learn_from_is_left(self) -> None:
        one = self.write("one.tns", "2 2 2 5\n")
        refused = [run("cpd", one, "-r", 1, "--missing", "--test", 0.5, "--seed", seed) for seed in range(1, 9)]
        self.assertIn(2, [result.returncode for result in refused])
        for result in refused:
            self.assertIn(result.returncode, (0, 2))
            if result.returncode == 2:
                self.assertIn("--test leaves no cell to learn from", result.stderr)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_weights_on_several_processes(self) -> None:
        self.write_weighted([7, 9, 5], 3)
        options = ("cpd", self.x, "-r", 2, "--missing", "--weights", self.w, "--test", 0.1, "-i", 5, "--tol", 0, "-t", 1, "-q")
        alone = self.result(*options)
        for processes, further in ((2, ()), (3, ()), (8, ()), (3, ("--exchange", "routed:2")),
                                   (4, ("--exchange", "routed:2", "--distribution", "medium", "--grid", "2x2x1"))):
            result = self.result(*options, *further, processes=processes)
            self.assertEqual("direct" in result["exchange"], not further)
            for key in ("fit_trajectory", "test_rmse_per_iteration"):
                for here, there in zip(result[key], alone[key], strict=True):
                    self.assertAlmostEqual(here, there, delta=1e-7 * abs(there))

    def test_weights_that_do_not_belong_to_the_tensor(self) -> None:
        x = self.write("x.tns", "1 1 1\n1 2 2\n2 1 3\n2 2 4\n3 1 1\n")
        ask = ("cpd", x, "-r", 1, "--missing", "--weights")
        for text, sentence in (("1 1 1\n1 2 2\n2 1 3\n2 2 4\n3 2 1\n",
                                "has other cells than the tensor; expected a weight for each of its cells"),
                               ("1 1 1\n1 2 2\n2 1 3\n2 2 4\n",
                                "has other dims than the tensor; expected a weight for each of its cells"),
                               ("1 1 1\n1 2 2\n2 1 3\n2 2 -4\n3 1 1\n", "has the weight -4; expected 0 or more"),
                               ("1 1 0\n1 2 0\n2 1 0\n2 2 0\n3 1 0\n", "has only weights of 0"),
                               ("1 1 1\n1 1 1\n1 2 2\n2 1 3\n2 2 4\n3 1 1\n",
                                "has several entries of a cell, and weights cannot be combined; --duplicates says what becomes "
                                "of them")):
            with self.subTest(text=text):
                w = self.write("w.tns", text)
                self.assert_fails(f"{w}: {sentence}", 2, *ask, w)
        self.assert_fails("--weights sure: there is no such file; a column of the table requires --value, the column of the "
                          "values, beside --columns, those of the modes", 2, *ask, "sure")

    def test_it_goes_on_from_a_model(self) -> None:
        self.planted("20x20x20", 2, 0.2)
        model = self.folder / "model"
        first = self.result("cpd", self.x, "-r", 2, "--missing", "--seed", 5, "-i", 30, "--out", model, "-q")
        second = self.result("cpd", self.x, "-r", 2, "--missing", "--init", model, "-i", 1, "-q")
        self.assertGreater(second["fit"], first["fit"] - 1e-6)

    def test_what_does_not_go_together_is_refused(self) -> None:
        self.planted("5x5x5", 1, 0.5)
        for sentence, options in (
                ("--missing requires --method als", ("--method", "opt")),
                ("--biases and --nonneg exclude each other: biases may be negative", ("--biases", "--nonneg=2")),
                ("--missing requires --replicate none: the systems of rows are solved by their owners",
                 ("--replicate", "1", "--distribution", "medium")),
                ("--weights requires --distribution coarse or medium: in fine grain cells are counted, and those of the "
                 "weights may have another order", ("--weights", self.x, "--distribution", "fine")),
                ("--test 1.5: expected a share between 0 and 1, as in 0.1", ("--test", 1.5))):
            with self.subTest(options=options):
                self.assert_fails(sentence, 2, "cpd", self.x, "-r", 2, "--missing", *options)
        self.assert_fails("--nnz or --observed is required; see polyad generate planted --help", 2,
                          "generate", "planted", self.folder / "y.tns", "--dims", "5x5x5")


if __name__ == "__main__":
    unittest.main()
