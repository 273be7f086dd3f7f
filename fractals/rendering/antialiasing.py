"""Pixels from jittered samples: weighted means of the samples in and around each pixel.

Samples lie anywhere in their cells of the grid (Cook, *Stochastic Sampling in Computer Graphics*,
1986), so details too fine to be drawn become noise in place of moire. "adaptive" first takes some
samples of each pixel, and the others only where neighbours differ.

A pixel does not depend on how the picture is divided into tiles: each tile also computes a border
of samples that belong to its neighbours.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.kernels.layout import EscapeTile
from fractals.rendering.layered import LayeredPainter
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import Index, indices
from fractals.rendering.tiles import Tile

# Difference between neighbours above which a pixel gets all samples, in square roots of linear
# light, about the scale of sRGB. A lower limit takes more samples.
DIFFER = 8 / 255
MAX_FIRST = 2  # first samples of a pixel, a side

Colors = NDArray[np.float32]
Numbers = Callable[[Index, Index, tuple[int, int]], EscapeTile]
Lap = Callable[[str], None]


class Antialiasing:
    """Draws tiles of a picture whose samples are jittered."""

    def __init__(
        self,
        backend: Backend,
        plan: Plan,
        painter: LayeredPainter,
        numbers: Numbers,
        max_iterations: int,
        count_offset: float,
    ) -> None:
        """Take `numbers`, which returns escape data as `SampleSource.iterate_some` does."""
        self.backend, self.plan, self.painter = backend, plan, painter
        self.numbers, self.max_iterations, self.count_offset = numbers, max_iterations, count_offset

    def paint(self, tile: Tile, lap: Lap) -> Any:
        """Return a tile's pixels, in sRGB, on the device; `lap` times the stages."""
        n, near = self.plan.supersampling, self._around(tile, 1)
        rows, columns = near.window(n)
        if self.plan.antialias == "adaptive" and n > 1:
            colors = self._adaptive(tile, near, lap)
        else:
            i, j = indices((rows, columns))
            colors = self._colors(i, j, (j.size, i.size), lap)
        first = (tile.x - near.x) * n, (tile.y - near.y) * n
        corner = columns.start, rows.start
        rgb = self.painter.filter((tile.height, tile.width), colors, first, corner)
        rgb = self.painter.developed(tile, rgb)
        lap("color")
        return rgb

    def _around(self, tile: Tile, border: int) -> Tile:
        """Return a tile with a border, cut off at the picture's edges."""
        left, top = max(0, tile.x - border), max(0, tile.y - border)
        right = min(self.plan.size[0], tile.x + tile.width + border)
        bottom = min(self.plan.size[1], tile.y + tile.height + border)
        return Tile(left, top, right - left, bottom - top)

    def _colors(self, i: Index, j: Index, shape: tuple[int, int], lap: Lap) -> Any:
        raw = self.numbers(i, j, shape)
        places = self.painter.places(i, j)
        colors = self.painter.colors(shape, raw, self.max_iterations, self.count_offset, places)
        lap("color")
        return colors

    def _on_host(self, i: Index, j: Index, shape: tuple[int, int], lap: Lap) -> Colors:
        colors = np.empty((*shape, 3), np.float32)
        self.backend.to_host(self._colors(i, j, shape, lap), colors)
        lap("copy")
        return colors

    def _adaptive(self, tile: Tile, near: Tile, lap: Lap) -> Any:
        n = self.plan.supersampling
        m = first_side(n)
        wide = self._around(tile, 2)
        i, j = first_samples(wide, n, m)
        few = self._on_host(i, j, i.shape, lap)
        y, x = near.y - wide.y, near.x - wide.x
        busy = differing(few, m)[y : y + near.height, x : x + near.width]
        own = slice(y * m, (y + near.height) * m), slice(x * m, (x + near.width) * m)

        # Each of the first samples stands for the samples around it, which are not computed.
        place = np.arange(n) * m // n
        cells = few[own].reshape(near.height, m, near.width, m, 3)
        colors = cells.take(place, 1).take(place, 3)
        v, u = np.nonzero(busy)
        if len(v):
            i = ((u + near.x) * n)[:, None, None] + np.arange(n)
            j = ((v + near.y) * n)[:, None, None] + np.arange(n)[:, None]
            more = self._on_host(i, j, (len(v), n * n), lap)
            colors[v, :, u] = more.reshape(-1, n, n, 3)
        lap("color")
        return self.backend.to_device(colors.reshape(near.height * n, near.width * n, 3))


def first_side(n: int) -> int:
    """Return the first samples a side of a pixel of n x n."""
    return max(1, min(n // 4, MAX_FIRST))


def first_samples(tile: Tile, n: int, m: int) -> tuple[Index, Index]:
    """Return columns and rows of a tile's first samples.

    They are m x m of each pixel's n x n samples.
    A first sample is in the middle of the cell that it stands for. Where the middle is between two
    samples, pixels alternate between them, so that the picture is not shifted.
    """
    base, rest = np.divmod((2 * np.arange(m) + 1) * n, 2 * m)
    x = tile.x + np.arange(tile.width * m) // m
    y = tile.y + np.arange(tile.height * m) // m
    i = x * n + np.tile(base, tile.width) - (y[:, None] & 1) * np.tile(rest == 0, tile.width)
    j = (y * n + np.tile(base, tile.height))[:, None] - (x & 1) * np.tile(rest == 0, tile.height)[
        :, None
    ]
    return i, j


def differing(colors: Colors, m: int) -> NDArray[np.bool_]:
    """Return which pixels differ much from themselves or their neighbours.

    `colors` holds m x m samples a pixel.
    """
    light = np.sqrt(colors)
    own = [light[y::m, x::m] for y in range(m) for x in range(m)]
    most, least = functools.reduce(np.maximum, own), functools.reduce(np.minimum, own)
    for axis in range(2):
        most, least = _spread(np.maximum, most, axis), _spread(np.minimum, least, axis)
    return np.asarray((most - least > np.float32(DIFFER)).any(2))


def _spread(function: Any, values: Colors, axis: int) -> Colors:
    """Return the greatest or least of each value and its neighbours."""
    padded = np.pad(values, [(1, 1) if k == axis else (0, 0) for k in range(3)], "edge")
    parts = [np.take(padded, range(k, k + values.shape[axis]), axis=axis) for k in range(3)]
    found: Colors = function(function(parts[0], parts[1]), parts[2])
    return found
