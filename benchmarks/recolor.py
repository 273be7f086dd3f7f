#!/usr/bin/env python3
"""Time recoloring from memory and from a store, and the layouts a store might have had.

    python benchmarks/recolor.py                       # seahorse in 4k: a minute
    python benchmarks/recolor.py --runs 25 --json > benchmarks/recolor-<processor>.json
    python benchmarks/recolor.py --read FILE.json      # its tables

All ways take turns; medians and least of the time that passed, and of the process's CPU time. zarr
is compared with where it is installed. Files lie in the page cache: no disk is timed.
"""

import argparse
import importlib.metadata
import json
import os
import shutil
import statistics
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, installed or not

import numpy as np

import fractals
from fractals import EscapeData
from fractals.cli.values import parse_size
from fractals.errors import FractalsError
from fractals.io.stores.store import TileWriter, create_store, open_store
from fractals.tools import bench_report

STAGES = ("compile", "copy", "color")
Layout = tuple[Callable[[], None], Callable[[], None]]  # write, read


class Times:
    """The times of several runs."""

    def __init__(self) -> None:
        self.passed: list[float] = []
        self.cpu: list[float] = []
        self.stages: list[Mapping[str, float]] = []

    def take(self, work: Callable[[], Mapping[str, float] | None]) -> None:
        """Do the work, and book its time."""
        passed, cpu = perf_counter(), process_time()
        stages = work()
        self.passed.append(perf_counter() - passed)
        self.cpu.append(process_time() - cpu)
        self.stages.append(stages or {})

    def table(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "seconds": statistics.median(self.passed),
            "least": min(self.passed),
            "cpu_seconds": statistics.median(self.cpu),
            **{
                stage: statistics.median(stages[stage] for stages in self.stages)
                for stage in STAGES
                if stage in self.stages[0]
            },
        }


def recoloring(raw: EscapeData, path: Path, runs: int, threads: int) -> dict[str, Any]:
    """Color the same numbers from memory and from a store."""

    def color(given: EscapeData) -> Mapping[str, float]:
        return fractals.recolor(given, device="cpu", threads=threads).timings

    ways = {"memory": lambda: color(raw), "store": lambda: color(EscapeData.load(path))}
    times = {name: Times() for name in ways}
    for work in ways.values():  # once to warm up
        work()
    for _ in range(runs):
        for name, work in ways.items():
            times[name].take(work)
    return {name: times[name].table() for name in ways}


def layouts(raw: EscapeData, folder: Path, runs: int, threads: int) -> dict[str, Any]:
    """Write and read the same numbers in several layouts, each tile with a checksum."""
    ways = {
        "NumPy files (ours)": ours(raw, folder, threads),
        "a file a tile": files(raw, folder, threads, None),
        "a file a tile, zlib 1": files(raw, folder, threads, 1),
        **with_zarr(raw, folder, threads),
    }
    writing, reading, sizes = {}, {}, {}
    for name in ways:
        writing[name], reading[name] = Times(), Times()
    for _ in range(runs):
        for name, (write, read) in ways.items():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            writing[name].take(write)
            reading[name].take(read)
            sizes[name] = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    return {
        name: {
            "write": writing[name].table(),
            "read": reading[name].table(),
            "bytes": sizes[name],
        }
        for name in ways
    }


def ours(raw: EscapeData, folder: Path, threads: int) -> Layout:
    """Return how a store is written and checked."""
    planes = raw.planes

    def write() -> None:
        types = {name: plane.dtype for name, plane in planes.items()}
        store = create_store(
            folder, raw.scene, types, raw.max_iterations, raw.count_offset, raw.method
        )
        writer = TileWriter(store)  # not closed: no fsync, as with the others

        def one(k: int) -> None:
            writer.write(k, {name: plane[store.window(k)] for name, plane in planes.items()})

        in_threads(one, range(store.tiles), threads)

    def read() -> None:
        store = open_store(folder)
        in_threads(store.is_whole, range(store.tiles), threads)

    return write, read


def files(raw: EscapeData, folder: Path, threads: int, level: int | None) -> Layout:
    """Return how tiles are written to a file each, beside and renamed."""
    rows = 34
    tiles = range(-(-raw.count.shape[0] // rows))

    def write_one(k: int) -> None:
        window = slice(k * rows, (k + 1) * rows)
        content = b"".join(plane[window].tobytes() for plane in raw.planes.values())
        if level is not None:
            content = zlib.compress(content, level)
        part = folder / f"{k}.part"
        part.write_bytes(zlib.crc32(content).to_bytes(4, "little") + content)
        os.replace(part, folder / str(k))

    def read_one(k: int) -> None:
        content = memoryview((folder / str(k)).read_bytes())
        assert zlib.crc32(content[4:]) == int.from_bytes(content[:4], "little")
        if level is not None:
            zlib.decompress(content[4:])

    return (
        lambda: in_threads(write_one, tiles, threads),
        lambda: in_threads(read_one, tiles, threads),
    )


def with_zarr(raw: EscapeData, folder: Path, threads: int) -> dict[str, Layout]:
    """Return zarr's stores, compressed as by default and not at all."""
    try:
        import zarr
    except ImportError:
        return {}
    rows = 34
    tiles = range(-(-raw.count.shape[0] // rows))

    def layout(**options: Any) -> Layout:
        def write() -> None:
            group = zarr.open_group(str(folder), mode="w")
            made = {}
            for name, plane in raw.planes.items():
                chunks = rows, plane.shape[1]
                shape = plane.shape
                made[name] = group.create_array(
                    name, shape=shape, chunks=chunks, dtype=plane.dtype, **options
                )

            def one(k: int) -> None:
                window = slice(k * rows, (k + 1) * rows)
                for name, plane in raw.planes.items():
                    made[name][window] = plane[window]

            in_threads(one, tiles, threads)

        def read() -> None:
            group = zarr.open_group(str(folder), mode="r")
            arrays = [group[name] for name in raw.planes]

            def one(k: int) -> None:
                for array in arrays:
                    array[k * rows : (k + 1) * rows]

            in_threads(one, tiles, threads)

        return write, read

    return {"zarr, zstd": layout(), "zarr, not compressed": layout(compressors=None)}


def in_threads(work: Callable[[int], Any], tiles: Sequence[int], threads: int) -> None:
    """Do the work of all tiles."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, tiles))


def measure(name: str, size: tuple[int, int], runs: int, threads: int) -> dict[str, Any]:
    """Return all figures as plain values."""
    scene = fractals.load_scene(name).replace(size=size, supersampling=1)
    raw = fractals.compute(scene, device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.fz"
        raw.save(path)
        colored = recoloring(raw, path, runs, threads)
        laid_out = layouts(raw, Path(folder) / "b", max(3, runs // 3), threads)
    made = bench_report.make_report([])
    for package in ("zarr",):
        try:
            made["versions"][package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            made["versions"][package] = None
    facts = {"picture": name, "size": list(size), "threads": threads, "runs": runs}
    made["results"] = [{**facts, "recolor": colored, "layouts": laid_out}]
    return made


def tables(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield bench_report.hardware_line(dict(made))
    for result in made["results"]:
        size = "{}x{}".format(*result["size"])
        yield f"\n{result['picture']}, {size}, {result['threads']} threads: recolored, ms"
        head = ["from", "passed", "least", "CPU time", *STAGES]
        rows = [head]
        for name, way in result["recolor"].items():
            keys = ("seconds", "least", "cpu_seconds", *STAGES)
            rows.append([name, *(f"{1e3 * way[key]:.0f}" for key in keys)])
        yield from bench_report.align(iter(rows))
        yield "\nlayouts"
        rows = [["", "write ms", "read ms", "MB"]]
        for name, way in result["layouts"].items():
            times = (f"{1e3 * way[key]['seconds']:.0f}" for key in ("write", "read"))
            rows.append([name, *times, f"{way['bytes'] / 1e6:.0f}"])
        yield from bench_report.align(iter(rows))


def main() -> None:
    """Measure, or read figures, and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("picture", nargs="?", default="seahorse")
    parser.add_argument("--size", default="4k")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", metavar="FILE.json")
    given = parser.parse_args()
    try:
        if given.read:
            made = bench_report.read_report(given.read)
        else:
            made = measure(given.picture, parse_size(given.size, (1, 1)), given.runs, given.threads)
    except FractalsError as error:
        sys.exit(f"recolor.py: {error}")
    print(json.dumps(made, indent=1) if given.json else "\n".join(tables(made)))


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
