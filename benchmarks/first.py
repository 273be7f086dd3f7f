#!/usr/bin/env python3
"""Time the first picture of each kind, and the same again: whole processes.

    python benchmarks/first.py                         # this checkout: some minutes
    python benchmarks/first.py --against OTHER         # another checkout too, in turns
    python benchmarks/first.py --runs 5 --json > benchmarks/first-<processor>.json
    python benchmarks/first.py --warm --runs 11        # starts whose programs are compiled
    python benchmarks/first.py --defaults --against OTHER  # pictures as they are by default
    python benchmarks/first.py --shipped --runs 5      # with what scripts/prebuilt.py wrote
    python benchmarks/first.py --solids --runs 1       # the gallery's solids: half an hour
    python benchmarks/first.py --read FILE.json        # its table

The first kind starts from empty caches. Each other kind starts from a copy of the caches that the
first one leaves, as for a user who drew the default picture. Then the same picture is drawn twice
again, and the last one is timed: it loads its programs. Medians of the CPU time of a process and
its children, and of the time that passed. Modules are compiled to bytecode before.

With --warm all programs are compiled before: least and median of the CPU time of whole processes,
in turns with a process that imports NumPy alone.

With --defaults, the same of pictures that take long, a quarter as wide and high as by default: the
whole ones take about 16 times as long. Both checkouts draw the scenes of this one's gallery. Drafts
and denoised pictures are of this checkout alone.

With --solids, the same of all solids of the gallery as large as they are, with the denoiser and
without; KIND names some of these pictures.

With --shipped each kind starts from empty caches, in turns with machine code of the package and
without: medians of the CPU time of a first picture, and of the same again.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))  # this checkout, installed or not

from fractals.tools import bench_report

FIGURES = "cpu_seconds", "seconds", "cpu_seconds_again", "seconds_again"
KINDS: dict[str, list[str]] = {
    "default": [],
    "slopes": ["--coloring", "slopes"],
    "stripe_average": ["--coloring", "stripe_average"],
    "julia": ["--julia=-0.8,0.156"],
    "burning_ship": ["--formula", "burning_ship"],
    "heirloom": ["heirloom"],
    "heirloom, distance": ["heirloom", "--coloring", "distance"],
    "caravan": ["caravan"],
    "z**3 + c*sin(z)": ["--formula", "z**3 + c*sin(z)"],
}
# Warm starts: pictures of a family each, and one that is large
WARM: dict[str, list[str]] = {
    "default": ["--size", "320x200"],
    "bonfire": ["bonfire", "--size", "320x200"],
    "caldera, 64x40": ["caldera", "--size", "64x40"],
    "wheels": ["wheels", "--size", "320x200"],
    "mandelbrot, 1280x800": ["mandelbrot", "--size", "1280x800"],
}
# Pictures that take long, at a quarter of their size
SMALL, LARGE = ["--size", "320x200"], ["--size", "480x270"]
DEFAULTS: dict[str, list[str]] = {
    **{
        name: [str(HERE / "gallery" / f"{name}.toml"), *SMALL]
        for name in ("caldera", "ruin", "spire", "bonfire")
    },
    "mandelbulb": ["--formula", "mandelbulb", *LARGE],
    "buddhabrot": ["--formula", "buddhabrot", *LARGE],
}
ALONE: dict[str, list[str]] = {
    "caldera, draft": ["caldera", "--quality", "draft", *SMALL],
    "caldera, denoised": ["caldera", "--denoise", *SMALL],
    "ruin, denoised": ["ruin", "--denoise", *SMALL],
    "alembic": ["alembic", *SMALL],
    "karst": ["karst", *SMALL],
    "karst, denoised": ["karst", "--denoise", *SMALL],
    "mandelbulb, draft": ["--formula", "mandelbulb", "--quality", "draft", *LARGE],
    "buddhabrot, draft": ["--formula", "buddhabrot", "--quality", "draft", *LARGE],
    "bonfire, draft": ["bonfire", "--quality", "draft", *SMALL],
}
# Of each kind of picture one, and what its program is for
SHIPPED: dict[str, list[str]] = {
    "default": [],
    "heirloom": ["heirloom"],
    "bonfire": ["bonfire"],
    "multibrot": ["--formula", "multibrot"],
    "phoenix": ["--formula", "phoenix"],
    "spider": ["--formula", "spider"],
    "jittered": ["--antialias", "jittered"],
    "heirloom, distance": ["heirloom", "--coloring", "distance"],
    "nebula": ["nebula"],
    "buddhabrot": ["--formula", "buddhabrot"],
    "buddhabrot, draft": ["--formula", "buddhabrot", "--quality", "draft"],
    "cirque, 64x40": ["cirque", "--size", "64x40"],
    "mesa, 64x40": ["mesa", "--size", "64x40"],
}
NUMPY = "import numpy"


def solids() -> dict[str, list[str]]:
    """Return the pictures of all solids of the gallery, with the denoiser and without."""
    from fractals import catalog, load_scene

    names = [
        name for name in catalog.names("gallery") if load_scene(f"gallery:{name}").family == "solid"
    ]
    kinds: dict[str, list[str]] = {}
    for name in names:
        size = "{}x{}".format(*load_scene(f"gallery:{name}").image.size)
        kinds[f"{name}, denoised"] = [name, "--size", size, "--denoise"]
        kinds[name] = [name, "--size", size]
    return kinds


def draw(
    checkout: Path, arguments: list[str], caches: Path, shipped: bool = False
) -> tuple[float, float]:
    """Draw a picture in a new process; return the seconds of the CPU, and those that passed."""
    command = ["-m", "fractals", "render", "--size", "320x200", *arguments, "--cpu"]
    command += ["--overwrite", "-o", str(caches / "picture.png")]
    return run(checkout, command, caches, shipped)


def run(
    checkout: Path, arguments: list[str], caches: Path, shipped: bool = False
) -> tuple[float, float]:
    """Run Python with a checkout; return the seconds of the CPU, and those that passed.

    `shipped`: machine code of the package is used.
    """
    environment = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
        "PYTHONPATH": str(checkout),
        "NUMBA_CACHE_DIR": str(caches / "compiled"),
        "FRACTALS_CACHE_DIR": str(caches),
        "FRACTALS_PREBUILT": str(int(shipped)),
    }
    own = checkout / ".venv" / "bin" / "python"  # older checkouts have other dependencies
    python = str(own) if own.exists() else sys.executable
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    subprocess.run(
        [python, *arguments], env=environment, cwd=caches, check=True, capture_output=True
    )
    passed, after = perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, passed


def measure(checkouts: dict[str, Path], kinds: list[str], runs: int) -> list[dict[str, Any]]:
    """Return for each checkout and kind the medians of some runs."""
    times: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for run in range(runs):
            for kind in ["default", *(kind for kind in kinds if kind != "default")]:
                for name, checkout in checkouts.items():
                    first = Path(folder, f"{name}-{run}")
                    caches = first if kind == "default" else Path(folder, "caches")
                    if kind == "default":
                        first.mkdir()
                    else:
                        shutil.copytree(first, caches)
                    first_and_again = [draw(checkout, KINDS[kind], caches) for _ in range(3)][::2]
                    times.setdefault((name, kind), []).append(sum(first_and_again, ()))
                    if kind != "default":
                        shutil.rmtree(caches)
    return [row(name, kind, found) for (name, kind), found in times.items()]


def measure_warm(
    checkouts: dict[str, Path], runs: int, kinds: dict[str, list[str]], small: bool = False
) -> list[dict[str, Any]]:
    """Return for each checkout and picture what starts take whose programs are compiled.

    `small`: a small picture compiles them.
    """
    results = []
    with tempfile.TemporaryDirectory() as folder:
        caches = {name: Path(folder, name) for name in checkouts}
        for path in caches.values():
            path.mkdir(exist_ok=True)
        for kind, arguments in {NUMPY: ["-c", NUMPY], **kinds}.items():
            by = run if kind == NUMPY else draw
            drawn = ["this"] if kind in ALONE else [*checkouts]
            found: dict[str, list[float]] = {name: [] for name in drawn}
            for k in range(-3 if kinds is WARM else -1, runs):  # the first ones compile
                for name in drawn[:: 1 if k % 2 else -1]:
                    own = ["--size", "64x40"] if small and k < 0 and kind != NUMPY else []
                    seconds, _ = by(checkouts[name], [*arguments, *own], caches[name])
                    found[name] += [seconds] if k >= 0 else []
            results += [
                {
                    "checkout": name,
                    "picture": kind,
                    "runs": runs,
                    "least_cpu_seconds": min(seconds),
                    "median_cpu_seconds": statistics.median(seconds),
                }
                for name, seconds in found.items()
            ]
    return results


def measure_shipped(runs: int) -> list[dict[str, Any]]:
    """Return the medians of first pictures, with machine code of the package and without."""
    times: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for _ in range(runs):
        for kind, arguments in SHIPPED.items():
            for name in ("shipped", "compiled"):
                with tempfile.TemporaryDirectory() as folder:
                    first, again = (
                        draw(HERE, arguments, Path(folder), name == "shipped") for _ in range(2)
                    )
                    times.setdefault((name, kind), []).append(first + again)
    return [row(name, kind, found) for (name, kind), found in times.items()]


def row(name: str, kind: str, found: list[tuple[float, ...]]) -> dict[str, Any]:
    """Return the medians of a kind of picture."""
    medians = map(statistics.median, zip(*found, strict=True))
    figures = dict(zip(FIGURES, medians, strict=True))
    return {"checkout": name, "picture": kind, "runs": len(found), **figures}


def print_table(table: dict[str, Any]) -> None:
    """Print the seconds of each kind."""
    print(bench_report.hardware_line(table))
    for row in table["results"]:
        if "least_cpu_seconds" in row:
            least, median = row["least_cpu_seconds"], row["median_cpu_seconds"]
            print(
                f"{row['checkout']:8} {row['picture']:20} "
                f"least {least:.3f}, median {median:.3f} s of CPU time"
            )
            continue
        line = f"{row['checkout']:8} {row['picture']:20} "
        line += f"{row['cpu_seconds']:6.2f} s of CPU time, {row['seconds']:6.2f} s passed"
        if "seconds_again" in row:
            line += f"; again {row['cpu_seconds_again']:.2f} and {row['seconds_again']:.2f} s"
        print(line)


def main() -> None:
    """Measure, or read figures, and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--against", type=Path, help="another checkout, timed in turns")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--warm", action="store_true", help="time starts of compiled programs")
    parser.add_argument("--defaults", action="store_true", help="time pictures that take long")
    parser.add_argument("--solids", action="store_true", help="time all solids of the gallery")
    parser.add_argument("--shipped", action="store_true", help="time machine code of the package")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--read", type=Path, help="print the table of a file")
    options = parser.parse_args()
    if options.read:
        print_table(json.loads(options.read.read_text()))
        return
    known = solids() if options.solids else KINDS
    if unknown := set(options.kinds) - set(known):
        parser.error(f"unknown kinds: {', '.join(sorted(unknown))}")
    checkouts = {"this": HERE}
    if options.against:
        checkouts["other"] = options.against.resolve()
    table = bench_report.make_report([])
    if options.shipped:
        table["results"] = measure_shipped(options.runs)
    elif options.solids:
        wanted = {kind: known[kind] for kind in options.kinds or known}
        table["results"] = measure_warm({"this": HERE}, options.runs, wanted, small=True)
    elif options.warm or options.defaults:
        kinds = {**DEFAULTS, **ALONE} if options.defaults else WARM
        table["results"] = measure_warm(checkouts, options.runs, kinds)
    else:
        table["results"] = measure(checkouts, options.kinds or list(KINDS), options.runs)
    print(json.dumps(table, indent=1)) if options.json else print_table(table)


if __name__ == "__main__":
    main()
