#!/usr/bin/env python3
"""Time scatter images: flames beside flam3, attractors, Buddhabrots, and a flame's first picture.

    python benchmarks/scatter.py                       # all parts: some minutes
    python benchmarks/scatter.py flames --size 1920x1080
    python benchmarks/scatter.py --runs 5 --json > benchmarks/scatter-<processor>.json
    python benchmarks/scatter.py --read FILE.json      # its tables

One thread each, in turns; medians of CPU time. The time of a point is the difference of two
pictures, of n and of 3n points, divided by 2n: opening, display and writing are not in it.
flam3-render (Debian's flam3-utils) and datashader are compared with where they are installed.
"""

import argparse
import importlib.util
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))  # this checkout, installed or not

import numpy as np
from numba import njit

import fractals
from fractals.cli.values import parse_size
from fractals.errors import FractalsError
from fractals.rendering.options import RenderOptions
from fractals.scatter import files as flame_files
from fractals.scatter.buddhabrot import mirrors
from fractals.scatter.play import Player, open_player
from fractals.tools import bench_report

POINTS = {"flam3": 4e6, "fractals": 16e6, "datashader": 1e6}  # of the smaller picture
# Flames: weights, colors, variations, affine maps.
AFFINE = {
    0.0: '1" linear="1" coefs="0.5 0 0 0.5 -0.5 -0.433',
    0.5: '1" linear="1" coefs="0.5 0 0 0.5 0.5 -0.433',
    1.0: '1" linear="1" coefs="0.5 0 0 0.5 0 0.433',
}
FIVE = {
    0.0: '0.5" linear="1" coefs="0.62 0.31 -0.31 0.62 0.25 -0.1',
    0.25: '0.3" sinusoidal="1" coefs="1.1 0.4 -0.6 0.9 0.3 0.5',
    0.5: '0.4" spherical="0.9" coefs="0.8 -0.3 0.5 0.7 -0.4 0.2',
    0.75: '0.25" swirl="0.8" coefs="0.7 0.2 -0.2 0.7 0 -0.6',
    1.0: '0.5" julia="0.9" coefs="0.9 0.3 -0.3 0.9 0.4 0.1',
}
HEAVY = {
    0.0: '0.6" julian="0.9" julian_power="3" julian_dist="1" coefs="0.7 0.6 -0.6 0.7 0.45 -0.2',
    0.4: '0.3" disc="0.8" linear="0.25" coefs="0.8 0.1 -0.1 0.8 0.3 0.1',
    0.7: '0.3" curl="0.7" curl_c1="0.4" curl_c2="0.2" bubble="0.3" '
    'coefs="0.6 -0.5 0.5 0.6 -0.3 0.2" post="0.9 0.1 -0.1 0.9 0.1 0',
    1.0: '0.2" heart="0.4" polar="0.3" coefs="0.5 0.2 -0.3 0.6 0.1 -0.4',
}
FLAMES = {"affine": AFFINE, "five": FIVE, "heavy": HEAVY}
# Center, width, most and least steps.
BUDDHABROTS = {
    "whole": (("-0.5", "0"), "3", 2000, 5),
    "0.1 wide": (("-1.15", "0.25"), "0.1", 5000, 20),
    "0.005 wide": (("-1.153", "0.278"), "0.005", 20000, 20),
}
SIDE, IMAGES = 256, 6  # pixels of a Buddhabrot's side; pictures that tell the noise
RADIUS = 2.0  # beyond it orbits escape: with more, short orbits would outnumber all others
GOALS = {
    "flames": {"affine": 4.0, "five": 10.0, "heavy": 8.0},  # times flam3
    "attractors": {"clifford": 150.0},  # M points/s
    "buddhabrots": {"whole": 60.0, "0.1 wide": 12.0, "0.005 wide": 400.0},  # times naive
    "simulator": {"five": 1.0},  # M points/s
    "first": {"fractals": 0.5},  # s
}


def flame_text(name: str, size: tuple[int, int], quality: float) -> str:
    """Return the file of a flame."""
    maps = [f'<xform color="{c}" weight="{rest}"/>' for c, rest in FLAMES[name].items()]
    colors = [f'<color index="{k}" rgb="{k} {abs(255 - 2 * k)} {255 - k}"/>' for k in range(256)]
    return (
        f'<flame name="{name}" size="{size[0]} {size[1]}" center="0 0" scale="{size[1] / 4}" '
        f'oversample="1" filter="0.5" quality="{quality}" background="0 0 0" brightness="4" '
        'gamma="4" vibrancy="1" estimator_radius="0" estimator_minimum="0" '
        'estimator_curve="0.4" temporal_samples="1" passes="1">\n'
        + "\n".join([*maps, *colors, "</flame>\n"])
    )


def flame_scene(name: str, size: tuple[int, int]) -> fractals.Scene:
    """Return the scene of a flame."""
    table = dict(flame_files.read_flame(flame_text(name, size, 10).encode(), "").table)
    return fractals.load_scene(table)


def children_seconds(command: Sequence[str], **options: Any) -> tuple[float, float]:
    """Run a command; return the seconds of the CPU, and those that passed."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    subprocess.run(command, check=True, capture_output=True, **options)
    passed, after = perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, passed


def slope(work: Callable[[float], float], points: float) -> float:
    """Return the CPU seconds of a point, where `work` returns those of so many points."""
    return (work(3 * points) - work(points)) / (2 * points)


def player_of(scene: fractals.Scene, device: str = "cpu") -> Player:
    """Return what plays a scene on one thread."""
    return open_player(scene, RenderOptions(device=device, threads=1))


def played(player: Player) -> Callable[[float], float]:
    """Return the CPU seconds of so many points, as a function."""

    def work(points: float) -> float:
        trajectories = range(2 * round(points / player.plan.steps / 2))
        begun = process_time()
        player.sums(trajectories, None)
        return process_time() - begun

    work(1e5)  # what is compiled or loaded once
    return work


def by_flam3(name: str, size: tuple[int, int], folder: str) -> Callable[[float], float]:
    """Return the CPU seconds of flam3-render, as a function."""

    def work(points: float) -> float:
        text = flame_text(name, size, points / math.prod(size))
        more = {"nthreads": "1", "bits": "33", "isaac_seed": "a", "prefix": f"{folder}/a"}
        options = {"input": text.encode(), "env": {**os.environ, **more}}
        return children_seconds(["flam3-render"], **options)[0]

    return work


def in_turns(
    ways: Mapping[str, Callable[[float], float]], runs: int, most: float
) -> dict[str, float]:
    """Return the M points/s of each way, by the median of runs."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, work in ways.items():
            found[name].append(slope(work, min(most, POINTS[name.split()[0]])))
    return {name: 1e-6 / statistics.median(times) for name, times in found.items()}


def flames(runs: int, sizes: Sequence[tuple[int, int]], most: float) -> Iterator[dict[str, Any]]:
    """Play flames beside flam3."""
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            for name in FLAMES:
                scene = flame_scene(name, size)
                ways = {
                    f"fractals {number}": played(player_of(scene.replace(precision=number)))
                    for number in ("float32", "float64")
                }
                if shutil.which("flam3-render"):
                    ways["flam3"] = by_flam3(name, size, folder)
                speeds = in_turns(ways, runs, most)
                row = {"what": name, "size": list(size), "million_points_a_second": speeds}
                if "flam3" in speeds:
                    row["times_flam3"] = speeds["fractals float32"] / speeds["flam3"]
                yield row


def by_datashader(scene: fractals.Scene) -> Callable[[float], float]:
    """Return the CPU seconds of the usual way in Python: one trajectory, then datashader."""
    import datashader
    import pandas

    p = tuple(scene.make_any_formula().parameters.values())
    width, height = scene.image.size

    @njit
    def trajectory(a, b, c, d, n):
        x, y = np.zeros(n), np.zeros(n)
        for i in range(n - 1):
            x[i + 1] = math.sin(a * y[i]) + c * math.cos(a * x[i])
            y[i + 1] = math.sin(b * x[i]) + d * math.cos(b * y[i])
        return x, y

    def work(points: float) -> float:
        begun = process_time()
        x, y = trajectory(*p, round(points))
        frame = pandas.DataFrame({"x": x, "y": y}, copy=False)
        datashader.Canvas(width, height).points(frame, "x", "y")
        return process_time() - begun

    work(1000)  # what is compiled once
    return work


def attractors(runs: int, most: float) -> Iterator[dict[str, Any]]:
    """Play attractors: three maps, and one flow."""
    for name in ("clifford", "de_jong", "svensson", "lorenz"):
        scene = fractals.load_scene({"formula": name}).replace(size=(700, 700), supersampling=1)
        ways = {"fractals float32": played(player_of(scene.replace(precision="float32")))}
        if name == "clifford" and importlib.util.find_spec("datashader"):
            ways["datashader"] = by_datashader(scene)
        yield {"what": name, "million_points_a_second": in_turns(ways, runs, most)}


@njit(error_model="numpy")
def naive(seed, count, least, limit, radius, place, side, view, hits):
    """Add the orbits of c drawn evenly from a square, as most programs do; return nothing.

    `place` and `side`: the square. `view`: left, bottom, pixels a unit.
    """
    np.random.seed(seed)  # noqa: NPY002 - Numba's own
    for _ in range(count):
        u, v = np.random.random(), np.random.random()  # noqa: NPY002
        a, b = place[0] + side * u, place[1] + side * v
        q = (a - 0.25) ** 2 + b * b
        if q * (q + a - 0.25) < 0.25 * b * b or (a + 1) ** 2 + b * b < 0.0625:
            continue  # the cardioid, and the disc to its left
        x, y, n = 0.0, 0.0, 0
        while n < limit and x * x + y * y <= radius * radius:
            x, y = x * x - y * y + a, 2 * x * y + b
            n += 1
        if n < least or n >= limit:
            continue
        x, y = 0.0, 0.0
        for _ in range(n):
            x, y = x * x - y * y + a, 2 * x * y + b
            column, row = (x - view[0]) * view[2], (y - view[1]) * view[2]
            if 0 <= column < hits.shape[1] and 0 <= row < hits.shape[0]:
                hits[hits.shape[0] - 1 - int(row), int(column)] += 1


def by_cells(player: Player, total: float, k: int, count: int) -> Any:
    """Return the k-th picture of so many samples of cells: points a pixel and sample."""
    sums, _ = player.sums(range(k * count, (k + 1) * count), None)
    m = player.plan.margin
    images = 2 if mirrors(player.plan.kernel[1]) else 1
    return sums[m : m + SIDE, m : m + SIDE, 3] / 255 * total / count / images


def by_chance(how: tuple[Any, ...], k: int, count: int) -> Any:
    """Return the same of c drawn evenly."""
    hits = np.zeros((SIDE, SIDE), np.int64)
    naive(k, count, *how, hits)
    return hits / count


def timed_images(
    image: Callable[[int, int], Any], begin: int, seconds: float
) -> tuple[Any, float, int]:
    """Return pictures of so many CPU seconds each, all seconds, and the samples of one.

    ``image(k, n)`` is the k-th picture, of n samples.
    """
    image(0, 1000)  # what is compiled or loaded once
    begun = process_time()
    image(0, begin)
    count = max(begin, int(begin * seconds / (process_time() - begun)))
    begun = process_time()
    found = [image(1 + k, count) for k in range(IMAGES)]
    return np.array(found), process_time() - begun, count


def cost(images: Any, seconds: float, mean: Any) -> float:
    """Return CPU seconds times the relative variance of 4x4 means, where there is light."""
    parts = [each.reshape(SIDE // 4, 4, SIDE // 4, 4).mean((1, 3)) for each in (*images, mean)]
    lit = parts[-1] > parts[-1].mean() / 5
    relative = np.var(parts[:-1], axis=0, ddof=1)[lit] / parts[-1][lit] ** 2
    return float(relative.mean()) * seconds / len(images)


def buddhabrots(seconds: float) -> Iterator[dict[str, Any]]:
    """Compare noise for equal time: cells, and c drawn evenly."""
    for name, (center, width, limit, least) in BUDDHABROTS.items():
        table = {"formula": {"name": "buddhabrot", "of": "mandelbrot", "least": least}}
        scene = fractals.load_scene(table).replace(
            size=(SIDE, SIDE), supersampling=1, estimator_radius=0.0, filter="box",
            center=center, width=width, max_iterations=limit, escape_radius=RADIUS,
        )  # fmt: skip
        player, formula = player_of(scene), scene.make_any_formula()
        begun = process_time()
        orbits = player.data()
        pilot = process_time() - begun
        side = float(formula.width)
        place = np.array([float(v) - side / 2 for v in formula.center])
        scale = SIDE / float(width)
        view = np.array([*(float(v) - float(width) / 2 for v in center), scale])
        own = orbits.place[2 + orbits.cells[:, 0]] ** 2
        total = float((own / own.sum() / orbits.counts * orbits.samples / orbits.weights)[0])

        images, spent, count = timed_images(partial(by_cells, player, total), 2**15, seconds)
        others, their_time, their_count = timed_images(
            partial(by_chance, (least, limit, RADIUS, place, side, view)), 2**15, seconds
        )
        mean = images.mean(0)
        yield {
            "what": name,
            "times_naive": cost(others, their_time, mean) / cost(images, spent, mean),
            "brightness_over_naive": float(mean.sum() / others.mean(0).sum()),
            "pilot_cpu_seconds": pilot,
            "million_orbits_a_second": {
                "fractals": 1e-6 * count * IMAGES / spent,
                "naive": 1e-6 * their_count * IMAGES / their_time,
            },
            "brightest_over_median": float(mean.max() / np.median(mean[mean > 0])),
        }


def simulator(runs: int, most: float) -> Iterator[dict[str, Any]]:
    """Play a flame in the simulator of a GPU: the time that passes."""
    player = player_of(flame_scene("five", (640, 480)), "simulator")
    points, times = min(2e6, most), []
    player.sums(range(256), None)
    for _ in range(runs):
        begun = perf_counter()
        player.sums(range(round(points / player.plan.steps)), None)
        times.append(perf_counter() - begun)
    speed = 1e-6 * points / statistics.median(times)
    yield {"what": "five", "million_points_a_second": {"simulator": speed}}


def first(runs: int) -> Iterator[dict[str, Any]]:
    """Open a flame and see it: whole processes, 480x270 at 10 points a pixel."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "five.flame")
        path.write_text(flame_text("five", (480, 270), 10))
        command = [sys.executable, "-m", "fractals", "render", str(path), "--cpu", "--overwrite"]
        # A first run keeps the bytecode of all modules, as it does for users.
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        ours = {"env": {**kept, "PYTHONPATH": str(HERE)}, "cwd": folder}
        ways = {"fractals": ([*command, "-o", f"{folder}/a.png"], ours)}
        if shutil.which("flam3-render"):
            theirs = {"env": {**os.environ, "prefix": f"{folder}/b"}, "input": path.read_bytes()}
            ways["flam3"] = (["flam3-render"], theirs)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for run in range(runs + 1):
            for name, (arguments, options) in ways.items():
                times = children_seconds(arguments, **options)
                if run:  # the first one may compile
                    found[name].append(times)
    inside = []
    table = dict(flame_files.read_flame(flame_text("five", (480, 270), 10).encode(), "").table)
    for _ in range(runs + 1):
        begun = perf_counter()
        fractals.render(fractals.load_scene(table), device="cpu")
        inside.append(perf_counter() - begun)
    for name, both in found.items():
        cpu, passed = map(statistics.median, zip(*both, strict=True))
        yield {"what": name, "cpu_seconds": cpu, "seconds": passed}
    yield {"what": "in a process that runs", "seconds": statistics.median(inside[1:])}


def measure(parts: Sequence[str], given: argparse.Namespace) -> dict[str, Any]:
    """Return all figures as plain values."""
    runs, most = given.runs, given.points
    sizes = [parse_size(size, (1, 1)) for size in given.size]
    ways = {
        "flames": lambda: flames(runs, sizes, most),
        "attractors": lambda: attractors(runs, most),
        "buddhabrots": lambda: buddhabrots(given.seconds),
        "simulator": lambda: simulator(runs, most),
        "first": lambda: first(runs),
    }
    made = bench_report.make_report([])
    made["versions"]["flam3"] = flam3_version()
    made["results"] = [
        {"part": part, **row, **goal_of(part, row["what"])}
        for part in parts
        for row in ways[part]()
    ]
    return made


def goal_of(part: str, what: str) -> dict[str, float]:
    """Return the goal of a figure, if there is one."""
    goal = GOALS[part].get(what)
    return {} if goal is None else {"goal": goal}


def flam3_version() -> str | None:
    """Return the version of flam3, where it is installed."""
    if not shutil.which("flam3-render"):
        return None
    done = subprocess.run(["flam3-genome", "--version"], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip().split("\n")[0] or None


def tables(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield bench_report.hardware_line(dict(made))
    for part in GOALS:
        found = [row for row in made["results"] if row["part"] == part]
        if not found:
            continue
        yield f"\n{part}"
        rows = [[""]]
        for row in found:
            figures = {
                "size": "{}x{}".format(*row["size"]) if "size" in row else "",
                **{
                    f"{name}: M/s": f"{speed:.3g}"
                    for key in ("million_points_a_second", "million_orbits_a_second")
                    for name, speed in row.get(key, {}).items()
                },
                **{
                    key.replace("_", " "): f"{row[key]:.3g}"
                    for key in row
                    if isinstance(row[key], float) and key != "goal"
                },
                "goal": f"{row['goal']:g}" if "goal" in row else "",
            }
            rows[0] += [key for key in figures if key not in rows[0]]
            rows.append([row["what"], *(figures.get(key, "") for key in rows[0][1:])])
        yield from bench_report.align(
            iter([each + [""] * (len(rows[0]) - len(each)) for each in rows])
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or read figures, and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(GOALS))
    parser.add_argument("--size", nargs="+", default=["640x480", "1920x1080"], help="of flames")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each Buddhabrot")
    parser.add_argument("--points", type=float, default=1e9, help="at most, of a picture")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--read", metavar="FILE.json", help="print the tables of a file")
    given = parser.parse_args(arguments)
    if unknown := set(given.parts) - set(GOALS):
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}")
    try:
        if given.read:
            made = bench_report.read_report(given.read)
        else:
            made = measure(given.parts or list(GOALS), given)
    except FractalsError as error:
        sys.exit(f"scatter.py: {error}")
    print(json.dumps(made, indent=1) if given.json else "\n".join(tables(made)))


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
