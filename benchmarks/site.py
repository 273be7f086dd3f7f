#!/usr/bin/env python3
"""Time the engine of a site: CPU seconds of one web worker in Chromium, beside those of `render`.

    python benchmarks/site.py                          # writes a site first: some minutes
    python benchmarks/site.py default seahorse --site FOLDER
    python benchmarks/site.py --beside FOLDER          # another engine, in turns
    python benchmarks/site.py --visits 9 --site FOLDER # seconds until a first visit shows a picture
    python benchmarks/site.py --json > benchmarks/site-<processor>.json
    python benchmarks/site.py --read FILE.json         # its table

A page without anything else draws a view of 1000x625 pixels by one worker, and lays its blocks, as
large as those of quick views, into a picture. A measurement draws the view as often as takes about
a second, and reads the CPU time of the page's process; those of the engines take turns, and the
least counts.
`render` is this program on one thread. `exact`: the pixels are those of `render`. An engine beside
is a folder with `worker.js`, a module that answers `{columns, rows, limit}`, the places of samples,
with `{image, values}`: RGBA, and smooth counts, infinite inside. It has drawn when both are there.
`inside`: the share of pixels that only one of the two takes for inside, at the same limit.
`values`: half of the other pixels' smooth counts differ by no more, but for a constant. `cardioid`
is so small that `render` takes perturbation there, so some of its pixels are others. Deep views are
drawn along an orbit that is known: their times are those of samples.
"""

import argparse
import base64
import http.server
import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]  # this checkout, installed or not

import numpy as np
from support import browser as browsers

import fractals
from fractals.explorer.site.write import write_site
from fractals.tools import bench_report

SIZE = (1000, 625)
BESIDE = "/beside/"  # the address of another engine
SECONDS = 1.0  # of CPU time that a measurement takes at least
# Center, width and limit; then the colors
SEA = ("-0.7453", "0.1127"), "0.0065", 2985
DEEP = {  # drawn by perturbation
    "deep": (
        ("-0.049470029063104093751692226727353630", "-0.674787575844675364011392053130597656"),
        "1e-30",
        137616,
    ),
    "deeper": (
        (
            "-1.4798157761324732607229845259787785469224072577404536968987851013986"
            "492074100229382025051732928201122736331",
            "-0.0006391119326136172715213963225567157295730391894398473604739493647"
            "122095196181332192857306703646615114719",
        ),
        "1e-100",
        69860,
    ),
}
PLACES: dict[str, tuple[tuple[str, str], str, int]] = {
    "default": (("-0.65", "0"), "4.6", 1000),
    "whole": (("-0.5", "0"), "3.90625", 200),
    "parabolic": (("0.25301945209503174", "-0.00028127431869506836"), "4.768371582031e-5", 1600),
    "cardioid": (("0.271743159228663032475", "-0.004861827620970871336"), "7.276e-10", 51200),
    "seahorse": SEA,
    "slopes": SEA,
    "layers": SEA,
    **DEEP,
}
COLORS: dict[str, Any] = {
    "slopes": {"coloring": "slopes"},
    "layers": {"layers": [{"coloring": "slopes"}]},
}
PAGE = """async ([folder, beside]) => {
    const part = (name) => import(new URL(`client/site/${name}.js`, folder).href);
    const names = ["palettes", "pool", "parts", "plan", "scene", "views"];
    const parts = Object.assign({}, ...(await Promise.all(names.map(part))));
    const { Palettes, Pool, blocks, cut, lay, sideOf, gridOf, planOf, whole, settle } = parts;
    const packed = await fetch(new URL("engine/facts.bin", folder));
    const text = packed.body.pipeThrough(new DecompressionStream("deflate"));
    const facts = await new Response(text).json();
    const palettes = new Palettes(facts.spaces, facts.palettes);
    const pool = new Pool(new URL("engine/", folder).href, facts.relaxed, palettes);
    pool.size = 1;
    window.prepare = async (scene) => {
        const plan = planOf(facts, palettes, whole(facts, scene));
        const found = await settle(facts, plan, (job) => pool.draw(job));
        window.job = { ...plan, ...found, want: "pixels" };
        window.grid = gridOf(plan, plan.size, plan.n);
        const [[columns], [, rows]] = [grid.columns, grid.rows]; // of a view that is not turned
        window.view = { columns, rows, limit: job.limit };
    };
    window.drawn = async (want = "pixels") => {
        const [width, height] = job.size, made = new Uint8Array(3 * width * height);
        const values = new Float64Array(want === "values" ? width * height : 0);
        const side = sideOf(job.n, 0, pool.size), middle = [width / 2, height / 2];
        await Promise.all(blocks(job.size, middle, side).map(async (block) => {
            const found = await pool.draw({ ...job, want, ...cut(grid, block, job.n) });
            const [x, y, w, h] = block;
            if (want === "pixels") return lay(made, width, block, found.rgb);
            for (let row = 0; row < h; row++)
                values.set(found.values.subarray(row * w, (row + 1) * w), (y + row) * width + x);
        }));
        return want === "pixels" ? made : values;
    };
    if (!beside) return;
    const worker = new Worker(new URL(beside, folder), { type: "module" });
    window.other = () => new Promise((done, failed) => {
        worker.onmessage = ({ data }) => done(data);
        worker.onerror = ({ message }) => failed(new Error(message));
        worker.postMessage(view);
    });
}"""
TIMES = "async ([name, times]) => { for (let k = 0; k < times; k++) await window[name](); }"
TEXT = """(array) => {
    const bytes = new Uint8Array(array.buffer);
    let text = "";
    for (let k = 0; k < bytes.length; k += 8192)
        text += String.fromCharCode(...bytes.subarray(k, k + 8192));
    return btoa(text);
}"""


def scene_of(name: str, samples: int = 1) -> fractals.Scene:
    """Return the scene of a view with some samples a pixel, a side."""
    center, width, limit = PLACES[name]
    return fractals.load_scene(
        {
            "view": {"center": list(center), "width": width},
            "iteration": {"max_iterations": limit},
            "image": {"size": list(SIZE), "supersampling": samples},
            "color": COLORS.get(name, {}),
        }
    )


@contextmanager
def served(folder: Path, beside: Path | None) -> Iterator[str]:
    """Serve the files of a site, and below `beside/` another folder's, and give the address."""

    class Files(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing of requests."""

        def translate_path(self, path: str) -> str:
            """Return where an asked file lies."""
            own = beside and path.startswith(BESIDE)
            self.directory = str(beside if own else folder)
            return super().translate_path(path.removeprefix(BESIDE) if own else path)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Tab:
    """A page that draws, and the CPU time of its process."""

    def __init__(self, browser: Any, address: str, beside: str) -> None:
        self.page = browser.new_page()
        self.page.set_default_timeout(0)
        self.page.goto(f"{address}catalog.json")
        self.page.evaluate(PAGE, [address, beside])
        self._browser = browser.new_browser_cdp_session()

    def spent(self) -> float:
        """Return the CPU seconds of pages until now."""
        found = self._browser.send("SystemInfo.getProcessInfo")["processInfo"]
        return float(sum(each["cpuTime"] for each in found if each["type"] == "renderer"))

    def array(self, script: str, dtype: Any) -> Any:
        """Return the array that a script gives."""
        text = self.page.evaluate(f"async () => ({TEXT})(await {script})")
        return np.frombuffer(base64.b64decode(text), dtype)

    def seconds(self, name: str, times: int) -> float:
        """Return the CPU seconds of a view that is drawn some times."""
        before = self.spent()
        self.page.evaluate(TIMES, [name, times])
        return (self.spent() - before) / times


def rendered(scene: fractals.Scene) -> float:
    """Return the CPU seconds of a picture that `render` draws on one thread."""
    before = process_time()
    fractals.render(scene, device="cpu", threads=1)
    return process_time() - before


def alike(own: Any, other: Any) -> dict[str, float]:
    """Return how smooth counts of two engines, not finite inside, differ."""
    inside, theirs = ~np.isfinite(own), ~np.isfinite(other)
    apart = (own - other)[~inside & ~theirs]
    found = float(np.median(abs(apart - np.median(apart)))) if apart.size else 0.0
    return {"inside": float(np.mean(inside != theirs)), "values": round(found, 6)}


def measured(tab: Tab, name: str, samples: int, rounds: int, beside: bool) -> dict[str, Any]:
    """Return the figures of a view: CPU seconds of a picture, the least of some rounds."""
    scene = scene_of(name, samples)
    tab.page.evaluate("scene => prepare(scene)", scene.to_table())
    pixels = tab.array("drawn()", np.uint8).reshape(*SIZE[::-1], 3)
    picture = fractals.render(scene, device="cpu", threads=1)
    row: dict[str, Any] = {
        "view": name,
        "samples": samples**2,
        "limit": scene.iteration.max_iterations,
    }
    row["exact"] = bool(np.array_equal(pixels, picture.pixels))
    engines = ["drawn"] + ["other"] * (beside and name not in {**COLORS, **DEEP})
    if "other" in engines:
        own = tab.array("drawn('values')", np.float64)
        row |= alike(own, tab.array("other().then(({ values }) => values)", np.float32))
    times = {each: int(1 + SECONDS / max(tab.seconds(each, 2), 0.01)) for each in engines}
    found: dict[str, list[float]] = {each: [] for each in [*engines, "render"]}
    for _ in range(rounds):
        for each in engines:
            found[each].append(tab.seconds(each, times[each]))
        found["render"].append(rendered(scene))
    names = {"drawn": "site_s", "other": "other_s", "render": "render_s"}
    return row | {names[each]: round(min(seconds), 6) for each, seconds in found.items()}


def measure(
    views: list[str], samples: int, rounds: int, site: Path | None, beside: Path | None
) -> Iterator[dict[str, Any]]:
    """Yield the row of each view."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        where = site or write_site(Path(folder) / "site", formulas=("mandelbrot",))
        with served(where, beside) as address, sync_playwright() as playwright:
            browser = browsers.launched(playwright)
            tab = Tab(browser, address, f"{BESIDE}worker.js" if beside else "")
            for name in views:
                yield measured(tab, name, samples, rounds, bool(beside))
            browser.close()


def visits(count: int, site: Path) -> Iterator[dict[str, Any]]:
    """Visit a site with a browser that has just started, and yield seconds and bytes."""
    from playwright.sync_api import sync_playwright

    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    with served(site, None) as address:
        for _ in range(count):
            with sync_playwright() as playwright:
                browser = browsers.launched(playwright)
                width, height = SIZE
                page = browser.new_page(viewport={"width": width, "height": height})
                begun = perf_counter()
                page.goto(address, wait_until="commit")
                found = {"bytes": size}
                for name, seen in (("first", "explorer?.drawn"), ("exact", "explorer.settled")):
                    page.wait_for_function(f"window.{seen}")
                    found[name] = round(perf_counter() - begun, 3)
                yield found
                browser.close()


def visited(results: list[dict[str, Any]]) -> str:
    """Return a line about visits."""
    first, exact = (median(each[key] for each in results) for key in ("first", "exact"))
    return (
        f"{len(results)} visits with an empty cache, medians: coarse after {first:.2f} s, "
        f"exact after {exact:.2f} s; the site has {results[0]['bytes'] / 1e6:.1f} MB"
    )


def table(made: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield bench_report.hardware_line(made)
    if "first" in made["results"][0]:
        yield visited(made["results"])
        return
    rows = [["view", "samples", "limit", "site ms", "render ms", "ratio", "exact"]]
    with_other = any("other_s" in row for row in made["results"])
    rows[0] += ["beside ms", "beside / site", "inside", "values"] * with_other
    for row in made["results"]:
        site, own = row["site_s"], row["render_s"]
        line = [row["view"], str(row["samples"]), str(row["limit"])]
        line += [f"{1e3 * site:.1f}", f"{1e3 * own:.1f}"]
        line += [f"{site / own:.2f}", "yes" if row["exact"] else "no"]
        if with_other and "other_s" in row:
            line += [f"{1e3 * row['other_s']:.1f}", f"{row['other_s'] / site:.2f}"]
            line += [f"{row['inside']:.6f}", f"{row['values']:.4f}"]
        rows.append(line + [""] * (len(rows[0]) - len(line)))
    yield from bench_report.align(iter(rows))


def main() -> None:
    """Measure, or read what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("views", nargs="*", help=", ".join(PLACES))
    parser.add_argument("--samples", type=int, default=1, help="samples a pixel, a side")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--site", type=Path, help="a folder of `fractals explore --site`")
    parser.add_argument("--beside", type=Path, help="the folder of another engine")
    parser.add_argument("--visits", type=int, default=0, help="time so many visits, not views")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", type=Path, help="a file that --json has written")
    given = parser.parse_args()
    unknown = set(given.views) - PLACES.keys()
    if unknown:
        parser.error(f"unknown view {sorted(unknown)}: choose of {', '.join(PLACES)}")
    for folder, needed in ((given.site, "engine/facts.bin"), (given.beside, "worker.js")):
        if folder and not (folder / needed).is_file():
            parser.error(f"no {needed} in '{folder}'")
    if given.visits and not given.site:
        parser.error("--visits needs --site FOLDER")
    if given.beside and given.samples > 1:
        parser.error("an engine beside draws one sample a pixel")
    if given.read:
        made = json.loads(given.read.read_text())
    else:
        if reason := browsers.missing():
            parser.error(reason)
        if given.visits:
            results = list(visits(given.visits, given.site))
        else:
            views = given.views or list(PLACES)
            results = list(measure(views, given.samples, given.rounds, given.site, given.beside))
        made = {**bench_report.make_report([]), "results": results}
    print(json.dumps(made, indent=1) if given.json else "\n".join(table(made)))


if __name__ == "__main__":
    main()
