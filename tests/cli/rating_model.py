"""A recommender's model made by hand, as it lies in files; and what it predicts, by its definition."""

import ast
import math
import pathlib
import random
import struct
import zipfile

from program import run


def npy(shape: tuple[int, ...], numbers: list[float], width: int = 8) -> bytes:
    head = f"{{'descr': '<f{width}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    code = "d" if width == 8 else "f"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(numbers)}{code}", *numbers)


def read_npz(path: pathlib.Path) -> dict:
    """Arrays of floating-point numbers of order 0 to 2, as numbers and lists."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            end = 10 + struct.unpack("<H", data[8:10])[0]
            head = ast.literal_eval(data[10:end].decode())
            code = {"<f8": "d", "<f4": "f", "<i8": "q"}[head["descr"]]
            numbers = [x for x, in struct.iter_unpack("<" + code, data[end:])]
            shape = head["shape"]
            if shape == ():
                arrays[name[:-4]] = numbers[0]
            elif len(shape) == 1:
                arrays[name[:-4]] = numbers
            else:
                arrays[name[:-4]] = [numbers[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])]
    return arrays


class RatingModel:
    """Random factors in single or double precision; an item without ratings; a rating of 0."""

    def __init__(self, users: int, items: int, factors: int, seed: int = 1, width: int = 8, biases: bool = True,
                 clips: bool = False) -> None:
        self.users, self.items, self.factors, self.width = users, items, factors, width
        self.draw = random.Random(seed)
        self.regularisation, self.shrinkage = 0.05, 2
        self.w, self.h = self.rows(users), self.rows(items)
        self.biases, self.clips = biases, clips
        self.b, self.c = (self.numbers(users), self.numbers(items)) if biases else ([0.0] * users, [0.0] * items)
        self.mean = 3.25 if biases else 0.0
        self.unrated = items - 1
        self.ratings = {(user, item): self.draw.randrange(0, 11) / 2 for user in range(users) for item in range(items)
                        if item != self.unrated and (item % users == user or self.draw.random() < 0.2)}

    def numbers(self, count: int) -> list[float]:
        return [struct.unpack("f", struct.pack("f", self.draw.gauss(0, 1)))[0] for _ in range(count)]

    def rows(self, count: int) -> list[list[float]]:
        return [self.numbers(self.factors) for _ in range(count)]

    def arrays(self) -> dict[str, bytes]:
        def flat(rows: list[list[float]]) -> list[float]:
            return [x for row in rows for x in row]
        arrays = {"mean": npy((), [self.mean]), "epochs": npy((), [3]), "step": npy((1,), [0.01]),
                  "regularisation": npy((), [self.regularisation]), "shrinkage": npy((), [self.shrinkage]),
                  "user_factors": npy((self.users, self.factors), flat(self.w), self.width),
                  "item_factors": npy((self.items, self.factors), flat(self.h), self.width)}
        if self.clips:
            arrays |= {"lowest": npy((), [min(self.ratings.values())]), "highest": npy((), [max(self.ratings.values())])}
        if self.biases:
            arrays["user_biases"] = npy((self.users,), self.b, self.width)
            arrays["item_biases"] = npy((self.items,), self.c, self.width)
        return arrays

    def write(self, folder: pathlib.Path, user_labels: list[str] = [], item_labels: list[str] = [],
              **changed: bytes) -> pathlib.Path:
        folder.mkdir(exist_ok=True)
        with zipfile.ZipFile(folder / "model.npz", "w") as archive:
            for name, array in {**self.arrays(), **changed}.items():
                if array:
                    archive.writestr(name + ".npy", array)
        lines = "".join(f"{user + 1} {item + 1} {rating}\n" for (user, item), rating in self.ratings.items())
        text = folder.parent / "training.tns"
        text.write_text(lines)
        converted = run("convert", text, folder / "training.ptb", "--dims", f"{self.users}x{self.items}", "-q", "--force")
        assert converted.returncode == 0, converted.stderr
        if user_labels:
            (folder / "mode-1-who.map").write_text("".join(label + "\n" for label in user_labels))
        if item_labels:
            (folder / "mode-2-film.map").write_text("".join(label + "\n" for label in item_labels))
        return folder

    def rated_by(self, user: int) -> set[int]:
        return {item for one, item in self.ratings if one == user}

    def predict(self, user: int, item: int) -> float:
        return self.score(self.w[user], self.b[user], item)

    def score(self, row: list[float], bias: float, item: int) -> float:
        return self.mean + bias + self.c[item] + sum(x * y for x, y in zip(row, self.h[item]))

    def best(self, scores: dict[int, float], count: int) -> list[tuple[int, float]]:
        return sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))[:count]

    def top(self, user: int, count: int, with_rated: bool = False) -> list[tuple[int, float]]:
        """Items from 0 with their predictions, best first."""
        known = {item for _, item in self.ratings} - (set() if with_rated else self.rated_by(user))
        return self.best({item: self.predict(user, item) for item in known}, count)

    def similar(self, item: int, count: int, support: float = 5) -> list[tuple[int, float]]:
        def similarity(other: int) -> float:
            known = sum(one == other for _, one in self.ratings)
            return (sum(x * y for x, y in zip(self.h[item], self.h[other])) /
                    math.hypot(*self.h[item]) / math.hypot(*self.h[other])) * known / (known + support)
        return self.best({other: similarity(other) for other in {item for _, item in self.ratings} - {item}}, count)

    def fold_in(self, ratings: dict[int, float]) -> tuple[list[float], float]:
        """The row and bias of least loss, by coordinate descent. The training divides ratings by their deviation."""
        row, bias, n = [0.0] * self.factors, 0.0, len(ratings)
        scale = math.sqrt(sum((r - self.mean) ** 2 for r in self.ratings.values()) / len(self.ratings))
        for _ in range(20000):
            moved = 0.0
            for f in range(self.factors):
                slope = sum((r - self.score(row, bias, i) + row[f] * self.h[i][f]) * self.h[i][f] for i, r in ratings.items())
                best = slope / (sum(self.h[i][f] ** 2 for i in ratings) + (self.regularisation * n + self.shrinkage) * scale)
                moved, row[f] = max(moved, abs(best - row[f])), best
            if self.biases:
                best = sum(r - self.score(row, 0, i) for i, r in ratings.items()) / (n + self.shrinkage)
                moved, bias = max(moved, abs(best - bias)), best
            if moved < 1e-13:
                break
        return row, bias
