"""What the pages of --report hold: the command, the date and every setting of the run, the factors as csv, names of items, baselines."""

import base64
import csv
import html
import io
import json
import os
import re
import shlex
import unittest
from unittest import mock

from program import SOURCE, TEST_DATA, WITH_MPI, ProgramTest, run

DEBIAN = SOURCE / "data" / "debian.tns.gz"
# Options that say what to do with the result, or that other settings show.
NO_SETTINGS = {"--help", "--folds", "--search", "--json", "--quiet", "--verbose", "--out", "--report", "--policy-c", "--for",
               "--no-header"}  # shown as --header no


class ReportTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.page = self.folder / "page.html"
        self.ratings = self.folder / "r.tns"
        self.succeed("generate", "ratings", self.ratings, "--users", 30, "--items", 20, "--nnz", 200, "-q")

    def text(self) -> str:
        return self.page.read_text(encoding="utf-8")


class RecordTest(ReportTest):
    def settings(self) -> dict[str, str]:
        """[option]: its value, of the page that was written last."""
        record = self.text().split('<section id="record"')[1]
        pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", record)
        return {html.unescape(name): re.sub("<.*?>", "", html.unescape(value)) for name, value in pairs}

    def options_of(self, command: str) -> set[str]:
        return set(re.findall(r"^  (?:-\w, |    )(--[\w-]+)", self.succeed(command, "--help"), re.MULTILINE))

    def commands(self) -> list[tuple[object, ...]]:
        return [("cpd", DEBIAN, "-r", 2, "-i", 2), ("complete", self.ratings, "-e", 2), ("plan", DEBIAN, "-k", 4)]

    def test_every_option_of_a_command_is_shown(self) -> None:
        for command in self.commands():
            self.succeed(*command, "--report", self.page)
            options = self.options_of(str(command[0]))
            self.assertGreater(len(options), 12)
            missing = options - NO_SETTINGS - set(self.settings())
            self.assertEqual(missing - ({"--sync", "--by", "--no-bias", "--schedule", "--test"} if command[0] == "plan" else set()), set(), command[0])

    def test_every_setting_is_an_option(self) -> None:
        for command in self.commands():
            self.succeed(*command, "--report", self.page)
            self.assertEqual(set(self.settings()) - self.options_of(str(command[0])), {"date", "version"}, command[0])

    def test_values_are_those_that_were_given_and_else_the_defaults(self) -> None:
        self.succeed("cpd", DEBIAN, "-r", 3, "-i", 2, "--nonneg=1,3", "--tol", 0, "--memory", "2GB", "--report", self.page)
        settings = self.settings()
        shown = {name: settings[name] for name in ("--rank", "--nonneg", "--iters", "--tol", "--memory", "--seed", "--method")}
        self.assertEqual(shown, {"--rank": "3", "--nonneg": "1,3", "--iters": "2", "--tol": "0", "--memory": "2 GB",
                                 "--seed": "1 (default)", "--method": "als (default)"})

    def test_no_header_is_shown_as_the_value_of_header(self) -> None:
        triples = TEST_DATA / "forms" / "codex.txt"
        self.succeed("cpd", triples, "--no-header", "-r", 1, "-i", 1, "--report", self.page)
        self.assertEqual(self.settings()["--header"], "no")
        self.succeed("cpd", triples, "-r", 1, "-i", 1, "--report", self.page)
        self.assertEqual(self.settings()["--header"], "auto (default)")

    def test_duplicates_are_no_warning_where_lines_are_counted(self) -> None:
        table = self.write("x.csv", "a,b,c\n1,2,1\n1,2,1\n2,1,1\n")
        self.succeed("cpd", table, "--columns", "a,b,c", "-r", 1, "--report", self.page)
        self.assertIn("1 duplicate coordinate was added up", self.text())
        self.succeed("cpd", table, "--columns", "a,b", "--value", 1, "-r", 1, "--report", self.page)
        self.assertNotIn("added up", self.text())

    def test_plans_of_ratings_have_their_own_settings(self) -> None:
        self.succeed("plan", self.ratings, "--for", "complete", "-k", "2,4", "--by", "items", "--report", self.page)
        settings = self.settings()
        self.assertEqual((settings["--processes"], settings["--by"], settings["--sync"]), ("2,4", "items", "several (default)"))

    def test_the_command_can_be_run_again(self) -> None:
        table = self.write("it's a table.csv", "who,what,n\na,x,1\nb,y,2\na,y,3\n")
        arguments = ["cpd", table, "-r", 1, "--columns", "who,what,n", "--report", self.page]
        self.succeed(*arguments)
        command = html.unescape(re.search('<p class="command">(.*?)</p>', self.text()).group(1))
        self.assertEqual(shlex.split(command), ["polyad", *map(str, arguments)])

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_the_command_on_several_processes_has_their_number(self) -> None:
        self.succeed("cpd", DEBIAN, "-r", 1, "-i", 1, "-t", 1, "--report", self.page, processes=2)
        self.assertIn('<p class="command">mpirun -n 2 polyad cpd ', self.text())

    def test_the_date_is_that_of_the_environment_where_it_has_one(self) -> None:
        arguments = ("cpd", DEBIAN, "-r", 1, "-i", 1, "-q", "--report", self.page)
        with mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "1700000000"}):
            self.succeed(*arguments)
        self.assertEqual(self.settings()["date"], "2023-11-14 22:13:20 UTC")
        with mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "yesterday"}):
            result = run(*arguments)
        self.assertEqual((result.returncode, result.stderr),
                         (0, "polyad: warning: SOURCE_DATE_EPOCH=yesterday is not a number of seconds since 1970; "
                             "the report shows the current date\n"))
        self.assertRegex(self.settings()["date"], r"^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$")


class DownloadTest(ReportTest):
    def downloads(self) -> dict[str, list[list[str]]]:
        """[name]: the rows of each file that the page holds."""
        links = re.findall(r'<a download="([^"]*)" href="data:text/csv;base64,([^"]*)"', self.text())
        return {name: list(csv.reader(io.StringIO(base64.b64decode(data, validate=True).decode()))) for name, data in links}

    def test_the_factors_are_those_of_the_model(self) -> None:
        table = self.write("x.csv", 'who,what,n\n"a, the first",x,1\nb,y,2\nb,x,5\n"a, the first",y,3\n')
        model = self.folder / "model"
        self.succeed("cpd", table, "-r", 2, "--columns", "who,what,n", "--out", model, "--report", self.page)
        files = self.downloads()
        self.assertEqual(list(files), ["weights.csv", "mode-1.csv", "mode-2.csv"])
        self.assertEqual(files["mode-1.csv"][0], ["who", "component 1", "component 2"])
        self.assertEqual([row[0] for row in files["mode-1.csv"][1:]], ["a, the first", "b"])
        for mode in (1, 2):
            lines = [line.split() for line in (model / f"mode{mode}.mat").read_text().splitlines()]
            numbers = [list(map(float, line)) for line in lines][-2:]
            shown = [list(map(float, row[1:])) for row in files[f"mode-{mode}.csv"][1:]]
            for expected, found in zip(numbers, shown, strict=True):
                for a, b in zip(expected, found, strict=True):
                    self.assertAlmostEqual(a, b, places=7)

    def test_large_factors_are_left_to_the_option_that_writes_them(self) -> None:
        self.succeed("cpd", DEBIAN, "-r", 23, "-i", 1, "--report", self.page)  # 1,799 rows: more than 40,000 numbers
        self.assertEqual(self.downloads(), {})
        self.assertIn("polyad cpd with --out DIR writes them as text files", self.text())

    def test_users_and_items_have_their_names(self) -> None:
        names = self.write("items.map", "".join(f"film <{i}>\n" for i in range(20)))
        self.succeed("complete", self.ratings, "-r", 3, "-e", 3, "--labels", f"2={names}", "--report", self.page)
        files = self.downloads()
        self.assertEqual(files["items.csv"][0], ["item", "bias", "factor 1", "factor 2", "factor 3"])
        self.assertEqual([row[0] for row in files["items.csv"][1:]], [f"film <{i}>" for i in range(20)])
        self.assertEqual([row[0] for row in files["users.csv"][1:]], [str(i + 1) for i in range(30)])
        examples = self.text().split('<section id="examples"')[1].split("</section>")[0]
        self.assertIn("<span>film &lt;", examples)
        self.assertNotRegex(examples, r"item \d")


class BaselineTest(ReportTest):
    def test_errors_stand_beside_those_without_factors(self) -> None:
        json_file = self.folder / "x.json"
        printed = self.succeed("complete", self.ratings, "-r", 3, "-e", 5, "--test", 0.2, "--report", self.page, "--json", json_file)
        baselines = json.loads(json_file.read_text())["baselines"]
        self.assertEqual(list(baselines), ["mean", "user_means", "item_means", "biases"])
        shown = [f"{baselines[key]:.5g}" for key in baselines]
        self.assertIn("test RMSE without factors: mean {}, user means {}, item means {}, biases {}".format(*shown), printed)
        errors = self.text().split('<section id="errors"')[1].split("</section>")[0]
        for number in shown:
            self.assertIn(f'<td class="number">{number}</td>', errors)
        self.assertNotIn("baselines", self.result("complete", self.ratings, "-r", 3, "-e", 2))


if __name__ == "__main__":
    unittest.main()
