#!/usr/bin/env python3
"""Time solids: rays to the surface, paths of light, and a first picture.

    python benchmarks/solid.py                    # all parts: some minutes
    python benchmarks/solid.py paths --runs 5
    python benchmarks/solid.py --json > benchmarks/solid-<processor>.json
    python benchmarks/solid.py --read FILE.json   # its tables

One thread, in turns; medians of CPU time. `hits`: rays to the surface, 640x480. `paths`: the light
of one sample a pixel, two bounces. Both are compared with the same kernel compiled for one ray
after the other (`plain`), to the same bits. `first`: a process without compiled code that draws
320x200 pixels.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import process_time
from typing import Any

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))  # this checkout, installed or not

import numpy as np

import fractals
from fractals.backends.cpu.ray_lists import PathRange, Tracer
from fractals.backends.devices import choose, open_backend
from fractals.kernels import light, march
from fractals.rendering.solid.plan import make_solid_plan
from fractals.rendering.solid.trace import Tracing
from fractals.tools.bench import report

SIZE = 640, 480
VIEWS: dict[str, dict[str, Any]] = {
    "bulb, near": {
        "formula": "mandelbulb",
        "position": (0.95, -1.25, 0.55),
        "target": (0.25, -0.2, 0.35),
    },
    "bulb, far": {"formula": "mandelbulb"},
    "box of -1.5": {"formula": {"name": "mandelbox", "scale": -1.5}},
    "ruins, box of -2.2": {
        "formula": {"name": "mandelbox", "scale": -2.2},
        "position": (-0.1736, 1.6909, -1.8756),
        "target": (1.4448, -0.8996, -0.2742),
    },
    "sponge": {"formula": "menger"},
}
BOUNCES = 2
PARTS = ("hits", "paths", "first")


def seconds_of(works: Mapping[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """Return the median CPU seconds of each work, done in turns; the first turn is not counted."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for run in range(runs + 1):
        for name, work in works.items():
            begun = process_time()
            work()
            if run:
                found[name].append(process_time() - begun)
    return {name: statistics.median(times) for name, times in found.items()}


def traced(view: str, number: str, size: tuple[int, int] = SIZE) -> tuple[Tracing, Tracer]:
    """Return what traces a view on one thread."""
    scene = fractals.load_scene(
        size=size, samples=1, bounces=BOUNCES, precision=number, field=46, **VIEWS[view]
    )
    plan = make_solid_plan(scene, "cpu", 1)
    backend = open_backend(choose("cpu").device, number, 1)
    return Tracing(plan, backend), Tracer(number, plan.solid.walk)


def hits(runs: int) -> Iterator[dict[str, Any]]:
    """Time rays to the surface."""
    width, height = SIZE
    for view in VIEWS:
        for number in ("float32", "float64"):
            tracing, tracer = traced(view, number)
            plan, camera = tracing.plan, tracing.shot.camera
            space = plan.space(tracing.backend.real)
            out, other = (np.zeros((height, width, 2), number) for _ in range(2))
            plain = tracing.backend.compile(march.make_first_body, plan.solid.walk)
            found = seconds_of(
                {
                    "packs": lambda: tracer.first(out, camera, space),  # noqa: B023
                    "plain": lambda: plain(other, camera, space),  # noqa: B023
                },
                runs,
            )
            assert np.array_equal(out, other)
            yield {"what": view, "precision": number, "size": list(SIZE), "cpu_seconds": found}


def paths(runs: int) -> Iterator[dict[str, Any]]:
    """Time the light of one sample a pixel."""
    width, height = SIZE
    for view in VIEWS:
        for number in ("float32", "float64"):
            tracing, tracer = traced(view, number)
            plan, shot = tracing.plan, tracing.shot
            space = plan.space(tracing.backend.real)
            out, other = (np.zeros((height, width, 3), np.int64) for _ in range(2))
            every = PathRange(width, 0, 0, width * height, 0, 1)
            plain = tracing.backend.compile(light.make_body, plan.solid.walk)
            found = seconds_of(
                {
                    "packs": lambda: tracer.trace(out.reshape(-1), every, shot, space),  # noqa: B023
                    "plain": lambda: plain(other, 0, 0, 1, shot, space),  # noqa: B023
                },
                runs,
            )
            assert np.array_equal(out, other)
            speeds = {name: 1e-6 * width * height / cpu for name, cpu in found.items()}
            yield {
                "what": view,
                "precision": number,
                "size": list(SIZE),
                "million_paths_a_second": speeds,
            }


def first(runs: int) -> Iterator[dict[str, Any]]:
    """Draw in a process without compiled code, and in one that finds it on the disk."""
    for view in ("bulb, near", "box of -1.5"):
        spent: dict[str, list[float]] = {"compiles": [], "compiled": []}
        keys = {**VIEWS[view], "size": (320, 200), "samples": 4}
        code = f"import fractals; fractals.render(device='cpu', **{keys!r})"
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as folder:
                own = {**os.environ, "NUMBA_CACHE_DIR": folder, "PYTHONPATH": str(HERE)}
                for name in spent:
                    before = resource.getrusage(resource.RUSAGE_CHILDREN)
                    subprocess.run([sys.executable, "-c", code], check=True, env=own)
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                    spent[name].append(
                        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                    )
        yield {
            "what": view,
            "size": [320, 200],
            "cpu_seconds": {name: statistics.median(times) for name, times in spent.items()},
        }


def tables(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield report.hardware_line(dict(made))
    for part in PARTS:
        rows = []
        for row in made["results"]:
            if row["part"] == part:
                figures = row.get("cpu_seconds") or row["million_paths_a_second"]
                one, other = figures.values()
                ratio = max(one, other) / min(one, other)
                cells = [f"{name}: {value:.3g}" for name, value in figures.items()]
                rows.append([row["what"], row.get("precision", ""), *cells, f"{ratio:.1f} times"])
        if rows:
            unit = {"hits": "CPU-s", "paths": "million paths a second", "first": "CPU-s"}[part]
            yield f"\n{part}, {unit}"
            yield from report.align(iter(rows))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="parts to measure")
    parser.add_argument("--runs", type=int, default=3, help="runs of each way")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--read", metavar="FILE", help="print the tables of a file")
    given = parser.parse_args()
    if given.read:
        made = json.loads(Path(given.read).read_text("utf-8"))
    else:
        made = report.make_report([])
        ways = {"hits": hits, "paths": paths, "first": first}
        made["results"] = [
            {"part": part, **row} for part in given.parts or PARTS for row in ways[part](given.runs)
        ]
    if given.json:
        print(json.dumps(made, indent=1))
    else:
        print("\n".join(tables(made)))


if __name__ == "__main__":
    main()
