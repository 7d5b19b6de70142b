"""bench/recommenders.py ends with one line that names the place, where a file has no ratings as it reads them."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["POLYAD_SOURCE"])
HAS_PACKAGES = all(importlib.util.find_spec(name) for name in ("numpy", "scipy"))


@unittest.skipUnless(HAS_PACKAGES, "numpy or scipy is not installed")
class RecommendersTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="polyad-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def read(self, text: str, *options: str) -> subprocess.CompletedProcess:
        file = self.folder / "ratings.txt"
        file.write_text(text)
        command = [sys.executable, SOURCE / "bench" / "recommenders.py", file, "--only", "items with", "--seeds", "1", *options]
        return subprocess.run(command, capture_output=True, text=True)

    def test_lines_that_are_no_ratings_are_named(self) -> None:
        for text, line, found in (("a b c d\n", 1, "a b c d"), ("1 2 3\n1 3 x\n", 2, "1 3 x"), ("user,item,rating\n\n1,2\n", 3, "1,2"),
                                  ("", 1, "")):
            for options in ((), ("--binary",)) if "1,2" not in text else ((),):
                with self.subTest(text=text, options=options):
                    result = self.read(text, *options)
                    self.assertEqual((result.returncode, result.stdout), (1, ""))
                    self.assertRegex(result.stderr, rf"^\S+ratings.txt:{line}: expected a user, an item and a rating, not '{found}'.*\n$")

    def test_headers_and_comments_are_passed_over(self) -> None:
        cells = [f"{user},{item},{1 + (user * item) % 5},99\n" for user in range(12) for item in range(30) if (user + item) % 3 > 0]
        for head, options in (("user,item,rating,time\n", ()), ("# ratings\n\nuser,item,rating,time\n", ("--binary",))):
            result = self.read(head + "".join(cells), *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"12 users, 30 items, {len(cells)} ratings", result.stdout)


if __name__ == "__main__":
    unittest.main()
