"""Pixels from jittered samples: each the weighted mean of its own and of those around it.

Samples lie anywhere in their cells of the grid (Cook, *Stochastic Sampling in Computer Graphics*,
1986), so that what is too fine to be drawn becomes noise, and no moire. "adaptive" takes some
samples of each pixel first, and the others only where neighbours differ.

What a pixel becomes depends on the picture alone, not on how it is cut: tiles have a border of
samples that their neighbours compute as well.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.kernels.layout import EscapeTile
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import Index, indices
from fractals.rendering.shading import Painter
from fractals.rendering.tiles import Tile

DIFFER = 8 / 255  # of the square root of light, about sRGB: neighbours that differ more want more
MOST_FIRST = 2  # samples of a pixel that are taken first, a side

Colors = NDArray[np.float32]
Numbers = Callable[[Index, Index, tuple[int, int]], EscapeTile]
Lap = Callable[[str], None]


class Antialiasing:
    """Draws tiles of a picture whose samples are jittered."""

    def __init__(
        self,
        backend: Backend,
        plan: Plan,
        painter: Painter,
        numbers: Numbers,
        max_iterations: int,
        count_offset: int,
    ) -> None:
        """`numbers` returns raw numbers of samples, as `Method.iterate_some` does."""
        self.backend, self.plan, self.painter = backend, plan, painter
        self.numbers, self.max_iterations, self.count_offset = numbers, max_iterations, count_offset

    def paint(self, tile: Tile, lap: Lap) -> Any:
        """Return the sRGB values of a tile's pixels, on the device; `lap` books the stages."""
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
        lap("color")
        return rgb

    def _around(self, tile: Tile, border: int) -> Tile:
        """Return a tile with the pixels around it that there are."""
        left, top = max(0, tile.x - border), max(0, tile.y - border)
        right = min(self.plan.size[0], tile.x + tile.width + border)
        bottom = min(self.plan.size[1], tile.y + tile.height + border)
        return Tile(left, top, right - left, bottom - top)

    def _colors(self, i: Index, j: Index, shape: tuple[int, int], lap: Lap) -> Any:
        raw = self.numbers(i, j, shape)
        lap("iterate")
        arms = self.painter.arms(i, j)
        colors = self.painter.colors(shape, raw, self.max_iterations, self.count_offset, arms)
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

        # Each of the first samples stands for those around it that are not taken.
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
    """Return how many samples a side of a pixel are taken first, of n."""
    return max(1, min(n // 4, MOST_FIRST))


def first_samples(tile: Tile, n: int, m: int) -> tuple[Index, Index]:
    """Return columns and rows of the first m x m of a pixel's n x n samples, for a tile.

    They are in the middle of the cells that they stand for; where that is between two samples, they
    are on all sides of it in turns, so that no picture is shifted.
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
    """Tell of pixels whether their m x m samples, and those of the pixels around, differ much."""
    light = np.sqrt(colors)
    own = [light[y::m, x::m] for y in range(m) for x in range(m)]
    most, least = functools.reduce(np.maximum, own), functools.reduce(np.minimum, own)
    for axis in range(2):
        most, least = _spread(np.maximum, most, axis), _spread(np.minimum, least, axis)
    return np.asarray((most - least > np.float32(DIFFER)).any(2))


def _spread(function: Any, values: Colors, axis: int) -> Colors:
    """Return the greatest or least of each value and the two beside it."""
    padded = np.pad(values, [(1, 1) if k == axis else (0, 0) for k in range(3)], "edge")
    parts = [np.take(padded, range(k, k + values.shape[axis]), axis=axis) for k in range(3)]
    found: Colors = function(function(parts[0], parts[1]), parts[2])
    return found
