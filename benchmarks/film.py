#!/usr/bin/env python3
"""Time the frames of films from strips, without encoding; and a whole film, with it.

    python benchmarks/film.py                          # some ten minutes
    python benchmarks/film.py --json > benchmarks/film-<processor>.json
    python benchmarks/film.py --whole dive.mp4 --json > benchmarks/film-whole-<processor>.json
    python benchmarks/film.py --read FILE.json         # its tables

gather: frames of 1920x1080 from a strip that is held, by threads; median of the frames.
example: a film of 320x180 and 180 frames to a width of 7.6e-20 with one texel a pixel, as one that
Fractalshades documents; CPU time of everything after the programs are compiled.
dive: a film of 1920x1080 at 60 frames a second and one octave a second to a width of 1e-50, with
1.5 texels a pixel. Only every 16th band and some frames are made; the times of the whole film are
forecast from them, and marked so.
values: frames of 1920x1080 of a zoom in which the palette moves: samples in sight are colored for
each frame. Beside them, the seconds of a frame of 2x2 samples that is iterated.
whole: the film of "dive", with ffmpeg, to the end: half an hour or more on two cores, which should
have nothing else to do. A film that was interrupted is resumed, and its figures say so.
memory: the most memory of processes that make one segment of that film, above that of processes
that only compile the programs; of the same film colored by distances, which are those of each
frame, and with a relief in a view that turns.
"""

import argparse
import itertools
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
from fractals.films.frames import FilmConstants, SingleFrames, find_facts
from fractals.films.gather import FrameMaker
from fractals.films.motion import make_motion
from fractals.films.plan import Timeline, make_frames
from fractals.films.strip import Strip
from fractals.films.tracks import Tracks
from fractals.films.writing import video_of
from fractals.rendering.options import RenderOptions
from fractals.tools import bench_report

EXAMPLE = ("-1.768667862837488812627419470", "0.001645580546820209430325900")
DIVE = "wheels"  # of the gallery
TRACKS = {"offset": [[0, 0], [1, 1]]}
EVERY = 16  # bands of the dive, of which one is made
SEGMENT = 60  # frames
TURNED = [
    {"at": 0, "width": "4"},
    {"at": 168, "width": "1e-50", "ease": "constant", "rotation": 90},
]
KINDS: dict[str, dict[str, Any]] = {  # films whose memory is measured: changes of the dive
    "colors": {},
    "values": {"coloring": "distance"},
    "values_and_directions": {
        "layers": [{"coloring": "slopes"}],
        "film": {"fps": 60, "keys": TURNED},
    },
}
FRAMES = 5  # that are timed, of a strip that is held


def maker_of(
    scene: fractals.Scene, density: float, threads: int, facts: FilmConstants | None = None
) -> FrameMaker:
    """Return what makes the frames of a film of one part."""
    options = RenderOptions(device="cpu", threads=threads, force=True)
    motion = make_motion(scene, 0)
    (part,) = motion.parts
    facts = facts or find_facts(motion, Tracks(scene), options)
    return make_frames(Strip(scene, part, density, 0.5, SEGMENT), facts, options)


def film_of(base: Any, size: tuple[int, int], seconds: float, width: str, **keys: Any) -> Any:
    """Return the scene of a dive at constant speed, from a width of 4."""
    dive = [{"at": 0, "width": "4"}, {"at": seconds, "width": width, "ease": "constant"}]
    return fractals.load_scene(base, {"film": {"fps": 60, "keys": dive}}, size=size, **keys)


def dive_of() -> fractals.Scene:
    """Return the scene of the film "dive"."""
    return film_of(DIVE, (1920, 1080), 168, "1e-50")


def whole(path: str, threads: int) -> dict[str, Any]:
    """Make the film "dive", and return what it took."""
    spent = {"hold": [0.0, 0.0], "gathered": [0.0, 0.0]}

    def timed(name: str) -> None:
        function = getattr(FrameMaker, name)

        def run(*arguments: Any) -> Any:
            cpu, passed = process_time(), perf_counter()
            try:
                return function(*arguments)
            finally:
                spent[name][0] += process_time() - cpu
                spent[name][1] += perf_counter() - passed

        setattr(FrameMaker, name, run)

    def show(done: int, total: int) -> None:
        if done % 300 == 0:
            print(f"{done} of {total} frames", file=sys.stderr, flush=True)

    for name in spent:
        timed(name)
    options = RenderOptions(device="cpu", threads=threads, force=True, progress=show)
    film = fractals.Film(dive_of(), options)
    forecast = film.plan(video_of(path), measured=True).to_table()
    before, passed = os.times(), perf_counter()
    saved = film.save(path)
    passed, after = perf_counter() - passed, os.times()
    own, encoders = (
        sum(getattr(after, key + "user") + getattr(after, key + "system") for key in keys)
        - sum(getattr(before, key + "user") + getattr(before, key + "system") for key in keys)
        for keys in (("",), ("children_",))
    )
    stages = {
        name: dict(zip(("cpu_seconds", "seconds"), spent[key], strict=True))
        for name, key in (("strip", "hold"), ("gather", "gathered"))
    }
    return {
        "frames": saved.frames,
        "resumed": saved.resumed,
        "bytes": saved.bytes,
        "seconds": passed,
        "goal_seconds": 2100,
        "cpu_seconds": own,
        "ffmpeg_cpu_seconds": encoders,
        **stages,
        "goal_strip_seconds": 600,
        "forecast_seconds": forecast["seconds"],
        "forecast_bytes": forecast["bytes"],
        "peak_bytes": peak(),
    }


def example(threads: int) -> dict[str, Any]:
    """Make the example's frames, from the deepest to the widest."""
    film = film_of("mandelbrot", (320, 180), 3, "7.6e-20", center=EXAMPLE)
    for _ in range(2):  # once to compile
        cpu, passed = process_time(), perf_counter()
        maker = maker_of(film, 1.0, threads)
        strip = maker.strip
        numbers = strip.part.frames
        for begin in reversed(range(0, len(numbers), SEGMENT)):
            for _frame in maker.frames(numbers[begin : begin + SEGMENT]):
                pass
        cpu, passed = process_time() - cpu, perf_counter() - passed
    return {
        "frames": len(numbers),
        "samples": strip.samples,
        "seconds": passed,
        "cpu_seconds": cpu,
        "goal_cpu_seconds": 10,
    }


def gather(maker: FrameMaker) -> dict[str, Any]:
    """Time single frames of a strip that is held."""
    strip = maker.strip
    number = strip.part.frames[-1]
    next(maker.frames([number]))
    times = []
    for _ in range(FRAMES):
        cpu, passed = process_time(), perf_counter()
        next(maker.frames([number]))
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


def values(threads: int) -> dict[str, Any]:
    """Time single frames of a strip that keeps values."""
    film = film_of("seahorse", (1920, 1080), 1, "2", supersampling=2)
    film = film.replace(film={**film.film.model_dump(exclude_none=True), "tracks": TRACKS})
    options = RenderOptions(device="cpu", threads=threads, force=True)
    made = Timeline(film, options, FilmConstants(500, 0.0))
    (chosen,) = made.parts
    assert chosen.strip
    figures = gather(make_frames(chosen.strip, made.facts, options))
    cpu, passed = process_time(), perf_counter()
    SingleFrames(made.motion, made.tracks, chosen.part, made.facts, options).frame(0.9)
    colored = chosen.strip.colorings
    iterated = {"cpu_seconds": process_time() - cpu, "seconds": perf_counter() - passed}
    del figures["goal_frames_a_second"]
    return {
        **figures,
        "samples_colored": colored,
        "frame_that_is_iterated": iterated,
    }


def dive(threads: int) -> dict[str, Any]:
    """Make some bands of the dive, and forecast the whole."""
    film = dive_of()
    maker = maker_of(film, 1.5, threads)
    strip, layout = maker.strip, maker.strip.layout
    bands = []
    for band in reversed(range(0, layout.bands, EVERY)):
        cpu, passed = process_time(), perf_counter()
        maker.make(band)
        bands.append((process_time() - cpu, perf_counter() - passed))
    cpu, passed = (sum(column) * layout.bands / len(bands) for column in zip(*bands, strict=True))
    return {
        "center": DIVE,
        "width": "1e-50",
        "frames": len(strip.part.frames),
        "samples": strip.samples,
        "bands": layout.bands,
        "bands_made": len(bands),
        "max_iterations": maker.facts.max_iterations,
        "forecast_of_the_strip": {"cpu_seconds": cpu, "seconds": passed, "goal_seconds": 600},
    }


def memory() -> dict[str, Any]:
    """Return the memory of segments of the dive beyond that of frames of 16x16: a process each."""
    found: dict[str, Any] = {"density": 1.5, "goal_bytes": 300e6}
    for kind in KINDS:
        made = []
        for size in ("16x16", "1920x1080"):
            command = [sys.executable, __file__, "--segment", size, "--kind", kind]
            for _ in range(2):  # once to compile, which takes memory
                done = subprocess.run(command, capture_output=True, check=True, text=True)
            made.append(json.loads(done.stdout))
        small, large = made
        found[kind] = {
            "frames": large["frames"],
            "compiled_bytes": small["peak"],
            "peak_bytes": large["peak"],
            "more_bytes": large["peak"] - small["peak"],
            "forecast_bytes": large["forecast"],
        }
    return found


def segment(size: tuple[int, int], kind: str) -> dict[str, Any]:
    """Make a segment in the middle of the dive, and return the most memory of this process."""
    film = dive_of().replace(size=size, max_iterations=2000, **KINDS[kind])
    options = RenderOptions(device="cpu", threads=len(os.sched_getaffinity(0)), force=True)
    made = Timeline(film, options, FilmConstants(2000, 0.0))
    strip = made.parts[0].strip
    assert strip
    frames = made.open(made.parts[0]).frames(strip.part.frames[600 : 600 + strip.segment])
    for _frame in itertools.islice(frames, FRAMES):  # others take no more
        pass
    return {"peak": peak(), "forecast": strip.memory, "frames": strip.segment}


def peak() -> int:
    """Return the most bytes that this process has had in memory, since its program was loaded."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def measure(threads: int) -> dict[str, Any]:
    """Return all figures."""
    made = bench_report.make_report([])
    held = film_of("seahorse", (1920, 1080), 1, "2")
    frames = gather(maker_of(held, 1.5, threads, FilmConstants(500, 0.0)))
    made["results"] = [
        {
            "threads": threads,
            "example": example(threads),
            "gather": frames,
            "values": values(threads),
            "dive": dive(threads),
        }
    ]
    found = made["results"][0]["dive"]
    for clock in ("cpu_seconds", "seconds"):
        found[f"forecast_of_frames_{clock}"] = frames[clock] * found["frames"]
    made["results"][0]["memory"] = memory()
    return made


def lines(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures as text."""
    yield bench_report.hardware_line(dict(made))
    for result in made["results"]:
        yield f"{result['threads']} threads"
        for name, figures in result.items():
            if isinstance(figures, dict):
                yield f"{name}:"
                yield from _indented(figures)


def _indented(figures: Mapping[str, Any]) -> Iterator[str]:
    for key, value in figures.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {number:,.3f}" for name, number in value.items())
        shown = f"{value:,.3f}" if isinstance(value, float) else value
        yield f"  {key.replace('_', ' ')}: {shown}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or read figures, and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", metavar="FILE.json")
    parser.add_argument("--whole", metavar="FILE.mp4", help="make the whole film of the dive")
    parser.add_argument("--segment", metavar="SIZE", help=argparse.SUPPRESS)
    parser.add_argument("--kind", choices=KINDS, default="colors", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.segment:
        width, height = map(int, given.segment.split("x"))
        print(json.dumps(segment((width, height), given.kind)))
        return
    if given.whole:
        made = bench_report.make_report([])
        made["results"] = [{"threads": given.threads, "whole": whole(given.whole, given.threads)}]
    else:
        made = bench_report.read_report(given.read) if given.read else measure(given.threads)
    print(json.dumps(made, indent=1) if given.json else "\n".join(lines(made)))


if __name__ == "__main__":
    main()
