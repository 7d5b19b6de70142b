"""What `polyad complete --by` promises: users or items are distributed, and nothing else differs."""

import pathlib
import re
import unittest

from complete_test import CompleteTest
from program import WITH_MPI, run


class OneProcessTest(CompleteTest):
    def test_items_are_dealt_out_if_that_is_said(self) -> None:
        path, model = self.ratings(), self.folder / "model"
        results = {by: self.complete(path, "-r", 3, "--test", 0.1, "--by", by, "--out", model) for by in ("users", "items", "auto")}
        for by, result in results.items():
            self.assertEqual((result["by"], result["weighed"]), ("users" if by == "auto" else by, None))
            self.assertEqual((result["users"], result["items"]), (300, 120))
            self.assertLess(result["test_rmse"], 0.9 * result["deviation"])
        self.assertEqual(results["auto"]["test_rmse"], results["users"]["test_rmse"])
        self.assertAlmostEqual(results["items"]["test_rmse"], results["users"]["test_rmse"], delta=0.05)

    def test_the_command_of_a_plan_keeps_how_the_ratings_are_read(self) -> None:
        path = self.write("some ratings.csv", "when,who,what,stars\n" + "".join(
            f"{i},u{i % 40},f{i * 7 % 300},{i % 5}\n" for i in range(3000)))
        text = self.succeed("plan", path, "--for", "complete", "-k", 4, "-r", 3, "--columns", "who,what,stars", "--seed", 5,
                            "--report", self.folder / "plan.html")
        command = next(line for line in text.splitlines() if line.startswith("recommended: "))
        self.assertIn(command.removeprefix("recommended: ").replace("'", "&#39;"), (self.folder / "plan.html").read_text())
        self.assertIn(f"mpirun -n 4 polyad complete '{path}' --columns who,what,stars -r 3 --seed 5 --by ", command)


@unittest.skipUnless(WITH_MPI, "this build has no MPI")
class ManyProcessesTest(CompleteTest):
    def kept_ratings(self, model: pathlib.Path) -> list[str]:
        self.succeed("convert", model / "training.ptb", self.folder / "kept.tns", "-q", "--force")
        return sorted(line for line in (self.folder / "kept.tns").read_text().splitlines() if line[0] != "#")

    def predictions(self, model: pathlib.Path) -> list[float]:
        pairs = self.write("pairs.tns", "".join(f"{user} {item} 0\n" for user in range(1, 301, 7) for item in range(1, 121, 5)))
        self.succeed("predict", model, pairs, "-q", "--out", self.folder / "predicted.csv")
        lines = (self.folder / "predicted.csv").read_text().splitlines()
        return [float(line.split(",")[2]) for line in lines[1:]]

    def test_the_same_ratings_are_held_out(self) -> None:
        path = self.ratings()
        for test in (0.2, "leave-one-out"):
            kept = []
            for by, processes in (("users", 0), ("users", 4), ("items", 4), ("items", 0)):
                self.complete(path, "--test", test, "-e", 1, "--by", by, "--out", self.folder / "model", processes=processes)
                kept.append(self.kept_ratings(self.folder / "model"))
            self.assertTrue(all(ratings == kept[0] for ratings in kept))

    def test_a_model_by_items_is_one_like_others(self) -> None:
        path, model = self.ratings(), self.folder / "model"
        options = ("-r", 4, "--test", 0.1, "--precision", "double")
        trained = self.complete(path, *options, "--by", "items", "--out", model, "--sync", "max", processes=4)
        found = self.result("recommend", model, "-q", "--user", 5, "--top", 3)
        self.assertEqual((found["users"], found["items"], len(found["recommendations"][0]["items"])), (300, 120, 3))
        self.assertAlmostEqual(self.result("predict", model, model / "training.ptb", "-q")["rmse"], trained["train_rmse"], places=9)
        for by in ("users", "items"):
            for processes in (0, 4):
                again = self.complete(path, *options, "-e", 0, "--by", by, "--resume", model, processes=processes)
                self.assertAlmostEqual(again["test_rmse"], trained["test_rmse"], places=9)
                self.assertAlmostEqual(again["train_rmse"], trained["train_rmse"], places=9)
            more = self.complete(path, *options, "-e", 2, "--patience", 0, "--by", by, "--resume", model, processes=4)
            self.assertLess(more["train_rmse"], trained["train_rmse"])
            self.assertEqual(more["best_epoch"], trained["best_epoch"] + 2)

    def test_rows_that_nothing_is_said_of_stay_when_the_mean_changes(self) -> None:
        path, model = self.ratings(), self.folder / "model"
        self.complete(path, "-r", 4, "-e", 5, "--precision", "double", "--out", model)
        before = self.predictions(model)
        few = self.write("few.tns", "".join(f"{i % 20 + 1} {i % 7 + 1} {(1, 5, 5, 5)[i % 4]}\n" for i in range(50)))
        for by in ("users", "items"):
            self.complete(few, "--dims", "300x120", "-r", 4, "-e", 0, "--precision", "double", "--by", by, "--resume", model, "--out",
                          self.folder / "few", processes=3)
            for here, there in zip(self.predictions(self.folder / "few"), before, strict=True):
                self.assertAlmostEqual(here, there, places=6)

    def test_auto_takes_what_is_predicted_to_be_clearly_quicker(self) -> None:
        wide = self.ratings(40, 3000, 9000)
        tall = self.write("tall.tns", "".join(" ".join((line.split()[1], line.split()[0], line.split()[2])) + "\n"
                                              for line in wide.read_text().splitlines() if line[0] != "#"))
        for path, by in ((wide, "items"), (tall, "users")):
            result = self.complete(path, "-e", 1, processes=4)
            self.assertEqual(result["by"], by)
            weighed = result["weighed"]
            self.assertEqual(result["predicted_seconds_per_epoch"], weighed[by])
            self.assertEqual(weighed["items"] < 0.9 * weighed["users"], by == "items")
            plan = self.result("plan", path, "--for", "complete", "-k", 4, "--partition", "random", "-q")
            for way in plan["strategies"]:
                if way["auto"]:
                    self.assertEqual(way["predicted_seconds_per_epoch"], weighed[way["by"]])
            self.assertEqual(plan["strategies"][plan["recommended"]]["by"], by)
        page = self.folder / "page.html"
        text = self.succeed("complete", wide, "-e", 1, "-t", 1, "--report", page, processes=4)
        self.assertIn("4 processes, items distributed by random", text)
        self.assertRegex(text, r"predicted: [0-9.]+ ms per epoch with items distributed, [0-9.]+ ms with users\n")
        self.assertIn("Every process has items of its own", page.read_text())

    def test_hypergraphs_of_both_are_kept(self) -> None:
        path = self.ratings(30, 200, 800)
        for _ in range(2):
            self.complete(path, "-e", 1, "--partition", "hypergraph", processes=3)
            self.assertEqual(sorted(file.name.rsplit("-", 1)[0] for file in self.cache.glob("*.part")),
                             ["column-3", "row-3"])

    def test_a_file_has_parts_of_users_unless_items_are_said(self) -> None:
        path = self.ratings(30, 200, 800)
        users, items = (self.write(f"{n}.part", "".join(f"{i % 2}\n" for i in range(n))) for n in (30, 200))
        by_users = self.complete(path, "-e", 1, "--partition", users, processes=2)
        self.assertEqual((by_users["by"], by_users["weighed"]), ("users", None))
        by_items = self.complete(path, "-e", 1, "--partition", items, "--by", "items", processes=2)
        self.assertEqual((by_items["by"], by_items["partition"]), ("items", "file"))
        self.assertLess(by_items["volume_words_per_epoch"], by_users["volume_words_per_epoch"])
        self.assert_refused("200.part: has 200 lines; expected 30, one for each user", 2, "complete", path, "--partition", items, processes=2)
        made = self.folder / "made.part"
        self.succeed("partition", path, "-k", 2, "--model", "column", "--metric", "lambda2", "--out", made, "-q")
        by_made = self.complete(path, "-e", 1, "--partition", made, "--by", "items", processes=2)
        self.assertLess(by_made["volume_words_per_epoch"], by_items["volume_words_per_epoch"])
        plan = self.result("plan", path, "--for", "complete", "-k", 2, "--partition", made, "--by", "items", "-q", "--sync", 2)
        self.assertEqual([(way["by"], way["partition"], way["complete_options"][4:6]) for way in plan["strategies"]],
                         [("items", "file", ["--partition", str(made)])])

    def test_a_file_is_planned_for_the_fewest_processes_that_suffice(self) -> None:
        path = self.ratings(30, 200, 800)
        parts = self.write("parts", "".join(f"{i % 3}\n" for i in range(30)))
        arguments = ("plan", path, "--for", "complete", "--partition", parts, "-q", "--sync", 1)
        for counts, expected in (("2,4,8", {4}), ("3", {3}), ("8", {8})):
            plan = self.result(*arguments, "-k", counts)
            self.assertEqual({way["processes"] for way in plan["strategies"]}, expected, counts)
        self.assertIn("parts: has 3 parts, and is planned for 4 processes only", run(*arguments, "-k", "8,2,4").stderr)
        self.assert_refused("parts: has 3 parts, more than all given numbers of processes", 2, *arguments, "-k", "1,2")
        self.assert_refused("parts: has 30 lines; expected 200, one for each item", 2, *arguments, "-k", 4, "--by", "items")
        self.assert_refused("parts:3: '2' is not a part; expected a number from 0 to 1: the run has 2 processes", 2, "complete", path,
                            "--partition", parts, processes=2)

    def test_more_processes_than_items(self) -> None:
        path = self.write("x.tns", "".join(f"{i} {1 + i % 2} {i % 5}\n" for i in range(1, 20)))
        for partition in ("random", "block", "hypergraph"):
            for by in ("items", "auto"):
                result = self.complete(path, "-e", 2, "--by", by, "--partition", partition, "--sync", "max", "--test", path, "--out",
                                       self.folder / "model", processes=4)
                self.assertEqual((result["ratings"], result["test_ratings"], result["users"], result["items"]), (19, 19, 19, 2))
                self.assertEqual(result["volume_words_per_epoch"], result["predicted_volume_words_per_epoch"])

    def test_far_more_processes_than_there_is_work(self) -> None:
        """Sixty-four on a hundred ratings."""
        result = self.complete(self.ratings(50, 40, 110), "-r", 2, "-e", 2, "--test", 0.1, processes=64)
        self.assertEqual((result["processes"], set(result["weighed"])), (64, {"users", "items"}))
        self.assertGreater(result["volume_words_per_epoch"], 0)
        self.assertEqual(result["volume_words_per_epoch"], result["predicted_volume_words_per_epoch"])
        communication = result["communication"]
        self.assertEqual(communication["messages_per_epoch"], communication["predicted_messages_per_epoch"])

    def test_memory_is_that_of_training_and_of_what_follows(self) -> None:
        path, model = self.ratings(3000, 900, 200000), self.folder / "model"
        options = (path, "-r", 32, "-e", 1, "-t", 1, "-q", "--lists", "ratings")
        self.succeed("complete", *options, "--out", model)

        def needed(*further: object) -> float:
            process = run("complete", *options, *further, "--memory", "1kB", processes=4)
            self.assertEqual(process.returncode, 3)
            size, unit = re.search(r"would need about ([0-9.]+) ([MG]B), more than --memory 1kB", process.stderr).groups()
            return float(size) * {"MB": 1e6, "GB": 1e9}[unit]

        train, keep, show = needed(), needed("--out", self.folder / "other"), needed("--report", self.folder / "page.html")
        self.assertTrue(train < keep < show, (train, keep, show))
        self.assertLess(keep, needed("--resume", model, "--out", self.folder / "other"))
        self.assertLess(train, needed("--resume", model))
        result = self.result("complete", *options, "--report", self.folder / "page.html", "--memory", f"{show * 1.01:.0f}", processes=4)
        self.assertLess(result["peak_memory_bytes"], 1.1 * show)

    def test_memory_is_that_of_the_means_of_users_and_items_where_there_is_a_test(self) -> None:
        """Every process holds those of all users, of which it trains an eighth; and of all items likewise."""
        pairs = [(1 + 7919 * i, 1 + i % 40) for i in range(400)]
        for side in ("users", "items"):
            rows = pairs if side == "users" else [(item, user) for user, item in pairs]
            path = self.write("x.tns", "".join(f"{user} {item} {1 + (user + item) % 5}\n" for user, item in rows))
            options = (path, "-r", 2, "-e", 1, "-t", 1, "-q", "--by", side, "--lists", "ratings")
            tested = ("--test", 0.1, "--ranking", 0)
            sizes = []
            for test, what in (((), "training"), (tested, "comparing the model with means")):
                process = run("complete", *options, *test, "--memory", "1kB", processes=8)
                self.assertEqual(process.returncode, 3)
                self.assertIn(what, process.stderr)
                sizes.append(float(re.search(r"would need about ([0-9.]+) MB, more than --memory 1kB", process.stderr)[1]) * 1e6)
            result = self.result("complete", *options, *tested, "--memory", f"{sizes[1] * 1.01:.0f}", processes=8)
            self.assertLess(sizes[0], result["peak_memory_bytes"])
            self.assertLess(result["peak_memory_bytes"], 1.1 * sizes[1])

    def test_what_is_no_side_is_refused(self) -> None:
        self.assertIn("--by", run("complete", self.ratings(30, 20, 200), "--by", "films").stderr)


if __name__ == "__main__":
    unittest.main()
