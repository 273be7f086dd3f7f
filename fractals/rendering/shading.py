"""How raw numbers of samples become pixels on a backend: the layers' programs and their inputs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Run
from fractals.color import spaces
from fractals.kernels import blend, pixel_filter, shade
from fractals.kernels.coloring import Coloring
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import PERIOD, Index, Samples, indices, shifts
from fractals.rendering.tiles import Tile
from fractals.scene.geometry import is_plain, matrix
from fractals.scene.layers import Drawn, Layers
from fractals.scene.model import Scene

Fill = Callable[..., None]  # ``fill(values, raw, max_iterations, count_offset)``
Values = Callable[[Drawn, Fill], NDArray[np.floating[Any]]]
Inputs = tuple[Any, ...]  # of a program


@dataclass
class _Painted:
    """A layer's programs, and their inputs on the device."""

    place: Run
    paint: Run
    constants: Any
    lookup: Any
    first: Any  # plane of what was watched
    range: tuple[Any, Any]
    opacity: Any
    values: Run | None  # of a coloring that ranks: `place` then takes values and this table
    table: Any


class Painter:
    """Draws tiles of raw numbers: ready when it is made, and changed by no tile.

    `values` takes a layer, and the function that fills an array with a tile's values of it. It
    returns the layer's values of the whole picture. Without it, colorings that rank all values get
    a table that only serves to compile.
    """

    def __init__(
        self,
        backend: Backend,
        scene: Scene,
        plan: Plan,
        layers: Layers,
        dtype: Any,
        values: Values | None = None,
    ) -> None:
        self.backend, self.scene, self.plan, self.layers = backend, scene, plan, layers
        self.dtype = dtype
        self.projected = plan.view.projection == "exponential"
        self._painted: list[_Painted] = []
        self._compile(values)

    def _compile(self, values: Values | None) -> None:
        """Compile the programs, and bring their inputs to the device."""
        backend = self.backend
        several, filtered = len(self.layers.drawn) > 1, self.plan.jittered
        self._painted = []
        for k, layer in enumerate(self.layers.drawn):
            colors = layer.paint.make_palette()
            coloring, ranged = layer.coloring, layer.paint.range is not None
            planes = len(coloring.watcher.names) if coloring.watcher else 0
            own = coloring.for_coloring()
            curve = layer.transfer, colors.cyclic
            if coloring.knots:
                fill = backend.compile(shade.make_value_body, own, layer.side, planes)
                place = backend.compile(shade.make_ranked_body, *curve, ranged)
                seen = values(layer, self.value_program(layer)) if values else np.zeros(0)
                table = backend.to_device(self._table(coloring, seen))
            else:
                fill, table = None, None
                options = own, *curve, layer.side, ranged, planes
                place = backend.compile(shade.make_position_body, *options)
            paint = backend.compile(shade.make_body)
            lookup = colors.lookup(self.scene.color.inside)
            if several or filtered:
                paint = backend.compile(blend.make_layer_body, layer.blend if k else "first")
            if several:
                lookup = spaces.srgb_from_linear(lookup).astype(np.float32)
            least, most = layer.paint.range or (0.0, 0.0)
            self._painted.append(
                _Painted(
                    place,
                    paint,
                    backend.to_device(self._constants(layer)),
                    backend.to_device(lookup),
                    np.int32(self.layers.watching.first(coloring)),
                    (backend.real(least), backend.real(most)),
                    np.float32(layer.opacity),
                    fill,
                    table,
                )
            )
        self._encode = backend.to_device(spaces.encoding(self.scene.image.bits))
        self._mean = backend.compile(blend.make_mean_body) if several and not filtered else None
        self._to_linear = (
            backend.compile(pixel_filter.make_decode_body) if several and filtered else None
        )
        self._decode = backend.to_device(spaces.decoding()) if several else None
        if filtered:
            self._filter = backend.compile(pixel_filter.make_filter_body, PERIOD)
            self._shifts = backend.to_device(shifts())
        if self.projected:
            self._samples = Samples(self.plan)
        self._turn = None
        if self.layers.derivative and (self.projected or not is_plain(self.plan.view)):
            self._turn = backend.compile(pixel_filter.make_turned_body, self.projected)
            linear = [float(part) for part in matrix(self.plan.view)]
            self._matrix = backend.to_device(np.array(linear, backend.real))
            self._no_arms = backend.to_device(np.zeros((2, 1), backend.real))

    def arms(self, i: Index, j: Index) -> Any:
        """Return `Samples.arms` on the device, where they are needed."""
        if not (self.projected and self.layers.derivative):
            return None
        return self.backend.to_device(self._samples.arms(i, j).astype(self.backend.real))

    def single(
        self, max_iterations: int, count_offset: int
    ) -> tuple[Run, tuple[Any, ...], Run, tuple[Any, ...]] | None:
        """Return what is done where there is one layer alone: two programs, and their inputs.

        The first places samples, and takes these after the raw numbers; the second paints, and
        takes palette, encoding and a sample's share.
        """
        painted, layer = self._painted[0], self.layers.drawn[0]
        if len(self._painted) > 1 or painted.values or self.plan.jittered or self._turn:
            return None
        placing = *self._own(layer, painted, max_iterations, count_offset), *painted.range
        share = np.float32(1 / self.plan.supersampling**2)
        return painted.place, placing, painted.paint, (painted.lookup, self._encode, share)

    def paint(
        self, tile: Tile, raw: tuple[Any, ...], max_iterations: int, count_offset: int
    ) -> Any:
        """Return the sRGB values of a tile's pixels, on the device, from the samples in it."""
        n, size = self.plan.supersampling, (tile.height, tile.width)
        samples = tile.height * n, tile.width * n
        arms = self.arms(*indices(tile.window(n)))
        if self.plan.jittered:
            colors = self.colors(samples, raw, max_iterations, count_offset, arms)
            return self.filter(size, colors, (0, 0), (tile.x * n, tile.y * n))
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
        raw: tuple[Any, ...],
        max_iterations: int,
        count_offset: int,
        arms: Any = None,
    ) -> Any:
        """Return the colors of samples in linear light, (\\*shape, 3), float32, on the device."""
        colors = self._paint(None, shape, raw, max_iterations, count_offset, arms, True)
        if self._to_linear:
            self._to_linear(colors, self._decode)
        return colors

    def filter(
        self, tile: tuple[int, int], colors: Any, first: tuple[int, int], corner: tuple[int, int]
    ) -> Any:
        """Return the pixels of a tile from the colors of its samples, and of some around it.

        `first` is where in `colors` its first sample is, and `corner` where in the picture that of
        `colors` is; both across and down.
        """
        rgb = self.backend.empty((*tile, 3), self.dtype)
        whole = [np.int32(value) for value in (self.plan.supersampling, *first, *corner)]
        self._filter(rgb, colors, self._shifts, self._encode, *whole)
        return rgb

    def _paint(
        self,
        rgb: Any,
        samples: tuple[int, int],
        raw: tuple[Any, ...],
        max_iterations: int,
        count_offset: int,
        arms: Any,
        kept: bool,
    ) -> Any:
        """Return the colors of samples if they are to be `kept`; otherwise fill their pixels."""
        n, backend = self.plan.supersampling, self.backend
        raw = self._turned(samples, raw, arms)
        position = backend.empty(samples, np.float32)
        share = np.float32(1 / n**2)
        colors = backend.empty((*samples, 3), np.float32) if kept else None
        for layer, painted in zip(self.layers.drawn, self._painted, strict=True):
            own = self._own(layer, painted, max_iterations, count_offset)
            if painted.values:
                values = backend.empty(samples, backend.real)
                painted.values(values, *raw, *own)
                painted.place(position, values, painted.table, painted.constants, *painted.range)
            else:
                painted.place(position, *raw, *own, *painted.range)
            if colors is None:
                painted.paint(rgb, position, painted.lookup, self._encode, np.int32(n), share)
            else:
                painted.paint(colors, position, painted.lookup, painted.opacity)
        return colors

    def _own(
        self, layer: Drawn, painted: _Painted, max_iterations: int, count_offset: int
    ) -> tuple[Any, ...]:
        """Return what a layer's programs take after the raw numbers."""
        start = count_offset if layer.paint.transfer == "auto" else 0
        return painted.first, painted.constants, np.int32(max_iterations), np.int32(start)

    def _turned(self, samples: tuple[int, int], raw: tuple[Any, ...], arms: Any) -> tuple[Any, ...]:
        """Return raw numbers whose dz is one in the picture, not in the plane."""
        if not self._turn:
            return raw
        count, x, y, p, q, watched = raw
        p2, q2 = (self.backend.empty(samples, self.backend.real) for _ in range(2))
        self._turn(p2, q2, x, y, p, q, self._matrix, self._no_arms if arms is None else arms)
        return count, x, y, p2, q2, watched

    def value_program(self, layer: Drawn) -> Fill:
        """Return ``run(values, raw, limit, base)`` which fills an array with a layer's values."""
        coloring = layer.coloring
        planes = len(coloring.watcher.names) if coloring.watcher else 0
        run = self.backend.compile(
            shade.make_value_body, coloring.for_coloring(), layer.side, planes
        )
        constants = self.backend.to_device(self._constants(layer))
        first = np.int32(self.layers.watching.first(coloring))

        def fill(values: Any, raw: tuple[Any, ...], max_iterations: int, count_offset: int) -> None:
            start = count_offset if layer.paint.transfer == "auto" else 0
            run(values, *raw, first, constants, np.int32(max_iterations), np.int32(start))

        return fill

    def _table(self, coloring: Coloring, values: NDArray[np.floating[Any]]) -> NDArray[Any]:
        assert coloring.knots
        return np.array(coloring.knots(values[np.isfinite(values)]), self.backend.real)

    def _constants(self, layer: Drawn) -> NDArray[Any]:
        coloring = layer.coloring
        own = coloring.constants(
            self.plan.formula,
            self.scene.iteration.escape_radius,
            1.0 if self.plan.deep or self.projected else float(self.plan.width),
            **coloring.settings,
        )
        return np.array([layer.paint.density, layer.paint.offset, *own], self.backend.real)
