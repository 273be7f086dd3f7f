#!/usr/bin/env python3
"""Time every coloring against plain NumPy, and against the iteration that comes before it.

    python benchmarks/colorings.py                     # a minute or two
    python benchmarks/colorings.py slopes smooth --runs 9
    python benchmarks/colorings.py --json > benchmarks/colorings-<processor>.json
    python benchmarks/colorings.py --read FILE.json    # its table

Raw numbers are computed once; then ours and NumPy's arrays draw the picture from them in turns, on
one thread; medians of the process's CPU time. Both give the same picture, but for rounding.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, installed or not

import numpy as np

import fractals
from fractals import catalog
from fractals.cli.values import parse_size
from fractals.color import palette, trap_image
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.kernels.orbit import INSIDE_TOO
from fractals.rendering.drawing import open_drawing, open_plan, shade_tile
from fractals.rendering.options import RenderOptions
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene
from fractals.tools import bench_report

RADIUS = 256.0
GOLDEN = (3 - np.sqrt(5)) / 2
DIFFERENT = 0.02  # share of the pixels that rounding may move to another color


class Raw:
    """Raw numbers, and what several colorings make of them, in NumPy."""

    def __init__(self, raw: Any, width: float, settings: Mapping[str, Any]) -> None:
        self.n, self.dz, self.max_iterations, self.width = (
            raw.count,
            raw.dz,
            raw.max_iterations,
            width,
        )
        self.out = raw.count < raw.max_iterations
        self.z = np.where(self.out, raw.z, 2.0)
        names = [name.removesuffix(INSIDE_TOO).rpartition(".")[2] for name in raw.statistics]
        self.w = dict(zip(names, raw.statistics.values(), strict=True))
        self.settings = settings

    def smooth(self) -> Any:
        """Return the smooth count."""
        return self.n + 1 - np.log2(np.log2(np.abs(self.z)) / np.log2(RADIUS))

    def part(self) -> Any:
        """Return the smooth count's part beyond the count."""
        return np.clip(self.smooth() - self.n, 0, 1)

    def turn(self) -> Any:
        """Return the angle of z in turns."""
        return (np.angle(self.z) / (2 * np.pi)) % 1

    def mean(self) -> Any:
        """Return the smooth mean of what was watched."""
        before = (self.w["sum"] - self.w["last"]) / np.maximum(self.n - 1, 1)
        whole = self.w["sum"] / self.n
        before = np.where(self.n > 1, before, whole)
        return before + self.part() * (whole - before)

    def distance(self) -> Any:
        """Return the distance in thousandths of the width."""
        size = np.abs(self.z)
        with np.errstate(all="ignore"):
            return 1000 * 2 * size * np.log(size) / np.abs(self.dz) / self.width

    def lines(self, weight: float, count: int) -> tuple[Any, Any]:
        """Return how near field lines and borders are."""
        place, part = (self.turn() * count) % 1, self.part()
        border = np.pi * weight / count / np.log(RADIUS) / np.log(2)
        near = 2 * np.minimum(place, 1 - place) / (weight * (1 - part / 2))
        return step(near), step(2 * np.minimum(part, 1 - part) / border)

    def slopes(self) -> Any:
        """Return the light of slopes."""
        s = self.settings
        with np.errstate(all="ignore"):
            up = self.z / self.dz
            up = np.where(self.out, up / np.abs(up), 0)
        steep = np.hypot(1, s["strength"])
        turned, raised = np.radians(s["direction"]), np.radians(s["height"])
        sideways = up.real * np.cos(turned) + up.imag * np.sin(turned)
        toward = (s["strength"] * np.cos(raised) * sideways + np.sin(raised)) / steep
        glint = np.maximum(2 * toward / steep - np.sin(raised), 0) ** 16
        matte = s["ambient"] + (1 - s["ambient"]) * np.maximum(toward, 0)
        return matte + s["specular"] * (glint - matte)


def step(t: Any) -> Any:
    """Return a smooth step from 0 to 1."""
    t = np.clip(t, 0, 1)
    return t * t * (3 - 2 * t)


def ranked(raw: Raw) -> Any:
    """Return the places in the order of all."""
    values = raw.smooth()
    known = np.sort(values[raw.out])
    return np.searchsorted(known, values) / max(1, len(known) - 1)


def equalised(raw: Raw) -> Any:
    """Return the shares of lower counts."""
    counts = np.bincount(raw.n[raw.out], minlength=raw.max_iterations + 1)
    share = np.concatenate([[0], np.cumsum(counts) / counts.sum()])
    return share[raw.n] + raw.part() * (share[raw.n + 1] - share[raw.n])


VALUES: dict[str, Callable[[Raw], Any]] = {
    "atom_domains": lambda raw: raw.w["step"] * GOLDEN,
    "biomorph": lambda raw: np.minimum(
        np.minimum(np.abs(raw.z.real), np.abs(raw.z.imag)) / RADIUS, 1
    ),
    "count": lambda raw: raw.n.astype(float),
    "curvature_average": Raw.mean,
    "decomposition": lambda raw: np.floor(raw.turn() * 2) / 2,
    "distance": Raw.distance,
    "distance_line": lambda raw: step(raw.distance()),
    "exterior_grid": lambda raw: np.minimum(*raw.lines(0.1, 2)),
    "field_lines": lambda raw: raw.lines(0.2, 2)[0],
    "final_angle": Raw.turn,
    "histogram": equalised,
    "interior_distance": lambda raw: (
        1000 / raw.width * np.sqrt(np.where(raw.w["square"] > 0, raw.w["square"], np.nan))
    ),
    "lyapunov": lambda raw: (
        0.5 * np.exp(raw.w["sum"] / np.maximum(raw.n - raw.settings["warmup"], 1))
    ),
    "multiplier": lambda raw: np.where(raw.w["period"] > 0, np.sqrt(raw.w["stretch"]), np.nan),
    "orbit_trap": lambda raw: 0.25 / (0.25 + np.sqrt(raw.w["square"])),
    "period": lambda raw: np.where(raw.w["period"] > 0, raw.w["period"] * GOLDEN, np.nan),
    "picture_trap": lambda raw: np.where(
        raw.w["pixel"] > 0, (raw.w["pixel"] - 1) / trap_image.entries("flower"), np.nan
    ),
    "pickover_stalks": lambda raw: 0.02 / (0.02 + raw.w["distance"]),
    "rank": ranked,
    "slopes": Raw.slopes,
    "smooth": Raw.smooth,
    "stripe_average": Raw.mean,
    "triangle_average": Raw.mean,
}


def in_numpy(scene: Scene, raw: Any, coloring: Any, value: Callable[[Raw], Any]) -> Any:
    """Return the pixels, by whole arrays."""
    colors, n = scene.color.make_palette(), scene.image.supersampling
    width = float(scene.view.width or scene.make_formula().width)
    numbers = Raw(raw, width, coloring.settings)
    v = value(numbers)
    t = v if coloring.transfer == "linear" else np.log2(1 + np.maximum(v, 0))
    shown = {"escaped": numbers.out, "inside": ~numbers.out}.get(coloring.side, True)
    shown = shown & np.isfinite(t)
    t = np.where(shown, t, 0)
    t = t % 1 if colors.cyclic else np.clip(t, 0, 1)
    table = colors.lookup(scene.color.inside)
    at = np.minimum((t * (len(table) - 2)).astype(np.int32), len(table) - 3)
    part = (t * (len(table) - 2) - at)[..., None]
    light = table[at] + part * (table[at + 1] - table[at])
    light = np.where(shown[..., None], light, table[-1])
    height, across = light.shape[0] // n, light.shape[1] // n
    light = light.reshape(height, n, across, n, 3).mean(axis=(1, 3))
    encode = palette.encoding()
    return encode[(light * (len(encode) - 1) + 0.5).astype(np.int32)]


def measure_one(name: str, size: tuple[int, int], runs: int) -> dict[str, Any]:
    """Return the median seconds of a coloring: iteration, ours, NumPy's."""
    scene = Scene().replace(size=size, coloring=name, max_iterations=300)
    coloring = scene.color.coloring.make()
    raw = fractals.compute(scene, device="cpu", threads=1)
    options = RenderOptions(device="cpu", threads=1)
    plan, backend = open_plan(scene, options)
    iterated = open_drawing(replace(plan, keeps="raw"), backend, options)
    fractals.recolor(raw, scene, device="cpu", threads=1)
    seconds: dict[str, list[float]] = {"iterate": [], "ours": [], "numpy": []}
    whole = open_drawing(plan, backend, options)
    tiles = whole.plan.tiles
    fill = whole.painter.value_program(whole.plan.layers.drawn[0])
    if coloring.rank_table:
        tile = tiles[0]
        arrays = on_tile(raw, tile, scene.image.supersampling)
        fill(
            np.empty(arrays[0].shape), arrays, raw.max_iterations, 0
        )  # compiled with its first use
    for _ in range(runs):
        begun = process_time()
        for tile in tiles:
            iterated.source.iterate(tile)
        seconds["iterate"].append(process_time() - begun)
        numbers = [(tile, on_tile(raw, tile, scene.image.supersampling)) for tile in tiles]
        begun = process_time()
        if coloring.rank_table:  # what depends on the whole picture is found anew
            values = np.empty(raw.count.shape)
            for tile, arrays in numbers:
                part = np.empty(arrays[0].shape)
                fill(part, arrays, raw.max_iterations, 0)
                values[tile.window(scene.image.supersampling)] = part
            coloring.rank_table(values[np.isfinite(values)])
        for tile, arrays in numbers:
            shade_tile(whole, tile, arrays)
        seconds["ours"].append(process_time() - begun)
        begun = process_time()
        theirs = in_numpy(scene, raw, coloring, VALUES[name])
        seconds["numpy"].append(process_time() - begun)
    ours = fractals.recolor(raw, scene, device="cpu", threads=1).pixels
    differing = (np.abs(ours.astype(int) - theirs).max(axis=2) > 2).mean()
    if differing > DIFFERENT:
        raise FractalsError(f"{name}: {differing:.1%} of the pixels differ from NumPy's")
    return {"coloring": name, **{key: statistics.median(taken) for key, taken in seconds.items()}}


def on_tile(raw: Any, tile: Tile, n: int) -> tuple[Any, ...]:
    """Return a tile's raw numbers as the shading programs take them."""
    window = tile.window(n)
    none = np.zeros((1, 1))
    parts = [raw.count, raw.z.real, raw.z.imag]
    parts += [] if raw.dz is None else [raw.dz.real, raw.dz.imag]
    found = [np.ascontiguousarray(part[window]) for part in parts]
    found += [none] * (5 - len(found))
    planes = [plane[window] for plane in raw.statistics.values()]
    return *found, np.stack(planes) if planes else np.zeros((1, 1, 1))


def measure(names: Sequence[str], size: tuple[int, int], runs: int) -> dict[str, Any]:
    """Return the report."""
    whole = bench_report.make_report([])
    whole["colored"] = {"size": list(size), "supersampling": 2, "max_iterations": 300, "runs": runs}
    whole["results"] = [measure_one(name, size, runs) for name in names]
    return whole


def text(whole: Mapping[str, Any]) -> str:
    """Return a report as a table in Markdown."""
    width, height = whole["colored"]["size"]
    lines = [
        f"{bench_report.hardware_line(dict(whole))}; {width}x{height}, 2x2 samples, one thread",
        "",
    ]
    lines += ["| coloring | iterate: ms | color: ms | NumPy: ms | NumPy / ours |", "|---" * 5 + "|"]
    for row in whole["results"]:
        times = " | ".join(f"{1e3 * row[key]:.1f}" for key in ("iterate", "ours", "numpy"))
        lines.append(f"| {row['coloring']} | {times} | {row['numpy'] / row['ours']:.1f} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("colorings", nargs="*", help="by default all")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, in turns; 5")
    parser.add_argument("--size", default="960x540", help="of the picture; 960x540")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--read", metavar="FILE", help="show what --json wrote")
    options = parser.parse_args(arguments)
    try:
        if options.runs < 1:
            raise OptionError(f"{options.runs} runs: give 1 or more")
        if options.read:
            whole = bench_report.read_report(options.read)
            if "colored" not in whole:
                raise SceneError(f"{options.read}: not what colorings.py --json writes")
        else:
            size = parse_size(options.size, (960, 540))
            ends = {
                name: catalog.load("coloring", name)().ends for name in catalog.names("coloring")
            }
            names = options.colorings or [name for name in ends if ends[name] != "converging"]
            whole = measure(names, size, options.runs)
        print(json.dumps(whole, indent=2) if options.json else text(whole))
    except FractalsError as error:
        print(f"colorings: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
