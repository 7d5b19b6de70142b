"""The tables of docs/json.md list exactly the keys that the program writes, with their types."""

import array
import gzip
import os
import pathlib
import re
import struct
import sys
import typing
import unittest

sys.path.append(os.path.join(os.environ["POLYAD_SOURCE"], "tests", "cli"))
from program import SOURCE, WITH_MPI, ProgramTest  # noqa: E402

TYPES = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "object": (dict,), "null": (type(None),)}


class Key(typing.NamedTuple):
    type: str
    is_optional: bool


def read_tables() -> dict[str, dict[str, Key]]:
    """[section][path]: what docs/json.md says of a key."""
    tables = {}
    for section in re.split(r"^## ", (SOURCE / "docs" / "json.md").read_text(), flags=re.MULTILINE)[1:]:
        title, *lines = section.splitlines()
        for line in lines:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            keys = re.findall(r"`([^`]+)`", cells[0])
            if not line.startswith("| `") or len(cells) != 4:
                continue
            types = cells[1].split("; ")
            types = types if len(types) == len(keys) else types * len(keys)
            for key, kind in zip(keys, types, strict=True):
                assert key not in tables.setdefault(title, {}), f"{title}: {key} is listed twice"
                tables[title][key] = Key(kind, cells[3].startswith("Only "))
    return tables


def has_type(value: object, kind: str) -> bool:
    """Whether a value is of a type as the tables write it: `integer or null`, `list of strings or integers`."""
    if kind.startswith("list of "):
        return isinstance(value, list) and all(has_type(one, kind.removeprefix("list of ")) for one in value)
    names = re.split(r", | or ", kind)
    return any(type(value) in TYPES[name.removesuffix("s")] for name in names)


def objects_in(value: object, path: str = "") -> list[tuple[str, dict]]:
    """Every object of a result with its path: `a.`, `a[].`; the outermost has the empty path."""
    if isinstance(value, list):
        return [pair for one in value for pair in objects_in(one, path.removesuffix(".") + "[].")]
    if not isinstance(value, dict):
        return []
    return [(path, value)] + [pair for key, one in value.items() for pair in objects_in(one, f"{path}{key}.")]


class JsonTest(ProgramTest):
    TABLES = read_tables()

    def setUp(self) -> None:
        super().setUp()
        self.x, self.ratings = self.folder / "x.tns", self.folder / "ratings.tns"
        self.succeed("generate", "planted", self.x, "--dims", "30x20x10", "--nnz", 900, "-r", 2, "--quiet")
        self.succeed("generate", "ratings", self.ratings, "--users", 90, "--items", 40, "--nnz", 1500, "--quiet")

    def compare(self, section: str, *results: dict) -> None:
        """Every key of the results is in the table, with its type; every key of the table is in some result, and in all of
        them unless it is marked as optional."""
        table, seen = self.TABLES[section], set()
        for result in results:
            for path, one in objects_in(result):
                for key, value in one.items():
                    with self.subTest(section=section, key=path + key):
                        self.assertIn(path + key, table)
                        self.assertTrue(has_type(value, table[path + key].type), value)
                inner = {key: known for key, known in table.items() if key.startswith(path) and not set("[.") & set(key[len(path):])}
                required = {key for key, known in inner.items() if not known.is_optional}
                self.assertLessEqual(required, {path + key for key in one}, section)
                seen |= {path + key for key in one}
        self.assertEqual(set(table) - seen, set(), section)

    def array(self, name: str, *shape: int) -> pathlib.Path:
        header = str({"descr": "<f8", "fortran_order": False, "shape": shape}).ljust(117) + "\n"
        numbers = array.array("d", range(shape[0] * shape[1]))
        path = self.folder / name
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + numbers.tobytes())
        return path

    def test_the_types_of_the_tables_are_understood(self) -> None:
        self.assertEqual(len(self.TABLES), 19)
        self.assertTrue(has_type(["a", 2], "list of strings or integers"))
        self.assertTrue(has_type(None, "string, integer or null"))
        self.assertFalse(has_type(True, "integer"))
        self.assertFalse(has_type([1.5], "list of integers"))

    def test_keys_of_commands_for_tensors(self) -> None:
        self.compare("stats", self.result("stats", self.x), self.result("stats", self.x, "--formats"))
        table = self.write("table.csv", "user,item,rating\nann,tea,4\nbob,milk,2\n")
        dense = pathlib.Path(__file__).parent.parent / "data" / "forms" / "numpy-dense.npy"
        self.compare("look", self.result("look", self.x), self.result("look", table), self.result("look", dense))
        (self.folder / "CollegeMsg.txt.gz").write_bytes(gzip.compress(b"1 2 1082040961\n"))  # it is not downloaded then
        self.compare("get", self.result("get"))
        self.compare("get NAME", self.result("get", "college-msg", "--out", self.folder))
        bad = self.write("bad.tns", "1 1 1 2.5\n2 x 1 1\n")
        self.succeed("cpd", self.x, "-r", 2, "-i", 2, "--checkpoint", self.folder / "kept")
        self.compare("check", self.result("check", self.x), self.result("check", self.folder / "kept"),
                     self.result("check", bad, "--fix", self.folder / "fixed.tns"))
        self.succeed("cpd", self.x, "-r", 2, "-i", 2, "--out", self.folder / "model")
        self.compare("convert", self.result("convert", self.x, self.folder / "x.ptb"),
                     self.result("convert", self.folder / "model", self.folder / "model.ktensor"))
        self.compare("generate", self.result("generate", "zipf", self.folder / "z.tns", "--dims", "9x9", "--nnz", 20),
                     self.result("generate", "ratings", self.folder / "r.tns", "--users", 9, "--items", 9, "--nnz", 20))
        self.compare("predict", self.result("predict", self.folder / "model", self.x))
        self.compare("compare", self.result("compare", self.folder / "model", self.folder / "model"))
        self.compare("rank", self.result("rank", self.x, "--components", "1-2", "-i", 5))

    def test_keys_of_plans_and_partitions(self) -> None:
        graph = self.write("small.hgr", "3 4\n1 2\n2 3\n3 4\n")
        self.compare("partition", self.result("partition", self.x, "-k", 3), self.result("partition", graph, "-k", 2))
        self.compare("plan", self.result("plan", self.x, "-r", 4, "-k", "1-4"),
                     self.result("plan", self.x, "-r", 4, "-k", 2, "--memory", "1GB"),
                     self.result("plan", self.x, "-r", 4, "-k", 4, "--exchange", "routed"))
        self.compare("plan --for complete", self.result("plan", self.ratings, "--for", "complete", "-k", "2,4"))

    def test_keys_of_folds(self) -> None:
        self.compare("complete --folds", self.result("complete", self.ratings, "-r", 2, "--epochs", 1, "--folds", 2),
                     self.result("complete", self.ratings, "-r", 2, "--epochs", 1, "--folds", 2, "--implicit"))

    def test_keys_of_recommendations(self) -> None:
        model = self.folder / "model"
        self.succeed("complete", self.ratings, "-r", 2, "--epochs", 1, "--out", model)
        new = self.write("new.tsv", "1\t1000\t3\n")
        decomposition = self.folder / "decomposition"
        self.succeed("cpd", self.x, "-r", 2, "-i", 2, "--out", decomposition)
        self.compare("recommend", self.result("recommend", decomposition, "--user", 1, "--at", "3=1"),
                     self.result("recommend", decomposition, "--similar-items", 1, "--support", 0),
                     self.result("recommend", model, "--user", 7),
                     self.result("recommend", model, "--similar-items", 3),
                     self.result("recommend", model, "--user", 7, "--new-items", new),
                     self.result("recommend", model, "--similar-users", 3),
                     self.result("recommend", model, "--all", "--out", self.folder / "all.tsv"))

    def test_keys_of_the_state_of_the_machine(self) -> None:
        os.environ["POLYAD_MACHINE"] = str(self.folder / "machine.json")
        self.addCleanup(os.environ.pop, "POLYAD_MACHINE")
        self.compare("doctor", self.result("doctor"), self.result("doctor", "--calibrate"))

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_keys_of_commands_on_several_processes(self) -> None:
        decompose = ["cpd", self.x, "-r", 2, "-i", 2]
        self.compare("cpd", self.result(*decompose), self.result(*decompose, "--starts", 2),
                     self.result(*decompose, "--checkpoint", self.folder / "states"),
                     self.result(*decompose, "--missing", "--test", 0.2), self.result(*decompose, "--missing", "--biases"),
                     self.result(*decompose, "--implicit", "--test", 0.2),
                     self.result(*decompose, "--method", "opt"), self.result(*decompose, processes=2),
                     self.result(*decompose, "--distribution", "fine", "--partition", "hypergraph", processes=2),
                     self.result(*decompose, "--exchange", "routed", "--replicate", "none", "--distribution", "fine", processes=3))
        learn = ["complete", self.ratings, "-r", 2, "--epochs", 2]
        many = self.folder / "many.tns"  # enough to choose settings of lists by
        self.succeed("generate", "ratings", many, "--users", 900, "--items", 300, "--nnz", 24000, "--quiet")
        self.compare("complete", self.result("complete", many, "-r", 2, "--epochs", 2), self.result(*learn), self.result(*learn, "--test", 0.1, processes=2),
                     self.result(*learn, "--test", 0.1, "--validate", 0.1),
                     self.result(*learn, "--method", "als", "--test", 0.1), self.result(*learn, "--implicit"),
                     self.result(*learn, "--implicit", "--solver", "cg"),
                     self.result(*learn, "--search", "reg"), self.result(*learn, "--implicit", "--search", "reg"),
                     self.result(*learn, "--lists", "ratings", "--checkpoint", self.folder / "trained"))
        multiply = ["contract", "ik,kj->ij", self.array("a.npy", 8, 6), self.array("b.npy", 6, 4)]
        self.compare("contract", self.result(*multiply), self.result(*multiply, "-o", self.folder / "ab.npy", processes=2))


if __name__ == "__main__":
    unittest.main()
