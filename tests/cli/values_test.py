"""Duplicates, transforms and k-cores of tables, compared with a naive computation."""

import collections
import csv
import math
import random
import unittest

from program import WITH_MPI, ProgramTest, run

RULES = {"sum": math.fsum, "mean": lambda v: math.fsum(v) / len(v), "max": max, "last": lambda v: v[-1], "count": len}
TRANSFORMS = {"none": float, "log1p": math.log1p, "sqrt": math.sqrt, "binary": lambda v: float(v != 0)}


def combined(lines: list, rule: str, transform: str = "none", minimum: tuple = (0, 0, 0)) -> dict:
    """The cells of a list of (user, item, place, value), as the options say."""
    values = collections.defaultdict(list)
    for *cell, value in lines:
        values[tuple(cell)].append(value)
    cells = {cell: TRANSFORMS[transform](RULES[rule](of_cell)) for cell, of_cell in values.items()}
    while True:
        counts = [collections.Counter(cell[m] for cell in cells) for m in range(3)]
        kept = {cell: v for cell, v in cells.items() if all(counts[m][cell[m]] >= minimum[m] for m in range(3))}
        if len(kept) == len(cells):
            return kept
        cells = kept


class ValuesTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        chance = random.Random(5)
        self.lines = [(f"u{chance.randrange(12)}", f"i{chance.randrange(9)}", f"p{min(chance.randrange(9), chance.randrange(9))}",
                       chance.randrange(0, 41) / 4) for _ in range(400)]
        self.table = self.write("t.csv", "user,item,place,n\n" + "".join(f"{u},{i},{p},{n}\n" for u, i, p, n in self.lines))

    def read(self, *options: object) -> dict:
        out = self.folder / "out.csv"
        self.succeed("convert", self.table, out, "--force", "--columns", "user,item,place,n", *options)
        with out.open() as file:
            return {tuple(row[:3]): float(row[3]) for row in list(csv.reader(file))[1:]}

    def assert_close(self, found: dict, expected: dict) -> None:
        self.assertEqual(found.keys(), expected.keys())
        for cell, value in expected.items():
            self.assertAlmostEqual(found[cell], value, places=12)

    def test_every_rule_for_duplicates(self) -> None:
        for rule in RULES:
            with self.subTest(rule):
                self.assert_close(self.read("--duplicates", rule), combined(self.lines, rule))

    def test_every_transform_follows_the_rule(self) -> None:
        for transform in TRANSFORMS:
            with self.subTest(transform):
                self.assert_close(self.read("--duplicates", "mean", "--transform", transform),
                                  combined(self.lines, "mean", transform))
        self.assert_close(self.read("--transform", "log1p"), combined(self.lines, "sum", "log1p"))

    def test_k_cores(self) -> None:
        for text, minimum in {"20": (20, 20, 20), "25,10,1": (25, 10, 1), "1,30,1": (1, 30, 1)}.items():
            with self.subTest(text):
                expected = combined(self.lines, "sum", minimum=minimum)
                self.assertTrue(0 < len(expected) < len(set(line[:3] for line in self.lines)))
                self.assert_close(self.read("--min-count", text), expected)
        self.assert_fails(f"{self.table}: --min-count 500 leaves no nonzeros", 2, "stats", self.table, "--columns",
                          "user,item,place,n", "--min-count", 500)

    def test_one_rule_for_stats_check_and_cpd(self) -> None:
        options = ["--columns", "user,item,place,n", "--duplicates", "max", "--transform", "sqrt", "--min-count", 10]
        expected = combined(self.lines, "max", "sqrt", (10, 10, 10))
        norm = math.sqrt(sum(v * v for v in expected.values()))
        stats = self.result("stats", self.table, *options)
        self.assertEqual((stats["nnz"], stats["duplicates"]), (len(expected), 0))
        self.assertAlmostEqual(stats["values"]["norm"], norm)
        self.assertEqual(self.result("check", self.table, *options)["nnz"], len(expected))
        self.assertEqual(self.result("cpd", self.table, *options, "-r", 1, "-i", 1)["nnz"], len(expected))

    @unittest.skipUnless(WITH_MPI, "needs MPI")
    def test_several_processes_find_the_same(self) -> None:
        for rule in RULES:
            options = ["--columns", "user,item,place,n", "--duplicates", rule, "--transform", "log1p", "--min-count", 15]
            one, three = (self.result("stats", self.table, *options, processes=p) for p in (0, 3))
            self.assertEqual((one["dims"], one["nnz"], one["modes"]), (three["dims"], three["nnz"], three["modes"]))
            self.assertAlmostEqual(one["values"]["norm"], three["values"]["norm"])

    def test_ratings_keep_the_last_unless_told_otherwise(self) -> None:
        ratings = self.write("r.csv", "userId,movieId,rating\n" + "".join(
            f"{u},{m},{r}\n" for u in range(6) for m in range(6) for r in ((u + m) % 5 + 1, (u * m) % 4 + 1)))
        run_options = ["-r", 2, "-e", 3, "--threads", 1]
        plain = self.result("complete", ratings, *run_options)
        last = self.result("complete", ratings, *run_options, "--duplicates", "last")
        self.assertEqual((plain["duplicates"], last["duplicates"]), (36, 0))
        self.assertEqual(plain["train_rmse"], last["train_rmse"])
        best = self.result("complete", ratings, *run_options, "--duplicates", "max")
        self.assertNotEqual(best["train_rmse"], last["train_rmse"])

    def predicted(self, model: object, table: object, columns: str) -> tuple[dict, dict]:
        """The values that predict compares with a model, by cell, and its figures."""
        out = self.folder / "predicted.csv"
        figures = self.result("predict", model, table, "--columns", columns, "--out", out, "--quiet")
        with out.open() as file:
            rows = list(csv.reader(file))
        value, order = rows[0].index("value"), len(columns.split(",")) - 1
        return {tuple(row[:order]): float(row[value]) for row in rows[1:]}, figures

    def test_predict_compares_by_the_rule_of_the_model_in_every_form(self) -> None:
        columns = "user,item,place,n"
        for rule, transform, minimum in [("mean", "log1p", None), ("count", "none", None), ("max", "sqrt", "20,15,14"),
                                         ("sum", "none", "20"), ("sum", "none", None)]:
            counts = tuple(map(int, minimum.split(","))) if minimum else (0,)
            expected = combined(self.lines, rule, transform, counts * (1 if len(counts) > 1 else 3))
            figures = []
            for form in ("model", "model.npz", "model.ktensor", "model.ktensor.gz"):
                model = self.folder / f"{rule}-{minimum or 0}-{form}"
                self.succeed("cpd", self.table, "--columns", columns, "-r", 2, "-i", 3, "--out", model, "--duplicates", rule,
                             "--transform", transform, *(["--min-count", minimum] if minimum else []))
                with self.subTest(rule=rule, minimum=minimum, form=form):
                    found, said = self.predicted(model, self.table, columns)
                    self.assert_close(found, expected)
                    figures.append([said[key] for key in ("duplicate_rule", "transform", "rmse", "count", "unknown")])
                    self.assertEqual(figures[-1], figures[0])

    def test_conversions_of_models_keep_the_rule(self) -> None:
        lines = [(1 + int(u[1:]), 1 + int(i[1:]), 1 + int(p[1:]), n) for u, i, p, n in self.lines]
        tensor = self.write("t.tns", "".join(" ".join(map(str, line)) + "\n" for line in lines))
        last = self.folder / "a"
        self.succeed("cpd", tensor, "-r", 2, "-i", 3, "--duplicates", "mean", "--transform", "sqrt", "--min-count", "20", "--out", last)
        self.assertEqual((last / "values.txt").read_text(), "duplicates mean\ntransform sqrt\nmin-count 20\n")
        names = ["b.npz", "c.ktensor", "d", "e.ktensor.gz", "f.npz"]
        figures = []
        for name in names:
            self.succeed("convert", last, self.folder / name)
            last = self.folder / name
            said = self.result("predict", last, tensor, "--out", self.folder / "t.csv", "--quiet")
            figures.append([said[key] for key in ("duplicate_rule", "transform", "rmse", "count", "unknown")])
        self.assertEqual(figures, [figures[0]] * len(names))
        kept = combined(lines, "mean", "sqrt", (20,) * 3)
        self.assertEqual(figures[0][0:2] + figures[0][3:4], ["mean", "sqrt", len(kept)])
        self.assertLess(len(kept), len(combined(lines, "mean")))
        self.assertEqual(self.result("compare", self.folder / "a", last)["score"], self.result("compare", last, last)["score"])
        (self.folder / "d" / "values.txt").write_text("duplicates sometimes\n")
        self.assert_fails(f"{self.folder / 'd' / 'values.txt'}: 'duplicates sometimes' in values.txt: expected a line such as 'duplicates "
                          "mean', 'transform log1p' or 'min-count 5'", 2, "predict", self.folder / "d", tensor)
        # A model that was fitted to the values as they are leaves no record behind.
        self.succeed("cpd", tensor, "-r", 2, "-i", 3, "--out", self.folder / "a")
        self.assertFalse((self.folder / "a" / "values.txt").exists())

    def test_models_of_ratings_keep_the_rule(self) -> None:
        lines = [(u, i, "", n) for u, i, _, n in self.lines]
        for method in ("sgd", "als"):
            for options, rule, transform, minimum in [([], "last", "none", 0), (["--duplicates", "mean", "--transform", "log1p"], "mean", "log1p", 0),
                                                      (["--min-count", 8], "last", "none", 8)]:
                model = self.folder / "ratings"
                self.succeed("complete", self.table, "--columns", "user,item,n", "-r", 1, "-e", 2, "--method", method, "--out", model, *options)
                found, said = self.predicted(model, self.table, "user,item,n")
                with self.subTest(method=method, rule=rule, transform=transform, minimum=minimum):
                    self.assertEqual((said["duplicate_rule"], said["transform"]), (rule, transform))
                    expected = combined(lines, rule, transform, (minimum, minimum, 0))
                    self.assert_close(found, {cell[:2]: value for cell, value in expected.items()})

    def test_refusals(self) -> None:
        columns = ["--columns", "user,item,place,n"]
        count = len(self.lines) - len({line[:3] for line in self.lines})
        self.assert_fails(f"{self.table}: has {count} duplicate coordinates, which --duplicates refuse does not allow", 2,
                          "stats", self.table, *columns, "--duplicates", "refuse")
        negative = self.write("x.tns", "1 1 -2\n1 2 3\n")
        self.assert_fails(f"{negative}: the value -2 has no log1p", 2, "stats", negative, "--transform", "log1p")
        self.assert_fails(f"{negative}: the value -2 has no square root", 2, "stats", negative, "--transform", "sqrt")
        self.assert_fails("--min-count 5,x: expected whole numbers from 1 on, as in 5,5,1", 2, "stats", negative,
                          "--min-count", "5,x")
        self.assert_fails("--min-count has 3 numbers: expected one, or one for each of the 2 modes", 2, "stats", negative,
                          "--min-count", "5,5,1")

    def test_no_warning_where_lines_are_counted(self) -> None:
        counted = run("stats", self.table, "--columns", "user,item,place", "--value", 1)
        self.assertEqual((counted.returncode, counted.stderr), (0, ""))
        self.assertEqual(run("check", self.table, "--columns", "user,item,place", "--value", 1).stderr, "")
        self.assertIn("duplicate coordinates were added up",
                      run("stats", self.table, "--columns", "user,item,place,n").stderr)


if __name__ == "__main__":
    unittest.main()
