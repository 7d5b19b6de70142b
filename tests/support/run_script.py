"""Runs the tests of a script: run_script.py tests/cli/x_test.py [OPTION OF UNITTEST...]

Prints "[skipped] NAME: REASON" for every test that is skipped, which tools/run_ctest.py collects. The exit code is 77 where
all are skipped, which CTest shows as skipped."""

import pathlib
import sys
import unittest


class Result(unittest.TextTestResult):
    num_passed = 0

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        print(f"[begins] {test.id().partition('.')[2]}", flush=True)  # so that a log tells which one hangs

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.num_passed += 1

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        print(f"[skipped] {test.id().partition('.')[2]}: {reason}", flush=True)


def main() -> int:
    script = pathlib.Path(sys.argv[1]).resolve()
    sys.path[0] = str(script.parent)
    runner = unittest.TextTestRunner(resultclass=Result)
    result = unittest.main(script.stem, argv=sys.argv[1:], testRunner=runner, exit=False).result
    if not result.wasSuccessful():
        return 1
    return 77 if result.skipped and result.num_passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
