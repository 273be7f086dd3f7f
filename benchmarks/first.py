#!/usr/bin/env python3
"""Time the first picture of each kind, and the same again: whole processes.

    python benchmarks/first.py                         # this checkout: some minutes
    python benchmarks/first.py --against OTHER         # another checkout too, in turns
    python benchmarks/first.py --runs 5 --json > benchmarks/first-<processor>.json
    python benchmarks/first.py --read FILE.json        # its table

The first kind starts from empty caches. Each other kind starts from a copy of the caches that the
first one leaves, as for a user who drew the default picture. Then the same picture is drawn twice
again, and the last one is timed: it loads its programs. Medians of the CPU time of a process and
its children, and of the time that passed. Modules are compiled to bytecode before.
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


def draw(checkout: Path, arguments: list[str], caches: Path) -> tuple[float, float]:
    """Draw a picture in a new process; return the seconds of the CPU, and those that passed."""
    environment = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
        "PYTHONPATH": str(checkout),
        "NUMBA_CACHE_DIR": str(caches / "compiled"),
        "FRACTALS_CACHE_DIR": str(caches),
    }
    command = [sys.executable, "-m", "fractals", "render", *arguments, "--cpu"]
    command += ["--size", "320x200", "--overwrite", "-o", str(caches / "picture.png")]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    subprocess.run(command, env=environment, cwd=caches, check=True, capture_output=True)
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
    return [
        {
            "checkout": name,
            "picture": kind,
            "runs": len(found),
            **dict(zip(FIGURES, map(statistics.median, zip(*found, strict=True)), strict=True)),
        }
        for (name, kind), found in times.items()
    ]


def print_table(table: dict[str, Any]) -> None:
    """Print the seconds of each kind."""
    print(bench_report.hardware_line(table))
    for row in table["results"]:
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
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--read", type=Path, help="print the table of a file")
    options = parser.parse_args()
    if options.read:
        print_table(json.loads(options.read.read_text()))
        return
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"unknown kinds: {', '.join(sorted(unknown))}")
    checkouts = {"this": HERE}
    if options.against:
        checkouts["other"] = options.against.resolve()
    table = bench_report.make_report([])
    table["results"] = measure(checkouts, options.kinds or list(KINDS), options.runs)
    print(json.dumps(table, indent=1)) if options.json else print_table(table)


if __name__ == "__main__":
    main()
