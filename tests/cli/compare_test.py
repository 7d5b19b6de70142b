"""What `polyad compare` promises: its score and pairs, and what it refuses."""

import itertools
import math
import pathlib
import unittest

from program import WITH_MPI, ProgramTest, run

# The keys are an interface; docs/json.md says what they mean.
KEYS = {"score", "pairs", "unmatched", "dims", "first", "second", "threads", "seconds", "peak_memory_bytes"}


def columns(path: pathlib.Path) -> list[tuple[float, ...]]:
    return list(zip(*([float(word) for word in line.split()] for line in path.read_text().splitlines())))


def cosine(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return sum(x * y for x, y in zip(a, b)) / (math.hypot(*a) * math.hypot(*b))


class CompareTest(ProgramTest):
    def models(self, *ranks: int) -> list[pathlib.Path]:
        """Models of one planted tensor, with these numbers of components and a seed of their own."""
        x = self.folder / "x.tns"
        self.succeed("generate", "planted", x, "--dims", "30x20x10", "--nnz", 2000, "-r", 3, "--noise", 0.1, "-q")
        models = []
        for seed, rank in enumerate(ranks, 1):
            models.append(self.folder / f"model-{seed}")
            self.succeed("cpd", x, "-r", rank, "-i", 30, "--seed", seed, "-q", "--out", models[-1])
        return models

    def test_pairs_are_those_of_the_definition(self) -> None:
        first, second = self.models(3, 4)
        result = self.result("compare", first, second, "-t", 2)
        self.assertEqual(set(result), KEYS)
        factors = [[columns(model / f"mode{m}.mat") for m in (1, 2, 3)] for model in (first, second)]
        alike = {(i, j): math.prod(abs(cosine(factors[0][m][i], factors[1][m][j])) for m in range(3))
                 for i, j in itertools.product(range(3), range(4))}
        scores = []
        for pair in result["pairs"]:
            i, j = pair["first"] - 1, pair["second"] - 1
            self.assertAlmostEqual(pair["congruence"], max(alike.values()), places=10)
            self.assertAlmostEqual(pair["congruence"], alike[i, j], places=10)
            for m in range(3):
                self.assertAlmostEqual(pair["cosines"][m], cosine(factors[0][m][i], factors[1][m][j]), places=10)
            scores.append(pair["congruence"])
            alike = {(a, b): value for (a, b), value in alike.items() if a != i and b != j}
        self.assertEqual(len(scores), 3)
        self.assertAlmostEqual(result["score"], sum(scores) / 3, places=12)
        left = {1, 2, 3, 4} - {pair["second"] for pair in result["pairs"]}
        self.assertEqual(result["unmatched"], {"first": [], "second": sorted(left)})
        self.assertEqual((result["dims"], result["threads"]), ([30, 20, 10], 2))
        self.assertEqual((result["first"]["path"], result["second"]["components"]), (str(first), 4))

    def test_a_model_equals_itself_in_every_format(self) -> None:
        _, model = self.models(1, 3)  # the second seed finds the planted components
        for name in ("m.ktensor", "m.npz"):
            self.succeed("convert", model, self.folder / name)
            result = self.result("compare", model, self.folder / name)
            self.assertAlmostEqual(result["score"], 1, places=12)
            self.assertEqual({(pair["first"], pair["second"]) for pair in result["pairs"]}, {(r, r) for r in (1, 2, 3)})
        words = self.succeed("compare", model, model)
        self.assertIn("factor match score 1.000000: 30x20x10 models, 3 components and 3 components\n", words)
        truth = self.result("compare", model, self.folder / "x-truth.ktensor")
        self.assertGreater(truth["score"], 0.95)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_processes_agree(self) -> None:
        first, second = self.models(2, 3)
        alone = self.result("compare", first, second)
        together = self.result("compare", first, second, processes=2)
        self.assertAlmostEqual(alone["score"], together["score"], places=12)
        self.assertEqual(len(alone["pairs"]), len(together["pairs"]))

    def test_labels_that_differ_are_a_warning(self) -> None:
        for name, label in (("a", "ann"), ("b", "bob")):
            (self.folder / name).mkdir()
            for file in ("lambda.mat", "mode1.mat", "mode2.mat"):
                self.write(f"{name}/{file}", "1\n")
            self.write(f"{name}/mode-2-who.map", label + "\n")
        result = run("compare", self.folder / "a", self.folder / "b")
        self.assertEqual((result.stderr, result.returncode), (
            "polyad: warning: mode 2 has other labels in the second model; rows are compared by their numbers\n", 0))

    def test_what_is_refused(self) -> None:
        a = self.write("a.ktensor", "ktensor\n2\n2 2\n1\n1\nmatrix\n2\n2 1\n1\n2\nmatrix\n2\n2 1\n1\n2\n")
        b = self.write("b.ktensor", "ktensor\n2\n2 3\n1\n1\nmatrix\n2\n2 1\n1\n2\nmatrix\n2\n3 1\n1\n2\n3\n")
        self.assert_fails(f"{b}: has dims 2x3, the first model has 2x2; expected two models of the same tensor", 2,
                          "compare", a, b)
        x = self.write("x.tns", "1 1 1\n")
        self.assert_fails(f"{x}: is no Kruskal tensor that Polyad knows: a text that begins with 'ktensor', an .npz archive, or a "
                          "directory with lambda.mat and mode1.mat", 2, "compare", a, x)
        self.assert_fails(f"--json {a} would overwrite the first model", 2, "compare", a, a, "--json", a)


if __name__ == "__main__":
    unittest.main()
