#!/usr/bin/env python3
"""Time our PNG writer against Pillow's, and print the tables.

    python benchmarks/encode.py                        # 4k pictures: a minute or two
    python benchmarks/encode.py seahorse noise --runs 9 --threads 2
    python benchmarks/encode.py --json > benchmarks/encode-<processor>.json
    python benchmarks/encode.py --read FILE.json       # its tables

Each picture is drawn once and encoded by each writer in turns; medians. On one thread the process's
CPU time is counted, on several the time that passed. MB are 10^6 bytes.
"""

import argparse
import importlib.metadata
import io
import json
import statistics
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, installed or not

import PIL.Image

import fractals
from fractals.cli.values import parse_size
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.io import png
from fractals.tools import bench_report

SCENES = ("mandelbrot", "seahorse", "minibrot", "armada", "snowflakes", "lace", "noise")
NOISE = {"image": {"supersampling": 1}, "color": {"density": 20.0}}  # of seahorse: the worst case
PILLOW = (1, 6)  # its levels; 6 is what it takes by itself

Encode = Callable[[png.Pixels], int]


def ours(module: Any, threads: int, compression: str) -> Encode:
    """Return what encodes by our writer, with zlib or isal_zlib, and tells the file's length."""

    def encode(pixels: png.Pixels) -> int:
        file = io.BytesIO()
        height, width = pixels.shape[:2]
        with mock.patch.object(png, "fast_zlib", module):
            beginning = png.begin((width, height), 8 * pixels.itemsize, {}, "benchmark")
            png.write(file, beginning, pixels, compression, threads)
        return file.tell()

    return encode


def pillow(level: int) -> Encode:
    """Return what encodes by Pillow, and tells the file's length."""

    def encode(pixels: png.Pixels) -> int:
        file = io.BytesIO()
        PIL.Image.fromarray(pixels).save(file, "PNG", compress_level=level)
        return file.tell()

    return encode


def writers(threads: int, bits: int) -> dict[str, Encode]:
    """Return what is compared, by name; Pillow has no threads, and no RGB of 16 bits."""
    found = {}
    try:
        from isal import isal_zlib

        found["fast, isal"] = ours(isal_zlib, threads, "fast")
    except ImportError:
        pass
    found["fast, zlib"] = ours(zlib, threads, "fast")
    if threads == 1 and bits == 8:
        found["small"] = ours(zlib, threads, "small")
        found.update({f"Pillow, {level}": pillow(level) for level in PILLOW})
    return found


def draw(name: str, size: tuple[int, int], bits: int) -> png.Pixels:
    """Return the pixels of a scene."""
    sources: Sequence[Any] = ("seahorse", NOISE) if name == "noise" else (name,)
    picture = {"image": {"size": list(size), "bits": bits}}
    return fractals.render(*sources, picture, device="cpu").pixels


def measure(names: Sequence[str], size: tuple[int, int], runs: int, threads: int) -> dict[str, Any]:
    """Return the report: seconds and bytes by bits, threads, picture and writer."""
    whole = bench_report.make_report([])
    for library in ("pillow", "isal"):
        try:
            whole["versions"][library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            whole["versions"][library] = None
    whole["encoded"] = {"size": list(size), "runs": runs}
    for bits in (8, 16):
        for name in names:
            pixels = draw(name, size, bits)
            times = take_turns(pixels, bits, threads, runs)
            facts = {"picture": name, "bits": bits, "threads": threads, "writers": times}
            whole["results"].append(facts)
    return whole


def take_turns(pixels: png.Pixels, bits: int, threads: int, runs: int) -> dict[str, Any]:
    """Return the seconds, and the bytes of the file, of each writer."""
    clock = process_time if threads == 1 else perf_counter
    compared = writers(threads, bits)
    seconds: dict[str, list[float]] = {name: [] for name in compared}
    sizes = {}
    for _ in range(runs):
        for name, encode in compared.items():
            if name == "small" and seconds[name]:
                continue  # it takes seconds: once will do
            begun = clock()
            sizes[name] = encode(pixels)
            seconds[name].append(clock() - begun)
    return {
        name: {"seconds": statistics.median(seconds[name]), "bytes": sizes[name]}
        for name in compared
    }


def text(whole: Mapping[str, Any]) -> str:
    """Return a report as tables in Markdown, one for each number of bits and threads."""
    width, height = whole["encoded"]["size"]
    lines = [f"{bench_report.hardware_line(dict(whole))}; {width}x{height}"]
    kinds = dict.fromkeys((row["bits"], row["threads"]) for row in whole["results"])
    for bits, threads in kinds:
        rows = [row for row in whole["results"] if (row["bits"], row["threads"]) == (bits, threads)]
        lines += ["", f"{bits} bits, {threads} thread{'s' * (threads > 1)}: s, MB", ""]
        lines += _table(rows)
    return "\n".join(lines)


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    names = list(rows[0]["writers"])
    yield "| picture | " + " | ".join(names) + " |"
    yield "|---" * (1 + len(names)) + "|"
    for row in rows:
        found = [row["writers"][name] for name in names]
        cells = [f"{one['seconds']:.3f}, {one['bytes'] / 1e6:.1f}" for one in found]
        yield f"| {row['picture']} | " + " | ".join(cells) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenes", nargs="*", help=f"by default {' '.join(SCENES)}")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, in turns; 5")
    parser.add_argument("--threads", type=int, default=1, help="that compress; 1")
    parser.add_argument("--size", default="3840x2160", help="of the pictures; 3840x2160")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--read", metavar="FILE", help="show what --json wrote")
    options = parser.parse_args(arguments)
    try:
        for name in ("runs", "threads"):
            if getattr(options, name) < 1:
                raise OptionError(f"{getattr(options, name)} {name}: give 1 or more")
        if options.read:
            whole = bench_report.read_report(options.read)
            if "encoded" not in whole:
                raise SceneError(f"{options.read}: not what encode.py --json writes")
        else:
            size = parse_size(options.size, (3840, 2160))
            whole = measure(options.scenes or SCENES, size, options.runs, options.threads)
        print(json.dumps(whole, indent=2) if options.json else text(whole))
    except FractalsError as error:
        print(f"encode: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
