"""Bad input gets a sentence and an exit code: every malformed file, the whole sentence."""

import os
import unittest

from program import TEST_DATA, ProgramTest, run

BAD = TEST_DATA / "bad"

# file: the sentence behind its name, further options
FAULTS = {
    "empty.tns": ": is empty",
    "only_comments.tns": ": holds no nonzeros, only comments and blank lines",
    "ragged_line.tns": ":2: expected 4 fields as on line 1, found 3",
    "letter_in_index.tns": ":2: index 'x' of mode 2 is not a whole number",
    "negative_index.tns": ":2: index '-2' of mode 2 is negative",
    "index_beyond_63_bits.tns": ":2: index '9223372036854775808' of mode 2 is beyond 2^63 - 2",
    "value_nan.tns": ":2: value 'nan' is not finite",
    "value_inf.tns": ":2: value 'inf' is not finite",
    "value_missing.tns": ":2: expected 4 fields as on line 1, found 3",
    "text_after_value.tns": ":2: expected 4 fields as on line 1, found 5: 'abc' after the value",
    "letters_as_value.tns": ":2: value 'abc' is not a number",
    "order_1.tns": ":1: a line of 2 fields makes a tensor of order 1: Polyad takes orders 2 to 16",
    "order_17.tns": ":1: a tensor of order 17: Polyad takes orders 2 to 16",
    "fewer_than_announced.tns": ": the header announces 3 nonzeros, the file has 1",
    "dims_do_not_fit_order.tns": ":2: expected 5 dimensions, as the order says, found 3",
    "unknown_header.tns": ":1: 'list' is neither a number nor a header that Polyad knows (sptensor, tensor, "
    "matrix, %%MatrixMarket, column names)",
    "index_beyond_header.tns": ":3: index '3' of mode 1 is beyond the dimension 2 that the header states",
    "csv_without_header.csv": ":1: a csv file begins with a header line that names its columns; this one begins "
    "with numbers",
    "matrix_market_complex.mtx": ":1: MatrixMarket field 'complex' is not read: only real, integer and pattern are",
    "truncated.tns.gz": None,  # the sentence names a size
    "wrong_checksum.tns.gz": None,  # the sentence is zlib's
    "truncated.bin": ": is truncated: by its header it has 124 bytes, found 119",
    "foreign_endian.bin": ": was written on a machine of the other byte order; write it as text there and convert "
    "that",
    "impossible_width.bin": ": widths of 8 and 5 bytes, expected 4 or 8",
    "index_beyond_header.bin": ": nonzero 1: index 7 (from 0) of mode 1 is beyond the dimension 2",
}


class BadInputTest(ProgramTest):
    def test_every_malformed_file_is_refused_with_its_sentence(self) -> None:
        for name, sentence in FAULTS.items():
            if sentence is None:
                continue
            with self.subTest(name):
                self.assert_fails(f"{BAD / name}{sentence}", 2, "stats", BAD / name)

    def test_every_malformed_file_is_in_this_test(self) -> None:
        tested_apart = {"duplicates.tns", "index_0.tns", "csv_ragged_line.csv", "csv_open_quote.csv"}
        self.assertEqual({path.name for path in BAD.iterdir()}, set(FAULTS) | tested_apart)

    def test_damaged_gzip(self) -> None:
        path = BAD / "truncated.tns.gz"
        size = path.stat().st_size
        self.assert_fails(
            f"{path}: is truncated gzip: the stream does not end within its {size} bytes", 2, "stats", path
        )
        damaged = run("stats", BAD / "wrong_checksum.tns.gz")
        self.assertRegex(damaged.stderr, r"wrong_checksum.tns.gz: is damaged gzip near byte \d+: incorrect data check")
        self.assertEqual(damaged.returncode, 2)

    def test_csv(self) -> None:
        ragged, quote = BAD / "csv_ragged_line.csv", BAD / "csv_open_quote.csv"
        self.assert_fails(f"{ragged}:2: expected 3 fields as in the header, found 2", 2, "stats", ragged, "--columns", "a,b,c")
        self.assert_fails(f"{quote}:2: a quoted field is not closed on its line", 2, "stats", quote, "--columns", "a,b,c")

    def test_index_base_and_dims(self) -> None:
        path = BAD / "index_0.tns"
        self.assert_fails(
            f"{path}:2: index '0' of mode 1 is below 1, where the indices start", 2, "stats", path, "--index-base", "1"
        )
        path = BAD / "duplicates.tns"
        self.assert_fails(
            f"{path}:2: index '2' of mode 3 is beyond the dimension 1 that --dims states", 2, "stats", path, "--dims", "2x2x1"
        )
        self.assert_fails("--dims 2x0: expected whole numbers from 1 on, as in 30x24x659", 2, "stats", path, "--dims", "2x0")

    def test_duplicates_are_a_warning_with_their_count(self) -> None:
        path = BAD / "duplicates.tns"
        result = run("stats", path)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, f"polyad: warning: {path}: 1 duplicate coordinate was added up\n")

    def test_damaged_ptb(self) -> None:
        good = self.folder / "x.ptb"
        self.succeed("generate", "zipf", good, "--dims", "9x9x9", "--nnz", "50")
        damaged = bytearray(good.read_bytes())
        damaged[-3] ^= 4
        path = self.folder / "damaged.ptb"
        path.write_bytes(damaged)
        result = run("stats", path)
        self.assertRegex(result.stderr, r"damaged.ptb: is damaged: the checksum of the block at byte \d+ is wrong")
        self.assertEqual(result.returncode, 2)
        path.write_bytes(good.read_bytes()[:-1])
        size = good.stat().st_size
        self.assert_fails(f"{path}: is truncated: by its header it has {size} bytes, found {size - 1}", 2, "stats", path)
        swapped = bytearray(good.read_bytes())
        swapped[8:12] = swapped[8:12][::-1]
        path.write_bytes(swapped)
        self.assert_fails(
            f"{path}: was written on a machine of the other byte order; write it as text there and convert that",
            2, "stats", path,
        )

    def test_files_that_cannot_be_read(self) -> None:
        missing = self.folder / "missing.tns"
        self.assert_fails(f"{missing}: cannot be opened for reading: No such file or directory", 2, "stats", missing)
        self.assert_fails(f"{self.folder}: cannot be read: Is a directory", 2, "stats", self.folder)
        path = self.write("x.tns", "1 1 1\n")
        path.chmod(0)
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        self.assert_fails(f"{path}: cannot be opened for reading: Permission denied", 2, "stats", path)

    def test_output_on_a_full_disk(self) -> None:
        path = self.write("x.tns", "1 1 1\n")
        self.assert_fails(
            "/dev/full: cannot be written: No space left on device", 3, "convert", path, "/dev/full", "--output-format", "tns"
        )
        link = self.folder / "full.tns"  # what it points to is no file, so it is written to directly
        link.symlink_to("/dev/full")
        self.assert_fails(f"{link}: cannot be written: No space left on device", 3, "convert", path, link)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["full.tns", "x.tns"])
        self.assert_fails("/dev/full: cannot be written: No space left on device", 3, "stats", path, "-q", "--json", "/dev/full")

    def test_options(self) -> None:
        path = self.write("x.tns", "1 1 1\n")
        unknown = run("stats", path, "--frobnicate")
        self.assertEqual(unknown.stderr, "polyad: The following argument was not expected: --frobnicate; see polyad --help\n")
        self.assertEqual(unknown.returncode, 2)
        misspelt = run("cpd", path, "--rnak", 3)
        self.assertEqual(misspelt.stderr, "polyad: The following argument was not expected: --rnak; see polyad --help\n")
        self.assertEqual(misspelt.returncode, 2)
        self.assertEqual(run().returncode, 2)
        no_command = run("frobnicate", path)
        self.assertEqual(no_command.stderr, "polyad: There is no command frobnicate; see polyad --help\n")
        self.assertEqual(no_command.returncode, 2)
        self.assertEqual(run("stats").returncode, 2)
        self.assertEqual(run("stats", path, "-t", "0").returncode, 2)
        self.assertEqual(run("stats", path, "--index-base", "2").returncode, 2)
        self.assert_fails("--value goes with --columns", 2, "stats", path, "--value", "x")
        self.assert_fails("--labels x: expected MODE=FILE, with the mode counted from 1", 2, "stats", path, "--labels", "x")
        self.assert_fails(f"--labels 3={path}: the tensor has 2 modes", 2, "stats", path, "--labels", f"3={path}")
        names = ("tns, hiparti, frostt, sptensor, tensor, matrix, mtx, movielens-tabs, movielens-colons, csv, libmf, "
                 "splatt, genten, ptb")
        self.assert_fails(f"there is no format 'docx'; the formats are {names}", 2, "stats", path, "--input-format", "docx")


if __name__ == "__main__":
    unittest.main()
