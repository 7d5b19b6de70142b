"""Several files, folders of files and standard input are read as the one file that they make up."""

import gzip
import json
import pathlib
import random
import subprocess
import unittest

from program import POLYAD, SOURCE, TEST_DATA, WITH_MPI, ProgramTest, run

NAMES = ["ann", "bob", "cid", "dora", "eve", "fay"]
TABLE = ["--columns", "who,what,at:day,n"]


def table_lines(draw: random.Random, count: int) -> list[str]:
    return [f"{draw.choice(NAMES)},{draw.choice(NAMES)} {draw.randint(1, 4)},2014-0{draw.randint(3, 4)}-{draw.randint(10, 28)} "
            f"13:0{draw.randint(0, 9)},{draw.randint(1, 99)}" for _ in range(count)]


def index_lines(draw: random.Random, count: int, first: int = 1) -> list[str]:
    return [" ".join(str(draw.randint(first, 9)) for _ in range(3)) + f" {draw.randint(1, 7)}.5" for _ in range(count)]


class InputsTest(ProgramTest):
    def split(self, draw: random.Random, lines: list[str], header: str = "") -> tuple[pathlib.Path, list[pathlib.Path]]:
        """One file with all lines, and a folder of files with some of them each, a few compressed."""
        one = self.write("one", header + "".join(line + "\n" for line in lines))
        folder = self.folder / "days"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        cuts = sorted(draw.randint(0, len(lines)) for _ in range(draw.randint(1, 5)))
        for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(lines)])):
            text = header + "".join(line + "\n" for line in lines[begin:end])
            path = folder / f"day{number}"
            if draw.random() < 0.3:
                path.with_suffix(".gz").write_bytes(gzip.compress(text.encode()))
            elif text:
                path.write_text(text)
        return one, sorted(path for path in folder.iterdir() if path.stat().st_size > 0)

    def tensor_of(self, *arguments: object, **options) -> bytes:
        """The tensor with its labels, in the order of its file."""
        out = self.folder / "out.ptb"
        result = run("convert", *arguments[0], out, "--force", *arguments[1:], **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return out.read_bytes()

    def assert_reads_as_one(self, lines: list[str], draw: random.Random, header: str, *options: object) -> None:
        one, files = self.split(draw, lines, header)
        expected = self.tensor_of([one], *options)
        self.assertEqual(self.tensor_of(files, *options), expected)
        self.assertEqual(self.tensor_of([one.parent / "days"], *options), expected)
        with one.open() as standard_input:
            self.assertEqual(self.tensor_of(["-"], *options, stdin=standard_input), expected)

    def test_one_file_and_many_are_the_same_tensor(self) -> None:
        for seed in range(12):
            draw = random.Random(seed)
            with self.subTest(seed):
                self.assert_reads_as_one(table_lines(draw, 40), draw, "who,what,at,n\n", *TABLE)
                self.assert_reads_as_one(index_lines(draw, 40), draw, "", "--index-base", 1)
                names = [f"/m/{draw.choice(NAMES)}\t/r/{draw.randint(1, 3)}\t/m/{draw.choice(NAMES)}" for _ in range(30)]
                self.assert_reads_as_one(names, draw, "", "--no-header")

    def test_an_index_0_in_any_file_counts_for_all(self) -> None:
        first, second = self.write("1.tns", "1 2 3\n2 1 4\n"), self.write("2.tns", "0 3 5\n")
        one = self.write("one.tns", first.read_text() + second.read_text())
        self.assertEqual(self.result("stats", first, second)["dims"], self.result("stats", one)["dims"])
        self.assertEqual(run("check", first, second).stderr,
                         f"polyad: warning: {first} and 1 other file: an index 0 occurs, so indices are taken to count from 0 in "
                         "every mode\n")

    def test_dims_are_those_that_hold_all_files(self) -> None:
        first = self.write("1.tns", "# dims: 5 2\n# nnz: 1\n1 2 3\n")
        second = self.write("2.tns", "# dims: 2 9\n# nnz: 2\n1 2 3\n2 2 4\n")
        self.assertEqual(self.result("stats", first, second)["dims"], [5, 9])
        for name in ("x.bin", "x.sptn", "x.sptensor"):
            binaries = [self.folder / f"{number}{name}" for number in (1, 2)]
            for text, binary in zip((first, second), binaries):
                self.succeed("convert", text, binary)
            self.assertEqual(self.result("stats", *binaries)["dims"], [5, 9])
            self.assertEqual(self.result("stats", *binaries)["duplicates"], 1)

    def test_faults_name_their_file(self) -> None:
        first, second = self.write("1.csv", "who,what,n\nann,tea,1\n"), self.write("2.csv", "who,what,n\nann,tea,1\nann,tea,x\n")
        columns = ["--columns", "who,what,n"]
        self.assert_fails(f"{second}:3: value 'x' is not a number", 2, "stats", first, second, *columns)
        checked = run("check", first, second, *columns)
        self.assertIn(f"{second}:3: value 'x' is not a number\n", checked.stdout)
        self.assertEqual(checked.returncode, 2)
        cut = self.write("cut.tns", "# dims: 2 2\n# nnz: 2\n1 1 1\n")
        self.assert_fails(f"{cut}: is cut short: Polyad wrote 2 nonzeros by the comment '# nnz', the file has 1; without that "
                          "comment it is read as it is", 2, "stats", self.write("x.tns", "1 1 1\n"), cut)

    def test_files_that_do_not_fit_together(self) -> None:
        first = self.write("1.csv", "who,what,n\nann,tea,1\n")
        other = self.write("2.csv", "what,who,n\ntea,ann,1\n")
        self.assert_fails(f"{other}: its columns are called what, who, n, those of {first} who, what, n: files that are read as "
                          "one have the same", 2, "stats", first, other, "--columns", "who,what,n")
        matrix, cube = self.write("m.tns", "1 2 3\n"), self.write("c.tns", "1 2 3 4\n")
        self.assert_fails(f"{cube}: a tensor of order 3, and {matrix} is one of order 2: files that are read as one have the same",
                          2, "stats", matrix, cube)
        one = "but all files that are read as one are read in the format of the first"
        self.assert_fails(f"{first}: is csv, {one}, {matrix} (tns)", 2, "stats", matrix, first)
        market = self.write("m.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 5\n3 2 1\n")
        self.assert_fails(f"{market}: is mtx, {one}, {matrix} (tns)", 2, "stats", matrix, market)
        self.assertEqual(self.result("stats", matrix, market, "--input-format", "tns")["nnz"], 4)
        binary, broken = self.folder / "m.ptb", self.write("broken", "? ?\n")
        self.succeed("convert", matrix, binary)
        self.assert_fails(f"{matrix}: is tns, {one}, {binary} (ptb)", 2, "stats", binary, matrix)
        self.assert_fails(f"{broken}: is something else, {one}, {binary} (ptb)", 2, "stats", binary, broken)
        self.assert_fails(f"{matrix}: is a text, not ptb as --input-format says", 2, "stats", binary, matrix, "--input-format", "ptb")
        dense = TEST_DATA / "forms" / "numpy-dense.npy"
        self.assert_fails(f"{dense}: is npy, which has all cells of a tensor: several files are read as one table or list of "
                          "nonzeros, but not several arrays", 2, "stats", dense, dense)
        ptb = self.folder / "x.ptb"
        self.succeed("convert", first, ptb, "--columns", "who,what,n")
        self.assert_fails(f"{ptb}: has labels of its own, and may be read alone only: other files have other indices for them; "
                          "convert it to csv first", 2, "stats", ptb, ptb)
        tns = self.folder / "x.tns"
        self.succeed("convert", first, tns, "--columns", "who,what,n")
        labels = self.folder / "x.mode-1-who.map"
        self.assert_fails(f"{tns}: has labels of its own in {labels}, and the other files may have other indices for them; --labels "
                          "none reads the indices, --labels 1=FILE names labels for all of them", 2, "stats", tns, tns)
        self.assertEqual(self.result("stats", tns, tns, "--labels", "none")["duplicates"], 1)
        wide = self.write("wide.csv", "1,2\n3,4\n")
        self.assert_fails(f"{wide}: has rows that are numbered by their lines, and may be read alone only; a column that names them "
                          "(NAME:label) allows several files", 2, "stats", wide, wide, "--input-format", "wide")

    def test_folders(self) -> None:
        folder = self.folder / "data"
        folder.mkdir()
        self.assert_fails(f"{folder}: the folder holds no files to read", 2, "stats", folder)
        (folder / "b.tns").write_text("2 1 4\n")
        (folder / "a.tns").write_text("1 2 3\n")
        (folder / ".hidden").write_text("nonsense")
        (folder / "_SUCCESS").write_text("")
        (folder / "mode-1-side.map").write_text("left\nright\n")
        self.assertEqual(self.result("stats", folder)["dims"], [2, 2])
        out = self.folder / "out.csv"
        self.succeed("convert", folder, out, "--force")
        self.assertEqual(out.read_text(), "side,mode2,value\nleft,2,3\nright,1,4\n")
        self.assert_fails(f"the output {folder / 'a.tns'} would overwrite a file of the input", 2,
                          "convert", folder, folder / "a.tns", "--force")
        (folder / "old").mkdir()
        self.assertEqual(run("check", folder, "--labels", "none").stderr,
                         f"polyad: warning: {folder}: a folder in it was left out: only files are read\n")
        self.succeed("cpd", folder, "-r", 1, "-i", 2, "--out", self.folder / "model")
        self.assert_fails(f"{self.folder / 'model'}: holds the factors of a model, expected files of a tensor", 2,
                          "stats", self.folder / "model")

    def test_commands_name_all_files(self) -> None:
        first, second = self.write("1 a.tns", "1 2 3\n2 1 1\n"), self.write("2.tns", "2 2 4\n")
        self.assertIn(f"polyad cpd '{first}' {second} -r 2", self.succeed("plan", first, second, "-k", 1, "-r", 2))
        self.assertIn(f"polyad stats '{first}' {second}\n", self.succeed("look", first, second))

    def test_predict_and_test_ratings(self) -> None:
        draw = random.Random(3)
        lines = [line.replace(" 0", " 1") for line in index_lines(draw, 60)]
        one, files = self.split(draw, lines)
        self.succeed("cpd", one, "-r", 2, "-i", 3, "--out", self.folder / "model", "--duplicates", "last")
        tables = []
        for number, coordinates in enumerate([[one], files, [self.folder / "days"]]):
            out = self.folder / f"table{number}.tsv"
            self.succeed("predict", self.folder / "model", *coordinates, "--out", out, "--index-base", 1)
            tables.append(out.read_text())
        with one.open() as standard_input:
            piped = run("predict", self.folder / "model", "-", "--index-base", 1, stdin=standard_input)
        tables.append(piped.stdout)
        self.assertEqual([table == tables[0] for table in tables], [True] * 4)
        ratings = self.write("ratings.tns", "".join(f"{u} {i} {u + i}\n" for u in range(1, 6) for i in range(1, 5)))
        tests = self.folder / "tests"
        tests.mkdir()
        (tests / "a").write_text("1 1 2\n2 2 4\n")
        (tests / "b").write_text("3 1 4\n")
        whole = self.write("whole", "1 1 2\n2 2 4\n3 1 4\n")
        results = [self.result("complete", ratings, "-r", 1, "-e", 2, "--test", test) for test in (whole, tests)]
        self.assertEqual([result["test_ratings"] for result in results], [3, 3])
        self.assertEqual(results[0]["test_rmse"], results[1]["test_rmse"])

    def test_standard_input(self) -> None:
        text = "1 1 2\n2 2 x\n"
        self.assert_fails("-:2: value 'x' is not a number", 2, "stats", "-", input=text)
        self.assert_fails("-: is empty", 2, "stats", "-", input="")
        packed = subprocess.run([POLYAD, "stats", "-", "--json", "-"], input=gzip.compress(b"1 1 2\n2 2 3\n"), capture_output=True)
        self.assertEqual(json.loads(packed.stdout)["nnz"], 2)
        array = TEST_DATA / "forms" / "numpy-dense.npy"
        with array.open("rb") as standard_input:
            self.assertIn("3x4x2", run("check", "-", stdin=standard_input).stdout)
        between = run("stats", self.write("a.tns", "1 1 2\n"), "-", self.write("b.tns", "3 1 2\n"), "--json", "-", input="2 7 4\n")
        self.assertIn('"nnz": 3', between.stdout)
        tensor = self.write("x.tns", "1 1 2\n2 2 3\n")
        with tensor.open() as standard_input:
            self.assert_fails(f"the output {tensor} would overwrite the input", 2, "convert", "-", tensor, "--force",
                              stdin=standard_input)

    @unittest.skipUnless(WITH_MPI, "needs MPI")
    def test_several_processes_read_the_same(self) -> None:
        def facts(found: dict) -> list:
            found["values"]["norm"] = round(found["values"]["norm"], 6)
            return [found[key] for key in ("dims", "nnz", "values", "modes")]
        for seed in range(2):
            draw = random.Random(100 + seed)
            for header, lines, options in [("who,what,at,n\n", table_lines(draw, 90), TABLE), ("", index_lines(draw, 90), [])]:
                one, files = self.split(draw, lines, header)
                options = [*options, "--duplicates", "last"]  # depends on the order of the lines
                expected = self.result("stats", one, *options)
                for processes in (2, 3, 5):
                    found = self.result("stats", *files, *options, processes=processes)
                    self.assertEqual(facts(found), facts(expected))
                start = [str(SOURCE / "tools" / "mpirun"), "3", POLYAD, "stats", "-", *options, "--json", self.folder / "r.json"]
                with one.open() as standard_input:
                    subprocess.run(start, stdin=standard_input, check=True, capture_output=True)
                found = json.loads((self.folder / "r.json").read_text())
                self.assertEqual(facts(found), facts(expected))


if __name__ == "__main__":
    unittest.main()
