"""Help, suggestions for misspelt words, manual pages and completion."""

import re
import shutil
import subprocess
import unittest

from program import WITH_MPI, ProgramTest, run


def commands() -> list[list[str]]:
    """Every command of the program, by its own help."""
    def below(words: list[str]) -> list[list[str]]:
        text = run(*words, "--help").stdout
        if "COMMAND ..." not in text:
            return [words]
        names = re.findall(r"^  ([a-z]+) +\S", text, re.MULTILINE)
        return [words, *(command for name in names for command in below([*words, name]))]
    return below([])


class HelpTest(ProgramTest):
    def test_every_command_has_help_in_lines_of_a_terminal(self) -> None:
        found = commands()
        self.assertIn(["generate", "like"], found)
        self.assertIn(["cpd"], found)
        for words in found:
            with self.subTest(" ".join(words)):
                text = self.succeed(*words, "--help")
                self.assertTrue(text.endswith("\n") and not text.endswith("\n\n"))
                self.assertLessEqual(max(map(len, text.splitlines())), 100)
                self.assertIn("\nUsage: " + " ".join(["polyad", *words]), text)
                self.assertEqual(self.succeed("help", *words), text)

    def test_common_options_come_first(self) -> None:
        text = self.succeed("cpd", "--help")
        titles = ["Options:", "Computation:", "Distribution over processes:", "Reading the input:", "General options:"]
        places = [text.index("\n" + title + "\n") for title in titles]
        self.assertEqual(places, sorted(places))
        self.assertIn("  -r, --rank N              Number of components (required)\n", text)
        self.assertIn("      --nonneg[=MODES]      ", text)
        self.assertRegex(text, r"  -i, --iters N [^-]*\(default: 50\)")

    def test_versions(self) -> None:
        self.assertEqual(self.succeed("-V"), self.succeed("--version"))

    def test_misspelt_words(self) -> None:
        self.assert_fails("There is no command partitoin (did you mean partition?); see polyad --help", 2, "partitoin", "x.tns")
        self.assert_fails("There is no command lik (did you mean like?); see polyad generate --help", 2, "generate", "lik")
        self.assert_fails("there is no command polyad cdp (did you mean cpd?)", 2, "help", "cdp")
        self.assert_fails("there is no command polyad generate zzzzzz", 2, "help", "generate", "zzzzzz")
        self.assert_fails("The following argument was not expected: --thread (did you mean --threads?); see polyad stats --help", 2,
                          "stats", "x.tns", "--thread=3")

    def test_values_that_are_missing_or_wrong(self) -> None:
        for words, sentence in ((("cpd", "x", "-r"), "--rank: a value is missing"),
                                (("cpd", "x", "-r", 2, "-r", 3), "--rank: expected one value, once"),
                                (("cpd", "x", "-r", "1e3"), "--rank: '1e3' is no whole number; expected one from 1 to 100000"),
                                (("cpd", "x", "--missing", "--test", "y"), "--test: expected a number, not 'y'"),
                                (("cpd", "x", "--seed", "y"), "--seed: expected a whole number from 0 to 2^64 - 1, not 'y'"),
                                (("complete", "x", "--lr", 0), "--lr: expected a number above 0, not '0'"),
                                (("complete", "x", "--reg=-1"), "--reg: expected 0 or a number above it, not '-1'"),
                                (("cpd", "x", "-z"), "The following argument was not expected: -z")):
            self.assert_fails(f"{sentence}; see polyad {words[0]} --help", 2, *words)

    def test_options_of_a_kind_come_before_the_general_ones(self) -> None:
        text = self.succeed("generate", "ratings", "--help")
        self.assertLess(text.index("--users"), text.index("General options:"))

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_help_of_one_process_only(self) -> None:
        self.assertEqual(self.succeed("help", "stats", processes=2), self.succeed("help", "stats"))


class ManualTest(ProgramTest):
    def test_pages_are_well_formed(self) -> None:
        for words in commands():
            with self.subTest(" ".join(words)):
                page = self.succeed("help", "--man", *words)
                self.assertTrue(page.startswith(".TH POLYAD"))
                requests = {line.split()[0] for line in page.splitlines() if line.startswith(".")}
                self.assertLessEqual(requests, {".TH", ".SH", ".TP", ".B", ".nf", ".fi"})
                for line in page.splitlines():
                    self.assertNotRegex(line.replace("\\-", ""), "-")

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_shows_pages_without_a_warning(self) -> None:
        shown = subprocess.run(["groff", "-man", "-ww", "-Tascii"], input=self.succeed("help", "--man", "cpd"),
                               capture_output=True, text=True, check=True)
        self.assertEqual(shown.stderr, "")
        self.assertIn("number of components", shown.stdout.lower())


class CompletionTest(ProgramTest):
    def complete(self, *words: str) -> list[str]:
        """What bash offers for the last word."""
        self.write("polyad.bash", self.succeed("completion", "bash"))
        quoted = " ".join(f"'{word}'" for word in ("polyad", *words))
        script = (f"source polyad.bash; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _polyad; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        shown = subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(shown.stderr, "")
        return shown.stdout.split()

    def test_bash(self) -> None:
        self.write("x.tns", "1 1 1\n")
        self.assertEqual(self.complete("cp"), ["cpd"])
        self.assertEqual(self.complete("cpd", "--rep"), ["--report", "--replicate"])
        self.assertEqual(self.complete("cpd", "--method", ""), ["als", "opt"])
        self.assertEqual(self.complete("cpd", "x"), ["x.tns"])
        self.assertEqual(self.complete("cpd", "x.tns", "-r", "3", "--precision", "s"), ["single"])
        self.assertEqual(self.complete("generate", "com"), ["communities"])
        self.assertEqual(self.complete("generate", "like", "--sc"), ["--scale"])
        self.assertIn("stats", self.complete(""))
        self.assertEqual(self.complete("get", "nat"), ["nations"])

    def test_other_shells(self) -> None:
        self.assertIn("\ncomplete -c polyad -n '__fish_seen_subcommand_from cpd' -l method -x -a 'als opt' -d '",
                      self.succeed("completion", "fish"))
        self.assertTrue(self.succeed("completion", "zsh").startswith("#compdef polyad\n"))
        self.assert_fails("shell: csh not in {bash,zsh,fish}; see polyad completion --help", 2, "completion", "csh")

    def test_other_shells_read_their_scripts(self) -> None:
        for shell in ("zsh", "fish"):
            with self.subTest(shell):
                if not shutil.which(shell):
                    self.skipTest(f"{shell} is not installed")
                script = self.write("polyad." + shell, self.succeed("completion", shell))
                subprocess.run([shell, "-n", str(script)], check=True)


if __name__ == "__main__":
    unittest.main()
