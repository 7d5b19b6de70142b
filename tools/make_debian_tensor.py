#!/usr/bin/env python3
"""Make the bundled tensor: which Debian team needs which package, in which section, and how.

Reads the package index apt already holds and writes debian.tns.gz, one label file per mode and a README.
"""

from __future__ import annotations

import argparse
import gzip
import math
import platform
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Iterator, NamedTuple

Package = dict[str, str]
Cell = tuple[str, ...]

MODES = ("team", "package", "section", "relation")
RELATIONS = ("Pre-Depends", "Depends", "Recommends", "Suggests", "Enhances",
             "Breaks", "Conflicts", "Replaces")
FIELDS = {"Package", "Source", "Maintainer", "Section", "Provides", "Filename", *RELATIONS}
# A package only one source asks for links nothing; one that everybody asks for tells nobody apart.
MIN_SOURCES = 2
MAX_SHARE = 0.10
# The Maintainer field often names a person. Only names that are clearly a group's are kept.
TEAM_NAME = re.compile(
    r"^(the )?debian\b|\b(team|group|maintainers?|packagers|packaging|developers|force|project)\b",
    re.IGNORECASE)
APT_HELPER = "/usr/lib/apt/apt-helper"  # apt's own reader of its compressed lists; not on PATH


class Index(NamedTuple):
    text: str
    origin: str  # one line for the README


class Selection(NamedTuple):
    counts: dict[Cell, int]
    too_common: list[str]
    sources: int


def command_output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def default_release() -> str:
    return platform.freedesktop_os_release().get("VERSION_CODENAME", "unknown")


def release_date(list_file: str, meta_key: str) -> str:
    """Date of the signed Release file that apt keeps beside the list."""
    prefix = list_file.split(meta_key.replace("/", "_"))[0]
    for name in ("InRelease", "Release"):
        path = Path(prefix + name)
        if path.is_file():
            found = re.search(r"^Date: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            if found:
                return found.group(1)
    return "not known"


def read_apt_index(release: str) -> Index:
    """The release's own list only: updates, security and foreign sources would change from day to day."""
    architecture = command_output("dpkg", "--print-architecture").strip()
    line_format = "$(FILENAME)\t$(METAKEY)\t$(VERSION)"
    targets = command_output(
        "apt-get", "indextargets", "--format", line_format, "Created-By: Packages", "Origin: Debian",
        f"Codename: {release}", "Component: main", f"Architecture: {architecture}")
    if not targets.strip():
        sys.exit(f"apt has no package list of Debian {release} main {architecture}: run 'apt-get update'")
    list_file, meta_key, version = targets.splitlines()[0].split("\t")
    origin = (f"Debian {version} ({release}), component main, architecture {architecture}, "
              f"Release file dated {release_date(list_file, meta_key)}")
    return Index(command_output(APT_HELPER, "cat-file", list_file), origin)


def read_dump(path: Path, release: str) -> Index:
    return Index(path.read_text(encoding="utf-8"), f"a saved dump of Debian {release}; its date is not known")


def parse_packages(text: str) -> list[Package]:
    packages = []
    for stanza in text.split("\n\n"):
        unfolded = re.sub(r"\n[ \t]+", " ", stanza)
        pairs = (line.partition(":") for line in unfolded.splitlines())
        package = {key: value.strip() for key, _, value in pairs if key in FIELDS}
        if "Filename" in package:  # a record without one is installed here but not in the index
            packages.append(package)
    return packages


def source_name(package: Package) -> str:
    return package.get("Source", package["Package"]).split()[0]


def related_names(field: str) -> Iterator[str]:
    """Bare names in a relation field. Of alternatives (a | b) the first, which is the one apt prefers."""
    for item in field.split(","):
        name = re.split(r"[\s(:\[|]", item.strip(), maxsplit=1)[0]
        if name:
            yield name


def split_maintainer(maintainer: str) -> tuple[str, str]:
    name, _, rest = maintainer.partition("<")
    address = rest.partition(">")[0].lower()
    # Alioth's lists moved to another host, so there the part before the @ alone tells the list.
    key = address.split("@")[0] if "alioth" in address else address
    return " ".join(name.replace('"', "").split()), key


def team_labels(packages: list[Package]) -> dict[str, str]:
    """One label for each team address: teams spell their names in several ways."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for package in packages:
        name, address = split_maintainer(package["Maintainer"])
        if TEAM_NAME.search(name):
            spellings[address][name] += 1
    return {address: min(names, key=lambda name: (-names[name], name))
            for address, names in spellings.items()}


def resolve_names(packages: list[Package]) -> dict[str, str]:
    """Known name -> label. A virtual name with one provider is its alias (Rust features, Haskell ABIs)."""
    providers: dict[str, set[str]] = defaultdict(set)
    for package in packages:
        for name in related_names(package.get("Provides", "")):
            providers[name].add(package["Package"])
    labels = {name: min(names) if len(names) == 1 else name for name, names in providers.items()}
    labels.update((package["Package"], package["Package"]) for package in packages)
    return labels


def collect_cells(packages: list[Package]) -> dict[Cell, set[str]]:
    """(team, package, section, relation) -> source packages that have this relation."""
    teams, labels = team_labels(packages), resolve_names(packages)
    source_of = {package["Package"]: source_name(package) for package in packages}
    cells: dict[Cell, set[str]] = defaultdict(set)
    for package in packages:
        team = teams.get(split_maintainer(package["Maintainer"])[1])
        if team is None:
            continue
        source = source_name(package)
        for relation in RELATIONS:
            for name in related_names(package.get(relation, "")):
                label = labels.get(name)
                # Relations inside one source only say how that source is cut into packages.
                if label and source_of.get(label) != source:
                    cells[team, label, package["Section"], relation].add(source)
    return cells


def select_cells(cells: dict[Cell, set[str]]) -> Selection:
    askers: dict[str, set[str]] = defaultdict(set)
    for (_, label, _, _), sources in cells.items():
        askers[label] |= sources
    total = len(set().union(*askers.values()))
    too_common = sorted(label for label, sources in askers.items() if len(sources) > MAX_SHARE * total)
    kept = {label for label, sources in askers.items() if len(sources) >= MIN_SOURCES} - set(too_common)
    counts = {cell: len(sources) for cell, sources in cells.items() if cell[1] in kept}
    return Selection(counts, too_common, total)


def value_text(count: int, plain: bool) -> str:
    if plain:
        return str(count)
    # Four places keep the count recoverable as round(2**value - 1).
    return f"{math.log2(1 + count):.4f}".rstrip("0").rstrip(".")


def write_tensor(out: Path, counts: dict[Cell, int], plain: bool) -> list[list[str]]:
    labels = [sorted({cell[mode] for cell in counts}) for mode in range(len(MODES))]
    index_of = [{label: i for i, label in enumerate(names, start=1)} for names in labels]
    rows = sorted((tuple(index_of[mode][label] for mode, label in enumerate(cell)), count)
                  for cell, count in counts.items())
    lines = ["# dims: " + " ".join(str(len(names)) for names in labels), f"# nnz: {len(rows)}"]
    lines += [" ".join(map(str, indices)) + " " + value_text(count, plain) for indices, count in rows]
    # No time and no file name in the header: the same index must give the same bytes.
    with open(out / "debian.tns.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode())
    for mode, names in enumerate(labels):
        path = out / f"debian.mode-{mode + 1}-{MODES[mode]}.map"
        path.write_text("\n".join(names) + "\n", encoding="utf-8")
    return labels


README = """# The bundled tensor: who needs what in Debian

`debian.tns.gz` counts the relations between Debian packages, by maintaining team.
It has {order} modes and {nnz} nonzeros; entries that are absent are zeros.

| Mode | Size | Labels | One index is |
|---|---|---|---|
| 1 | {dims[0]} | `debian.mode-1-team.map` | a team that maintains packages |
| 2 | {dims[1]} | `debian.mode-2-package.map` | a package that is needed (or named in another relation) |
| 3 | {dims[2]} | `debian.mode-3-section.map` | the archive section of the package that needs it |
| 4 | {dims[3]} | `debian.mode-4-relation.map` | the kind of relation: Depends, Recommends, Suggests, ... |

Let n be the number of the team's source packages that have at least one binary package in that section
with that relation to that package. {value_rule}

Line i of a label file is the label of index i. The tensor is in the FROSTT text form: 1-based indices and
the value, one nonzero per line, after two comment lines with the dimensions and the number of nonzeros.

## Source

Made from the package index of
{origin}.

    python3 tools/make_debian_tensor.py --release {release}{flag}

The command needs no network: it reads the list that `apt-get update` left on a Debian machine.
The same list gives the same bytes. A later point release, or another architecture, gives other numbers.

## What was left out

- Packages whose Maintainer is a person, so that no personal names are here. A name counts as a team's if it
  starts with "Debian" or has a word such as Team, Group, Maintainers or Packagers. Names that share one
  address are one team, under its commonest name. E-mail addresses are not kept.
- Relations between two packages made from the same source.
- Packages that over {share:.0%} of the {sources} source packages name, because they tell no team from
  another: {too_common}.
- Packages that fewer than {min_sources} source packages name, and names that are not in the index.

Of alternatives `a | b` the first counts. A virtual name with one provider stands for that provider; one
with several providers keeps its own name.

## Licence

The files hold facts from a public package index (names of packages, teams and sections, and counts) and no
text written by package authors. Facts carry no copyright; use the files as you like.
"""

LOG_RULE = """The value is log2(1 + n), to four places, so that
n = round(2^value - 1). Plain counts run from 1 to {top}, and a least-squares fit of them spends its
components on the few largest entries. The option `--counts` writes n itself."""


def write_readme(labels: list[list[str]], chosen: Selection, index: Index, args: argparse.Namespace) -> None:
    log_rule = LOG_RULE.format(top=max(chosen.counts.values()))
    text = README.format(
        order=len(MODES), nnz=len(chosen.counts), dims=[len(names) for names in labels], origin=index.origin,
        value_rule="The value is n." if args.counts else log_rule, release=args.release,
        flag=" --counts" if args.counts else "", share=MAX_SHARE, sources=chosen.sources,
        too_common=", ".join(f"`{name}`" for name in chosen.too_common), min_sources=MIN_SOURCES)
    (args.out / "README.md").write_text(text, encoding="utf-8")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("data"), help="where to write (default: data)")
    parser.add_argument("--release", default=default_release(), help="codename (default: this machine's)")
    parser.add_argument("--dump", type=Path, help="read a saved 'apt-cache dumpavail' instead of apt's list")
    parser.add_argument("--counts", action="store_true", help="write plain counts, not log2(1 + count)")
    return parser.parse_args()


def main() -> None:
    args = parse_arguments()
    index = read_dump(args.dump, args.release) if args.dump else read_apt_index(args.release)
    chosen = select_cells(collect_cells(parse_packages(index.text)))
    args.out.mkdir(parents=True, exist_ok=True)
    labels = write_tensor(args.out, chosen.counts, args.counts)
    write_readme(labels, chosen, index, args)
    print(f"{args.out / 'debian.tns.gz'}: {' x '.join(str(len(names)) for names in labels)}, "
          f"{len(chosen.counts)} nonzeros")


if __name__ == "__main__":
    main()
