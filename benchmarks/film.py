#!/usr/bin/env python3
"""Time the frames of films from strips, without encoding.

    python benchmarks/film.py                          # some ten minutes
    python benchmarks/film.py --json > benchmarks/film-<processor>.json
    python benchmarks/film.py --read FILE.json         # its tables

gather: frames of 1920x1080 from a strip that is held, by threads; median of the frames.
example: a film of 320x180 and 180 frames to a width of 7.6e-20 with one texel a pixel, as one that
Fractalshades documents; CPU time of everything after the programs are compiled.
dive: a film of 1920x1080 at 60 frames a second and one octave a second to a width of 1e-50, with
1.5 texels a pixel. Only every 16th band and some frames are made; the times of the whole film are
forecast from them, and marked so.
memory: the most memory of a process that makes one segment of that film, above that of a process
that only compiles the programs.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, installed or not

import fractals
from fractals.films.facts import Facts, find_facts
from fractals.films.motion import make_motion
from fractals.films.strip import Strip
from fractals.films.strip_plan import Look
from fractals.films.tracks import Tracks
from fractals.rendering.options import RenderOptions
from fractals.tools.bench import report

EXAMPLE = ("-1.768667862837488812627419470", "0.001645580546820209430325900")
DIVE = "wheels"  # of the gallery
EVERY = 16  # bands of the dive, of which one is made
SEGMENT = 60  # frames
FRAMES = 5  # that are timed, of a strip that is held


def strip_of(
    scene: fractals.Scene, density: float, threads: int, facts: Facts | None = None
) -> Strip:
    """Return the strip of a film of one part."""
    options = RenderOptions(device="cpu", threads=threads, force=True)
    motion = make_motion(scene, 0)
    (part,) = motion.parts
    facts = facts or find_facts(motion, Tracks(scene), options)
    look = Look(density=density, shutter=0.5)
    return Strip(scene, part, scene.image.size, look, facts, options, SEGMENT)


def film_of(base: Any, size: tuple[int, int], seconds: float, width: str, **keys: Any) -> Any:
    """Return the scene of a dive at constant speed, from a width of 4."""
    dive = [{"at": 0, "width": "4"}, {"at": seconds, "width": width, "ease": "constant"}]
    return fractals.load_scene(base, {"film": {"fps": 60, "keys": dive}}, size=size, **keys)


def example(threads: int) -> dict[str, Any]:
    """Make the example's frames, from the deepest to the widest."""
    film = film_of("mandelbrot", (320, 180), 3, "7.6e-20", center=EXAMPLE)
    for _ in range(2):  # once to compile
        cpu, passed = process_time(), perf_counter()
        strip = strip_of(film, 1.0, threads)
        numbers = strip.part.frames
        for begin in reversed(range(0, len(numbers), SEGMENT)):
            for _frame in strip.frames(numbers[begin : begin + SEGMENT]):
                pass
        cpu, passed = process_time() - cpu, perf_counter() - passed
    return {
        "frames": len(numbers),
        "samples": strip.samples,
        "seconds": passed,
        "cpu_seconds": cpu,
        "goal_cpu_seconds": 10,
    }


def gather(strip: Strip) -> dict[str, Any]:
    """Time single frames of a strip that is held."""
    number = strip.part.frames[-1]
    next(strip.frames([number]))
    times = []
    for _ in range(FRAMES):
        cpu, passed = process_time(), perf_counter()
        next(strip.frames([number]))
        times.append((process_time() - cpu, perf_counter() - passed))
    cpu, passed = (statistics.median(column) for column in zip(*times, strict=True))
    return {
        "size": strip.size,
        "cpu_seconds": cpu,
        "seconds": passed,
        "megapixels_a_cpu_second": strip.size[0] * strip.size[1] / cpu / 1e6,
        "frames_a_second": 1 / passed,
        "goal_frames_a_second": 20,
    }


def dive(threads: int) -> dict[str, Any]:
    """Make some bands of the dive, and forecast the whole."""
    film = film_of(DIVE, (1920, 1080), 168, "1e-50")
    strip = strip_of(film, 1.5, threads)
    layout = strip.layout
    strip.prepare()
    bands = []
    for band in reversed(range(0, layout.bands, EVERY)):
        cpu, passed = process_time(), perf_counter()
        strip.make(band)
        bands.append((process_time() - cpu, perf_counter() - passed))
    cpu, passed = (sum(column) * layout.bands / len(bands) for column in zip(*bands, strict=True))
    return {
        "center": DIVE,
        "width": "1e-50",
        "frames": len(strip.part.frames),
        "samples": strip.samples,
        "bands": layout.bands,
        "bands_made": len(bands),
        "max_iterations": strip.facts.max_iterations,
        "forecast_of_the_strip": {"cpu_seconds": cpu, "seconds": passed, "goal_seconds": 600},
    }


def memory() -> dict[str, Any]:
    """Return the memory of two processes: with frames of 16x16, and with a segment of the dive."""
    found = []
    for size in ("16x16", "1920x1080"):
        command = [sys.executable, __file__, "--segment", size]
        for _ in range(2):  # once to compile, which takes memory
            made = subprocess.run(command, capture_output=True, check=True, text=True)
        found.append(json.loads(made.stdout))
    small, large = found
    return {
        "density": 1.5,
        "frames": SEGMENT,
        "compiled_bytes": small["peak"],
        "peak_bytes": large["peak"],
        "forecast_bytes": large["forecast"],
        "goal_bytes": 300e6,
    }


def segment(size: tuple[int, int]) -> dict[str, Any]:
    """Make a segment in the middle of the dive, and return the most memory of this process."""
    film = film_of(DIVE, size, 168, "1e-50", max_iterations=2000)
    strip = strip_of(film, 1.5, len(os.sched_getaffinity(0)), Facts(2000, 0.0))
    for _frame in strip.frames(strip.part.frames[600 : 600 + SEGMENT]):
        pass
    return {"peak": peak(), "forecast": strip.memory}


def peak() -> int:
    """Return the most bytes that this process has had in memory, since its program was loaded."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def measure(threads: int) -> dict[str, Any]:
    """Return all figures."""
    made = report.make_report([])
    held = film_of("seahorse", (1920, 1080), 1, "2")
    frames = gather(strip_of(held, 1.5, threads, Facts(500, 0.0)))
    made["results"] = [
        {"threads": threads, "example": example(threads), "gather": frames, "dive": dive(threads)}
    ]
    whole = made["results"][0]["dive"]
    for clock in ("cpu_seconds", "seconds"):
        whole[f"forecast_of_frames_{clock}"] = frames[clock] * whole["frames"]
    made["results"][0]["memory"] = memory()
    return made


def lines(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures as text."""
    yield report.hardware_line(dict(made))
    for result in made["results"]:
        yield f"{result['threads']} threads"
        for name, figures in result.items():
            if isinstance(figures, dict):
                yield f"{name}:"
                yield from _indented(figures)


def _indented(figures: Mapping[str, Any]) -> Iterator[str]:
    for key, value in figures.items():
        shown = f"{value:,.3f}" if isinstance(value, float) else value
        yield f"  {key.replace('_', ' ')}: {shown}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or read figures, and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", metavar="FILE.json")
    parser.add_argument("--segment", metavar="SIZE", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.segment:
        width, height = map(int, given.segment.split("x"))
        print(json.dumps(segment((width, height))))
        return
    made = report.read_report(given.read) if given.read else measure(given.threads)
    print(json.dumps(made, indent=1) if given.json else "\n".join(lines(made)))


if __name__ == "__main__":
    main()
