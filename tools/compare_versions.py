#!/usr/bin/env python3
"""Runs two builds of polyad on the same twenty-five commands and compares what they compute, bit for bit.

  tools/compare_versions.py BEFORE AFTER

Storage formats, distributions, seeds and threads are given, so that nothing depends on a prediction. Compared are exit
codes, every number and text of the JSON results (fits, counts, words) and every file that is written. Left out are
times, predictions, memory, versions, chosen-by texts and HTML reports, which show times; what is written as JSON is
compared in the same way. A .ptb file is compared by its content, since its checksum depends on the version of that
format. Then both read what BEFORE wrote: models, partitions, labels, tensors. Prints a line for each command; exit code 1 when something differs.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DEBIAN = str(Path(__file__).resolve().parent.parent / "data" / "debian.tns.gz")
CPD = "cpd x.tns -r 5 -i 12 --tol 0 --seed 3 -t 1"

# The name of the command, the number of processes, and its arguments; each runs in the folder of the one before.
RUNS: list[tuple[str, int, str]] = [
    ("planted", 1, "generate planted x.tns --dims 30x20x12 --nnz 900 -r 4 --noise 0.1 --seed 5"),
    ("zipf", 1, "generate zipf z.tns --dims 50x40x30x20 --nnz 2000 --seed 2"),
    ("ratings", 1, "generate ratings r.tns --users 60 --items 40 --nnz 900 --seed 4"),
    ("convert", 1, "convert x.tns x.ptb"),
    ("stats", 1, "stats z.tns"),
    ("check", 1, "check z.tns"),
    ("csf", 1, f"{CPD} --format csf-all --out csf_model"),
    ("coo", 1, f"{CPD} --format coo --precision single --out coo.ktensor"),
    ("hicoo", 1, f"{CPD} --format hicoo --nonneg --out hicoo.npz"),
    ("opt", 1, f"{CPD} --format csf-one --method opt --out opt.ktensor"),
    ("labels", 1, f"cpd {DEBIAN} -r 4 -i 6 --tol 0 --seed 1 -t 1 --format csf-two --out debian_model"),
    ("binary", 1, "cpd x.ptb -r 2 -i 4 --tol 0 --seed 1 -t 2 --format csf-one --out binary.ktensor"),
    ("fine partition", 1, "partition x.tns -k 3 --seed 2 --no-cache -t 1 --out fine.part"),
    ("coarse partition", 1, "partition z.tns -k 4 --model coarse --seed 2 --no-cache -t 1 --out coarse.part"),
    ("coarse", 2, f"{CPD} --format csf --distribution coarse --partition block --out coarse.ktensor"),
    ("medium", 4, f"{CPD} --format csf-all --distribution medium --grid 2x2x1 --policy nnz --replicate none --out medium.ktensor"),
    ("fine", 3, f"{CPD} --format csf-all --distribution fine --partition fine.part --replicate none --out fine.ktensor"),
    ("listed slices", 4, "cpd z.tns -r 3 -i 5 --tol 0 --seed 1 -t 1 --format csf --distribution coarse"
                         " --partition coarse.part --replicate none --out listed.npz"),
    ("predict", 1, "predict csf_model x.tns --out predicted.tsv"),
    ("rank", 1, "rank x.tns --components 2-4 --starts 2 -i 20 --seed 1 -t 1 --format csf-all"),
    ("complete", 1, "complete r.tns -r 4 -e 8 --seed 2 -t 1 --test 0.2 --out ratings_model"),
    ("complete together", 2, "complete r.tns -r 4 -e 8 --seed 2 -t 1 --test 0.2 --by users --partition block --sync 2 --out together_model"),
    ("recommend", 1, "recommend ratings_model --all --top 5 --out lists.tsv"),
    ("contract", 1, "contract ikl,klj->ij a.npy b.npy -t 1 -o c.npy"),
    ("contract together", 4, "contract ikl,klj->ij a.npy b.npy -t 1 --grid 2x2 --stationary c -o c4.npy"),
]
# What the newer version does with the files of the older one.
READ_AGAIN: list[tuple[str, int, str]] = [
    ("predict with its model", 1, "predict csf_model x.tns --out again1.tsv"),
    ("predict with its .ktensor", 1, "predict coo.ktensor x.tns --out again2.tsv"),
    ("predict with its .npz", 1, "predict hicoo.npz x.tns --out again3.tsv"),
    ("predict with its labels", 1, f"predict debian_model {DEBIAN} --out again4.tsv"),
    ("recommend with its model", 1, "recommend ratings_model --all --top 5 --out again5.tsv"),
    ("read its .ptb", 1, "convert x.ptb again6.tns"),
    ("use its partition", 3, f"{CPD} --format csf-all --distribution fine --partition fine.part --replicate none --out again7.ktensor"),
    ("refine its partition", 1, "partition x.tns -k 3 --seed 2 --no-cache -t 1 --refine fine.part --out again8.part"),
]
LEFT_OUT = ("predicted", "second", "time", "memory", "bytes", "version", "chosen", "reason", "speed", "candidates", "compiler", "gflops")


def write_arrays(folder: Path) -> None:
    """Two dense tensors as .npy, version 1.0, of numbers that depend on their place only."""
    for name, shape in (("a", (6, 5, 4)), ("b", (5, 4, 7))):
        count = shape[0] * shape[1] * shape[2]
        head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
        head += " " * ((64 - (len(head) + 11) % 64) % 64) + "\n"
        values = [((i * 37) % 101 - 50) / 16 for i in range(count)]
        data = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()
        (folder / f"{name}.npy").write_bytes(data + struct.pack(f"<{count}d", *values))


def run(program: str, folder: Path, processes: int, arguments: str) -> tuple[int, Any, str]:
    command = [program, *arguments.split(), "-q", "--json", "result.json"]
    if processes > 1:
        command = ["mpirun", "--oversubscribe", "-n", str(processes), *command]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    (folder / "result.json").unlink(missing_ok=True)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    result = folder / "result.json"
    return done.returncode, json.loads(result.read_text()) if result.exists() else None, done.stderr


def compared(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: compared(v) for k, v in value.items() if not any(word in k for word in LEFT_OUT)}
    return [compared(v) for v in value] if isinstance(value, list) else value


def differences(before: Any, after: Any, place: str = "") -> list[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        return [d for k in {**before, **after} for d in differences(before.get(k, "absent"), after.get(k, "absent"), f"{place}.{k}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [d for i, (b, a) in enumerate(zip(before, after)) for d in differences(b, a, f"{place}[{i}]")]
    return [] if before == after and type(before) is type(after) else [f"{place}: {before!r} -> {after!r}"]


def files_below(folder: Path) -> set[str]:
    return {str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file() and f.name != "result.json"}


def content(program: str, file: Path) -> Any:
    """What is compared of a file: its bytes, or the numbers and texts that it stands for."""
    if file.suffix == ".json":
        return compared(json.loads(file.read_text()))
    if file.suffix == ".ptb":
        code, _, errors = run(program, file.parent, 1, f"convert {file.name} content.tns --force")
        if code != 0:
            raise RuntimeError(f"{file}: {errors}")
        file = file.parent / "content.tns"
    return file.read_bytes()


def compare_files(programs: list[str], folders: list[Path], seen: set[str]) -> list[str]:
    """What differs in the files that were not there before; they are then added to `seen`."""
    found = [files_below(folder) - seen for folder in folders]
    faults = [f"only one version wrote {name}" for name in sorted(found[0] ^ found[1])]
    for name in sorted(found[0] & found[1]):
        if content(programs[1], folders[0] / name) != content(programs[1], folders[1] / name):
            faults.append(f"{name} differs")
    seen.update(*found, {"content.tns"})
    return faults


def compare(programs: list[str], folders: list[Path], seen: set[str], entry: tuple[str, int, str]) -> bool:
    name, processes, arguments = entry
    ends = [run(program, folder, processes, arguments) for program, folder in zip(programs, folders)]
    faults = differences(compared(ends[0][1]), compared(ends[1][1]))
    if any(code or result is None for code, result, _ in ends):
        faults.append(f"exit codes {ends[0][0]} and {ends[1][0]}: {ends[0][2].strip()} / {ends[1][2].strip()}")
    faults += compare_files(programs, folders, seen)
    print(f"{'differs' if faults else 'same':8} {name}")
    for fault in faults[:10]:
        print(f"         {fault}")
    return not faults


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    programs = [str(Path(p).resolve()) for p in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as top:
        folders = [Path(top) / "before", Path(top) / "after"]
        for folder in folders:
            folder.mkdir()
            write_arrays(folder)
        seen = files_below(folders[0])
        same = [compare(programs, folders, seen, entry) for entry in RUNS]
        # Both read the files of the older version from here on.
        print("\nfiles written by BEFORE, read by both")
        shutil.rmtree(folders[1])
        shutil.copytree(folders[0], folders[1])
        same += [compare(programs, folders, seen, entry) for entry in READ_AGAIN]
    print(f"\n{sum(same)} of {len(same)} the same")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
