#!/usr/bin/env python3
"""Count what the explorer draws while keys are pressed: one key alone, and two in turn.

    python benchmarks/keys.py            # three times each, in turns: a minute
    python benchmarks/keys.py seahorse --times 5

Chromium shows a page of 1366x768 pixels without a graphics card, and 30 keys are pressed in two
seconds. Only the newest view is wanted, so two keys in turn should take as many views as one key,
and be sharp as soon. `views` counts the frames that the server was asked for, and `sharp` is the
seconds from the last press to the exact pixels.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]  # this checkout, installed or not

from support import browser as browsers
from support import devtools
from support import explorer as servers

from fractals.tools import bench_report

SIZE = (1366, 768)
KINDS = {"left": ["ArrowLeft"], "left, up": ["ArrowLeft", "ArrowUp"]}
PRESSED = """async ([keys, presses, pause]) => {
    const view = document.getElementById("view");
    const rest = (ms) => new Promise((done) => setTimeout(done, ms));
    const before = explorer.placed.frame;
    view.focus();
    for (let k = 0; k < presses; k++) {
        for (const type of ["keydown", "keyup"]) {
            const key = keys[k % keys.length];
            view.dispatchEvent(new KeyboardEvent(type, { key, code: key, bubbles: true }));
        }
        await rest(pause);
    }
    const last = performance.now();
    while (!explorer.settled) await rest(10);
    return { views: explorer.placed.frame - before, sharp: (performance.now() - last) / 1000 };
}"""


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("scene", nargs="?", default="seahorse", help="of the gallery")
    parser.add_argument("--times", type=int, default=3, help="of each")
    parser.add_argument("--presses", type=int, default=30)
    parser.add_argument("--pause", type=float, default=65, help="ms from one press to the next")
    given = parser.parse_args()
    if reason := browsers.missing():
        parser.error(reason)
    rows = [["keys", "views", "sharp", "median"]]
    with (
        tempfile.TemporaryDirectory() as folder,
        servers.process(Path(folder), given.scene) as (_, url, _),
        devtools.chromium() as (browser, page),
    ):
        tab = devtools.Tab(browser, page, url, SIZE)
        found: dict[str, list[dict[str, float]]] = {name: [] for name in KINDS}
        for k in range(given.times + 1):  # the first ones load, or compile, what the others use
            for name, keys in list(KINDS.items())[:: 1 if k % 2 else -1]:
                tab.run("scene => explorer.open({ gallery: scene })", given.scene)
                tab.settle()
                told = tab.run(PRESSED, [keys, given.presses, given.pause])
                if k:
                    found[name].append(told)
    for name, runs in found.items():
        counts = [run["views"] for run in runs]
        views = f"{', '.join(map(str, counts))} (median {statistics.median(counts):g})"
        sharp = [run["sharp"] for run in runs]
        seconds = ", ".join(f"{each:.2f}" for each in sharp)
        rows.append([name, views, f"{seconds} s", f"{statistics.median(sharp):.2f} s"])
    print("\n".join(bench_report.align(iter(rows))))


if __name__ == "__main__":
    main()
