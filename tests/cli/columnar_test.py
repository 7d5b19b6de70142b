"""Parquet and Arrow files, which must be read as csv files of the same tables are."""

import random
import unittest

from program import TEST_DATA, WITH_MPI, ProgramTest, run

try:
    import pyarrow
    import pyarrow.feather
    import pyarrow.parquet
except ImportError:
    pyarrow = None

FORMS = TEST_DATA / "forms"
FILES = ("table.parquet", "table.feather")
WITH_ARROW = "built with Apache Arrow" not in run("look", FORMS / "table.parquet").stdout


@unittest.skipIf(WITH_ARROW, "Polyad was built with Apache Arrow")
class AbsentTest(ProgramTest):
    def test_a_build_without_the_library_says_so(self) -> None:
        for name, kind in zip(FILES, ("a Parquet", "an Arrow")):
            self.assert_fails(f"{FORMS / name}: is {kind} file, which is read where Polyad was built with Apache Arrow; write it "
                              "as csv first, and name the columns by --columns", 2, "stats", FORMS / name)


@unittest.skipUnless(WITH_ARROW, "Polyad was built without Apache Arrow")
class ColumnarTest(ProgramTest):
    def converted(self, file: object, *options: object) -> str:
        out = self.folder / "out.tns"
        for old in self.folder.glob("out*"):
            old.unlink()
        self.succeed("convert", file, out, *options)
        return "\n".join(path.name + "\n" + path.read_text() for path in sorted(self.folder.glob("out*")))

    def test_every_type_of_column_is_that_of_the_csv(self) -> None:
        for columns in ("user,item,price", "user,when:hour,count", "instant:day,item,small", "day:month,user,flag",
                        "day,count,decimal", "user,price:width=0.25,count", "item:index,count:index,price",
                        "item:quantiles=2,small,price", "flag,count,1"):
            options = ["--columns", columns] if not columns.endswith(",1") else ["--columns", columns[:-2], "--value", 1]
            expected = self.converted(FORMS / "table.csv", *options)
            for name in FILES:
                with self.subTest(name, columns=columns):
                    self.assertEqual(self.converted(FORMS / name, *options), expected)

    def test_every_command_takes_them(self) -> None:
        columns = ["--columns", "user,item,count"]
        csv = self.result("cpd", FORMS / "table.csv", *columns, "-r", 2, "-i", 3, "--out", self.folder / "model")
        for name in FILES:
            path = FORMS / name
            self.assertEqual(self.result("stats", path, *columns)["nnz"], self.result("stats", FORMS / "table.csv", *columns)["nnz"])
            self.assertEqual(self.result("cpd", path, *columns, "-r", 2, "-i", 3)["fit"], csv["fit"])
            found = self.result("look", path)
            self.assertEqual([column["name"] for column in found["columns"]][:3], ["user", "item", "when"])
            self.assertTrue(found["header"])
            self.succeed("predict", self.folder / "model", path, "--columns", "user,item,count")
            several = self.result("stats", path, FORMS / "table.csv", *columns)
            self.assertEqual(several["dims"], csv["dims"])
            with path.open("rb") as file:
                piped = run("stats", "-", *columns, "--json", "-", "-q", stdin=file)
            self.assertEqual(piped.returncode, 0, piped.stderr)

    @unittest.skipUnless(WITH_MPI, "needs MPI")
    def test_several_processes_read_the_same(self) -> None:
        options = ["--columns", "user,when:day,price"]
        for name in FILES:
            alone, three = (self.result("stats", file, *options, processes=processes)
                            for file, processes in ((FORMS / "table.csv", 0), (FORMS / name, 3)))
            self.assertEqual([alone[key] for key in ("dims", "nnz", "modes")], [three[key] for key in ("dims", "nnz", "modes")])
            self.assertAlmostEqual(alone["values"]["norm"], three["values"]["norm"])

    def test_faults(self) -> None:
        path = FORMS / "table.parquet"
        self.assert_fails(f"{path}:9: the column 'maybe' is empty", 2, "stats", path, "--columns", "user,maybe,count")
        self.assert_fails(f"{path}: --separator is for texts; this is a table of Parquet or Arrow", 2, "stats", path,
                          "--columns", "user,item,count", "--separator", ";")
        self.assert_fails(f"{path}: --no-header is for texts; this is a table of Parquet or Arrow", 2, "stats", path,
                          "--columns", "user,item,count", "--no-header")
        for name in FILES:
            whole = (FORMS / name).read_bytes()
            for size in (12, len(whole) // 2, len(whole) - 5):
                cut = self.folder / name
                cut.write_bytes(whole[:size])
                ended = run("stats", cut, "--columns", "user,item,count")
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertIn(f"{cut}: is a Parquet or Arrow file that Apache Arrow does not read: ", ended.stderr)

    @unittest.skipIf(pyarrow is None, "pyarrow is not installed")
    def test_random_tables(self) -> None:
        """Against csv that Python writes."""
        for seed in range(25):
            chance = random.Random(seed)
            count = chance.randint(1, 300)
            texts = ["a", "b c", 'say "x"', "x,y", "ß", "7", "-1.5"]
            columns = {"text": [chance.choice(texts) for _ in range(count)],
                       "whole": [chance.choice((-3, 0, 8, 2**40)) for _ in range(count)],
                       "value": [chance.choice((1.0, 0.1, -1e-300, 1e22, 1 / 3)) for _ in range(count)]}
            table = pyarrow.table({
                "text": pyarrow.array(columns["text"], chance.choice((pyarrow.string(), pyarrow.large_string()))),
                "whole": pyarrow.array(columns["whole"]), "value": pyarrow.array(columns["value"])})
            if chance.random() < 0.5:
                table = table.set_column(0, "text", table["text"].dictionary_encode())
            quoted = ['"' + text.replace('"', '""') + '"' for text in columns["text"]]
            csv = self.write("random.csv", "text,whole,value\n" + "".join(
                f"{a},{b},{c!r}\n" for a, b, c in zip(quoted, columns["whole"], columns["value"])))
            pyarrow.parquet.write_table(table, self.folder / "random.parquet", row_group_size=chance.randint(1, 100),
                                        compression=chance.choice(("none", "snappy", "gzip", "zstd")))
            pyarrow.feather.write_feather(table, self.folder / "random.feather", chunksize=chance.randint(1, 100),
                                          compression=chance.choice(("uncompressed", "lz4", "zstd")))
            expected = self.converted(csv, "--columns", "text,whole,value")
            for name in ("random.parquet", "random.feather"):
                with self.subTest(name, seed=seed):
                    self.assertEqual(self.converted(self.folder / name, "--columns", "text,whole,value"), expected)


if __name__ == "__main__":
    unittest.main()
