#!/usr/bin/env python3
"""Checks that modules include only the modules of lower layers (HACKING.md has the map).

- A file of polyad/<module>/ includes its own module and those in MAY_SEE, always as "polyad/<module>/x.hpp".
- Only polyad/comm/mpi_comm.hpp includes <mpi.h>, and only polyad/comm/ and the files in MPI_PROGRAMS, which use MPI
  themselves, include that; and one file includes <zoltan.h>, which brings <mpi.h> along.
- Nobody outside cli/ includes headers of cli/, and files of cli/ and python/ include public headers of the library only,
  but for those in PYTHON_HEADERS.
- Files of polyad/ outside kernels/ include VECTORS neither directly nor by way of others: kernels are compiled for the
  processor of the machine, and what is inline there would be another function elsewhere, of which the linker keeps one.
- Public headers, listed in polyad/public_headers.txt, include no other headers of the library.

Prints file:line for every violation; exit code 1 when there is one.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

MAY_SEE: dict[str, set[str]] = {
    "base": set(),
    "tensor": {"base"},
    "comm": {"base"},
    "kernels": {"base", "tensor"},
    "gpu": {"base", "tensor", "kernels"},
    "hypergraph": {"base", "tensor"},
    "io": {"base", "tensor", "hypergraph"},
    "distributed": {"base", "tensor", "comm", "hypergraph"},
    "dense": {"base", "tensor", "comm", "kernels"},
    "plan": {"base", "tensor", "comm", "kernels", "distributed"},
    "algo": {"base", "tensor", "comm", "kernels", "gpu", "distributed", "plan"},
    "report": {"base", "tensor", "kernels", "hypergraph", "distributed", "dense", "plan", "algo"},
}
MAY_SEE["tasks"] = set(MAY_SEE)
ROOT_HEADERS = {"polyad.hpp", "version.hpp"}  # the second is generated
PUBLIC_HEADERS = Path("polyad/public_headers.txt")
FOLDERS = ["polyad", "cli", "tests", "bench", "examples", "python"]
PYTHON_HEADERS = {Path("polyad/comm/loaded_mpi.hpp")}  # that the Python package uses, and nobody installs
VECTORS = Path("polyad/kernels/block.hpp")
ZOLTAN = Path("polyad/hypergraph/zoltan_partition.cpp")  # it gets MPI_COMM_SELF and sends nothing
MPI_HEADER = Path("polyad/comm/mpi_comm.hpp")
MPI_PROGRAMS = {Path("tests/comm/mpi_comm_test.cpp"), Path("tests/comm/single_threaded_host_test.cpp"),
                Path("tests/install/consumer/sub_communicator.cpp"), Path("examples/sub_communicator.cpp")}
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cc", ".cu", ".cuh"}
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def library_faults(path: Path, quote: str, included: Path) -> Iterator[str]:
    """What is wrong with an include in a file of polyad/; paths are relative to the root."""
    if path.parts[1] in ROOT_HEADERS:
        return
    if len(path.parts) < 3 or path.parts[1] not in MAY_SEE:
        yield f"{path.parts[1]} is no module of the library; tools/check_includes.py lists them"
        return
    module = path.parts[1]
    if included.parts[0] != "polyad":
        if quote == '"':
            yield f'write "polyad/<module>/..." to include a file of the library, not "{included}"'
        return
    other = included.parts[1]
    if other in ROOT_HEADERS:
        return
    if other != module and other not in MAY_SEE[module]:
        yield f"{module} may not include {other}"


def faults(path: Path, quote: str, included: Path) -> Iterator[str]:
    if path.parts[0] == "polyad":
        yield from library_faults(path, quote, included)
    if included.name == "mpi.h" and path != MPI_HEADER:
        yield f"only {MPI_HEADER} may include <mpi.h>"
    if included == MPI_HEADER and path.parts[:2] != ("polyad", "comm") and path not in MPI_PROGRAMS:
        yield f"only polyad/comm/ and programs that use MPI themselves may include {MPI_HEADER}"
    if included.name.startswith("zoltan") and included.parts[0] != "polyad" and path != ZOLTAN:
        yield f"only {ZOLTAN} may include <{included}>, which includes <mpi.h>"
    if included.parts[0] == "cli" and path.parts[0] != "cli":
        yield "only cli/ may include headers of cli/"


def public_faults(path: Path, included: Path, public: set[Path]) -> Iterator[str]:
    """A public header is installed, so all that it includes must be; and the program needs no more than others."""
    if included.parts[0] != "polyad" or included in public or included.name == "version.hpp":
        return
    if path in public:
        yield f"is a public header and includes {included}, which {PUBLIC_HEADERS} does not list"
    if path.parts[0] == "python" and included in PYTHON_HEADERS:
        return
    if path.parts[0] in ("cli", "python"):
        yield f"is a file of the program or of the Python package and includes {included}, which {PUBLIC_HEADERS} does not list"


def includes_of(file: Path) -> Iterator[tuple[int, str, Path]]:
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], Path(match[2])


def who_reach(wanted: Path, includes: dict[Path, set[Path]]) -> set[Path]:
    """The files that include one directly or by way of others, and itself."""
    reached, before = {wanted}, set[Path]()
    while reached != before:
        before = reached
        reached = before | {path for path, included in includes.items() if included & before}
    return reached


def faults_below(root: Path) -> Iterator[str]:
    files = [f for folder in FOLDERS for f in sorted((root / folder).rglob("*")) if f.suffix in SUFFIXES]
    public = {Path(line) for line in (root / PUBLIC_HEADERS).read_text(encoding="utf-8").split()}
    for header in sorted(public):
        if not (root / header).exists():
            yield f"{PUBLIC_HEADERS}: {header} does not exist"
    all_includes = {file.relative_to(root): list(includes_of(file)) for file in files}
    with_vectors = who_reach(VECTORS, {path: {included for _, _, included in own} for path, own in all_includes.items()})
    for path, own in all_includes.items():
        for number, quote, included in own:
            for fault in [*faults(path, quote, included), *public_faults(path, included, public)]:
                yield f"{path}:{number}: {fault}"
            if included in with_vectors and path.parts[0] == "polyad" and path.parts[1] != "kernels":
                yield f"{path}:{number}: only polyad/kernels/ may include {included}, by which it includes {VECTORS}"


def main() -> int:
    found = list(faults_below(Path(__file__).resolve().parent.parent))
    print("\n".join(found) if found else "includes: ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
