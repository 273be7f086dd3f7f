"""Time our PNG writer against Pillow's: `python benchmarks/encode.py [--threads N] [SCENE]...`.

Each picture is drawn once and encoded by each writer in turns; medians. On one thread the time of
the CPU is counted, on several that which passed. MB are 10^6 bytes.
"""

import argparse
import io
import statistics
import zlib
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import PIL.Image

import fractals
from fractals import png

SCENES = ("mandelbrot", "seahorse", "minibrot", "armada", "snowflakes", "lace", "noise")
NOISE = {"image": {"supersampling": 1}, "color": {"density": 20.0}}  # of seahorse


def ours(pixels: Any, module: Any, threads: int, compression: str = "fast") -> int:
    """Encode by our writer, with zlib or isal, and return the file's length."""
    png.fast_zlib = module
    height, width = pixels.shape[:2]
    file = io.BytesIO()
    start = png.begin((width, height), 8 * pixels.itemsize, {}, "benchmark")
    png.write(file, start, pixels, compression, threads)
    return file.tell()


def pillow(pixels: Any, level: int) -> int:
    """Encode by Pillow, and return the file's length."""
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG", compress_level=level)
    return file.tell()


def writers(threads: int, bits: int, small: bool) -> dict[str, Callable[[Any], int]]:
    """Return what is compared, by name."""
    found: dict[str, Callable[[Any], int]] = {}
    try:
        from isal import isal_zlib

        found["isal"] = lambda pixels: ours(pixels, isal_zlib, threads)
    except ImportError:
        pass
    found["zlib"] = lambda pixels: ours(pixels, zlib, threads)
    if small:
        found["small"] = lambda pixels: ours(pixels, zlib, threads, "small")
    for level in (1, 3, 6) if bits == 8 else ():
        found[f"Pillow {level}"] = lambda pixels, level=level: pillow(pixels, level)  # type: ignore[misc]
    return found


def main() -> None:
    """Print a table of seconds and MB."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", default=SCENES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--bits", type=int, default=8, choices=(8, 16))
    parser.add_argument("--size", default="3840x2160")
    parser.add_argument("--small", action="store_true", help="also the compression 'small'")
    given = parser.parse_args()
    clock = process_time if given.threads == 1 else perf_counter
    picture = {"size": [int(side) for side in given.size.split("x")], "bits": given.bits}
    compared = writers(given.threads, given.bits, given.small)
    print("| picture |", " | ".join(f"{name}, s | MB" for name in compared), "|")
    print("|---" * (1 + 2 * len(compared)) + "|")
    for name in given.scenes:
        sources = ("seahorse", NOISE) if name == "noise" else (name,)
        pixels = fractals.render(*sources, {"image": picture}, device="cpu").pixels
        seconds: dict[str, list[float]] = {writer: [] for writer in compared}
        sizes = {}
        for _ in range(given.runs):
            for writer, encode in compared.items():
                begun = clock()
                sizes[writer] = encode(pixels)
                seconds[writer].append(clock() - begun)
        cells = [f"{statistics.median(seconds[w]):.3f} | {sizes[w] / 1e6:.2f}" for w in compared]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
