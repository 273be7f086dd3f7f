"""Escape data -> pixels on a backend: the programs of layers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Run
from fractals.color import palette
from fractals.kernels import blend, shade
from fractals.kernels.layout import ColoringInputs, EscapeTile, FilterWindow
from fractals.kernels.shade import PlaceOptions, ValueOptions
from fractals.rendering.develop import Developer, light_table
from fractals.rendering.plan import Plan, Tile
from fractals.rendering.sampling import PERIOD, Index, Samples, indices, shifts
from fractals.scene.geometry import ResolvedLayer, is_plain, matrix

if TYPE_CHECKING:
    from fractals.rendering.groups import Groups, OpenGroups

Fill = Callable[..., None]  # ``fill(values, raw, max_iterations, count_offset)``
Values = Callable[[ResolvedLayer, Fill], NDArray[np.floating[Any]]]
# Returns `place`, `values` and `table` of a layer, as of `_Painted`.
Placing = Callable[
    ["Painter", ResolvedLayer, PlaceOptions, Values | None], tuple[Run, Run | None, Any]
]


class Places(NamedTuple):
    """Where samples lie, on the device, as far as colors depend on it."""

    arms: Any = None  # `Samples.arms`
    # Opacities of layers in groups and of groups, as of `fractals.rendering.groups.Groups`
    weights: tuple[Any, ...] = ()


NO_PLACES = Places()


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

    Where the scene is developed, tiles are; where light glows, tiles are light in float32. Those
    of a relief are the light that its ground reflects.

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
        self.developer: Developer | None = None
        if encode is None and plan.scene.relief.heights != "none":
            encode, self.dtype = light_table(1.0), np.dtype(np.float32)
        elif encode is None and plan.scene.is_developed:
            self.developer = Developer(backend, plan.scene)
            encode, self.dtype = self.developer.encoding(), np.dtype(np.float32)
        self.projected = plan.view.projection == "exponential"
        self._painted: list[_Painted] = []
        table = palette.encoding(plan.scene.image.bits) if encode is None else encode
        shared = encode is None or encode is palette.encoding()
        self._encode = backend.to_device(table, kept=shared)
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
            lookup = colors.lookup(self.scene.color.inside, self.scene.image.primaries)
            if layer.group:
                paint = backend.compile(blend.make_member_body, layer.blend)
            elif several or filtered:
                paint = backend.compile(blend.make_layer_body, layer.blend if k else "first")
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
        self._groups: Groups | None = None
        self._mean: Run | None = None
        self._to_linear: Run | None = None
        self._decode: Any = None
        if several or filtered:
            self._compile_mixing(several, filtered)
        if self.projected:
            self._samples = Samples(self.plan)
        self._turn: Run | None = None
        if self.layers.derivative and (self.projected or not is_plain(self.plan.view)):
            self._compile_turn()

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

    @property
    def constants(self) -> Any:
        """Return the constants of the lowest layer, as of `ColoringInputs`, on the device."""
        return self._painted[0].inputs.constants

    @property
    def glows(self) -> bool:
        """Tell whether tiles are light, because pixels depend on that of the whole picture."""
        return bool(self.developer and self.developer.glows)

    def developed(self, tile: Tile, rgb: Any) -> Any:
        """Return a tile's pixels, on the device, of what the programs of colors have filled."""
        if self.developer is None or self.developer.glows:
            return rgb
        return self.developer.on_device(rgb, tile.x, tile.y)

    def places(self, i: Index, j: Index) -> Places:
        """Return what colors depend on of the places of samples in columns i and rows j."""
        backend, arms = self.backend, None
        if self.projected and self.layers.derivative:
            arms = backend.to_device(self._samples.arms(i, j).astype(backend.real))
        return Places(arms, self._groups.opacities(i, j) if self._groups else ())

    def weights(self, i: Index, j: Index) -> list[NDArray[np.float32]]:
        """Return how much each of the masks lets through of samples in columns i and rows j."""
        return self._groups.weights(i, j) if self._groups else []

    def single(
        self, max_iterations: int, count_offset: float
    ) -> tuple[Run, ColoringInputs, Run, tuple[Any, ...]] | None:
        """Return two programs and their inputs, where one layer is drawn, or None.

        The first program fills positions, from the escape data and these inputs. The second fills
        pixels, from positions, palette, encoding and a sample's share of a pixel. None: the picture
        takes more than these two.
        """
        painted = self._painted[0]
        takes_more = painted.values or self.plan.jittered or self._turn or self.developer
        if len(self._painted) > 1 or takes_more:
            return None
        inputs = painted.inputs_for(max_iterations, count_offset)
        share = np.float32(1 / self.plan.supersampling**2)
        return painted.place, inputs, painted.paint, (painted.lookup, self._encode, share)

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
        """Return pixels as `paint` does, of samples that are not jittered and may lie anywhere.

        `size` holds the rows and columns of the pixels; `places` is what `places` returns.
        """
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
        places = self.places(*indices(tile.window(n)))
        return self._turned((tile.height * n, tile.width * n), raw, places.arms)


def constants_of(plan: Plan, layer: ResolvedLayer) -> list[float]:
    """Return the constants of a layer's programs."""
    coloring, projected = layer.coloring, plan.view.projection == "exponential"
    own = coloring.constants(
        plan.formula,
        plan.scene.iteration.escape_radius,
        1.0 if plan.deep or projected else float(plan.width),
        **coloring.settings,
    )
    return [layer.paint.density, layer.paint.offset, *own]


def _inputs_of(painter: Painter, layer: ResolvedLayer) -> ColoringInputs:
    """Return a layer's inputs; `_Painted.inputs_for` completes them."""
    backend = painter.backend
    constants = np.array(constants_of(painter.plan, layer), backend.real)
    lowest, highest = layer.paint.range or (0.0, 0.0)
    return ColoringInputs(
        first_plane=np.int32(painter.layers.statistics.first(layer.coloring)),
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
