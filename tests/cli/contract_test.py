"""What `polyad contract` promises: its result, its words, its JSON, and what it refuses."""

import array
import ast
import itertools
import json
import math
import os
import pathlib
import random
import struct
import unittest

from program import WITH_MPI, ProgramTest, run

# The keys are an interface; docs/json.md says what they mean.
KEYS = {"expression", "dims", "stationary", "grid", "distributions", "blocks", "steps", "predicted_seconds", "seconds",
        "machine", "flops", "gflops", "norm", "communication", "memory_bytes", "predicted_memory_bytes", "precision", "out",
        "processes", "threads", "peak_memory_bytes"}
NOTE = "C[abji] += A[acik] * B[bcjk]"
EXTENTS = {"a": 7, "b": 6, "c": 5, "i": 3, "j": 4, "k": 8}


def write_npy(path: pathlib.Path, shape: list[int], values: list[float], dtype: str = "f8", order: str = "C") -> None:
    """As numpy.save does it; values are in the order of the file."""
    header = str({"descr": f"<{dtype}", "fortran_order": order == "F", "shape": tuple(shape)})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    numbers = array.array("d" if dtype == "f8" else "f", values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + numbers.tobytes())


def read_npy(path: pathlib.Path) -> tuple[list[int], list[float], str]:
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    numbers = array.array("d" if header["descr"] == "<f8" else "f")
    numbers.frombytes(data[10 + length:])
    return list(header["shape"]), list(numbers), header["descr"]


def position(indices: str, at: dict[str, int], extents: dict[str, int], order: str = "C") -> int:
    place = 0
    for letter in indices if order == "C" else reversed(indices):
        place = place * extents[letter] + at[letter]
    return place


def contraction(a: str, b: str, c: str, extents: dict[str, int], x: list[float], y: list[float],
                order: str = "C") -> list[float]:
    """By the definition; x is in the given order."""
    letters = sorted(set(a + b))
    result = [0.0] * math.prod(extents[letter] for letter in c)
    for values in itertools.product(*(range(extents[letter]) for letter in letters)):
        at = dict(zip(letters, values))
        result[position(c, at, extents)] += x[position(a, at, extents, order)] * y[position(b, at, extents)]
    return result


class ContractTest(ProgramTest):
    def tensor(self, name: str, indices: str, seed: int, **how) -> list[float]:
        shape = [EXTENTS[letter] for letter in indices]
        numbers = random.Random(seed)
        values = [float(numbers.randint(-3, 3)) for _ in range(math.prod(shape))]  # sums are exact
        write_npy(self.folder / name, shape, values, **how)
        return values

    def note(self) -> list[float]:
        """Tensors of a contraction with two summed indices, and its result."""
        x, y = self.tensor("a.npy", "acik", 1), self.tensor("b.npy", "bcjk", 2)
        return contraction("acik", "bcjk", "abji", EXTENTS, x, y)

    def contract(self, *options: object, expression: str = NOTE, processes: int = 0) -> dict:
        return self.result("contract", expression, self.folder / "a.npy", self.folder / "b.npy", "-o",
                           self.folder / "c.npy", "--force", "-q", *options, processes=processes)

    def test_the_result_is_that_of_the_definition(self) -> None:
        expected = self.note()
        for options in [], ["--stationary", "a"], ["--stationary", "b"], ["--stationary", "c"], ["--grid", "1x1"]:
            result = self.contract(*options)
            self.assertEqual(read_npy(self.folder / "c.npy"), ([7, 6, 4, 3], expected, "<f8"))
            self.assertEqual(set(result), KEYS)
            self.assertEqual(result["expression"], NOTE)
            self.assertEqual(result["dims"], {"a": [7, 5, 3, 8], "b": [6, 5, 4, 8], "c": [7, 6, 4, 3]})
            self.assertEqual(result["flops"], 2 * math.prod(EXTENTS.values()))
            self.assertAlmostEqual(result["norm"], math.sqrt(sum(v * v for v in expected)))
            self.assertEqual(result["communication"], {"words": 0, "predicted_words": 0, "max_words": 0})

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_any_number_of_processes_gives_the_same(self) -> None:
        expected = self.note()
        for processes, options in (2, []), (4, ["--stationary", "a", "--grid", "2x1x2x1"]), (6, ["--grid", "2x3"]):
            result = self.contract(*options, processes=processes)
            self.assertEqual(read_npy(self.folder / "c.npy")[1], expected)
            self.assertEqual(result["processes"], processes)
            self.assertEqual(math.prod(result["grid"]), processes)
            self.assertGreater(result["communication"]["words"], 0)
            self.assertEqual(result["communication"]["words"], result["communication"]["predicted_words"])
            self.assertIn("product", [step["move"] for step in result["steps"]])

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_a_memory_limit_is_kept_in_blocks(self) -> None:
        expected = self.note()
        whole = self.contract("--grid", "2x2x1x1", processes=4)
        held = 8 * (840 // 4 + 960 // 4 + 504 // 4)
        limit = held + (whole["memory_bytes"] - held) * 2 // 3
        result = self.contract("--grid", "2x2x1x1", "--memory", f"{limit}B", processes=4)
        self.assertGreater(result["blocks"]["count"], 1)
        self.assertLessEqual(result["memory_bytes"], limit)
        self.assertEqual(read_npy(self.folder / "c.npy")[1], expected)
        refused = run("contract", NOTE, self.folder / "a.npy", self.folder / "b.npy", "--memory", "1kB")
        self.assertEqual(refused.returncode, 3)
        self.assertRegex(refused.stderr, r"^polyad: the contraction needs \d+ bytes on a process, even in blocks; "
                                         r"1000 are allowed\n$")
        refused = run("contract", NOTE, self.folder / "a.npy", self.folder / "b.npy", "--memory", "1B")
        self.assertEqual(refused.returncode, 3)

    def test_a_run_that_takes_more_memory_than_allowed_says_so(self) -> None:
        extent = 1800
        for name in ("a.npy", "b.npy"):
            write_npy(self.folder / name, [extent, extent], [0.5] * extent ** 2, order="F")
        words = ["contract", "ki,kj->ij", self.folder / "a.npy", self.folder / "b.npy", "-q", "-t", 1]
        result = run(*words, "--memory", "500MB")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        if not WITH_MPI:
            return
        # Processes take buffers to read such a file, which are not planned.
        limit = self.result(*words, processes=4)["predicted_memory_bytes"]
        result = run(*words, "--memory", f"{limit}B", processes=4)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"^polyad: warning: a process took \S+ MB of memory, more than the \S+ MB that --memory "
                                        r"allows\n$")

    def test_einsum_strings_single_precision_and_fortran_order(self) -> None:
        x = self.tensor("a.npy", "acik", 3, dtype="f4", order="F")
        y = self.tensor("b.npy", "ck", 4, dtype="f4")
        result = self.contract(expression="acik,ck->ia")
        self.assertEqual(result["precision"], "single")
        self.assertEqual(result["expression"], "C[ia] += A[acik] * B[ck]")
        expected = contraction("acik", "ck", "ia", EXTENTS, x, y, order="F")
        self.assertEqual(read_npy(self.folder / "c.npy"), ([3, 7], expected, "<f4"))

    def test_scalars_and_sums(self) -> None:
        x, y = self.tensor("a.npy", "ak", 5), self.tensor("b.npy", "ak", 6)
        self.contract(expression="C[] += A[ak] * B[ak]")
        self.assertEqual(read_npy(self.folder / "c.npy")[:2], ([], [sum(p * q for p, q in zip(x, y))]))

        result = self.succeed("contract", "ak,ak->", self.folder / "a.npy", self.folder / "b.npy")
        self.assertIn("\nresult      a number, norm ", result)

    def test_an_index_that_stands_twice_takes_the_diagonal(self) -> None:
        x, y = self.tensor("a.npy", "aak", 5, order="F"), self.tensor("b.npy", "bkb", 6)
        expected = contraction("aak", "bkb", "ab", EXTENTS, x, y, order="F")
        for processes in (0, 3) if WITH_MPI else (0,):
            result = self.contract(expression="aak,bkb->ab", processes=processes)
            self.assertEqual(read_npy(self.folder / "c.npy")[:2], ([7, 6], expected))
            self.assertEqual(result["expression"], "C[ab] += A[aak] * B[bkb]")
            self.assertEqual(result["dims"], {"a": [7, 7, 8], "b": [6, 8, 6], "c": [7, 6]})
            self.assertEqual(result["flops"], 2 * 7 * 6 * 8)
        self.assert_fails(f"{self.folder / 'b.npy'}: has no diagonal of dimensions 1 and 2: they have extents 6 and 8",
                          2, "contract", "aak,bbk->ab", self.folder / "a.npy", self.folder / "b.npy")

    def test_sums_before_the_product_are_counted_as_such(self) -> None:
        x, y = self.tensor("a.npy", "ak", 5), self.tensor("b.npy", "bc", 6)
        result = self.contract(expression="ak,bc->")
        self.assertEqual(read_npy(self.folder / "c.npy")[1], [sum(x) * sum(y)])
        self.assertEqual(result["flops"], len(x) + len(y) + 2)
        self.assertEqual([(step["tensor"], step["move"], step["flops"]) for step in result["steps"]],
                         [("A", "local sums", len(x)), ("B", "local sums", len(y)), ("C", "product", 2)])
        self.assertAlmostEqual(sum(step["predicted_seconds"] for step in result["steps"]), result["predicted_seconds"])

    def test_the_rate_of_products_comes_from_the_file_of_the_machine(self) -> None:
        self.note()
        built_in = self.contract("-t", 1)
        self.assertEqual(built_in["machine"], "built in")
        self.assertAlmostEqual(built_in["predicted_seconds"] / (built_in["flops"] / 28e9), 1)
        constants = {name: 1e-9 for name in ("seconds_per_message", "seconds_per_word", "seconds_per_packed_word",
                                             "seconds_per_near_gather", "seconds_per_far_gather", "seconds_per_row")}
        for more, seconds in ({"seconds_per_flop": 0.5}, built_in["flops"] / 4), ({}, built_in["flops"] / 56e9):
            file = self.write("machine.json", json.dumps({**constants, **more}))
            output = run("contract", NOTE, self.folder / "a.npy", self.folder / "b.npy", "-q", "-t", 2, "--json", "-",
                         env={**os.environ, "POLYAD_MACHINE": str(file)})
            result = json.loads(output.stdout)
            self.assertEqual(result["machine"], str(file))
            self.assertAlmostEqual(result["predicted_seconds"] / seconds, 1)
        file = self.write("machine.json", json.dumps({**constants, "seconds_per_flop": "fast"}))
        output = run("contract", NOTE, self.folder / "a.npy", self.folder / "b.npy",
                     env={**os.environ, "POLYAD_MACHINE": str(file)})
        self.assertEqual((output.returncode, output.stderr),
                         (2, f"polyad: {file}: expected a number for seconds_per_flop, as polyad doctor --calibrate "
                             "writes it\n"))

    def test_numbers_that_are_too_large_are_refused_and_their_norm_is_not(self) -> None:
        write_npy(self.folder / "a.npy", [2], [3e200, 4e200])
        write_npy(self.folder / "b.npy", [2], [1.0, 1.0])
        self.assertAlmostEqual(self.contract(expression="i,i->i")["norm"] / 5e200, 1)
        write_npy(self.folder / "b.npy", [2], [1e200, 1.0])
        (self.folder / "c.npy").unlink()
        self.assert_fails("the result has numbers that are too large for double precision", 2, "contract", "i,i->",
                          self.folder / "a.npy", self.folder / "b.npy", "-o", self.folder / "c.npy")
        self.assertFalse((self.folder / "c.npy").exists())

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_partial_results_are_not_called_as_a_tensor_is(self) -> None:
        self.tensor("a.npy", "ak", 5), self.tensor("b.npy", "kb", 6)
        result = self.contract("--stationary", "a", "--grid", "1x2", expression="C'[ab] += T[ak] * B[kb]", processes=2)
        names = [step["tensor"] for step in result["steps"]]
        self.assertIn("T'", names)
        self.assertEqual(set(names) - {"T", "T'", "B", "C'", "C''"}, set())

    def test_the_derivation_is_printed(self) -> None:
        self.note()
        text = self.succeed("contract", NOTE, self.folder / "a.npy", self.folder / "b.npy", "--explain",
                            "--stationary", "a")
        self.assertIn("  Product  C'[a,b,j,i](?,?,?,?) = A[a,c,i,k](?,?,?,?) * B[b,c,j,k](?,?,?,?)\n", text)
        self.assertIn("2. A is not moved.\n", text)
        self.assertRegex(text, r"  together: 0 words, 0 messages, [1-9][-.e\d]* s\n")
        self.assertIn("way         stationary a on a grid of 1x1x1x1\n", text)

    def test_what_makes_no_sense_gets_a_sentence(self) -> None:
        self.note()
        a, b = self.folder / "a.npy", self.folder / "b.npy"
        self.assert_fails("expression 'abc': expected two tensors, as in C[ij] += A[ik] * B[kj] or ik,kj->ij", 2,
                          "contract", "abc", a, b)
        self.assert_fails(f"{a}: has 4 dimensions, but 2 indices in the expression", 2, "contract", "ij,jk->ik", a, b)
        self.assert_fails("index a has extent 6 in B, but 7 in A", 2, "contract", "acik,acjk->ij", a, b)
        self.assert_fails("--grid 2x2 has 4 processes, but 1 runs", 2, "contract", NOTE, a, b, "--grid", "2x2")
        self.assert_fails(f"--out {a} would overwrite the first input", 2, "contract", NOTE, a, b, "-o", a)
        text = self.write("t.npy", "this is not an array of numbers\n")
        self.assert_fails(f"{text}: is no .npy array of version 1, 2 or 3", 2, "contract", NOTE, text, b)
        missing = self.folder / "none.npy"
        self.assert_fails(f"{missing}: cannot be opened for reading: No such file or directory", 2, "contract", NOTE,
                          missing, b)
        if WITH_MPI:  # one process speaks; then mpirun does
            result = run("contract", NOTE, text, b, processes=3)
            self.assertTrue(result.stderr.startswith(f"polyad: {text}: is no .npy array of version 1, 2 or 3\n"))
            self.assertEqual((result.stderr.count("polyad: "), result.returncode), (1, 2))


if __name__ == "__main__":
    unittest.main()
