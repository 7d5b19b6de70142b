"""What `polyad predict` promises: its table, its summary, and what it refuses."""

import csv
import functools
import gzip
import json
import math
import operator
import pathlib
import random
import unittest

from program import WITH_MPI, ProgramTest, run

# The keys are an interface; docs/json.md says what they mean.
KEYS = {"count", "unknown", "estimated", "clipped", "clipped_to", "duplicates", "duplicate_rule", "transform", "dims", "components", "with_values", "rmse", "mae", "relative_error", "residual_norm",
        "value_norm", "largest_residuals", "format", "out", "threads", "seconds", "peak_memory_bytes"}
VISITS = """who,page,when,seconds
ann,/home,2014-04-01T09:12,31
bob,/home,2014-04-01T10:40,8.5
ann,/help,2014-04-02T11:05,120
bob,"/a,b",2014-04-02T11:05,7
"""


def numbers(path: pathlib.Path) -> list[list[float]]:
    return [[float(word) for word in line.split()] for line in path.read_text().splitlines()]


class Model:
    """A model as it lies in files, evaluated by its definition."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.weights = [row[0] for row in numbers(folder / "lambda.mat")]
        self.factors = [numbers(folder / f"mode{m + 1}.mat") for m in range(len(list(folder.glob("mode*.mat"))))]

    def contributions(self, coordinate: list[int]) -> list[float]:
        return [math.prod((weight, *(factor[i - 1][r] for factor, i in zip(self.factors, coordinate))))
                for r, weight in enumerate(self.weights)]


class PredictTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.model = self.folder / "model"

    def planted(self) -> list[list[float]]:
        """A small tensor x.tns with noise, its model, and its lines."""
        x = self.folder / "x.tns"
        self.succeed("generate", "planted", x, "--dims", "30x20x10", "--nnz", 2000, "-r", 3, "--noise", 0.1, "-q")
        self.succeed("cpd", x, "-r", 3, "-i", 20, "-q", "--out", self.model)
        return [[float(word) for word in line.split()] for line in x.read_text().splitlines() if line[0] != "#"]

    def tiny(self) -> None:
        """A model without labels: 2 x 3, one component, entry (i, j) = 2 i j."""
        self.model.mkdir()
        self.write("model/lambda.mat", "2\n")
        self.write("model/mode1.mat", "1\n2\n")
        self.write("model/mode2.mat", "1\n2\n3\n")

    def visits(self) -> pathlib.Path:
        """A model with labels, of a csv."""
        path = self.write("visits.csv", VISITS)
        self.succeed("cpd", path, "--columns", "who,page,when:day,seconds", "-r", 2, "-i", 9, "-q", "--out", self.model)
        return path

    def table(self, *arguments: object) -> list[list[str]]:
        return [line.split("\t") for line in self.succeed("predict", *arguments).splitlines()]


class TableTest(PredictTest):
    def test_predictions_are_those_of_the_written_files(self) -> None:
        lines, model = self.planted(), Model(self.model)
        head, *rows = self.table(self.model, self.folder / "x.tns", "--contributions")
        self.assertEqual(head, ["mode1", "mode2", "mode3", "prediction", "value", "residual",
                                "component1", "component2", "component3"])
        self.assertEqual(len(rows), len(lines))
        for row, line in zip(rows, lines):
            coordinate, expected = [int(i) for i in line[:3]], model.contributions([int(i) for i in line[:3]])
            self.assertEqual([int(i) for i in row[:3]], coordinate)
            prediction, value, residual, *contributions = map(float, row[3:])
            self.assertAlmostEqual(prediction, sum(expected), delta=1e-13 * sum(map(abs, expected)))
            self.assertEqual((value, residual), (line[3], line[3] - prediction))
            for one, other in zip(contributions, expected, strict=True):
                self.assertAlmostEqual(one, other, delta=1e-13 * abs(other))
            self.assertEqual(functools.reduce(operator.add, contributions), prediction)  # sum() may round less

    def test_without_values_there_are_only_predictions(self) -> None:
        self.tiny()
        x = self.write("x.tns", "1 2\n2 3\n")
        self.assertEqual(self.succeed("predict", self.model, x), "mode1\tmode2\tprediction\n1\t2\t4\n2\t3\t12\n")
        result = self.result("predict", self.model, x, "-q")
        self.assertEqual((result["count"], result["with_values"], result["rmse"], result["relative_error"]),
                         (2, False, None, None))
        self.assertEqual(result["largest_residuals"], [])

    def test_every_form_of_a_model_predicts_the_same(self) -> None:
        self.planted()
        tables = []
        for name in ("model", "m.ktensor", "m.ktensor.gz", "m.npz"):
            path = self.folder / name
            if name != "model":
                self.succeed("convert", self.model, path, "-q")
            tables.append(self.succeed("predict", path, self.folder / "x.tns", "-t", len(tables) + 1))
        self.assertEqual(tables, [tables[0]] * 4)

    def test_out_chooses_by_extension_and_says_the_summary(self) -> None:
        self.tiny()
        x = self.write("x.tns", "1 2 5\n2 3 10\n")
        for name, separator in (("y.tsv", "\t"), ("y.csv", ","), ("y.csv.gz", ",")):
            out = self.folder / name
            words = self.succeed("predict", self.model, x, "--out", out)
            text = gzip.open(out, "rt").read() if name.endswith("gz") else out.read_text()
            expected = "mode1 mode2 prediction value residual\n1 2 4 5 1\n2 3 12 10 -2\n"
            self.assertEqual(text, expected.replace(" ", separator))
            self.assertIn("RMSE 1.58114, MAE 1.5, relative error 0.2\n", words)
            self.assertIn("2x3 model, 1 component: 2 predictions\n", words)
        self.assertEqual(self.succeed("predict", self.model, x, "--out", out, "-q"), "")

    def test_the_table_and_the_words_do_not_mix(self) -> None:
        self.tiny()
        x = self.write("x.tns", "1 2 5\n")
        result = run("predict", self.model, x, "--json", self.folder / "r.json")
        self.assertEqual(result.stdout, "mode1\tmode2\tprediction\tvalue\tresidual\n1\t2\t4\t5\t1\n")
        self.assertIn("RMSE 1", result.stderr)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["rmse"], 1)
        self.assertEqual(self.succeed("predict", self.model, x, "-q", "--json", self.folder / "r.json"), "")
        self.assertEqual(self.succeed("predict", self.model, x, "-q"), result.stdout)
        self.assertEqual(run("predict", self.model, x).stderr, "")

    def test_every_cell_of_a_dense_text_is_answered(self) -> None:
        self.tiny()
        x = self.write("x", "matrix\n2\n2 3\n0 5 0\n0 0 10\n")
        rows = self.table(self.model, x)[1:]
        self.assertEqual([row[:2] for row in rows], [[str(i), str(j)] for i in (1, 2) for j in (1, 2, 3)])
        self.assertEqual([row[3] for row in rows], ["0", "5", "0", "0", "0", "10"])

    def test_many_coordinates_are_as_few(self) -> None:
        self.tiny()
        x = self.write("x.tns", "1 2\n2 3\n" * 40000)
        lines = self.succeed("predict", self.model, x, "--contributions").splitlines()
        self.assertEqual(lines[1:], ["1\t2\t4\t4", "2\t3\t12\t12"] * 40000)


RULES = {"sum": sum, "mean": lambda v: sum(v) / len(v), "max": max, "last": lambda v: v[-1], "count": len}
TRANSFORMS = {"none": float, "log1p": math.log1p, "sqrt": math.sqrt, "binary": lambda v: float(v != 0)}


class DuplicatesTest(PredictTest):
    """Against a naive computation."""

    def setUp(self) -> None:
        super().setUp()
        chance = random.Random(7)
        self.lines = [(chance.randrange(1, 9), chance.randrange(1, 7), chance.randrange(1, 5), chance.randrange(0, 33) / 4)
                      for _ in range(300)]
        self.x = self.write("x.tns", "# dims: 8 6 4\n" + "".join(f"{i} {j} {k} {v}\n" for i, j, k, v in self.lines))

    def fitted(self, *options: object, processes: int = 0) -> Model:
        done = run("cpd", self.x, "-r", 2, "-i", 5, "-q", "--out", self.model, *options, processes=processes)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Model(self.model)

    def assert_predicts(self, model: Model, rule: str, transform: str, *options: object) -> None:
        """One row per cell, at the place of its first line, with the combined value."""
        cells: dict = {}
        for *cell, value in self.lines:
            cells.setdefault(tuple(cell), []).append(value)
        expected = {cell: TRANSFORMS[transform](RULES[rule](values)) for cell, values in cells.items()}
        out = self.folder / "out.tsv"
        result = self.result("predict", self.model, self.x, "-q", "--out", out, *options)
        rows = [line.split("\t") for line in out.read_text().splitlines()[1:]]
        self.assertEqual([tuple(map(int, row[:3])) for row in rows], list(expected))
        residuals = []
        for row, (cell, value) in zip(rows, expected.items()):
            self.assertAlmostEqual(float(row[4]), value, places=12)
            residuals.append(value - sum(model.contributions(list(cell))))
        self.assertAlmostEqual(result["rmse"], math.hypot(*residuals) / math.sqrt(len(residuals)), places=10)
        self.assertEqual([result[key] for key in ("count", "duplicates", "duplicate_rule", "transform")],
                         [len(expected), len(self.lines) - len(expected), rule, transform])

    def test_every_rule_and_transform(self) -> None:
        model = self.fitted("--duplicates", "sum")
        self.assert_predicts(model, "sum", "none")
        for rule in RULES:
            for transform in TRANSFORMS:
                with self.subTest(rule=rule, transform=transform):
                    self.assert_predicts(model, rule, transform, "--duplicates", rule, "--transform", transform)

    def test_the_model_knows_how_its_values_were_made(self) -> None:
        for processes in (0, 3) if WITH_MPI else (0,):
            model = self.fitted("--duplicates", "max", "--transform", "sqrt", processes=processes)
            self.assert_predicts(model, "max", "sqrt")
            self.assert_predicts(model, "mean", "sqrt", "--duplicates", "mean")
            self.assert_predicts(model, "max", "none", "--transform", "none")
        self.succeed("convert", self.model, self.folder / "m.npz", "-q")
        self.model = self.folder / "m.npz"
        self.assert_predicts(model, "max", "sqrt")

    def test_the_fit_of_cpd_follows_from_the_errors_of_predict(self) -> None:
        """Where every cell has a line, the file says all that the model was fitted to."""
        self.lines = [(i, j, k, (i * j + k) % 5) for i in range(1, 5) for j in range(1, 4) for k in range(1, 4)] * 3
        self.x = self.write("x.tns", "".join(f"{i} {j} {k} {v}\n" for i, j, k, v in self.lines))
        for options in ((), ("--transform", "log1p"), ("--duplicates", "mean")):
            self.fitted(*options)
            fit = json.loads((self.model / "summary.json").read_text())["fit"]
            self.assertAlmostEqual(1 - self.result("predict", self.model, self.x, "-q")["relative_error"], fit, places=10)

    def test_warnings_and_refusals(self) -> None:
        self.fitted("-q")
        count = len(self.lines) - len({line[:3] for line in self.lines})
        warned = run("predict", self.model, self.x, "--out", self.folder / "y.tsv")
        self.assertEqual(warned.stderr, f"polyad: warning: {self.x}: {count} duplicate coordinates were added up\n")
        self.assertEqual(run("predict", self.model, self.x, "--duplicates", "sum").stderr, "")
        self.assert_fails(f"{self.x}: has {count} duplicate coordinates, which --duplicates refuse does not allow", 2,
                          "predict", self.model, self.x, "--duplicates", "refuse")
        places = self.write("places.tns", "1 1 1\n1 1 1\n")
        self.assertEqual(len(self.table(self.model, places)), 3)
        self.assert_fails(f"{places}: has no values, which --duplicates would be for", 2, "predict", self.model, places,
                          "--duplicates", "mean")
        self.assert_fails(f"{places}: has no values, which --transform would be for", 2, "predict", self.model, places,
                          "--transform", "sqrt")
        negative = self.write("n.tns", "1 1 1 -2\n")
        self.assert_fails(f"{negative}: the value -2 has no square root", 2, "predict", self.model, negative,
                          "--transform", "sqrt")

    def test_a_model_of_ratings_keeps_the_last(self) -> None:
        ratings = self.write("r.csv", "userId,movieId,rating\n" + "".join(
            f"{u},{m},{r}\n" for u in range(6) for m in range(6) for r in ((u + m) % 5 + 1, (u * m) % 4 + 1)))
        for options in ((), ("--transform", "sqrt")):
            self.succeed("complete", ratings, "-r", 2, "-e", 3, "-q", "--out", self.model, *options)
            rows = self.table(self.model, ratings, *options)[1:]
            value = TRANSFORMS["sqrt" if options else "none"]
            self.assertEqual([float(row[3]) for row in rows],
                             [value((u * m) % 4 + 1) for u in range(6) for m in range(6)])
        self.assertIn(f"{ratings}: 36 duplicate coordinates were repeated by a later line, and dropped",
                      run("predict", self.model, ratings).stderr)


class LabelsTest(PredictTest):
    def test_names_are_those_of_the_model(self) -> None:
        path = self.visits()
        head, *rows = self.table(self.model, path, "--columns", "who,page,when:day,seconds")
        self.assertEqual(head[:3], ["who", "page", "when"])
        self.assertEqual([row[:3] for row in rows],
                         [["ann", "/home", "2014-04-01"], ["bob", "/home", "2014-04-01"],
                          ["ann", "/help", "2014-04-02"], ["bob", "/a,b", "2014-04-02"]])
        self.assertEqual([float(row[4]) for row in rows], [31, 8.5, 120, 7])

        # Another order of lines and other columns: the numbering is the model's, not the file's.
        other = self.write("other.csv", "page;when;who\n/help;2014-04-02;ann\n")
        self.assertEqual(self.table(self.model, other)[1], rows[2][:4])
        indices = self.write("i.tns", "1 2 2\n")
        for labels in (self.model / name for name in ("mode-1-who.map", "mode-2-page.map", "mode-3-when.map")):
            self.assertTrue(labels.exists())
        self.assertEqual(self.table(self.model, indices)[1][:3], ["ann", "/help", "2014-04-02"])

    def test_csv_out_reads_back(self) -> None:
        path, out = self.visits(), self.folder / "out.csv"
        self.succeed("predict", self.model, path, "--columns", "who,page,when:day,seconds", "--out", out, "-q")
        rows = list(csv.reader(out.read_text().splitlines()))
        self.assertEqual(rows[4][:3], ["bob", "/a,b", "2014-04-02"])
        again = self.table(self.model, out)  # its columns are known by name, and the value is called so
        self.assertEqual([row[:6] for row in again], rows)

    def test_the_largest_residuals_are_named(self) -> None:
        path = self.visits()
        result = self.result("predict", self.model, path, "--columns", "who,page,when:day,seconds", "-q", "--top", 2)
        largest = result["largest_residuals"]
        self.assertEqual(len(largest), 2)
        self.assertGreaterEqual(abs(largest[0]["residual"]), abs(largest[1]["residual"]))
        self.assertIn(largest[0]["coordinates"][0], ("ann", "bob"))
        self.assertEqual(largest[0]["residual"], largest[0]["value"] - largest[0]["prediction"])

    def test_labels_beside_a_file_and_given_by_hand(self) -> None:
        self.tiny()
        labels = self.write("names", "left\nright\n")
        x = self.write("x.csv", "side,mode2\nright,3\n")
        self.assertEqual(self.table(self.model, x, "--labels", f"1={labels}")[1], ["right", "3", "12"])
        self.write("model/mode-1-side.map", "left\nright\n")
        self.assertEqual(self.table(self.model, x), [["side", "mode2", "prediction"], ["right", "3", "12"]])

    def test_unknown_labels_are_left_out_when_asked(self) -> None:
        self.visits()
        x = self.write("x.csv", "who,page,when\nann,/help,2014-04-02\ncy,/help,2014-04-02\n")
        result = run("predict", self.model, x, "--skip-unknown", "--json", "-")
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"warning: {x}: 1 coordinate was left out that the model does not have", result.stderr)
        self.assertEqual([json.loads(result.stdout)[key] for key in ("count", "unknown")], [1, 1])


class SummaryTest(PredictTest):
    def test_every_key_is_there(self) -> None:
        lines = self.planted()
        result = self.result("predict", self.model, self.folder / "x.tns", "-q", "-t", 2)
        self.assertEqual(set(result), KEYS)
        self.assertEqual(set(result["seconds"]), {"load", "read", "predict"})
        self.assertEqual(set(result["largest_residuals"][0]), {"coordinates", "prediction", "value", "residual"})
        model = Model(self.model)
        residuals = [line[3] - sum(model.contributions([int(i) for i in line[:3]])) for line in lines]
        norm = math.hypot(*residuals)
        self.assertAlmostEqual(result["rmse"], norm / math.sqrt(len(lines)), places=12)
        self.assertAlmostEqual(result["mae"], sum(map(abs, residuals)) / len(lines), places=12)
        self.assertAlmostEqual(result["relative_error"], norm / math.hypot(*(line[3] for line in lines)), places=12)
        largest = sorted(residuals, key=abs, reverse=True)[:5]
        for one, other in zip(result["largest_residuals"], largest, strict=True):
            self.assertAlmostEqual(one["residual"], other, places=12)
        self.assertEqual((result["count"], result["dims"], result["components"], result["threads"], result["format"]),
                         (len(lines), [30, 20, 10], 3, 2, "tns"))

    def test_no_residuals_make_no_table(self) -> None:
        self.tiny()
        words = self.succeed("predict", self.model, self.write("x.tns", "1 2 5\n"), "--top", 0, "--out", self.folder / "y.tsv")
        self.assertEqual(words.splitlines()[1:], ["RMSE 1, MAE 1, relative error 0.2",
                                                  f"wrote predictions to {self.folder / 'y.tsv'}"])

    def test_no_values_to_divide_by(self) -> None:
        self.tiny()
        result = run("predict", self.model, self.write("x.tns", "1 2 0\n"), "--json", "-")
        self.assertIn("relative error infinite: all values are 0", result.stderr)
        self.assertIsNone(json.loads(result.stdout)["relative_error"])

    def test_extreme_values_give_numbers(self) -> None:
        self.tiny()
        result = self.result("predict", self.model, self.write("x.tns", "1 2 1e300\n2 2 -1e300\n"), "-q")
        self.assertAlmostEqual(result["rmse"] / 1e300, 1)
        self.assertAlmostEqual(result["relative_error"], 1)


class RefusalTest(PredictTest):
    def setUp(self) -> None:
        super().setUp()
        self.tiny()

    def refuse(self, sentence: str, text: str, *options: object, name: str = "x") -> None:
        x = self.write(name, text)
        self.assert_fails(sentence.replace("X", str(x)), 2, "predict", self.model, x, *options)

    def test_bad_coordinates(self) -> None:
        self.refuse("X:2: index '3' of mode 1 is beyond the dimension 2 that the model states", "1 1\n3 1\n")
        self.refuse("X:1: index '0' of mode 2 is below 1, where the indices start", "1 0\n", "--index-base", 1)
        self.refuse("X:1: expected 2 indices, with or without a value behind, as the model has 2 modes; found 4 fields",
                    "1 1 1 1\n")
        self.refuse("X:2: value 'nan' is not finite", "1 1 1\n1 1 nan\n")
        self.refuse("X: is empty", "")
        self.refuse("X: csv needs --columns to say which columns are the modes and which is the value; this file has "
                    "'a', 'b', 'c', 'd'", "a,b,c,d\n1,2,3,4\n")
        self.refuse("X: has no column 'q'; its columns are 'a', 'b'", "a,b\n1,2\n", "--columns", "a,q")
        self.refuse("X:2: 'u' in the column 'a' is not a whole number from 1 on", "a,b\nu,2\n")

    def test_unknown_labels(self) -> None:
        self.write("model/mode-1-side.map", "left\nright\n")
        self.refuse("X:3: 'top' in the column 'side' is no label of mode 1 of the model; --skip-unknown leaves such lines out", "side,n\nleft,1\ntop,1\n")

    def test_a_time_is_told_how_to_bin_it(self) -> None:
        self.write("model/mode-1-time.map", "2014-04-01\n2014-04-02\n")
        self.refuse("X:2: '2014-04-02T13:05' in the column 'time' is no label of mode 1 of the model, which has '2014-04-02'; "
                    "--columns bins times where a column is named as time:day", "time,n\n2014-04-02T13:05,1\n")
        x = self.write("x", "time,n\n2014-04-02T13:05,1\n")
        self.succeed("predict", self.model, x, "--columns", "time:day,n")

    def test_options_that_do_not_fit(self) -> None:
        self.refuse("--value requires --columns", "a,b\n1,2\n", "--value", "b")
        self.refuse("--columns names 1 modes, the model has 2; the value may follow them, or be named by --value",
                    "a,b\n1,2\n", "--columns", "a")
        self.refuse("--value 1 counts lines; here it names the column to compare with, if there is one",
                    "a,b\n1,2\n", "--columns", "a,b", "--value", 1)
        self.refuse("X: has no column 'a': it has no header, and its columns are called 1 to 2", "1 1\n",
                    "--columns", "a,b")
        self.refuse("--labels 3=X: the model has 2 modes", "1 1\n", "--labels", f"3={self.folder / 'x'}")
        self.refuse("--out y.txt: expected a name that ends in .tsv or .csv, or in .tsv.gz or .csv.gz", "1 1\n",
                    "--out", "y.txt")
        self.refuse("--contributions are columns of the table: with --json - say --out FILE", "1 1\n", "--contributions",
                    "--json", "-")

    def test_no_output_takes_the_place_of_an_input_or_another(self) -> None:
        x = self.write("x.csv", "mode1,mode2\n1,1\n")
        self.write("model/mode-1.map", "left\nright\n")
        self.write("model/summary.json", "{}\n")
        names, y = self.write("names.tsv", "left\nright\n"), self.folder / "y.csv"
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        refused = [
            (f"--out {x} would overwrite the coordinates", ["--out", x]),
            (f"--out {names} would overwrite the file that --labels names", ["--labels", f"1={names}", "--out", names]),
            (f"--out and --json would both write {y}", ["--out", y, "--json", y]),
            *((f"--json {self.model / name} would overwrite a part of the model", ["--json", self.model / name])
              for name in ("lambda.mat", "mode2.mat", "mode3.mat", "mode-1.map", "mode-2-page.map.gz", "summary.json")),
        ]
        for sentence, options in refused:
            self.assert_fails(sentence, 2, "predict", self.model, x, *options)
        self.assertEqual(before, {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()})

    def test_a_model_in_a_file_keeps_its_labels(self) -> None:
        self.succeed("convert", self.model, self.folder / "m.ktensor")
        names = self.write("mode-1-side.map", "left\nright\n")
        x, model = self.write("x.tns", "1 1\n"), self.folder / "m.ktensor"
        self.assert_fails(f"--json {model} would overwrite the model", 2, "predict", model, x, "--json", model)
        self.assert_fails(f"--json {names} would overwrite labels that lie beside the model", 2, "predict", model, x,
                          "--json", names)
        self.succeed("predict", model, x, "--out", self.folder / "y.tsv", "--json", "/dev/null")

    def test_bad_models(self) -> None:
        x = self.write("x", "1 1\n")
        self.assert_fails(f"{x}: is no Kruskal tensor that Polyad knows: a text that begins with 'ktensor', an .npz "
                          "archive, or a directory with lambda.mat and mode1.mat", 2, "predict", x, x)
        self.write("model/lambda.mat", "1e308\n")
        self.write("model/mode1.mat", "1e308\n1\n")
        self.refuse("the prediction at 1 1 is beyond what double precision holds", "1 1\n", "--json", "-")

    def test_a_failed_run_leaves_no_file(self) -> None:
        out = self.folder / "y.tsv"
        self.refuse("X:2: index '9' of mode 2 is beyond the dimension 3 that the model states", "1 1\n1 9\n", "--out", out)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["model", "x"])

    def test_it_runs_on_one_process(self) -> None:
        if WITH_MPI:
            x = self.write("x", "1 1\n")
            result = run("predict", self.model, x, processes=2)
            self.assertEqual(result.returncode, 2)
            self.assertIn("polyad: polyad predict runs on one process; 2 were started", result.stderr)


if __name__ == "__main__":
    unittest.main()
