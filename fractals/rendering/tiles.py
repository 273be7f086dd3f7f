"""Tile, and how a picture is divided into tiles and bands."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from fractals.backends.devices import limits_of
from fractals.io.png import strip_rows
from fractals.scene.model import Scene

MIN_TILE = 2**14  # samples, on the CPU: the overhead of a tile is that of about 100 samples
# Of samples, in a strip: in flatter strips counts differ more, and SIMD lanes wait for the longest.
MIN_ROWS = 16
MAX_TILES = 2**20  # of a picture: the list of tiles takes 200 bytes each


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


def make_tiles(
    scene: Scene, device: str, max_iterations: int, threads: int = 1, deep: bool = False
) -> Iterable[Tile]:
    """Yield tiles that cover each pixel once: strips, whose memory is contiguous.

    On the CPU tiles are rectangles where strips would be flat, or where neighbouring samples share
    work. Each thread gets many tiles, because tiles take different times, but none so small that
    its overhead shows.

    Parameters
    ----------
    device : str
        The kind of device.
    max_iterations : int
        Most steps of a sample.
    threads : int
        CPU threads that share the tiles.
    deep : bool
        Whether the method is perturbation.
    """
    width, height = scene.image.size
    n = scene.image.supersampling
    limits = limits_of(device)
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
    for y in range(0, height, down):
        for x in range(0, width, across):
            yield Tile(x, y, min(across, width - x), min(down, height - y))


def band_rows(scene: Scene, tile: Tile, threads: int) -> int:
    """Return the rows of a band: whole strips of the PNG, and a tile for each thread or more."""
    width, height = scene.image.size
    strip = strip_rows(scene.image.size, scene.image.bits)
    rows = max(tile.height, -(-threads * tile.width * tile.height // width))
    return min(height, -(-rows // strip) * strip)


def runs(numbers: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Yield runs of successive numbers, at most `most` long.

    Examples
    --------
    >>> list(runs([0, 1, 2, 5, 6], 2))
    [[0, 1], [2], [5, 6]]
    """
    begin = 0
    for end, (last, following) in enumerate(pairwise([*numbers, -1]), 1):
        if following != last + 1 or end - begin == most:
            yield numbers[begin:end]
            begin = end
