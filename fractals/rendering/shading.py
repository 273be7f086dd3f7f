"""Escape data -> pixels on a backend: the programs of layers, and means of jittered samples."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Run
from fractals.color import palette
from fractals.kernels import shade
from fractals.kernels.layout import ColoringInputs, EscapeTile, FilterWindow
from fractals.kernels.shade import PlaceOptions, ValueOptions
from fractals.rendering.plan import Plan, Tile
from fractals.rendering.sampling import PERIOD, Index, Samples, indices, shifts
from fractals.scene.geometry import ResolvedLayer, is_plain, matrix

Fill = Callable[..., None]  # ``fill(values, raw, max_iterations, count_offset)``
Values = Callable[[ResolvedLayer, Fill], NDArray[np.floating[Any]]]
# Returns `place`, `values` and `table` of a layer, as of `_Painted`.
Placing = Callable[
    ["Painter", ResolvedLayer, PlaceOptions, Values | None], tuple[Run, Run | None, Any]
]


@dataclass
class _Painted:
    """A layer's programs, and their inputs on the device."""

    # place, paint: programs that fill positions in the palette, and colors
    place: Run
    paint: Run
    inputs: ColoringInputs  # without `max_iterations` and `count_offset`
    subtracts_offset: bool  # whether the count offset is subtracted from the values
    lookup: Any
    opacity: Any
    # values, table: of a coloring that ranks values: `values` computes them, `place` then takes
    # values and the table
    values: Run | None
    table: Any
    # `place` and `paint` with their last arguments, by what these depend on
    bound: dict[tuple[Any, ...], Callable[..., None]] = field(default_factory=dict)

    def inputs_for(self, max_iterations: int, count_offset: float) -> ColoringInputs:
        """Return what the layer's programs take after the escape data."""
        return _completed(self.inputs, max_iterations, count_offset * self.subtracts_offset)

    def placing(self, max_iterations: int, count_offset: float) -> Callable[..., None]:
        """Return ``fill(position, raw)``, where no values are ranked."""
        key = max_iterations, count_offset
        if key not in self.bound:
            self.bound[key] = self.place.bound(self.inputs_for(*key))
        return self.bound[key]

    def painting(self, n: int, encode: Any) -> Callable[..., None]:
        """Return ``fill(pixels, position)``, for n x n samples a pixel; colors of samples for 0."""
        if (n,) not in self.bound:
            last = (encode, np.int32(n), np.float32(1 / n**2)) if n else (self.opacity,)
            self.bound[n,] = self.paint.bound(self.lookup, *last)
        return self.bound[n,]


class Painter:
    """Draws tiles of raw numbers: ready when it is made, and changed by no tile.

    `values` takes a layer, and the function that fills an array with a tile's values of it. It
    returns the layer's values of the whole picture. Without it, colorings that rank all values get
    a table that only serves to compile. `encode` is the table from linear light to channels; by
    default it gives sRGB. `placing` returns a layer's programs; by default those that take raw
    numbers.
    """

    def __init__(
        self,
        backend: Backend,
        plan: Plan,
        dtype: Any,
        values: Values | None = None,
        encode: NDArray[Any] | None = None,
        placing: "Placing | None" = None,
    ) -> None:
        self.backend, self.scene, self.plan, self.layers = backend, plan.scene, plan, plan.layers
        self.dtype = dtype
        self.projected = plan.view.projection == "exponential"
        self._painted: list[_Painted] = []
        table = palette.encoding(plan.scene.image.bits) if encode is None else encode
        self._encode = backend.to_device(table, kept=encode is None)
        self._compile(values, placing or place_samples)

    def _compile(self, values: Values | None, placing: "Placing") -> None:
        """Compile the programs, and bring their inputs to the device."""
        backend = self.backend
        several, filtered = len(self.layers.drawn) > 1, self.plan.jittered
        self._painted = []
        for k, layer in enumerate(self.layers.drawn):
            colors = layer.paint.make_palette()
            placed = PlaceOptions(layer.transfer, colors.cyclic, layer.paint.range is not None)
            place, fill, table = placing(self, layer, placed, values)
            paint = backend.compile(shade.make_body)
            lookup = colors.lookup(self.scene.color.inside)
            if several or filtered:
                paint = backend.compile(shade.make_layer_body, layer.blend if k else "first")
            if several:
                lookup = palette.srgb_from_linear(lookup).astype(np.float32)
            on_device = backend.to_device(lookup, kept=not several)
            self._painted.append(
                _Painted(
                    place,
                    paint,
                    _inputs_of(self, layer),
                    layer.subtracts_offset,
                    on_device,
                    np.float32(layer.opacity),
                    fill,
                    table,
                )
            )
        self._mean = backend.compile(shade.make_mean_body) if several and not filtered else None
        self._to_linear = backend.compile(shade.make_decode_body) if several and filtered else None
        self._decode = backend.to_device(palette.decoding(), kept=True) if several else None
        if filtered:
            self._filter = backend.compile(shade.make_filter_body, PERIOD)
            self._shifts = backend.to_device(shifts())
        if self.projected:
            self._samples = Samples(self.plan)
        self._turn = None
        if self.layers.derivative and (self.projected or not is_plain(self.plan.view)):
            self._turn = backend.compile(shade.make_turned_body, self.projected)
            linear = [float(part) for part in matrix(self.plan.view)]
            self._matrix = backend.to_device(np.array(linear, backend.real))
            self._no_arms = backend.to_device(np.zeros((2, 1), backend.real))

    def arms(self, i: Index, j: Index) -> Any:
        """Return `Samples.arms` on the device, where they are needed."""
        if not (self.projected and self.layers.derivative):
            return None
        return self.backend.to_device(self._samples.arms(i, j).astype(self.backend.real))

    def single(
        self, max_iterations: int, count_offset: float
    ) -> tuple[Run, ColoringInputs, Run, tuple[Any, ...]] | None:
        """Return two programs and their inputs, where one layer is drawn, or None.

        The first program fills positions, from the escape data and these inputs. The second fills
        pixels, from positions, palette, encoding and a sample's share of a pixel. None: the picture
        takes more than these two.
        """
        painted = self._painted[0]
        if len(self._painted) > 1 or painted.values or self.plan.jittered or self._turn:
            return None
        inputs = painted.inputs_for(max_iterations, count_offset)
        share = np.float32(1 / self.plan.supersampling**2)
        return painted.place, inputs, painted.paint, (painted.lookup, self._encode, share)

    def paint(self, tile: Tile, raw: EscapeTile, max_iterations: int, count_offset: float) -> Any:
        """Return a tile's pixels, in sRGB, on the device; `raw` is of its samples."""
        n, size = self.plan.supersampling, (tile.height, tile.width)
        arms = self.arms(*indices(tile.window(n)))
        if self.plan.jittered:
            samples = tile.height * n, tile.width * n
            colors = self.colors(samples, raw, max_iterations, count_offset, arms)
            return self.filter(size, colors, (0, 0), (tile.x * n, tile.y * n))
        return self.paint_some(size, raw, max_iterations, count_offset, arms)

    def paint_some(
        self,
        size: tuple[int, int],
        raw: EscapeTile,
        max_iterations: int,
        count_offset: float,
        arms: Any = None,
    ) -> Any:
        """Return pixels as `paint` does, of samples that are not jittered and may lie anywhere.

        `size` holds the rows and columns of the pixels; `arms` is what `arms` returns.
        """
        n = self.plan.supersampling
        samples = size[0] * n, size[1] * n
        rgb = self.backend.empty((*size, 3), self.dtype)
        colors = self._paint(
            rgb, samples, raw, max_iterations, count_offset, arms, self._mean is not None
        )
        if self._mean:
            share = np.float32(1 / n**2)
            self._mean(rgb, colors, self._decode, self._encode, np.int32(n), share)
        return rgb

    def colors(
        self,
        shape: tuple[int, int],
        raw: EscapeTile,
        max_iterations: int,
        count_offset: float,
        arms: Any = None,
    ) -> Any:
        """Return the colors of samples in linear light, on the device.

        The result has one more axis than the samples, of 3 channels in float32. `arms` is what
        `arms` returns for the samples.
        """
        colors = self._paint(None, shape, raw, max_iterations, count_offset, arms, True)
        if self._to_linear:
            self._to_linear(colors, self._decode)
        return colors

    def filter(
        self, tile: tuple[int, int], colors: Any, first: tuple[int, int], corner: tuple[int, int]
    ) -> Any:
        """Return a tile's pixels from colors of samples in and around it.

        `tile` is its height and width in pixels; `colors` has the shape (rows, columns, 3).
        `first` is the column and row in `colors` of the tile's first sample; `corner` those of the
        first element of `colors` in the picture's samples.
        """
        rgb = self.backend.empty((*tile, 3), self.dtype)
        where = (np.int32(value) for value in (self.plan.supersampling, *first, *corner))
        self._filter(rgb, colors, self._shifts, self._encode, FilterWindow(*where))
        return rgb

    def _paint(
        self,
        rgb: Any,
        samples: tuple[int, int],
        raw: EscapeTile,
        max_iterations: int,
        count_offset: float,
        arms: Any,
        kept: bool,
    ) -> Any:
        """Return the samples' colors where `kept`; otherwise fill `rgb`."""
        backend = self.backend
        raw = self._turned(samples, raw, arms)
        position = backend.empty(samples, np.float32)
        colors = backend.empty((*samples, 3), np.float32) if kept else None
        for painted in self._painted:
            if painted.values:
                inputs = painted.inputs_for(max_iterations, count_offset)
                values = backend.empty(samples, backend.real)
                painted.values(values, raw, inputs)
                painted.place(position, values, painted.table, inputs)
            else:
                painted.placing(max_iterations, count_offset)(position, raw)
            n = 0 if kept else self.plan.supersampling
            painted.painting(n, self._encode)(colors if kept else rgb, position)
        return colors

    def _turned(self, samples: tuple[int, int], raw: EscapeTile, arms: Any) -> EscapeTile:
        """Return escape data with dz along the axes of the picture."""
        if not self._turn:
            return raw
        dx, dy = (self.backend.empty(samples, self.backend.real) for _ in range(2))
        arms = self._no_arms if arms is None else arms
        self._turn(dx, dy, raw.x, raw.y, raw.dx, raw.dy, self._matrix, arms)
        return raw._replace(dx=dx, dy=dy)

    def value_program(self, layer: ResolvedLayer) -> Fill:
        """Return ``fill(values, raw, max_iterations, count_offset)`` of a layer's values."""
        coloring = layer.coloring
        planes = len(coloring.statistic.names) if coloring.statistic else 0
        options = ValueOptions(coloring.for_coloring(), layer.side, planes)
        run, inputs = self.backend.compile(shade.make_value_body, options), _inputs_of(self, layer)

        def fill(values: Any, raw: EscapeTile, max_iterations: int, count_offset: float) -> None:
            offset = count_offset * layer.subtracts_offset
            run(values, raw, _completed(inputs, max_iterations, offset))

        return fill

    def turned(self, tile: Tile, raw: EscapeTile) -> EscapeTile:
        """Return a tile's escape data with dz along the axes of the picture."""
        n = self.plan.supersampling
        arms = self.arms(*indices(tile.window(n)))
        return self._turned((tile.height * n, tile.width * n), raw, arms)


def _inputs_of(painter: Painter, layer: ResolvedLayer) -> ColoringInputs:
    """Return a layer's inputs; `_Painted.inputs_for` completes them."""
    backend, plan, coloring = painter.backend, painter.plan, layer.coloring
    own = coloring.constants(
        plan.formula,
        painter.scene.iteration.escape_radius,
        1.0 if plan.deep or painter.projected else float(plan.width),
        **coloring.settings,
    )
    constants = np.array([layer.paint.density, layer.paint.offset, *own], backend.real)
    lowest, highest = layer.paint.range or (0.0, 0.0)
    return ColoringInputs(
        first_plane=np.int32(painter.layers.statistics.first(coloring)),
        constants=backend.to_device(constants),
        max_iterations=np.int32(0),
        count_offset=backend.real(0),
        lowest=backend.real(lowest),
        highest=backend.real(highest),
    )


def _completed(inputs: ColoringInputs, max_iterations: int, offset: float) -> ColoringInputs:
    real = type(inputs.lowest)
    return inputs._replace(max_iterations=np.int32(max_iterations), count_offset=real(offset))


def place_samples(
    painter: Painter, layer: ResolvedLayer, placed: PlaceOptions, values: Values | None
) -> tuple[Run, Run | None, Any]:
    """Return the programs of a layer that take raw numbers."""
    backend, coloring = painter.backend, layer.coloring
    planes = len(coloring.statistic.names) if coloring.statistic else 0
    computed = ValueOptions(coloring.for_coloring(), layer.side, planes)
    if not coloring.rank_table:
        return backend.compile(shade.make_position_body, computed, placed), None, None
    fill = backend.compile(shade.make_value_body, computed)
    place = backend.compile(shade.make_ranked_body, placed)
    return place, fill, rank_table(painter, layer, values)


def rank_table(painter: Painter, layer: ResolvedLayer, values: Values | None) -> Any:
    """Return the table by which values of a layer are ranked, on the device."""
    seen = values(layer, painter.value_program(layer)) if values else np.zeros(0)
    assert layer.coloring.rank_table
    table = layer.coloring.rank_table(seen[np.isfinite(seen)])
    return painter.backend.to_device(np.array(table, painter.backend.real))


# Pixels from jittered samples: weighted means of the samples in and around each pixel.
#
# Samples lie anywhere in their cells of the grid (Cook, *Stochastic Sampling in Computer Graphics*,
# 1986), so details too fine to be drawn become noise in place of moire. "adaptive" first takes some
# samples of each pixel, and the others only where neighbours differ.
#
# A pixel does not depend on how the picture is divided into tiles: each tile also computes a border
# of samples that belong to its neighbours.


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
        painter: Painter,
        numbers: Numbers,
        max_iterations: int,
        count_offset: float,
    ) -> None:
        """Take `numbers`, which returns escape data of samples as `Method.iterate_some` does."""
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
