"""Reads small files in the forms in which public data sets are published, each to the tensor that its authors mean."""

import collections
import csv
import re
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
                          "file has anna, knows, bert, unless its first line is data, as --no-header says", 2, "stats", names)
        result = run("check", names, "--columns", "1,2,3", "--value", 1)
        self.assertEqual(result.stderr, f"polyad: warning: {names}: its first line (anna, knows, bert) was taken for the "
                                        "names of the columns, though it may be data; --no-header reads it as data, "
                                        "--header confirms that it is not\n")
        self.assertEqual(self.result("stats", names, "--no-header")["nnz"], 2)

    def test_frappe(self) -> None:
        table = rows("frappe.csv", skip=1)
        self.assert_reads([[row[0], row[1], row[3], row[2]] for row in table], "frappe.csv",
                          "--columns", "user,item,daytime,cnt")
        self.assert_reads([[row[0], row[1], row[3], row[2]] for row in table], "frappe.csv", "--columns", "1,2,4,3")

    def test_lastfm(self) -> None:
        self.assert_reads([[*row[:3], 1] for row in rows("lastfm-tags.dat", skip=1)], "lastfm-tags.dat",
                          "--columns", "userID,artistID,tagID", "--value", 1)
        self.assert_reads([[row[0], row[2], row[3]] for row in rows("lastfm-360k.tsv")], "lastfm-360k.tsv",
                          "--columns", "1,3,4")

    def test_uber(self) -> None:
        with (FORMS / "uber-raw.csv").open() as file:
            pickups = list(csv.reader(file))[1:]
        self.assert_reads([[lat, lon, base, 1] for _, lat, lon, base in pickups], "uber-raw.csv",
                          "--columns", "Lat,Lon,Base", "--value", 1)

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
        for option in ["--no-header", "--header", "--decimal-comma", "--multiline"]:
            self.assert_fails(f"{sptensor}: {option} is for tables (csv); this file is sptensor", 2, "stats", sptensor, option)
        tns = self.write("y", "1 1 2\n")
        self.assert_fails(f"{tns}: has no column 'user': it has no header, and its columns are called 1 to 3", 2,
                          "stats", tns, "--columns", "user,item,rating")

    @unittest.skipUnless(WITH_MPI, "needs MPI")
    def test_several_processes_read_the_same(self) -> None:
        for name, options in [("fb15k-237.txt", ["--no-header"]), ("icews18.txt", ["--columns", "1,2,3,4", "--value", 1]),
                              ("quoted-breaks.csv", ["--columns", "user,text,stars", "--multiline"])]:
            with self.subTest(name):
                one, three = (self.result("stats", FORMS / name, *options, processes=p) for p in (0, 3))
                self.assertEqual((one["dims"], one["nnz"], one["values"], one["modes"]),
                                 (three["dims"], three["nnz"], three["values"], three["modes"]))


if __name__ == "__main__":
    unittest.main()
