#!/usr/bin/env python3
"""Reads the same csv of names and times with Polyad and with pandas, in turn, and prints CPU seconds and ratios.

    python3 -m venv venv && venv/bin/pip install pandas
    venv/bin/python bench/read_csv_against_pandas.py [--lines 830000] [--users 40000] [--items 8000] [--rounds 7]

The table has a user and an item, which are names, a time as 2014-04-01T13:05:30 and a value; 830,000 lines are 46 MB. Polyad runs
`stats --columns user,item,time:day,value`, which also counts nonzeros and duplicates, with one thread and with two. pandas runs
read_csv, to_datetime with the format, floor to days, and factorize with sorted names for each of the three modes.

CPU seconds are user and system time: of Polyad for the whole program less that for a table of one line, of pandas without
its import. Elapsed seconds are those of reading, as Polyad reports them, and of the same steps of pandas. Printed are the best of
all rounds and the median of the ratios within a round; every other round has the reverse order.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

POLYAD = pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "polyad"


def write_table(path: pathlib.Path, options: argparse.Namespace, count: int) -> None:
    draw = random.Random(options.seed)
    letters = "abcdefghijklmnopqrstuvwxyz"

    def names(number: int, prefix: str) -> list[str]:
        return [prefix + "".join(draw.choices(letters, k=draw.randint(4, 12))) + str(k) for k in range(number)]

    users, items = names(options.users, "user-"), names(options.items, "")
    with path.open("w") as out:
        out.write("user,item,time,value\n")
        for _ in range(count):
            user, item = users[int(options.users * draw.random() ** 2)], items[int(options.items * draw.random() ** 3)]
            when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1_388_534_400 + draw.randrange(31_536_000)))
            out.write(f"{user},{item},{when},{draw.randint(1, 500) / 100}\n")


def run_pandas(path: str) -> None:
    """In a process of its own: prints what the steps took."""
    import pandas

    cpu, start = time.process_time(), time.perf_counter()
    table = pandas.read_csv(path)
    table["time"] = pandas.to_datetime(table["time"], format="%Y-%m-%dT%H:%M:%S").dt.floor("D")
    modes = [pandas.factorize(table[name], sort=True) for name in ("user", "item", "time")]
    result = {"cpu": time.process_time() - cpu, "elapsed": time.perf_counter() - start}
    extents = [len(labels) for _, labels in modes]
    print(json.dumps({**result, "extents": extents, "sum": float(table["value"].sum())}))


def run_polyad(path: pathlib.Path, threads: int, options: argparse.Namespace) -> dict:
    command = [str(options.polyad), "stats", str(path), "--columns", "user,item,time:day,value", "-t", str(threads), "--quiet",
               "--json", "-"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    result = json.loads(text)
    return {"cpu": usage.ru_utime + usage.ru_stime, "elapsed": result["seconds"]["load"], "extents": result["dims"]}


def once(contestant: str, path: pathlib.Path, small: pathlib.Path, options: argparse.Namespace) -> dict:
    if contestant == "pandas":
        command = [sys.executable, __file__, "--peer", str(path)]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    threads = int(contestant.split()[1])
    start_up = run_polyad(small, threads, options)["cpu"]
    result = run_polyad(path, threads, options)
    return {**result, "cpu": result["cpu"] - start_up}


def compete(options: argparse.Namespace, folder: pathlib.Path) -> None:
    path, small = folder / "table.csv", folder / "one_line.csv"
    write_table(path, options, options.lines)
    write_table(small, options, 1)
    contestants = ["polyad 1 thread", "polyad 2 threads", "pandas"]
    rounds = []
    for number in range(options.rounds):
        order = contestants if number % 2 == 0 else contestants[::-1]
        rounds.append({name: once(name, path, small, options) for name in order})
    extents = [rounds[0][name]["extents"] for name in contestants]
    if extents[0][:2] != extents[2][:2]:  # pandas has no days without an entry
        sys.exit(f"the programs disagree: {extents}")
    print(f"{path.stat().st_size / 1e6:.1f} MB, {options.lines} lines, extents {extents[0]}, best of {options.rounds} rounds in turn; load of "
          f"the machine {os.getloadavg()[0]:.1f}")
    print(f"{'program':<18} {'CPU s':>7} {'elapsed s':>10} {'pandas/it, CPU':>15} {'elapsed':>8}")
    for name in contestants:
        best = {key: min(one[name][key] for one in rounds) for key in ("cpu", "elapsed")}
        ratio = {key: statistics.median(one["pandas"][key] / one[name][key] for one in rounds) for key in ("cpu", "elapsed")}
        print(f"{name:<18} {best['cpu']:>7.2f} {best['elapsed']:>10.2f} {ratio['cpu']:>15.2f} {ratio['elapsed']:>8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--polyad", type=pathlib.Path, default=POLYAD)
    parser.add_argument("--lines", type=int, default=830_000)
    parser.add_argument("--users", type=int, default=40_000)
    parser.add_argument("--items", type=int, default=8_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        run_pandas(options.peer)
        return
    if not importlib.util.find_spec("pandas"):
        print("pandas is not installed in this Python, so there is nothing to compare with: pip install pandas")
        return
    with tempfile.TemporaryDirectory(prefix="polyad-bench-") as folder:
        compete(options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
