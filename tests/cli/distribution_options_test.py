"""Options of distributions that few runs need, and what of them is refused."""

import unittest

from debian_on_processes import DEBIAN, DIMS, QUICK, DebianOnProcesses
from program import WITH_MPI, run


@unittest.skipUnless(WITH_MPI, "this build has no MPI")
class DistributionOptionsTest(DebianOnProcesses):
    def test_memory_decides_the_distribution(self) -> None:
        roomy = run("cpd", DEBIAN, *QUICK, "--memory", "1GB", processes=4)
        self.assertRegex(roomy.stdout, r"; fastest of \d+ candidates: predicted [\d.]+ ms per iteration, of which [\d.]+ ms communication\n")
        self.assertNotIn("not fit", roomy.stdout)
        # The second mode is long: coarse grain, and grids that leave it whole, take more than those that cut it.
        tight = run("cpd", DEBIAN, *QUICK, "--memory", "36MB", processes=4)
        self.assertEqual(tight.returncode, 0, tight.stderr)
        self.assertRegex(tight.stdout, r"; fastest of \d+ candidates \(\d+ do not fit into 36 MB per process\)")
        self.assertRegex(tight.stdout, "fine block|medium 1x4x1x1")  # which cut the second mode only
        # If none fits, the one that needs the least is tried, and the memory of each of its formats is printed once.
        result = run("cpd", DEBIAN, *QUICK, "--memory", "33.6MB", processes=4)
        self.assertEqual((result.returncode, result.stderr.count("the decomposition does not fit into 33.6 MB")), (3, 1),
                         result.stderr)
        for line in (r"  csf +[\d.]+ ms +[\d.]+ kB +[\d.]+ MB", r"  coo +[\d.]+ ms +[\d.]+ kB +[\d.]+ MB"):
            self.assertRegex(result.stderr, line)
        # With the distribution given, nothing is left to choose, and only the formats are printed.
        said = run("cpd", DEBIAN, *QUICK, "--memory", "33.6MB", "--distribution", "coarse", processes=4)
        self.assertEqual(said.returncode, 3)
        self.assertIn("the decomposition does not fit into 33.6 MB", said.stderr)

    def test_rows_may_go_in_stages(self) -> None:
        for processes, options in ((3, ("--distribution", "coarse")), (4, ("--distribution", "medium", "--grid", "2x2x1x1")),
                                   (6, ("--distribution", "fine", "--partition", "random"))):
            with self.subTest(options):
                direct = self.debian(processes, *options, "--exchange", "direct")
                routed = self.debian(processes, *options, "--exchange", "routed:2")
                self.assertTrue(all(name in ("routed:2", "replicated") for name in routed["exchange"]), routed["exchange"])
                for here, there in zip(routed["fit_trajectory"], direct["fit_trajectory"], strict=True):
                    self.assertAlmostEqual((1 - here) ** 2, (1 - there) ** 2, delta=1e-12)
                stages = routed["communication"]["stages"]
                self.assertEqual(sum(stage["words"] for stage in stages), routed["communication"]["volume_words_per_iteration"])
                self.assertEqual(sum(stage["messages"] for stage in stages), routed["communication"]["messages_per_iteration"])
                self.assertEqual(direct["communication"]["stages"], [])
        mixed = self.debian(4, "--distribution", "fine", "--exchange", "direct,routed:2,routed,auto", "--replicate", "4")
        self.assertEqual(mixed["exchange"], ["direct", "routed:2", "routed:2", "replicated"])
        by_default = self.debian(4)
        self.assertLessEqual(set(by_default["exchange"]), {"direct", "replicated"})
        fine = ("--distribution", "fine")
        for sentence, options in (
                ("--exchange fast: expected auto, direct, routed or routed:K with K stages from 2 to 30", ("--exchange", "fast")),
                ("--exchange routed:1: expected auto, direct", ("--exchange", "routed:1")),
                ("--exchange routed,direct: expected auto, direct", ("--exchange", "routed,direct")),
                ("--exchange routed:2: between 2 processes rows can only go directly", ("--exchange", "routed:2")),
                ("--exchange: mode 2 is replicated (--replicate), so that its rows are not sent",
                 (*fine, "--exchange", "direct,routed,direct,direct", "--replicate", 2)),
                ("--exchange: all modes are replicated (--replicate), so that no rows are sent",
                 (*fine, "--exchange", "routed", "--replicate", "1,2,3,4"))):
            with self.subTest(options):
                self.assert_refused(sentence, 2, *options)

    def test_systems_of_rows_go_directly_by_default(self) -> None:
        """Stages, which are worth it for rows, would send whole systems several times."""
        path = self.folder / "x.tns"
        self.succeed("generate", "zipf", path, "--dims", "60x50x40", "--nnz", 3000, "-q")
        fine = ("cpd", path, "-r", 5, "-i", 1, "-t", 1, "-q", "--distribution", "fine", "--partition", "random", "--replicate", "none")
        for options, is_routed in (((), True), (("--missing",), False), (("--implicit",), False),
                                   (("--missing", "--exchange", "auto,routed:2,auto"), None)):
            with self.subTest(options):
                names = self.result(*fine[:-2] if options else fine, *options, processes=32)["exchange"]
                expected = ["direct", "routed:2", "direct"] if is_routed is None else [name if is_routed else "direct" for name in names]
                self.assertEqual(names, expected)
                self.assertEqual(any(name.startswith("routed") for name in names), is_routed is not False)

    def test_what_only_medium_grain_has_asks_for_it(self) -> None:
        self.assertEqual(self.debian(4, "--grid", "1x1x1x4")["grid"], [1, 1, 1, 4])  # coarse would be faster
        self.assert_refused("a random partition is for coarse or fine grain", 2, "--grid", "splatt", "--partition",
                            "random")

    def test_owners_of_rows_from_a_file(self) -> None:
        owners = self.write("rows.part", "".join(f"{(i * 7 + i // 5) % 3}\n" for i in range(sum(DIMS))))
        fine = self.write("fine.part", "".join(f"{z % 3}\n" for z in range(56587)))
        every = [("--distribution", "fine", "--partition", fine), ("--distribution", "fine", "--partition", "block"),
                 ("--distribution", "medium", "--grid", "1x3x1x1"), ("--grid", "3x1x1x1", "--policy", "set"), ()]
        for options in every:
            result = self.debian(3, *options, "--row-owners", owners, "--replicate", "none")
            self.assertEqual(result["row_owners"], "file")
            self.assertIn(result["distribution"], ("medium", "fine"))
            plan = self.result("plan", DEBIAN, "-k", 3, "-r", 4, "--replicate", "none", "--row-owners", owners, *options)
            self.assertEqual({one["row_owners"] for one in plan["strategies"]}, {"file"})
            same = [one for one in plan["strategies"] if all(one[key] == result[key] for key in
                                                              ("distribution", "partition", "grid", "policy") if key in one)]
            self.assertEqual(len(same), 1)
            self.assertEqual((same[0]["volume_words"], same[0]["messages"]),
                             (result["communication"]["volume_words_per_iteration"], result["communication"]["messages_per_iteration"]))
            given = self.debian(3, *same[0]["cpd_options"])
            self.assertEqual(given["communication"], result["communication"])
        one = self.result("cpd", DEBIAN, *QUICK, "-q", "--row-owners", owners)  # on one process it has no effect
        self.assertEqual(one["row_owners"], "none")

    def test_owners_of_rows_that_do_not_fit_are_refused(self) -> None:
        short = self.write("short.part", "0\n1\n")
        wrong = self.write("wrong.part", "0\n" * 3 + "2\n")
        total = sum(DIMS)
        self.assert_refused(f"{short}: has 2 lines; expected {total}, one for each slice of all modes", 2, "--row-owners", short)
        self.assert_refused(f"{short}: has 2 lines; expected {total}", 2, "--row-owners", short, processes=1)
        self.assert_refused(f"{wrong}:4: '2' is not a part; expected a number from 0 to 1: the run has 2 processes", 2, "--row-owners", wrong)
        self.assert_fails(f"{wrong}:4: '2' is not a part; expected a number from 0 to 1: the plan is also for 2 processes", 2, "plan", DEBIAN,
                          "-k", "2,4", "--row-owners", wrong)
        missing = self.folder / "missing.part"
        self.assert_refused(f"--row-owners {missing}: expected auto, greedy, balanced, even, random, or a file; there is no such file",
                            2, "--row-owners", missing)
        self.assert_refused("there is no such file (did you mean greedy?)", 2, "--row-owners", "gredy")
        self.assert_refused("there is no such file (did you mean hypergraph?)", 2, "--partition", "hyppergraph")
        self.assert_refused(f"--row-owners {short} is for --distribution medium or fine: in coarse grain rows belong to slices", 2,
                            "--row-owners", short, "--distribution", "coarse")
        self.assert_refused(f"--row-owners {short}: all modes are replicated (--replicate), so that no row has an owner", 2,
                            "--row-owners", short, "--replicate", "1,2,3,4", "--distribution", "fine")

    def test_owners_of_rows_with_missing_cells(self) -> None:
        """Coarse grain, the default there, has no choice of owners."""
        owners = self.write("debian.rows", "".join(f"{i % 3}\n" for i in range(sum(DIMS))))
        for name, expected in (("greedy", "greedy"), (owners, "file")):
            options = ("cpd", DEBIAN, *QUICK, "-q", "--missing", "--row-owners", name)
            result, alone = self.result(*options, processes=3), self.result(*options)
            self.assertEqual((result["distribution"], result["row_owners"]), ("medium", expected))
            for here, there in zip(result["fit_trajectory"], alone["fit_trajectory"], strict=True):
                self.assertAlmostEqual(here, there, delta=1e-10)

    def test_owners_of_rows_leave_no_coarse_grain_to_a_plan(self) -> None:
        x = self.write("x.tns", "".join(f"{i % 7 + 1} {i % 5 + 1} {i % 3 + 1} 1\n" for i in range(105)))
        owners = self.write("x.rows", "".join(f"{i % 3}\n" for i in range(15)))
        plan = self.result("plan", x, "-k", 3, "-q", "--row-owners", owners, "--with-hypergraph")
        self.assertEqual({one["distribution"] for one in plan["strategies"]}, {"medium", "fine"})
        self.assert_fails(f"--row-owners {owners} is for --distribution medium or fine: in coarse grain rows belong to slices", 2,
                          "plan", x, "-k", 3, "-q", "--row-owners", owners, "--partition", owners)

    def test_more_slices_than_can_be_counted(self) -> None:
        extents = (10**8, 2**62, 2**62, 2**62, 2**62 - 10**8 + 10)  # their sum is 10 modulo 2^64
        x = self.write("x.tns", " ".join(map(str, extents)) + " 1\n1 2 3 1 1 2\n")
        short = self.write("ten.rows", "0\n" * 10)
        expected = f"{short}: has 10 lines; expected {2**63 - 1}, one for each slice of all modes"
        for command in (("cpd", x, "-r", 2), ("plan", x, "-k", 2), ("cpd", x, "-r", 2, "--distribution", "coarse")):
            file = "--partition" if "coarse" in command else "--row-owners"
            self.assert_fails(expected, 2, *command, "-q", file, short)

    def test_more_processes_than_there_is_work(self) -> None:
        """Sixteen on three nonzeros in empty surroundings; sixty-four on a hundred."""
        few = self.write("few.tns", "1 1 900 2\n4 700 1 1\n4 700 900 3\n")
        many = self.folder / "many.tns"
        self.succeed("generate", "zipf", many, "--dims", "50x40x30", "--nnz", 100, "-q")
        for path, processes in ((few, 16), (many, 64)):
            options = ("cpd", path, "-r", 2, "-i", 3, "--tol", 0, "-t", 1, "-q")
            alone, result = self.result(*options), self.result(*options, processes=processes)
            for here, there in zip(result["fit_trajectory"], alone["fit_trajectory"], strict=True):
                self.assertAlmostEqual((1 - here) ** 2, (1 - there) ** 2, delta=1e-12)

    def test_what_makes_no_sense_is_refused(self) -> None:
        self.assert_refused("the grid 3x1x1x1 is for 3 processes; 2 were started", 2, "--grid", "3x1x1x1")
        self.assert_refused("--grid 2x1: expected a number for each of the 4 modes", 2, "--grid", "2x1")
        self.assert_refused("--grid and --policy are for medium grain, not for fine", 2, "--distribution", "fine",
                            "--policy", "set")
        self.assert_refused("a random partition is for coarse or fine grain", 2, "--distribution", "medium",
                            "--partition", "random")
        self.assert_refused("--partition hypergraph is for --distribution fine or coarse", 2, "--partition", "hypergraph",
                            "--grid", "2x1x1x1")
        self.assert_refused("in coarse grain the formats are csf, coo and hicoo, not csf-two", 2, "--distribution",
                            "coarse", "--format", "csf-two")
        self.assert_refused("--grid-primes is for grids that are chosen", 2, "--grid", "splatt", "--grid-primes", 3)
        self.assert_refused("--policy ordered-1 and --policy-c 2 contradict each other", 2, "--policy", "ordered-1", "--policy-c", 2)
        self.assert_refused("--row-owners random is for --distribution fine", 2, "--row-owners", "random")

    def test_a_partition_that_does_not_fit_is_refused(self) -> None:
        short = self.write("short.part", "0\n1\n")
        self.assert_refused(f"{short}: has 2 lines; expected 56587, one for each nonzero", 2, "--distribution", "fine", "--partition", short)
        wrong = self.write("wrong.part", "0\n2\n")
        self.assert_refused(f"{wrong}:2: '2' is not a part; expected a number from 0 to 1: the run has 2 processes", 2, "--distribution", "fine",
                            "--partition", wrong)
        self.assert_refused("say whether it is for --distribution fine or coarse", 2, "--partition", wrong)


if __name__ == "__main__":
    unittest.main()
