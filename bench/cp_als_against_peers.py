#!/usr/bin/env python3
"""Decomposes the same tensors with Polyad and with the peers that are on the PATH, in turn, and prints ratios.

    bench/cp_als_against_peers.py [nell netflix delicious fb] [--scale 1] [--folder DIR] [--rounds 3] [--threads N]
                                  [--rank 16] [--iterations 10] [--plain-peers] [--before PROGRAM]

Peers are SPLATT (`splatt`) and ALTO (`cpd64`, `cpd128`), built outside this repository; without them Polyad runs
alone. All run the same number of iterations, tolerance 0, in double; the time is that of the best iteration of all
rounds. Two ratios to Polyad follow: that of these times, and the median over the rounds of the ratio of the best
iterations of a round, which a machine with a varying load disturbs less. Every other round has the reverse order.
Peers get a text without empty slices, which cost them time and memory, and huge pages from glibc, which Polyad asks
for by itself; with --plain-peers none. Peak memory is that of the whole process, loading included.
--before names another build of Polyad, such as that of the version before, which competes as well. If it does not
read the .ptb files of this version, make them with it: `PROGRAM generate like NAME DIR/NAME.ptb`, and pass --folder.

Files are made in a temporary folder, or kept in --folder and found there the next time: NAME.ptb and
NAME-compact.tns, at a scale other than 1 with the scale behind the name. The machine should have nothing else to do.
"""

import argparse
import json
import math
import multiprocessing
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field

POLYAD = pathlib.Path(__file__).resolve().parent.parent / "build" / "bin" / "polyad"
Program = pathlib.Path | str
NAMES = ("nell", "netflix", "delicious", "fb")
BLOCK_BYTES = 1 << 24
SPLATT_ITERATION = re.compile(r"^\s*its =\s*\d+ \(([0-9.]+)s\)\s+fit = (\S+)", re.MULTILINE)
ALTO_ITERATION = re.compile(r"^it: \d+\s+fit: (\S+).*time\(for MTTKRP\): ([0-9.]+) s", re.MULTILINE)


@dataclass
class Tensor:
    name: str
    polyad_file: pathlib.Path
    peers_file: pathlib.Path
    nonempty: list[int]  # per mode

    def bits(self) -> int:
        """Of a place in ALTO's line through the tensor."""
        return sum(math.ceil(math.log2(max(length, 2))) for length in self.nonempty)


@dataclass
class Result:
    """Result of one program on one tensor: its fastest iteration, and its time and memory."""

    seconds: float = math.inf
    fit: float = math.nan
    peak_bytes: int = 0
    notes: str = ""
    failure: str = ""
    rounds: list[float] = field(default_factory=list)  # seconds of the best iteration of each round

    def add(self, other: "Result") -> None:
        self.rounds.append(other.seconds)
        if other.seconds < self.seconds:
            self.seconds, self.fit, self.notes = other.seconds, other.fit, other.notes
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)
        self.failure = self.failure or other.failure


# --- the tensors ---


def blocks_of_fields(path: pathlib.Path) -> Iterator[list[bytes]]:
    """All fields of whole lines, some megabytes at a time; comments stand at the top."""
    with open(path, "rb") as file:
        line = file.readline()
        while line.startswith(b"#"):
            line = file.readline()
        while line:
            yield (line + file.read(BLOCK_BYTES) + file.readline()).split()
            line = file.readline()


def write_compact(source: pathlib.Path, target: pathlib.Path, order: int) -> None:
    """The tensor without its empty slices, the others in their order. By columns, which Python has fast loops for."""
    width = order + 1
    seen: list[set[bytes]] = [set() for _ in range(order)]
    for fields in blocks_of_fields(source):
        for mode in range(order):
            seen[mode].update(fields[mode::width])
    numbers = [{old: b"%d" % new for new, old in enumerate(sorted(indices, key=int), 1)} for indices in seen]
    partial = target.with_name(target.name + ".partial")
    with open(partial, "wb") as out:
        for fields in blocks_of_fields(source):
            columns = [map(numbers[mode].__getitem__, fields[mode::width]) for mode in range(order)]
            out.write(b"\n".join(map(b" ".join, zip(*columns, fields[order::width]))) + b"\n")
    partial.rename(target)


def make_compact(tensor: Tensor, polyad: Program) -> None:
    text = tensor.polyad_file.with_suffix(".tns")
    is_ours = not text.exists()
    if is_ours:
        subprocess.run([polyad, "convert", tensor.polyad_file, text, "--quiet"], check=True)
    # In a process of its own: its memory would be counted as that of the programs started later.
    worker = multiprocessing.Process(target=write_compact, args=(text, tensor.peers_file, len(tensor.nonempty)))
    worker.start()
    worker.join()
    if is_ours:
        text.unlink()
    if worker.exitcode != 0:
        raise SystemExit(f"{tensor.peers_file} could not be written")


def prepare(name: str, scale: float, folder: pathlib.Path, with_peers: bool, polyad: Program = POLYAD) -> Tensor:
    stem = name if scale == 1 else f"{name}-{scale:g}"
    file = folder / f"{stem}.ptb"
    if not file.exists():
        subprocess.run([polyad, "generate", "like", name, file, "--scale", str(scale), "--quiet"], check=True)
    words = subprocess.run([polyad, "stats", file, "--quiet", "--json", "-"], check=True, capture_output=True).stdout
    nonempty = [mode["nonempty"] for mode in json.loads(words)["modes"]]
    tensor = Tensor(stem, file, folder / f"{stem}-compact.tns", nonempty)
    if with_peers and not tensor.peers_file.exists():
        make_compact(tensor, polyad)
    return tensor


# --- the competitors ---


@dataclass
class Run:
    """A program that has ended: its words, and the most memory it had."""

    words: str
    peak_bytes: int
    failure: str


def run(command: list[object], **environment: str) -> Run:
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([str(word) for word in command], stdout=out, stderr=subprocess.STDOUT,
                                 env={**os.environ, **environment})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        words = out.read().decode(errors="replace")
    failure = f"exit code {child.returncode}" if child.returncode != 0 else ""
    return Run(words, usage.ru_maxrss * 1024, failure)


@dataclass
class Comparison:
    options: argparse.Namespace
    programs: dict[str, str | None] = field(
        default_factory=lambda: {name: shutil.which(name) for name in ("splatt", "cpd64", "cpd128")})

    def competitors(self, tensor: Tensor) -> list[str]:
        names = ["polyad"]
        if self.options.before:
            names.append("before")
        if self.programs["splatt"]:
            names.append("splatt")
        if self.programs[alto_program(tensor)]:
            names.append("alto")
        return names

    def once(self, competitor: str, tensor: Tensor) -> Result:
        return {"polyad": self.polyad, "before": self.before, "splatt": self.splatt, "alto": self.alto}[competitor](tensor)

    def before(self, tensor: Tensor) -> Result:
        return self.polyad(tensor, self.options.before)

    def polyad(self, tensor: Tensor, program: pathlib.Path = POLYAD) -> Result:
        o = self.options
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            ended = run([program, "cpd", tensor.polyad_file, "-r", o.rank, "-i", o.iterations, "--tol", 0, "-t", o.threads,
                         "--quiet", "--json", file.name])
            if ended.failure:
                return Result(failure=ended.failure + ": " + ended.words.strip())
            result = json.loads(pathlib.Path(file.name).read_text())
        seconds, iterations = result["seconds"], result["iterations"]
        notes = (f"{result['format']}: mttkrp {seconds['mttkrp'] / iterations:.4f} solve {seconds['solve'] / iterations:.4f} "
                 f"(mean), predicted {result['predicted']['seconds_per_iteration']:.4f}")
        return Result(seconds["fastest_iteration"], result["fit"], ended.peak_bytes, notes)

    def splatt(self, tensor: Tensor) -> Result:
        o = self.options
        ended = run([self.programs["splatt"], "cpd", "-r", o.rank, "-i", o.iterations, "--tol=0", "-t", o.threads,
                     "--seed=1", "--nowrite", "-v", tensor.peers_file], **self.environment())
        return peer_result(ended, [(time, fit) for time, fit in SPLATT_ITERATION.findall(ended.words)])

    def alto(self, tensor: Tensor) -> Result:
        o = self.options
        ended = run([self.programs[alto_program(tensor)], "-l", "als", "-r", o.rank, "-m", o.iterations, "-e", "nan",
                     "-x", 1, "-i", tensor.peers_file], **self.environment())
        return peer_result(ended, [(time, fit) for fit, time in ALTO_ITERATION.findall(ended.words)])

    def environment(self) -> dict[str, str]:
        huge_pages = {} if self.options.plain_peers else {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
        return {"OMP_NUM_THREADS": str(self.options.threads), **huge_pages}


def alto_program(tensor: Tensor) -> str:
    return "cpd64" if tensor.bits() <= 64 else "cpd128"


def peer_result(ended: Run, iterations: list[tuple[str, str]]) -> Result:
    if ended.failure or not iterations:
        return Result(failure=ended.failure or "printed no iterations")
    return Result(min(float(time) for time, _ in iterations), float(iterations[-1][1]), ended.peak_bytes)


# --- the table ---


def print_rows(tensor: Tensor, results: dict[str, Result]) -> None:
    polyad = results["polyad"]
    for competitor, result in results.items():
        shown = tensor.name if competitor == "polyad" else ""
        if result.failure:
            print(f"{shown:<16} {competitor:<8} failed: {result.failure}", flush=True)
            continue
        median = statistics.median(a / b for a, b in zip(result.rounds, polyad.rounds))
        print(f"{shown:<16} {competitor:<8} {result.seconds:>10.4f} {result.seconds / polyad.seconds:>7.3f} {median:>7.3f} "
              f"{result.peak_bytes / 1e6:>9.0f} {result.fit:>9.5f}  {result.notes}".rstrip(), flush=True)


def compete(comparison: Comparison, folder: pathlib.Path) -> None:
    o = comparison.options
    with_peers = any(comparison.programs.values())
    print(f"{o.rank} components, {o.iterations} iterations, {o.threads} threads, best of {o.rounds} rounds in turn; "
          f"load of the machine {os.getloadavg()[0]:.1f}")
    print(f"{'tensor':<16} {'program':<8} {'s/iter':>10} {'ratio':>7} {'median':>7} {'peak MB':>9} {'fit':>9}", flush=True)
    for name in o.tensors or NAMES:
        tensor = prepare(name, o.scale, folder, with_peers)
        results = {competitor: Result() for competitor in comparison.competitors(tensor)}
        for number in range(o.rounds):
            for competitor in list(results) if number % 2 == 0 else list(reversed(results)):
                results[competitor].add(comparison.once(competitor, tensor))
        print_rows(tensor, results)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="CP-ALS of Polyad and its peers, in turn, on the same tensors.")
    parser.add_argument("tensors", nargs="*", metavar="TENSOR", help=f"of {', '.join(NAMES)}; all unless said")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies dimensions and nonzeros")
    parser.add_argument("--folder", type=pathlib.Path, help="keep the files here and use those that are there")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rank", type=int, default=16, help="number of components")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--plain-peers", action="store_true", help="peers as they come, without huge pages")
    parser.add_argument("--before", type=pathlib.Path, metavar="PROGRAM", help="another build of Polyad that competes")
    options = parser.parse_args()
    for name in options.tensors:
        if name not in NAMES:
            parser.error(f"{name} is none of {', '.join(NAMES)}")
    return options


def main() -> None:
    options = parse_options()
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        return compete(Comparison(options), options.folder)
    with tempfile.TemporaryDirectory(prefix="polyad-bench-") as folder:
        compete(Comparison(options), pathlib.Path(folder))


if __name__ == "__main__":
    main()
