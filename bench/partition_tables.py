#!/usr/bin/env python3
"""What distributions of a tensor communicate: the table of Kaya and Uçar (SC 2015), planned with exact counts.

    bench/partition_tables.py TENSOR... [--processes 512] [--rank 16] [--with-hypergraph] [--time 900]

For every kind of distribution that `polyad plan` considers: the factor rows that all processes send in an iteration; for each mode, the
maximum and the mean number of rows, and of messages, that a process sends; the nonzeros of the heaviest process divided by the mean, in the
mode where this is largest; and the predicted time of an iteration by the constants of `polyad plan` (see `polyad doctor --calibrate`). No mode
is replicated, and rows are sent directly. --with-hypergraph also computes partitions, unless they are cached.

DFacTo (Choi and Vishwanathan 2014) is planned from the same counts. It has the nonzeros of coarse blocks, and every process has all
factors: new rows are sent to all others by an all-gather, in log2(processes) messages of a process for each mode. The time to multiply is that
of Polyad's coarse blocks, although DFacTo multiplies by two sparse matrices for each component.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess

POLYAD = os.environ.get("POLYAD", str(pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "polyad"))


def plan(tensor: str, options: argparse.Namespace) -> dict:
    command = [POLYAD, "plan", tensor, "-k", options.processes, "-r", options.rank, "--replicate", "none", "--exchange", "direct",
               *(["--with-hypergraph", "--time", options.time] if options.with_hypergraph else []), "-q", "--json", "-"]
    return json.loads(subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout)


def fastest(strategies: list[dict]) -> list[tuple[str, dict]]:
    """Of every kind; of medium grain and of the owners of rows of fine grain the fastest."""
    best: dict[str, dict] = {}
    for one in strategies:
        name = one["distribution"] + ", " + ("the fastest grid" if one["distribution"] == "medium" else one["partition"])
        if name not in best or one["predicted_seconds_per_iteration"] < best[name]["predicted_seconds_per_iteration"]:
            best[name] = one
    named = []
    for name, one in sorted(best.items(), key=lambda item: item[1]["predicted_seconds_per_iteration"]):
        grid = "x".join(map(str, one["grid"])) + " " + one["policy"]
        owners = "" if one["row_owners"] == "none" else f", {one['row_owners']} owners"
        named.append((name.replace("the fastest grid", grid) + owners, one))
    return named


def dfacto(result: dict, block: dict) -> dict:
    """Costs of an iteration of DFacTo, in the form of a strategy."""
    processes, rank, constants = block["processes"], result["rank"], result["constants"]
    rows = [extent * (processes - 1) / processes for extent in result["dims"]]  # that a process gets, and passes on
    messages = math.ceil(math.log2(processes))
    communicate = sum(messages * constants["seconds_per_message"] + r * rank * constants["seconds_per_word"] for r in rows)
    return {**block, "volume_words": sum(rows) * processes * rank,
            "volume_per_mode": [{"max": r * rank, "avg": r * rank} for r in rows],
            "messages_per_mode": [{"max": messages, "avg": messages}] * len(rows),
            "predicted_seconds_per_iteration": block["predicted"]["multiply"] + block["predicted"]["update"] + communicate}


def line(name: str, one: dict, rank: int) -> str:
    rows = " | ".join(f"{mode['max'] / rank:,.0f} / {mode['avg'] / rank:,.0f}" for mode in one["volume_per_mode"])
    messages = ", ".join(f"{mode['max']:,.0f} / {mode['avg']:,.0f}" for mode in one["messages_per_mode"])
    heaviest = max(mode["max"] / max(mode["avg"], 1) for mode in one["load"])
    return (f"| {name} | {one['volume_words'] / rank:,.0f} | {rows} | {messages} | {heaviest:.2f} "
            f"| {1e3 * one['predicted_seconds_per_iteration']:.3g} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tensors", nargs="+")
    parser.add_argument("--processes", type=int, default=512)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--with-hypergraph", action="store_true")
    parser.add_argument("--time", type=float, default=900, help="seconds for each hypergraph partition")
    options = parser.parse_args()
    for tensor in options.tensors:
        result = plan(tensor, options)
        modes = " | ".join(f"mode {m + 1}" for m in range(len(result["dims"])))
        print(f"{pathlib.Path(tensor).name}, {'x'.join(map(str, result['dims']))}, {options.processes} processes, {options.rank} components\n")
        print(f"| | rows | {modes} | messages of each mode | heaviest | predicted, ms |\n| --- |{' --- |' * (len(result['dims']) + 4)}")
        for name, one in fastest(result["strategies"]):
            print(line(name, one, options.rank))
        block = next(one for one in result["strategies"] if one["distribution"] == "coarse" and one["partition"] == "block")
        print(line("DFacTo", dfacto(result, block), options.rank) + "\n", flush=True)


if __name__ == "__main__":
    main()
