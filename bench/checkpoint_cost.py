#!/usr/bin/env python3
"""What checkpoints cost: seconds for writing them over seconds of the iterations.

    bench/checkpoint_cost.py TENSOR [--rank 16] [--every 10s] [--seconds 60] [--processes 1]
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
POLYAD = pathlib.Path(os.environ.get("POLYAD", ROOT / "build" / "bin" / "polyad"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tensor")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--every", default="10s")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    launcher = [str(ROOT / "tools" / "mpirun"), str(options.processes)] if options.processes > 1 else []
    with tempfile.TemporaryDirectory(prefix="polyad-checkpoints-", dir=".") as states:
        ended = subprocess.run([*launcher, str(POLYAD), "cpd", options.tensor, "-r", str(options.rank), "-i", "1000000", "--tol", "0", "-q",
                                "--time-limit", f"{options.seconds}s", "--checkpoint", states, "--every", options.every, "--json", "-"],
                               capture_output=True, text=True)
        size = sum(file.stat().st_size for file in max(pathlib.Path(states).iterdir()).iterdir())
    if ended.returncode not in (0, 4):
        raise SystemExit(ended.stderr)
    run = json.loads(ended.stdout)
    written, seconds = run["checkpoint"]["written"], run["checkpoint"]["seconds"]
    iterating = sum([run["seconds"]["iterate"], seconds])
    print(f"{written} checkpoints of {size / 1e6:.1f} MB in {seconds:.3f} s: {100 * seconds / iterating:.2f} % of {iterating:.1f} s of "
          f"iterations, one every {options.every}")


if __name__ == "__main__":
    main()
