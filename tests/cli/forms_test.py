"""Reads small files in the forms in which public data sets are published, each to the tensor that its authors mean."""

import collections
import csv
import re
import shlex
import unittest

from program import TEST_DATA, WITH_MPI, ProgramTest, run

FORMS = TEST_DATA / "forms"


def rows(name: str, separator: str | None = "\t", skip: int = 0) -> list[list[str]]:
    """The fields of all lines but comments, split naively."""
    lines = (FORMS / name).read_text().splitlines()[skip:]
    return [line.split(separator) for line in lines if not line.startswith("#")]


def cells(entries: list) -> collections.Counter:
    return collections.Counter((tuple(str(label) for label in labels), float(value)) for *labels, value in entries)


class FormsTest(ProgramTest):
    def read(self, name: str, *options: object) -> tuple[collections.Counter, str]:
        """The entries by their labels, in any order, and what was said on standard error."""
        source = FORMS / name
        out = self.folder / "out.csv"
        result = run("convert", source, out, "--force", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        with out.open() as file:
            return cells(list(csv.reader(file))[1:]), result.stderr

    def assert_reads(self, expected: list, name: str, *options: object, says: str = "") -> None:
        found, messages = self.read(name, *options)
        self.assertEqual(found, cells(expected))
        self.assertEqual(messages, f"polyad: warning: {FORMS / name}: {says}\n" if says else "")

    def test_icews(self) -> None:
        quadruples = [[*row, 1] for row in rows("icews18.txt")]
        self.assert_reads(quadruples, "icews18.txt", "--columns", "1,2,3,4", "--value", 1)
        self.assert_reads(quadruples, "icews14.txt", "--columns", "1,2,3,4", "--value", 1)
        self.assertIn("its last column looks like a time or an id (whole numbers from 0 to 120 that never decrease) but "
                      "was read as the value; --columns 1,2,3,4 with --value 1 reads it as a mode\n",
                      run("check", FORMS / "icews18.txt").stderr)
        self.assertIn("its last column is 0 on every line that was looked at but was read as the value; "
                      "--columns 1,2,3,4 with --value 1 reads every line as 1\n",
                      run("check", FORMS / "icews14.txt").stderr)

    def test_icews_by_index(self) -> None:
        found, _ = self.read("icews18.txt", "--columns", "1:index,2:index,3:index,4", "--value", 1, "--index-base", 0)
        self.assertEqual(found, cells([[int(s) + 1, int(r) + 1, int(o) + 1, t, 1] for s, r, o, t in rows("icews18.txt")]))
        self.assert_fails(f"{FORMS / 'icews18.txt'}:2: '0' in the column 'column1' is not a whole number from 1 on", 2,
                          "stats", FORMS / "icews18.txt", "--columns", "1:index,2:index,3:index,4", "--value", 1)

    def test_snap(self) -> None:
        edges = rows("snap-temporal.txt", None)
        self.assert_reads([[*edge, 1] for edge in edges], "snap-temporal.txt", "--columns", "1,2,3", "--value", 1)
        found, _ = self.read("snap-temporal.txt", "--columns", "1,2,3:day", "--value", 1)
        self.assertEqual(sum(found.values()), len(edges))
        self.assertTrue(all(re.fullmatch("2008-08-..", labels[2]) for labels, _ in found))
        self.assertIn("its last column looks like seconds since 1970 (whole numbers from 1217628402 to 1218623229) but "
                      "was read as the value; --columns 1,2,3:day with --value 1 reads it as a mode\n",
                      run("check", FORMS / "snap-temporal.txt").stderr)

    def test_pairs(self) -> None:
        pairs = self.write("pairs", "30 1412\n30 3352\n41 5\n7 1412\n")
        self.assert_fails(f"{pairs}:1: a line of 2 fields makes a tensor of order 1: Polyad takes orders 2 to 16; "
                          "--columns 1,2 with --value 1 reads pairs of names or ids as a matrix", 2, "stats", pairs)
        self.assertEqual(self.result("stats", pairs, "--columns", "1,2", "--value", 1)["dims"], [3, 3])

    def test_names_without_a_header_keep_their_first_line(self) -> None:
        for name, first in [("fb15k-237.txt", "/m/027rn, /location/country/fo, /m/06cx9"), ("codex.txt", "Q100, P27, Q1000"),
                            ("jf17k-3.txt", "olympics.medal, 0b0x, 0k_0, 0p0")]:
            with self.subTest(name):
                facts = [[*row, 1] for row in rows(name)]
                self.assert_reads(facts, name, says=f"its first line ({first}) was read as data, since it looks like the "
                                                    "other lines; --header takes it for the names of the columns")
                self.assert_reads(facts, name, "--no-header")
                self.assert_reads(facts[1:], name, "--header", "--value", 1, "--columns",
                                  ",".join(f"#{c + 1}" for c in range(len(facts[0]) - 1)))

    def test_a_first_line_that_cannot_be_judged(self) -> None:
        names = self.write("names.csv", "anna,knows,bert\ncarl,likes,dora\n")
        self.assert_fails(f"{names}: csv needs --columns to say which columns are the modes and which is the value; this "
                          "file has 'anna', 'knows', 'bert', unless its first line is data, as --no-header says", 2, "stats", names)
        result = run("check", names, "--columns", "1,2,3", "--value", 1)
        self.assertEqual(result.stderr, f"polyad: warning: {names}: its first line (anna, knows, bert) was taken for the "
                                        "names of the columns, though it may be data; --no-header reads it as data, "
                                        "--header confirms that it is not\n")
        self.assertEqual(self.result("stats", names, "--no-header")["nnz"], 2)

    def test_openke(self) -> None:
        triples = rows("openke-train2id.txt", None, 1)
        out = self.folder / "out.tns"
        self.succeed("convert", FORMS / "openke-train2id.txt", out)
        written = [line.split() for line in out.read_text().splitlines() if line[0] != "#"]
        self.assertEqual(written, [[*(str(int(i) + 1) for i in triple), "1"] for triple in triples])
        short = self.write("short", "12\n" + "0 1 2\n" * 9)
        self.assert_fails(f"{short}: the header announces 12 nonzeros, the file has 9", 2, "stats", short)

    def test_gowalla(self) -> None:
        pairs = [[user, item, 1] for user, *items in rows("gowalla.txt", None) for item in items]
        self.assert_reads(pairs, "gowalla.txt", "--input-format", "adjacency")
        self.assert_fails(f"{FORMS / 'gowalla.txt'}:2: expected 6 fields as on line 1, found 3; --input-format adjacency reads "
                          "lists of a row and its columns", 2, "stats", FORMS / "gowalla.txt")
        self.assertIn(f"  polyad stats {FORMS / 'gowalla.txt'} --input-format adjacency\n",
                      self.succeed("look", FORMS / "gowalla.txt"))

    def test_jester(self) -> None:
        ratings = [[row + 1, column + 1, value] for row, line in enumerate(rows("jester.csv", ","))
                   for column, value in enumerate(line) if column > 0 and value != "99"]
        self.assert_reads(ratings, "jester.csv", "--input-format", "wide", "--columns", "2-6", "--missing-value", 99)
        self.assertEqual(self.result("stats", FORMS / "jester.csv", "--input-format", "wide", "--columns", "2-6",
                                     "--missing-value", 99)["dims"], [4, 5])
        self.assert_fails(f"{FORMS / 'jester.csv'}: --missing-value is for wide tables, which --input-format wide reads", 2,
                          "stats", FORMS / "jester.csv", "--columns", "1,2,3", "--missing-value", 99)
        self.assert_fails("--columns 6-2: expected a range of columns such as 2-101", 2, "stats", FORMS / "jester.csv",
                          "--input-format", "wide", "--columns", "6-2")

    def test_wide_tables_with_names(self) -> None:
        pivot = self.write("pivot.csv", "user,tea,milk\nann,4,\nbob,NA,2.5\ncid,,\n")
        out = self.folder / "out.csv"
        self.succeed("convert", pivot, out.with_suffix(".tns"), "--input-format", "wide")
        self.assertEqual(self.result("stats", pivot, "--input-format", "wide")["dims"], [3, 2])
        self.assertEqual(self.result("stats", pivot, "--input-format", "wide", "--columns", "user:label,tea")["nnz"], 1)
        lines = [line for line in out.with_suffix(".tns").read_text().splitlines() if line[0] != "#"]
        self.assertEqual(lines, ["1 2 4", "2 1 2.5"])  # columns in the order of their names

    def test_look_suggests_what_reads_the_file(self) -> None:
        for name, columns, value in [("icews18.txt", "1,2,3,4", "1"), ("snap-temporal.txt", "1,2,3:day", "1"),
                                     ("pandas.csv", "user,item", "rating"), ("lastfm-tags.dat", "userID,artistID,tagID,timestamp:day", "1"),
                                     ("uber-raw.csv", "Date/Time:day,Lat,Lon,Base", "1"),
                                     ("pipes.txt", "1,2", "3"), ("codex.txt", "", ""), ("epinions.txt", "", "")]:
            with self.subTest(name):
                seen = self.result("look", FORMS / name)
                self.assertEqual((seen["suggested_columns"], seen["suggested_value"]), (columns, value))
                if columns:
                    self.succeed("stats", FORMS / name, "--columns", columns, "--value", value)

    def test_look_suggests_complete_for_ratings(self) -> None:
        path = FORMS / "pandas.csv"
        self.assertIn(f"polyad complete {path} --columns user,item --value rating --test 0.1", self.result("look", path)["commands"])
        path = self.write("ratings.dat", "".join(f"{u}::{u + 1}::{1 + u % 5}::{978300760 + u}\n" for u in range(1, 9)))
        self.assertIn(f"polyad complete {path} --test 0.1", self.result("look", path)["commands"])
        self.assertFalse(any("complete" in command for command in self.result("look", FORMS / "uber-raw.csv")["commands"]))

    def test_facts_of_several_arities(self) -> None:
        mixed = FORMS / "jf17k-mixed.txt"
        self.assert_fails(f"{mixed}:2: expected 4 fields as in the first line, found 3; --fields 4 reads the lines of 4 fields and "
                          "leaves out the others", 2, "stats", mixed)
        left_out = {3: 4, 4: 3, 6: 5}
        for fields, others in left_out.items():
            facts = [[*row, 1] for row in rows("jf17k-mixed.txt") if len(row) == fields]
            self.assert_reads(facts, "jf17k-mixed.txt", "--fields", fields, "--no-header",
                              says=f"{others} lines not of {fields} fields were left out, as --fields says")
        blanks = self.write("blanks", mixed.read_text().replace("\t", " "))
        self.assert_fails(f"{blanks}:1: its lines have 3 to 6 columns, expected as many on each; --fields 6 reads those of 6 and "
                          "leaves out the others", 2, "stats", blanks)
        self.assertEqual(self.result("stats", blanks, "--fields", 4)["dims"], [1, 2, 2, 2])
        self.assertEqual(self.result("stats", blanks, blanks, "--fields", 3)["nnz"], 2)
        for path in (mixed, blanks):
            seen = self.result("look", path)
            self.assertEqual((len(seen["columns"]), seen["commands"][0]), (4, f"polyad stats {path} --fields 4"))
        headed = self.write("headed", "a,b,n\nx,y,1\nx,y\nz,y,2\n")
        self.assertEqual(self.result("stats", headed, "--fields", 3, "--columns", "a,b,n")["dims"], [2, 1])
        self.assert_fails(f"{mixed}:1: expected the names of 3 columns, as --fields says, on the first line", 2,
                          "stats", mixed, "--fields", 3, "--header")
        self.succeed("cpd", mixed, "--fields", 4, "-r", 1, "--out", self.folder / "model")
        self.assertEqual(self.result("predict", self.folder / "model", mixed, "--fields", 4, "--no-header",
                                     "--out", self.folder / "t.tsv")["count"], 3)

    def test_every_command_that_look_suggests_succeeds(self) -> None:
        made = [self.write("prose", "Of files, some\nhave one word\nand, here, three\n"), self.write("quotes.csv", 'a,b\n"x,1\n')]
        for path in sorted(FORMS.iterdir()) + made:
            with self.subTest(path.name):
                commands = self.result("look", path)["commands"]
                for command in commands:
                    self.succeed(*shlex.split(command)[1:])
                is_no_tensor = path in made or path.name == "README.md" or path.suffix in (".parquet", ".feather")
                self.assertTrue(commands or is_no_tensor)

    def test_look_names_what_a_file_calls_for(self) -> None:
        for name, command in [
                ("jester.csv", "--input-format wide --columns 2-6 --missing-value 99"),
                ("semicolons.csv", "--columns Kunde,Artikel --value Menge --decimal-comma"),
                ("quoted-breaks.csv", "--columns user,text --value stars --multiline")]:
            self.assertEqual(self.result("look", FORMS / name)["commands"][0], f"polyad stats {FORMS / name} {command}")

    def test_look_shows_shapes_that_files_state(self) -> None:
        for name, kind in [("x.bin", "splatt"), ("x.sptn", "genten"), ("x.ptb", "ptb"), ("x.mtx", "mtx"), ("x.sptensor", "sptensor")]:
            path = self.folder / name
            self.succeed("convert", FORMS / "movielens-u.data", path, "--columns", "1,2,3")
            self.assertEqual(self.succeed("look", path, "--lines", 0).splitlines()[0], f"{path}: {kind}, 3x3 with 4 nonzeros")

    def test_look_shows_no_bytes_of_files_of_other_programs(self) -> None:
        path = self.folder / "jester.xls"
        path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + b"\r\1" * 600)
        sentence = "is an old Microsoft Office file (.xls); save the sheet as csv first, and name the columns by --columns"
        self.assertEqual(self.succeed("look", path), f"{path}: {sentence}\n")
        self.assert_fails(f"{path}: {sentence}", 2, "stats", path)

    def test_look_shows_lines_columns_and_commands(self) -> None:
        path = FORMS / "pandas.csv"
        self.assertEqual(self.succeed("look", path, "--lines", 2).splitlines(), [
            f"{path}: csv, 4 columns separated by ',', with a header", "  ,user,item,rating", "  0,ann,tea,4.0", "",
            "column  seems to be                     different  examples",
            "1       numbers                                 3  0, 1, 2",
            "user    names                                   2  ann, bob",
            "item    names                                   2  tea, coffee",
            "rating  numbers                                 3  4.0, 2.5, 5.0", "",
            "It could be read by",
            f"  polyad stats {path} --columns user,item --value rating",
            f"  polyad complete {path} --columns user,item --value rating --test 0.1",
            f"  polyad cpd {path} --columns user,item --value rating --rank 8"])
        self.assert_fails("--lines 501: expected a number from 0 to 500", 2, "look", path, "--lines", 501)

    def test_frappe(self) -> None:
        table = rows("frappe.csv", skip=1)
        self.assert_reads([[row[0], row[1], row[3], row[2]] for row in table], "frappe.csv",
                          "--columns", "user,item,daytime,cnt")
        self.assert_reads([[row[0], row[1], row[3], row[2]] for row in table], "frappe.csv", "--columns", "1,2,4,3")

    def test_lastfm(self) -> None:
        self.assert_reads([[*row[:3], 1] for row in rows("lastfm-tags.dat", skip=1)], "lastfm-tags.dat",
                          "--columns", "userID,artistID,tagID", "--value", 1)
        months = {"1238536800000": "2009-03", "1241128800000": "2009-04", "1243807200000": "2009-05"}
        self.assert_reads([[row[0], months[row[3]], 1] for row in rows("lastfm-tags.dat", skip=1)], "lastfm-tags.dat",
                          "--columns", "userID,timestamp:month", "--value", 1)
        self.assert_reads([[row[0], row[2], row[3]] for row in rows("lastfm-360k.tsv")], "lastfm-360k.tsv",
                          "--columns", "1,3,4")

    def test_uber(self) -> None:
        with (FORMS / "uber-raw.csv").open() as file:
            pickups = list(csv.reader(file))[1:]
        days = ["2014-04-01", "2014-04-01", "2014-04-01", "2014-04-02"]
        self.assert_reads([[day, lat, lon, base, 1] for day, (_, lat, lon, base) in zip(days, pickups)], "uber-raw.csv",
                          "--columns", "Date/Time:day=mdy,Lat,Lon,Base", "--value", 1)
        hours = self.result("stats", FORMS / "uber-raw.csv", "--columns", "Date/Time:hour,Lat,Lon,Base", "--value", 1)
        self.assertEqual(hours["dims"], [25, 3, 3, 2])  # those without a pickup too

    def test_movielens_and_epinions(self) -> None:
        self.assert_reads([row[:3] for row in rows("movielens-ratings.csv", ",", 1)], "movielens-ratings.csv")
        self.assert_reads([row[:3] for row in rows("movielens-ratings.dat", "::")], "movielens-ratings.dat")
        self.assert_reads([[*row[:2], row[3], row[2]] for row in rows("movielens-ratings.dat", "::")],
                          "movielens-ratings.dat", "--columns", "1,2,4,3")
        self.assert_reads([row[:3] for row in rows("movielens-u.data")], "movielens-u.data", "--columns", "1,2,3")
        self.assert_reads(rows("epinions.txt", None), "epinions.txt")

    def test_pandas(self) -> None:
        self.assert_reads([row[1:] for row in rows("pandas.csv", ",", 1)], "pandas.csv", "--columns", "user,item,rating")

    def test_separators_and_decimal_commas(self) -> None:
        self.assert_reads(rows("pipes.txt", "|"), "pipes.txt", "--columns", "1,2,3")
        self.assert_reads(rows("pipes.txt", "|"), "pipes.txt", "--columns", "1,2,3", "--separator", "|", "--no-header")
        self.assert_reads([["Müller", "Brot", 1.5], ["Meier", "Brot", 2], ["Müller", "Käse; alt", 0.25]], "semicolons.csv",
                          "--columns", "1,2,3", "--decimal-comma")
        self.assert_fails(f"{FORMS / 'pandas.csv'}: --decimal-comma requires a separator other than the comma, which "
                          "separates the columns here", 2,
                          "stats", FORMS / "pandas.csv", "--columns", "user,item,rating", "--decimal-comma")
        self.assert_fails(f"{FORMS / 'pipes.txt'}: --separator 'ab': expected one character, '::' or a blank", 2,
                          "stats", FORMS / "pipes.txt", "--columns", "1,2,3", "--separator", "ab")

    def test_quoted_line_breaks(self) -> None:
        breaks = FORMS / "quoted-breaks.csv"
        self.assert_fails(f"{breaks}:2: a quoted field is not closed on its line; --multiline reads fields with line breaks",
                          2, "stats", breaks, "--columns", "user,text,stars")
        self.assert_reads([["ann", 'good, but "dear"', 4], ["bob", "plain", 2], ["ann", "two  breaks", 5]],
                          "quoted-breaks.csv", "--columns", "user,text,stars", "--multiline")
        bad = self.write("bad.csv", breaks.read_text() + 'cora,"never closed,3\n')
        self.assert_fails(f"{bad}:8: a quoted field is not closed, or its quote is not followed by a separator", 2,
                          "stats", bad, "--columns", "user,text,stars", "--multiline")

    def test_options_of_tables_need_a_table(self) -> None:
        sptensor = self.write("x", "sptensor\n2\n2 2\n1\n1 1 1\n")
        for option in [["--no-header"], ["--header"], ["--decimal-comma"], ["--multiline"], ["--fields", 3]]:
            self.assert_fails(f"{sptensor}: {option[0]} is for tables (csv); this file is sptensor", 2, "stats", sptensor, *option)
        tns = self.write("y", "1 1 2\n")
        self.assert_fails(f"{tns}: has no column 'user': it has no header, and its columns are called 1 to 3", 2,
                          "stats", tns, "--columns", "user,item,rating")

    def test_predict_takes_tables_without_a_header(self) -> None:
        self.succeed("cpd", FORMS / "pipes.txt", "--columns", "1,2,3", "-r", 2, "--out", self.folder / "model")
        pairs = self.write("pairs", "ann|milk\nbob|tea\n")
        self.assert_fails(f"{pairs}:1: 'milk' in the column 'column2' is no label of mode 2 of the model; --skip-unknown leaves such lines out", 2,
                          "predict", self.folder / "model", pairs, "--no-header")
        table = self.succeed("predict", self.folder / "model", self.write("good", "bob|coffee\nann|tea\n"), "--no-header")
        self.assertEqual([line.split("\t")[:2] for line in table.splitlines()[1:3]], [["bob", "coffee"], ["ann", "tea"]])

    def test_arrays_of_numpy_scipy_pydata_and_matlab(self) -> None:
        cells = [[1, 2, 1, 1.5], [2, 3, 1, 1 / 3], [3, 1, 1, 4], [3, 4, 2, -2]]
        ratings = [[1, 2, 5], [1, 4, 3.5], [3, 1, 4], [5, 4, 1]]
        for name, expected in [("numpy-dense.npy", cells), ("pydata-coo.npz", cells), ("pydata-gcxs.npz", cells),
                               ("matlab-dense.mat", cells), ("matlab-sparse.mat", ratings),
                               ("numpy-fortran.npy", [[*at, 12 * value] for *at, value in cells]),
                               ("scipy-csr.npz", ratings), ("scipy-csc.npz", ratings), ("scipy-coo.npz", ratings)]:
            with self.subTest(name):
                out = self.folder / "out.tns"
                self.succeed("convert", FORMS / name, out, "--force")
                lines = out.read_text().splitlines()
                self.assertEqual(lines[0], "# dims: 5 4" if expected is ratings else "# dims: 3 4 2")
                self.assertEqual(sorted([*map(int, at), float(value)] for *at, value in map(str.split, lines[2:])), expected)
                self.assertEqual(self.result("check", FORMS / name)["format"], name[-3:])

    def test_look_shows_shapes_and_types_of_arrays(self) -> None:
        for name, array in [("numpy-dense.npy", "3x4x2 of float64"), ("scipy-csr.npz", "5x4 of float64, csr"),
                            ("pydata-coo.npz", "3x4x2 of float64, coo"), ("pydata-gcxs.npz", "3x4x2 of float64, gcxs"),
                            ("matlab-dense.mat", "x: 3x4x2 of float64"), ("matlab-sparse.mat", "r: 5x4 of sparse")]:
            text = self.succeed("look", FORMS / name)
            self.assertEqual(text.splitlines()[0], f"{FORMS / name}: {name[-3:]}, {array}")
        head = b"{'descr': '<c16', 'fortran_order': False, 'shape': (3, 2), }\n"
        (self.folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + bytes([len(head), 0]) + head + bytes(96))
        text = self.succeed("look", self.folder / "x.npy")
        self.assertIn("x.npy: npy: has dtype '<c16'; expected truth values", text)
        self.assertNotIn("It could be read", text)

    def test_every_command_takes_arrays(self) -> None:
        for name in ("numpy-dense.npy", "pydata-coo.npz"):
            path = FORMS / name
            self.succeed("stats", path, "--dims", "3x4x2", "--input-format", name[-3:])
            self.succeed("look", path)
            self.succeed("cpd", path, "-r", 1, "--out", self.folder / "model", "--quiet")
            self.succeed("rank", path, "--components", "1,2", "--starts", 2, "-i", 3)
            self.succeed("partition", path, "-k", 2)
            self.succeed("plan", path, "-k", 2, "-r", 2)
            compared = self.result("predict", self.folder / "model", path, "--out", self.folder / "table.tsv")
            # All cells of a dense array but the missing one, all nonzeros of a sparse one.
            self.assertEqual(compared["count"], 23 if name.endswith("npy") else 4)
        self.succeed("complete", FORMS / "scipy-csr.npz", "-r", 1, "-e", 2, "--test", FORMS / "scipy-coo.npz")
        self.assert_fails(f"{path}: the format npz counts from 0, --index-base says 1", 2, "stats", path, "--index-base", 1)
        self.assert_fails(f"{path}: --columns is for tables (csv); this file is npz", 2, "stats", path, "--columns", "1,2,3")
        self.assert_fails(f"{path}: is npz, not npy as --input-format says", 2, "stats", path, "--input-format", "npy")
        out = self.folder / "x.npy"
        self.assert_fails(f"{out}: npy is only read, not written", 2,
                          "convert", path, out, "--output-format", "npy")

    @unittest.skipUnless(WITH_MPI, "needs MPI")
    def test_several_processes_read_the_same(self) -> None:
        for name, options in [("fb15k-237.txt", ["--no-header"]), ("icews18.txt", ["--columns", "1,2,3,4", "--value", 1]),
                              ("quoted-breaks.csv", ["--columns", "user,text,stars", "--multiline"]),
                              ("gowalla.txt", ["--input-format", "adjacency"]), ("openke-train2id.txt", []),
                              ("jester.csv", ["--input-format", "wide", "--missing-value", 99]), ("numpy-dense.npy", []),
                              ("numpy-fortran.npy", []), ("scipy-csr.npz", []), ("pydata-coo.npz", []), ("pydata-gcxs.npz", []),
                              ("matlab-dense.mat", []), ("matlab-sparse.mat", [])]:
            with self.subTest(name):
                one, three = (self.result("stats", FORMS / name, *options, processes=p) for p in (0, 3))
                self.assertEqual((one["dims"], one["nnz"], one["values"], one["modes"]),
                                 (three["dims"], three["nnz"], three["values"], three["modes"]))


if __name__ == "__main__":
    unittest.main()
