"""What `polyad complete --virtual` promises: one process, or a few, compute what many would, to the last bit."""

import pathlib
import unittest

from complete_test import CompleteTest
from program import WITH_MPI

# What depends on the processes that there are, and not on those that they act for.
OF_THE_RUN = ("processes", "virtual_processes", "threads", "seconds", "ratings_per_second", "peak_memory_bytes", "baselines")


class VirtualTest(CompleteTest):
    def trained(self, path: pathlib.Path, *options: object, processes: int = 0, threads: int = 1) -> tuple[dict, dict[str, bytes]]:
        """The result without what depends on processes and time, and the files of the model."""
        model = self.folder / "model"
        result = self.result("complete", path, "-q", "-t", threads, *options, "--out", model, processes=processes)
        for record in result["per_epoch"]:
            del record["seconds"]
        files = {file.name: file.read_bytes() for file in model.iterdir() if file.suffix != ".json"}
        self.assertGreaterEqual(len(files), 2)
        return {key: value for key, value in result.items() if key not in OF_THE_RUN}, files


class OneProcessTest(VirtualTest):
    def test_as_many_as_there_are_changes_nothing(self) -> None:
        path = self.ratings()
        self.assertEqual(self.trained(path, "-e", 3, "--virtual", 1), self.trained(path, "-e", 3))

    def test_counts_are_those_of_a_plan(self) -> None:
        path = self.ratings()
        for by in ("users", "items"):
            for partition in ("random", "block"):
                plan = self.result("plan", path, "-q", "--for", "complete", "-k", 40, "-r", 4, "--sync", "1,7,40", "--by", by,
                                   "--partition", partition)
                for way in plan["strategies"]:
                    run = self.complete(path, "-r", 4, "-e", 1, "--virtual", 40, "--sync", way["sync"], "--by", by,
                                        "--partition", partition)
                    self.assertEqual((run["processes"], run["virtual_processes"]), (1, 40))
                    self.assertEqual((run["volume_words_per_epoch"], run["communication"]["messages_per_epoch"]),
                                     (way["volume_words"], way["messages"]))
                    self.assertEqual((run["staleness_words_per_epoch"], run["lambda_max"]),
                                     (way["staleness_words"], way["lambda_max"]))

    def test_plans_know_what_training_does(self) -> None:
        path = self.ratings()
        for options in (("--no-bias",), ("--schedule", "constant", "--test", 0.3), ("--test", "leave-one-out", "--seed", 4),
                        ("--no-bias", "--schedule", "bold")):
            plan = self.result("plan", path, "-q", "--for", "complete", "-k", 12, "-r", 4, "--sync", 5, "--by", "users", *options)
            way = plan["strategies"][0]
            self.assertEqual(way["complete_options"][2:2 + len(options)], [str(option) for option in options])
            run = self.complete(path, "-e", 1, "--virtual", 12, *way["complete_options"])
            self.assertEqual(run["communication"]["words_per_row"], plan["words_per_row"])
            self.assertEqual((run["volume_words_per_epoch"], run["communication"]["messages_per_epoch"], run["ratings"]),
                             (way["volume_words"], way["messages"], plan["ratings"]))
        self.assert_refused("--test a.tns: expected a fraction", 2, "plan", path, "--for", "complete", "-k", 4, "--test", "a.tns")
        self.assert_refused("--sync 5: expected numbers from 1 to that of processes, 4", 2,
                            "plan", path, "--for", "complete", "-k", 4, "--sync", "1,5")
        self.assert_refused("require --for complete", 2, "plan", path, "-k", 4, "--no-bias")

    def test_published_choices_have_an_effect_of_their_own(self) -> None:
        path, every = self.ratings(), ("-r", 4, "-e", 5, "--virtual", 12, "--sync", 3, "--schedule", "constant", "--test", 0.2)
        plain, owners, steps = (self.complete(path, *every, *options) for options in ((), ("--random-owners",), ("--explicit-update",)))
        # Who averages changes the order of sums only, and who sends the most.
        self.assertAlmostEqual(plain["test_rmse"], owners["test_rmse"], places=3)
        self.assertEqual(plain["volume_words_per_epoch"], owners["volume_words_per_epoch"])
        self.assertLess(plain["communication"]["max_volume_words"], owners["communication"]["max_volume_words"])
        self.assertAlmostEqual(plain["test_rmse"], steps["test_rmse"], delta=0.02)
        self.assertNotEqual(plain["test_rmse"], steps["test_rmse"])
        self.assertEqual([run["explicit_update"] for run in (plain, owners, steps)], [False, False, True])
        self.assertEqual([run["random_owners"] for run in (plain, owners, steps)], [False, True, False])

    def test_random_parts_are_those_of_partition(self) -> None:
        path, parts = self.ratings(), self.folder / "parts"
        for side, model in (("users", "row"), ("items", "column")):
            self.succeed("partition", path, "-q", "--model", model, "--method", "random", "-k", 16, "--seed", 3, "--no-cache", "--out", parts)
            every = ("-e", 2, "--virtual", 16, "--by", side, "--seed", 3)
            by_name, by_file = self.trained(path, *every), self.trained(path, *every, "--partition", parts)
            self.assertEqual((by_name[0].pop("partition"), by_file[0].pop("partition")), ("random", "file"))
            self.assertEqual(by_file, by_name)
            plan = self.result("plan", path, "-q", "--for", "complete", "-k", 16, "--by", side, "--partition", "random", "--seed", 3)
            self.assertLess(plan["strategies"][0]["imbalance"], 0.02)
            self.assertEqual(len(by_name[0]["rows_by_lambda"]) - 1, plan["strategies"][0]["lambda_max"])
            parts.unlink()

    def test_does_not_depend_on_threads(self) -> None:
        path = self.ratings()
        runs = [self.trained(path, "-e", 3, "--virtual", 20, "--sync", 3, threads=threads) for threads in (1, 2, 3, 32)]
        for run in runs[1:]:
            self.assertEqual(run, runs[0])

    def test_many_more_than_users(self) -> None:
        result = self.complete(self.ratings(), "-e", 2, "--virtual", 1000, "--sync", "max", "--test", 0.1)
        self.assertEqual((result["staleness_words_per_epoch"], result["virtual_processes"]), (0, 1000))

    def test_refuses_what_makes_no_sense(self) -> None:
        path = self.ratings()
        self.assert_refused("--virtual", 2, "complete", path, "--virtual", 0)
        self.assert_refused("--virtual", 2, "complete", path, "--virtual", 65536)
        self.assert_refused("--sync 9: expected auto, max, or a number from 1 to that of processes, 8", 2,
                            "complete", path, "--virtual", 8, "--sync", 9)


@unittest.skipUnless(WITH_MPI, "this build has no MPI")
class ManyProcessesTest(VirtualTest):
    def test_equals_real_processes_bit_for_bit(self) -> None:
        path = self.ratings()
        parts = self.write("parts", "".join(f"{user * user % 3}\n" for user in range(300)))
        cases = [(2, ("--sync", 1)), (2, ("--sync", "max", "--schedule", "bold", "--lr", 2)), (3, ("--sync", 2, "--by", "items")),
                 (3, ("--sync", 1, "--partition", parts, "--no-bias")), (3, ("--sync", 2, "--random-owners", "--explicit-update")),
                 (8, ("--sync", "auto", "--partition", "block", "--precision", "double")),
                 (8, ("--sync", 3, "--schedule", "inverse", "--test", "leave-one-out")), (8, ("--sync", 8, "--partition", "hypergraph"))]
        for count, options in cases:
            with self.subTest(processes=count, options=options):
                every = (*(() if "--test" in options else ("--test", 0.2)), "-r", 5, "-e", 4, "--patience", 0, "--lists", "ratings", *options)
                real = self.trained(path, *every, processes=count)
                self.assertEqual(self.trained(path, *every, "--virtual", count), real)
                if count > 2:
                    self.assertEqual(self.trained(path, *every, "--virtual", count, processes=2), real)

    def test_goes_on_alike_from_a_model(self) -> None:
        path, model = self.ratings(), self.folder / "first"
        self.complete(path, "-e", 2, "--out", model)
        every = ("-e", 2, "--resume", model, "--sync", 2, "--lists", "ratings")
        self.assertEqual(self.trained(path, *every, "--virtual", 3), self.trained(path, *every, processes=3))

    def test_fewer_than_there_are_is_refused(self) -> None:
        self.assert_refused("--virtual 2: expected a number from that of processes, 3, to 65535", 2,
                            "complete", self.ratings(), "--virtual", 2, processes=3)


if __name__ == "__main__":
    unittest.main()
