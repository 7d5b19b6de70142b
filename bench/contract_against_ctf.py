#!/usr/bin/env python3
"""Makes the same contraction with Polyad and with CTF, in turn, and prints rates and their ratios.

    bench/contract_against_ctf.py [--processes 1,2,4] [--rounds 5] [--repetitions 10]

CTF's own `bench_contraction`, built outside this repository, is looked for on the PATH; without it Polyad runs alone.
The contraction is C[abji] += A[acik] * B[bcjk] with all extents 32, in double precision, one thread per process. A round is the mean of --repetitions contractions by each, one after the other, as CTF counts it: from the statement to the
result. Printed are the best round of each, the ratio of these, the least and the median of the ratios within a round, and
how many rounds Polyad won. Where gaps are small, the number of rounds won says more than the ratio. The machine should have
nothing else to do.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ROOT / "build" / "bin" / "polyad_contract_on_processes"
EXTENT = 32
FLOPS = 2.0 * EXTENT**6
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def words_of(processes: int, *command: object) -> str:
    whole = [str(ROOT / "tools" / "mpirun"), str(processes), *map(str, command)]
    return subprocess.run(whole, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout


def ours(program: str, processes: int, repetitions: int) -> float:
    return float(re.search(r"^all 32 .*mean ([0-9.]+),", words_of(processes, program, repetitions), re.MULTILINE)[1])


def ctf(program: str, processes: int, repetitions: int) -> float:
    words = words_of(processes, program, "-n", EXTENT, "-niter", repetitions, "-A", "acik", "-B", "bcjk", "-C", "abji")
    return 1e-9 * FLOPS / float(re.search(r"in ([0-9.]+) sec/iter", words)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", default="1,2,4")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--polyad", default=str(OURS), help="polyad_contract_on_processes, where it is not in build/bin")
    options = parser.parse_args()
    peer = shutil.which("bench_contraction")
    if not peer:
        print("bench_contraction (CTF) is not on the PATH: Polyad runs alone")
    for processes in map(int, options.processes.split(",")):
        rates, theirs = [], []
        for _ in range(options.rounds):
            rates.append(ours(options.polyad, processes, options.repetitions))
            if peer:
                theirs.append(ctf(peer, processes, options.repetitions))
        line = f"{processes} processes: Polyad {max(rates):.1f} GFLOP/s"
        if peer:
            ratios = [a / b for a, b in zip(rates, theirs)]
            line += (f", CTF {max(theirs):.1f}: {max(rates) / max(theirs):.2f} times faster; by round "
                     f"{min(ratios):.2f} at least, {statistics.median(ratios):.2f} in the middle, "
                     f"faster in {sum(r > 1 for r in ratios)} of {options.rounds}")
        print(line, flush=True)


if __name__ == "__main__":
    main()
