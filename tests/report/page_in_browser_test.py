"""The pages of `polyad cpd --report`, `polyad plan --report` and `polyad complete --report` as a browser shows them: nothing is missing, nothing sticks out, nothing complains.
Skipped where there is no Chromium; what needs no browser is tested everywhere."""

import html
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import unittest
from collections.abc import Iterator
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import SOURCE, WITH_MPI, ProgramTest  # noqa: E402

BROWSER = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
COMPONENTS = 4
PLAN = ("plan", SOURCE / "data" / "debian.tns.gz", "-k", "4,16,64,256", "-r", 8)

# The page in a frame of a given width, measured from outside when it has been laid out.
FRAME = """<!DOCTYPE html><body><pre id="measured"></pre>
<iframe width="{width}" height="900" style="border: 0" srcdoc="{page}"></iframe>
<script>
const frame = document.querySelector("iframe");
frame.onload = () => {{
  const page = frame.contentDocument, root = page.documentElement;
  const boxes = (selector) => [...page.querySelectorAll(selector)].map((e) => e.getBoundingClientRect());
  document.getElementById("measured").textContent = JSON.stringify({{
    width: root.clientWidth,
    scroll_width: root.scrollWidth,
    charts: boxes("svg.chart").map((b) => [b.width, b.height]),
    curve: boxes("svg.chart polyline").map((b) => [b.width, b.height]),
    weights: boxes(".weights a rect").map((b) => b.height),
    bars: boxes("svg.bar rect").map((b) => b.width),
    names: boxes(".times span").map((b) => [b.width, b.height]),
    outside: [...page.querySelectorAll("svg text, h1, h4, li, td, p")].filter((e) => {{
      const box = e.getBoundingClientRect();
      return box.left < -1 || box.right > root.clientWidth + 1;
    }}).map((e) => e.textContent),
  }});
}};
</script></body>"""


class PageTest(ProgramTest):
    COMMAND = ("cpd", SOURCE / "data" / "debian.tns.gz", "-r", COMPONENTS, "-i", 5)

    def setUp(self) -> None:
        super().setUp()
        self.page = self.folder / "page.html"
        self.succeed(*self.COMMAND, "--report", self.page)

    def well_formed(self) -> xml.etree.ElementTree.Element:
        """The page as XML that loads nothing."""
        text = self.page.read_text(encoding="utf-8")
        root = xml.etree.ElementTree.fromstring(text.split("\n", 1)[1])
        for element in root.iter():
            self.assertNotEqual(element.tag.split("}")[-1], "script")
            for name in ("href", "src"):
                self.assertRegex(element.get(name, "#"), "^(#|data:)")
        return root


class FileTest(PageTest):
    def test_it_is_one_well_formed_file(self) -> None:
        root = self.well_formed()
        tags = [element.tag.split("}")[-1] for element in root.iter()]
        self.assertEqual(tags.count("article"), COMPONENTS)
        self.assertIn("Debian Python Team", "".join(root.itertext()))


class PlanFileTest(PageTest):
    COMMAND = PLAN

    def test_it_is_one_well_formed_file(self) -> None:
        text = "".join(self.well_formed().itertext())
        for part in ("debian.tns.gz", "fine random", "mpirun -n ", "pays after"):
            self.assertIn(part, text)


class CompletionPageTest(PageTest):
    """Ratings of films by users with long names, learned by one process."""
    PROCESSES = 0

    def setUp(self) -> None:
        ProgramTest.setUp(self)
        draw = random.Random(1)
        lines = [f"somebody with a long name {user},a film that is called <{film}>,{draw.randrange(1, 11)}"
                 for user in range(30) for film in range(40) if draw.random() < 0.4]
        ratings = self.write("ratings.csv", "user,film,rating\n" + "\n".join(lines) + "\n")
        self.page = self.folder / "page.html"
        command = ("complete", ratings, "--columns", "user,film,rating", "-r", 4, "-e", 8, "--patience", 0,
                   "--test", 0.1, "--report", self.page)
        self.succeed(*command, processes=self.PROCESSES)


class CompletionFileTest(CompletionPageTest):
    def test_it_is_one_well_formed_file(self) -> None:
        root = self.well_formed()
        tags = [element.tag.split("}")[-1] for element in root.iter()]
        self.assertEqual(tags.count("article"), 3)
        text = "".join(root.itertext())
        for part in ("test RMSE", "a film that is called <", "Rated best", "Recommended", "NDCG"):
            self.assertIn(part, text)
        self.assertNotIn("Communication", text)
        self.assertNotRegex(text, r"\bnan\b")


class BrowsedPage(PageTest):
    """A page and ways to look at it."""

    def browse(self, path: pathlib.Path, *options: str) -> subprocess.CompletedProcess:
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder / 'profile'}",
                   *options, path.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)

    def measure(self, width: int) -> dict:
        page = html.escape(self.page.read_text(encoding="utf-8"))
        frame = self.write(f"frame-{width}.html", FRAME.format(width=width, page=page))
        dom = self.browse(frame, "--dump-dom", "--window-size=1600,1000").stdout
        measured = re.search(r'<pre id="measured">(.*?)</pre>', dom, re.DOTALL)
        self.assertIsNotNone(measured, dom[:2000])
        return json.loads(html.unescape(measured[1]))

    def assert_seen_without_complaint(self) -> None:
        blank = self.write("blank.html", "<!DOCTYPE html><title>blank</title>")
        sizes = []
        for path in (blank, self.page):
            picture = self.folder / f"{path.stem}.png"
            result = self.browse(path, f"--screenshot={picture}", "--enable-logging=stderr", "--v=0",
                                 "--window-size=800,1200")
            self.assertNotIn("CONSOLE", result.stderr)
            sizes.append(picture.stat().st_size)
        self.assertGreater(sizes[1], 5 * sizes[0])

    def measured_at_all_widths(self, num_charts: int) -> Iterator[dict]:
        for width in (320, 360, 768, 1280):
            with self.subTest(width=width):
                measured = self.measure(width)
                self.assert_fits(measured, num_charts)
                yield measured

    def assert_fits(self, measured: dict, num_charts: int) -> None:
        self.assertLessEqual(measured["scroll_width"], measured["width"])
        self.assertEqual(measured["outside"], [])
        self.assertEqual(len(measured["charts"]), num_charts)
        for chart_width, height in measured["charts"]:
            self.assertGreater(chart_width, 200)
            self.assertGreater(height, 100)


@unittest.skipIf(BROWSER is None, "no chromium, chromium-browser or google-chrome on the PATH")
class BrowserTest(BrowsedPage):
    def test_nothing_complains_and_something_is_seen(self) -> None:
        self.assert_seen_without_complaint()

    def test_plots_are_drawn_and_fit_phones_and_desktops(self) -> None:
        for measured in self.measured_at_all_widths(num_charts=2):
            self.assertGreater(min(measured["curve"][0]), 50)
            self.assertEqual(len(measured["weights"]), COMPONENTS)
            self.assertGreater(min(measured["weights"]), 1)
            self.assertGreater(len(measured["bars"]), 8 * COMPONENTS)
            self.assertGreater(max(measured["bars"]), 100)


@unittest.skipIf(BROWSER is None, "no chromium, chromium-browser or google-chrome on the PATH")
class PlanBrowserTest(BrowsedPage):
    COMMAND = PLAN

    def test_nothing_complains_and_something_is_seen(self) -> None:
        self.assert_seen_without_complaint()

    def test_plots_are_drawn_and_fit_phones_and_desktops(self) -> None:
        for measured in self.measured_at_all_widths(num_charts=4):
            times = measured["curve"][:5]  # the others have gaps: where nothing is sent
            self.assertTrue(all(curve_width > 150 for curve_width, _ in times))
            self.assertGreater(max(measured["bars"]), 100)
            self.assertLess(max(height for _, height in measured["names"]), 60)


@unittest.skipIf(BROWSER is None, "no chromium, chromium-browser or google-chrome on the PATH")
class CompletionBrowserTest(CompletionPageTest, BrowsedPage):
    PROCESSES = 3 if WITH_MPI else 0

    def test_nothing_complains_and_something_is_seen(self) -> None:
        self.assert_seen_without_complaint()

    def test_plots_are_drawn_and_fit_phones_and_desktops(self) -> None:
        for measured in self.measured_at_all_widths(num_charts=3 if self.PROCESSES > 1 else 1):
            self.assertTrue(all(min(curve) > 20 for curve in measured["curve"]), measured["curve"])
            self.assertGreater(max(measured["bars"]), 100)


if __name__ == "__main__":
    unittest.main()
