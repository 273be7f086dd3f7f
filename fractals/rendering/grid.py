"""TileGrid: the positions of a tile's samples, as arrays on a device."""

from typing import Any

import numpy as np

from fractals.backends.base import Backend
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import Index, Samples, coordinates, indices
from fractals.rendering.tiles import Tile


class TileGrid:
    """The grid of a plan's samples on a device: columns and rows, or explicit positions.

    Parameters
    ----------
    backend : Backend
    plan : Plan
    step : int
        From 2 on, the grid has only the sample in the middle of each step x step samples; tiles
        then count these.

    Attributes
    ----------
    samples : Samples
        Where the plan has explicit positions.
    columns, rows : ndarray
        As of `fractals.rendering.sampling.coordinates`, in the backend's number type, elsewhere.
    """

    def __init__(self, backend: Backend, plan: Plan, step: int = 1) -> None:
        self.backend, self.plan, self.step = backend, plan, step
        if plan.explicit_positions:
            self.samples = Samples(plan)
            return
        columns, rows = (part.astype(backend.real) for part in coordinates(plan))
        if step > 1:
            columns, rows = (
                np.ascontiguousarray(part[:, self._picked(np.arange(-(-part.shape[1] // step)), k)])
                for k, part in enumerate((columns, rows))
            )
        self.columns, self.rows = columns, rows
        self._all_columns = backend.to_device(columns)

    def of_tile(self, tile: Tile) -> tuple[tuple[int, int], Any, Any]:
        """Return shape, columns and rows of a tile's samples, on the device."""
        n = self.plan.supersampling
        rows, columns = tile.window(n)
        shape = tile.height * n, tile.width * n
        if self.plan.explicit_positions:
            i, j = indices((rows, columns))
            if self.step > 1:
                i, j = self._picked(i, 0), self._picked(j, 1)
            return shape, *self.of_samples(i, j, shape)
        across = self._all_columns  # strips are as wide as the picture
        if tile.width * n < self.columns.shape[1]:
            across = self.backend.to_device(np.ascontiguousarray(self.columns[:, columns]))
        down = self.backend.to_device(np.ascontiguousarray(self.rows[:, rows]))
        return shape, across, down

    def of_samples(self, i: Index, j: Index, shape: tuple[int, int]) -> tuple[Any, Any]:
        """Return the explicit positions of samples in columns `i` and rows `j`, on the device."""
        return explicit_positions(self.backend, self.samples, i, j, shape)

    def _picked(self, index: Index, axis: int) -> Index:
        """Return the columns (axis 0) or rows (axis 1) of the grid that samples stand for."""
        last = self.plan.size[axis] * self.plan.supersampling - 1
        return np.minimum(self.step * index + self.step // 2, last)


def explicit_positions(
    backend: Backend, samples: Samples, i: Index, j: Index, shape: tuple[int, int]
) -> tuple[Any, Any]:
    """Return explicit positions in place of columns and rows, on a device.

    Parameters
    ----------
    backend : Backend
    samples : Samples
    i, j : ndarray of int
        Columns and rows, of shapes that NumPy broadcasts.
    shape : tuple of int
        Shape of the arrays that are computed from the positions.
    """
    positions = samples.at(i, j).astype(backend.real)
    empty = np.zeros((2, shape[0]), backend.real)
    return backend.to_device(positions), backend.to_device(empty)
