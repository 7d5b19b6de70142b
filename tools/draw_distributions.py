#!/usr/bin/env python3
"""Draws the pictures of docs/distributions.md into docs/pictures/: tools/draw_distributions.py.
They bring their own background, and follow a reader who prefers a dark one."""

import itertools
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "pictures"

STYLE = """
  .card { fill: #ffffff; stroke: #d0d7de; }
  text { font: 13px sans-serif; fill: #1f2328; }
  .title { font-weight: bold; }
  .small { font-size: 11px; fill: #59636e; }
  .on { fill: #ffffff; font-size: 10px; font-weight: bold; text-anchor: middle; }
  .mid { text-anchor: middle; }
  .line { stroke: #59636e; fill: none; stroke-width: 1.5; }
  .bar { fill: #afb8c1; }
  .cut { stroke: #d1242f; stroke-width: 2; }
  .p0 { fill: #0969da; } .p1 { fill: #bc4c00; } .p2 { fill: #1a7f37; } .p3 { fill: #8250df; }
  polygon { fill-opacity: 0.22; stroke: #59636e; stroke-width: 0.8; }
  .hollow { fill: none; }
  .arrow { fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d; }
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .on { fill: #ffffff; }
    .line, polygon { stroke: #9198a1; }
    .bar { fill: #656c76; }
    .cut { stroke: #ff7b72; }
    .p0 { fill: #388bfd; } .p1 { fill: #db6d28; } .p2 { fill: #2ea043; } .p3 { fill: #a371f7; }
    .arrow { fill: #9198a1; }
  }
"""

# A tensor of 6 x 5 x 4 with 18 nonzeros: (index of mode 1, of mode 2, of mode 3).
EXTENTS = (6, 5, 4)
NONZEROS = [
    (0, 1, 0), (0, 2, 0), (0, 4, 2), (0, 4, 3), (1, 1, 0), (1, 1, 1), (1, 2, 2), (1, 3, 2), (1, 4, 0),
    (2, 1, 2), (2, 2, 1), (3, 1, 0), (4, 0, 3), (4, 1, 0), (4, 2, 0), (5, 0, 0), (5, 1, 1), (5, 3, 1),
]
CELL, DEEP_X, DEEP_Y = 26, 17, 13  # pixels for a step in modes 1 and 2, and for one in mode 3
GAPS = (14 / CELL, 14 / CELL, 34 / CELL)  # between blocks, by mode


class Drawing:
    def __init__(self, name: str, width: int, height: int, meaning: str) -> None:
        self.name = name
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img">',
            f"<title>{meaning}</title>", f"<style>{STYLE}</style>",
            '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z" class="arrow"/></marker></defs>',
            f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        ]

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{kind}">{words}</text>')

    def line(self, x0: float, y0: float, x1: float, y1: float, kind: str = "line", tip: bool = False) -> None:
        end = ' marker-end="url(#tip)"' if tip else ""
        self.parts.append(f'<line class="{kind}" x1="{x0:g}" y1="{y0:g}" x2="{x1:g}" y2="{y1:g}"{end}/>')

    def bar(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self.parts.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>')

    def polygon(self, points: list[tuple[float, float]], kind: str) -> None:
        corners = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<polygon class="{kind}" points="{corners}"/>')

    def dot(self, x: float, y: float, part: int, radius: float = 7) -> None:
        self.parts.append(f'<circle class="p{part}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>')
        self.text(x, y + 3.5, str(part), "on")

    def save(self) -> None:
        (FOLDER / f"{self.name}.svg").write_text("\n".join([*self.parts, "</svg>", ""]))


def place(cuts: list[int], gap: float, index: float) -> float:
    """A coordinate, with a gap for each cut before it."""
    return index + sum(gap for cut in cuts if cut <= index)


class Box:
    """A tensor that is cut into blocks: mode 1 goes down, mode 2 to the right, mode 3 into the depth."""

    def __init__(self, drawing: Drawing, left: float, top: float, cuts: tuple[list[int], ...]) -> None:
        self.drawing, self.cuts = drawing, cuts
        deepest = place(cuts[2], GAPS[2], EXTENTS[2])
        self.left, self.top = left, top + deepest * DEEP_Y

    def at(self, down: float, right: float, deep: float) -> tuple[float, float]:
        return self.left + right * CELL + deep * DEEP_X, self.top + down * CELL - deep * DEEP_Y

    def draw(self, part_of_block, part_of_nonzero) -> None:
        """Far blocks first, so that near ones lie over them."""
        edges = [[0, *cuts, extent] for cuts, extent in zip(self.cuts, EXTENTS)]
        blocks = itertools.product(*(range(len(e) - 1) for e in edges))
        for block in sorted(blocks, key=lambda b: (-b[2], -b[0], b[1])):
            begins = [place(c, g, e[b]) for c, g, e, b in zip(self.cuts, GAPS, edges, block)]
            ends = [(begin, begin + e[b + 1] - e[b]) for begin, e, b in zip(begins, edges, block)]
            self.faces(ends, part_of_block(block))
            inside = [z for z in NONZEROS if all(e[b] <= i < e[b + 1] for e, b, i in zip(edges, block, z))]
            for z in sorted(inside, key=lambda z: -z[2]):
                middle = [place(c, g, i) + 0.5 for c, g, i in zip(self.cuts, GAPS, z)]
                self.drawing.dot(*self.at(*middle), part_of_nonzero(z, block))

    def faces(self, ends: list[tuple[float, float]], kind: str) -> None:
        (y0, y1), (x0, x1), (z0, z1) = ends
        front = [(y0, x0, z0), (y0, x1, z0), (y1, x1, z0), (y1, x0, z0)]
        roof = [(y0, x0, z0), (y0, x1, z0), (y0, x1, z1), (y0, x0, z1)]
        side = [(y0, x1, z0), (y1, x1, z0), (y1, x1, z1), (y0, x1, z1)]
        for face in (roof, side, front):
            self.drawing.polygon([self.at(*corner) for corner in face], kind)


def draw_coarse() -> None:
    drawing = Drawing("coarse", 810, 340, "Coarse grain: in every mode, each process has whole slices")
    for mode, cuts in enumerate([[1, 2, 4], [1, 2, 3], [1, 2, 3]]):
        left = 24 + (0, 250, 490)[mode]
        drawing.text(left, 28, f"for mode {mode + 1}: slices of mode {mode + 1}", "title")
        box = Box(drawing, left, 48, tuple(cuts if m == mode else [] for m in range(3)))
        box.draw(lambda b, mode=mode: f"p{b[mode]}", lambda z, b, mode=mode: b[mode])
    drawing.text(24, 326, "Three copies of the tensor. The number and colour of a nonzero is the process that multiplies it.",
                 "small")
    drawing.save()


def draw_medium() -> None:
    drawing = Drawing("medium", 520, 330, "Medium grain: each process has a block of a grid of 2 x 2 x 1 processes")
    cuts = ([2], [2], [])
    drawing.text(24, 28, "for all modes: blocks of a grid 2x2x1", "title")
    Box(drawing, 24, 60, cuts).draw(lambda b: f"p{2 * b[0] + b[1]}", lambda z, b: 2 * b[0] + b[1])
    for y, words in ((92, "mode 1: 2 layers, of 2 and 4 slices"), (112, "mode 2: 2 layers, of 2 and 3 slices"),
                     (132, "mode 3: 1 layer"), (172, "Rows of the first layer of mode 1 are"),
                     (190, "exchanged between 0 and 1 only."), (220, "Rows of mode 3 concern all four.")):
        drawing.text(278, y, words)
    drawing.text(24, 316, "One copy of the tensor. A policy says where the cuts are.", "small")
    drawing.save()


def draw_fine() -> None:
    drawing = Drawing("fine", 520, 290, "Fine grain: each nonzero has a process of its own")
    parts = dict(zip(NONZEROS, [0, 0, 1, 1, 0, 0, 1, 1, 1, 2, 3, 3, 2, 3, 3, 2, 2, 3]))
    drawing.text(24, 28, "for all modes: single nonzeros", "title")
    Box(drawing, 24, 48, ([], [], [])).draw(lambda b: "hollow", lambda z, b: parts[z])
    for y, words in ((82, "Any nonzero may go anywhere:"), (102, "a good partition puts those"),
                     (122, "that share rows together.")):
        drawing.text(278, y, words)
    drawing.text(24, 276, "One copy of the tensor. Who owns a row is decided afterwards, among those who touch it.", "small")
    drawing.save()


def draw_exchange() -> None:
    drawing = Drawing("fold-and-expand", 810, 250, "Fold and expand of a row that processes 0, 1 and 3 touch and 1 owns")
    steps = [("multiply", "each has a partial row"), ("fold", "partial rows go to the owner"),
             ("add and solve", "the owner has the new row"), ("expand", "the new row goes back")]
    for step, (name, words) in enumerate(steps):
        left = 24 + 200 * step
        drawing.text(left, 28, f"{step + 1}. {name}", "title")
        drawing.text(left, 46, words, "small")
        for part in range(4):
            y = 76 + 40 * part
            has_row = part == 1 or (part != 2 and step != 2)
            kind = f"p{part}" if has_row else "hollow line"
            drawing.text(left, y + 5, f"process {part}", "small")
            drawing.bar(left + 62, y - 8, 72, 16, kind if part != 2 else "hollow")
            if part == 2:
                drawing.text(left + 62, y + 5, "untouched", "small")
        for part in (0, 3):
            near, far = 76 + 40 + (-10 if part == 0 else 10), 76 + 40 * part + (10 if part == 0 else -10)
            if step == 1:
                drawing.line(left + 80 + 14 * part, far, left + 80 + 14 * part, near, tip=True)
            if step == 3:
                drawing.line(left + 80 + 14 * part, near, left + 80 + 14 * part, far, tip=True)
    drawing.text(24, 236, "Three touch the row and one of them owns it: 3 − 1 = 2 rows go one way, and 2 the other.", "small")
    drawing.save()


def draw_policies() -> None:
    """Where cut_into_layers (polyad/distributed/cp/layers.cpp) cuts these slices into three layers."""
    counts = [12, 9, 10, 7, 6, 5, 5, 4, 3, 3, 2, 3, 2, 1, 2, 1]
    policies = [("set", [5, 10]), ("nnz", [2, 6]), ("ordered-1", [3, 9]), ("ordered-2", [4, 10]), ("max-min", [2, 7])]
    drawing = Drawing("policies", 810, 200, "Slices of a mode, and where policies cut them into three layers")
    for at, (name, cuts) in enumerate(policies):
        left, floor, width = 24 + 157 * at, 144, 8
        drawing.text(left, 28, name, "title")
        for i, count in enumerate(counts):
            drawing.bar(left + width * i, floor - 7 * count, width - 2, 7 * count, "bar")
        edges = [0, *cuts, len(counts)]
        for begin, end in zip(edges, edges[1:]):
            drawing.text(left + width * (begin + end) / 2 - 1, floor + 16, str(sum(counts[begin:end])), "mid small")
        for cut in cuts:
            drawing.line(left + width * cut - 1, 44, left + width * cut - 1, floor + 6, "cut")
    drawing.text(24, 188, "Bars: nonzeros of the sixteen slices of a mode. Below: nonzeros of the three layers.", "small")
    drawing.save()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for draw in (draw_coarse, draw_medium, draw_fine, draw_exchange, draw_policies):
        draw()
