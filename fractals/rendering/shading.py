"""Escape data -> pixels on a backend: programs of layers and groups, masks, jittered samples."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Run
from fractals.color import palette, trap_image
from fractals.errors import OptionError
from fractals.kernels import blend, shade
from fractals.kernels.layout import ColoringInputs, EscapeTile, FilterWindow
from fractals.kernels.shade import PlaceOptions, ValueOptions
from fractals.rendering.develop import Developer, light_table
from fractals.rendering.plan import Plan, Tile
from fractals.rendering.sampling import PERIOD, Index, Samples, indices, shifts
from fractals.scene.geometry import ResolvedGroup, ResolvedLayer, is_plain, matrix
from fractals.scene.paint import PictureMask

Fill = Callable[..., None]  # ``fill(values, raw, max_iterations, count_offset)``
Values = Callable[[ResolvedLayer, Fill], NDArray[np.floating[Any]]]
# Returns `place`, `values` and `table` of a layer, as of `_Painted`.
# Open groups of layers, from outside, and their buffers
OpenGroups = list[tuple[ResolvedGroup, Any]]
Placing = Callable[
    ["Painter", ResolvedLayer, PlaceOptions, Values | None], tuple[Run, Run | None, Any]
]


class Places(NamedTuple):
    """Where samples lie, on the device, as far as colors depend on it."""

    arms: Any = None  # `Samples.arms`
    # Opacities of layers in groups and of groups, by the numbers of `_Painted`
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
    # chain: the groups that the layer is in, from outside
    chain: tuple[ResolvedGroup, ...] = ()
    # weights: number of the opacities of the layer
    weights: int = 0
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
        self._painted, self._masks = [], self.layers.masks
        self._maps = [mask_map(self.plan, mask) for mask in self._masks]
        self._opacities: list[tuple[PictureMask | None, Any]] = []  # masks, and arrays of 1 x 1
        self._clear = backend.compile(blend.make_clear_body) if self.layers.groups else None
        for k, layer in enumerate(self.layers.drawn):
            colors = layer.paint.make_palette()
            placed = PlaceOptions(layer.transfer, colors.cyclic, layer.paint.range is not None)
            place, fill, table = placing(self, layer, placed, values)
            paint = backend.compile(shade.make_body)
            lookup = colors.lookup(self.scene.color.inside, self.scene.image.primaries)
            chain = layer.group.chain if layer.group else ()
            if chain:
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
                    chain,
                    self._weighted(layer.mask, layer.opacity) if chain else 0,
                )
            )
        # Of each group what blends it over what is below, and the number of its opacities
        self._merges: dict[ResolvedGroup, tuple[Run, int]] = {}
        self._mean: Run | None = None
        self._to_linear: Run | None = None
        self._decode: Any = None
        if several or filtered or self.layers.groups:
            self._compile_mixing(several, filtered)
        if self.projected:
            self._samples = Samples(self.plan)
        self._turn: Run | None = None
        if self.layers.derivative and (self.projected or not is_plain(self.plan.view)):
            self._compile_turn()

    def _compile_mixing(self, several: bool, filtered: bool) -> None:
        """Compile what mixes layers, and samples at random places of pixels."""
        backend = self.backend
        for group in self.layers.groups:
            body = blend.make_nested_body if group.outer else blend.make_group_body
            opacities = self._weighted(group.over.picture_mask, group.over.opacity)
            self._merges[group] = backend.compile(body, group.blend), opacities
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

    def _weighted(self, mask: PictureMask | None, opacity: float) -> int:
        """Return the number of a mask and an opacity in `Places.weights`."""
        plain = np.full((1, 1), opacity, np.float32)
        self._opacities.append((mask, plain if mask else self.backend.to_device(plain)))
        return len(self._opacities) - 1

    def places(self, i: Index, j: Index) -> Places:
        """Return what colors depend on of the places of samples in columns i and rows j."""
        backend, arms = self.backend, None
        if self.projected and self.layers.derivative:
            arms = backend.to_device(self._samples.arms(i, j).astype(backend.real))
        masks = dict(zip(map(id, self._masks), self.weights(i, j), strict=True))
        weights = (
            backend.to_device(masks[id(mask)] * opacity) if mask else opacity
            for mask, opacity in self._opacities
        )
        return Places(arms, tuple(weights))

    def weights(self, i: Index, j: Index) -> list[NDArray[np.float32]]:
        """Return how much each of the masks lets through of samples in columns i and rows j."""
        return [
            mask_weights(trap_image.weights(mask.picture), affine, i, j)
            for mask, affine in zip(self._masks, self._maps, strict=True)
        ]

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
        placed = self._opacities or self.projected
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
        weights = places.weights or [opacity for _, opacity in self._opacities]
        open_groups: OpenGroups = []
        for k, painted in enumerate(self._painted):
            if painted.values:
                inputs = painted.inputs_for(max_iterations, count_offset)
                values = backend.empty(samples, backend.real)
                painted.values(values, raw, inputs)
                painted.place(position, values, painted.table, inputs)
            else:
                painted.placing(max_iterations, count_offset)(position, raw)
            if not painted.chain:
                n = 0 if kept else self.plan.supersampling
                painted.painting(n, self._encode)(colors if kept else rgb, position)
                continue
            self._open_groups(painted, open_groups, samples)
            painted.paint(open_groups[-1][1], position, painted.lookup, weights[painted.weights])
            above = self._painted[k + 1].chain if k + 1 < len(self._painted) else ()
            self._close_groups(above, open_groups, colors, weights)
        return colors

    def _open_groups(
        self, painted: _Painted, open_groups: OpenGroups, samples: tuple[int, int]
    ) -> None:
        """Begin the groups of a layer that are not open."""
        assert self._clear
        for group in painted.chain[len(open_groups) :]:
            open_groups.append((group, self.backend.empty((*samples, 4), np.float32)))
            self._clear(open_groups[-1][1])

    def _close_groups(
        self,
        above: Sequence[ResolvedGroup],
        open_groups: OpenGroups,
        colors: Any,
        weights: Sequence[Any],
    ) -> None:
        """Blend the groups that the next layer is not in over what is below them."""
        while open_groups and open_groups[-1][0] not in above:
            group, inner = open_groups.pop()
            merge, opacities = self._merges[group]
            merge(open_groups[-1][1] if open_groups else colors, inner, weights[opacities])

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


# Masks: pictures whose brightness says how much of a layer is drawn.
#
# Weights are computed by NumPy for every device, so they have the same bits.


Affine = tuple[float, ...]  # a, b, c, d, e, f: column and row of a mask are a i + b j + e, ...


def mask_map(plan: Plan, mask: PictureMask) -> Affine:
    """Return the map from columns and rows of samples to those of the pixels of a mask."""
    rows, columns = trap_image.weights(mask.picture).shape
    n, (width, height) = plan.supersampling, plan.size
    half = Fraction(1, 2)
    if mask.view is None:
        x, y = Fraction(columns, width * n), Fraction(rows, height * n)
        return _floats(x, 0, 0, y, half * x - half, half * y - half)
    if plan.view.projection != "plane":
        raise OptionError("a mask with a place in the plane can't be drawn in an exponential map")
    side = Fraction(Decimal(mask.view.width or "1")) / columns
    a, b, c, d = matrix(mask.view)
    area = (a * d - b * c) * side
    p, q, r, s = (part * plan.pixel / n for part in matrix(plan.view))  # steps of samples

    def in_mask(x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
        return (d * x - b * y) / area, (c * x - a * y) / area  # rows of a mask run down

    right, down = in_mask(p, r), in_mask(-q, -s)
    middle = [Fraction(Decimal(part)) for part in mask.view.center or ("0", "0")]
    x, y = in_mask(*(own - other for own, other in zip(plan.center, middle, strict=True)))
    i, j = Fraction(width * n - 1, 2), Fraction(height * n - 1, 2)
    e = x + Fraction(columns - 1, 2) - right[0] * i - down[0] * j
    f = y + Fraction(rows - 1, 2) - right[1] * i - down[1] * j
    return _floats(right[0], down[0], right[1], down[1], e, f)


def _floats(*parts: Fraction | int) -> Affine:
    """Return numbers as floats; those beyond 1e150 are far outside of any mask."""
    return tuple(float(max(-(10**150), min(10**150, part))) for part in parts)


def mask_weights(
    bright: NDArray[np.float64], affine: Affine, i: Index, j: Index
) -> NDArray[np.float32]:
    """Return the weights of samples, interpolated between pixels; edges of a mask go on."""
    a, b, c, d, e, f = affine
    rows, columns = bright.shape
    straight = not b and not c  # rows and columns of samples are those of the mask
    u, v = (a * i + e, d * j + f) if straight else (a * i + b * j + e, c * i + d * j + f)
    u, v = np.clip(u, 0, columns - 1), np.clip(v, 0, rows - 1)
    x, y = u.astype(np.int64), v.astype(np.int64)
    right, below = np.minimum(x + 1, columns - 1), np.minimum(y + 1, rows - 1)
    u, v = u - x, v - y
    if straight and x.ndim == 2 and x.shape[0] == y.shape[1] == 1:
        # Each row of the mask is interpolated once: a quarter of the time, and the same sums
        first, end = y.min(), below.max() + 1
        across = bright[first:end, x[0]] * (1 - u) + bright[first:end, right[0]] * u
        top, bottom = across[y[:, 0] - first], across[below[:, 0] - first]
    else:
        top = bright[y, x] * (1 - u) + bright[y, right] * u
        bottom = bright[below, x] * (1 - u) + bright[below, right] * u
    top *= 1 - v  # in place, because new arrays take as long as the sums
    bottom *= v
    top += bottom
    found: NDArray[np.float32] = top.astype(np.float32)
    return found.reshape(len(found), -1)  # samples of pixels that are apart: a pixel a row


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
        lap("iterate")
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
