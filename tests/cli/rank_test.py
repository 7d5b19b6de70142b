"""What `polyad rank` promises: its table, its recommendation, and what it refuses."""

import json
import pathlib
import unittest

from program import NO_SHARED_DATA, SHARED_DATA, SOURCE, WITH_MPI, ProgramTest, run

DEBIAN = SOURCE / "data" / "debian.tns.gz"

# The keys are an interface; docs/json.md says what they mean.
KEYS = {"recommended", "reason", "counts", "starts", "held_out", "seed", "max_iterations", "tolerance", "nonneg", "dims",
        "nnz", "duplicates", "precision", "processes", "threads", "seconds", "peak_memory_bytes"}
INNER_KEYS = {
    "held_out": {"fraction", "nonzeros", "zeros"},
    "seconds": {"load", "compress", "fit", "predict", "core", "compare"},
}
COUNT_KEYS = {"components", "fit", "mean_fit", "fits", "held_out_error", "held_out_errors", "known_fits",
              "core_consistency", "stability", "iterations", "format"}


class RankTest(ProgramTest):
    def planted(self, components: int = 3, noise: float = 0.05, name: str = "planted.tns") -> pathlib.Path:
        path = self.folder / name
        self.succeed("generate", "planted", path, "--dims", "40x30x20", "--nnz", 4000, "-r", components, "--noise", noise)
        return path

    def rank(self, path: pathlib.Path, *options: object) -> dict:
        return self.result("rank", path, "-q", "-t", 1, *options)


class ResultTest(RankTest):
    def test_every_key_is_there(self) -> None:
        result = self.rank(self.planted(), "--components", "1-4")
        self.assertEqual(set(result), KEYS)
        for key, inner in INNER_KEYS.items():
            self.assertEqual(set(result[key]), inner, key)
        for count in result["counts"]:
            self.assertEqual(set(count), COUNT_KEYS)
            for key in ("fits", "held_out_errors", "known_fits", "iterations"):
                self.assertEqual(len(count[key]), 3, key)
            self.assertEqual(count["fit"], max(count["fits"]))
            self.assertIn(count["held_out_error"], count["held_out_errors"])
        self.assertEqual([count["components"] for count in result["counts"]], [1, 2, 3, 4])
        self.assertEqual((result["starts"], result["seed"], result["dims"]), (3, 1, [40, 30, 20]))
        held = result["held_out"]
        self.assertEqual((held["fraction"], held["nonzeros"]), (0.05, round(0.05 * result["nnz"])))
        self.assertEqual(held["zeros"], held["nonzeros"])

    def test_it_recommends_what_was_planted(self) -> None:
        for components in (2, 3, 4):
            result = self.rank(self.planted(components))
            self.assertEqual(result["recommended"], components, result["reason"])
            self.assertIn("held-out error", result["reason"])
            self.assertEqual(len(result["counts"]), 8)

    @unittest.skipUnless((SHARED_DATA / "dense").exists(), NO_SHARED_DATA)
    def test_it_finds_three_amino_acids(self) -> None:
        result = self.rank(SHARED_DATA / "dense" / "aminoacid.sptensor.txt.gz", "--components", "1-4")
        self.assertEqual(result["recommended"], 3)
        self.assertEqual(result["held_out"]["zeros"], 0)

    def test_a_run_repeated_has_the_same_result(self) -> None:
        path = self.planted()
        for options in ([], ["-t", 3], ["--precision", "single"], ["--format", "coo"]):
            one, other = (self.result("rank", path, "-q", "--components", "2,4", *options) for _ in range(2))
            self.assertEqual(one["counts"], other["counts"], options)
            self.assertEqual(one["reason"], other["reason"], options)
        self.assertNotEqual(self.rank(path, "--seed", 9)["counts"], self.rank(path)["counts"])

    def test_a_start_is_that_of_cpd_with_its_seed(self) -> None:
        path = self.planted()
        count = self.rank(path, "--components", 4, "--seed", 7)["counts"][0]
        for start in range(3):
            alone = self.result("cpd", path, "-q", "-t", 1, "-r", 4, "-i", 200, "--tol", 1e-6, "--seed", 7 + start)
            self.assertEqual(count["fits"][start], alone["fit"])

    def test_the_first_start_may_be_of_singular_vectors(self) -> None:
        path = self.planted()
        result = self.rank(path, "--components", 4, "--init", "svd")["counts"][0]
        alone = self.result("cpd", path, "-q", "-t", 1, "-r", 4, "-i", 200, "--tol", 1e-6, "--init", "svd")
        self.assertEqual(result["fits"][0], alone["fit"])
        usual = self.rank(path, "--components", 4)["counts"][0]
        self.assertEqual(result["fits"][1:], usual["fits"][1:])
        self.assertNotEqual(result["held_out_errors"][0], usual["held_out_errors"][0])

    def test_formats_say_the_same(self) -> None:
        path = self.planted()
        first = self.rank(path, "--components", "2,3")
        self.assertIn(first["counts"][0]["format"], ("csf", "csf-one", "csf-two", "csf-all", "coo", "hicoo"))
        for name in ("csf-all", "coo", "hicoo"):
            other = self.rank(path, "--components", "2,3", "--format", name)
            self.assertEqual([count["format"] for count in other["counts"]], [name, name])
            for a, b in zip(first["counts"], other["counts"]):
                self.assertAlmostEqual(a["fit"], b["fit"], 6)
                self.assertAlmostEqual(a["held_out_error"], b["held_out_error"], 3)

    def test_numbers_of_components(self) -> None:
        path = self.planted()
        for text, counts in (("3", [3]), ("4,1", [1, 4]), ("1-2,2-3,6", [1, 2, 3, 6])):
            result = self.rank(path, "--components", text, "--starts", 1, "-i", 3)
            self.assertEqual([count["components"] for count in result["counts"]], counts)
        short = self.write("short.tns", "1 1 1 1\n2 1 1 2\n2 1 2 1\n")
        self.assertEqual(len(self.rank(short)["counts"]), 2)

    def test_what_is_absent_is_null(self) -> None:
        result = self.rank(self.planted(), "--components", "2-3", "--holdout", 0, "--starts", 1)
        for count in result["counts"]:
            self.assertIsNone(count["held_out_error"])
            self.assertIsNone(count["stability"])
        self.assertEqual(result["held_out"], {"fraction": 0, "nonzeros": 0, "zeros": 0})
        self.assertEqual(result["recommended"], 3)
        deep = self.write("deep.tns", "".join(f"{i % 3 + 1} " + "1 2 1 2 1 2 1 2 1 2 1 2 1 2 " + f"{i}\n" for i in (1, 2, 3)))
        self.assertIsNone(self.rank(deep, "--components", 4, "-i", 2)["counts"][0]["core_consistency"])

    def test_without_negative_entries(self) -> None:
        result = self.rank(self.planted(), "--components", "1-4", "--nonneg=1,3")
        self.assertEqual((result["nonneg"], result["recommended"]), ([1, 3], 3))

    def test_degenerate_tensors(self) -> None:
        flat = self.rank(self.write("flat.tns", "1 1 0\n2 3 0\n"))
        self.assertIsNone(flat["recommended"])
        self.assertIn("all cells that were held out are zero", flat["reason"])
        self.assertGreater(flat["held_out"]["nonzeros"], 0)
        zeros = self.rank(self.write("zeros.tns", "1 1 1 0\n2 3 4 0\n"))
        self.assertEqual([count["fit"] for count in zeros["counts"]], [1] * len(zeros["counts"]))
        one = self.rank(self.write("one.tns", "7 1 9 -2\n"))
        self.assertEqual(one["nnz"], 1)
        matrix = self.rank(self.write("matrix.tns", "\n".join(f"{i} {j} {i * j}" for i in range(1, 9) for j in range(1, 9))))
        self.assertEqual(matrix["recommended"], 1)
        large = self.rank(self.write("large.tns", "1 1 1 1e200\n1 2 1 3e200\n2 1 2 1e200\n"), "--components", "1-2")
        self.assertTrue(all(0 <= count["fit"] <= 1 for count in large["counts"]))


class WordsTest(RankTest):
    def test_a_table_and_a_sentence(self) -> None:
        words = self.succeed("rank", self.planted(), "--components", "1-4", "-t", 1).splitlines()
        self.assertEqual(words[0].split("  ")[0], "components")
        self.assertEqual([line.split()[0] for line in words[1:5]], ["1", "2", "3", "4"])
        self.assertTrue(all(len(line) == len(words[0]) for line in words[1:5]))
        self.assertRegex(words[6], "^recommended: 3 components: held-out error .*stability .*core consistency is high")
        self.assertRegex(words[8], "^40x30x20 tensor, 3,778 nonzeros, 3 starts each, double precision, 1 thread; held out ")
        dashes = self.succeed("rank", self.planted(), "--components", 2, "--holdout", 0, "--starts", 1, "-t", 1)
        self.assertEqual((dashes.splitlines()[1].split()[3], dashes.splitlines()[1].split()[5]), ("-", "-"))

    def test_help_shows_an_example(self) -> None:
        self.assertIn("Example: polyad rank", self.succeed("rank", "--help"))

    def test_quiet_is_silent(self) -> None:
        result = run("rank", self.planted(), "--components", "1-2", "-q")
        self.assertEqual((result.stdout, result.stderr, result.returncode), ("", "", 0))

    def test_json_has_standard_output_to_itself(self) -> None:
        result = run("rank", self.planted(), "--components", "1-2", "--json", "-")
        self.assertEqual(len(json.loads(result.stdout)["counts"]), 2)
        self.assertIn("recommended: ", result.stderr)

    def test_duplicates_are_told(self) -> None:
        path = self.write("x.tns", "1 1 1\n1 1 2\n2 2 5\n")
        result = run("rank", path, "-q", "--json", "-")
        self.assertRegex(result.stderr, f"^polyad: warning: {path}: 1 duplicate .*\n$")
        self.assertEqual(json.loads(result.stdout)["duplicates"], 1)


class RefusalTest(RankTest):
    def test_nonsense(self) -> None:
        path = self.planted()
        for text in ("0", "2-1", "1,,2", "a", "1-", "-3", "1.5", "100001", "1-1002", "1,"):
            self.assert_fails(f"--components {text}: expected numbers from 1 to 100000, at most 1000 of them, as in "
                              "1-8 or 1,2,4", 2, "rank", path, f"--components={text}")
        self.assert_fails("--memory much: expected an amount of memory, as in 800MB or 2.5GB", 2, "rank", path,
                          "--memory", "much")
        self.assert_fails("--memory '': expected an amount of memory, as in 800MB or 2.5GB", 2, "rank", path, "--memory", "")
        self.assert_fails("--nonneg=4: expected modes from 1 to 3, as in --nonneg=1,3", 2, "rank", path, "--nonneg=4")
        for option, value in (("--starts", 0), ("--holdout", 0.6), ("--holdout", -1), ("--iters", 0), ("--tol", -1)):
            result = run("rank", path, option, value)
            self.assertRegex(result.stderr, rf"^polyad: {option}: Value \S+ not in range .*; see polyad rank --help$")
            self.assertEqual(result.returncode, 2)

    def test_memory(self) -> None:
        result = run("rank", DEBIAN, "--components", "2", "--memory", "1MB", "-q")
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertIn("does not fit into 1 MB", result.stderr)

    def test_no_tensor(self) -> None:
        path = self.folder / "absent.tns"
        self.assert_fails(f"{path}: cannot be opened for reading: No such file or directory", 2, "rank", path)

    def test_places_are_checked_before_the_work(self) -> None:
        path = self.planted()
        absent = self.folder / "absent" / "x.json"
        self.assert_fails(f"{absent}: cannot be written: No such file or directory", 2, "rank", path, "--json", absent)

    def test_the_json_takes_the_place_of_no_input(self) -> None:
        path, names = self.planted(), self.write("names", "a\n")
        beside = self.write("mode-2.map", "b\n")
        self.assert_fails(f"--json {path} would overwrite the input", 2, "rank", path, "--json", path)
        self.assert_fails(f"--json {names} would overwrite the file that --labels names", 2, "rank", path, "--labels",
                          f"1={names}", "--json", names)
        self.assert_fails(f"--json {beside} would overwrite labels that lie beside the input", 2, "rank", path, "--json",
                          beside)
        self.assertEqual((names.read_text(), beside.read_text()), ("a\n", "b\n"))

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_several_processes_agree_with_one(self) -> None:
        for name, options in (("of-three.tns", ()), ("nonneg.tns", ("--nonneg", "--holdout", 0, "--starts", 2)),
                              ("single.tns", ("--precision", "single", "--starts", 4))):
            path = self.planted(name=name)
            one, three = (self.result("rank", path, "-q", "-t", 1, "--components", "1-4", *options, processes=processes)
                          for processes in (1, 3))
            self.assertEqual((one["processes"], three["processes"]), (1, 3))
            self.assertEqual((one["recommended"], one["reason"]), (three["recommended"], three["reason"]))
            for alone, shared in zip(one["counts"], three["counts"], strict=True):
                self.assert_near(alone, shared, 1e-12 if "single" not in name else 1e-5)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_several_processes_print_one_table(self) -> None:
        path = self.planted()
        one, two = (run("rank", path, "--components", "1-3", "-t", 1, processes=processes).stdout for processes in (1, 2))
        self.assertEqual(one.split("recommended:")[0], two.split("recommended:")[0])

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_several_processes_refuse_alike(self) -> None:
        result = run("rank", self.planted(), "--components", "0", processes=2)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("polyad: --components 0"), 1, result.stderr)

    def assert_near(self, one: object, other: object, tolerance: float) -> None:
        if isinstance(one, dict):
            self.assertEqual(set(one), set(other))
            for key in one:
                self.assert_near(one[key], other[key], tolerance)
        elif isinstance(one, list):
            for a, b in zip(one, other, strict=True):
                self.assert_near(a, b, tolerance)
        elif isinstance(one, float):
            self.assertLessEqual(abs(one - other), tolerance * max(1, abs(one)))
        else:
            self.assertEqual(one, other)


if __name__ == "__main__":
    unittest.main()
