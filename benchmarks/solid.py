#!/usr/bin/env python3
"""Time solids: rays to the surface, paths of light, steps, another program, and a first picture.

    python benchmarks/solid.py                    # all parts: some minutes
    python benchmarks/solid.py paths --runs 5
    python benchmarks/solid.py --json > benchmarks/solid-<processor>.json
    python benchmarks/solid.py --read FILE.json   # its tables

One thread, in turns; medians of CPU time. `hits`: rays to the surface, 640x480, that start where
cones end, and from the camera. `paths`: the light of one sample a pixel, two bounces. Both are
compared with the same kernel compiled for one ray after the other (`plain`; its rays to the surface
start at the camera), to the same bits. `steps`: steps of a Mandelbox beside hand-written C
(`limit/box.c`), to the same bits. `peer`: pictures of 640x480 beside those of Mandelbulber
(`mandelbulber2` must be there), less what its start takes: rays with normals, and a fast look,
which has shadows and open surroundings, too, beside its picture with and without shadows. `moves`:
first looks of the explorer, from the gallery, while the camera goes around: a pixel of them covers
1, 2 or 4 of 640x360 along each side. `first`:
a process without compiled code that draws 320x200 pixels. `denoised`: a picture of 1920x1080 with
8 samples and the denoiser (the extra `denoise` must be there), two threads, once.

`error`, for which the extra `denoise` must be there, too, is drawn only where it is named: half an
hour. It compares the solids of the gallery, as a user gets them, with 1,024 samples of each pixel
in every 50th row:

    python benchmarks/solid.py error --keep FOLDER             # keeps the samples for another run
    python benchmarks/solid.py error --keep FOLDER --only reef karst

The error is the mean difference of red, green and blue in steps of 8 bits. Both pictures have 16
bits, so neither rounding nor dithering adds to it. The 1,024 samples are two times 512, each with
random numbers of another seed, so they hold none of the measured samples. The noise of their mean
is half of the mean difference of the two. `beside none` is the error without that noise, by squares
of the means: where noise and error are spread in different ways over the picture, it is smaller.
"""

import argparse
import ctypes
import hashlib
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
from functools import cache, partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))  # this checkout, installed or not

import numba
import numpy as np
from limit.yardstick import FLAGS, WIDTHS

import fractals
from fractals import catalog
from fractals.backends.cpu.programs import program_of
from fractals.backends.devices import choose, open_backend
from fractals.backends.machine_code import REGISTER
from fractals.backends.python import PythonBackend
from fractals.explorer.frames import FrameView, Move
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.space import march
from fractals.space.cpu_ray_lists import (
    AWAY,
    LENGTH,
    VECTORS,
    VECTORS_OF_FOLDS,
    WALK,
    PathRange,
    Tracer,
)
from fractals.space.family import FIRST_STEPS
from fractals.space.paths import LaneSums, make_body
from fractals.space.plan import make_solid_plan, place_of, space_in_python
from fractals.space.solids.boxes import mandelbox
from fractals.space.trace import Tracing, levels_of, pixels_of, started
from fractals.tools import bench_report

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
QUIET = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
FIGURES = ("cpu_seconds", "million_paths_a_second", "million_steps_a_second", "mean_error")
PARTS = ("hits", "paths", "steps", "peer", "moves", "first", "denoised")
NAMED = ("error",)  # parts that are measured only where they are named
EVERY = 50  # a row of so many is compared with many samples
MANY = 512  # samples of each of two references
WINDOW = 640, 360
STEPS, ORBITS = 2000, (512, 32)
# Views of Mandelbulber's solids: its own keys, and ours. Its bulb takes the sine of the angle.
PEER = {
    "bulb, near": ("formula_1 2;", {"name": "mandelbulb", "theta": 90}),
    "bulb, far": ("formula_1 2;", {"name": "mandelbulb", "theta": 90}),
    "box of -1.5": ("formula_1 8;", {"name": "mandelbox", "scale": -1.5}),
}
SETTINGS = """# Mandelbulber settings file
# version 2.20
# only modified parameters
[main_parameters]
{formula}
camera {camera};
camera_distance_to_target {distance};
camera_top 0 0 1;
target {target};
fov {field};
image_width {width};
image_height {height};
limit_CPU_cores 1;
glow_enabled false;
shadows_enabled {shadows};
[fractal_1]
power 8;
mandelbox_scale -1,5;
"""


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


def first_hits(tracing: Tracing, tracer: Tracer) -> Any:
    """Return what the rays of pixels meet; they start where cones end."""
    (width, height), real = tracing.plan.scene.image.size, tracing.backend.real
    space, empty = tracing.plan.space(real), partial(np.empty, dtype=real)
    levels = levels_of(tracing.plan, tracing.shot.camera, space)
    shot = started(levels, range(height), width, tracing.shot, tracer.starts, empty)
    found = np.zeros((height, width, 2), real)
    tracer.first(found, shot.camera, space, shot.starts)
    return found


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
                    "cones": lambda: first_hits(tracing, tracer),  # noqa: B023
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
            places = pixels_of(range(height), width)
            every = PathRange(places.reshape(-1, 2), 0, 1)
            plain = tracing.backend.compile(make_body, plan.solid.walk)
            on_lanes = LaneSums(np.empty(places.shape[:2]), other.reshape(1, -1, 3))
            found = seconds_of(
                {
                    "packs": lambda: tracer.trace(out.reshape(1, -1, 3), every, shot, space),  # noqa: B023
                    "plain": lambda: plain(on_lanes, places.reshape(1, -1, 2), 0, 1, shot, space),  # noqa: B023
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


def steps(runs: int) -> Iterator[dict[str, Any]]:
    """Time steps of orbits that never end."""
    solid = mandelbox(scale=-1.5)
    columns, rows = ORBITS
    if not (compiler := shutil.which(os.environ.get("CC", "cc"))):
        return
    widths = [width for width in WIDTHS if width <= REGISTER * 8]
    for number, bits in (("float32", 32), ("float64", 64)):
        with tempfile.TemporaryDirectory() as folder:
            libraries = {}
            for width in widths:
                path = Path(folder, f"box-{width}.so")
                given = [f"-DREAL_BITS={bits}", f"-DVECTOR_BITS={width}", "-o", str(path)]
                source = HERE / "benchmarks" / "limit" / "box.c"
                subprocess.run([compiler, *FLAGS, *WIDTHS[width], *given, str(source)], check=True)
                libraries[width] = ctypes.CDLL(str(path)).box
            real = np.dtype(number).type
            space = march.space_of(solid, STEPS, real)
            camera = np.zeros(march.EYE + 1, number)
            camera[:12] = 0.3, 0.2, 0.1, 1, 0, 0, 0, 1, 0, 0, 0, 1
            camera[march.FOCUS] = camera[march.PIXEL] = 1
            point = camera[:3].copy()
            options = np.array([*solid.options, solid.bail], number)
            out, low = np.zeros((rows, columns, 2), number), np.zeros(rows * columns, number)
            tracer = Tracer(number, solid.walk)

            def written(library: Any) -> None:
                arrays = (ctypes.c_void_p(each.ctypes.data) for each in (point, options, low))  # noqa: B023
                library(ctypes.c_long(low.size), ctypes.c_long(STEPS), *arrays)  # noqa: B023

            works: dict[str, Callable[[], object]] = {
                "packs": lambda: tracer.first(out, camera, space)  # noqa: B023
            }
            for width, library in libraries.items():
                works[f"C, {width} bits"] = partial(written, library)
            found = seconds_of(works, runs)
            assert np.array_equal(out[..., 1].ravel(), low)
            taken = 1e-6 * STEPS * low.size
            yield {
                "what": "box of -1.5",
                "precision": number,
                "million_steps_a_second": {name: taken / cpu for name, cpu in found.items()},
            }


def peer(runs: int) -> Iterator[dict[str, Any]]:
    """Draw beside Mandelbulber."""
    if not shutil.which("mandelbulber2"):
        return
    version = subprocess.run(["mandelbulber2", "-v"], capture_output=True, text=True, env=QUIET)
    for view, (formula, own) in PEER.items():
        works: dict[str, Callable[[], object]] = {}
        for number in ("float32", "float64"):
            keys = {**VIEWS[view], "formula": own, "bounces": 0, "samples": 1}
            scene = fractals.load_scene(size=SIZE, precision=number, field=46, **keys)
            plan = make_solid_plan(scene, "cpu", 1)
            tracing = Tracing(plan, open_backend(choose("cpu").device, number, 1))
            works[number] = partial(looked, tracing)
            tracer = Tracer(number, plan.solid.walk)
            works[f"{number}, normals"] = partial(surface, tracing, tracer)
            check_normals(tracing, tracer)
        found = seconds_of(works, runs)
        position, target = (np.array(place) for place in place_of(scene.camera, plan.solid))
        with tempfile.TemporaryDirectory() as folder:
            for name, shadows, size in (
                ("its start", "false", (16, 12)),
                ("mandelbulber2", "false", SIZE),
                ("mandelbulber2, shadows", "true", SIZE),
            ):
                text = SETTINGS.format(
                    formula=formula,
                    camera=" ".join(f"{part:.9g}" for part in position),
                    target=" ".join(f"{part:.9g}" for part in target),
                    distance=f"{np.linalg.norm(position - target):.9g}",
                    field=f"{2 * math.tan(math.radians(23)):.9g}",
                    width=size[0],
                    height=size[1],
                    shadows=shadows,
                )
                path = Path(folder, "a.fract")
                path.write_text(text.replace(".", ",").replace("version 2,20", "version 2.20"))
                spent = []
                for _ in range(runs):
                    before = resource.getrusage(resource.RUSAGE_CHILDREN)
                    given = ["-n", "-C", "-f", "png", "-o", str(Path(folder, "a.png")), str(path)]
                    subprocess.run(
                        ["mandelbulber2", *given], check=True, env=QUIET, capture_output=True
                    )
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                    spent.append(
                        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                    )
                found[name] = statistics.median(spent)
        start = found.pop("its start")
        found = {name: t - start if "mandel" in name else t for name, t in found.items()}
        said = version.stdout.splitlines()[0] if version.stdout else "mandelbulber2"
        yield {"what": view, "program": said, "size": list(SIZE), "cpu_seconds": found}


@numba.njit  # type: ignore[untyped-decorator]
def met(found: Any, camera: Any, points: Any, feet: Any) -> Any:
    """Write where rays meet the surface, and their footprints there; return how many do."""
    count, one = 0, camera.dtype.type(1)
    d = np.empty(3, camera.dtype)
    for row in range(found.shape[0]):
        for column in range(found.shape[1]):
            t = found[row, column, 0]
            if t > 0:
                x = (column + one / 2 - camera[march.HALF]) * camera[march.PIXEL]
                y = (camera[march.HALF + 1] - row - one / 2) * camera[march.PIXEL]
                for k in range(3):
                    d[k] = x * camera[march.RIGHT + k] + y * camera[march.UP + k]
                    d[k] += camera[march.AHEAD + k]
                far = t / math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
                for k in range(3):
                    points[k, count] = camera[k] + far * d[k]
                feet[count] = camera[march.CONE] * t
                count += 1
    return count


@numba.njit  # type: ignore[untyped-decorator]
def normals_of(taps: Any, out: Any) -> None:
    """Write the normals of four distances."""
    for i in range(out.shape[1]):
        p, q, r, s = taps[0, i], taps[1, i], taps[2, i], taps[3, i]
        x, y, z = p - q - r + s, s - p - q + r, q - p - r + s
        length = math.sqrt(x * x + y * y + z * z)
        out[0, i], out[1, i], out[2, i] = x / length, y / length, z / length


def surface(tracing: Tracing, tracer: Tracer) -> tuple[Any, Any]:
    """Return where the rays of pixels meet the surface, and the normals there; shape (3, n)."""
    (width, height), solid = tracing.plan.scene.image.size, tracing.plan.solid
    camera, real = tracing.shot.camera, tracing.backend.real
    space, found = tracing.plan.space(real), first_hits(tracing, tracer)
    points, feet = np.empty((3, width * height), real), np.empty(width * height, real)
    count = met(found, camera, points, feet)
    normals, taps = np.empty((3, count), real), np.empty((4, tracer.room), real)
    rays, room = tracer._rays, tracer._rays.shape[1]
    vectors = VECTORS_OF_FOLDS if solid.walk.distance == "linear" else VECTORS
    walk = program_of(WALK, np.dtype(real).name, (solid.walk, vectors), packed=True)
    for begin in range(0, count, tracer.room):
        part = slice(begin, min(count, begin + tracer.room))
        n = part.stop - begin
        for k, tap in enumerate(march.TAPS):
            rays[:3, :n], rays[3:6, :n] = points[:, part], np.array(tap, real)[:, None]
            rays[LENGTH, :n] = feet[part]
            walk(rays.reshape(-1), room, n, real(0), 0, space)
            taps[k, :n] = rays[AWAY, :n]
        normals_of(taps, normals[:, part])
    return points[:, :count], normals


def check_normals(tracing: Tracing, tracer: Tracer) -> None:
    """Compare normals with those of the field in plain Python."""
    points, normals = surface(tracing, tracer)
    plan, position = tracing.plan, tracing.shot.camera[:3].astype(np.float64)
    field = march.make_field(PythonBackend("float64").target, plan.solid.walk)
    space = space_in_python(plan.solid, plan.steps)
    same = []
    for k in range(0, points.shape[1], max(1, points.shape[1] // 40)):
        point = points[:, k].astype(np.float64)
        h = float(tracing.shot.camera[march.CONE]) * math.dist(point, position)
        places = (point + h * np.array(tap) for tap in march.TAPS)
        p, q, r, s = (field(*map(float, place), space)[0] for place in places)
        normal = np.array([p - q - r + s, s - p - q + r, q - p - r + s])
        same.append(float(normal @ normals[:, k]) / math.hypot(*normal))
    assert statistics.median(same) > 0.999, same


def looked(tracing: Tracing) -> None:
    """Draw a fast look: a path a pixel, without bounces."""
    width, height = tracing.plan.scene.image.size
    sums = np.zeros((height, width, 3), np.int64)
    tracing.add(sums, range(height), 0, 1, None)
    tracing.pixels(sums, 1)


def moves(runs: int) -> Iterator[dict[str, Any]]:
    """Draw first looks of the explorer at the solids of the gallery, in a window of 640x360."""
    for name in catalog.names("gallery"):
        scene = fractals.load_scene(name, size=WINDOW)
        if scene.make_any_formula().family != "solid":
            continue
        backends = cache(lambda number: open_backend(choose("cpu").device, number, 1))
        view, degrees = FrameView.of(scene, WINDOW), count()
        works = {}
        for step in FIRST_STEPS:

            def work(step: int = step) -> None:
                around = view.moved(Move(by=(next(degrees) * 8, 0)))  # noqa: B023
                solid = family_of(scene).refine(around.scene(), RenderOptions(), backends)  # noqa: B023
                solid._look(step)  # type: ignore[attr-defined]

            works[f"step {step}"] = work
        found = seconds_of(works, runs)
        yield {"what": name, "size": list(WINDOW), "cpu_seconds": found}


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


def denoised(_runs: int) -> Iterator[dict[str, Any]]:
    """Draw pictures of 1920x1080 with 8 samples and three bounces, without noise."""
    if find_spec("pyoidn") is None:
        return
    for view in ("bulb, near", "ruins, box of -2.2"):
        keys = {**VIEWS[view], "bounces": 3, "field": 46, "denoise": True, "device": "cpu"}
        fractals.render(size=(64, 36), samples=1, threads=2, **keys)  # compiles
        begun, passed = process_time(), perf_counter()
        fractals.render(size=(1920, 1080), samples=8, threads=2, **keys)
        spent = process_time() - begun
        yield {
            "what": view,
            "size": [1920, 1080],
            "cpu_seconds": {"both cores": spent, "a core": spent / 2},
            "seconds_passed": perf_counter() - passed,
        }


def rows_of(name: str, rows: range, seed: int = 0, **keys: Any) -> tuple[Any, float]:
    """Return the light of rows of a gallery picture, as of a whole one, and samples a pixel.

    `seed`: of the random numbers; 0 is that of pictures.
    """
    tracing = traced_rows(name, **keys)
    tracing._moments = [
        moment._replace(shot=moment.shot._replace(k0=seed, k1=seed)) for moment in tracing._moments
    ]
    sums = np.zeros((len(rows), tracing.plan.scene.image.size[0], 3), np.int64)
    for k, row in enumerate(rows):
        tracing.fill(sums[k : k + 1], range(row, row + 1), None)
    return tracing.light(sums, tracing.effort.most), tracing.mean


def traced_rows(name: str, **keys: Any) -> Tracing:
    """Return what traces and develops a picture of the gallery, on one thread."""
    plan = make_solid_plan(fractals.load_scene(f"gallery:{name}", bits=16, **keys), "cpu", 1)
    return Tracing(plan, open_backend(choose("cpu").device, plan.precision, 1))


def references(name: str, rows: range, folder: Path | None) -> Any:
    """Return the light of rows of a picture, twice, by `MANY` samples each.

    `folder`: keeps it, for another run with the same scene.
    """
    said = f"{fractals.load_scene(f'gallery:{name}').to_toml()}{rows}{MANY}"
    key = hashlib.sha256(said.encode()).hexdigest()[:12]
    if folder and (path := folder / f"{name}-{key}.npy").exists():
        return np.load(path)
    found = np.array([rows_of(name, rows, seed, samples=MANY)[0] for seed in (1, 2)], np.float32)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        np.save(path, found)
    return found


def difference(one: Any, other: Any) -> float:
    """Return the mean difference of pixels of 16 bits, in steps of 8 bits."""
    return float(np.abs(one.astype(np.int64) - other).mean()) / 257


def error(_runs: int, folder: Path | None, only: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Compare pictures of solids of the gallery with many samples of each pixel."""
    for name in only or catalog.names("gallery"):
        scene = fractals.load_scene(f"gallery:{name}")
        if scene.family != "solid":
            continue
        rows = range(EVERY // 2, scene.image.size[1], EVERY)
        developer = traced_rows(name).developer

        def shown(light: Any, rows: range = rows, developer: Any = developer) -> Any:
            parts = enumerate(rows)
            return np.concatenate([developer.pixels(light[k : k + 1], row) for k, row in parts])

        first, second = references(name, rows, folder)
        mean, noise = shown((first + second) / 2), difference(shown(first), shown(second)) / 2
        light, paths = rows_of(name, rows)
        begun = process_time()
        drawn = fractals.render(scene, denoise=True, bits=16, device="cpu", threads=1)
        spent = process_time() - begun
        pixels = {"denoised": drawn.pixels[rows.start :: EVERY], "as traced": shown(light)}
        errors = {way: difference(own, mean) for way, own in pixels.items()}
        errors |= {
            f"{way}, beside none": math.sqrt(max(0.0, value**2 - noise**2))
            for way, value in errors.items()
        }
        yield {
            "what": name,
            "size": list(scene.image.size),
            "mean_error": errors | {"noise of the samples beside": noise},
            "samples_a_pixel": {"denoised": drawn.summary.mean, "as traced": paths},
            "seconds_to_denoised": spent,  # of the CPU, without the start of the program
        }


def tables(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield bench_report.hardware_line(dict(made))
    for part in (*PARTS, *NAMED):
        rows = []
        for row in made["results"]:
            if row["part"] == part:
                (figures,) = (row[name] for name in FIGURES if name in row)
                cells = [f"{name}: {value:.3g}" for name, value in figures.items()]
                if part not in NAMED:
                    ratio = max(figures.values()) / min(figures.values())
                    cells.append(f"{ratio:.1f} times")
                rows.append([row["what"], row.get("precision", ""), *cells])
        if rows:
            unit = {"paths": "million paths a second", "steps": "million steps a second"}
            unit["error"] = "steps of 8 bits"
            yield f"\n{part}, {unit.get(part, 'CPU-s')}"
            yield from bench_report.align(iter(rows))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS, *NAMED], help="parts to measure")
    parser.add_argument("--runs", type=int, default=3, help="runs of each way")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--keep", metavar="FOLDER", help="of the many samples that error takes")
    parser.add_argument("--only", metavar="NAME", nargs="+", help="solids whose error is measured")
    parser.add_argument("--read", metavar="FILE", help="print the tables of a file")
    given = parser.parse_args()
    if given.read:
        made = json.loads(Path(given.read).read_text("utf-8"))
    else:
        made = bench_report.make_report([])
        made["load"] = os.getloadavg()
        ways = {"hits": hits, "paths": paths, "steps": steps, "peer": peer, "first": first}
        ways |= {"moves": moves, "denoised": denoised}
        folder = Path(given.keep) if given.keep else None
        ways["error"] = partial(error, folder=folder, only=given.only or ())
        made["results"] = [
            {"part": part, **row} for part in given.parts or PARTS for row in ways[part](given.runs)
        ]
    if given.json:
        print(json.dumps(made, indent=1))
    else:
        print("\n".join(tables(made)))


if __name__ == "__main__":
    main()
