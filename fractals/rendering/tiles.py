"""Tiles: how a picture is divided into rectangles, and a file of it into bands."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from fractals.backends.devices import LIMITS
from fractals.io.png import strip_rows
from fractals.scene.model import Scene

MIN_TILE = 2**14  # samples, on the CPU: a tile costs as much besides as 100 samples
# Of samples, in a strip: in flatter strips counts differ more, and SIMD lanes wait for the longest.
MIN_ROWS = 16
MAX_TILES = 2**20  # of a picture, because of the bytes of their list
MAX_BANDS = 3  # in memory: one is drawn, one is compressed, one lets threads run ahead


class Tile(NamedTuple):
    """A rectangle of pixels; (x, y) is the top left one."""

    x: int
    y: int
    width: int
    height: int

    def window(self, n: int = 1) -> tuple[slice, slice]:
        """Return the tile's rows and columns in an array of n x n samples a pixel."""
        rows = slice(self.y * n, (self.y + self.height) * n)
        return rows, slice(self.x * n, (self.x + self.width) * n)

    def within(self, other: "Tile", n: int = 1) -> tuple[slice, slice]:
        """Return the tile's rows and columns in an array of another tile's samples."""
        return self._replace(x=self.x - other.x, y=self.y - other.y).window(n)


def make_tiles(
    scene: Scene, device: str, max_iterations: int, threads: int = 1, deep: bool = False
) -> tuple[Tile, ...]:
    """Return tiles that cover each pixel once: strips, whose memory is contiguous.

    On the CPU tiles are rectangles where strips would be flat, or where neighbouring samples share
    work. Each thread gets many tiles, because tiles take different times, but none so small that
    its overhead shows.

    `device` is the kind of device; `deep` tells whether the method is perturbation.
    """
    width, height = scene.image.size
    n = scene.image.supersampling
    limits = LIMITS[device]
    samples = min(
        limits.samples_per_tile,
        max(limits.min_samples_per_tile, limits.steps_per_tile // max_iterations),
    )
    if limits.shared_by_threads:
        samples = min(samples, max(MIN_TILE, width * height * n**2 // (16 * threads)))
    samples = max(samples, width * height * n**2 // MAX_TILES)
    pixels = max(1, samples // n**2)
    across, flat = width, samples < MIN_ROWS * width * n
    if limits.rectangles and (flat or deep or scene.image.antialias != "grid"):
        across = min(width, max(1, 512 // n), pixels, 4 * math.isqrt(pixels))
    down = max(1, min(height, pixels // across))
    return tiles_within(width, range(0, height), across, down)


def tiles_within(width: int, rows: range, across: int, down: int) -> tuple[Tile, ...]:
    """Return tiles of at most `across` x `down` pixels that cover these rows."""
    return tuple(
        [
            Tile(x, y, min(across, width - x), min(down, rows.stop - y))
            for y in range(rows.start, rows.stop, down)
            for x in range(0, width, across)
        ]
    )


def band_rows(scene: Scene, tile: Tile, threads: int) -> int:
    """Return the rows of a band: whole strips of the PNG, and a tile for each thread or more."""
    width, height = scene.image.size
    strip = strip_rows(scene.image.size, scene.image.bits)
    rows = max(tile.height, -(-threads * tile.width * tile.height // width))
    return min(height, -(-rows // strip) * strip)


def runs(numbers: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Yield runs of successive numbers, at most `most` long.

    >>> list(runs([0, 1, 2, 5, 6], 2))
    [[0, 1], [2], [5, 6]]
    """
    begin = 0
    for end, (last, following) in enumerate(pairwise([*numbers, -1]), 1):
        if following != last + 1 or end - begin == most:
            yield numbers[begin:end]
            begin = end
