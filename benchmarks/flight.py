#!/usr/bin/env python3
"""Count the frames that a browser draws while the explorer flies, and the CPU time of each.

    python benchmarks/flight.py                        # three views, three flights each: a minute
    python benchmarks/flight.py seahorse --json > benchmarks/flight-<processor>.json
    python benchmarks/flight.py --read FILE.json       # its table

A mouse button is held beside the middle of a page of 1366x768 pixels, in Chromium without a
graphics card, so the page draws on a plain canvas. The server is a process of its own, and the
browser is driven by its own protocol, because Playwright has it copy each picture. `frames/s`
counts the calls of requestAnimationFrame, `gap` is the time between two of them, and `answers` are
the server's, which the page moves and enlarges until the next one is there. CPU milliseconds a
frame are those of the page's main thread (scripts, style, layout, painting), of the processes of
the page and of its compositor, and of the server. On a busy machine the wall clock tells of the
others, so each row has the load. A quiet machine holds 60 frames a second where each thread needs
less than 16.7 ms of CPU time a frame. `share`: of the pixels of an axis that were drawn, the least.
`exact` tells whether the pixels at rest are those of `fractals.render`.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]  # this checkout, installed or not

import numpy as np
from support import browser as browsers
from support import devtools
from support import explorer as servers

import fractals
from fractals.tools import bench_report

SIZE = (1366, 768)
SECONDS = 4.0  # of a flight
FRAME = 1000 / 60  # ms
WARM = 1  # flights before those that count: they load, or compile, what the others use
# The scene, and where the button is held, in shares of the window: on the border of the set
VIEWS: dict[str, tuple[dict[str, Any], tuple[float, float]]] = {
    "default": ({"formula": "mandelbrot", "image": {"supersampling": 1}}, (0.3696, 0.4925)),
    "seahorse": ({"gallery": "seahorse"}, (0.62, 0.44)),
    "wheels": ({"gallery": "wheels"}, (0.60, 0.42)),
}
WATCH = """() => {
    const told = (window.told = { times: [], answers: 0, share: 1 });
    told.heard = () => { told.answers += 1; };
    explorer.addEventListener("placed", told.heard);
    const each = (time) => {
        told.times.push(time);
        told.share = Math.min(told.share, explorer.stage.share);
        if (!told.ended) requestAnimationFrame(each);
    };
    requestAnimationFrame(each);
}"""
FIXED = """share => void Object.defineProperty(explorer.stage, "share", {
    configurable: true, get: () => share, set() {},
})"""
ENDED = """() => {
    told.ended = true;
    explorer.removeEventListener("placed", told.heard);
    return { times: told.times, answers: told.answers, share: told.share };
}"""


class Machine:
    """CPU seconds of what takes part in a flight."""

    def __init__(self, tab: devtools.Tab, server: int) -> None:
        self._page, self._browser, self._server = tab.page, tab.browser, server

    def spent(self) -> dict[str, float]:
        """Return the seconds until now, by part."""
        told = self._page.send("Performance.getMetrics")["metrics"]
        found = {"main": next(each["value"] for each in told if each["name"] == "TaskDuration")}
        for each in self._browser.send("SystemInfo.getProcessInfo")["processInfo"]:
            kind = {"renderer": "page", "GPU": "compositor"}.get(each["type"], "browser")
            found[kind] = found.get(kind, 0.0) + each["cpuTime"]
        fields = Path(f"/proc/{self._server}/stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        return {**found, "server": ticks / os.sysconf("SC_CLK_TCK")}


def flight(
    tab: devtools.Tab, machine: Machine, name: str, share: float | None = None
) -> dict[str, Any]:
    """Fly once, and return what it took; `share`: of the pixels of an axis, in each frame."""
    what, at = VIEWS[name]
    tab.run("what => explorer.open('gallery' in what ? what : { scene: what })", what)
    tab.settle()
    begun = tab.run("explorer.placed.octaves")
    place = at[0] * SIZE[0], at[1] * SIZE[1]
    tab.mouse("Moved", *place)
    tab.mouse("Pressed", *place, held=True)
    tab.until("document.querySelector('.hold-mark')")
    if share:
        tab.run(FIXED, share)
    before = machine.spent()
    tab.run(WATCH)
    time.sleep(SECONDS)
    told = tab.run(ENDED)
    spent = machine.spent()
    if share:
        tab.run("() => { delete explorer.stage.share; explorer.stage.share = 1; }")
    tab.mouse("Released", *place)
    scene = tab.settle()
    frames = len(told["times"]) - 1
    gaps = np.diff(told["times"])
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    exact = np.array_equal(tab.pixels(), fractals.render(scene, device="cpu").pixels)
    return {
        "frames_s": 1000 * frames / float(gaps.sum()),
        "gap_ms": float(np.median(gaps)),
        "late": float(np.mean(gaps > 1.5 * FRAME)),
        "worst_ms": float(gaps.max()),
        "octaves": tab.run("explorer.placed.octaves") - begun,
        "answers_s": told["answers"] / SECONDS,
        "share": told["share"],
        "cpu_ms": {part: 1000 * (spent[part] - before[part]) / frames for part in before},
        "load": load,
        "exact": exact,
    }


def measure(
    names: list[str], flights: int, share: float | None, scale: float
) -> Iterator[dict[str, Any]]:
    """Yield a row for each view: medians of some flights."""
    with (
        tempfile.TemporaryDirectory() as folder,
        servers.process(Path(folder), "seahorse") as (made, url, _),
        devtools.chromium() as (browser, page),
    ):
        tab = devtools.Tab(browser, page, url, SIZE, scale)
        machine = Machine(tab, made.pid)
        for name in names:
            rows = [flight(tab, machine, name, share) for _ in range(flights + WARM)][WARM:]
            yield {"view": name, "scale": scale, "flights": flights, **medians(rows)}


def medians(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians of numbers; `exact`: whether all are."""
    found: dict[str, Any] = {"exact": all(row["exact"] for row in rows)}
    for key, value in rows[0].items():
        if isinstance(value, dict):
            parts = {part: statistics.median(row[key][part] for row in rows) for part in value}
            found[key] = parts
        elif key != "exact":
            found[key] = statistics.median(row[key] for row in rows)
    return found


def table(made: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield bench_report.hardware_line(made)
    heads = ("view", "frames/s", "gap", "worst", "late", "answers/s", "share", "octaves")
    rows = [[*heads, "main", "page", "compositor", "server", "load", "exact"]]
    for row in made["results"]:
        cpu = row["cpu_ms"]
        rows.append(
            [
                row["view"],
                f"{row['frames_s']:.1f}",
                f"{row['gap_ms']:.1f}",
                f"{row['worst_ms']:.0f}",
                f"{100 * row['late']:.0f}%",
                f"{row['answers_s']:.1f}",
                f"{row['share']:.2f}",
                f"{row['octaves']:.1f}",
                *(f"{cpu[part]:.1f}" for part in ("main", "page", "compositor", "server")),
                f"{row['load']:.1f}",
                "yes" if row["exact"] else "no",
            ]
        )
    yield from bench_report.align(iter(rows))


def main() -> None:
    """Measure, or read what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("views", nargs="*", help=", ".join(VIEWS))
    parser.add_argument("--flights", type=int, default=3, help="of each view")
    parser.add_argument("--share", type=float, help="pixels of an axis, 0.3 to 1, in each frame")
    parser.add_argument("--scale", type=float, default=1.0, help="device pixels a CSS pixel")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", type=Path, help="a file that --json has written")
    given = parser.parse_args()
    unknown = set(given.views) - VIEWS.keys()
    if unknown:
        parser.error(f"unknown view {sorted(unknown)}: choose of {', '.join(VIEWS)}")
    if reason := browsers.missing():
        parser.error(reason)
    if given.read:
        made = json.loads(given.read.read_text())
    else:
        results = list(measure(given.views or list(VIEWS), given.flights, given.share, given.scale))
        made = {**bench_report.make_report([]), "results": results}
    print(json.dumps(made, indent=1) if given.json else "\n".join(table(made)))


if __name__ == "__main__":
    main()
