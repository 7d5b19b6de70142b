"""What the commands do for a user who has sound files."""

import gzip
import json
import os
import unittest

from program import NO_SHARED_DATA, SHARED_DATA, SOURCE, TEST_DATA, WITH_MPI, ProgramTest, run


def nonzeros(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


class StatsTest(ProgramTest):
    def test_the_bundled_tensor(self) -> None:
        stats = self.result("stats", SOURCE / "data" / "debian.tns.gz")
        self.assertEqual(stats["order"], 4)
        self.assertEqual(stats["duplicates"], 0)
        self.assertEqual([mode["name"] for mode in stats["modes"]], ["team", "package", "section", "relation"])
        for mode, length in zip(stats["modes"], stats["dims"]):
            self.assertEqual((mode["length"], mode["labelled"]), (length, True))
            self.assertEqual(mode["nonempty"], length)

    def test_uber(self) -> None:
        path = SHARED_DATA / "tensors" / "uber-2014-apr.tns.gz"
        if not path.exists():
            self.skipTest(NO_SHARED_DATA)
        stats = self.result("stats", path)
        self.assertEqual((stats["dims"], stats["nnz"]), ([30, 24, 659, 1086], 416744))

    def test_words_and_json(self) -> None:
        path = self.write("x.tns", "1 1 1\n2 3 4\n2 3 5\n")
        words = run("stats", path)
        self.assertIn("2x3 tensor of order 2, 2 nonzeros", words.stdout)
        both = run("stats", path, "--json", self.folder / "x.json")
        self.assertIn("2x3 tensor", both.stdout)
        stats = json.loads((self.folder / "x.json").read_text())
        self.assertEqual((stats["nnz"], stats["duplicates"]), (2, 1))
        self.assertEqual(stats["modes"][1], {"name": "", "labelled": False, "length": 3, "nonempty": 2, "max": 1,
                                             "mean": 1.0, "histogram": [2]})
        quiet = run("stats", path, "-q")
        self.assertEqual(quiet.stdout, "")

    def test_options_of_the_reader(self) -> None:
        path = self.write("x.tns", "1 1 1\n2 3 4\n")
        self.assertEqual(self.result("stats", path, "--dims", "5x6")["dims"], [5, 6])
        self.assertEqual(self.result("stats", path, "--index-base", 0)["dims"], [3, 4])
        self.assertEqual(self.result("stats", path, "-t", 3)["threads"], 3)
        names = self.write("names.txt", "a\nb\n")
        self.assertTrue(self.result("stats", path, "--labels", f"1={names}")["modes"][0]["labelled"])
        csv = self.write("x.csv", "user,item,when\nann,tea,1396310400\nbob,tea,1396396800\n")
        stats = self.result("stats", csv, "--columns", "user,item,when:day", "--value", 1)
        self.assertEqual(stats["dims"], [2, 1, 2])
        self.assertEqual([mode["name"] for mode in stats["modes"]], ["user", "item", "when"])


class FormatsTest(ProgramTest):
    NAMES = ["csf", "csf-one", "csf-two", "csf-all", "coo", "hicoo"]

    def test_what_is_suggested_is_what_cpd_does(self) -> None:
        path = SOURCE / "data" / "debian.tns.gz"
        for components in (1, 8, 37):
            stats = self.result("stats", path, "--formats", "-r", components, "-t", 2, "-q")
            self.assertEqual((stats["components"], stats["nnz"]), (components, 56587))
            self.assertEqual([option["format"] for option in stats["formats"]], self.NAMES)
            self.assertLessEqual({"load", "formats", "count"}, set(stats["seconds"]))
            cpd = self.result("cpd", path, "-r", components, "-i", 0, "-t", 2, "-q")
            self.assertEqual(stats["suggested"], cpd["format"])
            option = stats["formats"][self.NAMES.index(cpd["format"])]
            self.assertGreater(option.pop("build_seconds"), 0)
            # The prediction of a run counts what it has measured of its own reading.
            self.assertAlmostEqual(option.pop("peak_memory_bytes"), cpd["predicted"]["peak_memory_bytes"], delta=4e6)
            self.assertEqual(option, {"format": cpd["format"], **{
                key: cpd["predicted"][key] for key in ("seconds_per_iteration", "format_bytes")}})

    def test_the_table_says_why(self) -> None:
        words = self.succeed("stats", SOURCE / "data" / "debian.tns.gz", "--formats")
        for name in self.NAMES:
            self.assertRegex(words, rf"\n  {name} +[0-9.e-]+ ms +[0-9.]+ .?B")
        self.assertRegex(words, r"suggested for cpd -r 16: \S+, the smallest time to build \([0-9.e-]+ s\) and for 20 iterations"
                                r"(; \S+ needs the least memory|, and none needs less memory)")

    def test_only_when_asked(self) -> None:
        path = self.write("x.tns", "1 1 2\n2 3 -1\n")
        self.assertLessEqual({"formats", "suggested", "components"} & set(self.result("stats", path)), set())
        self.assertNotIn("suggested", self.succeed("stats", path))
        result = run("stats", path, "-r", 3)
        self.assertEqual((result.returncode, result.stderr), (2, "polyad: --rank requires --formats; see polyad stats --help\n"))
        if WITH_MPI:
            result = run("stats", path, "--formats", processes=2)
            self.assertEqual(result.returncode, 2)
            self.assertIn("polyad: polyad stats --formats runs on one process; 2 were started", result.stderr)

    def test_odd_tensors_have_formats_too(self) -> None:
        empty = self.write("empty.tns", "# dims: 3 4 5\n# nnz: 0\n")
        one = self.write("one.tns", "1000000 1 1 1 7\n")
        twice = self.write("twice.tns", "1 1 2\n1 1 3\n2 2 -5\n")
        for path in (empty, one, twice):
            stats = self.result("stats", path, "--formats", "-q")
            self.assertIn(stats["suggested"], self.NAMES)
            self.assertTrue(all(0 <= option["seconds_per_iteration"] < 1 for option in stats["formats"]), stats)


class CheckTest(ProgramTest):
    def test_a_sound_file(self) -> None:
        path = self.write("x.tns", "1 1 1\n2 3 4\n")
        self.assertIn("no faults; 2x3 tns with 2 nonzeros", self.succeed("check", path))

    def test_every_fault_is_reported_and_fixed(self) -> None:
        path = self.write("x.tns", "2 2 5\n1 x 1\n1 1 1\n2 2 nan\n1 1 2\n1 2\n")
        result = run("check", path)
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"{path}:2: index 'x' of mode 2 is not a whole number\n{path}:4: value 'nan' is not finite\n"
                      f"{path}:6: expected 3 fields as on line 1, found 2\n", result.stdout)
        self.assertIn(f"polyad: {path}: 3 faults; check --fix OUT writes a file without them", result.stderr)
        fixed = self.folder / "fixed.tns"
        report = self.result("check", path, "--fix", fixed)
        self.assertEqual((report["faults"], report["duplicates"], report["nnz"]), (3, 1, 2))
        self.assertEqual([problem["line"] for problem in report["problems"]], [2, 4, 6])
        self.assertEqual(nonzeros(fixed.read_text()), ["1 1 3", "2 2 5"])
        self.assertEqual(self.result("check", fixed)["faults"], 0)

    def test_faults_that_are_not_shown_are_counted(self) -> None:
        path = self.write("x.tns", "1 1 1\n" + "1 x 1\n" * 1300)
        result = run("check", path, "--max-shown", 2)
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"{path}:3: index 'x' of mode 2 is not a whole number\n... and 1,298 more (--max-shown shows more)\n",
                      result.stdout)

    def test_labels_are_kept(self) -> None:
        csv = self.write("x.csv", "who,what,n\nbob,tea,2\nann,coffee,x\nann,tea,1\n")
        out = self.folder / "out"
        out.mkdir()
        self.succeed("check", csv, "--columns", "who,what,n", "--fix", out / "x.tns")
        self.assertEqual((out / "x.mode-1-who.map").read_text(), "ann\nbob\n")

    def test_sums_beyond_double_precision_are_refused(self) -> None:
        path, fixed = self.write("x.tns", "1 1 1e308\n1 1 1e308\n2 2 1e200\n"), self.folder / "fixed.tns"
        sentence = "duplicate coordinates add up to more than double precision holds"
        self.assert_fails(f"{path}: {sentence}", 2, "check", path, "--fix", fixed)
        self.assertFalse(fixed.exists())
        self.assert_fails(sentence, 2, "stats", path)
        large = self.write("large.tns", "1 1 3e200\n2 2 4e200\n")
        self.assertAlmostEqual(self.result("stats", large)["values"]["norm"] / 5e200, 1)

    def test_the_bad_files_with_faulty_lines(self) -> None:
        for name in ("ragged_line", "letter_in_index", "negative_index", "value_nan", "value_missing",
                     "text_after_value"):
            with self.subTest(name):
                report = self.result("check", TEST_DATA / "bad" / f"{name}.tns", "--fix", self.folder / f"{name}.tns")
                self.assertEqual((report["faults"], report["nnz"]), (1, 1))


class ConvertTest(ProgramTest):
    def test_through_every_format_and_back(self) -> None:
        self.succeed("generate", "zipf", self.folder / "x.tns", "--dims", "40x300x7", "--nnz", 2000)
        original = (self.folder / "x.tns").read_text()
        path = self.folder / "x.tns"
        for name in ("y.ptb", "y.bin", "y.sptn", "y.sptensor", "y.csv", "y.tns.gz"):
            self.succeed("convert", path, self.folder / name)
            path = self.folder / name
        for format_name in ("hiparti", "frostt"):
            self.succeed("convert", path, self.folder / format_name, "--output-format", format_name)
            path = self.folder / format_name
        self.succeed("convert", path, self.folder / "small.ptb", "--compress")
        self.succeed("convert", self.folder / "small.ptb", self.folder / "z.tns")
        self.assertEqual((self.folder / "z.tns").read_text(), original)

    def test_matrices(self) -> None:
        path = self.write("x.tns", "1 1 0.1\n3 2 -5e-300\n")
        self.succeed("convert", path, self.folder / "x.mtx")
        self.succeed("convert", self.folder / "x.mtx", self.folder / "x.libmf", "--output-format", "libmf")
        self.assertEqual((self.folder / "x.libmf").read_text(), "0 0 0.1\n2 1 -5e-300\n")
        self.succeed("convert", self.folder / "x.libmf", self.folder / "y.tns", "--input-format", "libmf")
        self.assertEqual(nonzeros((self.folder / "y.tns").read_text()), ["1 1 0.1", "3 2 -5e-300"])

    def test_labels_go_along(self) -> None:
        csv = self.write("x.csv", "who,what,n\nbob,tea,2\nann,coffee,3\n")
        out = self.folder / "out"
        out.mkdir()
        self.succeed("convert", csv, out / "x.tns", "--columns", "who,what,n")
        self.assertEqual((out / "x.mode-1-who.map").read_text(), "ann\nbob\n")
        self.assertEqual(nonzeros((out / "x.tns").read_text()), ["2 2 2", "1 1 3"])
        self.succeed("convert", out / "x.tns", self.folder / "y.ptb")
        self.succeed("convert", self.folder / "y.ptb", self.folder / "y.csv")
        self.assertEqual((self.folder / "y.csv").read_text(), "who,what,value\nbob,tea,2\nann,coffee,3\n")

    def test_a_refused_output_leaves_nothing(self) -> None:
        csv = self.write("x.csv", "a,b,c,n\nx,y,z,2\n")
        out = self.folder / "out"
        out.mkdir()
        for name, sentence in (("x.mtx", "mtx holds tensors of order 2, this one has order 3"),
                               ("x.bin.gz", "splatt is not written through gzip")):
            self.assert_fails(f"{out / name}: {sentence}", 2, "convert", csv, out / name, "--columns", "a,b,c,n")
        (out / "x.mode-1-other.map").write_text("q\n")
        self.assert_fails(f"{out}/x.mode-1-other.map: holds other labels already; write the tensor under another name", 2,
                          "convert", csv, out / "x.tns", "--columns", "a,b,c,n")
        self.assertEqual([path.name for path in out.iterdir()], ["x.mode-1-other.map"])

    def test_more_labels_than_indices_survive(self) -> None:
        path = self.write("x.tns", "1 1 1\n")
        self.write("x.mode-1-who.map", "ann\nbob\n")
        self.succeed("convert", path, self.folder / "x.ptb")
        self.assertEqual(self.result("stats", self.folder / "x.ptb")["modes"][0]["name"], "who")

    def test_kruskal_tensors(self) -> None:
        self.succeed("generate", "planted", self.folder / "x.tns", "--dims", "9x8x7", "--nnz", 100, "-r", 2)
        truth = self.folder / "x-truth.ktensor"
        original = truth.read_text()
        self.assert_fails(f"{truth}: holds a Kruskal tensor: only its path and the output are to be given", 2,
                          "convert", truth, self.folder / "m.npz", "--dims", "9x9")
        self.succeed("convert", truth, self.folder / "model")
        self.assertTrue((self.folder / "model" / "lambda.mat").exists())
        self.succeed("convert", self.folder / "model", self.folder / "y.npz")
        self.succeed("convert", self.folder / "y.npz", self.folder / "z.ktensor")
        self.assertEqual((self.folder / "z.ktensor").read_text(), original)


class GenerateTest(ProgramTest):
    KINDS = {
        "zipf": ["--dims", "90x80x70", "--nnz", 3000, "--exponents", "0.5,0.9,0"],
        "communities": ["--dims", "90x80x70", "--nnz", 3000, "--block-dims", "9x8x7"],
        "corner": ["--dims", "500x500x10", "--nnz", 3000, "--corner-dims", "30x30x5"],
        "planted": ["--dims", "50x40x30", "--nnz", 3000, "--noise", 0.1],
        "ratings": ["--users", 200, "--items", 100, "--nnz", 3000, "--test", 0.1],
    }

    def test_the_same_file_for_any_thread_count_and_another_for_another_seed(self) -> None:
        for kind, options in self.KINDS.items():
            with self.subTest(kind):
                made = [self.folder / f"{kind}{i}.tns" for i in range(3)]
                for path, extra in zip(made, (["-t", 1], ["-t", 3], ["--seed", 2])):
                    self.succeed("generate", kind, path, *options, *extra)
                one, three, other = (path.read_bytes() for path in made)
                self.assertEqual(one, three)
                self.assertNotEqual(one, other)

    def test_counts(self) -> None:
        stats = self.result("generate", "zipf", self.folder / "x.tns", *self.KINDS["zipf"])
        self.assertEqual((stats["nnz"], stats["dims"]), (3000, [90, 80, 70]))
        self.result("generate", "ratings", self.folder / "r.tns.gz", *self.KINDS["ratings"])
        train, test = (nonzeros(gzip.open(self.folder / name, "rt").read()) for name in ("r.tns.gz", "r-test.tns.gz"))
        self.assertEqual(len(train) + len(test), 3000)
        self.assertTrue(all(float(line.split()[2]) * 2 in range(1, 11) for line in train))
        self.assertEqual(self.result("generate", "like", "nell", self.folder / "n.ptb", "--scale", 0.01)["nnz"], 50000)


class NumberTest(ProgramTest):
    """Numbers that are none: NaN lies in every range, and -1 would be a large seed."""

    SHAPE = ["--dims", "9x9x9", "--nnz", 9]
    COMMANDS = {
        "cpd": (["x.tns", "-r", 1], ["--tol"]),
        "rank": (["x.tns"], ["--tol", "--holdout"]),
        "generate zipf": (["y.tns", *SHAPE, "--fiber-mode", 1], ["--exponents", "--fiber-mean"]),
        "generate communities": (["y.tns", *SHAPE, "--block-dims", "2x2x2"], ["--exponents", "--block-share"]),
        "generate corner": (["y.tns", *SHAPE, "--corner-dims", "2x2x2"],
                            ["--exponents", "--corner-share", "--diagonal-share", "--diagonal-distance"]),
        "generate planted": (["y.tns", *SHAPE], ["--noise"]),
        "generate ratings": (["y.tns", "--users", 9, "--items", 9, "--nnz", 9], ["--noise", "--test"]),
        "generate like": (["nell", "y.tns"], ["--scale"]),
    }

    def refuse(self, command: str, arguments: list, option: str, text: str, why: str) -> None:
        self.assert_fails(f"{option}: {why}, not '{text}'; see polyad {command} --help", 2, *command.split(), *arguments,
                          f"{option}={text}", cwd=self.folder)

    def test_every_real_option_wants_a_finite_number(self) -> None:
        self.write("x.tns", "1 1 1 1\n")
        for command, (arguments, options) in self.COMMANDS.items():
            for option in options:
                for text in ("NaN", "nan", "-NAN", "inf", "-Infinity", "1e999", " nan"):
                    self.refuse(command, arguments, option, text, "expected a finite number")

    def test_every_seed_is_a_whole_number(self) -> None:
        self.write("x.tns", "1 1 1 1\n")
        for command, (arguments, _) in self.COMMANDS.items():
            for text in ("-1", "1.5", "18446744073709551616", "one"):
                self.refuse(command, arguments, "--seed", text, "expected a whole number from 0 to 2^64 - 1")
        self.assertEqual(self.result("generate", "planted", self.folder / "y.tns", *self.SHAPE, "--seed", 2**64 - 1)["seed"],
                         2**64 - 1)


class DoctorTest(ProgramTest):
    def test_everything_works_here(self) -> None:
        doctor = self.result("doctor")
        self.assertTrue(doctor["threads_work"] and doctor["messages_arrive"])
        self.assertIn("polyad 0.", self.succeed("doctor"))

    def test_calibration_is_kept(self) -> None:
        file = self.folder / "machine.json"
        output = run("doctor", "--calibrate", "-q", "-t", 1, "--json", "-",
                     env={**os.environ, "POLYAD_MACHINE": str(file)})
        result = json.loads(output.stdout)
        measured = result["machine"]
        of_gpu = {f"gpu_seconds_per_{what}" for what in (
            "copied_byte", "uploaded_byte", "near_byte", "far_byte", "solved_entry", "solved_product", "mode")}
        self.assertEqual(set(measured), of_gpu | {f"seconds_per_{what}" for what in (
            "message", "word", "packed_word", "near_gather", "far_gather", "row", "flop", "near_line", "far_line",
            "streamed_byte", "node", "solved_row", "sorted_nonzero")})
        for name, seconds in measured.items():
            if name in of_gpu and not result["gpus"]:
                self.assertIsNone(seconds, name)
            else:
                self.assertTrue(0 <= seconds < 1e-2, (name, seconds))
        self.assertNotEqual(measured["seconds_per_flop"], 1 / 28e9)  # not what is built in
        self.assertEqual(json.loads(file.read_text()), {**measured, "processes": 1, "threads": 1})


class HelpTest(ProgramTest):
    def test_every_command_shows_an_example(self) -> None:
        for command in (["stats"], ["check"], ["convert"], ["generate"], ["generate", "zipf"], ["predict"], ["compare"],
                        ["doctor"]):
            self.assertIn("Example: polyad " + command[0], self.succeed(*command, "--help"))
        self.assertRegex(self.succeed("--version"), r"^polyad \d+\.\d+\.\d+$")


class SingularTest(ProgramTest):
    def test_one_is_not_counted_in_the_plural(self) -> None:
        one = self.write("one.tns", "1 1 1 2.5\n")
        ratings = self.write("ratings.tns", "1 1 5\n")
        parts = self.folder / "one.part"
        commands = [("stats", one), ("check", one), ("convert", one, self.folder / "one.ptb"),
                    ("cpd", one, "-r", 1, "-i", 1, "-t", 1, "--out", self.folder / "x.ktensor"),
                    ("convert", self.folder / "x.ktensor", self.folder / "x.npz"),
                    ("rank", one, "--components", 1, "--starts", 1, "-t", 1), ("plan", one, "-k", 1, "-r", 1),
                    ("complete", ratings, "-r", 1, "-e", 1, "-t", 1), ("plan", ratings, "--for", "complete", "-k", 1, "-r", 1),
                    ("partition", one, "-k", 1, "--no-cache", "--out", parts),
                    ("generate", "planted", self.folder / "p.tns", "--dims", "2x2x2", "--nnz", 1, "-r", 1)]
        for command in commands:
            result = run(*command)
            self.assertEqual(result.returncode, 0, (command, result.stderr))
            self.assertNotRegex(result.stdout, r"(?<![\w.,])1 (?!process\b)[a-z-]*[^s\W]s\b", command)


if __name__ == "__main__":
    unittest.main()
