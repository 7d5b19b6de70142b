#!/usr/bin/env python3
"""Kills runs of `polyad cpd --checkpoint` at random moments and lets them go on.

    tools/kill_runs.py [--kills 200] [--processes 1,3] [--signal KILL] [--seed 1]

Every round is killed a few times before it may come to its end. Then its model must be that of a run that was not killed,
bit for bit, and the directory of its checkpoints may hold nothing but whole ones. Exit code 1 if not.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
POLYAD = pathlib.Path(os.environ.get("POLYAD", ROOT / "build" / "bin" / "polyad"))
KILLS_PER_ROUND = 5


def processes() -> list[tuple[int, str, list[str]]]:
    """Number, name and the fields after it (state, parent, group, session, ...) of all that live."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            number, rest = status.read_text().split(" (", 1)
        except OSError:
            continue  # it has ended
        name, fields = rest.rsplit(") ", 1)
        if not fields.startswith("Z"):
            found.append((int(number), name, fields.split()))
    return found


def kill_session(leader: int) -> None:
    """A launcher has groups of its own for what it starts, but in the same session."""
    while members := [process for process, _, fields in processes() if int(fields[3]) == leader]:
        for process in members:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended
        time.sleep(0.01)


def end(process: subprocess.Popen[bytes], number: int) -> None:
    """Ends a run and its launcher. One that is asked to end, as by a scheduler, must do so within a minute."""
    if number != signal.SIGKILL:
        process.send_signal(number)
        process.wait(timeout=60)
    kill_session(process.pid)
    process.wait()


class Trial:
    """Rounds on a number of processes."""

    def __init__(self, folder: pathlib.Path, processes: int) -> None:
        self.folder, self.states = folder, folder / "states"
        launcher = [str(ROOT / "tools" / "mpirun"), str(processes)] if processes > 1 else []
        self.command = [*launcher, str(POLYAD), "cpd", str(folder / "x.tns"), "-r", "5", "-i", "60", "--tol", "0", "-t", "1", "-q"]
        began = time.monotonic()
        self.whole = self.finish("whole")
        self.seconds = time.monotonic() - began

    def finish(self, name: str, *options: str) -> tuple[list[float], dict[str, bytes]]:
        out = self.folder / name
        subprocess.run([*self.command, *options, "--out", str(out)], check=True, capture_output=True)
        fits = json.loads((out / "summary.json").read_text())["fit_trajectory"]
        return fits, {file.name: file.read_bytes() for file in out.iterdir() if file.name != "summary.json"}

    def round(self, rng: random.Random, number: int) -> str:
        """What went wrong; empty: nothing."""
        shutil.rmtree(self.states, ignore_errors=True)
        options = ["--checkpoint", str(self.states), "--every", "1it"]
        for _ in range(KILLS_PER_ROUND):
            process = subprocess.Popen([*self.command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       start_new_session=True)
            time.sleep(rng.uniform(0, 1.2 * self.seconds))
            end(process, number)
        if self.finish("again", *options) != self.whole:
            return "the run that went on has another answer"
        left = [name for name in os.listdir(self.states) if not name.isdigit()]
        return f"left in the directory: {left}" if left else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--processes", default="1,3")
    parser.add_argument("--signal", default="KILL")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    faults = 0
    for processes in map(int, options.processes.split(",")):
        with tempfile.TemporaryDirectory(prefix="polyad-kill-") as folder:
            subprocess.run([POLYAD, "generate", "planted", f"{folder}/x.tns", "--dims", "40x30x20", "--nnz", "3000", "--noise", "0.1",
                            "-q"], check=True)
            trial = Trial(pathlib.Path(folder), processes)
            rounds = -(-options.kills // KILLS_PER_ROUND)
            for number in range(1, rounds + 1):
                if fault := trial.round(rng, getattr(signal, "SIG" + options.signal)):
                    faults += 1
                    print(f"{processes} processes, round {number}: {fault}", flush=True)
            print(f"{processes} processes: {rounds * KILLS_PER_ROUND} times SIG{options.signal}, {rounds} runs went on", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
