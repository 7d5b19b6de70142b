"""`polyad cpd` on several processes: the answer of one, and who does what."""

import json
import unittest

from debian_on_processes import DEBIAN, DIMS, QUICK, DebianOnProcesses
from program import SOURCE, WITH_MPI, run


def all_keys(result: dict) -> set[str]:
    return set(result).union(*(all_keys(value) for value in result.values() if isinstance(value, dict)))


@unittest.skipUnless(WITH_MPI, "this build has no MPI")
class DistributedTest(DebianOnProcesses):
    def test_what_is_chosen_is_told(self) -> None:
        result = self.debian(4)
        self.assertIn(result["distribution"], ("coarse", "medium", "fine"))
        owners = {"coarse": ("none",), "medium": ("even", "greedy", "balanced"), "fine": ("greedy", "balanced")}
        self.assertIn(result["row_owners"], owners[result["distribution"]])
        self.assertGreater(result["predicted"]["communicate"], 0)
        self.assertEqual(result["nnz"], 56587)
        parts = ("multiply", "update", "communicate")
        self.assertAlmostEqual(sum(result["predicted"][part] for part in parts),
                               result["predicted"]["seconds_per_iteration"])

    def test_the_model_and_its_page_are_those_of_one_process(self) -> None:
        for processes in (1, 3):
            folder = self.folder / f"on-{processes}"
            folder.mkdir()
            for name in ("model", "k.npz", "k.ktensor.gz"):
                result = run("cpd", DEBIAN, *QUICK, "-q", "--out", folder / name, "--report", folder / "page.html",
                             processes=processes)
                self.assertEqual(result.returncode, 0, result.stderr)
        for m, dim in enumerate(DIMS):
            one, three = ((self.folder / f"on-{p}" / "model" / f"mode{m + 1}.mat").read_text().splitlines() for p in (1, 3))
            self.assertEqual((len(one), len(three)), (dim, dim))
            for here, there in zip(one, three, strict=True):
                for x, y in zip(here.split(), there.split(), strict=True):
                    self.assertAlmostEqual(float(x), float(y), delta=1e-9)

    def test_every_key_is_documented(self) -> None:
        documented = (SOURCE / "docs" / "json.md").read_text()
        for key in all_keys(self.debian(2)):
            self.assertRegex(documented, rf"[`.\]]{key}`")

    def test_every_distribution_gives_the_answer_of_one_process(self) -> None:
        result = self.debian(3, "--distribution", "coarse", "--partition", "random")
        self.assertEqual((result["distribution"], result["partition"], result["policy"]), ("coarse", "random", "none"))
        result = self.debian(4, "--distribution", "medium", "--grid", "2x2x1x1", "--policy", "max-min")
        self.assertEqual((result["grid"], result["policy"]), ([2, 2, 1, 1], "max-min"))
        result = self.debian(2, "--distribution", "fine", "--row-owners", "random", "--format", "hicoo")
        self.assertEqual(self.debian(3, "--distribution", "fine", "--partition", "random", "--row-owners", "balanced")["row_owners"], "balanced")
        self.assertEqual(self.debian(4, "--distribution", "medium", "--row-owners", "balanced")["row_owners"], "balanced")
        self.assertEqual((result["distribution"], result["format"]), ("fine", "hicoo"))

    def test_a_grid_may_leave_processes_out(self) -> None:
        self.assertEqual(self.debian(3, "--grid", "1x2x1x1", "--policy", "nnz", "--row-owners", "even")["grid"], [1, 2, 1, 1])
        said = run("cpd", DEBIAN, *QUICK, "--grid", "1x2x1x1", processes=3).stdout
        self.assertIn("; the grid leaves 1 process without nonzeros\n", said)
        self.assertNotIn("the grid leaves", run("cpd", DEBIAN, *QUICK, "--grid", "1x3x1x1", processes=3).stdout)

    def test_short_modes_may_be_all_reduced(self) -> None:
        result = self.debian(3, "--distribution", "medium", "--grid", "1x3x1x1", "--replicate", "3,4")
        self.assertEqual(result["replicated"], [3, 4])
        self.assertEqual(result["communication"]["all_reduced_words_per_iteration"], (58 + 8) * 4)
        self.assert_refused("--replicate 5: expected auto, none, or modes from 1 to 4", 2, "--distribution", "fine",
                            "--replicate", "5")
        self.assert_refused("--replicate is for --distribution medium or fine", 2, "--replicate", "3")

    def test_all_factors_at_once(self) -> None:
        opt = ("cpd", DEBIAN, *QUICK, "-q", "--method", "opt")
        alone = self.result(*opt)
        for options in (("--distribution", "coarse"), ("--distribution", "medium"), ("--distribution", "fine"),
                        ("--distribution", "fine", "--exchange", "routed:2")):
            with self.subTest(options):
                result = self.result(*opt, *options, processes=3)
                for here, there in zip(result["fit_trajectory"], alone["fit_trajectory"], strict=True):
                    self.assertAlmostEqual(here, there, delta=1e-9)
                sent = result["communication"]
                self.assertEqual(sent["volume_words_per_iteration"], sent["predicted_volume_words_per_iteration"])
                self.assertGreater(sent["volume_words_per_iteration"], 0)
        self.assert_refused("--nonneg requires --method als", 2, "--method", "opt", "--nonneg")
        self.assert_refused("--replicate requires --method als", 2, "--method", "opt", "--replicate", "3",
                            "--distribution", "fine")

    def test_grids_by_rule(self) -> None:
        self.assertEqual(self.debian(2, "--grid", "splatt", "--policy-c", 3)["policy"], "ordered-3")
        self.assertEqual(self.debian(2, "--grid", "predicted", "--policy", "set")["distribution"], "medium")

    def test_a_partition_from_a_file(self) -> None:
        fine = self.write("fine.part", "".join(f"{z % 3}\n" for z in range(56587)))
        coarse = self.write("coarse.part", "".join(f"{i % 3}\n" for dim in DIMS for i in range(dim)))
        self.assertEqual(self.debian(3, "--distribution", "fine", "--partition", fine)["partition"], "file")
        self.assertEqual(self.debian(3, "--distribution", "coarse", "--partition", coarse)["partition"], "file")
        for scheme, file in (("fine", fine), ("coarse", coarse)):  # on one process it has no effect
            one = self.result("cpd", DEBIAN, *QUICK, "-q", "--distribution", scheme, "--partition", file)
            self.assertEqual(one["distribution"], "none")
        short = self.write("short.part", "0\n1\n")
        self.assert_refused(f"{short}: has 2 lines; expected 56587", 2, "--distribution", "fine", "--partition", short, processes=1)

    def test_the_model_of_many_is_that_of_one(self) -> None:
        self.succeed("cpd", DEBIAN, *QUICK, "-q", "--out", self.folder / "one")
        self.succeed("cpd", DEBIAN, *QUICK, "-q", "--out", self.folder / "many", "--report", self.folder / "page.html",
                     processes=3)
        for name in ("mode1.mat", "mode4.mat", "lambda.mat"):
            one, many = ((self.folder / place / name).read_text().split() for place in ("one", "many"))
            self.assertEqual(len(one), len(many))
            self.assertLess(max(abs(float(a) - float(b)) for a, b in zip(one, many)), 1e-6, name)
        self.assertEqual((self.folder / "one" / "mode-1-team.map").read_text(),
                         (self.folder / "many" / "mode-1-team.map").read_text())
        self.assertIn("moving nonzeros", (self.folder / "page.html").read_text())

    def test_indices_may_be_as_large_as_hashes(self) -> None:
        path = self.write("hashes.tns", "1 1 1 1.5\n2 4000000000000000000 3 2.5\n3 5 2 0.5\n2 5 1 1\n")
        fits = [self.result("cpd", path, "-r", 2, "-i", 3, processes=processes)["fit"] for processes in (1, 3)]
        self.assertAlmostEqual(*fits, delta=1e-9)


if __name__ == "__main__":
    unittest.main()
