#!/usr/bin/env python3
"""Time what an explorer does: zooming, panning and recoloring, a picture a step.

    python benchmarks/interactive.py                   # seven scenes: some minutes
    python benchmarks/interactive.py seahorse --json > benchmarks/interactive-<processor>.json
    python benchmarks/interactive.py --read FILE.json  # its table

Pictures have 960x540 samples, one a pixel. A zoom narrows the view by 3 % a step, a pan moves it by
a twentieth of its width, a recoloring changes the palette's offset of numbers in memory. The first
pictures of each move warm up and are left out. Medians and worst of the milliseconds until the
first tiles are drawn, and until the picture is whole. The cache is an empty one, so the reference
orbit of each center is computed.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, installed or not

import fractals
from fractals import Scene
from fractals.tools import bench_report

SCENES = ("lantern", "mandelbrot", "seahorse", "julia", "wheels", "heirloom", "caravan")
MOVES = ("zoom", "pan", "recolor")
SIZE = (960, 540)
WARM = 3  # pictures that load, or compile, what the others use
ZOOM, PAN = Decimal("0.97"), Decimal("0.05")


def views(scene: Scene, move: str, steps: int) -> Iterator[Scene]:
    """Yield the scenes of a move, the first one included."""
    getcontext().prec = 2000
    placed = fractals.plan(scene, device="cpu")
    x, y, width = (
        Decimal(part.numerator) / part.denominator
        for part in map(Fraction, (*placed.center, placed.width))
    )
    for _ in range(steps + WARM):
        yield scene.replace(center=(str(x), str(y)), width=str(width))
        if move == "zoom":
            width *= ZOOM
        else:
            x += PAN * width


def draw(scene: Scene) -> tuple[float, float, dict[str, float]]:
    """Draw a picture; return the seconds to its first tiles, to all, and those of its stages."""
    begun, seen = perf_counter(), []

    def progress(done: int, _all: int) -> None:
        if done and not seen:
            seen.append(perf_counter() - begun)

    image = fractals.render(scene, device="cpu", progress=progress, on_message=lambda _: None)
    whole = perf_counter() - begun
    return (seen or [whole])[0], whole, dict(image.timings)


def measure(name: str, move: str, steps: int) -> dict[str, Any]:
    """Return the medians and the worst of a move's pictures."""
    scene = fractals.load_scene(name, size=SIZE, supersampling=1)
    works: Iterator[Callable[[], tuple[float, float, dict[str, float]]]]
    if move == "recolor":
        raw = fractals.compute(scene, device="cpu", on_message=lambda _: None)

        def recolored(offset: float) -> tuple[float, float, dict[str, float]]:
            begun = perf_counter()
            image = fractals.recolor(raw, offset=offset, device="cpu")
            whole = perf_counter() - begun
            return whole, whole, dict(image.timings)

        works = ((lambda k=k: recolored(k / steps)) for k in range(steps + WARM))
    else:
        works = ((lambda view=view: draw(view)) for view in views(scene, move, steps))
    found = [work() for work in works][WARM:]
    firsts, wholes, stages = zip(*found, strict=True)
    return {
        "scene": name,
        "move": move,
        "steps": steps,
        "first_ms": 1e3 * statistics.median(firsts),
        "worst_first_ms": 1e3 * max(firsts),
        "whole_ms": 1e3 * statistics.median(wholes),
        "worst_whole_ms": 1e3 * max(wholes),
        "stages_ms": {
            stage: 1e3 * statistics.median(each[stage] for each in stages) for stage in stages[0]
        },
    }


def tables(made: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield bench_report.hardware_line(made)
    rows = [["scene", "move", "first ms", "worst", "whole ms", "worst", "stages"]]
    for row in made["results"]:
        stages = " ".join(f"{name} {value:.0f}" for name, value in row["stages_ms"].items())
        keys = ("first_ms", "worst_first_ms", "whole_ms", "worst_whole_ms")
        rows.append([row["scene"], row["move"], *(f"{row[key]:.0f}" for key in keys), stages])
    yield from bench_report.align(iter(rows))


def main() -> None:
    """Measure, or read figures, and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenes", nargs="*", default=SCENES)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", type=Path)
    options = parser.parse_args()
    if options.read:
        made = json.loads(options.read.read_text())
    else:
        made = bench_report.make_report([])
        with tempfile.TemporaryDirectory() as folder:
            os.environ["FRACTALS_CACHE_DIR"] = folder
            made["results"] = [
                measure(name, move, options.steps) for name in options.scenes for move in MOVES
            ]
    print(json.dumps(made, indent=1) if options.json else "\n".join(tables(made)))


if __name__ == "__main__":
    main()
