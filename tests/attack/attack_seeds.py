"""A sound file of every format, each with the commands that read it. {x} is the file that is damaged, {out} a folder for outputs."""

import gzip
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

from program import TEST_DATA, run  # noqa: E402
from rating_model import RatingModel, npy  # noqa: E402

TENSOR = ["look {x}", "stats {x}", "check {x}", "check {x} --fix {out}/fixed.tns", "convert {x} {out}/y.ptb", "convert {x} {out}/y.csv",
          "cpd {x} -r 2 -i 2", "cpd {x} -r 2 -i 2 --out {out}/m.npz", "rank {x} --components 1,2 --starts 2 -i 2",
          "partition {x} -k 2 --no-cache", "partition {x} -k 2 --model coarse --no-cache --out {out}/parts", "plan {x} -k 2"]
COORDINATES = ["predict {good}/model {x}", "predict {good}/model {x} --skip-unknown --json -"]
RATINGS = ["stats {x}", "check {x}", "complete {x} -r 2 -e 2", "complete {x} -r 2 -e 2 --out {out}/m", "plan {x} -k 2 --for complete",
           "complete {good}/ratings.tns -r 2 -e 1 --test {x}", "convert {x} {out}/y.mtx"]
CSV = ["who,what,when:day,n", "#1,#2,n"]


def succeed(*arguments: object) -> None:
    result = run(*arguments, "-q")
    assert result.returncode == 0, (arguments, result.stderr)


class Seed:
    """A file, or one file of a folder, and the commands that read it."""

    def __init__(self, path: pathlib.Path, commands: list[str], inside: str = "") -> None:
        self.path, self.commands, self.inside = path, commands, inside

    @property
    def damaged(self) -> pathlib.Path:
        return self.path / self.inside if self.inside else self.path


def make_tensors(good: pathlib.Path) -> list[Seed]:
    succeed("generate", "zipf", good / "x.tns", "--dims", "7x6x5", "--nnz", 100, "--exponents", "0,0,0")
    seeds = [Seed(good / "x.tns", TENSOR + COORDINATES)]
    for name, options in {"x.tns.gz": [], "x.sptensor": [], "x.bin": [], "x.sptn": [], "x.ptb": [], "small.ptb": ["--compress"],
                          "x.hiparti": ["--output-format", "hiparti"], "x.frostt": ["--output-format", "frostt"]}.items():
        succeed("convert", good / "x.tns", good / name, *options)
        seeds.append(Seed(good / name, TENSOR + COORDINATES))
    (good / "dense.txt").write_text("tensor\n3\n2 2 2\n" + "".join(f"{i}.5\n" for i in range(8)))
    (good / "matrix.txt").write_text("matrix\n2\n2 3\n1 0 2\n0 3 0\n")
    seeds += [Seed(good / "dense.txt", TENSOR), Seed(good / "matrix.txt", TENSOR)]
    (good / "log.csv").write_text("who,what,when,n\n" + "".join(
        f'{who},"{what}, hot",2014-04-{day:02},{day}\n' for day, (who, what) in enumerate([("ann", "tea"), ("bob", "milk")] * 5, 1)))
    succeed("cpd", good / "log.csv", "--columns", CSV[0], "-r", 2, "-i", 3, "--out", good / "visits")
    seeds.append(Seed(good / "log.csv", [f"{command} --columns {columns}" for command in TENSOR for columns in CSV] +
                      ["predict {good}/visits {x} --columns " + CSV[0], "predict {good}/visits {x}"]))
    (good / "triples.txt").write_text("".join(f"/m/0{i % 4}\t/r/{i % 3}\t/m/0{i * i % 5}\n" for i in range(12)))
    (good / "answers.txt").write_text("".join(f"{i % 5} {i % 3} {1217567877 + 9999 * i}\n" for i in range(25)))
    (good / "notes.csv").write_text("".join(f'ann{i % 3};"so\n""{i % 2}""";{i},5\n' for i in range(12)))
    (good / "lists.txt").write_text("".join(f"{i} " + " ".join(str(j) for j in range(i % 4 + 1)) + "\n" for i in range(9)))
    (good / "wide.csv").write_text("who,tea,milk\n" + "".join(f"w{i},{i}.5,{i if i % 2 else 99}\n" for i in range(9)))
    (good / "train2id.txt").write_text("9\n" + "".join(f"{i} {i % 3} {i % 2}\n" for i in range(9)))
    seeds += [Seed(good / "lists.txt", [command + " --input-format adjacency" for command in TENSOR]),
              Seed(good / "wide.csv", [command + " --input-format wide --missing-value 99" for command in TENSOR]),
              Seed(good / "train2id.txt", TENSOR)]
    seeds += [Seed(good / "triples.txt", TENSOR + [command + " --no-header" for command in TENSOR]),
              Seed(good / "answers.txt", TENSOR + [command + " --columns 1,2,3:day --value 1" for command in TENSOR]),
              Seed(good / "notes.csv", [command + " --columns 1,2,3 --multiline --decimal-comma" for command in TENSOR])]
    for array in sorted((TEST_DATA / "forms").glob("*-*.[nm][pa][yzt]")):
        (good / array.name).write_bytes(array.read_bytes())
        seeds.append(Seed(good / array.name, TENSOR + COORDINATES))
    succeed("cpd", good / "x.tns", "-r", 2, "-i", 3, "--out", good / "model")
    return seeds


def make_ratings(good: pathlib.Path) -> list[Seed]:
    succeed("generate", "ratings", good / "ratings.tns", "--users", 12, "--items", 9, "--nnz", 60)
    triples = [line.split() for line in (good / "ratings.tns").read_text().splitlines() if line[0] != "#"]
    seeds = [Seed(good / "ratings.tns", RATINGS)]
    for name, separator in {"u.data": "\t", "ratings.dat": "::"}.items():
        (good / name).write_text("".join(separator.join([*line, "880000000"]) + "\n" for line in triples))
        seeds.append(Seed(good / name, RATINGS))
    (good / "ratings.csv").write_text("userId,movieId,rating\n" + "".join(",".join(line) + "\n" for line in triples))
    succeed("convert", good / "ratings.tns", good / "r.mtx")
    (good / "r.libmf").write_text("".join(f"{int(u) - 1} {int(i) - 1} {r}\n" for u, i, r in triples))
    return [*seeds, Seed(good / "ratings.csv", RATINGS), Seed(good / "r.mtx", RATINGS),
            Seed(good / "r.libmf", [command + " --input-format libmf" for command in RATINGS])]


def make_models(good: pathlib.Path) -> list[Seed]:
    predict = ["predict {x} {good}/x.tns", "convert {x} {out}/y.ktensor", "predict {x} {good}/x.tns --json -", "compare {good}/model {x}"]
    seeds = []
    for name in ("m.ktensor", "m.npz"):
        succeed("convert", good / "model", good / name)
        seeds.append(Seed(good / name, predict))
    seeds += [Seed(good / "model", predict, inside=name) for name in ("lambda.mat", "mode2.mat")]
    RatingModel(8, 6, 3).write(good / "taste", [f"user{i}" for i in range(8)], [f"film{i}" for i in range(6)])
    recommend = ["recommend {x} --user user2", "recommend {x} --all --out {out}/all.tsv", "recommend {x} --similar-items film3",
                 "predict {x} {good}/pairs"]
    (good / "pairs").write_text("1 2 3\n4 5 1\n")
    seeds += [Seed(good / "taste", recommend, inside=name)
              for name in ("model.npz", "training.ptb", "mode-1-who.map", "mode-2-film.map")]
    succeed("complete", good / "ratings.tns", "-r", 3, "-e", 1, "--out", good / "plain")
    seeds += [Seed(good / "plain", ["complete {good}/ratings.tns -r 3 -e 1 --resume {x}"], inside=name) for name in ("model.npz", "training.ptb")]
    (good / "mine").write_text("film1,4\nfilm2,1\n")
    (good / "others").write_text("new1,film1,4\nnew1,film2,1\nnew2,film2,5\n")
    (good / "extra").write_text("user1,new1,4\nuser2,new1,1\nuser2,new2,5\n")
    (good / "films").write_text("film1\nfilm2\n")
    return [*seeds, Seed(good / "mine", ["recommend {good}/taste --ratings {x}"]),
            Seed(good / "others", ["recommend {good}/taste --new-users {x}"]),
            Seed(good / "extra", ["recommend {good}/taste --new-items {x} --similar-items film1"]),
            Seed(good / "films", ["recommend {good}/taste --user user2 --candidates {x}",
                                  "recommend {good}/taste --user user2 --exclude {x}"])]


def make_others(good: pathlib.Path) -> list[Seed]:
    (good / "names").write_text("ann\nbob\ncy\ndan\neve\nfay\ngus\n")
    (good / "names.gz").write_bytes(gzip.compress((good / "names").read_bytes(), mtime=0))
    labels = ["stats {good}/x.tns --labels 1={x}", "cpd {good}/x.tns -r 2 -i 2 --labels 1={x}", "predict {good}/model {good}/x.tns --labels 1={x}",
              "convert {good}/x.tns {out}/y.csv --labels 1={x}"]
    (good / "h.hgr").write_text("4 6 11\n2 1 2\n3 2 3 4\n1 4 5 6\n5 1 6\n" + "1\n" * 6)
    (good / "parts").write_text("0\n1\n" * 50)
    (good / "owners").write_text("0\n1\n" * 6)
    draw = random.Random(1)
    for name, shape in {"a.npy": (3, 4), "b.npy": (4, 2)}.items():
        (good / name).write_bytes(npy(shape, [draw.random() for _ in range(shape[0] * shape[1])]))
    return [Seed(good / "names", labels), Seed(good / "names.gz", labels),
            Seed(good / "h.hgr", ["partition {x} -k 2", "partition {x} -k 3 --method block --out {out}/parts"]),
            Seed(good / "parts", ["partition {good}/x.tns -k 2 --refine {x} --no-cache"]),
            Seed(good / "owners", ["plan {good}/ratings.tns -k 2 --for complete --partition {x}"]),
            Seed(good / "a.npy", ["contract C[ij]=A[ik]*B[kj] {x} {good}/b.npy -o {out}/c.npy", "stats {x}"])]


def make_seeds(good: pathlib.Path) -> list[Seed]:
    return make_tensors(good) + make_ratings(good) + make_models(good) + make_others(good)
