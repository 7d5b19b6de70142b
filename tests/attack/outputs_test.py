"""Whatever the arguments, no command changes a file that it reads: every output option of every command is pointed at
every input, by several spellings and links. POLYAD_ATTACK=all tries all combinations, not a sample of them."""

import itertools
import os
import pathlib
import random
import shutil
import struct
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.environ["POLYAD_SOURCE"], "tests", "cli"))
from program import ProgramTest, run  # noqa: E402

NUM_SAMPLES = 60
TRIES_ALL = os.environ.get("POLYAD_ATTACK") == "all"

# [arguments, what is read, options that write]; OUT stands for the argument that names the output.
COMMANDS = [
    (["stats", "x.tns"], ["x.tns", "mode-1-who.map"], ["--json"]),
    (["stats", "y/y.tns", "--labels", "1=names.txt"], ["y/y.tns", "names.txt"], ["--json"]),
    (["check", "x.tns"], ["x.tns", "mode-1-who.map"], ["--json", "--fix"]),
    (["convert", "x.tns", "OUT"], ["x.tns", "mode-1-who.map"], ["OUT"]),
    (["convert", "x.tns", "OUT", "--force", "--output-format", "tns"], ["x.tns", "mode-1-who.map"], ["OUT"]),
    (["convert", "x.tns", "new.ptb"], ["x.tns", "mode-1-who.map"], ["--json"]),
    (["convert", "m.ktensor", "OUT", "--force"], ["m.ktensor"], ["OUT"]),
    (["convert", "model", "OUT", "--force"], ["model"], ["OUT"]),
    (["convert", "model", "new.npz"], ["model/lambda.mat", "model/mode2.mat"], ["--json"]),
    (["generate", "planted", "new.tns", "--dims", "9x9x9", "--nnz", "20"], [], ["--json"]),
    (["rank", "x.tns", "--components", "1", "--starts", "1", "-i", "2", "--holdout", "0"], ["x.tns", "mode-1-who.map"],
     ["--json"]),
    (["cpd", "x.tns", "-r", "2", "-i", "2"], ["x.tns", "mode-1-who.map", "machine.json"], ["--json", "--report", "--out"]),
    (["cpd", "model/x.tns", "-r", "2", "-i", "2", "--out", "model"], ["model/x.tns"], ["--json", "--report"]),
    (["complete", "r/r.tns", "-r", "2", "-e", "1", "--test", "t.tns"], ["r/r.tns", "t.tns", "machine.json"],
     ["--json", "--report", "--out"]),
    (["complete", "r/r.tns", "-r", "2", "-e", "1", "--resume", "rated"], ["rated/model.npz", "rated/training.ptb"],
     ["--json", "--report"]),
    (["partition", "x.tns", "-k", "2", "--no-cache", "--refine", "old.part", "--force"],
     ["x.tns", "old.part", "mode-1-who.map"], ["--json", "--out", "--write-hypergraph"]),
    (["partition", "x.tns", "-k", "2", "--no-cache", "--model", "fine-with-rows", "--force"], ["x.tns", "mode-1-who.map"],
     ["--json", "--out", "--out-rows"]),
    (["partition", "h.hgr", "-k", "2", "--force"], ["h.hgr"], ["--json", "--out"]),
    (["plan", "x.tns", "-k", "2", "--row-owners", "old.part"], ["old.part"], ["--json", "--report"]),
    (["cpd", "x.tns", "-r", "2", "-i", "2", "--row-owners", "old.part"], ["old.part"], ["--json", "--report", "--out"]),
    (["plan", "x.tns", "-k", "2"], ["x.tns", "machine.json"], ["--json", "--report"]),
    (["predict", "model", "x.tns"], ["model/lambda.mat", "model/mode1.mat", "x.tns"], ["--json", "--out"]),
    (["predict", "m.ktensor", "x.tns"], ["m.ktensor", "x.tns"], ["--json", "--out"]),
    (["compare", "m.ktensor", "model"], ["m.ktensor", "model/lambda.mat", "model/mode1.mat"], ["--json"]),
    (["recommend", "rated", "--user", "1"], ["rated/model.npz", "rated/training.ptb"], ["--json", "--out"]),
    (["recommend", "rated", "--ratings", "mine.tsv"], ["rated/model.npz", "mine.tsv"], ["--json", "--out"]),
    (["recommend", "rated", "--user", "1", "--exclude", "mine.tsv"], ["mine.tsv"], ["--json", "--out"]),
    (["recommend", "rated", "--user", "1", "--candidates", "mine.tsv"], ["mine.tsv"], ["--json", "--out"]),
    (["recommend", "rated", "--new-users", "mine.tsv"], ["mine.tsv"], ["--json", "--out"]),
    (["recommend", "rated", "--user", "1", "--new-items", "mine.tsv"], ["mine.tsv"], ["--json", "--out"]),
    (["predict", "rated", "x.tns", "--new-items", "mine.tsv"], ["mine.tsv"], ["--json", "--out"]),
    (["contract", "ik,kj->ij", "a.npy", "b.npy", "--force"], ["a.npy", "b.npy", "machine.json"], ["--json", "-o"]),
]


def spelled(name: str, way: str, folder: pathlib.Path) -> str:
    """Another name for a file; links are made."""
    place = folder / name
    if way == "absolute":
        return str(place)
    if way == "dots":
        return f"./none/.././{name}" if (folder / "none").mkdir(exist_ok=True) is None else name
    if way == "slashes":
        return str(folder) + "//" + name.replace("/", "//")
    if way == "link":
        (folder / "link").symlink_to(place)
        return "link"
    if way == "hard link" and place.is_file():
        (folder / "hard").hardlink_to(place)
        return "hard"
    return name


def contents(folder: pathlib.Path) -> dict:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def npy(values: list) -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)}, {len(values)}), }}"
    header += " " * (117 - len(header)) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(values) ** 2}d", *values * len(values))


class OutputsTest(ProgramTest):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="polyad-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.inputs = pathlib.Path(folder.name)
        for name in ("y", "r"):
            (cls.inputs / name).mkdir()
        lines = [f"{i % 5 + 1} {i % 3 + 1} {i % 4 + 1} {i + 1}" for i in range(30)]
        texts = {
            "x.tns": lines, "y/y.tns": lines, "mode-1-who.map": ["ann", "bob", "cy", "di", "eve"],
            "names.txt": ["a", "b", "c", "d", "e"], "r/r.tns": [f"{i % 6 + 1} {i % 5 + 1} {i % 4 + 1}" for i in range(30)],
            "t.tns": ["1 2 3", "2 1 4"], "old.part": [str(i % 2) for i in range(30)], "h.hgr": ["2 3", "1 2", "2 3"],
            "mine.tsv": ["1\t4", "2\t3"],
        }
        for name, text in texts.items():
            (cls.inputs / name).write_text("\n".join(text) + "\n")
        for name in ("a.npy", "b.npy"):
            (cls.inputs / name).write_bytes(npy([1.0, 2.0, 3.0]))
        cls.program("cpd", "x.tns", "-r", 2, "-i", 2, "--out", "model")
        cls.program("cpd", "y/y.tns", "-r", 2, "-i", 2, "--out", "m.ktensor")
        cls.program("complete", "r/r.tns", "-r", 2, "-e", 1, "--out", "rated")
        cls.program("doctor", "--calibrate")
        shutil.copy(cls.inputs / "x.tns", cls.inputs / "model" / "x.tns")

    @classmethod
    def program(cls, *arguments: object, folder: pathlib.Path = None):
        folder = folder or cls.inputs
        environment = {**os.environ, "POLYAD_MACHINE": str(folder / "machine.json")}
        result = run(*arguments, "-q", "-t", 1, cwd=folder, env=environment)
        assert folder is not cls.inputs or result.returncode == 0, result.stderr
        return result

    def attack(self, arguments: list, option: str, name: str, way: str) -> None:
        folder = self.folder / "copy"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.inputs, folder)
        output = spelled(name, way, folder)
        words = [output if word == "OUT" else word for word in arguments] + ([] if option == "OUT" else [option, output])
        before = contents(folder)
        result = self.program(*words, folder=folder)
        after = contents(folder)
        self.assertEqual((result.returncode, after), (2, before), (words, result.stderr))
        self.assertNotIn("internal error", result.stderr)
        if option == "--json":
            self.assertRegex(result.stderr, r"^polyad: --(json|out) .* would (overwrite|be taken)")

    def test_no_command_changes_what_it_reads(self) -> None:
        ways = ["plain", "absolute", "dots", "slashes", "link", "hard link"]
        tries = [(arguments, option, name, way) for arguments, names, options in COMMANDS
                 for option, name, way in itertools.product(options, names, ways)]
        if not TRIES_ALL:
            # Every option of every command at least once.
            random.Random(18).shuffle(tries)
            tries.sort(key=lambda one, seen=set(): (key := (*one[0], one[1])) in seen or seen.add(key) or False)
            tries = tries[:NUM_SAMPLES]
        for one in tries:
            with self.subTest(" ".join([*one[0], *one[1:]])):
                self.attack(*one)

    def test_labels_that_would_be_found_beside_an_input_are_not_written(self) -> None:
        before = contents(self.inputs)
        result = self.program("stats", "y/y.tns", "--json", "y/mode-2-new.map", folder=pathlib.Path(str(self.inputs)))
        self.assertEqual((result.stderr, result.returncode),
                         ("polyad: --json y/mode-2-new.map would be taken for labels of the input\n", 2))
        self.assertEqual(contents(self.inputs), before)

    def test_what_looks_like_an_option_is_no_file(self) -> None:
        path = self.write("x.tns", "1 1 1 1\n")
        result = run("stats", path, "--json", "-q", cwd=self.folder)
        self.assertEqual((result.stderr, result.returncode), (
            "polyad: --json -q: expected a file, found what looks like an option; ./-q is a file of this name\n", 2))
        self.assertEqual([file.name for file in self.folder.iterdir()], ["x.tns"])
        self.assertEqual(run("stats", path, "--json", "./-q", cwd=self.folder).returncode, 0)

    def test_an_empty_file_name_is_refused(self) -> None:
        before = contents(self.inputs)
        for arguments, _, options in COMMANDS:
            for option in options:
                words = ["" if word == "OUT" else word for word in arguments] + ([] if option == "OUT" else [option, ""])
                # The output of convert is the last of its inputs.
                name = {"OUT": "input" if words[0] == "convert" else "output", "-o": "--out"}.get(option, option)
                with self.subTest(" ".join(words)):
                    command = " ".join(words[:2] if words[0] == "generate" else words[:1])
                    self.assert_fails(f"{name}: expected a value, found an empty string; see polyad {command} --help", 2, *words,
                                      cwd=self.inputs)
        for words, name in ((["stats", ""], "input"), (["generate", "zipf", "", "--dims", "3x3", "--nnz", 2], "output"),
                            (["generate", "like", "nell", ""], "output"), (["predict", "", "x.tns"], "model"),
                            (["compare", "model", ""], "second"),
                            (["contract", "ik,kj->ij", "a.npy", ""], "b"), (["cpd", "x.tns", "-r", 1, "--cache", ""], "--cache"),
                            (["cpd", "x.tns", "-r", 1, "--partition", ""], "--partition"),
                            (["complete", "r/r.tns", "--test", ""], "--test"), (["complete", "r/r.tns", "--resume", ""], "--resume"),
                            (["partition", "x.tns", "-k", 2, "--refine", ""], "--refine"),
                            (["recommend", "rated", "--ratings", ""], "--ratings"), (["doctor", "--json", ""], "--json"),
                            (["stats", "x.tns", "--labels", ""], "--labels")):
            with self.subTest(" ".join(map(str, words))):
                command = " ".join(words[:2] if words[0] == "generate" else words[:1])
                self.assert_fails(f"{name}: expected a value, found an empty string; see polyad {command} --help", 2, *words,
                                  cwd=self.inputs)
        self.assert_fails("--labels 1=: expected MODE=FILE, with the mode counted from 1, one folder of label files, or none", 2,
                          "stats", "x.tns", "--labels", "1=", cwd=self.inputs)
        self.assertEqual(contents(self.inputs), before)

    def test_data_that_exists_is_replaced_by_force_only(self) -> None:
        path = self.write("x.tns", "1 1 1 1\n2 2 2 2\n3 3 3 3\n")
        self.succeed("generate", "planted", self.folder / "p.tns", "--dims", "3x3x3", "--nnz", 9, "-q")
        for name in ("a.npy", "b.npy"):
            (self.folder / name).write_bytes(npy([1.0, 2.0, 3.0]))
        out = self.write("out.tns", "mine\n")
        array = self.write("out.npy", "mine\n")
        for words, place in ((["convert", path, out], out), (["check", path, "--fix", out], out),
                             (["convert", self.folder / "p-truth.ktensor", array.with_suffix(".npz")], array.with_suffix(".npz")),
                             (["partition", path, "-k", 2, "--no-cache", "--out", out], out),
                             (["contract", "ik,kj->ij", self.folder / "a.npy", self.folder / "b.npy", "-o", array], array)):
            with self.subTest(words[0]):
                place.write_text("mine\n")
                self.assert_fails(f"{place}: exists already; --force replaces it", 2, *words)
                self.assertEqual(place.read_text(), "mine\n")
                self.succeed(*words, "--force")
                self.assertNotEqual(place.read_bytes(), b"mine\n")
                self.succeed(*[os.devnull if word == place and words[0] == "partition" else word for word in words], "--force")
        self.succeed("convert", path, "/dev/null", "--output-format", "tns")

    def test_a_model_replaces_a_model_of_its_kind_only(self) -> None:
        path = self.write("x.tns", "1 1 1 1\n2 2 2 2\n3 3 3 3\n")
        cpd = ["cpd", path, "-r", 1, "-i", 2, "-q", "--out"]
        for name in ("m.ktensor", "m.ktensor.gz", "m.npz", "m"):
            self.succeed(*cpd, self.folder / name)
            self.succeed(*cpd, self.folder / name)
        other = self.write("other.npz", "not a model")
        self.assert_fails(f"{other}: exists and holds something else than a model of this kind; remove it or give another "
                          "name", 2, *cpd, other)
        self.assert_fails(f"{self.folder / 'm'}: holds a model already; --force replaces it", 2, "convert",
                          self.folder / "m.npz", self.folder / "m")
        self.succeed("convert", self.folder / "m.npz", self.folder / "m", "--force")

    def test_outputs_that_cannot_be_written_are_found_before_the_work(self) -> None:
        nothing = self.folder / "no.tns"  # is not read: the output is looked at first
        missing = self.folder / "none" / "x"
        for words in (["stats", nothing, "--json", missing], ["check", nothing, "--fix", f"{missing}.tns"],
                      ["convert", nothing, f"{missing}.tns", "--input-format", "tns"],
                      ["cpd", nothing, "-r", 1, "--report", missing],
                      ["cpd", nothing, "-r", 1, "--out", missing], ["complete", nothing, "--out", missing],
                      ["generate", "zipf", f"{missing}.tns", "--dims", "3x3", "--nnz", 2],
                      ["partition", nothing, "-k", 2, "--out", missing], ["plan", nothing, "-k", 2, "--report", missing],
                      ["rank", nothing, "--json", missing], ["doctor", "--json", missing],
                      ["predict", nothing, nothing, "--out", f"{missing}.tsv"],
                      ["compare", nothing, nothing, "--json", missing],
                      ["recommend", nothing, "--all", "--out", f"{missing}.tsv"],
                      ["contract", "ik,kj->ij", nothing, nothing, "-o", missing]):
            with self.subTest(" ".join(map(str, words))):
                result = run(*words)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, r"none/x\S*: cannot be written: No such file or directory")

    def test_folders_that_may_not_be_written_to_are_found_before_the_work(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can run the program as another user")
        other = 12345
        try:
            runs = run("--version", user=other, group=other, extra_groups=[]).returncode == 0
        except PermissionError:  # a folder above the program is closed to others, as that of root is
            runs = False
        if not runs:
            self.skipTest("another user cannot run the program here")
        self.folder.chmod(0o755)
        path = self.write("x.tns", "1 1 1 1\n2 2 2 2\n3 3 3 3\n")
        shared, closed = self.folder / "shared", self.folder / "closed"
        for place, mode in ((shared, 0o1777), (closed, 0o700)):
            place.mkdir()
            place.chmod(mode)
        kept = shared / "x.json"
        kept.write_text("mine")
        for place, why in ((self.folder / "x.json", "Permission denied"), (closed / "x.json", "Permission denied"),
                           (kept, "Operation not permitted")):
            for words in (["stats", path, "--json", place], ["cpd", path, "-r", 1, "--report", place],
                          ["predict", closed / "model", path, "--json", place]):
                result = run(*words, user=other, group=other, extra_groups=[])
                self.assertEqual((result.stderr, result.returncode), (f"polyad: {place}: cannot be written: {why}\n", 2))
        self.assertEqual(kept.read_text(), "mine")
        result = run("predict", closed / "model", path, user=other, group=other, extra_groups=[])
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["closed", "shared", "x.tns"])

    def test_outputs_that_do_not_fit_are_found_before_the_work(self) -> None:
        huge = self.write("h.tns", f"{2 ** 63 - 2} 1 1 1\n1 2 2 1\n")
        for name in ("x.ktensor.gz", "x.ktensor", "x.npz", "x"):
            with self.subTest(name):
                result = run("cpd", huge, "-r", 2, "--out", self.folder / name)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertRegex(result.stderr, rf"{name}: with a row for every index of 9223372036854775806x2x2 the model "
                                 r"would take about \S+ \wB, and \S+ \wB are free there")
        for words in (["generate", "zipf", self.folder / "z.tns.gz", "--dims", "9999999x9999999x9999", "--nnz", 10 ** 15],
                      ["generate", "like", "nell", self.folder / "z.tns", "--nnz", 10 ** 15]):
            result = run(*words)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("would take at least", result.stderr)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["h.tns"])



class LabelNameTest(ProgramTest):
    """Outputs that would be found as labels of the input, also where paths are relative."""

    def test_names_of_labels_are_refused(self) -> None:
        self.write("x.tns", "1 1 1 2.5\n2 2 2 1\n")
        for arguments, output in ((("stats", "x.tns", "--json"), "x.mode-3-z.map"), (("stats", "x.tns", "--json"), "mode-3-z.map"),
                                  (("cpd", "x.tns", "-r", 1, "--report"), "x.mode-1-a.map.gz")):
            with self.subTest(output):
                name = arguments[-1]
                self.assert_fails(f"{name} {output} would be taken for labels of the input", 2, *arguments, output,
                                  cwd=self.folder)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["x.tns"])


class ModelFolderTest(ProgramTest):
    """A folder of one kind of model is not taken for another, and its files keep their permissions."""

    def test_a_model_of_another_kind_is_not_mixed_with(self) -> None:
        ratings = self.write("r.csv", "who,what,rating\nann,tea,4\nbob,tea,2\nann,soup,5\nbob,soup,1\n")
        self.succeed("complete", ratings, "--columns", "who,what,rating", "-r", 1, "-e", 2, "--out", self.folder / "m", "-q")
        before = {path.name: path.read_bytes() for path in (self.folder / "m").iterdir()}
        x = self.write("x.tns", "1 1 1 2.5\n2 2 2 1\n")
        self.assert_fails(f"{self.folder / 'm'}: holds a model of another kind; write this one to another folder", 2,
                          "cpd", x, "-r", 1, "-i", 2, "--out", self.folder / "m", "-q")
        self.assertEqual({path.name: path.read_bytes() for path in (self.folder / "m").iterdir()}, before)

    def test_files_of_a_model_keep_their_permissions(self) -> None:
        x = self.write("x.tns", "1 1 1 2.5\n2 2 2 1\n")
        for _ in range(2):
            self.succeed("cpd", x, "-r", 1, "-i", 2, "--out", self.folder / "m", "-q")
            (self.folder / "m" / "lambda.mat").chmod(0o600)
        self.succeed("cpd", x, "-r", 1, "-i", 3, "--out", self.folder / "m", "-q")
        self.assertEqual((self.folder / "m" / "lambda.mat").stat().st_mode & 0o777, 0o600)


if __name__ == "__main__":
    unittest.main()
