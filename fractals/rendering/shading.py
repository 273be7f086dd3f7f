"""Escape data -> pixels on a backend: the programs of one layer.

`fractals.rendering.layered` has what mixes several layers, or samples at random places.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Run
from fractals.color import palette
from fractals.kernels import shade
from fractals.kernels.layout import ColoringInputs, EscapeTile
from fractals.kernels.shade import PlaceOptions, ValueOptions
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import Index
from fractals.rendering.tiles import Tile
from fractals.scene.geometry import ResolvedLayer

if TYPE_CHECKING:
    from fractals.rendering.develop import Developer

Fill = Callable[..., None]  # ``fill(values, raw, max_iterations, count_offset)``
Values = Callable[[ResolvedLayer, Fill], NDArray[np.floating[Any]]]


@dataclass
class LayerPrograms:
    """A layer's programs, and their inputs on the device."""

    # place, paint: programs that fill positions in the palette, and colors
    place: Run
    paint: Run
    inputs: ColoringInputs  # without `max_iterations` and `count_offset`
    subtracts_offset: bool  # whether the count offset is subtracted from the values
    lookup: Any
    opacity: Any = None  # of a layer over others
    # values, table: of a coloring that ranks values: `values` computes them, `place` then takes
    # values and the table
    values: Run | None = None
    table: Any = None
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
    """Draws tiles of raw numbers by one layer: ready when it is made, and changed by no tile.

    If the scene is developed, a tile is developed by itself, unless light glows: then a tile is
    light in float32. A tile of a relief is the light that its ground reflects. `encode` is the
    table from linear light to channels; by default it gives sRGB.
    """

    def __init__(
        self, backend: Backend, plan: Plan, dtype: Any, encode: NDArray[Any] | None = None
    ) -> None:
        self.backend, self.scene, self.plan, self.layers = backend, plan.scene, plan, plan.layers
        self.dtype = dtype
        self.developer: Developer | None = None
        if encode is None and (plan.scene.relief.heights != "none" or plan.scene.is_developed):
            encode, self.dtype = self._to_light(), np.dtype(np.float32)
        table = palette.encoding(plan.scene.image.bits) if encode is None else encode
        shared = encode is None or encode is palette.encoding()
        self._encode = backend.to_device(table, kept=shared)
        self._painted = self._compile()

    def _to_light(self) -> NDArray[Any]:
        """Return the table of the light that a relief or a developer takes."""
        from fractals.rendering.develop import Developer, light_table

        if self.scene.relief.heights != "none":
            return light_table(1.0)
        self.developer = Developer(self.backend, self.scene)
        return self.developer.encoding()

    def _compile(self) -> list[LayerPrograms]:
        """Return the programs of all layers, and their inputs on the device."""
        backend, layer = self.backend, self.layers.drawn[0]
        colors = layer.paint.make_palette()
        place = backend.compile(
            shade.make_position_body, value_options(layer), place_options(layer, colors)
        )
        lookup = colors.lookup(self.scene.color.inside, self.scene.image.primaries)
        own = inputs_of(self, layer), layer.subtracts_offset, backend.to_device(lookup, kept=True)
        return [LayerPrograms(place, backend.compile(shade.make_body), *own)]

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

    def weights(self, i: Index, j: Index) -> list[NDArray[np.float32]]:
        """Return how much each of the masks lets through of samples in columns i and rows j."""
        return []

    def single(
        self, max_iterations: int, count_offset: float
    ) -> tuple[Run, ColoringInputs, Run, tuple[Any, ...]] | None:
        """Return two programs and their inputs, where these draw the picture, or None.

        The first program fills positions, from the escape data and these inputs. The second fills
        pixels, from positions, palette, encoding and a sample's share of a pixel.
        """
        if self.developer:
            return None
        (painted,) = self._painted
        inputs = painted.inputs_for(max_iterations, count_offset)
        share = np.float32(1 / self.plan.supersampling**2)
        return painted.place, inputs, painted.paint, (painted.lookup, self._encode, share)

    def paint(self, tile: Tile, raw: EscapeTile, max_iterations: int, count_offset: float) -> Any:
        """Return a tile's pixels, in sRGB, on the device; `raw` is of its samples."""
        rgb = self.paint_some((tile.height, tile.width), raw, max_iterations, count_offset)
        return self.developed(tile, rgb)

    def paint_some(
        self, size: tuple[int, int], raw: EscapeTile, max_iterations: int, count_offset: float
    ) -> Any:
        """Return pixels as `paint` does, of samples that are not jittered and may lie anywhere.

        `size` holds the rows and columns of the pixels.
        """
        n, backend, (painted,) = self.plan.supersampling, self.backend, self._painted
        rgb = backend.empty((*size, 3), self.dtype)
        position = backend.empty((size[0] * n, size[1] * n), np.float32)
        painted.placing(max_iterations, count_offset)(position, raw)
        painted.painting(n, self._encode)(rgb, position)
        return rgb

    def value_program(self, layer: ResolvedLayer) -> Fill:
        """Return ``fill(values, raw, max_iterations, count_offset)`` of a layer's values."""
        run = self.backend.compile(shade.make_value_body, value_options(layer))
        inputs = inputs_of(self, layer)

        def fill(values: Any, raw: EscapeTile, max_iterations: int, count_offset: float) -> None:
            offset = count_offset * layer.subtracts_offset
            run(values, raw, _completed(inputs, max_iterations, offset))

        return fill

    def turned(self, tile: Tile, raw: EscapeTile) -> EscapeTile:
        """Return a tile's escape data with dz along the axes of the picture."""
        return raw


def value_options(layer: ResolvedLayer) -> ValueOptions:
    """Return the options of the programs that compute a layer's values."""
    coloring = layer.coloring
    planes = len(coloring.statistic.names) if coloring.statistic else 0
    return ValueOptions(coloring.for_coloring(), layer.side, planes)


def place_options(layer: ResolvedLayer, colors: palette.Palette) -> PlaceOptions:
    """Return the options of the programs that place a layer's values in a palette."""
    return PlaceOptions(layer.transfer, colors.cyclic, layer.paint.range is not None)


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


def inputs_of(painter: Painter, layer: ResolvedLayer) -> ColoringInputs:
    """Return a layer's inputs; `LayerPrograms.inputs_for` completes them."""
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
