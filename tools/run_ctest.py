#!/usr/bin/env python3
"""Run ctest, and list what was skipped inside of tests before its closing lines.

  tools/run_ctest.py --test-dir build [OPTION OF CTEST...]

CTest itself lists only tests that were skipped as a whole. Tests print a line "[skipped] NAME: REASON" for each part that
they skip; this script finds these lines in the log of CTest and prints them by their reasons.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import time

CLOSING = re.compile(r"\d+% tests passed|No tests were found")
TEST = re.compile(r"\d+/\d+ Testing: (.*)")
SKIPPED = re.compile(r"\[skipped\] (.*?): (.*)")


def skipped_parts(log: pathlib.Path) -> dict[str, collections.Counter]:
    """By reason: the tests that have skipped parts, and how many."""
    found: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    test = ""
    for line in log.read_text(errors="replace").splitlines():
        if match := TEST.match(line):
            test = match[1]
        elif not line.startswith("Command: ") and (match := SKIPPED.search(line)):  # perhaps after the dots of unittest
            found[match[2]][test] += 1
    return found


def print_skipped(found: dict[str, collections.Counter]) -> None:
    if not found:
        return
    print("Skipped inside of tests, by reason:")
    for reason, tests in sorted(found.items()):
        print(f"  {reason}:")
        print("    " + ", ".join(name if count == 1 else f"{name} ({count})" for name, count in sorted(tests.items())))
    print()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--test-dir", required=True, type=pathlib.Path, help="build folder")
    options, others = parser.parse_known_args()
    start = time.time()
    ctest = subprocess.Popen(["ctest", "--test-dir", options.test_dir, "--output-on-failure", *others],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    closing = []
    for line in ctest.stdout:
        if closing or CLOSING.match(line):
            closing.append(line)
        else:
            print(line, end="", flush=True)
    code = ctest.wait()
    log = options.test_dir / "Testing" / "Temporary" / "LastTest.log"
    if log.exists() and log.stat().st_mtime >= start - 1:
        print_skipped(skipped_parts(log))
    print("".join(closing), end="")
    return code


if __name__ == "__main__":
    sys.exit(main())
