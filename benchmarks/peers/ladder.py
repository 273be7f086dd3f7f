#!/usr/bin/env python3
"""Time the counts of the Mandelbrot set in fractals, in C, and in other programs for Python.

    python benchmarks/peers/ladder.py                     # all peers and scenes, some minutes
    python benchmarks/peers/ladder.py --only naive,mojo --scenes a,b --runs 5
    python benchmarks/peers/ladder.py --size 10%          # smaller pictures: a first look
    python benchmarks/peers/ladder.py --json > benchmarks/ladder-<processor>.json
    python benchmarks/peers/ladder.py --read FILE.json    # its tables

Each peer is a process of its own, bound to one core. The peers take turns. A peer that is not
installed is one line. `rungs/` holds the programs; benchmarks/README.md says what is compared.
"""

import argparse
import importlib
import importlib.metadata
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "limit"), str(HERE / "rungs")]

import limit
import yardstick

from fractals import Scene
from fractals.cli.values import parse_size
from fractals.errors import DifferenceError, FractalsError, OptionError, SceneError
from fractals.rendering.sampling import coordinates
from fractals.threads import Queue
from fractals.tools import bench, bench_report

OURS, AGAIN, EVERY_STEP, C = "fractals", "fractals again", "fractals, every step", "C"
MODULES = {  # in rungs/
    "naive": "naive_jit",
    "numpy": "numpy_arrays",
    "taichi": "taichi_fields",
    "jax": "jax_rows",
    "pythran": "pythran_loops",
    "mojo": "mojo_simd",
}
PEERS = (OURS, AGAIN, EVERY_STEP, C, *MODULES)
SCENES = ("a", "b", "course")
COURSE = (15000, 10000)  # pixels; of NVIDIA's course on Numba, which shows the view of scene a
BAND = 1536 * 1024  # samples in memory at once, where a peer needs arrays of complex numbers
PATIENCE = 15.0  # seconds of one peer in one scene, after which it gets no further run
C_SAMPLE = "20%"  # size of the picture that chooses between the programs in C


@dataclass(frozen=True)
class Work:
    """What a peer computes: `run` fills `counts`."""

    run: Callable[[], None]
    counts: NDArray[np.int32]


class Peer:
    """A peer in the process of this module: `name` is one of `PEERS`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._library: tuple[yardstick.Library, str] | None = None
        if name in MODULES:
            self._module = importlib.import_module(MODULES[name])
            self.version = importlib.metadata.version(self._module.PACKAGE)
        else:
            self.version = ""

    def prepare(self, scene: Scene) -> Work:
        """Return the work of a scene."""
        drawing = limit.ours(scene, "float64", self.name in (OURS, AGAIN))
        if self.name == C:
            return self._prepare_c(scene)
        counts = limit.room(drawing)["count"]
        if self.name not in MODULES:
            (keep,) = limit.loops_over_tiles(drawing, {"count": counts})
            return Work(lambda: keep(Queue(len(drawing.plan.tiles))), counts)
        columns, rows = coordinates(drawing.plan)
        xs, ys = columns[0].copy(), rows[1].copy()
        fill, most = self._module.fill, drawing.source.max_iterations
        band = max(1, BAND // len(xs)) if getattr(self._module, "BANDS", False) else len(ys)

        def run() -> None:
            for top in range(0, len(ys), band):
                fill(xs, ys[top : top + band], counts[top : top + band], most)

        return Work(run, counts)

    def _prepare_c(self, scene: Scene) -> Work:
        if self._library is None:
            self._library = self._fastest(scene.replace(size=parse_size(C_SAMPLE, COURSE)))
        library, algorithm = self._library
        work = library.prepare(limit.ours(scene, "float64"), algorithm)
        return Work(work.run, work.count)

    def _fastest(self, scene: Scene) -> tuple[yardstick.Library, str]:
        drawing = limit.ours(scene, "float64")
        with tempfile.TemporaryDirectory() as folder:
            programs = {
                f"{library.width} {algorithm}": (library, algorithm)
                for library in yardstick.build(["float64"], folder)
                for algorithm in limit.ALGORITHMS
            }
            runs = {name: each[0].prepare(drawing, each[1]).run for name, each in programs.items()}
            seconds = limit.take_turns(runs, 3)
        best = min(seconds, key=lambda name: seconds[name].median)
        self.version = best
        return programs[best]


_peer: Peer  # of a peer's process, as is the next
_work: Work


def _start() -> None:
    """Bind the process to one core, and send what libraries print to stderr."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.dup2(2, 1)


def _open(name: str) -> None:
    global _peer
    _peer = Peer(name)


def _prepare(scene: Scene) -> str:
    """Prepare a scene, run it once, which may compile, and return the peer's version."""
    global _work
    _work = _peer.prepare(scene)
    _work.run()
    return _peer.version


def _run() -> float:
    """Return the seconds of CPU time of a run, on all threads of the process."""
    begun = process_time()
    _work.run()
    return process_time() - begun


def _save(path: str) -> int:
    """Write the counts to a file, and return their sum."""
    np.save(path, _work.counts)
    return int(_work.counts.sum(dtype=np.int64))


def _differing(path: str) -> int:
    """Return how many counts differ from those of a file."""
    expected = np.load(path, mmap_mode="r")
    return sum(int(np.count_nonzero(a != b)) for a, b in zip(_work.counts, expected, strict=True))


def load_scene(name: str, size: str = "100%") -> Scene:
    """Return a scene of the ladder."""
    if name not in SCENES:
        raise OptionError(f"unknown scene '{name}': choose of {', '.join(SCENES)}")
    scene = bench.load_workload("a" if name == "course" else name).scene
    if name == "course":
        scene = scene.replace(size=COURSE, title="[-2, 1] x [-1, 1], 20 iterations, as in a course")
    return scene.replace(size=parse_size(size, scene.image.size))


class Processes:
    """A process for each peer that is installed; `missing` says why others are not."""

    def __init__(self, names: Sequence[str]) -> None:
        self.missing: dict[str, str] = {}
        self.pools: dict[str, ProcessPoolExecutor] = {}
        context = multiprocessing.get_context("spawn")
        for name in names:
            self.pools[name] = ProcessPoolExecutor(1, context, initializer=_start)
        for name in names:
            self.ask(name, _open, name)

    def ask(self, name: str, question: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a peer answers; None, and no more questions, where it fails."""
        try:
            return self.pools[name].submit(question, *arguments).result()
        except ImportError as error:
            self.missing[name] = f"not installed ({error.name or error})"
        except (FractalsError, BrokenProcessPool, OSError, RuntimeError, ValueError) as error:
            self.missing[name] = (str(error).splitlines() or [type(error).__name__])[0]
        self.pools.pop(name).shutdown()
        return None

    def close(self) -> None:
        """End all processes."""
        for pool in self.pools.values():
            pool.shutdown()


def compare(processes: Processes, name: str, scene: Scene, runs: int) -> dict[str, Any]:
    """Time all peers on a scene, in turns, and compare their counts with ours."""
    versions = {peer: processes.ask(peer, _prepare, scene) for peer in list(processes.pools)}
    if OURS in processes.missing:
        raise FractalsError(f"fractals itself fails: {processes.missing[OURS]}")
    laps: dict[str, list[float]] = {peer: [] for peer in processes.pools}
    for _ in range(runs):
        for peer, seconds in laps.items():
            if peer in processes.pools and sum(seconds) < PATIENCE:
                seconds.append(processes.ask(peer, _run))
    differing = {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "counts.npy"))
        iterations = processes.ask(OURS, _save, path)
        for peer in list(processes.pools):
            differing[peer] = processes.ask(peer, _differing, path)
    return {
        "scene": name,
        "title": scene.title,
        "size": list(scene.image.size),
        "max_iterations": scene.iteration.max_iterations,
        "iterations": iterations,
        "peers": {
            peer: {
                "version": versions[peer],
                "runs": len(seconds),
                "cpu_seconds": statistics.median(seconds),
                "min": min(seconds),
                "max": max(seconds),
                "differing": differing[peer],
            }
            for peer, seconds in laps.items()
            if differing.get(peer) is not None
        },
        "missing": dict(processes.missing),
    }


def measure_all(
    peers: Sequence[str],
    scenes: Sequence[str],
    runs: int,
    size: str = "100%",
    on_message: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Return all that was measured, as plain values for JSON."""
    unknown = [name for name in peers if name not in PEERS]
    if unknown:
        raise OptionError(f"unknown peer '{unknown[0]}': choose of {', '.join(PEERS)}")
    loaded = {name: load_scene(name, size) for name in scenes}
    processes = Processes([name for name in PEERS if name in {OURS, AGAIN, *peers}])
    results = []
    try:
        for name, scene in loaded.items():
            on_message(name)
            results.append(compare(processes, name, scene, runs))
    finally:
        processes.close()
    return {**bench_report.make_report([]), "results": results}


def text(whole: dict[str, Any]) -> str:
    """Return the tables that a person reads."""
    lines = [bench_report.hardware_line(whole)]
    for result in whole["results"]:
        width, height = result["size"]
        lines += ["", f"{result['scene']}: {result['title']}; {width}x{height}, one core, CPU time"]
        lines += bench_report.align(_rows(result))
        lines += [f"{name}: {why}" for name, why in result["missing"].items()]
    return "\n".join(lines)


def _rows(result: dict[str, Any]) -> Iterator[list[str]]:
    yield ["", "version", "ms", "min", "max", "G it/s", "time/ours", "differ"]
    ours = result["peers"][OURS]["cpu_seconds"]
    for name, found in result["peers"].items():
        seconds = found["cpu_seconds"]
        yield [
            name,
            found["version"],
            *(f"{1e3 * found[key]:.1f}" for key in ("cpu_seconds", "min", "max")),
            f"{result['iterations'] / seconds / 1e9:.2f}",
            f"{seconds / ours:.2f}",
            str(found["differing"]),
        ]


def check(whole: dict[str, Any]) -> None:
    """Raise a `DifferenceError` where a count of ours or of the C differs."""
    for result in whole["results"]:
        for name in (AGAIN, EVERY_STEP, C):
            if result["peers"].get(name, {}).get("differing"):
                raise DifferenceError(f"{result['scene']}: counts of {name} differ")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="peers: naive,mojo; by default all")
    parser.add_argument("--scenes", default=",".join(SCENES), help="a,b,course")
    parser.add_argument("--runs", type=int, default=9, help="runs of each, in turns; 9")
    parser.add_argument("--size", default="100%", help="of the pictures: 10%%")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--read", metavar="FILE", help="show what --json wrote")
    options = parser.parse_args(arguments)
    try:
        if options.runs < 1:
            raise OptionError(f"{options.runs} runs: give 1 or more")
        if options.read:
            whole = bench_report.read_report(options.read)
            if not all("peers" in result for result in whole["results"]):
                raise SceneError(f"{options.read}: not what ladder.py --json writes")
        else:
            whole = measure_all(
                options.only.split(",") if options.only else PEERS,
                options.scenes.split(","),
                options.runs,
                options.size,
                lambda line: print(line, file=sys.stderr),
            )
        print(json.dumps(whole, indent=2) if options.json else text(whole))
        check(whole)
    except FractalsError as error:
        print(f"ladder: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
