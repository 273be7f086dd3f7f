"""Names for the arrays and scalars that compiled programs are given together.

All are NamedTuples: NumPy-style code, Numba on the CPU and CUDA kernels take them as they are.
"""

from typing import Any, NamedTuple


class EscapeTile(NamedTuple):
    """The escape data of a tile: one array element a sample.

    Attributes
    ----------
    count : array of int32, shape (height, width)
        Steps until the orbit escaped or converged; ``max_iterations`` where it did neither.
    x, y : array of real, shape (height, width)
        z = x + iy after `count` steps; 0 where `count` is ``max_iterations``.
    dx, dy : array of real, shape (height, width)
        dz = dx + i dy at the same step: dz/dc, or dz/dz0 in a Julia set. Shape (1, 1), never read,
        where no coloring needs dz.
    statistics : array of real, shape (planes, height, width)
        Orbit statistics, in the order of `fractals.kernels.statistics.Statistics.names`.
        Shape (1, 1, 1), never read, where there are none.
    """

    count: Any
    x: Any
    y: Any
    dx: Any
    dy: Any
    statistics: Any


class SampleGrid(NamedTuple):
    """Where the samples of a tile lie in the plane (`fractals.kernels.sample_position`).

    Attributes
    ----------
    columns : array of real, shape (2, width)
        Parts of the positions that depend on the column; or, with explicit positions, every
        position, shape (2 or 3, samples).
    rows : array of real, shape (2, height)
        Parts of the positions that depend on the row; only its shape is read with explicit
        positions.
    """

    columns: Any
    rows: Any


class ColoringInputs(NamedTuple):
    """What a layer's coloring programs take besides the escape data.

    Attributes
    ----------
    first_plane : int32
        Index of the coloring's first plane in `EscapeTile.statistics`.
    constants : array of real
        Palette density and offset, in turns of the palette, then the coloring's own constants.
    max_iterations : int32
        Samples whose count is below it have escaped.
    count_offset : int32
        Subtracted from counts before coloring.
    lowest, highest : real
        Values outside this range are not drawn, where the layer has a range.
    """

    first_plane: Any
    constants: Any
    max_iterations: Any
    count_offset: Any
    lowest: Any
    highest: Any


class FilterWindow(NamedTuple):
    """Where a tile's pixels are found among samples (`fractals.kernels.pixel_filter`).

    Attributes
    ----------
    supersampling : int32
        Samples a pixel, a side.
    first_x, first_y : int32
        Column and row, in the array of colors, of the first pixel's first sample.
    left, top : int32
        Column and row, in the picture's samples, of the first element of the array of colors.
    """

    supersampling: Any
    first_x: Any
    first_y: Any
    left: Any
    top: Any
