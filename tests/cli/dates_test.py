"""Dates with the day or the month first, compared with Python's datetime."""

import datetime
import gzip
import random
import unittest

from program import WITH_MPI, ProgramTest, run

ORDERS = {"dmy": "{d}{s}{m}{s}{y}", "mdy": "{m}{s}{d}{s}{y}"}


def written(date: datetime.date, order: str, separator: str) -> str:
    return ORDERS[order].format(d=f"{date.day:02}", m=f"{date.month:02}", y=date.year, s=separator)


def shown_order(dates: list[datetime.date], order: str) -> str:
    """The order that a reader can know: any day above 12 shows it."""
    return order if any(date.day > 12 for date in dates) else "mdy"


def is_ambiguous(dates: list[datetime.date]) -> bool:
    return all(date.day <= 12 for date in dates) and any(date.day != date.month for date in dates)


class DatesTest(ProgramTest):
    num_outputs = 0

    def days(self, files: list, column: str = "at:day", *options: object) -> tuple[list[str], str]:
        """The day of each line, and what was said on standard error."""
        self.num_outputs += 1
        out = self.folder / f"out{self.num_outputs}.tns"
        result = run("convert", *files, out, "--columns", f"who:index,{column},n", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        labels = (self.folder / f"out{self.num_outputs}.mode-2-at.map").read_text().splitlines()
        lines = [line.split() for line in out.read_text().splitlines() if line[0] != "#"]
        return [labels[int(day) - 1] for _, day, _ in lines], result.stderr

    def table(self, texts: list[str], name: str, first: int = 1) -> object:
        return self.write(name, "who,at,n\n" + "".join(f"{first + i},{text},1\n" for i, text in enumerate(texts)))

    def test_the_order_is_that_of_the_whole_column(self) -> None:
        for seed in range(40):
            rng = random.Random(seed)
            order, separator = rng.choice(["dmy", "mdy"]), rng.choice("/-")
            most = rng.choice([12, 12, 31])
            dates = [datetime.date(2014, rng.randint(1, 12), min(rng.randint(1, most), 28)) for _ in range(rng.randint(1, 9))]
            texts = [written(date, order, separator) for date in dates]
            known = shown_order(dates, order)
            parsed = [datetime.datetime.strptime(text, "%d/%m/%Y".replace("/", separator) if known == "dmy" else
                                                 "%m/%d/%Y".replace("/", separator)).date().isoformat() for text in texts]
            cut = rng.randint(0, len(texts))
            parts = [part for part in ([texts[:cut], texts[cut:]] if rng.random() < 0.5 else [texts]) if part]
            files, first = [], 1
            for p, part in enumerate(parts):
                files.append(self.table(part, f"{seed}-{p}.csv", first))
                first += len(part)
            with self.subTest(seed=seed, texts=texts, files=len(files)):
                found, messages = self.days(files)
                self.assertEqual(found, parsed)
                self.assertEqual("are read with the month first" in messages, is_ambiguous(dates), messages)
                stated, messages = self.days(files, f"at:day={order}")
                self.assertEqual((stated, messages), ([date.isoformat() for date in dates], ""))

    def test_one_line_far_inside_of_a_file_decides(self) -> None:
        rng = random.Random(3)
        texts = [f"{rng.randint(1, 12)}/{rng.randint(1, 12)}/2014 10:00" for _ in range(60000)]
        texts[31000] = "31/12/2014 10:00"
        path = self.table(texts, "long.csv")
        expected = [datetime.datetime.strptime(text, "%d/%m/%Y %H:%M").date().isoformat() for text in texts]
        self.assertEqual(self.days([path]), (expected, ""))
        packed = self.folder / "long.csv.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        self.assertEqual(self.days([packed]), (expected, ""))
        if WITH_MPI:
            one, three = (self.result("stats", path, "--columns", "who:index,at:day,n", processes=p) for p in (0, 3))
            self.assertEqual((one["dims"], one["modes"]), (three["dims"], three["modes"]))

    def test_both_orders_in_a_column_are_an_error(self) -> None:
        path = self.table(["13/01/2014", "01/02/2014", "01/13/2014"], "both.csv")
        sentence = ("'01/13/2014' in the column 'at' has the month first: expected the day, as '13/01/2014' in the same column "
                    "has it")
        self.assert_fails(f"{path}:4: {sentence}", 2, "stats", path, "--columns", "who,at:day,n")
        self.assertIn(f"{path}:4: {sentence}\n", run("check", path, "--columns", "who,at:day,n").stdout)
        self.assert_fails(f"{path}:2: '13/01/2014' in the column 'at' has the day first: expected the month, as --columns says", 2,
                          "stats", path, "--columns", "who,at:day=mdy,n")
        other = self.table(["12/25/2014"], "other.csv")
        self.assert_fails(f"{other}:2: '12/25/2014' in the column 'at' has the month first: expected the day, as '13/01/2014' in "
                          "the same column has it", 2, "stats", self.table(["13/01/2014"], "one.csv"), other, "--columns", "who,at:day,n")

    def test_an_unknown_order_draws_a_warning(self) -> None:
        path = self.table(["1/2/2014", "5/5/2014"], "t.csv")
        for column, kind in (("at", "week"), ("2", "hour-of-day")):
            self.assertEqual(run("stats", path, "--columns", f"who,{column}:{kind},n").stderr,
                             f"polyad: warning: {path}: the dates in the column 'at' are read with the month first (1/2/2014), as no "
                             f"line shows which it is; --columns {column}:{kind}=dmy reads them with the day first, =mdy confirms "
                             "the month\n")
        self.assertEqual(run("stats", path, "--columns", "who,at,n").stderr, "")
        self.assert_fails("--columns at:day=ymd: expected the order of dates, day=dmy with the day first or day=mdy with the month "
                          "first", 2, "stats", path, "--columns", "who,at:day=ymd,n")

    def test_predict_reads_dates_by_the_same_rule(self) -> None:
        train = self.write("train.csv", "who,at,n\na,31/12/2014,1\nb,1/12/2014,2\n")
        self.succeed("cpd", train, "--columns", "who,at:day,n", "-r", 1, "--out", self.folder / "model")
        test = self.write("test.csv", "who,at,n\na,1/12/2014,1\n")
        said = run("predict", self.folder / "model", test, "--columns", "who,at:day,n")
        self.assertEqual(said.returncode, 2)  # 12 January is not in the model
        self.assertIn("'1/12/2014' in the column 'at' is no label of mode 2 of the model", said.stderr)
        table = self.succeed("predict", self.folder / "model", test, "--columns", "who,at:day=dmy,n")
        self.assertEqual(table.splitlines()[1].split("\t")[:2], ["a", "2014-12-01"])

    def test_other_forms_have_a_known_order(self) -> None:
        path = self.table(["2014/2/1", "1.2.2014", "2014-02-01", "20140201", "5/5/2014"], "t.csv")
        self.assertEqual(self.days([path]), (["2014-02-01"] * 4 + ["2014-05-05"], ""))

    def test_look_says_what_dates_show(self) -> None:
        for texts, content in ((["1/2/2014", "3/4/2014"], "dates, day or month first"), (["1/2/2014", "13/4/2014"], "dates, day first"),
                               (["1-31-2014"], "dates, month first"), (["1.2.2014", "5/5/2014"], "dates")):
            seen = self.result("look", self.table(texts, "t.csv"))
            self.assertEqual(seen["columns"][1]["content"], content)


if __name__ == "__main__":
    unittest.main()
