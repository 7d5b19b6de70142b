"""Duplicates, transforms and k-cores of random tables, compared with pandas where that is installed."""

import math
import random
import unittest

from program import ProgramTest, run

try:
    import numpy
    import pandas
except ImportError:
    pandas = None

RULES = ("sum", "mean", "max", "last", "count")


def expected(table: "pandas.DataFrame", modes: list[str], rule: str, transform: str, minimum: list[int]) -> dict:
    cells = getattr(table.groupby(modes, sort=False)["n"], rule)().astype(float).reset_index()
    if transform == "binary":
        cells["n"] = (cells["n"] != 0).astype(float)
    elif transform != "none":
        cells["n"] = getattr(numpy, transform)(cells["n"])
    while True:
        is_kept = pandas.Series(True, index=cells.index)
        for mode, least in zip(modes, minimum):
            is_kept &= cells.groupby(mode)["n"].transform("size") >= least
        if is_kept.all():
            return {tuple(map(str, row[:-1])): row[-1] for row in cells.itertuples(index=False, name=None)}
        cells = cells[is_kept]


@unittest.skipIf(pandas is None, "pandas is not installed")
class PandasTest(ProgramTest):
    def random_table(self, chance: random.Random) -> "pandas.DataFrame":
        order = chance.randint(2, 5)
        rows = chance.randint(20, 600)
        columns = {}
        for m in range(order):
            names = [f"{chance.choice('abcXYZ')} {k}" if m % 2 else str(1000 + k) for k in range(chance.randint(1, 12))]
            columns[f"mode {m}"] = [chance.choice(names) for _ in range(rows)]
        columns["n"] = [chance.choice((0, 0.25, 1, 2, 3.5, 1e6, 1 / 3)) for _ in range(rows)]
        return pandas.DataFrame(columns)

    def read(self, file: object, columns: str, *options: object) -> dict:
        out = self.folder / "out.csv"
        self.succeed("convert", file, out, "--force", "--columns", columns, *options)
        found = pandas.read_csv(out, dtype=str, keep_default_na=False)
        return {tuple(row[:-1]): float(row[-1]) for row in found.itertuples(index=False, name=None)}

    def test_random_tables(self) -> None:
        num_left = 0
        for seed in range(60):
            chance = random.Random(seed)
            table = self.random_table(chance)
            modes = list(table.columns[:-1])
            rule, transform = chance.choice(RULES), chance.choice(("none", "log1p", "sqrt", "binary"))
            minimum = [chance.choice((1, 1, 2, 3, 8)) for _ in modes]
            file = self.folder / "t.csv"
            table.to_csv(file, index=False)
            cells = expected(table, modes, rule, transform, minimum)
            options = ["--duplicates", rule, "--transform", transform, "--min-count", ",".join(map(str, minimum))]
            with self.subTest(seed=seed, options=options):
                if not cells:
                    ended = run("stats", file, "--columns", ",".join(table.columns), *options)
                    self.assertEqual(ended.returncode, 2)
                    self.assertRegex(ended.stderr, "--min-count .* leaves no nonzeros")
                    continue
                found = self.read(file, ",".join(table.columns), *options)
                num_left += 1
                self.assertEqual(found.keys(), cells.keys())
                self.assertTrue(all(math.isclose(found[cell], cells[cell], rel_tol=1e-12) for cell in cells))
        self.assertGreater(num_left, 30)


if __name__ == "__main__":
    unittest.main()
