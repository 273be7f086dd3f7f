"""Tile, and how a picture is divided into tiles and bands."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from fractals.backends.devices import limits_of
from fractals.io.png import strip_rows
from fractals.scene.model import Scene

LEAST_TILE = 2**14  # samples, on the CPU: a tile's overhead is that of about 100
LEAST_ROWS = 16  # of samples, in a strip: their counts differ more in a flat one
MOST_TILES = 2**20


class Tile(NamedTuple):
    """A rectangle of pixels; (x, y) is its top left one."""

    x: int
    y: int
    width: int
    height: int

    def window(self, n: int = 1) -> tuple[slice, slice]:
        """Return its rows and columns in an array of n x n samples a pixel."""
        rows = slice(self.y * n, (self.y + self.height) * n)
        return rows, slice(self.x * n, (self.x + self.width) * n)


def make_tiles(
    scene: Scene, device: str, max_iterations: int, threads: int = 1, deep: bool = False
) -> Iterable[Tile]:
    """Yield tiles that cover each pixel once: strips, whose memory lies in one piece.

    On the CPU they are rectangles where strips were flat, or samples share the work of their
    neighbours. A thread is given many, as some take longer than others, but none too small to be
    worth it.
    """
    width, height = scene.image.size
    n = scene.image.supersampling
    limits = limits_of(device)
    samples = min(
        limits.samples_per_tile,
        max(limits.min_samples_per_tile, limits.steps_per_tile // max_iterations),
    )
    if limits.shared_by_threads:
        samples = min(samples, max(LEAST_TILE, width * height * n**2 // (16 * threads)))
    samples = max(samples, width * height * n**2 // MOST_TILES)
    pixels = max(1, samples // n**2)
    across, flat = width, samples < LEAST_ROWS * width * n
    if limits.rectangles and (flat or deep or scene.image.antialias != "grid"):
        across = min(width, max(1, 512 // n), pixels, 4 * math.isqrt(pixels))
    down = max(1, min(height, pixels // across))
    for y in range(0, height, down):
        for x in range(0, width, across):
            yield Tile(x, y, min(across, width - x), min(down, height - y))


def band_rows(scene: Scene, tile: Tile, threads: int) -> int:
    """Return the rows of a band: whole strips, and as many tiles as there are threads."""
    width, height = scene.image.size
    strip = strip_rows(scene.image.size, scene.image.bits)
    rows = max(tile.height, -(-threads * tile.width * tile.height // width))
    return min(height, -(-rows // strip) * strip)
