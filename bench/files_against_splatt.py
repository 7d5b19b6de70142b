#!/usr/bin/env python3
"""Reads the same .tns, from the page cache, with Polyad and with SPLATT, in turn, and prints the ratio.

    bench/files_against_splatt.py [NONZEROS]     (10 million unless said; splatt must be on the PATH)

Polyad's time is its `load` phase, SPLATT's the IO timer that it reports; best of five each.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROUNDS = 5
POLYAD = pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "polyad"


def read_with_polyad(path: pathlib.Path) -> dict:
    command = [POLYAD, "stats", path, "--quiet", "--json", "-"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def read_with_splatt(path: pathlib.Path) -> float:
    # The smallest decomposition: SPLATT's stats and check do not report their reading apart.
    command = ["splatt", "cpd", "--nowrite", "-r", "1", "-i", "1", "-v", "-v", path]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(re.search(r"^\s*IO\s+([0-9.]+)s", words, re.MULTILINE)[1])


def main() -> None:
    nonzeros = sys.argv[1] if len(sys.argv) > 1 else "10000000"
    with tempfile.TemporaryDirectory(prefix="polyad-bench-") as folder:
        path = pathlib.Path(folder) / "x.tns"
        subprocess.run([POLYAD, "generate", "like", "nell", path, "--nnz", nonzeros, "--quiet"], check=True)
        polyad, splatt, memory = [], [], 0.0
        for _ in range(ROUNDS):
            stats = read_with_polyad(path)
            polyad.append(stats["seconds"]["load"])
            memory = max(memory, stats["peak_memory_bytes"] / stats["memory_bytes"]["coo"])
            splatt.append(read_with_splatt(path))
        size = path.stat().st_size / 1e6
    print(f"{nonzeros} nonzeros, {size:.0f} MB of text; best of {ROUNDS}, in turn (all: {polyad} {splatt})")
    print(f"polyad {min(polyad):.3f} s   splatt {min(splatt):.3f} s   ratio {min(splatt) / min(polyad):.1f}")
    print(f"polyad's peak memory is {memory:.2f} times the coordinates' own size")


if __name__ == "__main__":
    main()
