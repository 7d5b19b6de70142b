#!/usr/bin/env python3
"""Draws the pictures of README.md: what the terminal shows, and a report page.

    tools/draw_pictures.py [--polyad build/bin/polyad] [--out docs/pictures]

terminal.svg is the output of a command, drawn as text. report.png is a screenshot of the page that the same command writes, by
Chromium; without Chromium it is left as it is, and the script says so.
"""

import argparse
import html
import pathlib
import shutil
import subprocess
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = ["cpd", "data/flights.csv.gz", "--columns", "airline,from,to,date:week", "--value", "1", "-r", "10", "--nonneg", "--top", "3"]
COLUMNS, LINES = 104, 32
CHARACTER, LINE, MARGIN = 7.83, 18, 16  # of a monospaced font of 13 pixels
SPACE = "\u00a0"  # ordinary ones would be drawn as one
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"

# The page twice, side by side: from its beginning, and from its components.
FRAMES = """<!DOCTYPE html><body style="margin: 0; display: flex; gap: 1px; background: #bbb">
<iframe width="800" height="{height}" style="border: 0; background: #fff" srcdoc="{page}"></iframe>
<iframe width="799" height="{height}" style="border: 0; background: #fff" srcdoc="{page}" id="second"></iframe>
<script>
const frame = document.getElementById("second");
frame.onload = () => frame.contentDocument.getElementById("components").scrollIntoView();
</script></body>"""
HEIGHT = 1000


def draw_terminal(command: str, output: str) -> str:
    """An SVG of a terminal, of its first lines."""
    lines = textwrap.wrap(f"$ {command}", COLUMNS, subsequent_indent="    ", break_on_hyphens=False)
    prompt = len(lines)
    for line in output.rstrip().splitlines():
        lines += textwrap.wrap(line, COLUMNS, drop_whitespace=False, subsequent_indent="  ") or [""]
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], "..."]
    width, height = round(COLUMNS * CHARACTER + 2 * MARGIN), len(lines) * LINE + 2 * MARGIN
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
             f'<rect width="{width}" height="{height}" rx="8" fill="#1b1f24"/>',
             f'<g font-family="{FONT}" font-size="13" fill="#d6dbe1">']
    for number, line in enumerate(lines):
        style = ' fill="#8ec7ff"' if number < prompt else ""
        if line.strip():
            parts.append(f'<text x="{MARGIN}" y="{MARGIN + LINE * number + 13}"{style}>{html.escape(line).replace(" ", SPACE)}</text>')
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def photograph(page: pathlib.Path, picture: pathlib.Path, folder: pathlib.Path) -> None:
    browser = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    if not browser:
        print(f"no Chromium is installed: {picture} is left as it is")
        return
    frames = folder / "frames.html"
    frames.write_text(FRAMES.format(page=html.escape(page.read_text(encoding="utf-8"), quote=True), height=HEIGHT), encoding="utf-8")
    subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size=1600,{HEIGHT}",
                    "--virtual-time-budget=5000", f"--screenshot={picture}", frames.as_uri()], check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--polyad", type=pathlib.Path, default=ROOT / "build" / "bin" / "polyad")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "pictures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="polyad-pictures-") as name:
        folder = pathlib.Path(name)
        page = folder / "flights.html"
        command = [options.polyad.resolve(), *COMMAND, "--report", page]
        output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        shown = " ".join(["polyad", *COMMAND, "--report", page.name])
        text = draw_terminal(shown, output.replace(str(page), page.name))
        (options.out / "terminal.svg").write_text(text, encoding="utf-8")
        photograph(page, (options.out / "report.png").resolve(), folder)


if __name__ == "__main__":
    main()
