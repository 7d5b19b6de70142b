"""Bad input gets a sentence and an exit code: every malformed file, the whole sentence."""

import gzip
import os
import socket
import struct
import sys
import unittest
import zipfile

from program import SOURCE, TEST_DATA, ProgramTest, run

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
    "order_1.tns": ":1: a line of 2 fields makes a tensor of order 1: Polyad takes orders 2 to 16; "
    "--columns 1,2 with --value 1 reads pairs of names or ids as a matrix",
    "order_17.tns": ":1: a tensor of order 17: Polyad takes orders 2 to 16",
    "fewer_than_announced.tns": ": the header announces 3 nonzeros, the file has 1",
    "dims_do_not_fit_order.tns": ":2: expected 5 dimensions, as the order says, found 3",
    "unknown_header.tns": ":1: 'list' is neither a number nor a header that Polyad knows (sptensor, tensor, "
    "matrix, %%MatrixMarket, column names)",
    "index_beyond_header.tns": ":3: index '3' of mode 1 is beyond the dimension 2 that the header states",
    "csv_without_header.csv": ": csv needs --columns to say which columns are the modes and which is the value; this "
    "file has no header and 3 columns, called 1 to 3",
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
        self.assert_fails(f"{quote}:2: a quoted field is not closed on its line; --multiline reads fields with line "
                          "breaks", 2, "stats", quote, "--columns", "a,b,c")

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
        self.assert_fails(f"{self.folder}: the folder holds no files to read", 2, "stats", self.folder)
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
        self.assertEqual(unknown.stderr, "polyad: The following argument was not expected: --frobnicate; see polyad stats --help\n")
        self.assertEqual(unknown.returncode, 2)
        misspelt = run("cpd", path, "--rnak", 3)
        self.assertEqual(misspelt.stderr, "polyad: The following argument was not expected: --rnak (did you mean --rank?); see polyad cpd --help\n")
        self.assertEqual(misspelt.returncode, 2)
        self.assertEqual(run().returncode, 2)
        no_command = run("frobnicate", path)
        self.assertEqual(no_command.stderr, "polyad: There is no command frobnicate; see polyad --help\n")
        self.assertEqual(no_command.returncode, 2)
        self.assertEqual(run("stats").returncode, 2)
        self.assertEqual(run("stats", path, "-t", "0").returncode, 2)
        self.assertEqual(run("stats", path, "--index-base", "2").returncode, 2)
        self.assert_fails("--value requires --columns", 2, "stats", path, "--value", "x")
        self.assert_fails("--labels x: expected MODE=FILE, with the mode counted from 1, one folder of label files, or none", 2,
                          "stats", path, "--labels", "x")
        self.assert_fails("--labels none takes no labels, and other --labels name some", 2, "stats", path, "--labels", "none",
                          "--labels", f"1={path}")
        self.assert_fails(f"--labels 3={path}: the tensor has 2 modes", 2, "stats", path, "--labels", f"3={path}")
        names = ("tns, hiparti, frostt, sptensor, tensor, matrix, mtx, movielens-tabs, movielens-colons, csv, adjacency, wide, openke, libmf, "
                 "splatt, genten, ptb, npy, npz, mat")
        self.assert_fails(f"there is no format 'docx'; the formats are {names}", 2, "stats", path, "--input-format", "docx")


class UnusualFileTest(ProgramTest):
    """Files that are no regular files, of other programs, or larger than they look."""

    def test_what_is_no_regular_file(self) -> None:
        pipe, path = self.folder / "pipe.tns", self.write("x.tns", "1 1 1\n2 2 2\n")
        os.mkfifo(pipe)
        sentence = "expected a regular file, which can be read more than once; write it to a file first"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.folder / "socket"))
            for name, kind in {pipe: "a pipe", self.folder / "socket": "a socket", "/dev/zero": "a device"}.items():
                self.assert_fails(f"{name}: is {kind}, {sentence}", 2, "stats", name)
        for arguments in (["predict", pipe, path], ["convert", pipe, self.folder / "y.tns"], ["cpd", path, "-r", 2, "--labels", f"1={pipe}"],
                          ["contract", "ij,jk->ik", pipe, pipe, "-o", self.folder / "c.npy"], ["partition", path, "-k", 2, "--refine", pipe]):
            self.assert_fails(f"{pipe}: is a pipe, {sentence}", 2, *arguments)

    def test_files_of_other_programs(self) -> None:
        def archive(member: str) -> bytes:
            with zipfile.ZipFile(self.folder / "made.zip", "w") as made:
                made.writestr(member, "x")
            return (self.folder / "made.zip").read_bytes()
        kinds = {
            b"\x93NUMPY\x01\x00": "is too short for an .npy array",
            b"PAR1\x15\x00": "is a Parquet file, which is read where Polyad was built with Apache Arrow; write it as csv first, and "
                              "name the columns by --columns",
            b"\x89HDF\r\n\x1a\n": "is an HDF5 file; write the tensor as text, as csv or as .tns, first",
            b"MATLAB 5.0 MAT-file" + b"\0" * 110: "is a MATLAB file (.mat); write the tensor as text first, as export_data of Tensor "
                                                  "Toolbox does",
            b"\xfd7zXZ\0": "is compressed by xz, and only gzip is read as it is; expand it, or read it as standard input: xz -dc FILE | polyad stats -",
            b"BZh91AY&SY\0": "is compressed by bzip2, and only gzip is read as it is; expand it, or read it as standard input: bzip2 -dc FILE | polyad stats -",
            b"\x7fELF\2\1\1\0": "is a program or a library (ELF), not a tensor",
            b"\x89PNG\r\n\x1a\n": "is a PNG image, not a tensor",
            archive("a.txt"): "is a zip archive; unpack it, or read its only file as standard input: unzip -p FILE | polyad stats -",
            archive("[Content_Types].xml"): "is an Excel or other Office file (.xlsx); save the sheet as csv first, and name the columns "
                                            "by --columns",
            archive("weights.npy"): "is an .npz archive of NumPy arrays, which predict and convert read as a Kruskal tensor; expected "
                                    "a sparse matrix or array, as save_npz of SciPy or of pydata/sparse writes it, with the arrays data "
                                    "and shape; a dense array is written by numpy.save",
        }
        path = self.folder / "x"
        for data, sentence in kinds.items():
            path.write_bytes(data)
            self.assert_fails(f"{path}: {sentence}", 2, "stats", path)
        path.write_bytes(gzip.compress(b"\x89PNG\r\n\x1a\n\0\0"))
        self.assert_fails(f"{path}: inside gzip, is a PNG image, not a tensor", 2, "stats", path)
        text = self.write("x.csv", "PAR1,GIF8,n\na,b,1\n")
        self.assertEqual(self.result("stats", text, "--columns", "PAR1,GIF8,n")["nnz"], 1)

    def test_carriage_returns_alone(self) -> None:
        path = self.write("x.tns", "")
        path.write_bytes(b"1 1 1\r2 2 2\r")
        sentence = r"its lines end in carriage returns alone; write line feeds, as in: tr '\r' '\n' < OLD > NEW"
        self.assert_fails(f"{path}: {sentence}", 2, "check", path)
        good = self.write("y.tns", "1 1 1\n2 2 2\n")
        self.assert_fails(f"{path}: {sentence}", 2, "stats", good, "--labels", f"1={path}")
        path.write_bytes(b"1 1 1\r\n2 2 2\r\n")
        self.assertEqual(self.result("stats", path)["nnz"], 2)
        path.write_bytes(b"1 1 1\r")
        self.assertEqual(self.result("stats", path)["nnz"], 1)

    def test_gzip_that_expands_beyond_measure(self) -> None:
        path = self.folder / "x.tns.gz"
        path.write_bytes(gzip.compress(b"1 1 1\n" * 15_000_000))
        size = (1 << 26) + 100 * path.stat().st_size
        self.assert_fails(f"{path}: is gzip that expands to more than {size} bytes, over 100 times its size, which texts of distinct "
                          "coordinates or names do not; expand it with gunzip first if it should", 2, "stats", path, "-q")

    def test_zip_that_expands_beyond_measure(self) -> None:
        path, x = self.folder / "m.npz", self.write("x.tns", "1 1 1\n")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("weights.npy", b"\0" * (1 << 28))
        self.assert_fails(f"{path}: member 'weights.npy' expands to {1 << 28} bytes, over 100 times its size; store it uncompressed, as "
                          "numpy.savez does, if it should", 2, "predict", path, x)

    def test_paths_that_cannot_be_searched(self) -> None:
        x, long = self.write("x.tns", "1 1 1\n"), "n" * 300
        loop = self.folder / "loop"
        loop.symlink_to(loop)
        for model, reason in {self.folder / long: "File name too long", loop: "Too many levels of symbolic links",
                              loop / "model": "Too many levels of symbolic links"}.items():
            self.assert_fails(f"{model}: cannot be opened for reading: {reason}", 2, "predict", model, x)
            self.assert_fails(f"{model}: cannot be opened for reading: {reason}", 2, "stats", model)

    @unittest.skipIf(os.geteuid() == 0, "root may search every folder")
    def test_folders_without_permission(self) -> None:
        x, closed = self.write("x.tns", "1 1 1\n"), self.folder / "closed"
        closed.mkdir(mode=0)
        self.addCleanup(closed.chmod, 0o700)
        self.assert_fails(f"{closed / 'm'}: cannot be opened for reading: Permission denied", 2, "predict", closed / "m", x)


class HeadTest(ProgramTest):
    """Heads that promise what the file does not hold, and texts that hold less than they say."""

    def test_heads_of_ptb_that_overflow(self) -> None:
        sys.path.insert(0, str(SOURCE / "tests" / "attack"))
        from mutators import checksum
        good, path = self.folder / "x.ptb", self.folder / "y.ptb"
        self.succeed("generate", "zipf", good, "--dims", "9x9x9", "--nnz", "50")
        data = good.read_bytes()
        end = 64 + 16 * 3 + 4 * 16 + 8

        def with_fields(**fields: int) -> None:
            head = bytearray(data[:end])
            for name, value in fields.items():
                struct.pack_into("<Q", head, {"nonzeros": 24, "per_chunk": 32}[name], value)
            path.write_bytes(bytes(head) + struct.pack("<Q", checksum(bytes(head))) + data[end + 8:])

        with_fields()
        self.assertEqual(path.read_bytes(), data)
        with_fields(per_chunk=2**63 - 1)
        self.assertEqual(self.result("stats", path)["nnz"], 50)
        with_fields(nonzeros=2**62, per_chunk=2**63 - 1)
        self.assert_fails(f"{path}: its header states {2**62} nonzeros, for which the block at byte {end + 8} is too short", 2, "stats", path)
        with_fields(nonzeros=49)
        self.assert_fails(f"{path}: its header states 49 nonzeros, for which the block at byte {end + 8} is too long", 2, "stats", path)
        with_fields(nonzeros=2**63 - 1, per_chunk=1)
        self.assert_fails(f"{path}: is truncated: by its header it has more than 2^63 bytes, found {len(data)}", 2, "stats", path)

    def test_ids_of_64_bits(self) -> None:
        x = self.write("x.tns", "9000000000000000000 3 1\n5 7 2\n8 9 3\n")
        for arguments in (["complete", x], ["plan", x, "-k", 2, "--for", "complete"]):
            result = run(*arguments)
            self.assertRegex(result.stderr, r"^polyad: \S+x.tns: has numbers up to 9000000000000000000 for users and 9 for items, and a row for "
                             r"each takes \S+ EB, where this machine has \S+ [GT]B; if they are ids, read them by --columns from a csv, which "
                             r"numbers only those that occur\n$")
            self.assertEqual(result.returncode, 3)
        for arguments in (["partition", x, "-k", 2, "--model", "coarse"], ["partition", x, "-k", 2, "--model", "row"],
                          ["plan", x, "-k", 2, "--with-hypergraph"]):
            result = run(*arguments, "--no-cache" if arguments[0] == "partition" else "-q")
            self.assertRegex(result.stderr, r"^polyad: a part for each of 9e\+18 slices, empty or not, takes 36 EB, where this machine has "
                             r"\S+ [GT]B; if indices are ids, read them by --columns from a csv, which numbers only those that occur\n$")
            self.assertEqual(result.returncode, 3)
        csv = self.write("x.csv", "u,i,r\n9000000000000000000,3,1\n5,7,2\n8,9,3\n")
        self.succeed("complete", csv, "--columns", "u,i,r", "-e", 1)

    def test_own_text_cut_short(self) -> None:
        path = self.folder / "x.tns"
        self.succeed("generate", "zipf", path, "--dims", "9x9x9", "--nnz", 50, "-q")
        text = path.read_text()
        lines = text.splitlines(keepends=True)
        cut = self.write("cut.tns", "".join(lines[:-3]))
        sentence = ("is cut short: Polyad wrote 50 nonzeros by the comment '# nnz', the file has 47; without that comment it is read as "
                    "it is")
        for command in (["stats"], ["cpd", "-r", 2]):
            self.assert_fails(f"{cut}: {sentence}", 2, command[0], cut, *command[1:])
        result = run("check", cut)
        self.assertEqual((result.returncode, result.stderr), (2, f"polyad: {cut}: 1 fault; check --fix OUT writes a file without it\n"))
        self.assertIn(f"{cut}: {sentence}\n", result.stdout)
        within = self.write("within.tns", text[:-1])
        self.assert_fails(f"{within}: is cut short: its last line has no end, as all lines have that Polyad writes", 2, "stats", within)
        self.assertEqual(self.result("stats", self.write("less.tns", "".join([lines[0], *lines[2:-3]])))["nnz"], 47)
        others = self.write("others.tns", "# nnz: 50\n# dims: 9 9 9\n1 1 1 1")
        result = run("stats", others)
        self.assertEqual((result.returncode, result.stderr),
                         (0, f"polyad: warning: {others}: the comment '# nnz' says 50, but the file has 1 nonzero\n"))

    def test_dims_that_a_format_does_not_state(self) -> None:
        x = self.write("x.tns", "# dims: 4 5\n1 1 2\n3 5 1\n")
        for name, option in {"y.csv": [], "y": ["--output-format", "libmf"]}.items():
            self.assert_fails(f"{self.folder / name}: {option[-1] if option else 'csv'} states no dims: these would be read as 3x5, not "
                              "4x5; tns, ptb and mtx state them", 2, "convert", x, self.folder / name, *option)
            self.assertFalse((self.folder / name).exists())
            self.succeed("convert", x, self.folder / name, *option, "--dims", "3x5")
        names = self.write("x.mode-1.map", "a\nb\nc\nd\n")
        self.assert_fails(f"{self.folder / 'z.csv'}: csv states no dims: these would be read as 2x5, not 4x5; tns, ptb and mtx state them",
                          2, "convert", x, self.folder / "z.csv")
        names.unlink()

    def test_columns_of_the_same_name(self) -> None:
        x = self.write("x.csv", "a,b,a,n\nx,y,z,2\n")
        self.assert_fails(f"{x}: its columns 1 and 3 are both called 'a'; --columns names them #1 and #3", 2, "stats", x, "--columns", "a,b,n")
        self.assert_fails(f"{x}: the column 'b' is named twice, as a mode or as the value", 2, "stats", x, "--columns", "b,b,n")
        stats = self.result("stats", x, "--columns", "#1,#3,n")
        self.assertEqual([mode["name"] for mode in stats["modes"]], ["a", "a"])


class LongHeaderTest(ProgramTest):
    def test_columns_are_listed_in_one_sentence(self) -> None:
        x = self.write("x.csv", ",".join(["c" * 50, *(f"c{i}" for i in range(30))]) + "\n")
        listed = ", ".join(f"'{name}'" for name in ["c" * 40 + "...", *(f"c{i}" for i in range(19))])
        self.assert_fails(f"{x}: has no column 'q'; its columns are {listed} and 11 more", 2, "stats", x, "--columns", "q,c1,c2")


class TerminalTest(ProgramTest):
    """What files hold does not reach the terminal as it is."""

    EVIL = "\x1b]0;owned\x07\x9b2J\u202e"

    def assert_printable(self, text: str) -> None:
        self.assertEqual([c for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F or c == "\u202e"], [])

    def test_names_and_labels(self) -> None:
        x = self.write("x.csv", f"who{self.EVIL},what,n\nann{self.EVIL},tea,1\nbob,milk,2\n")
        for arguments in (["stats", x, "--columns", f"who{self.EVIL},what,n"], ["stats", x, "--columns", "no,what,n"], ["stats", x],
                          ["cpd", x, "-r", 1, "--columns", f"who{self.EVIL},what,n", "--out", self.folder / "model"],
                          ["check", x, "--columns", f"who{self.EVIL},what:index,n"],
                          ["predict", self.folder / "model", x, "--columns", f"who{self.EVIL},what,n"],
                          ["predict", self.folder / "model", x, "--columns", f"who{self.EVIL},what,n", "--json", "-"],
                          ["predict", self.folder / "model", x, "--columns", f"who{self.EVIL},what,n", "--out", self.folder / "p.csv"]):
            result = run(*arguments)
            self.assertNotEqual(result.returncode, 1)
            self.assert_printable(result.stdout + result.stderr)
        self.assertIn(f"ann{self.EVIL}", (self.folder / "p.csv").read_text())
        largest = self.result("predict", self.folder / "model", x, "--columns", f"who{self.EVIL},what,n")["largest_residuals"]
        self.assertIn(f"ann{self.EVIL}", [entry["coordinates"][0] for entry in largest])

    def test_words_and_names_of_files(self) -> None:
        hypergraph = self.write("x.hgr", f"2 3\n1 {self.EVIL}\n2 3\n")
        result = run("partition", hypergraph, "-k", 2)
        self.assertEqual(result.returncode, 2)
        self.assert_printable(result.stderr)
        named = self.write(f"x{self.EVIL}\n.tns", "1 1 a\n")
        result = run("stats", named)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1))
        self.assert_printable(result.stderr)


class LabelFileTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.x = self.write("x.tns", "1 1 1\n2 2 2\n")

    def names(self, *options: object) -> list[str]:
        return [mode["name"] for mode in self.result("stats", self.x, *options)["modes"]]

    def test_labels_belong_to_a_tensor_by_name(self) -> None:
        self.write("x.mode-1-team.map", "red\nblue\n")
        self.write("y.mode-2-other.map", "a\nb\n")
        self.write("y.tns", "1 1 1\n")
        result = run("stats", self.x)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("team", self.names())
        self.assertNotIn("other", self.names())
        self.assertNotIn("team", self.names("--labels", "none"))

    def test_labels_of_nobody_are_taken_by_the_only_tensor(self) -> None:
        self.write("mode-1-team.map", "red\nblue\n")
        result = run("stats", self.x)
        self.assertEqual(result.stderr, f"polyad: note: {self.x}: labels were taken from mode-1-team.map, as the folder holds no other "
                         "tensor (--labels none takes none)\n")
        self.assertIn("team", self.names())
        self.assertEqual(run("stats", self.x, "-q").stderr, "")
        self.write("y.tns", "1 1 1\n")
        result = run("stats", self.x)
        self.assertEqual(result.stderr, f"polyad: note: {self.x}: mode-1-team.map was not taken as labels: the folder also holds y.tns, and the "
                         f"file may name its indices; --labels {self.folder} takes all such files, the name x.mode-1-team.map makes one "
                         "belong to this tensor\n")
        self.assertNotIn("team", self.names())
        self.assertIn("team", self.names("--labels", self.folder))

    def test_short_labels_of_nobody_are_left(self) -> None:
        path = self.write("mode-1-team.map", "red\n")
        self.assertEqual(run("stats", self.x).stderr, f"polyad: note: {self.x}: mode-1-team.map was not taken as labels: it has 1 lines, mode 1 "
                         f"has 2 indices; --labels 1={path} takes it\n")

    def test_a_label_file_that_would_fill_the_memory(self) -> None:
        path = self.folder / "x.mode-1-big.map.gz"
        path.write_bytes(gzip.compress(b"\n" * 60_000_000, 6))
        result = run("stats", self.x)
        self.assertEqual((result.returncode, result.stderr),
                         (0, f"polyad: warning: {self.x}: {path.name} has more than twice as many labels as mode 1 has indices, 2; the first 4 "
                          "were read\n"))
        self.assertLess(self.result("stats", self.x)["peak_memory_bytes"], 200e6)
        result = run("stats", self.x, "--dims", "4000000000000000000x2")
        self.assertRegex(result.stderr, r"x.mode-1-big.map.gz:\d+: its \d+ bytes make more than \S+ MB of labels, more than names do; --labels "
                         r"none reads the tensor without it\n$")
        self.assertEqual(result.returncode, 2)

    def test_a_directory_or_a_pipe_in_place_of_a_label_file(self) -> None:
        (self.folder / "x.mode-1-team.map").mkdir()
        os.mkfifo(self.folder / "mode-2-pipe.map")
        result = run("stats", self.x)
        self.assertEqual((result.returncode, result.stderr),
                         (0, f"polyad: warning: {self.x}: x.mode-1-team.map is no regular file and names nothing\n"
                          f"polyad: warning: {self.x}: mode-2-pipe.map is no regular file and names nothing\n"))

    def test_a_new_tensor_does_not_get_the_labels_of_an_old_one(self) -> None:
        path = self.write("y.mode-1-team.map", "red\nblue\n")
        test = self.write("r-test.mode-1-team.map", "red\n")
        truth = self.write("p-truth.mode-2-team.map", "red\n")
        # Found before the size, which would be refused with another code, and so before the work.
        for labels, words in ((path, ["zipf", self.folder / "y.tns", "--dims", "999x999", "--nnz", 10 ** 15]),
                              (test, ["ratings", self.folder / "r.tns", "--users", 10 ** 9, "--items", 10 ** 9, "--nnz",
                                      10 ** 15, "--test", 0.1]),
                              (truth, ["planted", self.folder / "p.tns", "--dims", "999x999", "--nnz", 10 ** 15])):
            self.assert_fails(f"{labels}: holds other labels already; write the tensor under another name", 2, "generate", *words)


if __name__ == "__main__":
    unittest.main()
