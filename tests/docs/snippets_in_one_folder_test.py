"""The `bash` fences of README.md and of all pages of docs/ succeed one after the other in one folder."""

import unittest

from snippets import PAGES, RunSnippets


class OneFolderTest(RunSnippets):
    def test_bash_snippets_of_all_pages_succeed_one_after_the_other_in_one_folder(self) -> None:
        self.assertGreater(self.run_snippets(PAGES), 30)


if __name__ == "__main__":
    unittest.main()
