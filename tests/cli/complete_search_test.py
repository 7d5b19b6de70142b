"""`polyad complete --search`: what each trial measures, which is chosen, and the model."""

import unittest

from program import WITH_MPI, ProgramTest, run


class SearchTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.x = self.folder / "ratings.tns"
        self.succeed("generate", "ratings", self.x, "--users", 150, "--items", 80, "--nnz", 3000, "-r", 2, "--test", 0.1, "-q")
        self.test = self.folder / "ratings-test.tns"

    def complete(self, *options: object, processes: int = 0, epochs: int = 6) -> dict:
        return self.result("complete", self.x, "-q", "-t", 1, "-e", epochs, *options, processes=processes)

    def refused(self, *options: object) -> str:
        process = run("complete", self.x, *options)
        self.assertEqual(process.returncode, 2)
        return process.stderr

    def test_a_trial_is_a_training_that_is_validated(self) -> None:
        for method in ("sgd", "als"):
            found = self.complete("--method", method, "--test", self.test, "--search", "rank=2,5", "--search", "reg=0.01,0.3")
            settings = [(trial["rank"], trial["regularisation"]) for trial in found["search"]]
            self.assertEqual(settings, [(2, 0.01), (2, 0.3), (5, 0.01), (5, 0.3)])
            for trial in found["search"]:
                alone = self.complete("--method", method, "--test", self.test, "--validate", 0.1, "-r", trial["rank"],
                                      "--reg", trial["regularisation"])
                for key in ("validation_rmse", "validation_mae", "best_epoch"):
                    self.assertEqual(trial[key], alone[key])
                if trial["chosen"]:
                    for key in ("test_rmse", "train_rmse", "validation_rmse", "rank", "regularisation", "ranking"):
                        self.assertEqual(found[key], alone[key])
            best = min(found["search"], key=lambda trial: trial["validation_rmse"])
            self.assertEqual([trial for trial in found["search"] if trial["chosen"]], [best])

    def test_no_trial_sees_the_test_ratings(self) -> None:
        other = self.write("other.tns", "".join(
            f"{user} {item} 1\n" for user, item, _ in (line.split() for line in self.test.read_text().splitlines() if line[0] != "#")))
        for options in (("--search", "lr=0.02,0.05"), ("--implicit", "--search", "alpha=1,10")):
            trials = [[{key: value for key, value in trial.items() if key != "seconds"}
                       for trial in self.complete("-r", 3, "--test", test, *options)["search"]] for test in (self.test, other)]
            self.assertEqual(*trials)
            self.assertEqual(len(trials[0]), 2)

    def test_lists_choose_among_models_of_implicit_feedback(self) -> None:
        found = self.complete("--implicit", "--search", "rank=1,8", "--search", "alpha", "--test", self.test,
                              "--out", self.folder / "model", "--report", self.folder / "page.html")
        self.assertEqual([trial["alpha"] for trial in found["search"][:3]], [1, 3, 9])
        best = max(found["search"], key=lambda trial: trial["validation_ndcg"])
        self.assertEqual([trial for trial in found["search"] if trial["chosen"]], [best])
        self.assertEqual((found["rank"], found["alpha"]), (best["rank"], best["alpha"]))
        alone = self.complete("--implicit", "-r", best["rank"], "--alpha", best["alpha"], "--test", self.test)
        self.assertEqual(found["ranking"], alone["ranking"])
        self.assertEqual(found["ratings"], alone["ratings"])
        page = (self.folder / "page.html").read_text()
        self.assertIn("validation NDCG", page)
        self.assertEqual([page.count(f"<tr><th>{rank}</th>") for rank in (1, 8)], [3, 3])

    def test_the_validation_ratings_of_implicit_feedback_may_be_given(self) -> None:
        """As a share, whose ratings the chosen model learns from, and as a file, from which it does not."""
        options = ("--implicit", "-r", 3, "--search", "alpha=1,10", "--test", self.test)
        usual, same, other = (self.complete(*options, *further) for further in ((), ("--validate", 0.1), ("--validate", 0.3)))
        ndcgs = [[trial["validation_ndcg"] for trial in found["search"]] for found in (usual, same, other)]
        self.assertEqual(ndcgs[0], ndcgs[1])
        self.assertNotEqual(ndcgs[0], ndcgs[2])
        self.assertEqual(usual["ratings"], other["ratings"])
        file = self.write("validation.tns", "1 1 5\n2 2 5\n")
        self.assertEqual(self.complete(*options, "--validate", file)["ratings"], usual["ratings"])
        self.assertIn("--implicit has no errors that could choose an epoch", self.refused("--implicit", "--validate", 0.1))

    def test_implicit_feedback_has_no_errors_to_be_patient_with(self) -> None:
        for options in ((), ("--test", self.test), ("--folds", 2), ("--search", "rank=1,2", "--test", self.test)):
            self.assertIn("--implicit has no errors that could end the training: --patience has no effect",
                          self.refused("--implicit", "--patience", 2, *options))
        self.succeed("complete", self.x, "--implicit", "--patience", 0, "-e", 2)

    def test_lists_that_nobody_finds_relevant_are_told(self) -> None:
        for implicit in ((), ("--implicit",)):
            text = self.succeed("complete", self.x, "--test", self.test, "--relevant", 99, "-e", 2, *implicit)
            self.assertIn("lists are not measured: no user has a test rating of 99 or more, which would be relevant", text)

    def test_values_around_the_given_ones(self) -> None:
        trials = self.complete("-r", 2, "--search", "auto", "--reg", 0.2, "--lr", 0.01, epochs=1)["search"]
        self.assertEqual(len(trials), 36)
        self.assertEqual([{trial[key] for trial in trials} for key in ("rank", "regularisation", "learning_rate")],
                         [{8, 16, 32, 64}, {0.1, 0.2, 0.4}, {0.005, 0.01, 0.02}])
        self.assertEqual(len(self.complete("--method", "als", "--search", "auto", epochs=1)["search"]), 12)
        text = self.succeed("complete", self.x, "--search", "rank=1,2", "--epochs", 2)
        self.assertIn("1 factor, regularisation 0.05, learning rate 0.05: validation RMSE", text)
        self.assertIn("of 2 trials the one with", text)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_least_squares_choose_alike_on_several_processes(self) -> None:
        options = ("--method", "als", "--precision", "double", "--search", "rank=2,4", "--search", "reg", "--test", self.test)
        one, three = self.complete(*options), self.complete(*options, processes=3)
        for a, b in zip(one["search"], three["search"], strict=True):
            self.assertAlmostEqual(a["validation_rmse"], b["validation_rmse"], places=9)
        self.assertEqual([one[key] for key in ("rank", "regularisation", "best_epoch")],
                         [three[key] for key in ("rank", "regularisation", "best_epoch")])

    def test_what_makes_no_sense_is_refused(self) -> None:
        self.assertIn("--search depth: expected auto, or rank, reg, lr or alpha", self.refused("--search", "depth"))
        self.assertIn("--search rank=4,x: 'x' is not a number", self.refused("--search", "rank=4,x"))
        self.assertIn("--search rank=: '' is not a number", self.refused("--search", "rank="))
        self.assertIn("--rank 0: expected a number from 1", self.refused("--search", "rank=0,1"))
        self.assertIn("--search alpha: --method sgd has no such setting", self.refused("--search", "alpha"))
        self.assertIn("--search of --alpha requires --implicit", self.refused("--search", "alpha=1"))
        self.assertIn("--search of --lr: least squares have none", self.refused("--implicit", "--search", "lr=1"))
        self.assertIn("it requires --ranking of at least 1", self.refused("--implicit", "--ranking", 0, "--search", "rank"))
        self.assertIn("more than 1000 combinations", self.refused(
            "--search", "rank=" + ",".join(map(str, range(1, 40))), "--search", "reg=" + ",".join(map(str, range(1, 40)))))
        for option in (("--folds", 2), ("--resume", self.folder)):
            self.assertIn("excludes", self.refused("--search", "rank", *option))


if __name__ == "__main__":
    unittest.main()
