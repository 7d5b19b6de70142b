#!/usr/bin/env python3
"""How good partitions are, and what they cost: Polyad beside Mt-KaHyPar where its Python package is installed.

    bench/partition_quality.py --polyad build/bin/polyad --seeds 5 --jobs 2

Makes three tensors with Zipf popularity and latent groups, of 250,000 nonzeros, partitions their fine-grain hypergraphs
by every contestant, one thread each, and prints connectivity - 1 and CPU seconds: mean over the seeds.
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
import statistics
import subprocess
import sys
import tempfile

# name, dims, Zipf exponents, groups, chance to pick inside the group, mode that has runs, mean of a run
TENSORS = [
    ("netflix-like", (12000, 444, 218), (0.65, 0.95, 0.5), 32, 0.75, None, 1),
    ("nell-like", (3023, 2296, 7204), (0.6, 0.6, 0.7), 64, 0.8, None, 1),
    ("4-mode", (5000, 100000, 25000, 1443), (0.9, 0.75, 1.0, 0.4), 128, 0.8, 2, 3),
]
NUM_NONZEROS = 250_000
PARTS = (16, 64, 512)


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


MT_KAHYPAR = """
import json, sys, time, mtkahypar
path, parts, preset, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
nets = {}
with open(path) as lines:
    for vertex, line in enumerate(lines):
        for net in enumerate(line.split()[:-1]):
            nets.setdefault(net, []).append(vertex)
machine = mtkahypar.initialize(1)
mtkahypar.set_seed(seed)
context = machine.context_from_preset(getattr(mtkahypar.PresetType, preset))
context.set_partitioning_parameters(parts, 0.05, mtkahypar.Objective.KM1)
context.logging = False
h = machine.create_hypergraph(context, vertex + 1, len(nets), list(nets.values()))
start = time.process_time()
result = h.partition(context)
print(json.dumps({"connectivity": result.km1(), "cpu": time.process_time() - start, "imbalance": result.imbalance(context),
                  "empty": sum(result.block_weight(p) == 0 for p in range(parts))}))
"""


def result_of(command: list[str]) -> dict:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return json.loads(subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout)


def by_polyad(polyad: str, level: str):
    def contestant(path: pathlib.Path, parts: int, seed: int) -> dict:
        result = result_of([polyad, "partition", str(path), "-k", str(parts), "--level", level, "--seed", str(seed), "-t", "1",
                            "--no-cache", "--json", "-"])
        return {"connectivity": result["connectivity"], "cpu": result["seconds"]["partition"],
                "imbalance": result["imbalance"][0], "empty": result["empty_parts"]}

    return contestant


def by_mt_kahypar(preset: str):
    def contestant(path: pathlib.Path, parts: int, seed: int) -> dict:
        return result_of([sys.executable, "-c", MT_KAHYPAR, str(path), str(parts), preset, str(seed)])

    return contestant


def contestants(polyad: str, parts: int) -> dict:
    result = {f"polyad {level}": by_polyad(polyad, level) for level in ("fast", "default", "best")}
    try:
        import mtkahypar  # noqa: F401, only whether it is there
        result["Mt-KaHyPar"] = by_mt_kahypar("DEFAULT" if parts <= 64 else "LARGE_K")
    except ImportError:
        pass
    return result


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--polyad", default="build/bin/polyad")
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--jobs", type=int, default=1)
    args = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        folder = pathlib.Path(name)
        tensors = {}
        for seed, (tensor, *shape) in enumerate(TENSORS, 1):
            tensors[tensor] = folder / f"{tensor}.tns"
            make_tensor(tensors[tensor], *shape, seed)
        waiting = {}
        for (tensor, path), parts in itertools.product(tensors.items(), PARTS):
            for contestant, fn in contestants(args.polyad, parts).items():
                waiting[tensor, parts, contestant] = [pool.submit(fn, path, parts, seed + 1) for seed in range(args.seeds)]
        ratios = []
        for (tensor, parts, contestant), futures in waiting.items():
            results = [future.result() for future in futures]
            mean = {key: statistics.mean(result[key] for result in results) for key in results[0]}
            print(f"{tensor:13} {parts:4} {contestant:15} connectivity {mean['connectivity']:9.0f}  CPU {mean['cpu']:7.2f} s"
                  f"  imbalance {max(result['imbalance'] for result in results):.4f}  empty {mean['empty']:.1f}", flush=True)
            if contestant == "polyad default":
                default = mean
            if contestant == "Mt-KaHyPar":
                ratios.append((default["connectivity"] / mean["connectivity"], default["cpu"] / mean["cpu"]))
        for at, what in enumerate(("connectivity", "CPU")):
            if ratios:
                product = math.prod(ratio[at] for ratio in ratios) ** (1 / len(ratios))
                print(f"polyad default over Mt-KaHyPar, {what}: geometric mean {product:.3f}, worst {max(r[at] for r in ratios):.3f}")


if __name__ == "__main__":
    main()
