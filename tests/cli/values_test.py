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
