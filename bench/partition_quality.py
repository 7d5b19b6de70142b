#!/usr/bin/env python3
"""How good partitions are, and what they cost: Polyad beside simple partitions, Zoltan and Mt-KaHyPar.

    bench/partition_quality.py --polyad build/bin/polyad --seeds 5 --jobs 2 uber-2014-apr.tns.gz

Makes three tensors with Zipf popularity and latent groups, of 250,000 nonzeros, takes those that are named besides, partitions
their fine-grain hypergraphs by every competitor, one thread each, imbalance 0.05, and prints connectivity - 1 and seconds of the
processor, means over the seeds; at the end the table of docs/partition.md. Zoltan and Mt-KaHyPar take part where they are built
in. With one job they take turns. A medium grid is the one with the fewest rows sent of all grids and policies that
`polyad plan` tries and that keep the balance; where none does, the most even.
"""

import argparse
import bisect
import concurrent.futures
import itertools
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile

# name, dims, Zipf exponents, groups, chance to pick inside the group, mode that has runs, mean of a run
TENSORS = [
    ("netflix-like", (12000, 444, 218), (0.65, 0.95, 0.5), 32, 0.75, None, 1),
    ("nell-like", (3023, 2296, 7204), (0.6, 0.6, 0.7), 64, 0.8, None, 1),
    ("4-mode", (5000, 100000, 25000, 1443), (0.9, 0.75, 1.0, 0.4), 128, 0.8, 2, 3),
]
NUM_NONZEROS = 250_000
IMBALANCE = 0.05


class Popularity:
    """Draws of a Zipf law from some of the indices."""

    def __init__(self, draw: random.Random, indices: list[int], weight: list[float]):
        self.draw, self.indices = draw, indices
        self.sums = list(itertools.accumulate(weight[i] for i in indices))

    def __call__(self) -> int:
        return self.indices[bisect.bisect(self.sums, self.draw.random() * self.sums[-1]) % len(self.indices)]


class Mode:
    def __init__(self, draw: random.Random, extent: int, exponent: float, num_groups: int, inside: float):
        self.draw, self.inside = draw, inside
        places = list(range(extent))
        draw.shuffle(places)
        weight = [0.0] * extent
        for place, index in enumerate(places):
            weight[index] = 1 / (place + 1) ** exponent
        members: list[list[int]] = [[] for _ in range(num_groups)]
        for index in range(extent):
            members[draw.randrange(num_groups)].append(index)
        self.any = Popularity(draw, list(range(extent)), weight)
        self.of_group = [Popularity(draw, indices, weight) if indices else self.any for indices in members]

    def __call__(self, group: int) -> int:
        return self.of_group[group]() if self.draw.random() < self.inside else self.any()


def make_tensor(path: pathlib.Path, dims, exponents, num_groups, inside, run_mode, run_mean, seed: int) -> None:
    draw = random.Random(seed)
    modes = [Mode(draw, *shape, num_groups, inside) for shape in zip(dims, exponents)]
    cells: set[tuple[int, ...]] = set()
    while len(cells) < NUM_NONZEROS:
        group = draw.randrange(num_groups)
        cell = [mode(group) for mode in modes]
        cells.add(tuple(cell))
        while run_mode is not None and draw.random() > 1 / run_mean:
            cell[run_mode] = modes[run_mode](group)
            cells.add(tuple(cell))
    with path.open("w") as out:
        for cell in sorted(cells)[:NUM_NONZEROS]:
            out.write(" ".join(str(i + 1) for i in cell) + " 1\n")


def result_of(command: list[str]) -> dict:
    """The JSON that a program prints, and the seconds of the processor that it took."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(" ".join(command) + ": " + process.stderr.read())
    return {"cpu": usage.ru_utime + usage.ru_stime, **json.loads(output)}


class Competitors:
    def __init__(self, polyad: str):
        self.polyad = polyad
        self.all = {"random": self.by_polyad("--method", "random"), "block": self.by_polyad("--method", "block"),
                    "medium grid": self.by_medium_grid,
                    **{level: self.by_polyad("--level", level) for level in ("fast", "default", "best")}}
        built_in = result_of([polyad, "doctor", "--json", "-"])
        if built_in["zoltan"]:
            self.all["Zoltan"] = self.by_polyad("--method", "zoltan")
        if built_in["mt_kahypar"]:
            self.all["Mt-KaHyPar"] = self.by_polyad("--method", "mt-kahypar")

    def by_polyad(self, *options: str):
        def competitor(path: pathlib.Path, parts: int, seed: int) -> dict:
            seeded = () if "block" in options else ("--seed", str(seed))
            result = result_of([self.polyad, "partition", str(path), "-k", str(parts), *options, *seeded, "-t", "1",
                                "--no-cache", "-q", "--json", "-"])
            return {"connectivity": result["connectivity"], "cpu": result["cpu"], "imbalance": result["imbalance"][0],
                    "empty": result["empty_parts"]}

        return competitor

    def by_medium_grid(self, path: pathlib.Path, parts: int, _seed: int) -> dict:
        result = result_of([self.polyad, "plan", str(path), "-k", str(parts), "-r", "1", "--distribution", "medium", "--replicate",
                            "none", "-t", "1", "-q", "--json", "-"])
        grids = [{"connectivity": strategy["volume_words"] / 2, "cpu": 0, "empty": 0,  # rows go to their owners and back
                  "imbalance": strategy["load"][0]["max"] / strategy["load"][0]["avg"] - 1} for strategy in result["strategies"]]
        return min(grids, key=lambda grid: (max(grid["imbalance"], IMBALANCE + 1e-3), grid["connectivity"]))


def mean_of(results: list[dict]) -> dict:
    mean = {key: statistics.mean(result[key] for result in results) for key in results[0]}
    return {**mean, "imbalance": max(result["imbalance"] for result in results)}


def table(rows: dict[tuple[str, int], dict[str, dict]], names: list[str]) -> str:
    lines = ["| tensor, parts | " + " | ".join(names) + " |", "| --- " * (len(names) + 1) + "|"]
    for (tensor, parts), means in rows.items():
        # The least of those that keep the balance and leave no part empty is in bold.
        sound = [mean["connectivity"] for mean in means.values() if mean["imbalance"] <= IMBALANCE + 1e-3 and not mean["empty"]]
        cells = []
        for name in names:
            mean = means[name]
            text = f"{mean['connectivity']:,.0f}"
            if mean["connectivity"] == min(sound, default=0):
                text = f"**{text}**"
            text += "\\*" if mean["imbalance"] > IMBALANCE + 1e-3 else ""
            text += "†" if mean["empty"] else ""
            cells.append(text + (f" ({mean['cpu']:.2g})" if name not in ("random", "block", "medium grid") else ""))
        lines.append(f"| {tensor}, {parts} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def print_ratios(rows: dict[tuple[str, int], dict[str, dict]], level: str, peer: str) -> None:
    for what in ("connectivity", "cpu"):
        ratios = [means[level][what] / means[peer][what] for means in rows.values()]
        mean = math.prod(ratios) ** (1 / len(ratios))
        print(f"{level} over {peer}, {what}: geometric mean {mean:.3f}, worst {max(ratios):.3f}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tensors", nargs="*", type=pathlib.Path, help="further tensors, as .tns or .tns.gz")
    arguments.add_argument("--polyad", default="build/bin/polyad")
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--parts", type=lambda text: [int(count) for count in text.split(",")], default=[16, 64, 512])
    arguments.add_argument("--only-named", action="store_true", help="leave the three that are made out")
    arguments.add_argument("--only", help="some of the columns, as in default,Zoltan")
    args = arguments.parse_args()
    competitors = Competitors(args.polyad).all
    if args.only:
        competitors = {name: competitors[name] for name in args.only.split(",")}
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        folder = pathlib.Path(name)
        tensors = {}
        for seed, (tensor, *shape) in enumerate([] if args.only_named else TENSORS, 1):
            tensors[tensor] = folder / f"{tensor}.tns"
            make_tensor(tensors[tensor], *shape, seed)
        for path in args.tensors:  # a copy, so that nothing is looked for or kept beside it
            tensor = path.name.removesuffix(".gz").removesuffix(".tns")
            tensors[tensor] = folder / path.name
            shutil.copy(path, tensors[tensor])
        waiting = {}
        for (tensor, path), parts in itertools.product(tensors.items(), args.parts):
            for competitor, fn in competitors.items():
                seeds = range(1 if competitor in ("block", "medium grid") else args.seeds)
                waiting[tensor, parts, competitor] = [pool.submit(fn, path, parts, seed + 1) for seed in seeds]
        rows: dict[tuple[str, int], dict[str, dict]] = {}
        for (tensor, parts, competitor), futures in waiting.items():
            mean = mean_of([future.result() for future in futures])
            rows.setdefault((tensor, parts), {})[competitor] = mean
            print(f"{tensor:13} {parts:4} {competitor:12} connectivity {mean['connectivity']:9.0f}  CPU {mean['cpu']:7.2f} s"
                  f"  imbalance {mean['imbalance']:.4f}  empty {mean['empty']:.1f}", flush=True)
        print("\n" + table(rows, list(competitors)) + "\n")
        for level, peer in itertools.product(("fast", "default", "best"), ("Zoltan", "Mt-KaHyPar")):
            if {level, peer} <= set(competitors):
                print_ratios(rows, level, peer)


if __name__ == "__main__":
    main()
