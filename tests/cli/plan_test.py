"""What `polyad plan` promises: that a run does as planned, its keys, its recommendation, and what it refuses."""

import json
import math
import os
import pathlib
import unittest

from program import SOURCE, WITH_MPI, ProgramTest, run

os.environ["OMP_WAIT_POLICY"] = "passive"

DEBIAN = SOURCE / "data" / "debian.tns.gz"

# The keys are an interface; docs/json.md says what they mean.
KEYS = {"strategies", "recommended", "reason", "recommended_on", "rank", "seed", "dims", "nnz", "duplicates",
        "memory_limit_bytes", "machine", "constants", "threads", "threads_per_process", "processes_per_machine", "seconds", "peak_memory_bytes"}
STRATEGY_KEYS = {"row_owners", "processes", "distribution", "partition", "grid", "policy", "replicated", "exchange", "load", "volume_per_mode",
                 "messages_per_mode", "stages", "volume_words", "max_volume_words", "messages", "max_messages", "all_reduced_words",
                 "imbalance", "memory_bytes", "fits", "predicted_seconds_per_iteration", "predicted", "partition_seconds",
                 "break_even_iterations", "cpd_options"}
INNER_KEYS = {
    "imbalance": {"nnz", "volume", "rows"},
    "predicted": {"multiply", "update", "communicate"},
}


class PlanTest(ProgramTest):
    def plan(self, path: pathlib.Path, *options: object) -> dict:
        return self.result("plan", path, "-q", *options)

    def generated(self, *options: object) -> pathlib.Path:
        path = self.folder / "generated.tns"
        self.succeed("generate", "zipf", path, "--dims", "60x50x40", "--nnz", 3000, "-q", *options)
        return path

    def with_duplicates(self) -> pathlib.Path:
        lines = self.generated().read_text().splitlines()
        data = [line for line in lines if not line.startswith("#")]
        return self.write("twice.tns", "\n".join(data + data[5:900:7] + data[:40]) + "\n")


class ResultTest(PlanTest):
    def test_every_key_is_there_and_documented(self) -> None:
        result = self.plan(DEBIAN, "-k", "1,4,6", "-r", 5)
        documented = (SOURCE / "docs" / "json.md").read_text()
        self.assertEqual(set(result), KEYS)
        self.assertEqual(set(result["seconds"]), {"load", "count", "plan"})
        for strategy in result["strategies"]:
            self.assertEqual(set(strategy), STRATEGY_KEYS)
            for key, inner in INNER_KEYS.items():
                self.assertEqual(set(strategy[key]), inner, key)
            for key in ("load", "volume_per_mode", "messages_per_mode"):
                self.assertEqual([set(mode) for mode in strategy[key]], 4 * [{"max", "avg"}])
            self.assertAlmostEqual(sum(strategy["predicted"].values()), strategy["predicted_seconds_per_iteration"])
            self.assertAlmostEqual(sum(mode["avg"] for mode in strategy["volume_per_mode"]) * strategy["processes"],
                                   strategy["volume_words"], delta=1)
        for key in KEYS | STRATEGY_KEYS | {"max", "avg"}.union(*INNER_KEYS.values()):
            self.assertRegex(documented, rf"[`.\]]{key}`")
        self.assertEqual((result["rank"], result["nnz"], result["machine"]), (5, 56587, "built in"))
        self.assertEqual({strategy["processes"] for strategy in result["strategies"]}, {1, 4, 6})
        alone = result["strategies"][0]
        self.assertEqual((alone["distribution"], alone["partition"], alone["grid"], alone["cpd_options"]),
                         ("none", "none", [1, 1, 1, 1], []))

    def test_it_recommends_the_fastest_that_fits(self) -> None:
        free = self.plan(DEBIAN, "-k", "2,8", "-r", 8)
        self.assertIsNone(free["memory_limit_bytes"])
        limit = sorted(strategy["memory_bytes"] for strategy in free["strategies"])[10]
        tight = self.plan(DEBIAN, "-k", "2,8", "-r", 8, "--memory", limit)
        self.assertEqual(tight["memory_limit_bytes"], limit)
        self.assertIn("do not fit into", tight["reason"])
        for result in (free, tight):
            strategies = result["strategies"]
            fitting = [s["predicted_seconds_per_iteration"] for s in strategies if s["fits"]]
            best = strategies[result["recommended"]]
            self.assertTrue(best["fits"])
            self.assertEqual(best["predicted_seconds_per_iteration"], min(fitting))
            self.assertEqual([here["processes"] for here in result["recommended_on"]], [2, 8])
        for strategy in tight["strategies"]:
            self.assertEqual(strategy["fits"], strategy["memory_bytes"] <= limit)
        none = self.plan(DEBIAN, "-k", 4, "--memory", "1MB")
        self.assertIsNone(none["recommended"])
        self.assertEqual(none["recommended_on"], [{"processes": 4, "recommended": None}])
        self.assertRegex(none["reason"], "^none of .* fits into 1 MB per process; .* needs the least")

    def test_a_plan_repeated_is_the_same(self) -> None:
        one, other = (self.plan(DEBIAN, "-k", "4", "-t", threads) for threads in (1, 3))
        for result in (one, other):
            for strategy in result["strategies"]:
                del strategy["partition_seconds"], strategy["break_even_iterations"]
        self.assertEqual(one["strategies"], other["strategies"])

    def test_constants_come_from_the_file_of_the_machine(self) -> None:
        constants = self.plan(DEBIAN, "-k", 2)["constants"]
        file = self.write("machine.json", json.dumps({**constants, "seconds_per_word": 1}))
        result = run("plan", DEBIAN, "-k", 2, "-q", "--json", "-", env={**os.environ, "POLYAD_MACHINE": str(file)})
        slow = json.loads(result.stdout)
        self.assertEqual((slow["machine"], slow["constants"]["seconds_per_word"]), (str(file), 1))
        self.assertGreater(slow["strategies"][0]["predicted_seconds_per_iteration"], 1)

    def test_numbers_of_processes(self) -> None:
        tensor = self.write("tensor.tns", "1 1 900 2\n4 700 1 1\n4 700 900 3\n")
        matrix = self.write("matrix.tns", "1 900 2\n4 1 1\n4 900 3\n")
        for path, text, counts in ((tensor, "3", {3}), (tensor, "1-3,8", {1, 2, 3, 8}), (tensor, "1048576", {1048576}),
                                   (matrix, "1048576", {1048576})):
            result = self.plan(path, "-k", text, "-r", 2)
            self.assertEqual({strategy["processes"] for strategy in result["strategies"]}, counts)
            self.assertTrue(all(strategy["predicted_seconds_per_iteration"] > 0 for strategy in result["strategies"]))


@unittest.skipUnless(WITH_MPI, "this build has no MPI")
class AsPlannedTest(PlanTest):
    """A run with the options that the plan gives sends what the plan says: words, messages, the most of both."""

    def assert_as_planned(self, path: pathlib.Path, strategy: dict, *options: object) -> None:
        ran = self.result("cpd", path, "-r", 5, "-i", 2, "--tol", 0, "-t", 1, "-q", *options, *strategy["cpd_options"],
                          processes=strategy["processes"])
        sent = ran["communication"]
        for key, there in (("volume_words", "volume_words_per_iteration"), ("messages", "messages_per_iteration"),
                           ("max_volume_words", "max_volume_words"), ("max_messages", "max_messages"),
                           ("all_reduced_words", "all_reduced_words_per_iteration")):
            self.assertEqual(strategy[key], sent[there], (key, strategy["cpd_options"]))
        for key in ("distribution", "partition", "grid", "policy", "replicated", "exchange"):
            self.assertEqual(strategy[key], ran[key], strategy["cpd_options"])
        stages = [{key: value for key, value in stage.items() if key != "max_words"} for stage in strategy["stages"]]
        self.assertEqual(stages, sent["stages"], strategy["cpd_options"])
        for key, value in strategy["imbalance"].items():
            self.assertAlmostEqual(value, ran["imbalance"][key], msg=key)
        # A plan counts the fibers of each process; a run estimates them, to a few percent, because counting takes a sort.
        self.assertLess(abs(strategy["predicted"]["multiply"] / ran["predicted"]["multiply"] - 1), 0.03)
        for key in set(strategy["predicted"]) - {"multiply"}:
            self.assertAlmostEqual(strategy["predicted"][key], ran["predicted"][key], msg=key)
        # A run also counts its labels and what it has measured of its own reading, which a plan does not know:
        # for tensors as small as these, up to some 10 MB.
        self.assertGreaterEqual(strategy["memory_bytes"] + 12e6, ran["predicted"]["peak_memory_bytes"])

    def some_of(self, result: dict, processes: int, every: int) -> list[dict]:
        """The first of each scheme and partition, and of the rest every so manyth."""
        chosen, seen = [], set()
        here = [strategy for strategy in result["strategies"] if strategy["processes"] == processes]
        for number, strategy in enumerate(here):
            kind = (strategy["distribution"], strategy["partition"])
            if kind not in seen or number % every == 0:
                chosen.append(strategy)
            seen.add(kind)
        return chosen

    def test_every_scheme_on_two_three_and_four_processes(self) -> None:
        path = self.with_duplicates()
        result = self.plan(path, "-k", "2,3,4", "-r", 5)
        self.assertGreater(result["duplicates"], 0)
        for processes in (2, 3, 4):
            for strategy in self.some_of(result, processes, 7):
                self.assert_as_planned(path, strategy)

    def test_the_bundled_tensor(self) -> None:
        result = self.plan(DEBIAN, "-k", "4", "-r", 5)
        for strategy in self.some_of(result, 4, 20):
            self.assert_as_planned(DEBIAN, strategy)

    def test_other_seeds_owners_and_replicated_modes(self) -> None:
        path = self.generated()
        narrow = ("-k", 3, "-r", 5, "--distribution", "fine", "--row-owners", "random", "--seed", 7, "--replicate", "3")
        result = self.plan(path, *narrow)
        self.assertEqual(len(result["strategies"]), 2)
        for strategy in result["strategies"]:
            self.assertEqual(strategy["replicated"], [3])
            self.assert_as_planned(path, strategy)

    def test_rows_in_stages(self) -> None:
        path = self.with_duplicates()
        for processes, exchange in ((3, "routed:2"), (4, "routed"), (5, "direct,routed:3,routed:2")):
            result = self.plan(path, "-k", processes, "-r", 5, "--exchange", exchange)
            some = self.some_of(result, processes, 15)
            self.assertTrue(any(strategy["stages"] for strategy in some))
            for strategy in some:
                self.assert_as_planned(path, strategy)

    def test_stages_are_chosen_on_many_processes(self) -> None:
        path = self.generated()
        narrow = (path, "-r", 5, "--distribution", "fine", "--partition", "random", "--replicate", "none")
        for processes in (16, 64, 1024):
            seconds = {}
            for exchange in ("direct", "auto"):
                best = self.plan(*narrow, "-k", processes, "--exchange", exchange)["strategies"][0]
                seconds[exchange] = best["predicted_seconds_per_iteration"]
                is_routed = exchange == "auto" and processes >= 32
                self.assertEqual([name != "direct" for name in best["exchange"]], [is_routed] * 3, (processes, best["exchange"]))
                self.assertEqual(best["cpd_options"][-2:], ["--exchange", ",".join(best["exchange"]) if is_routed else "direct"]
                                 if processes >= 32 else best["cpd_options"][-2:])
            if processes >= 32:
                self.assertLess(seconds["auto"], 0.8 * seconds["direct"])
        self.assert_fails("--exchange routed:5: between 16 processes rows can go in at most 4 stages", 2, "plan", path, "-k", 16,
                          "--exchange", "routed:5")

    def test_the_first_stage_stays_within_a_machine(self) -> None:
        path = self.generated()
        narrow = (path, "-k", 64, "-r", 5, "--distribution", "fine", "--partition", "random", "--row-owners", "greedy", "--replicate", "none")
        stages = {}
        for per_machine in (None, 1, 64, 16, 5):
            result = self.plan(*narrow, "--exchange", "routed:2", *(() if per_machine is None else ("--per-machine", per_machine)))
            self.assertEqual(result["processes_per_machine"], per_machine)
            stages[per_machine] = result["strategies"][0]["stages"]
        # One machine, machines of one process and machines of unequal size have digits of 8 and 8; machines of 16 have 16 and 4.
        for same in (1, 64, 5):
            self.assertEqual(stages[same], stages[None])
        self.assertEqual([max(stage["max_messages"] for stage in stages[16] if stage["stage"] == s) for s in (1, 2)], [30, 6])
        self.assertEqual([max(stage["max_messages"] for stage in stages[None] if stage["stage"] == s) for s in (1, 2)], [14, 14])
        self.assert_fails("--per-machine: Value 0 not in range 1 to 1048576; see polyad plan --help", 2, "plan", path, "-k", 4, "--per-machine", 0)

    def test_a_partition_from_a_file(self) -> None:
        path = self.with_duplicates()
        count = len(path.read_text().splitlines())
        fine = self.write("fine.part", "".join(f"{(z * z + z // 7) % 3}\n" for z in range(count)))
        coarse = self.write("coarse.part", "".join(f"{i % 3}\n" for dim in (60, 50, 40) for i in range(dim)))
        for kind, file in (("fine", fine), ("coarse", coarse)):
            result = self.plan(path, "-k", "2,3,5", "-r", 5, "--partition", file)
            listed = [strategy for strategy in result["strategies"] if strategy["partition"] == "file"]
            owners = {"fine": {"greedy", "balanced"}, "coarse": {"none"}}[kind]
            self.assertEqual({(s["processes"], s["distribution"], s["row_owners"]) for s in listed}, {(3, kind, rule) for rule in owners})
            self.assertIn("random", {strategy["partition"] for strategy in result["strategies"]})
            for strategy in listed:
                self.assert_as_planned(path, strategy)

    def test_partitions_of_the_hypergraph(self) -> None:
        path = self.with_duplicates()
        result = self.plan(path, "-k", "2,4,8,16", "-r", 5, "--with-hypergraph")
        made = [strategy for strategy in result["strategies"] if strategy["partition"] == "hypergraph"]
        self.assertEqual({(s["processes"], s["distribution"]) for s in made},
                         {(processes, kind) for processes in (2, 4, 8, 16) for kind in ("fine", "coarse")})
        for strategy in made:
            self.assertGreater(strategy["partition_seconds"], 0)
            self.assert_as_planned(path, strategy)

    def test_partitions_that_are_in_the_cache(self) -> None:
        path = self.generated()
        narrow = (path, "-k", "3,4", "-r", 5, "--distribution", "fine")
        self.assertNotIn("hypergraph", {s["partition"] for s in self.plan(*narrow)["strategies"]})
        self.succeed("partition", path, "-k", 3, "-q")
        before = sorted(self.cache.iterdir())
        kept = [s for s in self.plan(*narrow)["strategies"] if s["partition"] == "hypergraph"]
        self.assertEqual({(s["processes"], s["row_owners"]) for s in kept}, {(3, "greedy"), (3, "balanced")})
        self.assertEqual(sorted(self.cache.iterdir()), before)  # nothing was made for 4 processes
        for strategy in kept:
            self.assert_as_planned(path, strategy)
        none = self.plan(*narrow, "--partition", "block")["strategies"]
        self.assertEqual({s["partition"] for s in none}, {"block"})

    def test_partitions_that_time_cut_short(self) -> None:
        path = self.generated()
        narrow = ("-k", 3, "-r", 5, "--with-hypergraph", "--distribution", "fine", "--partition", "block")
        result = run("plan", path, "-q", "--json", "-", *narrow, "--time", 1e-6)
        kept = list(self.cache.glob("fine-3-*.cut-short.part"))
        self.assertEqual(len(kept), 1)
        self.assertIn(f"fine hypergraph for 3 processes: cut short; kept as {kept[0]}\n", result.stderr)
        made = [s for s in json.loads(result.stdout)["strategies"] if s["partition"] == "hypergraph"]
        self.assertEqual({s["row_owners"] for s in made}, {"greedy", "balanced"})
        self.assert_as_planned(path, made[0])
        # One that was not cut short goes before it, and is not made again.
        self.succeed("partition", path, "-k", 3, "-q")
        result = run("plan", path, "-q", "--json", "-", *narrow, "--time", 1e-6)
        self.assertEqual(result.stderr, "")
        again = [s for s in json.loads(result.stdout)["strategies"] if s["partition"] == "hypergraph"]
        self.assertNotEqual(again[0]["volume_words"], made[0]["volume_words"])
        self.assert_as_planned(path, again[0])


class WordsTest(PlanTest):
    def test_tables_and_a_recommendation(self) -> None:
        plan = ("plan", DEBIAN, "-k", "4,16", "-r", 8)
        most = max(strategy["memory_bytes"] for strategy in self.result(*plan, "-q")["strategies"])
        limit = f"{most // 10**6 + 1} MB"  # on some systems MPI alone takes 100
        words = self.succeed(*plan, "--memory", limit.replace(" ", ""))
        self.assertIn(f"368x13905x58x8 tensor, 56,587 nonzeros, 8 components, {limit} for each process", words)
        for part in ("\n4 processes ", "\n16 processes ", "coarse random", "fine random", "r_nnz", "pays after",
                     "more that are slower: see --json or --report", "\nmode ", "\nconstants built in: 3 us a message"):
            self.assertIn(part, words)
        self.assertRegex(words, r"\nrecommended: (4|16) processes, \w+ [^\n]*: predicted \S+ ms per iteration, the")
        self.assertRegex(words, r"\n  mpirun -n (4|16) polyad cpd \S+ -r 8 --distribution ")
        self.assertEqual(words.count("\n* "), 2)

    def test_the_command_reads_the_tensor_as_the_plan_did(self) -> None:
        path = self.write("it's.csv", "who,what,stars\na,b,3\nb,c,2\na,c,1\n")
        words = self.succeed("plan", path, "-k", 2, "--columns", "who,what", "--value", "stars")
        quoted = str(path).replace("'", "'\\''")
        self.assertIn(f"\n  mpirun -n 2 polyad cpd '{quoted}' --columns who,what --value stars -r 16 --distribution ", words)

    def test_help_shows_an_example(self) -> None:
        self.assertIn("Example: polyad plan", self.succeed("plan", "--help"))

    def test_quiet_is_silent(self) -> None:
        result = run("plan", DEBIAN, "-k", 2, "-q")
        self.assertEqual((result.stdout, result.stderr, result.returncode), ("", "", 0))

    def test_duplicates_are_told(self) -> None:
        path = self.with_duplicates()
        result = run("plan", path, "-k", 2, "-q")
        self.assertRegex(result.stderr, f"^polyad: warning: {path}: .* duplicate coordinates were added up\n$")


class AwkwardNumberTest(PlanTest):
    def test_grids_may_leave_a_few_processes_out(self) -> None:
        """Of 11 processes, which can form grids of 11 x 1 x 1 only, or of fewer processes; of 12 all are used."""
        path = self.generated()
        for processes, counts in ((11, {11, 10}), (12, {12})):
            plan = self.plan(path, "-k", processes, "-r", 4, "--distribution", "medium")
            sizes = {math.prod(one["grid"]) for one in plan["strategies"]}
            self.assertEqual(sizes, counts)
        result = run("plan", path, "-k", 5, "-r", 4, "--grid", "2x2x1")
        self.assertIn("recommended: 5 processes, medium 2x2x1", result.stdout)
        self.assertIn(" on 4 of them: ", result.stdout)


class RefusalTest(PlanTest):
    def test_nonsense(self) -> None:
        path = self.generated()
        for text in ("0", "4,,8", "x", "8-4", "1048577", "1-101", "-4", "1.5"):
            self.assert_fails(f"--processes {text}: expected numbers from 1 to 1048576, at most 100 of them, as in 1-8 or "
                              "1,2,4", 2, "plan", path, f"--processes={text}")
        self.assert_fails("--memory much: expected an amount of memory, as in 800MB or 2.5GB", 2, "plan", path, "-k", 2,
                          "--memory", "much")
        for options in ((), ("--for", "complete")):  # before the input is read
            self.assert_fails("--partition hypergraph is not for plans: use --with-hypergraph", 2, "plan", "absent.tns", "-k", 2,
                              "--partition", "hypergraph", *options)
        self.assert_fails("the grid 2x1x1 is for 2 processes, not for as few as 1", 2, "plan", path, "-k", "1,2", "--grid", "2x1x1")
        self.assert_fails("medium grain cuts every mode into blocks; a random partition is for coarse or fine grain", 2,
                          "plan", path, "-k", 2, "--distribution", "medium", "--partition", "random")
        self.assert_fails("--with-hypergraph applies to fine and coarse grain, but medium grain was given", 2, "plan", path,
                          "-k", 2, "--with-hypergraph", "--grid", "2x1x1")
        self.assert_fails("--with-hypergraph is for up to 65535 processes, not for 70000", 2, "plan", path, "-k", "2,70000",
                          "--with-hypergraph")
        self.assertEqual(run("plan", path).returncode, 2)
        self.assertEqual(run("plan", path, "-k", 2, "-r", 0).returncode, 2)

    def test_partitions_that_do_not_fit(self) -> None:
        path = self.write("x.tns", "1 1 2\n2 3 1\n1 2 5\n2 2 1\n")  # 4 nonzeros, 5 slices
        short = self.write("short.part", "0\n1\n")
        self.assert_fails(f"{short}: has 2 lines; expected 4 for a part per nonzero (fine grain) or 5 for one per slice "
                          "(coarse grain)", 2, "plan", path, "-k", 2, "--partition", short)
        many = self.write("many.part", "0\n1\n2\n3\n")
        self.assert_fails(f"{many}: has 4 parts, more than all given numbers of processes", 2, "plan", path,
                          "-k", "2,3", "--partition", many)
        wrong = self.write("wrong.part", "0\n-1\n0\n0\n")
        self.assert_fails(f"{wrong}:2: '-1' is not a part; expected a number from 0 to 2147483646", 2, "plan", path, "-k", 2,
                          "--partition", wrong)
        either = self.write("either.tns", "1 1 2\n2 2 1\n1 2 5\n2 1 1\n")  # 4 of both
        self.assert_fails(f"--partition {many}: say whether it is for --distribution fine or coarse", 2, "plan", either, "-k",
                          4, "--partition", many)
        result = self.plan(either, "-k", 4, "--partition", many, "--distribution", "coarse")
        self.assertEqual({strategy["distribution"] for strategy in result["strategies"]}, {"coarse"})

    def test_places_are_checked_before_the_work(self) -> None:
        path = self.generated()
        absent = self.folder / "absent" / "x.html"
        self.assert_fails(f"{absent}: cannot be written: No such file or directory", 2, "plan", path, "-k", 2, "--report",
                          absent)
        self.assert_fails(f"--report {path} would overwrite the input", 2, "plan", path, "-k", 2, "--report", path)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_several_processes(self) -> None:
        result = run("plan", self.generated(), "-k", 2, processes=2)
        self.assertEqual(result.returncode, 2)
        self.assertIn("polyad: polyad plan runs on one process; 2 were started", result.stderr)


if __name__ == "__main__":
    unittest.main()
