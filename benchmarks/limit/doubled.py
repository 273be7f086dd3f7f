#!/usr/bin/env python3
"""Time z² + c in double-double numbers beside float64 and beside hand-written C.

    python benchmarks/limit/doubled.py                 # a minute
    python benchmarks/limit/doubled.py --runs 9 --json > benchmarks/doubled-<processor>.json

All orbits of the first view stay, and no shortcut ends them; the second view is of the border. The
CPU time of one thread, in turns, the least of some runs. Exits 5 where a count differs from the C.
"""

import ctypes
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # this checkout, installed or not

from yardstick import FLAGS, HERE, WIDTHS, asked, errors_told, find_compiler, least_seconds

from fractals import Scene
from fractals.backends.cpu.simd.pack import REGISTER
from fractals.errors import DifferenceError
from fractals.rendering.drawing import Drawing, open_drawing, open_plan
from fractals.rendering.options import RenderOptions

SIZE = (256, 128)
VIEWS = {
    "inside": {"center": ["-0.1", "0"], "width": "0.2", "max_iterations": 2000},
    "border": {"center": ["-0.7436", "0.1318"], "width": "0.01", "max_iterations": 1000},
}


def drawing_of(view: str, precision: str) -> Drawing:
    """Return a drawing of raw counts on one thread, without shortcuts."""
    keys: dict[str, Any] = {"size": SIZE, "supersampling": 1, "coloring": "count", **VIEWS[view]}
    scene = Scene().replace(**keys, precision=precision)
    options = RenderOptions(device="cpu", threads=1, interior_shortcuts=False)
    return open_drawing(*open_plan(scene, options, "raw"), options)


def counts_of(drawing: Drawing) -> Any:
    """Return the counts of all samples."""
    found = np.empty(SIZE[::-1], np.int32)
    for tile in drawing.plan.tiles:
        found[tile.window()] = drawing.source.iterate(tile).count
    return found


def in_c(folder: str, drawing: Drawing) -> Any:
    """Return a function that computes the same counts by the C."""
    path = Path(folder, "doubled.so")
    if not path.exists():
        options = [*FLAGS, *WIDTHS[8 * REGISTER], f"-DVECTOR_BITS={8 * REGISTER}"]
        command = [find_compiler(), *options, "-o", str(path), str(HERE / "doubled.c")]
        subprocess.run(command, check=True)
    library, grid = ctypes.CDLL(str(path)), drawing.source.grid  # type: ignore[attr-defined]
    xs, ys = (np.ascontiguousarray(grid.columns[::2]), np.ascontiguousarray(grid.rows[1::2]))
    found = np.empty(SIZE[::-1], np.int32)
    given = [ctypes.c_void_p(part.ctypes.data) for part in (xs, ys)]
    sizes = [ctypes.c_long(part) for part in SIZE]
    limit = ctypes.c_int(drawing.source.max_iterations)
    radius2 = ctypes.c_double(drawing.plan.scene.iteration.escape_radius**2)

    def run() -> Any:
        library.render(*given, *sizes, limit, radius2, ctypes.c_void_p(found.ctypes.data))
        return found, (xs, ys)

    return run


def measured(view: str, folder: str, runs: int) -> dict[str, float]:
    """Return the nanoseconds of a step, by what takes it."""
    ours, single = drawing_of(view, "double-double"), drawing_of(view, "float64")
    c = in_c(folder, ours)
    counts = counts_of(ours)
    if not np.array_equal(counts, c()[0]):
        raise DifferenceError(f"{view}: counts differ from those of the C")
    ways = {"double-double": lambda: counts_of(ours), "float64": lambda: counts_of(single), "C": c}
    least = least_seconds(ways, runs)
    return {name: 1e9 * seconds / float(counts.sum()) for name, seconds in least.items()}


def main() -> None:
    """Print the table, or JSON."""
    given = asked(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        found = {view: measured(view, folder, given.runs) for view in VIEWS}
    if given.json:
        print(json.dumps({"register_bits": 8 * REGISTER, "ns_a_step": found}, indent=1))
        return
    for view, times in found.items():
        own = times["double-double"]
        print(
            f"{view}: {own:.2f} ns a step, {own / times['float64']:.1f} times float64 "
            f"({times['float64']:.2f}); C {times['C']:.2f}, so {times['C'] / own:.2f} of its speed"
        )


if __name__ == "__main__":
    with errors_told():
        main()
