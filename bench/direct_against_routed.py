#!/usr/bin/env python3
"""Plans direct and routed exchanges of factor rows between many processes, with exact counts.

    bench/direct_against_routed.py TENSOR... [--processes 512,4096,16384] [--rank 16] [--replicate none]
                                   [--distributions fine] [--partition block]
                                   [--exchange direct,auto]

For each tensor, number of processes and distribution (fine, coarse, or medium with a grid as in medium:128x4x1) two plans
are made: `--exchange direct` and `--exchange auto`, which takes stages where they are predicted to be faster. Columns: the
predicted time of an iteration and of its communication, messages of the busiest process over all modes, words that it
sends, and the number of stages of each mode; and what the plan itself took, in seconds and MB. The constants are those of
`polyad plan`: see `polyad doctor --calibrate`. `--exchange auto` leaves the direct exchange out.
"""

import argparse
import json
import os
import pathlib
import subprocess

POLYAD = os.environ.get("POLYAD", str(pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "polyad"))


def plan(tensor: str, processes: int, distribution: str, exchange: str, options: argparse.Namespace) -> tuple[dict, dict]:
    """The fastest strategy, and all of the plan."""
    scheme, _, grid = distribution.partition(":")
    chosen = ["--grid", grid] if grid else [] if scheme == "medium" else ["--partition", options.partition]
    command = [POLYAD, "plan", tensor, "-k", processes, "-r", options.rank, "--distribution", scheme, *chosen, "--exchange", exchange,
               *(["--replicate", options.replicate] if scheme != "coarse" else []), "-q", "--json", "-"]
    printed = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    result = json.loads(printed)
    return result["strategies"][result["recommended"]], result


def line(tensor: str, strategy: dict, result: dict) -> str:
    stages = [name.removeprefix("routed:").replace("direct", "1").replace("replicated", "-") for name in strategy["exchange"]]
    name = strategy["distribution"] + " " + ("x".join(map(str, strategy["grid"])) if strategy["distribution"] == "medium"
                                             else strategy["partition"]) + " " + strategy["row_owners"]
    return (f"| {pathlib.Path(tensor).stem} | {strategy['processes']:,} | {name} | {', '.join(stages)} "
            f"| {1e3 * strategy['predicted_seconds_per_iteration']:.3g} | {1e3 * strategy['predicted']['communicate']:.3g} "
            f"| {strategy['max_messages']:,} | {strategy['messages']:,} | {strategy['max_volume_words']:,} | {strategy['volume_words']:,} "
            f"| {result['seconds']['count'] + result['seconds']['plan']:.0f} | {1e-6 * result['peak_memory_bytes']:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tensors", nargs="+")
    parser.add_argument("--processes", default="512,4096,16384")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--replicate", default="none")
    parser.add_argument("--distributions", default="fine")
    parser.add_argument("--partition", default="block")
    parser.add_argument("--exchange", default="direct,auto")
    options = parser.parse_args()
    print("| tensor | processes | distribution | stages of modes | iteration, ms | communication, ms | most messages | messages "
          "| most words | words | seconds to plan | MB |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for tensor in options.tensors:
        for processes in map(int, options.processes.split(",")):
            for distribution in options.distributions.split(","):
                for exchange in options.exchange.split(","):
                    print(line(tensor, *plan(tensor, processes, distribution, exchange, options)), flush=True)


if __name__ == "__main__":
    main()
