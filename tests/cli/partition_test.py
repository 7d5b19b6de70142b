"""What `polyad partition` promises: parts that keep the balance, metrics that are true, and what it refuses."""

import collections
import gzip
import pathlib
import shutil
import unittest

from program import NO_SHARED_DATA, SHARED_DATA, SOURCE, WITH_MPI, ProgramTest, run

DEBIAN = SOURCE / "data" / "debian.tns.gz"

# The keys are an interface; docs/json.md says what they mean.
KEYS = {"parts", "model", "method", "metric", "vertices", "nets", "pins", "connectivity", "cut_nets", "lambda_max",
        "lambda2", "rho", "nets_by_lambda", "imbalance", "empty_parts", "level", "seed", "cut_short", "cached", "threads",
        "seconds", "peak_memory_bytes"}


def coordinates(path: pathlib.Path) -> list[tuple[int, ...]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as lines:
        return [tuple(map(int, line.split()[:-1])) for line in lines if line.strip() and not line.startswith("#")]


class PartitionTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.debian = self.folder / "debian.tns.gz"
        shutil.copy(DEBIAN, self.debian)
        self.out = self.folder / "out.part"

    def partition(self, path: pathlib.Path, *options: object) -> dict:
        return self.result("partition", path, "-q", *options)

    def parts(self) -> list[int]:
        return [int(line) for line in self.out.read_text().split()]


class ResultTest(PartitionTest):
    def test_the_metrics_are_those_of_the_parts(self) -> None:
        result = self.partition(self.debian, "-k", 8, "--out", self.out)
        self.assertEqual(set(result), KEYS)
        cells, parts = coordinates(self.debian), self.parts()
        self.assertEqual(len(parts), len(cells))
        touched = collections.defaultdict(set)
        for cell, part in zip(cells, parts):
            for mode, index in enumerate(cell):
                touched[mode, index].add(part)
        lambdas = [len(of) for of in touched.values()]
        self.assertEqual(result["nets"], len(lambdas))
        self.assertEqual(result["connectivity"], sum(lambdas) - len(lambdas))
        self.assertEqual(result["cut_nets"], sum(l > 1 for l in lambdas))
        self.assertEqual(result["lambda2"], sum(l * l for l in lambdas if l > 1))
        self.assertEqual(result["lambda_max"], max(lambdas))
        heaviest = max(collections.Counter(parts).values())
        self.assertAlmostEqual(result["imbalance"][0], heaviest / (len(cells) / 8) - 1)
        self.assertLessEqual(result["imbalance"][0], 0.05)
        self.assertEqual(result["empty_parts"], 0)

    def test_one_of_before_version_2_of_the_cache_is_found(self) -> None:
        data, x = SOURCE / "tests" / "data", self.folder / "x.tns"
        shutil.copy(data / "ptb" / "version_1_compressed.tns", x)
        kept, = (data / "partitions").glob("fine-3-*.part")
        self.cache.mkdir(mode=0o700, parents=True)
        (self.cache / kept.name).write_bytes(kept.read_bytes())
        (self.cache / kept.name).chmod(0o600)
        self.assertTrue(self.partition(x, "-k", 3, "--out", self.out)["cached"])
        self.assertEqual(self.out.read_text().split(), kept.read_text().split()[8:])
        (self.cache / kept.name).write_bytes(kept.read_bytes().replace(b"\n1\n", b"\n2\n", 1))
        damaged = run("partition", x, "-k", 3)
        self.assertIn(f"{self.cache / kept.name}: this cached partition is ignored: it is damaged", damaged.stderr)

    def test_it_is_cached_and_found_again(self) -> None:
        first = self.partition(self.debian, "-k", 8, "--out", self.out)
        parts = self.parts()
        again = self.partition(self.debian, "-k", 8, "--out", self.out, "--force")
        self.assertEqual((first["cached"], again["cached"]), (False, True))
        self.assertEqual(self.parts(), parts)
        for key in KEYS - {"cached", "seconds", "peak_memory_bytes"}:
            self.assertEqual(first[key], again[key], key)
        kept = list(self.cache.glob("fine-8-*.part"))
        self.assertEqual(len(kept), 1)
        self.assertFalse(self.partition(self.debian, "-k", 8, "--seed", 2)["cached"])
        self.assertFalse(self.partition(self.debian, "-k", 8, "--no-cache")["cached"])
        self.assertEqual(len(list(self.cache.glob("fine-8-*.part"))), 2)

    def test_it_is_better_than_block_and_random(self) -> None:
        cut = {method: self.partition(self.debian, "-k", 16, "--method", method)["connectivity"]
               for method in ("hypergraph", "bisection", "block", "random")}
        self.assertLess(cut["hypergraph"], 0.7 * cut["block"])
        self.assertLess(cut["bisection"], cut["block"])
        self.assertLess(cut["block"], 0.5 * cut["random"])

    def test_levels_metrics_and_time(self) -> None:
        by_level = [self.partition(self.debian, "-k", 16, "--level", level)["connectivity"]
                    for level in ("fast", "default", "best")]
        self.assertLessEqual(by_level[2], by_level[0])
        squares = self.partition(self.debian, "-k", 16, "--metric", "lambda2")
        self.assertEqual(squares["metric"], "lambda2")
        self.assertLess(squares["lambda2"], self.partition(self.debian, "-k", 16, "--method", "block")["lambda2"])
        hurried = self.partition(self.debian, "-k", 16, "--seed", 9, "--time", 0.001)
        self.assertTrue(hurried["cut_short"])
        self.assertLessEqual(hurried["imbalance"][0], 0.05)
        self.assertFalse(self.partition(self.debian, "-k", 16, "--seed", 9)["cached"])  # what was cut short is not kept

    def test_slices_and_rows(self) -> None:
        dims = [max(column) for column in zip(*coordinates(self.debian))]
        result = self.partition(self.debian, "-k", 4, "--model", "coarse", "--out", self.out)
        self.assertEqual(len(result["imbalance"]), 4)
        self.assertGreaterEqual(len(self.parts()), sum(dims))
        together = self.partition(self.debian, "-k", 4, "--model", "coarse", "--weights", "together")
        self.assertEqual(len(together["imbalance"]), 1)
        ratings = self.folder / "ratings.tns"
        self.succeed("generate", "ratings", ratings, "--users", 300, "--items", 80, "--nnz", 4000)
        rows = self.partition(ratings, "-k", 6, "--model", "row", "--metric", "lambda2", "--out", self.out, "--force")
        self.assertEqual(len(self.parts()), 300)
        self.assertEqual(rows["model"], "row")
        columns = self.partition(ratings, "-k", 6, "--model", "column", "--metric", "lambda2", "--out", self.out, "--force")
        self.assertEqual((len(self.parts()), columns["model"], columns["nets"]), (80, "column", rows["vertices"]))
        again = self.partition(ratings, "-k", 6, "--model", "column", "--metric", "lambda2")
        self.assertEqual((again["cached"], again["lambda2"]), (True, columns["lambda2"]))

    def test_a_tensor_that_has_grown(self) -> None:
        lines = gzip.open(self.debian, "rt").read().splitlines(keepends=True)
        comments = [line for line in lines if line.startswith("# dims")]
        cells = [line for line in lines if not line.startswith("#")]
        small = self.write("small.tns", "".join(comments + cells[:50000]))
        grown = self.write("grown.tns", "".join(comments + cells))
        previous = self.folder / "previous.part"
        self.partition(small, "-k", 8, "--out", previous)
        result = self.partition(grown, "-k", 8, "--refine", previous, "--out", self.out)
        self.assertLess(result["connectivity"], 1.3 * self.partition(grown, "-k", 8)["connectivity"])
        stayed = sum(a == b for a, b in zip(previous.read_text().split(), self.out.read_text().split()))
        self.assertGreater(stayed, 0.8 * 50000)

    def test_slices_of_a_tensor_that_has_grown(self) -> None:
        small, grown = self.folder / "small.tns", self.folder / "grown.tns"
        self.succeed("generate", "communities", small, "--dims", "90x80x70", "--nnz", 6000, "--block-dims", "12x10x9", "-q")
        cells = "".join(line for line in small.read_text().splitlines(keepends=True) if not line.startswith("#"))
        grown.write_text(cells + "".join(f"{91 + i % 8} {81 + i % 4} {1 + i % 71} 1\n" for i in range(200)))
        previous = self.folder / "previous.part"
        self.partition(small, "-k", 4, "--model", "coarse", "--dims", "90x80x70", "--out", previous)
        how = ("-k", 4, "--model", "coarse", "--dims", "98x84x71", "--refine", previous)
        self.assert_fails(f"{previous}: has 240 lines; expected 253 for the slices of 98x84x71; if the tensor has grown, give "
                          "its previous dimensions with --refine-dims", 2, "partition", grown, *how)
        self.assert_fails("--refine-dims 99x80x70: the tensor is 98x84x71, which did not grow from that", 2, "partition", grown,
                          *how, "--refine-dims", "99x80x70")
        self.partition(grown, *how, "--refine-dims", "90x80x70", "--out", self.out)
        before, after = previous.read_text().split(), self.out.read_text().split()
        self.assertEqual(len(after), 98 + 84 + 71)
        stayed = sum(before[first + i] == after[now + i] for first, now, extent in ((0, 0, 90), (90, 98, 80), (170, 182, 70))
                     for i in range(extent))
        self.assertGreater(stayed, 0.7 * 240)

    def test_hypergraph_files(self) -> None:
        written = self.folder / "debian.hgr"
        tensor = self.partition(self.debian, "-k", 5, "--write-hypergraph", written)
        read = self.partition(written, "-k", 5, "--out", self.out)
        for key in ("vertices", "nets", "pins"):
            self.assertEqual(read[key], tensor[key], key)
        self.assertEqual(read["model"], "hypergraph")
        self.assertEqual(len(self.parts()), tensor["vertices"])

    @unittest.skipUnless((SHARED_DATA / "tensors").exists(), NO_SHARED_DATA)
    def test_the_order_of_space_is_found(self) -> None:
        uber = self.folder / "uber.tns.gz"
        shutil.copy(SHARED_DATA / "tensors" / "uber-2014-apr.tns.gz", uber)
        self.assertLessEqual(self.partition(uber, "-k", 64, "--level", "fast")["connectivity"], 8140)


class OutsideTest(PartitionTest):
    """The partitioners of others, where the build found them."""

    NAMES = {"zoltan": "Zoltan", "mt-kahypar": "Mt-KaHyPar"}
    ADVICE = {"zoltan": "it is installed (Debian's package libtrilinos-zoltan-dev) and MPI is used",
              "mt-kahypar": "its library and mtkahypar.h are installed"}

    def methods(self, are_there: bool = True) -> list[str]:
        doctor = self.result("doctor")
        found = [method for method in self.NAMES if doctor[method.replace("-", "_")] == are_there]
        if not found:
            self.skipTest("all are built in" if not are_there else "none is built in")
        return found

    def test_it_is_there_or_a_sentence_says_what_to_install(self) -> None:
        for method in self.methods(are_there=False):
            self.assert_fails(f"this build has no {self.NAMES[method]}: cmake finds it where {self.ADVICE[method]}", 2,
                              "partition", self.debian, "-k", 4, "--method", method)

    def test_its_parts_are_measured_as_all_others(self) -> None:
        at_random = self.partition(self.debian, "-k", 16, "--method", "random")["connectivity"]
        for method in self.methods():
            with self.subTest(method):
                result = self.partition(self.debian, "-k", 16, "--method", method, "--out", self.out, "--force")
                self.assertEqual((result["method"], result["cached"]), (method, False))
                touched = collections.defaultdict(set)
                for cell, part in zip(coordinates(self.debian), self.parts(), strict=True):
                    for mode, index in enumerate(cell):
                        touched[mode, index].add(part)
                self.assertEqual(result["connectivity"], sum(len(of) - 1 for of in touched.values()))
                self.assertLessEqual(result["imbalance"][0], 0.1)
                self.assertLess(result["connectivity"], 0.5 * at_random)

    def test_what_is_the_same_again_is_kept(self) -> None:
        for method in self.methods():
            with self.subTest(method):
                self.partition(self.debian, "-k", 16, "--method", method, "--out", self.out, "--force")
                first = self.parts()
                # Mt-KaHyPar's threads race, so its parts are not.
                self.assertEqual(self.partition(self.debian, "-k", 16, "--method", method)["cached"], method == "zoltan")
                if method == "zoltan":
                    self.partition(self.debian, "-k", 16, "--method", method, "--no-cache", "--out", self.out, "--force")
                    self.assertEqual(self.parts(), first)
                    self.partition(self.debian, "-k", 16, "--method", method, "--seed", 2, "--out", self.out, "--force")
                    self.assertNotEqual(self.parts(), first)

    def test_weights_are_its_weights(self) -> None:
        # Vertex 1 is as heavy as the others together; the heavy net is not to be cut. One net is empty, one has one vertex.
        path = self.write("heavy.hgr", "6 6 11\n1 1 2\n1 1 3\n50 2 3 4 5 6\n1 5 6\n3\n7 4\n5\n1\n1\n1\n1\n1\n")
        for method in self.methods():
            with self.subTest(method):
                result = self.partition(path, "-k", 2, "--method", method, "--out", self.out, "--force")
                self.assertEqual((result["connectivity"], result["imbalance"]), (2, [0]))
                self.assertEqual(len(set(self.parts()[1:])), 1)
                alone = self.partition(path, "-k", 1, "--method", method)
                self.assertEqual((alone["connectivity"], alone["empty_parts"]), (0, 0))
                together = self.partition(self.debian, "-k", 3, "--method", method, "--model", "coarse", "--weights", "together")
                self.assertEqual(len(together["imbalance"]), 1)
                self.assert_fails(f"{self.NAMES[method]} balances one weight, and slices have one for each mode: --model coarse "
                                  "requires --weights together", 2, "partition", self.debian, "-k", 3, "--method", method,
                                  "--model", "coarse")


@unittest.skipUnless(WITH_MPI, "this build has no MPI")
class DecompositionTest(PartitionTest):
    """The words that processes send are what the metric says."""

    def test_words_sent_are_little_more_than_connectivity_times_components(self) -> None:
        for processes in (2, 3, 4):
            cut = self.partition(self.debian, "-k", processes)["connectivity"]
            result = self.result("cpd", self.debian, "-q", "-r", 5, "-i", 2, "--distribution", "fine", "--partition",
                                 "hypergraph", "--replicate", "none", processes=processes)
            self.assertEqual(result["partition"], "hypergraph")
            words = result["communication"]["volume_words_per_iteration"]
            self.assertEqual(words, result["communication"]["predicted_volume_words_per_iteration"])
            # Folded and expanded; a row may belong to a process that does not touch it, to even out who receives.
            self.assertGreaterEqual(words, 2 * 5 * cut)
            self.assertLess(words, 1.5 * 2 * 5 * cut)

    def test_nonzeros_with_the_owners_of_rows(self) -> None:
        rows, plain = self.folder / "rows.part", ("-q", "-r", 5, "-i", 2, "--distribution", "fine", "--replicate", "none")
        for processes in (2, 3):
            found = self.partition(self.debian, "-k", processes, "--model", "fine-with-rows", "--out", self.out, "--out-rows", rows,
                                   "--force")
            self.assertEqual(set(found), KEYS)
            self.assertEqual((found["model"], len(found["imbalance"])), ("fine-with-rows", 5))
            self.assertEqual(len(rows.read_text().split()), 368 + 13905 + 58 + 8)
            files = ("--partition", self.out, "--row-owners", rows)
            result = self.result("cpd", self.debian, *plain, *files, processes=processes)
            sent = result["communication"]
            # Who owns a row is one of the parts of its net, so that the metric is exact.
            self.assertEqual(sent["volume_words_per_iteration"], 2 * 5 * found["connectivity"])
            self.assertEqual(sent["predicted_volume_words_per_iteration"], 2 * 5 * found["connectivity"])
            plan = self.result("plan", self.debian, "-k", processes, "-r", 5, "--replicate", "none", *files)
            same, = (one for one in plan["strategies"] if one["partition"] == "file")
            self.assertEqual((same["row_owners"], same["volume_words"], same["messages"]),
                             ("file", sent["volume_words_per_iteration"], sent["messages_per_iteration"]))

    def test_rows_do_not_make_up_for_nonzeros(self) -> None:
        lines = "1 1 1 1\n2 2 2 1\n3 3 1 1\n"
        for model, text in (("fine", lines), ("fine-with-rows", lines), ("fine-with-rows", 2 * lines)):
            tiny = self.write("tiny.tns", text)
            self.assert_fails("--parts 4: there are only 3 nonzeros, and no part may be empty", 2, "partition", tiny, "-k", 4, "-q", "--model", model,
                              "--no-cache", "--out", self.out)

    def test_owners_of_rows_ask_for_their_model(self) -> None:
        self.assert_fails("--out-rows requires --model fine-with-rows, which assigns rows to parts", 2, "partition", self.debian, "-k", 2,
                          "--out-rows", self.out)
        self.assert_fails("nonzeros and rows have different weights, and vertices in an .hgr file one: --write-hypergraph cannot be "
                          "combined with --model fine-with-rows", 2, "partition", self.debian, "-k", 2, "--model", "fine-with-rows",
                          "--write-hypergraph", self.folder / "x.hgr")

    def test_whole_slices(self) -> None:
        cut = self.partition(self.debian, "-k", 3, "--model", "coarse")["connectivity"]
        result = self.result("cpd", self.debian, "-q", "-r", 5, "-i", 2, "--distribution", "coarse", "--partition",
                             "hypergraph", processes=3)
        self.assertEqual(result["communication"]["volume_words_per_iteration"], 5 * cut)

    def test_auto_considers_a_cached_partition(self) -> None:
        def words() -> str:
            return run("cpd", self.debian, "-r", 4, "-i", 2, "--distribution", "fine", processes=3).stdout

        self.assertNotIn("hypergraph", words())
        self.partition(self.debian, "-k", 3)
        self.assertIn(", including a cached hypergraph partition: predicted ", words())

    def test_it_is_the_same_decomposition(self) -> None:
        alone = self.result("cpd", self.debian, "-q", "-r", 4, "-i", 5, "--partition", "hypergraph")
        shared = self.result("cpd", self.debian, "-q", "-r", 4, "-i", 5, "--partition", "hypergraph", processes=3)
        self.assertAlmostEqual(alone["fit"], shared["fit"], places=11)


class RefusalTest(PartitionTest):
    def test_what_makes_no_sense_is_refused(self) -> None:
        for sentence, *options in (
                ("--refine requires --method hypergraph", "--refine", DEBIAN, "--method", "block"),
                ("--weights requires --model coarse", "--weights", "together"),
                ("--refine-dims requires --refine and --model coarse", "--refine-dims", "3x4"),
                ("--level, --time and --metric require --method hypergraph or bisection, not random", "--method", "random",
                 "--level", "best"),
                ("--level, --time and --metric require --method hypergraph or bisection, not zoltan", "--method", "zoltan",
                 "--metric", "lambda2"),
                ("--imbalance requires a method that searches, not block", "--method", "block", "--imbalance", 0.1),
                ("--seed has no effect with --method block, which is not random", "--method", "block", "--seed", 2),
                ("slices have a weight for each mode, and vertices in an .hgr file one: --write-hypergraph requires "
                 "--weights together", "--model", "coarse", "--write-hypergraph", self.folder / "x.hgr")):
            self.assert_fails(sentence, 2, "partition", self.debian, "-k", 4, *options)

    def test_hypergraphs_have_nothing_of_a_tensor(self) -> None:
        path = self.write("x.hgr", "1 3\n1 2\n")
        for option, *value in (("--model", "coarse"), ("--no-cache",), ("--cache", self.folder)):
            for hypergraph in (path, self.folder / "absent.hgr"):  # before it is read
                self.assert_fails(f"{option} applies to tensors; the input is a hypergraph", 2, "partition", hypergraph, "-q",
                                  "-k", 2, option, *value)
        for option, value in (("--dims", "3x4"), ("--input-format", "tns"), ("--index-base", 0), ("--columns", "a,b"),
                              ("--write-hypergraph", self.folder / "y.hgr")):
            self.assert_fails(f"{option} applies to tensors; INPUT is a hypergraph (.hgr)", 2, "partition", path, "-k", 2,
                              option, value)

    def test_more_parts_than_things(self) -> None:
        hypergraph = self.write("x.hgr", "1 3\n1 2\n")
        tensor = self.write("x.tns", "1 1 1\n1 1 2\n2 3 1\n1 2 5\n")  # three cells, of five slices two rows
        for count, things, path, *options in ((3, "vertices", hypergraph), (3, "nonzeros", tensor),
                                              (2, "rows with nonzeros", tensor, "--model", "row"),
                                              (3, "columns with nonzeros", tensor, "--model", "column"),
                                              (5, "slices with nonzeros", tensor, "--model", "coarse", "--method", "random")):
            self.assert_fails(f"--parts {count + 1}: there are only {count} {things}, and no part may be empty", 2, "partition",
                              path, "-k", count + 1, *options)
            self.assertEqual(self.partition(path, "-k", count, *options)["empty_parts"], 0)
        self.assertEqual([kept.name for kept in self.cache.glob("*-4-*")], [])

    def test_a_model_of_rows_is_one_of_matrices(self) -> None:
        self.assert_fails("the row-wise model is one of matrices, the tensor has 4 modes", 2, "partition",
                          self.debian, "-q", "-k", 4, "--model", "row")

    def test_hypergraphs_that_are_none(self) -> None:
        for text, sentence in (
                ("", "the file ends where a head 'nets vertices' was expected"),
                ("2\n", "1: expected a head 'nets vertices [format]', found 1 numbers"),
                ("1 3\n1 4\n", "2: vertex 4 does not exist: expected 1 to 3"),
                ("1 3\n1 x\n", "2: 'x' is not a whole number"),
                ("2 3\n1 2\n", "2: the file ends where net 2 of 2 was expected"),
                ("1 3 7\n1 2\n", "1: expected a format 0, 1, 10 or 11, found 7"),
                ("1 2 10\n1 2\n1\n", "3: the file ends where the weight of vertex 2 of 2 was expected"),
                ("1 2\n1 2\n1\n", "3: expected the end of the file, found a further line")):
            path = self.write("bad.hgr", text)
            result = run("partition", path, "-q", "-k", 2)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(sentence, result.stderr)
            self.assertIn(str(path), result.stderr)

    def test_outputs_do_not_overwrite_inputs(self) -> None:
        result = run("partition", self.debian, "-k", 2, "--out", self.debian)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--out", result.stderr)


if __name__ == "__main__":
    unittest.main()
