"""Escape data -> pixels where a picture takes more than one layer's two programs.

That is several layers and groups, colorings that rank the values of the whole picture, samples at
random places of pixels, and derivatives in a view that is turned.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Run
from fractals.color import palette
from fractals.kernels import blend, shade
from fractals.kernels.layout import EscapeTile, FilterWindow
from fractals.kernels.shade import PlaceOptions
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import PERIOD, Index, Samples, indices, shifts
from fractals.rendering.shading import (
    LayerPrograms,
    Painter,
    Values,
    inputs_of,
    place_options,
    value_options,
)
from fractals.rendering.tiles import Tile
from fractals.scene.geometry import ResolvedLayer, is_plain, matrix

if TYPE_CHECKING:
    from fractals.rendering.groups import Groups, OpenGroups

# Returns `place`, `values` and `table` of a layer, as of `LayerPrograms`.
Placing = Callable[
    [Painter, ResolvedLayer, PlaceOptions, Values | None], tuple[Run, Run | None, Any]
]


class Places(NamedTuple):
    """Where samples lie, on the device, as far as colors depend on it."""

    arms: Any = None  # `Samples.arms`
    # Opacities of layers in groups and of groups, as of `fractals.rendering.groups.Groups`
    weights: tuple[Any, ...] = ()


NO_PLACES = Places()


class LayeredPainter(Painter):
    """Draws tiles of raw numbers by any layers; see `fractals.rendering.drawing.make_painter`.

    `placing` returns a layer's programs; by default those that take raw numbers.
    """

    _groups: "Groups | None" = None
    _mean: Run | None = None
    _to_linear: Run | None = None
    _turn: Run | None = None
    _decode: Any = None

    def __init__(
        self,
        backend: Backend,
        plan: Plan,
        dtype: Any,
        encode: NDArray[Any] | None = None,
        values: Values | None = None,
        placing: Placing | None = None,
    ) -> None:
        self._values, self._placing = values, placing or place_samples
        self.projected = plan.view.projection == "exponential"
        super().__init__(backend, plan, dtype, encode)

    def _compile(self) -> list[LayerPrograms]:
        """Return the programs of all layers, and their inputs on the device."""
        backend, painted = self.backend, []
        several, filtered = len(self.layers.drawn) > 1, self.plan.jittered
        for k, layer in enumerate(self.layers.drawn):
            colors = layer.paint.make_palette()
            placed = place_options(layer, colors)
            place, fill, table = self._placing(self, layer, placed, self._values)
            paint = backend.compile(shade.make_body)
            lookup = colors.lookup(self.scene.color.inside, self.scene.image.primaries)
            if layer.group:
                paint = backend.compile(blend.make_member_body, layer.blend)
            elif several or filtered:
                paint = backend.compile(blend.make_layer_body, layer.blend if k else "first")
            if several:
                lookup = palette.srgb_from_linear(lookup).astype(np.float32)
            on_device = backend.to_device(lookup, kept=not several)
            own = inputs_of(self, layer), layer.subtracts_offset, on_device
            over = np.float32(layer.opacity), fill, table
            painted.append(LayerPrograms(place, paint, *own, *over))
        if several or filtered:
            self._compile_mixing(several, filtered)
        if self.projected:
            self._samples = Samples(self.plan)
        if self.layers.derivative and (self.projected or not is_plain(self.plan.view)):
            self._compile_turn()
        return painted

    def _compile_mixing(self, several: bool, filtered: bool) -> None:
        """Compile what mixes layers, and samples at random places of pixels."""
        backend = self.backend
        if self.layers.groups:
            from fractals.rendering.groups import Groups  # which other pictures do not need

            self._groups = Groups(backend, self.plan)
        if several:
            self._decode = backend.to_device(palette.decoding(), kept=True)
            if filtered:
                self._to_linear = backend.compile(shade.make_decode_body)
            else:
                self._mean = backend.compile(blend.make_mean_body)
        if filtered:
            self._filter = backend.compile(shade.make_filter_body, PERIOD)
            self._shifts = backend.to_device(shifts())

    def _compile_turn(self) -> None:
        """Compile what turns dz to the axes of the picture."""
        backend = self.backend
        self._turn = backend.compile(shade.make_turned_body, self.projected)
        linear = [float(part) for part in matrix(self.plan.view)]
        self._matrix = backend.to_device(np.array(linear, backend.real))
        self._no_arms = backend.to_device(np.zeros((2, 1), backend.real))

    def places(self, i: Index, j: Index) -> Places:
        """Return what colors depend on of the places of samples in columns i and rows j."""
        backend, arms = self.backend, None
        if self.projected and self.layers.derivative:
            arms = backend.to_device(self._samples.arms(i, j).astype(backend.real))
        return Places(arms, self._groups.opacities(i, j) if self._groups else ())

    def weights(self, i: Index, j: Index) -> list[NDArray[np.float32]]:
        """Return how much each of the masks lets through of samples in columns i and rows j."""
        return self._groups.weights(i, j) if self._groups else []

    def single(self, max_iterations: int, count_offset: float) -> None:
        """Return None: two programs do not draw the picture."""

    def paint(self, tile: Tile, raw: EscapeTile, max_iterations: int, count_offset: float) -> Any:
        """Return a tile's pixels, in sRGB, on the device; `raw` is of its samples."""
        n, size = self.plan.supersampling, (tile.height, tile.width)
        placed = self._groups or self.projected
        places = self.places(*indices(tile.window(n))) if placed else NO_PLACES
        if self.plan.jittered:
            samples = tile.height * n, tile.width * n
            colors = self.colors(samples, raw, max_iterations, count_offset, places)
            rgb = self.filter(size, colors, (0, 0), (tile.x * n, tile.y * n))
        else:
            rgb = self.paint_some(size, raw, max_iterations, count_offset, places)
        return self.developed(tile, rgb)

    def paint_some(
        self,
        size: tuple[int, int],
        raw: EscapeTile,
        max_iterations: int,
        count_offset: float,
        places: Places = NO_PLACES,
    ) -> Any:
        """Return pixels as `Painter.paint_some` does; `places` is what `places` returns."""
        n = self.plan.supersampling
        samples = size[0] * n, size[1] * n
        rgb = self.backend.empty((*size, 3), self.dtype)
        colors = self._paint(
            rgb, samples, raw, max_iterations, count_offset, places, self._mean is not None
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
        places: Places = NO_PLACES,
    ) -> Any:
        """Return the colors of samples in linear light, on the device.

        The result has one more axis than the samples, of 3 channels in float32. `places` is what
        `places` returns for the samples.
        """
        colors = self._paint(None, shape, raw, max_iterations, count_offset, places, True)
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
        places: Places,
        kept: bool,
    ) -> Any:
        """Return the samples' colors where `kept`; otherwise fill `rgb`."""
        backend = self.backend
        raw = self._turned(samples, raw, places.arms)
        position = backend.empty(samples, np.float32)
        colors = backend.empty((*samples, 3), np.float32) if kept else None
        opened: OpenGroups = []
        for k, painted in enumerate(self._painted):
            if painted.values:
                inputs = painted.inputs_for(max_iterations, count_offset)
                values = backend.empty(samples, backend.real)
                painted.values(values, raw, inputs)
                painted.place(position, values, painted.table, inputs)
            else:
                painted.placing(max_iterations, count_offset)(position, raw)
            if self._groups and self.layers.drawn[k].group:
                own = painted.paint, position, painted.lookup
                self._groups.paint(k, *own, colors, places.weights, opened)
            else:
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

    def turned(self, tile: Tile, raw: EscapeTile) -> EscapeTile:
        """Return a tile's escape data with dz along the axes of the picture."""
        n = self.plan.supersampling
        places = self.places(*indices(tile.window(n)))
        return self._turned((tile.height * n, tile.width * n), raw, places.arms)


def place_samples(
    painter: Painter, layer: ResolvedLayer, placed: PlaceOptions, values: Values | None
) -> tuple[Run, Run | None, Any]:
    """Return the programs of a layer that take raw numbers."""
    backend, coloring = painter.backend, layer.coloring
    computed = value_options(layer)
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
