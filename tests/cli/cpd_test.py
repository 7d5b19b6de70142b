"""What `polyad cpd` promises: its result, its files, and what it refuses."""

import json
import os
import pathlib
import re
import unittest
import zipfile

from program import SOURCE, WITH_MPI, ProgramTest, run

DEBIAN = SOURCE / "data" / "debian.tns.gz"
QUICK = ("-r", 4, "-i", 5, "--tol", 0)
FORMATS = ("auto", "csf", "csf-one", "csf-two", "csf-all", "coo", "hicoo")

# The keys are an interface; docs/json.md says what they mean.
KEYS = {"fit", "fit_trajectory", "iterations", "model_iteration", "condition", "method", "rank", "dims", "nnz", "processes", "threads", "distribution", "partition",
        "grid", "policy", "format", "precision", "device", "seconds", "communication", "imbalance", "peak_memory_bytes"}
INNER_KEYS = {
    "seconds": {"load", "distribute", "compress", "iterate", "per_iteration", "mttkrp", "solve", "gram", "norm",
                "communicate"},
    "communication": {"volume_words_per_iteration", "predicted_volume_words_per_iteration", "messages_per_iteration",
                      "max_volume_words", "max_messages"},
    "imbalance": {"nnz", "volume", "rows"},
}


def numbers(path: pathlib.Path) -> list[list[float]]:
    return [[float(word) for word in line.split()] for line in path.read_text().splitlines()]


class NothingToLearnTest(ProgramTest):
    def warning(self, lines: list[str], *options: object) -> str:
        path = self.write("x.csv", "".join(line + "\n" for line in ["a,b,v", *lines]))
        result = run("cpd", path, "--columns", "a,b", "--value", "v", "-r", 2, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def test_a_model_of_zeros_is_told(self) -> None:
        zeros, negative = ([f"x{i % 5},y{i % 7},{i * step}" for i in range(30)] for step in (0, -1))
        self.assertIn("warning: the tensor has no nonzeros, so that its model is zero everywhere\n", self.warning([]))
        for options in ((), ("--missing",), ("--nonneg",)):
            self.assertIn("warning: all values are 0, and so is the model\n", self.warning(zeros, *options))
        self.assertIn("warning: the model has vanished: without negative factors nothing found is closer to these values than zeros, "
                      "perhaps because most of them are negative\n", self.warning(negative, "--nonneg"))
        self.assertIn("warning: no value is positive, which would be a preference, so that the model has vanished\n",
                      self.warning(negative, "--implicit"))
        self.assertNotIn("vanished", self.warning(negative))

    def test_modes_of_a_flag_are_no_file(self) -> None:
        for command in ("cpd", "rank"):
            self.assert_fails("1,2: there is no such file; for modes 1,2, write --nonneg=1,2", 2, command,
                              self.write("x.tns", "1 1 1\n"), "-r", 2, "--nonneg", "1,2")


class CpdTest(ProgramTest):
    def debian(self, *options: object) -> dict:
        return self.result("cpd", DEBIAN, *QUICK, "-q", *options)

    def assert_near(self, one: list[float], other: list[float], bound: float) -> None:
        self.assertEqual(len(one), len(other))
        self.assertLess(max(abs(a - b) for a, b in zip(one, other)), bound)

    def small(self) -> pathlib.Path:
        """Two blocks that share nothing: two components explain all of it."""
        block = [f"{i} {j} {k} 3" for i in (1, 2) for j in (1, 2, 3) for k in (1, 2)]
        block += [f"{i} {j} {k} 1" for i in (4, 5) for j in (4, 6) for k in (3, 4)]
        return self.write("x.tns", "\n".join(block))


class ResultTest(CpdTest):
    def test_every_key_is_there(self) -> None:
        result = self.debian("-t", 2)
        self.assertLessEqual(KEYS, set(result))
        for key, inner in INNER_KEYS.items():
            self.assertLessEqual(inner, set(result[key]), key)
        self.assertEqual((result["rank"], result["iterations"], result["nnz"]), (4, 5, 56587))
        self.assertEqual((result["processes"], result["threads"], result["precision"]), (1, 2, "double"))
        self.assertEqual((result["dims"], result["grid"]), ([368, 13905, 58, 8], [1, 1, 1, 1]))
        self.assertEqual((result["fit"], len(result["fit_trajectory"])), (result["fit_trajectory"][-1], 5))
        self.assertEqual((sorted(result["mode_order"]), len(result["weights"])), ([1, 2, 3, 4], 4))
        self.assertGreater(result["peak_memory_bytes"], 1e6)

    def test_the_start_is_no_part_of_an_iteration(self) -> None:
        seconds = self.result("cpd", DEBIAN, "-r", 200, "-i", 1, "-q")["seconds"]
        self.assertLess(seconds["per_iteration"] - seconds["iterate"], seconds["start"] / 2)
        self.assertLessEqual(seconds["mttkrp"] + seconds["solve"] + seconds["communicate"], seconds["iterate"])

    def test_a_run_repeated_has_the_same_bits(self) -> None:
        for options in ([], ["-t", 3], ["--precision", "single"], ["--format", "coo"]):
            one, other = self.debian(*options), self.debian(*options)
            self.assertEqual(one["fit_trajectory"], other["fit_trajectory"], options)
            self.assertEqual(one["weights"], other["weights"], options)
        self.assertNotEqual(self.debian("--seed", 2)["fit"], self.debian("--seed", 3)["fit"])

    def test_every_format_and_thread_count_has_the_same_trajectory(self) -> None:
        first = self.debian()
        for name in FORMATS:
            with self.subTest(name):
                result = self.debian("--format", name, "-t", 1)
                self.assert_near(result["fit_trajectory"], first["fit_trajectory"], 1e-9)
                self.assertEqual(result["mode_order"], first["mode_order"])
                if name != "auto":
                    self.assertEqual(result["format"], name)

    def test_formats_are_predicted_by_the_constants_of_the_machine(self) -> None:
        def debian(**constants: float) -> dict:
            required = {f"seconds_per_{what}": 1e-9
                        for what in ("message", "word", "packed_word", "near_gather", "far_gather", "row")}
            file = self.write("machine.json", json.dumps({**required, **constants}))
            output = run("cpd", DEBIAN, *QUICK, "-q", "-t", 1, "--json", "-", env={**os.environ, "POLYAD_MACHINE": str(file)})
            return json.loads(output.stdout)

        usual, slow = debian(), debian(seconds_per_node=1e-3)  # of an earlier version, and calibrated
        self.assertGreater(slow["predicted"]["seconds_per_iteration"], 100 * usual["predicted"]["seconds_per_iteration"])
        self.assertEqual(slow["mode_order"], usual["mode_order"])
        self.assert_near(slow["fit_trajectory"], usual["fit_trajectory"], 1e-9)

    def test_single_precision_is_near(self) -> None:
        double, single = self.debian(), self.debian("--precision", "single")
        self.assertEqual(single["precision"], "single")
        self.assert_near(single["fit_trajectory"], double["fit_trajectory"], 1e-4)
        self.assertNotEqual(single["fit_trajectory"], double["fit_trajectory"])

    def test_mode_orders(self) -> None:
        self.assertEqual(self.debian("--mode-order", "natural")["mode_order"], [1, 2, 3, 4])
        self.assertEqual(self.debian("--mode-order", "4,2,1,3")["mode_order"], [4, 2, 1, 3])

    def test_the_best_of_several_starts(self) -> None:
        options = ("--starts", 3, "--seed", 4)
        result = self.debian(*options)
        self.assertEqual([start["seed"] for start in result["starts"]], [4, 5, 6])
        for start in result["starts"]:
            alone = self.debian("--seed", start["seed"])
            self.assertEqual((alone["fit"], alone["iterations"]), (start["fit"], start["iterations"]))
            self.assertNotIn("starts", alone)
        best = max(result["starts"], key=lambda start: start["fit"])
        self.assertEqual((result["fit"], result["seed"]), (best["fit"], best["seed"]))
        lowest = min(start["fit"] for start in result["starts"])
        self.assertIn(f"best of 3 starts, with seed {best['seed']}; fits from {lowest:.6f} to {best['fit']:.6f}\n",
                      self.succeed("cpd", DEBIAN, *QUICK, *options))

    def test_kinds_of_starts(self) -> None:
        fits = {init: self.debian("--init", init)["fit"] for init in ("auto", "uniform", "normal")}
        self.assertEqual(fits["auto"], fits["uniform"])
        self.assertNotEqual(fits["auto"], fits["normal"])

    def test_singular_vectors_as_start(self) -> None:
        alone = self.debian("--init", "svd")
        for options in (("--precision", "single"), ("--format", "coo"), ("--format", "hicoo"), ("-t", 3), ("--seed", 9)):
            self.assertAlmostEqual(self.debian("--init", "svd", *options)["fit"], alone["fit"], delta=1e-4, msg=options)
        for processes in (2, 3) if WITH_MPI else ():
            some = self.result("cpd", DEBIAN, *QUICK, "-q", "--init", "svd", processes=processes)
            self.assert_near(some["fit_trajectory"], alone["fit_trajectory"], 1e-9)
        starts = self.debian("--init", "svd", "--starts", 2, "--seed", 5)["starts"]
        self.assertAlmostEqual(starts[0]["fit"], alone["fit"], delta=1e-4)
        self.assertEqual(starts[1]["fit"], self.debian("--seed", 6)["fit"])
        for options in (("--nonneg",), ("--method", "opt")):
            self.assertGreater(self.debian("--init", "svd", *options)["fit"], 0.03, options)

    def test_singular_vectors_of_an_exact_model_are_a_good_start(self) -> None:
        """Of a tensor with orthogonal components the singular vectors are the components."""
        x = self.write("x.tns", "".join(f"{i} {i} {i} {9 - i}\n" for i in range(1, 6)))
        result = self.result("cpd", x, "-r", 5, "-i", 2, "--init", "svd", "-q")
        self.assertAlmostEqual(result["fit"], 1, delta=1e-6)
        zeros = self.write("zeros.tns", "1 1 1 0\n2 2 2 0\n")
        self.assertEqual(self.result("cpd", zeros, "-r", 2, "--init", "svd", "-q")["fit"], 1)

    def from_debian(self, components: int, *options: object, processes: int = 0) -> dict:
        return self.result("cpd", DEBIAN, "-r", components, "--tol", 0, "-q", *options, processes=processes)

    def test_a_model_is_continued(self) -> None:
        """Iterations of two runs are those of one."""
        model = self.folder / "model"
        whole = self.from_debian(3, "-i", 12)["fit_trajectory"]
        for options in ((), ("--precision", "single"), ("--format", "coo")):
            first = self.from_debian(3, "-i", 5, "--out", model, *options)["fit_trajectory"]
            for processes in (0, 3) if WITH_MPI else (0,):
                then = self.from_debian(3, "-i", 7, "--init", model, *options, processes=processes)["fit_trajectory"]
                self.assert_near(first + then, whole, 1e-5 if options else 1e-10)
        report = self.folder / "r.html"
        self.from_debian(3, "-i", 1, "--init", model, "--out", model, "--report", report)  # which replaces it
        self.assertIn(str(model), report.read_text())

    def test_every_form_of_a_model_is_continued(self) -> None:
        """Weights and columns of any length and sign, also where a component has vanished, by both methods."""
        x, model = self.small(), self.folder / "model"
        whole = self.result("cpd", x, "-r", 2, "-i", 500, "--tol", 1e-9, "-q", "--out", model)
        fit, weights = whole["fit"], whole["weights"]
        (model / "lambda.mat").write_text(f"{-weights[0] / 8}\n{weights[1] * 3}\n0\n")
        for mode in (1, 2, 3):
            path = model / f"mode{mode}.mat"
            rows = [[float(word) for word in line.split()] for line in path.read_text().splitlines()]
            path.write_text("".join(f"{-8 * a} {b / 3} 1\n" if mode == 1 else f"{a} {b} 1\n" for a, b in rows))
        for method in ("als", "opt"):
            again = self.result("cpd", x, "-r", 2, "-i", 1, "-q", "--init", model, "--method", method)
            self.assertGreater(again["fit"], fit - 1e-6, method)
            self.assert_near(again["weights"], weights, 1e-2)
            more = self.result("cpd", x, "-r", 3, "-i", 60, "--tol", 0, "-q", "--init", model, "--method", method)
            self.assertGreater(more["fit"], 0.999, method)

    def test_components_are_added_to_a_model(self) -> None:
        model = self.folder / "model"
        fit = self.from_debian(3, "-i", 30, "--out", model)["fit"]
        seeds = [self.from_debian(5, "-i", 20, "--init", model, "--seed", seed)["fit"] for seed in (1, 2)]
        self.assertGreater(min(seeds), fit)
        self.assertNotEqual(*seeds)
        best = self.from_debian(5, "-i", 20, "--init", model, "--starts", 2)
        self.assertEqual([start["fit"] for start in best["starts"]], seeds)

    def test_models_that_do_not_fit(self) -> None:
        model = self.folder / "model"
        self.from_debian(3, "-i", 1, "--out", model)
        self.assert_fails(f"--init {model}: the model has 3 components, more than --rank 2", 2, "cpd", DEBIAN, "-r", 2,
                          "--init", model)
        self.assert_fails(f"--starts 2: --init {model} leaves no component to random starts", 2, "cpd", DEBIAN, "-r", 3,
                          "--init", model, "--starts", 2)
        self.assert_fails(f"--init {model}: the model has the dims 368x13905x58x8, the tensor 2x3", 2, "cpd",
                          self.write("x.tns", "1 1 1\n2 3 1\n"), "-r", 3, "--init", model)
        first, then = self.write("a.csv", "a,b,v\nx,y,1\nu,v,2\n"), self.write("b.csv", "a,b,v\nx,y,1\nw,v,2\n")
        self.succeed("cpd", first, "--columns", "a,b,v", "-r", 1, "--out", self.folder / "named", "-q")
        self.assert_fails(f"--init {self.folder / 'named'}: index 1 of mode 1 is 'u' in the model and 'w' in the tensor", 2,
                          "cpd", then, "--columns", "a,b,v", "-r", 1, "--init", self.folder / "named")

    def test_the_tolerance_is_relative_to_the_fit(self) -> None:
        """A tensor that few components explain badly: scattered ones."""
        x = self.write("x.tns", "".join(f"{(7 * i) % 40 + 1} {(11 * i) % 37 + 1} {(13 * i) % 41 + 1} 1\n" for i in range(400)))
        for tolerance in (1e-2, 1e-3, 1e-4):
            fits = self.result("cpd", x, "-r", 2, "-i", 1000, "--tol", tolerance, "-q")["fit_trajectory"]
            changes = [abs(after - before) / after for before, after in zip(fits, fits[1:])]
            self.assertLess(fits[-1], 0.2)
            self.assertLess(changes[-1], tolerance)
            self.assertTrue(all(change >= tolerance for change in changes[:-1]))

    def test_it_stops_when_the_fit_does(self) -> None:
        result = self.result("cpd", self.small(), "-r", 2, "-i", 500, "--tol", 1e-8)
        self.assertEqual(result["stop"], "converged")
        self.assertLess(result["iterations"], 500)
        self.assertGreater(result["fit"], 1 - 1e-6)
        self.assert_near(result["weights"], [3 * 12**0.5, 8**0.5], 1e-4)

    def test_factors_without_negative_entries(self) -> None:
        folder = self.folder / "nonneg"
        result = self.result("cpd", DEBIAN, "-r", 4, "-i", 20, "--nonneg", "--out", folder)
        self.assertEqual(result["nonneg"], [1, 2, 3, 4])
        for mode in range(1, 5):
            numbers = (folder / f"mode{mode}.mat").read_text().split()
            self.assertFalse([x for x in numbers if x.startswith("-")])
        self.assertEqual(self.result("cpd", DEBIAN, "-r", 4, "-i", 2, "--nonneg=2,4")["nonneg"], [2, 4])
        self.assert_fails("--nonneg=1,9: expected modes from 1 to 4, as in --nonneg=1,3", 2,
                          "cpd", DEBIAN, "-r", 4, "--nonneg=1,9")
        self.succeed("cpd", "-r", 4, "-i", 1, "--nonneg", DEBIAN)

    def test_all_factors_at_once(self) -> None:
        result = self.result("cpd", self.small(), "-r", 2, "--method", "opt", "-i", 500, "--tol", 1e-10)
        self.assertEqual((result["method"], result["stop"]), ("opt", "converged"))
        self.assertGreater(result["fit"], 1 - 1e-5)
        self.assert_near(result["weights"], [3 * 12**0.5, 8**0.5], 1e-3)
        self.assertGreater(result["evaluations"], result["iterations"])
        self.assertEqual(self.debian()["method"], "als")
        self.assertNotIn("evaluations", self.debian())
        reference = self.debian("--method", "opt")
        for name in FORMATS[1:]:
            with self.subTest(name):
                result = self.debian("--method", "opt", "--format", name)
                self.assert_near(result["fit_trajectory"], reference["fit_trajectory"], 1e-9)
        self.assert_near(self.debian("--method", "opt", "--precision", "single")["fit_trajectory"],
                         reference["fit_trajectory"], 1e-3)
        zeros = self.result("cpd", self.write("zeros.tns", "1 1 1 0\n2 3 4 0\n"), "-r", 2, "--method", "opt")
        self.assertEqual((zeros["fit"], zeros["weights"]), (1, [0, 0]))
        none = self.result("cpd", self.small(), "-r", 2, "-i", 0, "--method", "opt")
        self.assertEqual((none["fit"], none["fit_trajectory"], none["weights"]), (0, [], [0, 0]))

    def test_what_all_factors_at_once_needs_is_predicted_and_told(self) -> None:
        page = self.folder / "x.html"
        words = run("cpd", DEBIAN, *QUICK, "--method", "opt", "--verbose", "--report", page)
        self.assertIn("after 5 iterations and ", words.stdout + words.stderr)
        served = re.findall(r"modes? ([\d, and]+) in one pass over tree|mode (\d)",
                            re.search(r"each evaluation: (.*)", words.stdout + words.stderr)[1])
        self.assertEqual(sorted(re.findall(r"\d", " ".join(map(" ".join, served)))), ["1", "2", "3", "4"])
        self.assertIn("all factors at once", page.read_text())
        runs = {method: self.result("cpd", DEBIAN, "-r", 64, "-i", 10, "--tol", 0, "-q", "--method", method)
                for method in ("als", "opt")}
        needs = {method: run["predicted"]["peak_memory_bytes"] for method, run in runs.items()}
        self.assertGreater(needs["opt"] - needs["als"], 17 * 14000 * 64 * 8)
        # The libraries of MPI take more on some machines than is predicted for the whole program.
        program = self.result("cpd", self.small(), "-r", 2)
        more = max(0, program["peak_memory_bytes"] - program["predicted"]["peak_memory_bytes"])
        self.assertLess(runs["opt"]["peak_memory_bytes"], 1.2 * needs["opt"] + more)
        self.assertGreater(runs["opt"]["peak_memory_bytes"], 0.5 * needs["opt"])
        self.assert_fails("--nonneg requires --method als", 2, "cpd", DEBIAN, "-r", 2, "--method", "opt", "--nonneg")
        self.assert_fails("--mode-order requires --method als: opt updates all modes at once", 2, "cpd", DEBIAN, "-r", 2,
                          "--method", "opt", "--mode-order", "natural")

    def test_degenerate_tensors(self) -> None:
        zeros = self.result("cpd", self.write("zeros.tns", "1 1 1 0\n2 3 4 0\n"), "-r", 2)
        self.assertEqual((zeros["fit"], zeros["weights"]), (1, [0, 0]))
        one = self.result("cpd", self.write("one.tns", "7 1 9 -2\n"), "-r", 3)
        self.assertAlmostEqual(one["fit"], 1)
        none = self.result("cpd", self.small(), "-r", 2, "-i", 0)
        self.assertEqual((none["fit"], none["fit_trajectory"], none["weights"]), (0, [], [0, 0]))
        large = self.write("large.tns", "2 3 1e200\n")
        for precision in ("double", "single"):
            result = self.result("cpd", large, "-r", 1, "--precision", precision)
            self.assertAlmostEqual(result["fit"], 1, places=3)
            self.assertAlmostEqual(result["weights"][0] / 1e200, 1, places=3)

    def test_duplicates_are_added_up_and_told(self) -> None:
        path = self.write("x.tns", "1 1 1\n1 1 2\n2 2 5\n")
        result = run("cpd", path, "-r", 2, "-q", "--json", "-")
        self.assertRegex(result.stderr, f"^polyad: warning: {path}: 1 duplicate .*\n$")
        told = json.loads(result.stdout)
        self.assertEqual((told["nnz"], told["duplicates"]), (2, 1))


class WordsTest(CpdTest):
    def test_words_on_standard_output(self) -> None:
        words = self.succeed("cpd", DEBIAN, *QUICK)
        for word in ("368x13905x58x8 tensor, 56,587 nonzeros, 4 components", "component 4: weight",
                     "Debian Python Team"):
            self.assertIn(word, words)
        self.assertNotIn("format", words)
        verbose = self.succeed("cpd", DEBIAN, *QUICK, "--verbose")
        self.assertRegex(verbose, r"\nformat \S+: \S+ ms per iteration and .* predicted, .*; others .*\neach iteration: modes? ")
        few = self.succeed("cpd", DEBIAN, *QUICK, "--top", 1)
        self.assertLess(len(few.splitlines()), len(words.splitlines()))

    def test_help_shows_an_example(self) -> None:
        self.assertIn("Example: polyad cpd", self.succeed("cpd", "--help"))

    def test_quiet_is_silent(self) -> None:
        result = run("cpd", DEBIAN, *QUICK, "-q")
        self.assertEqual((result.stdout, result.stderr, result.returncode), ("", "", 0))

    def test_json_has_standard_output_to_itself(self) -> None:
        result = run("cpd", DEBIAN, *QUICK, "--json", "-", "--report", self.folder / "page.html")
        self.assertEqual(json.loads(result.stdout)["rank"], 4)
        self.assertIn("component 1: weight", result.stderr)
        self.assertIn("wrote report to ", result.stderr)


class OutputTest(CpdTest):
    def test_a_directory(self) -> None:
        out = self.folder / "model"
        result = self.debian("--out", out)
        labels = {"mode-1-team.map", "mode-2-package.map", "mode-3-section.map", "mode-4-relation.map"}
        modes = {f"mode{m}.mat" for m in (1, 2, 3, 4)}
        self.assertEqual({path.name for path in out.iterdir()}, labels | modes | {"lambda.mat", "summary.json"})
        self.assertEqual(json.loads((out / "summary.json").read_text()), result)
        self.assertEqual([row[0] for row in numbers(out / "lambda.mat")], result["weights"])
        self.assertEqual(result["weights"], sorted(result["weights"], reverse=True))
        for m, length in enumerate(result["dims"], 1):
            columns = list(zip(*numbers(out / f"mode{m}.mat")))
            self.assertEqual((len(columns), len(columns[0])), (4, length))
            self.assertEqual(len((out / next(x for x in labels if f"-{m}-" in x)).read_text().splitlines()), length)
            for column in columns:
                self.assertAlmostEqual(sum(x * x for x in column), 1)
                if m > 1:  # the first mode takes the sign
                    self.assertGreater(max(column, key=abs), 0)

    def test_empty_slices_have_rows_of_zeros(self) -> None:
        self.succeed("cpd", self.small(), "-r", 2, "--dims", "6x6x4", "--out", self.folder / "model/")
        rows = numbers(self.folder / "model" / "mode1.mat")
        self.assertEqual((len(rows), rows[2], rows[5]), (6, [0, 0], [0, 0]))

    def test_files(self) -> None:
        self.debian("--out", self.folder / "x.ktensor")
        self.assertTrue((self.folder / "x.ktensor").read_text().startswith("ktensor"))
        self.assertTrue((self.folder / "x.mode-1-team.map").exists())
        self.debian("--out", self.folder / "x.npz")
        with zipfile.ZipFile(self.folder / "x.npz") as archive:
            self.assertIsNone(archive.testzip())
        for name, model in (("x.ktensor", "one"), ("x.npz", "other")):
            converted = self.result("convert", self.folder / name, self.folder / model, "-q")
            self.assertEqual((converted["format"], converted["dims"]), ("kruskal", [368, 13905, 58, 8]))
        self.assertEqual(*((self.folder / model / "mode2.mat").read_text() for model in ("one", "other")))

    def test_a_page(self) -> None:
        self.debian("--report", self.folder / "page.html")
        page = (self.folder / "page.html").read_text()
        for word in ("<!DOCTYPE html>", "debian.tns.gz", "Debian Python Team"):
            self.assertIn(word, page)

    def test_an_earlier_result_is_replaced(self) -> None:
        out = self.folder / "model"
        self.debian("--out", out)
        self.debian("--out", out, "--seed", 2)
        self.assertEqual(len(list(out.iterdir())), 10)
        self.assertEqual(json.loads((out / "summary.json").read_text())["seed"], 2)


class RefusalTest(CpdTest):
    def assert_refused(self, sentence: str, code: int, *options: object) -> None:
        """Fails with the sentence and leaves nothing new."""
        path = self.small()
        before = sorted(self.folder.rglob("*"))
        self.assert_fails(sentence, code, "cpd", path, *options)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_memory(self) -> None:
        result = run("cpd", DEBIAN, *QUICK, "--memory", "1MB", "--out", self.folder / "model")
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        sentence, header, *table = result.stderr.splitlines()
        self.assertEqual(sentence, "polyad: the decomposition does not fit into 1 MB in format auto; predicted are")
        self.assertEqual(header.split(), ["format", "per", "iteration", "tensor", "peak"])
        self.assertEqual([line.split()[0] for line in table], list(FORMATS[1:]))
        self.assertEqual(list(self.folder.iterdir()), [])
        result = run("cpd", DEBIAN, "-r", 100_000, "-t", 200)  # Gram matrices of 32 TB
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertRegex(result.stderr.splitlines()[0],
                         r"^polyad: the decomposition does not fit into \S+ \S+, the memory of this machine for each of its "
                         r"processes, in format auto; predicted are$")
        fits = self.debian("--memory", "1GB")
        self.assertLess(fits["predicted"]["peak_memory_bytes"], 1e9)

    def test_memory_decides_the_format(self) -> None:
        least = {name: self.debian("--format", name)["predicted"]["peak_memory_bytes"] for name in ("csf", "csf-all")}
        self.assertLess(least["csf"], least["csf-all"])
        between = (least["csf"] + least["csf-all"]) // 2
        result = run("cpd", DEBIAN, *QUICK, "--format", "csf-all", "--memory", between)
        self.assertEqual(result.returncode, 3)
        self.assertIn("in format csf-all", result.stderr)
        self.debian("--format", "csf", "--memory", between)

    def test_nonsense(self) -> None:
        for text in ("much", "0", "-1GB", "0.5", "5QB", "nan", "1e30"):
            self.assert_refused(f"--memory {text}: expected an amount of memory, as in 800MB or 2.5GB", 2, "-r", 2,
                                f"--memory={text}")
        self.assert_refused("--memory '': expected an amount of memory, as in 800MB or 2.5GB", 2, "-r", 2, "--memory", "")
        for text in ("backwards", "1,2", "1,2,2", "0,1,2", "1,2,4", "1,2,3,", "1a,2,3", "+1,2,3", "1 2 3"):
            self.assert_refused(f"--mode-order {text}: expected auto, natural or each of 1 to 3 once, as in 2,1,3", 2,
                                "-r", 2, "--mode-order", text)
        self.assert_refused("--format: alto not in {auto,csf,csf-one,csf-two,csf-all,coo,hicoo}; see polyad cpd --help", 2,
                            "-r", 2, "--format", "alto")
        self.assert_refused("--precision: half not in {double,single}; see polyad cpd --help", 2, "-r", 2, "--precision", "half")
        self.assert_refused("--init unifrom: expected auto, uniform, normal, svd, or a model", 2, "-r", 2, "--init", "unifrom")
        self.assert_refused("--starts: Value 0 not in range 1 to 1000; see polyad cpd --help", 2, "-r", 2, "--starts", 0)
        self.assert_refused("--rank is required; see polyad cpd --help", 2)
        self.assert_refused("--rank: Value 0 not in range 1 to 100000; see polyad cpd --help", 2, "-r", 0)
        for option, words in (("-i", "--iters: Value -1 not in range 0 to 2147483647"),
                              ("--tol", "--tol: Value -1 not in range 0 to 1"), ("--top", "--top: Value -1 not in range 1 to 1000")):
            self.assert_refused(f"{words}; see polyad cpd --help", 2, "-r", 2, option, -1)

    def test_what_a_gpu_does_not_do_is_refused_by_name(self) -> None:
        for message, options in (
                ("--device gpu requires --method als", ("--method", "opt")),
                ("--device gpu requires factors that may be negative with --missing, without --nonneg", ("--missing", "--nonneg")),
                ("--device gpu requires factors that may be negative with --implicit, without --nonneg", ("--implicit", "--nonneg")),
                ("--device gpu requires --rank at most 127", ("--missing", "-r", 128)),
                ("--device gpu requires --format auto or csf-all", ("--format", "coo"))):
            self.assert_fails(message, 2, "cpd", DEBIAN, *(() if "-r" in options else ("-r", 2)), "--device", "gpu", *options)
        self.assert_fails("--device gpu:0 requires --rank at most 512", 2, "cpd", DEBIAN, "-r", 513, "--device", "gpu:0")
        self.assert_fails("--device gpu:x: expected auto, cpu, gpu or a GPU by its number, as in gpu:0", 2, "cpd", DEBIAN, "-r", 2,
                          "--device", "gpu:x")

    def test_a_gpu_where_there_is_none(self) -> None:
        if self.result("doctor")["gpus"]:
            self.skipTest("this machine has a GPU")
        result = run("cpd", DEBIAN, "-r", 2, "--device", "gpu")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^polyad: --device gpu: (this program was built without CUDA|no GPU was found)")
        for device in ("cpu", "auto"):
            self.assertEqual(self.debian("--device", device)["device"], "cpu")

    def test_no_tensor(self) -> None:
        path = self.folder / "absent.tns"
        self.assert_fails(f"{path}: cannot be opened for reading: No such file or directory", 2, "cpd", path, "-r", 2)

    def test_places_that_cannot_be_written_are_told_before_anything_is(self) -> None:
        out = ("-r", 2, "-q", "--out", self.folder / "model")
        absent, why = self.folder / "absent", "cannot be written: No such file or directory"
        for name in ("model", "x.ktensor", "x.npz"):
            self.assert_refused(f"{absent / name}: {why}", 2, "-r", 2, "--out", absent / name)
        self.assert_refused(f"{absent / 'page.html'}: {why}", 2, *out, "--report", absent / "page.html")
        self.assert_refused(f"{absent / 'x.json'}: {why}", 2, *out, "--json", absent / "x.json")
        self.assert_refused(f"{self.folder}: cannot be written: Is a directory", 2, *out, "--report", self.folder)
        self.write("taken", "")
        self.assert_refused(f"{self.folder / 'taken'}: cannot be written: Not a directory", 2, "-r", 2, "--out",
                            self.folder / "taken")
        self.assert_refused(f"--out {self.folder / 'x.txt'}: expected a directory, or a file that ends in .ktensor or .npz",
                            2, "-r", 2, "--out", self.folder / "x.txt")

    def test_no_output_takes_the_place_of_an_input_or_another(self) -> None:
        parts, page, out = self.write("parts", ""), self.folder / "x.html", self.folder / "model"
        out.mkdir()
        self.assert_refused(f"--json {parts} would overwrite the file that --partition names", 2, "-r", 2,
                            "--distribution", "fine", "--partition", parts, "--json", parts)
        self.assert_refused(f"--report and --json would both write {page}", 2, "-r", 2, "--report", page, "--json", page)
        self.assert_refused(f"--json {out / 'summary.json'} would overwrite a part of what --out writes", 2, "-r", 2,
                            "--out", out, "--json", out / "summary.json")

    def test_other_labels_are_not_overwritten(self) -> None:
        out = self.folder / "model"
        out.mkdir()
        (out / "mode-1-who.map").write_text("ann\n")
        self.assert_fails(f"{out / 'mode-1-who.map'}: holds other labels already; write the model to another folder", 2,
                          "cpd", DEBIAN, *QUICK, "--out", out)
        self.assertEqual([path.name for path in out.iterdir()], ["mode-1-who.map"])

    def test_a_full_disk(self) -> None:
        for option in ("--report", "--json"):
            self.assert_refused("/dev/full: cannot be written: No space left on device", 3, "-r", 2, "-q", option, "/dev/full")


if __name__ == "__main__":
    unittest.main()
