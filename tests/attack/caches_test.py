"""Cached partitions: in the user's folder and nowhere else, and believed only if they can be trusted."""

import os
import pathlib
import sys
import unittest

sys.path.append(os.path.join(os.environ["POLYAD_SOURCE"], "tests", "cli"))
from program import WITH_MPI, ProgramTest, run  # noqa: E402


class CacheTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.data = self.folder / "data"
        self.data.mkdir()
        self.x = self.data / "x.tns"
        self.succeed("generate", "zipf", self.x, "--dims", "40x30x20", "--nnz", 600, "-q")
        self.out = self.folder / "out.part"

    def partition(self, *options: object) -> tuple[bool, str, list[str]]:
        """Whether the partition was cached, the text on standard error, and the parts."""
        result = run("partition", self.x, "-k", 3, "--out", self.out, "-q", "--json", self.folder / "x.json", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        parts = self.out.read_text().splitlines()
        self.out.unlink()
        return '"cached": true' in (self.folder / "x.json").read_text(), result.stderr, parts

    def cached_file(self) -> pathlib.Path:
        (file,) = self.cache.glob("fine-3-*.part")
        return file

    def test_only_the_folder_of_the_user_is_written_to(self) -> None:
        self.assertEqual(self.partition()[:2], (False, ""))
        self.assertEqual([file.name for file in self.data.iterdir()], ["x.tns"])
        self.assertEqual(self.cache.stat().st_mode & 0o777, 0o700)
        self.assertEqual(self.cached_file().stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.partition()[:2], (True, ""))

    def test_another_folder_by_option(self) -> None:
        other = self.folder / "other" / "place"
        self.assertFalse(self.partition("--cache", other)[0])
        self.assertFalse(self.cache.exists())
        self.assertEqual(len(list(other.iterdir())), 1)
        self.assertTrue(self.partition("--cache", other)[0])
        self.assert_fails("--cache requires a method that searches and cannot be combined with --no-cache", 2,
                          "partition", self.x, "-k", 3, "--cache", other, "--no-cache")
        self.assert_fails("--cache requires --with-hypergraph", 2, "plan", self.x, "-k", 2, "--cache", other)

    def assert_made_anew(self, right: list[str], reason: str) -> None:
        file = self.cached_file()
        found, messages, parts = self.partition()
        self.assertEqual((found, parts), (False, right))
        self.assertEqual(messages, f"polyad: warning: {file}: this cached partition is ignored: {reason}\n")

    def test_damaged_and_poisoned_files_are_made_anew(self) -> None:
        right = self.partition()[2]
        file = self.cached_file()
        good = file.read_text()
        head, body = good.split("\n", 1)
        for text, reason in (
                ("", "it has no header"), (good[:-2], "it is damaged"), (head + "\n", "it is damaged"),
                (body, "it is damaged"), (head + "\n" + "0\n" * len(right), "it is damaged"),
                (good + "9" * 20000, "it is too large"),
                (good.replace(" 3 ", " 2 ", 1), "it is damaged")):
            with self.subTest(reason, size=len(text)):
                file.write_text(text)
                self.assert_made_anew(right, reason)
                self.assertTrue(self.partition()[0])

    def test_what_is_no_file_of_the_user_is_ignored(self) -> None:
        right = self.partition()[2]
        file = self.cached_file()
        elsewhere = self.folder / "elsewhere"
        elsewhere.write_text(file.read_text())

        def link() -> None:
            file.symlink_to(elsewhere)

        def fifo() -> None:
            os.mkfifo(file)

        for make, reason in ((link, "it is a link"), (fifo, "it is no regular file")):
            with self.subTest(reason):
                file.unlink()
                make()
                self.assert_made_anew(right, reason)
                self.assertTrue(self.partition()[0])
        file.chmod(0o666)
        self.assert_made_anew(right, "other users may write to it")
        self.assertEqual(elsewhere.read_text(), file.read_text())
        if os.geteuid() == 0:
            os.chown(file, 12345, -1)
            self.assert_made_anew(right, "it belongs to another user")

    def test_a_cache_that_cannot_be_written_stops_nothing(self) -> None:
        messages = self.partition("--cache", "/proc/nonexistent/cache")[1]
        self.assertEqual(messages, "polyad: warning: the partition is not cached in /proc/nonexistent/cache: No such file or "
                               "directory; --cache names another folder\n")
        shared = self.folder / "shared"
        shared.mkdir()
        shared.chmod(0o777)
        self.assertIn("other users may write to it", self.partition("--cache", shared)[1])
        self.assertEqual(list(shared.iterdir()), [])
        blocked = self.write("blocked", "")
        self.assertIn("the partition is not cached", self.partition("--cache", blocked)[1])

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_runs_of_many_processes_share_the_rules(self) -> None:
        cpd = ("cpd", self.x, "-r", 2, "-i", 2, "--partition", "hypergraph", "-q", "--json", "-")
        first = run(*cpd, processes=3)
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        self.assertEqual([file.name for file in self.data.iterdir()], ["x.tns"])
        file = self.cached_file()
        good = file.read_text()
        self.assertEqual(run(*cpd, processes=3).returncode, 0)
        file.write_text(good[:100])
        again = run(*cpd, processes=3)
        self.assertEqual(again.returncode, 0)
        self.assertEqual(again.stderr.count(f"polyad: warning: {file}: this cached partition is ignored: it is damaged"), 1)
        self.assertEqual(file.read_text(), good)


if __name__ == "__main__":
    unittest.main()
