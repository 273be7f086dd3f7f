#!/usr/bin/env python3
"""Count what the host takes for a GPU's launches, and for the start before the first of them.

    python benchmarks/launch.py                  # on a GPU
    python tests/cuda_driver/run.py benchmarks/launch.py --against OTHER  # on the stand-in
    python benchmarks/launch.py --json > benchmarks/launch-<processor>.json

CPU time of the thread that launches, in microseconds, least of nine rounds of 200 each: a launch of
direct iteration with dz (its kernel has 82 parameters), a tile of 8x8 samples with its arrays, a
new array, and a small table that is copied to the GPU. CPU seconds of a warm process: all of
`fractals render --cpu`, and of `--gpu`. Medians of processes, with --against in turns with those of
another checkout, which has to have the same interfaces. The stand-in for NVIDIA's driver draws on
the CPU, so its times are those of the host alone, without a driver.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
LAUNCHES = """
import json, sys, time
import numpy as np
import fractals
from fractals.rendering.drawing import open_drawing, open_plan
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Tile

options = RenderOptions(device="cuda")
scene = fractals.load_scene(size=(16, 16), supersampling=1, max_iterations=20)
plan, backend = open_plan(scene, options)
source, tile = open_drawing(plan, backend, options).source, Tile(0, 0, 8, 8)
shape, grid = source.grid.of_tile(tile)
arguments = source._outputs(shape, backend), grid, source.point, np.int32(20)
table = np.zeros((2, 8))
works = {
    "launch": lambda: source.run(*arguments),
    "tile": lambda: source.iterate(tile),
    "array": lambda: backend.empty((8, 8), np.float64),
    "table": lambda: backend.to_device(table),
}
found = {}
for name, work in works.items():
    rounds = []
    for _ in range(9):
        work()
        backend.synchronize()
        begun = time.thread_time()
        for _ in range(200):
            work()
        rounds.append((time.thread_time() - begun) / 200)
    found[name] = 1e6 * min(rounds)
print(json.dumps(found))
"""
DRAWN = ("-m", "fractals", "render", "--size", "64x36", "-o", "a.png", "--overwrite")


def measured(checkout: Path, folder: Path) -> dict[str, float]:
    """Return the figures of one process of each kind of a checkout."""
    own = {"PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": str(folder / "standin")}

    def run(*words: str) -> tuple[str, float]:
        before = os.times()
        command = [sys.executable, *words]
        done = subprocess.run(
            command, cwd=folder, env=os.environ | own, capture_output=True, text=True, check=True
        )
        after = os.times()
        used = after.children_user + after.children_system
        return done.stdout, used - before.children_user - before.children_system

    found: dict[str, float] = json.loads(run("-c", LAUNCHES)[0])
    return found | {device: run(*DRAWN, f"--{device}")[1] for device in ("cpu", "gpu")}


def main() -> None:
    """Print medians, of several checkouts in turns."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    checkouts = {"this": HERE} | ({"other": given.against.resolve()} if given.against else {})
    turns: dict[str, list[dict[str, float]]] = {name: [] for name in checkouts}
    with tempfile.TemporaryDirectory() as made:
        for k in range(given.runs + 1):  # the first one compiles
            for name, checkout in checkouts.items():
                folder = Path(made, name)
                folder.mkdir(exist_ok=True)
                found = measured(checkout, folder)
                turns[name] += [found] if k else []
    medians = {
        name: {key: statistics.median(each[key] for each in runs) for key in runs[0]}
        for name, runs in turns.items()
    }
    if given.json:
        facts = {"runs": given.runs, "stand-in": "STANDIN_PYTHON" in os.environ}
        print(json.dumps(facts | {"medians": medians, "turns": turns}, indent=1))
        return
    for name, figures in medians.items():
        print(name, *(f"{key} {value:.3g}" for key, value in figures.items()), sep="  ")


if __name__ == "__main__":
    main()
