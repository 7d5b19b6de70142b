#!/usr/bin/env python3
"""What checkpoints cost: seconds for writing them over seconds of the run. Exit code 1 if that is more than 2 %.

    bench/checkpoint_cost.py [TENSOR] [--rank 16] [--every 10s] [--seconds 60] [--processes 1] [--scale 0.1]

Without TENSOR: of one that resembles FB-M, scaled (`polyad generate like fb`).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
POLYAD = pathlib.Path(os.environ.get("POLYAD", ROOT / "build" / "bin" / "polyad"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tensor", nargs="?")
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--every", default="10s")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    launcher = [str(ROOT / "tools" / "mpirun"), str(options.processes)] if options.processes > 1 else []
    with tempfile.TemporaryDirectory(prefix="polyad-checkpoints-", dir=".") as folder:
        states, tensor = f"{folder}/states", options.tensor or f"{folder}/fb.ptb"
        if not options.tensor:
            subprocess.run([str(POLYAD), "generate", "like", "fb", tensor, "--scale", str(options.scale), "-q"], check=True)
        began = time.monotonic()
        ended = subprocess.run([*launcher, str(POLYAD), "cpd", tensor, "-r", str(options.rank), "-i", "1000000", "--tol", "0", "-q",
                                "--time-limit", f"{options.seconds}s", "--checkpoint", states, "--every", options.every, "--json", "-"],
                               capture_output=True, text=True)
        whole = time.monotonic() - began
        if ended.returncode not in (0, 4):
            raise SystemExit(ended.stderr)
        size = sum(file.stat().st_size for file in max(pathlib.Path(states).iterdir()).iterdir())
    run = json.loads(ended.stdout)
    written, seconds = run["checkpoint"]["written"], run["checkpoint"]["seconds"]
    print(f"{written} checkpoints of {size / 1e6:.1f} MB in {seconds:.3f} s: {100 * seconds / whole:.2f} % of {whole:.1f} s, one every "
          f"{options.every}")
    return 1 if seconds > 0.02 * whole else 0


if __name__ == "__main__":
    sys.exit(main())
