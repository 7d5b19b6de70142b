"""Number columns binned by width and by quantiles, compared with a naive computation in exact arithmetic."""

import collections
import csv
import decimal
import json
import random
import unittest

from program import WITH_MPI, ProgramTest

Decimal = decimal.Decimal


def plain(number: Decimal) -> str:
    """As Polyad writes it: the shortest text of the number in double precision."""
    text = repr(float(number) + 0.0)
    return text[:-2] if text.endswith(".0") else text


def by_width(texts: list[str], width: str) -> tuple[list[str], list[int]]:
    """The labels of all bins, and the bin of each text."""
    bins = [int((Decimal(text) / Decimal(width)).to_integral_value(decimal.ROUND_FLOOR)) for text in texts]
    first, last = min(bins), max(bins)
    labels = [f"[{plain(b * Decimal(width))}, {plain((b + 1) * Decimal(width))})" for b in range(first, last + 1)]
    return labels, [b - first for b in bins]


def by_quantiles(texts: list[str], count: int) -> tuple[list[str], list[int]]:
    numbers = [float(text) for text in texts]
    bin_of = {x: count * sum(y < x for y in numbers) // len(numbers) for x in set(numbers)}
    firsts = sorted(min(x for x in bin_of if bin_of[x] == b) for b in set(bin_of.values()))
    ends = [f"{plain(x)})" for x in firsts[1:]] + [f"{plain(max(numbers))}]"]
    labels = [f"[{plain(first)}, {end}" for first, end in zip(firsts, ends)]
    order = sorted(set(bin_of.values()))
    return labels, [order.index(bin_of[x]) for x in numbers]


class NumberBinsTest(ProgramTest):
    num_outputs = 0

    def table(self, texts: list[str], name: str = "t.csv", separator: str = ",") -> object:
        lines = [separator.join(("who", "age", "n"))] + [separator.join((f"w{i % 7}", text, str(i + 1))) for i, text in enumerate(texts)]
        return self.write(name, "\n".join(lines) + "\n")

    def read(self, path: object, kind: str, *options: object) -> tuple[list[str], dict]:
        """The labels of the binned mode, and the value of each (who, bin)."""
        self.num_outputs += 1
        name = f"out{self.num_outputs}"
        out = self.folder / f"{name}.tns"
        self.succeed("convert", path, out, "--columns", f"who,age:{kind},n", "--duplicates", "sum", *options)
        labels = (self.folder / f"{name}.mode-2-age.map").read_text().splitlines()
        lines = [line.split() for line in out.read_text().splitlines() if line[0] != "#"]
        return labels, {(int(i) - 1, int(j) - 1): float(v) for i, j, v in lines}

    def assert_same_on_processes(self, path: object, kind: str, labels: list[str], processes: int) -> None:
        """Sizes of slices, and labels, are those of one process."""
        options = [path, "--columns", f"who,age:{kind},n", "--duplicates", "sum"]
        one, several = (self.result("stats", *options, processes=p) for p in (0, processes))
        self.assertEqual((one["dims"], one["nnz"], one["modes"]), (several["dims"], several["nnz"], several["modes"]))
        self.assertAlmostEqual(one["values"]["norm"], several["values"]["norm"])
        self.num_outputs += 1
        model = self.folder / f"model{self.num_outputs}"
        self.succeed("cpd", *options, "-r", 1, "-i", 1, "-q", "--out", model, processes=processes)
        self.assertEqual((model / "mode-2-age.map").read_text().splitlines(), labels)

    def assert_bins(self, texts: list[str], kind: str, expected: tuple[list[str], list[int]], *options: object,
                    separator: str = ",") -> None:
        labels, bins = expected
        cells: dict = collections.defaultdict(float)
        names = sorted({f"w{i % 7}" for i in range(len(texts))})
        for i, b in enumerate(bins):
            cells[names.index(f"w{i % 7}"), b] += i + 1
        shown = [text.replace(".", ",") for text in texts] if "--decimal-comma" in options else texts
        path = self.table(shown, separator=separator)
        found, values = self.read(path, kind, *options)
        self.assertEqual((found, values), (labels, dict(cells)), kind)

    def columns(self, seed: int) -> list[list[str]]:
        chance = random.Random(seed)
        count = chance.choice((1, 2, 9, 60))
        return [[str(chance.randrange(-40, 90)) for _ in range(count)],
                [f"{chance.randrange(-3000, 9000) / 100:.2f}" for _ in range(count)],
                [f"{chance.randrange(0, 40)}e-1" for _ in range(count)],
                [chance.choice(("0", "0", "0", "1", "5", "17.5")) for _ in range(count)]]

    def test_every_bin_of_a_width_from_the_first_to_the_last(self) -> None:
        for seed in range(3):
            for texts in self.columns(seed):
                for width in ("10", "0.1", "2.5", "7"):
                    with self.subTest(seed=seed, width=width):
                        self.assert_bins(texts, f"width={width}", by_width(texts, width))

    def test_bounds_belong_to_the_bin_above(self) -> None:
        texts = [f"{k}e-1" for k in range(-30, 31)]
        self.assert_bins(texts, "width=0.1", by_width(texts, "0.1"))
        self.assert_bins(texts, "width=0.3", by_width(texts, "0.3"))

    def test_quantiles_hold_about_as_many_entries(self) -> None:
        for seed in range(3):
            for texts in self.columns(seed):
                for count in (1, 2, 4, 100):
                    with self.subTest(seed=seed, count=count):
                        self.assert_bins(texts, f"quantiles={count}", by_quantiles(texts, count))
        even = [str(x) for x in range(40)]
        random.Random(1).shuffle(even)
        sizes = collections.Counter(by_quantiles(even, 4)[1])
        self.assertEqual(set(sizes.values()), {10})

    def test_a_decimal_comma(self) -> None:
        texts = ["1.5", "2.25", "-0.5", "11"]
        self.assert_bins(texts, "width=0.5", by_width(texts, "0.5"), "--decimal-comma", separator=";")
        self.assert_bins(texts, "quantiles=2", by_quantiles(texts, 2), "--decimal-comma", separator=";")

    def test_predict_finds_the_bins_of_a_model(self) -> None:
        texts = [str(x) for x in (3, 8, 21, 22, 25, 37, 41, 60)]
        path = self.table(texts)
        for kind, places in (("width=10", {"29.5": "[20, 30)", "60": "[60, 70)", "50": "[50, 60)"}),
                             ("quantiles=4", {"20": "[3, 21)", "24": "[21, 25)", "60": "[41, 60]", "40.9": "[25, 41)"})):
            model = self.folder / kind.split("=")[0]
            self.succeed("cpd", path, "--columns", f"who,age:{kind},n", "-r", 1, "-q", "--out", model)
            other = self.write("other.csv", "who,age\n" + "".join(f"w1,{text}\n" for text in places))
            rows = self.succeed("predict", model, other, "--columns", f"who,age:{kind}").splitlines()[1:]
            self.assertEqual([row.split("\t")[1] for row in rows], list(places.values()))
            beyond = self.write("beyond.csv", "who,age\nw1,99\n")
            self.assert_fails(f"{beyond}:2: '99' in the column 'age' is no label of mode 2 of the model; --skip-unknown leaves such lines out", 2, "predict", model,
                              beyond, "--columns", f"who,age:{kind}")

    def test_csv_with_intervals_reads_back(self) -> None:
        path, out = self.table(["3", "18", "24"]), self.folder / "out.csv"
        self.succeed("convert", path, out, "--columns", "who,age:width=10,n")
        with out.open() as file:
            self.assertEqual([row[1] for row in csv.reader(file)], ["age", "[0, 10)", "[10, 20)", "[20, 30)"])
        stats = json.loads(self.succeed("stats", out, "--columns", "who,age,value", "--json", "-"))
        self.assertEqual(stats["dims"], [3, 3])

    def test_numbers_as_labels_sort_as_numbers(self) -> None:
        for texts in (["10", "9", "-3", "100"], ["1.5", "10.25", "-3", "9", "1e1"], ["0.10", "0.9", "0.1"]):
            self.assertEqual(self.read(self.table(texts), "label")[0], sorted(texts, key=lambda text: (float(text), text)))

    def test_refusals(self) -> None:
        path = self.table(["3", "x", "5"])
        for kind in ("width=10", "quantiles=4"):
            self.assert_fails(f"{path}:3: 'x' in the column 'age' is no number to bin", 2, "stats", path, "--columns",
                              f"who,age:{kind},n")
        for text in ("0", "-1", "ten", "inf", ""):
            self.assert_fails(f"--columns age:width={text}: expected a width above 0, as in age:width=10", 2, "stats", path,
                              "--columns", f"who,age:width={text},n")
        for text in ("0", "2.5", "many", "1e9"):
            self.assert_fails(f"--columns age:quantiles={text}: expected a number of bins from 1 to 1048576, as in "
                              "age:quantiles=4", 2, "stats", path, "--columns", f"who,age:quantiles={text},n")
        self.assert_fails("--columns ends with the bins of 'age', which cannot be the value; name the value with --value NAME, "
                          "or count lines with --value 1", 2, "stats", path, "--columns", "who,n,age:width=3")
        wide = self.table(["1", "1e9"])
        self.assert_fails(f"{wide}: the numbers in the column 'age' extend from [1, 2) to [1000000000, 1000000001): expected at "
                          "most 1048576 bins; those of a larger width are fewer", 2, "stats", wide, "--columns",
                          "who,age:width=1,n")
        far = self.table(["1e300"])
        self.assert_fails(f"{far}:2: '1e300' in the column 'age' is too large for bins of width 1", 2, "stats", far,
                          "--columns", "who,age:width=1,n")

    @unittest.skipUnless(WITH_MPI, "needs MPI")
    def test_several_processes_find_the_same(self) -> None:
        for texts in self.columns(2):
            path = self.table(texts)
            for count in (2, 7):
                self.assert_same_on_processes(path, f"quantiles={count}", by_quantiles(texts, count)[0], 3)
            self.assert_same_on_processes(path, "width=2.5", by_width(texts, "2.5")[0], 2)

    @unittest.skipUnless(WITH_MPI, "needs MPI")
    def test_processes_without_lines(self) -> None:
        path = self.table(["4"])
        for kind, label in (("width=10", "[0, 10)"), ("quantiles=3", "[4, 4]")):
            self.assert_same_on_processes(path, kind, [label], 4)


if __name__ == "__main__":
    unittest.main()
