#!/usr/bin/env python3
"""Time the views that users of a public explorer visited, and compare counts with exact ones.

    python benchmarks/traffic.py                       # all 14 views: some minutes
    python benchmarks/traffic.py --only hi-band-z39-efar,grid-z28-i50000-543f9cfa --runs 3
    python benchmarks/traffic.py --against OTHER       # another checkout, in turns
    python benchmarks/traffic.py --json > benchmarks/traffic-<processor>.json
    python benchmarks/traffic.py --read FILE.json      # its table

A run is a process that computes the counts of a view three times, and times the last: the CPU
seconds of all threads, with the reference orbit and its tables. The first two may compile. This
checkout takes turns with itself: the ratio `again/this` is noise. --exact sets how many samples of
each view are compared with iteration in arbitrary precision. Exits 5 where a stable count differs.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

HERE = Path(__file__).resolve().parents[1]
if "--one" not in sys.argv:
    sys.path.insert(0, str(HERE))  # this checkout, installed or not

import fractals
from fractals.cli.values import parse_size
from fractals.errors import DifferenceError, FractalsError, OptionError, SceneError
from fractals.rendering.plan import make_plan
from fractals.tools import bench_report, verify

VIEWS = HERE / "tests" / "data" / "traffic.json"
SEED = 1  # of the samples that are compared


def load_views(only: str | None = None) -> dict[str, fractals.Scene]:
    """Return the scenes of the views, by name."""
    found = {}
    for view in json.loads(VIEWS.read_text("utf-8")):
        found[view["name"]] = fractals.load_scene(
            {
                "view": {"center": [view["re"], view["im"]], "width": view["width"]},
                "image": {"size": view["size"], "supersampling": 1},
                "iteration": {"max_iterations": view["max_iterations"]},
                "color": {"coloring": "count"},
            }
        )
    names = only.split(",") if only else list(found)
    unknown = [name for name in names if name not in found]
    if unknown:
        raise OptionError(f"unknown view '{unknown[0]}': choose of {', '.join(found)}")
    return {name: found[name] for name in names}


def compute(scene: fractals.Scene) -> Any:
    """Return the raw numbers of a view; its reference orbit is not taken from the disk."""
    return fractals.compute(scene, device="cpu", cache=False)


def run_once(scene: fractals.Scene) -> dict[str, Any]:
    """Return the CPU seconds of computing a view, and what it holds."""
    for _ in range(2):  # the second compiles the loop over tiles of direct views
        compute(scene)
    begun = process_time()
    raw = compute(scene)
    seconds = process_time() - begun
    return {
        "cpu_seconds": seconds,
        "method": make_plan(scene).method,
        "mean_count": float(raw.count.mean()),
        "inside": float((raw.count == raw.max_iterations).mean()),
    }


def run_process(name: str, size: str | None, checkout: Path) -> dict[str, Any]:
    """Return what `run_once` returns, in a process with the package of a checkout."""
    command = [sys.executable, __file__, "--one", name, *(["--size", size] if size else [])]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SceneError(f"{checkout}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare_exact(scene: fractals.Scene, samples: int) -> dict[str, int]:
    """Compare counts of random samples with those of arbitrary precision.

    `wrong` counts samples whose exact count stays the same if the sample moves by a
    hundred-thousandth of a pixel; `unstable` counts the others that differ.
    """
    raw, plan = compute(scene), make_plan(scene)
    found = {"compared": 0, "wrong": 0, "unstable": 0}
    width, height = scene.image.size
    chosen = random.Random(SEED).sample(range(width * height), samples)
    for j, i in (divmod(k, width) for k in chosen):
        found["compared"] += 1
        exact = verify.exact_count(scene, plan, i, j)
        if raw.count[j, i] != exact:
            moves = (
                (verify.NEARBY, 0),
                (-verify.NEARBY, 0),
                (0, verify.NEARBY),
                (0, -verify.NEARBY),
            )
            near = {verify.exact_count(scene, plan, i + dx, j + dy) for dx, dy in moves}
            found["wrong" if near == {exact} else "unstable"] += 1
    return found


def measure(
    scenes: dict[str, fractals.Scene],
    size: str | None,
    other: Path | None,
    runs: int,
    samples: int,
) -> dict[str, Any]:
    """Return all that was measured, as plain values for JSON."""
    sides = {"this": HERE, "again": HERE, **({"other": other} if other else {})}
    results = []
    for name, scene in scenes.items():
        print(name, file=sys.stderr, flush=True)
        laps: dict[str, list[float]] = {side: [] for side in sides}
        for _ in range(runs):
            for side, checkout in sides.items():
                found = run_process(name, size, checkout)
                laps[side].append(found["cpu_seconds"])
                if side == "this":
                    facts = found
        results.append(
            {
                "view": name,
                "width": scene.view.width,
                "max_iterations": scene.iteration.max_iterations,
                "size": list(scene.image.size),
                "runs": runs,
                **{key: value for key, value in facts.items() if key != "cpu_seconds"},
                "cpu_seconds": {side: statistics.median(found) for side, found in laps.items()},
                "exact": compare_exact(scene, samples),
            }
        )
    return {**bench_report.make_report([]), "results": results}


def text(whole: dict[str, Any]) -> str:
    """Return the table that a person reads."""
    lines = [bench_report.hardware_line(whole), *bench_report.align(_rows(whole["results"]))]
    return "\n".join(lines)


def _rows(results: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    heads = ["again/this", "other/this", "method", "mean count", "inside", "wrong", "unstable"]
    yield ["", "CPU s", *heads]
    for found in results:
        seconds, exact = found["cpu_seconds"], found["exact"]
        ratios = [
            f"{seconds[side] / seconds['this']:.2f}" if side in seconds else "-"
            for side in ("again", "other")
        ]
        yield [
            found["view"],
            f"{seconds['this']:.2f}",
            *ratios,
            found["method"],
            f"{found['mean_count']:.0f}",
            f"{found['inside']:.3f}",
            f"{exact['wrong']} of {exact['compared']}",
            str(exact["unstable"]),
        ]


def check(whole: dict[str, Any]) -> None:
    """Raise a `DifferenceError` where a stable count is not exact."""
    wrong = [found["view"] for found in whole["results"] if found["exact"]["wrong"]]
    if wrong:
        raise DifferenceError(f"stable counts differ from exact ones: {', '.join(wrong)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", help="views: NAME,NAME; by default all")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, in turns; 5")
    parser.add_argument("--size", help="of the pictures, such as 160x90")
    parser.add_argument("--against", type=Path, help="another checkout, timed in turns")
    parser.add_argument("--exact", type=int, default=20, help="samples compared; 20")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--read", metavar="FILE", help="show what --json wrote")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        if options.read:
            whole = bench_report.read_report(options.read)
            if not all("exact" in found for found in whole["results"]):
                raise SceneError(f"{options.read}: not what traffic.py --json writes")
        else:
            scenes = load_views(options.one or options.only)
            if options.size:
                size = parse_size(options.size, (1600, 900))
                scenes = {name: scene.replace(size=size) for name, scene in scenes.items()}
            if options.one:
                print(json.dumps(run_once(scenes[options.one])))
                return 0
            other = options.against.resolve() if options.against else None
            whole = measure(scenes, options.size, other, options.runs, options.exact)
        print(json.dumps(whole, indent=2) if options.json else text(whole))
        check(whole)
    except FractalsError as error:
        print(f"traffic: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
