"""`polyad complete --method als` and `--implicit`: what is solved, on how many processes, and the lists."""

import os
import random
import unittest

from program import WITH_MPI, ProgramTest, run
from rating_model import read_npz

CG_FROM = 64  # factors, by default
os.environ["OMP_WAIT_POLICY"] = "passive"  # more threads than cores must not wait in circles


def solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """By elimination with pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    n = len(rows)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    for k in reversed(range(n)):
        rows[k][n] = (rows[k][n] - sum(rows[k][j] * rows[j][n] for j in range(k + 1, n))) / rows[k][k]
    return [row[n] for row in rows]


class LeastSquaresTest(ProgramTest):
    def ratings(self, users: int, items: int, share: float, seed: int, values: tuple = (1, 2, 3, 4, 5)) -> dict:
        draw = random.Random(seed)
        cells = {(u, i): draw.choice(values) for u in range(users) for i in range(items) if draw.random() < share}
        cells[users - 1, items - 1] = values[0]
        self.x = self.write("x.tns", "".join(f"{u + 1} {i + 1} {v}\n" for (u, i), v in cells.items()))
        return cells

    def train(self, *options: object, processes: int = 0) -> dict:
        return self.result("complete", self.x, "-t", 1, "-q", *options, processes=processes)

    def test_users_are_the_solutions_for_the_items(self) -> None:
        """Users are solved last: each row minimises the loss for the items as they are."""
        for rank, reg, shrink in ((1, 0.05, 2), (3, 0.2, 0.5), (7, 0.01, 1)):
            cells = self.ratings(9, 7, 0.4, rank)
            self.train("-r", rank, "--method", "als", "--reg", reg, "--shrink", shrink, "-e", 4,
                       "--precision", "double", "--out", self.folder / "m")
            model = read_npz(self.folder / "m" / "model.npz")
            mean = sum(cells.values()) / len(cells)
            scale = (sum((v - mean) ** 2 for v in cells.values()) / len(cells)) ** 0.5
            self.assertAlmostEqual(model["mean"], mean)
            for user in range(9):
                rated = [(i, v) for (u, i), v in cells.items() if u == user]
                if not rated:
                    continue
                matrix = [[0.0] * (rank + 1) for _ in range(rank + 1)]
                right = [0.0] * (rank + 1)
                for item, value in rated:
                    h = [*model["item_factors"][item], 1.0]
                    rest = value - mean - model["item_biases"][item]
                    for a in range(rank + 1):
                        right[a] += rest * h[a]
                        for b in range(rank + 1):
                            matrix[a][b] += h[a] * h[b]
                for a in range(rank):  # both sides of the factors have the root of the scale
                    matrix[a][a] += scale * (reg * len(rated) + shrink)
                matrix[rank][rank] += shrink
                expected = solve(matrix, right)
                for a in range(rank):
                    self.assertAlmostEqual(model["user_factors"][user][a], expected[a], places=8)
                self.assertAlmostEqual(model["user_biases"][user], expected[rank], places=8)

    def test_users_are_the_solutions_over_all_items(self) -> None:
        """The same with implicit feedback, of counts, zeros and dislikes."""
        for rank, alpha in ((1, 3), (4, 0.5), (6, 20)):
            cells = self.ratings(8, 6, 0.4, 10 + rank, values=(1, 2, 30, 0, -4))
            self.train("-r", rank, "--implicit", "--alpha", alpha, "--reg", 0.1, "--shrink", 2, "-e", 3,
                       "--precision", "double", "--out", self.folder / "m")
            model = read_npz(self.folder / "m" / "model.npz")
            items = model["item_factors"]
            mean = sum(map(abs, cells.values())) / len(cells)
            for user in range(8):
                count = sum(u == user for u, _ in cells)
                if count == 0:
                    continue
                matrix = [[(0.1 * count + 2 if a == b else 0.0) for b in range(rank)] for a in range(rank)]
                right = [0.0] * rank
                for item in range(6):
                    value = cells.get((user, item), 0)
                    weight = 1 + alpha * abs(value) / mean
                    for a in range(rank):
                        right[a] += weight * items[item][a] * (value > 0)
                        for b in range(rank):
                            matrix[a][b] += weight * items[item][a] * items[item][b]
                for here, expected in zip(model["user_factors"][user], solve(matrix, right)):
                    self.assertAlmostEqual(here, expected, places=8)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_any_number_of_processes_gives_the_same(self) -> None:
        self.ratings(40, 25, 0.2, 3)
        for options in (("--method", "als", "--test", 0.2), ("--method", "als", "--no-bias"), ("--implicit",),
                        ("--implicit", "--solver", "cg"), ("--method", "als", "--solver", "cg", "--cg-steps", 1),
                        ("--method", "als", "--test", 0.2, "--validate", 0.2)):
            options = (*options, "-r", 3, "-e", 6, "--precision", "double")
            alone = self.train(*options)
            for processes in (2, 3, 8) if "cg" in options else (2, 3, 7):
                with self.subTest(options=options, processes=processes):
                    result = self.train(*options, processes=processes)
                    self.assertEqual(result["volume_words_per_epoch"], result["predicted_volume_words_per_epoch"])
                    self.assertEqual(result["test_ratings"], alone["test_ratings"])
                    for here, there in zip(result["per_epoch"], alone["per_epoch"], strict=True):
                        for key in set(there) - {"seconds"}:
                            self.assertAlmostEqual(here[key], there[key], delta=1e-8 * abs(there[key]), msg=key)
                    if "test_rmse" in alone:
                        self.assertAlmostEqual(result["test_rmse"], alone["test_rmse"], places=7)

    def test_the_loss_falls_with_every_epoch(self) -> None:
        self.ratings(30, 20, 0.3, 4)
        for options in (("--method", "als"), ("--implicit",), ("--method", "als", "--solver", "cg", "--cg-steps", 1),
                        ("--implicit", "--solver", "cg"), ("--implicit", "--solver", "cg", "--cg-steps", 2)):
            losses = [epoch["loss"] for epoch in self.train(*options, "-r", 4, "--precision", "double")["per_epoch"]]
            self.assertGreater(len(losses), 3)
            for before, after in zip(losses, losses[1:]):
                self.assertLess(after, before * (1 + 1e-12))

    def test_conjugate_gradients_with_enough_steps_are_exact(self) -> None:
        """With users and items whose values are all zero, and some with one value."""
        cells = self.ratings(30, 20, 0.2, 5)
        cells.update({(30, 0): 0, (30, 1): 0, (31, 2): 2, (0, 20): 0})
        self.x = self.write("r.tns", "".join(f"{u + 1} {i + 1} {v}\n" for (u, i), v in cells.items()))
        for method in (("--implicit", "--shrink", 0.5), ("--method", "als"), ("--method", "als", "--no-bias")):
            options = (*method, "-r", 5, "-e", 4, "--precision", "double")
            exact = self.train(*options, "--solver", "cholesky")
            steps = self.train(*options, "--solver", "cg", "--cg-steps", 60)
            few = self.train(*options, "--solver", "cg")
            self.assertEqual((exact["solver"], steps["solver"], steps["cg_steps"], few["cg_steps"]), ("cholesky", "cg", 60, 3))
            self.assertNotIn("cg_steps", exact)
            for here, there, slower in zip(steps["per_epoch"], exact["per_epoch"], few["per_epoch"], strict=True):
                self.assertAlmostEqual(here["loss"], there["loss"], delta=1e-8 * there["loss"])
                self.assertNotEqual(slower["loss"], there["loss"])

    def test_many_factors_take_conjugate_gradients(self) -> None:
        self.ratings(12, 10, 0.3, 6)
        for rank, solver in ((CG_FROM - 1, "cholesky"), (CG_FROM, "cg")):
            for method in (("--implicit",), ("--method", "als")):
                self.assertEqual(self.train(*method, "-r", rank, "-e", 1)["solver"], solver)
        self.assertNotIn("solver", self.train("-r", 100, "-e", 1))
        self.assertIn(f"cg from {CG_FROM} factors on", " ".join(self.succeed("complete", "--help").split()))

    def test_predictions_are_better_than_biases(self) -> None:
        self.x = self.folder / "r.tns"
        self.succeed("generate", "ratings", self.x, "--users", 600, "--items", 200, "--nnz", 30000, "-r", 3, "--noise", 0.3, "-q")
        result = self.train("-r", 3, "--method", "als", "--test", 0.1)
        self.assertLess(result["test_rmse"], 0.9 * result["baselines"]["biases"])
        gradient = self.train("-r", 3, "--test", 0.1)
        self.assertLess(result["test_rmse"], 1.03 * gradient["test_rmse"])

    def test_lists_of_implicit_feedback_follow_tastes(self) -> None:
        """Users choose mostly among the items of their own group; some items are popular with all."""
        draw = random.Random(5)
        lines = []
        for user in range(300):
            group = user % 4
            own = [i for i in range(80) if i % 4 == group]
            for item in set(draw.sample(own, 9)) | {draw.randrange(80), draw.choice((80, 81, 82, 83))}:
                lines.append(f"{user + 1} {item + 1} 1\n")
        self.x = self.write("x.tns", "".join(lines))
        ranking = self.train("-r", 6, "--implicit", "--test", 0.25)["ranking"]
        self.assertGreater(ranking["ndcg"], 1.3 * ranking["popularity"]["ndcg"])
        warned = run("complete", self.x, "-r", 2, "-e", 1, "-q").stderr
        self.assertIn("--implicit learns from what users chose instead", warned)
        self.assertEqual(run("complete", self.x, "-r", 2, "-e", 1, "--implicit", "-q").stderr, "")

    def test_a_user_who_is_folded_in_gets_the_list_of_the_same_user_in_the_model(self) -> None:
        cells = self.ratings(40, 30, 0.3, 6)
        for options in (("--implicit",), ("--implicit", "--alpha", 10, "--reg", 0)):
            model = self.folder / "model"
            self.train(*options, "-r", 4, "--precision", "double", "--out", model)
            mine = self.write("mine.tns", "".join(f"{i + 1} {v}\n" for (u, i), v in cells.items() if u == 6))
            known = self.result("recommend", model, "--user", 7)["recommendations"][0]["items"]
            new = self.result("recommend", model, "--ratings", mine)["recommendations"][0]["items"]
            self.assertEqual([one["item"] for one in new], [one["item"] for one in known])
            for here, there in zip(new, known):
                self.assertAlmostEqual(here["rating"], there["rating"], places=7)

    def test_what_has_no_effect_is_refused(self) -> None:
        self.ratings(5, 5, 0.5, 1)
        for sentence, options in (
                ("--schedule requires --method sgd", ("--method", "als", "--schedule", "bold")),
                ("--lr requires --method sgd", ("--method", "als", "--lr", 0.1)),
                ("--by requires --method sgd", ("--implicit", "--by", "items")),
                ("--solver requires --method als or --implicit", ("--solver", "cg")),
                ("--cg-steps requires --solver cg", ("--implicit", "--cg-steps", 2)),
                ("--cg-steps requires --solver cg", ("--implicit", "--solver", "cholesky", "--cg-steps", 2)),
                ("--partition requires --method sgd", ("--implicit", "--partition", "block")),
                ("--implicit has no biases: --no-bias has no effect", ("--implicit", "--no-bias")),
                ("--implicit has no errors that could choose an epoch: --validate has no effect",
                 ("--implicit", "--validate", 0.1)),
                ("--implicit has no errors: --folds with --ranking 0 has nothing to measure",
                 ("--implicit", "--folds", 3, "--ranking", 0))):
            with self.subTest(options=options):
                self.assert_fails(sentence, 2, "complete", self.x, *options)

    def test_what_a_gpu_does_not_do_is_refused_by_name(self) -> None:
        self.ratings(5, 5, 0.5, 1)
        least_squares = (("--method", "als"), ("--implicit",))
        for sentence, options in (
                ("--device gpu requires --method als or --implicit", ()),
                ("--device gpu requires --method als or --implicit", ("--lists", "ratings")),
                *(("--device gpu requires --solver cholesky", (*method, "--solver", "cg")) for method in least_squares),
                *(("--device gpu requires --rank at most 127", (*method, "-r", 128)) for method in least_squares)):
            with self.subTest(options=options):
                self.assert_fails(sentence, 2, "complete", self.x, "--device", "gpu", *options)
        self.assert_fails("--device tpu: expected auto, cpu, gpu or a GPU by its number, as in gpu:0", 2, "complete", self.x,
                          "--device", "tpu")

    def test_a_gpu_where_there_is_none(self) -> None:
        if self.result("doctor")["gpus"]:
            self.skipTest("this machine has a GPU")
        self.ratings(12, 10, 0.3, 6)
        for method in (("--implicit",), ("--method", "als", "-r", CG_FROM)):
            result = run("complete", self.x, *method, "--device", "gpu")
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, r"^polyad: --device gpu: (this program was built without CUDA|no GPU was found)")
        for method in ((), ("--implicit",), ("--method", "als")):
            for device in ("cpu", "auto"):
                self.assertEqual(self.train(*method, "-e", 1, "--device", device)["device"], "cpu")


if __name__ == "__main__":
    unittest.main()
