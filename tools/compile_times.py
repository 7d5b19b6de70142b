#!/usr/bin/env python3
"""Print the CPU seconds that each file takes to compile, the longest first, and the sum for each target.

  tools/compile_times.py [--build build] [--target polyad_kernels] [--jobs 2] [PATTERN]

Compiles every file once more with the commands of the build folder, without ccache, and throws the result away.
PATTERN: only files with this text in their path. Run it before and after a change that adds templates or headers.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys


def target_of(entry):
    """polyad_core, of an object file polyad/CMakeFiles/polyad_core.dir/base/array.cpp.o"""
    words = shlex.split(entry["command"])
    parts = pathlib.Path(words[words.index("-o") + 1]).parts
    return next((part[:-4] for part in parts if part.endswith(".dir")), "")


def cpu_seconds(entry):
    words = shlex.split(entry["command"])
    if pathlib.Path(words[0]).name == "ccache":
        words = words[1:]
    words[words.index("-o") + 1] = os.devnull
    for option in ("-MD", "-MMD"):
        if option in words:
            words.remove(option)
    for option in ("-MT", "-MF"):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    process = subprocess.Popen(words, cwd=entry["directory"], env=os.environ | {"CCACHE_DISABLE": "1"},
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--build", default="build", type=pathlib.Path, help="configured build folder (default: build)")
    parser.add_argument("--target", help="only the files of this CMake target (default: all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at once (default: all cores)")
    args = parser.parse_args()
    database = args.build / "compile_commands.json"
    if not database.exists():
        sys.exit(f"{database} is missing: configure the build first, e.g. cmake --preset release")
    entries = [entry for entry in json.loads(database.read_text())
               if args.pattern in entry["file"] and args.target in (None, target_of(entry))]
    sums = collections.Counter()
    rows = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for entry, (seconds, ok) in zip(entries, pool.map(cpu_seconds, entries)):
            name = os.path.relpath(entry["file"], os.path.commonpath([database.resolve().parent.parent, entry["file"]]))
            rows.append((seconds, target_of(entry), name, "" if ok else "  (failed)"))
            sums[target_of(entry)] += seconds
    for seconds, target, name, note in sorted(rows, reverse=True):
        print(f"{seconds:7.1f}  {target:24} {name}{note}")
    print()
    for target, seconds in sums.most_common():
        print(f"{seconds:7.1f}  {target}")
    print(f"{sum(sums.values()):7.1f}  all {len(rows)} files")
    return 1 if any(note for *_, note in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
