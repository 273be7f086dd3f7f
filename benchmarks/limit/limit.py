#!/usr/bin/env python3
"""Compare fractals with hand-written AVX-512 and AVX2 C, and print the ratios.

    python benchmarks/limit/limit.py                         # all, some minutes
    python benchmarks/limit/limit.py --only b,e --precision float64
    python benchmarks/limit/limit.py --quick                 # smaller pictures, fewer runs
    python benchmarks/limit/limit.py --json > benchmarks/limit/<processor>.json
    python benchmarks/limit/limit.py --read FILE.json        # its tables
    python benchmarks/limit/limit.py --ladder FILE.json      # the C as a rung of bench classic's

Exits 5 where a count differs, and 4 where the processor lacks AVX2. benchmarks/README.md says what
is compared, and how.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest import mock

import numpy as np
from numba.core import config
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # this checkout, installed or not

from yardstick import BITS, FLAGS, WIDTHS, Library, build, find_compiler

from fractals import Scene
from fractals.backends.cpu import naive
from fractals.backends.cpu.simd.pack import REGISTER
from fractals.cli.values import parse_size
from fractals.errors import DifferenceError, FractalsError, OptionError, SceneError
from fractals.io.files import written
from fractals.rendering import plan
from fractals.rendering.drawing import (
    Drawing,
    Loop,
    open_drawing,
    open_plan,
    plane_sink,
    run,
)
from fractals.rendering.options import RenderOptions
from fractals.rendering.sampling import coordinates
from fractals.threads import Queue, run_loops
from fractals.tools import bench, bench_report

ALGORITHMS = ("wave", "stream")
VIEWS: dict[str, tuple[str, tuple[str, str], str]] = {
    "burning_ship": ("burning_ship", ("-0.5", "-0.5"), "2"),
    "tricorn": ("tricorn", ("-0.25", "0"), "3"),
    "multibrot_3": ("multibrot", ("0", "0"), "2.6"),
}
TABLED = ("a", "b", "c", "d", "e")
NAIVE_RUNS = 3  # at most: it is slow
SHORT = 0.02  # seconds: how threads fare in so short a time depends on what the system does
SHORT_RUNS = 5  # times as many then
TRIAL = 1_000_000  # steps of arithmetic
UNLIMITED = 10_000  # bits of a number type: more than any view needs


def load_scene(name: str) -> Scene:
    """Return the scene of a workload: those of `fractals bench`, and one a further formula."""
    if name in TABLED:
        return bench.load_workload(name).scene
    if name not in VIEWS:
        raise OptionError(f"unknown workload '{name}': choose of {', '.join([*TABLED, *VIEWS])}")
    formula, center, width = VIEWS[name]
    like = bench.load_workload("d").scene
    return like.replace(formula=formula, center=center, width=width, title=name)


def ours(
    scene: Scene,
    precision: str,
    interior_shortcuts: bool = False,
    threads: int = 1,
    device: str = "cpu",
) -> Drawing:
    """Return a drawing of raw numbers, iterated directly.

    For workload c the plan would choose perturbation in float64 and raise an error in float32. The
    precision checks are disabled, because direct iteration is what is compared.
    """
    with mock.patch.dict(plan.BITS, dict.fromkeys(plan.BITS, UNLIMITED)):
        if scene.iteration.number_type != precision:
            scene = scene.replace(precision=precision)
        options = RenderOptions(
            device=device, threads=threads, interior_shortcuts=interior_shortcuts
        )
        opened, backend = open_plan(scene, options)
    return open_drawing(replace(opened, keeps="raw"), backend, options)


def loops_over_tiles(drawing: Drawing, planes: Mapping[str, NDArray[Any]]) -> Sequence[Loop]:
    """Return the compiled loop for each thread.

    A new installation compiles it with the second picture of a process, so it is asked for twice.
    """
    ask = partial(plane_sink(drawing, planes).loops, drawing.plan.tiles)
    return ask() or ask()


def prepare(drawing: Drawing) -> Callable[[], Any]:
    """Return what fills an array with all counts, in the calling thread: what is timed of ours."""
    (keep,) = loops_over_tiles(drawing, room(drawing))
    return lambda: keep(Queue(len(drawing.plan.tiles)))


def prepare_threaded(drawing: Drawing) -> Callable[[], None]:
    """Return what fills an array with all counts, in the drawing's threads."""
    planes = room(drawing)
    keeps = loops_over_tiles(drawing, planes)
    sink = replace(plane_sink(drawing, planes), loops=lambda tiles: keeps)
    return partial(run, drawing, drawing.plan.tiles, sink)


def room(drawing: Drawing) -> dict[str, NDArray[np.int32]]:
    """Return an array for a drawing's counts."""
    n, (width, height) = drawing.plan.supersampling, drawing.plan.size
    return {"count": np.zeros((height * n, width * n), np.int32)}


def prepare_naive(drawing: Drawing) -> Callable[[], None]:
    """Return the naive ``@jit`` loop over a drawing's samples."""
    fill, _ = naive.compiled(np.int32)
    columns, rows = coordinates(drawing.plan)
    scene, counts = drawing.plan.scene, np.zeros((rows.shape[1], columns.shape[1]), np.int32)
    point = complex(*(float(text) for text in scene.julia or ("0", "0")))
    radius2 = scene.iteration.escape_radius**2
    julia, limit = scene.julia is not None, drawing.source.max_iterations
    return lambda: fill(counts, columns[0], rows[1], julia, point, limit, radius2)


def take_turns(
    works: Mapping[str, Callable[[], Any]],
    runs: int,
    clock: Callable[[], float] = process_time,
) -> dict[str, bench.Spread]:
    """Return what each took, after a run that warms it up, in seconds of a clock."""
    for work in works.values():
        work()
    laps: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            begun = clock()
            work()
            laps[name].append(clock() - begun)
    return {name: bench.spread(seconds) for name, seconds in laps.items()}


def compare(
    name: str, scene: Scene, precision: str, libraries: Sequence[Library], runs: int
) -> dict[str, Any]:
    """Time the C, ours, ours with interior shortcuts and the naive loop on a workload.

    Returns plain values: seconds of each; `c`, the fastest of the C; `ratios`, its time over ours;
    `differing`, the samples in which a count of the C is not ours.
    """
    plain = ours(scene, precision)
    _, expected = bench.count(plain)
    works: dict[str, Callable[[], Any]] = {}
    differing = 0
    for library in libraries:
        for algorithm in ALGORITHMS:
            work = library.prepare(plain, algorithm)
            work.run()
            differing = max(differing, int(np.count_nonzero(work.count != expected)))
            works[f"C {library.width} {algorithm}"] = work.run
    c = list(works)
    works["ours"] = prepare(plain)
    if name in TABLED and name != "d":
        short = ours(scene, precision, interior_shortcuts=True)
        differing += int(np.count_nonzero(bench.count(short)[1] != expected))
        works["shortcuts"] = prepare(short)
    seconds = take_turns(works, runs)
    if name in TABLED and precision == "float64":
        seconds |= take_turns({"naive": prepare_naive(plain)}, min(runs, NAIVE_RUNS))
    medians = {key: spread.median for key, spread in seconds.items()}
    best = min(c, key=lambda key: medians[key])
    iterations = int(expected.sum(dtype=np.int64))
    return {
        "workload": name,
        "title": scene.title,
        "size": list(plain.plan.size),
        "max_iterations": plain.source.max_iterations,
        "precision": precision,
        "runs": runs,
        "iterations": iterations,
        "seconds": {key: asdict(spread) for key, spread in seconds.items()},
        "c": best,
        "iterations_per_second": {key: iterations / median for key, median in medians.items()},
        "ratios": {
            key: medians[best] / medians[key] for key in ("ours", "shortcuts") if key in medians
        },
        "differing": differing,
    }


def compare_threads(
    scene: Scene, precision: str, library: Library, runs: int
) -> dict[str, bench.Spread]:
    """Return the seconds that passed with one thread and with two, in turns.

    "machine 1" and "machine 2" are the same of arithmetic alone that takes about as long: what the
    system lets two threads have that are begun for so short a time.
    """
    works = {str(n): prepare_threaded(ours(scene, precision, threads=n)) for n in (1, 2)}
    seconds = take_turns({"1": works["1"]}, 3, perf_counter)["1"].median
    trial = take_turns({"": lambda: library.spin(TRIAL)}, 3, perf_counter)[""].median
    steps = int(TRIAL * seconds / trial)
    for threads in (1, 2):
        works[f"machine {threads}"] = prepare_spinning(library, steps // threads, threads)
    return take_turns(works, runs if seconds > SHORT else SHORT_RUNS * runs, perf_counter)


def prepare_spinning(library: Library, steps: int, threads: int) -> Callable[[], None]:
    """Return what takes steps of arithmetic on each of so many threads, begun as ours are."""

    def spin() -> dict[str, float]:
        library.spin(steps)
        return {}

    return lambda: run_loops(Queue(threads), [spin] * threads)


def measure(
    names: Sequence[str],
    numbers: Sequence[str],
    runs: int,
    size: str = "100%",
    on_message: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Return all that was measured, as plain values for JSON.

    Parameters
    ----------
    size : str
        Of every picture, such as "50%" or "640x480".
    """
    scenes = {name: load_scene(name) for name in names}
    for name, scene in scenes.items():
        scenes[name] = scene.replace(size=parse_size(size, scene.image.size))
    results = []
    with tempfile.TemporaryDirectory() as folder:
        libraries = build(numbers, folder)
        for name, scene in scenes.items():
            for number in numbers:
                on_message(f"{name}, {number}")
                of_number = [library for library in libraries if library.precision == number]
                result = compare(name, scene, number, of_number, runs)
                if name in TABLED and (os.cpu_count() or 1) > 1:
                    threads = compare_threads(scene, number, of_number[0], runs)
                    result["threads"] = {key: asdict(spread) for key, spread in threads.items()}
                results.append(result)
    whole = bench_report.make_report([])
    compiler = find_compiler()
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    whole["compiled_for"] = {"cpu": config.CPU_NAME or "host", "vector_bits": 8 * REGISTER}
    whole["compiler"] = {
        "version": version.stdout.splitlines()[0],
        "flags": {str(width): [*FLAGS, *flags] for width, flags in WIDTHS.items()},
    }
    return {**whole, "results": results}


def add_rung(path: Path, runs: int) -> None:
    """Add the best C, on one thread, to the ladder of a report that fractals bench wrote.

    The seconds are those that passed, as in the rest of the ladder.
    """
    whole = bench_report.read_report(path)
    ladders = [result for result in whole["results"] if result.get("workload") == "classic"]
    if not ladders or not ladders[0].get("ladder"):
        raise SceneError(f"{path}: no ladder, as fractals bench classic --json writes it")
    found = ladders[0]
    drawing = ours(load_scene("a").replace(size=tuple(found["size"])), "float64")
    with tempfile.TemporaryDirectory() as folder:
        works = {
            f"C, {library.width} bits": library.prepare(drawing, ALGORITHMS[0])
            for library in build(["float64"], folder)
        }
        times = take_turns({name: work.run for name, work in works.items()}, runs, perf_counter)
    name = min(times, key=lambda name: times[name].median)
    differing = int(np.count_nonzero(works[name].count != bench.count(drawing)[1]))
    rung = bench.Rung(f"{name}, 1 thread", False, 0.0, times[name], differing)
    others = [rung for rung in found["ladder"] if not rung["name"].startswith("C, ")]
    found["ladder"] = [*others, asdict(rung)]
    with written(path) as file:
        file.write(json.dumps(whole, indent=2).encode() + b"\n")


def text(whole: dict[str, Any]) -> str:
    """Return the tables that a person reads; times are medians in milliseconds."""
    results, compiler = whole["results"], whole["compiler"]["version"]
    lines = [bench_report.hardware_line(whole), compiler]
    target = whole.get("compiled_for")
    if target and target["vector_bits"] != whole["hardware"]["cpu"]["vector_bits"]:
        lines.append(f"compiled for {target['cpu']}, with {target['vector_bits']}-bit vectors")
    runs = f"medians of {results[0]['runs']} runs in turns"
    lines += ["", f"one thread, no interior shortcuts on either side; CPU time, {runs}"]
    lines += bench_report.align(_plain_rows(results))
    tabled = [result for result in results if {"shortcuts", "naive"} & set(result["seconds"])]
    if tabled:
        lines += ["", "one thread, ours with the interior shortcuts, which the others lack"]
        lines += bench_report.align(_shortcut_rows(tabled))
    threaded = [result for result in results if "threads" in result]
    if threaded:
        lines += ["", "ours on two threads, counts in an array, no interior shortcuts; wall clock"]
        lines += bench_report.align(_thread_rows(threaded))
    return "\n".join(lines)


def _plain_rows(results: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    yield [
        "",
        "",
        "C AVX-512",
        "C AVX2",
        "best C is",
        "ours",
        "ours/C",
        "C G it/s",
        "ours",
        "differ",
    ]
    for result in results:
        seconds, rates = result["seconds"], result["iterations_per_second"]
        widths = [[key for key in seconds if key.startswith(f"C {width}")] for width in (512, 256)]
        yield [
            result["workload"],
            result["precision"],
            *(_ms(min((seconds[key]["median"] for key in keys), default=None)) for keys in widths),
            result["c"].removeprefix("C "),
            _ms(seconds["ours"]["median"]),
            f"{result['ratios']['ours']:.3f}",
            f"{rates[result['c']] / 1e9:.2f}",
            f"{rates['ours'] / 1e9:.2f}",
            str(result["differing"]),
        ]


def _shortcut_rows(results: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    yield ["", "", "best C", "ours", "ours/C", "naive @jit", "ours/naive"]
    for result in results:
        seconds, ratios = result["seconds"], result["ratios"]
        key = "shortcuts" if "shortcuts" in seconds else "ours"  # d is timed without
        own = seconds[key]["median"]
        naive = seconds["naive"]["median"] if "naive" in seconds else None
        yield [
            result["workload"],
            result["precision"],
            _ms(seconds[result["c"]]["median"]),
            _ms(own),
            f"{ratios[key]:.2f}",
            _ms(naive),
            f"{naive / own:.1f}" if naive else "-",
        ]


def _thread_rows(results: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    yield ["", "", "1 thread", "2 threads", "times as fast", "arithmetic alone"]
    for result in results:
        seconds = {key: spread["median"] for key, spread in result["threads"].items()}
        ratios = [seconds[f"{of}1"] / seconds[f"{of}2"] for of in ("", "machine ")]
        times = _ms(seconds["1"]), _ms(seconds["2"])
        yield [result["workload"], result["precision"], *times, *(f"{r:.2f}" for r in ratios)]


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1e3 * seconds:.2f}"


def check(whole: Mapping[str, Any]) -> None:
    """Raise a `DifferenceError` where a count of the C is not ours."""
    wrong = [
        f"{result['workload']}, {result['precision']}: {result['differing']} counts differ"
        for result in whole["results"]
        if result["differing"]
    ]
    if wrong:
        raise DifferenceError("\n".join(wrong))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join([*TABLED, *VIEWS]), help="workloads: a,b")
    parser.add_argument("--precision", choices=list(BITS), help="by default both")
    parser.add_argument("--runs", type=int, default=9, help="runs of each, in turns; 9")
    parser.add_argument("--size", help="of the pictures: 25%%, 640x480")
    parser.add_argument("--quick", action="store_true", help="3 runs, pictures of 25%%")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--read", metavar="FILE", help="show what --json wrote")
    parser.add_argument("--ladder", metavar="FILE", help="add the C to a ladder of fractals bench")
    options = parser.parse_args(arguments)
    try:
        if options.runs < 1:
            raise OptionError(f"{options.runs} runs: give 1 or more")
        if options.ladder:
            add_rung(Path(options.ladder), options.runs)
            return 0
        if options.read:
            whole = bench_report.read_report(options.read)
            if "compiler" not in whole:
                raise SceneError(f"{options.read}: not what limit.py --json writes")
        else:
            whole = measure(
                options.only.split(","),
                [options.precision] if options.precision else list(BITS),
                min(options.runs, 3) if options.quick else options.runs,
                options.size or ("25%" if options.quick else "100%"),
                lambda line: print(line, file=sys.stderr),
            )
        print(json.dumps(whole, indent=2) if options.json else text(whole))
        check(whole)
    except FractalsError as error:
        print(f"limit: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
