"""What is skipped inside of tests is listed before the closing lines of CTest."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["POLYAD_SOURCE"])

SCRIPT = """
import unittest

class SomeTest(unittest.TestCase):
    def test_that_runs(self):
        {0}

    @unittest.skip("no moon tonight")
    def test_that_does_not(self):
        pass

if __name__ == "__main__":
    unittest.main()
"""


class RunCtestTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="polyad-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tests(self, **bodies: str) -> tuple[str, int]:
        """The tests of scripts, by name: what the first test of each does. The other is skipped."""
        lines = []
        for name, body in bodies.items():
            script = self.folder / f"{name}_test.py"
            script.write_text(SCRIPT.format(body))
            lines.append(f'add_test({name} "{sys.executable}" "{SOURCE}/tests/support/run_script.py" "{script}")')
            lines.append(f"set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77)")
        (self.folder / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
        result = subprocess.run([SOURCE / "tools" / "run_ctest.py", "--test-dir", self.folder], capture_output=True, text=True,
                                timeout=600)
        self.assertEqual(result.stderr, "")
        return result.stdout, result.returncode

    def test_skipped_parts_are_listed_by_reason(self) -> None:
        output, code = self.run_tests(one="pass", two="pass")
        self.assertEqual(code, 0)
        self.assertIn("\nSkipped inside of tests, by reason:\n  no moon tonight:\n    one, two\n\n100% tests passed", output)

    def test_a_test_that_skips_all_is_one_that_did_not_run(self) -> None:
        output, code = self.run_tests(part="pass", whole="self.skipTest('no sun')")
        self.assertEqual(code, 0)
        self.assertIn("  no moon tonight:\n    part, whole\n  no sun:\n    whole\n\n100% tests passed", output)
        self.assertRegex(output, r"The following tests did not run:\n\t *2 - whole \(Skipped\)\n$")

    def test_a_failure_is_one_beside_a_part_that_is_skipped(self) -> None:
        output, code = self.run_tests(bad="self.fail('bad weather')")
        self.assertNotEqual(code, 0)
        self.assertIn("bad weather", output)
        self.assertIn("    bad\n\n0% tests passed, 1 tests failed out of 1\n", output)
        self.assertTrue(output.endswith("The following tests FAILED:\n\t  1 - bad (Failed)\nErrors while running CTest\n"), output)


if __name__ == "__main__":
    unittest.main()
