"""How raw numbers of samples become pixels on a backend: the layers' programs and their inputs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals import palette
from fractals.backends import Backend
from fractals.backends.base import Run
from fractals.layers import Drawn, Layers
from fractals.planning import Plan
from fractals.programs import blend, shade
from fractals.scene import Scene

Values = Callable[[Drawn], NDArray[np.floating[Any]]]


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


class Painter:
    """Draws tiles of raw numbers. `start` comes first."""

    def __init__(
        self, backend: Backend, scene: Scene, plan: Plan, layers: Layers, dtype: Any
    ) -> None:
        self.backend, self.scene, self.plan, self.layers = backend, scene, plan, layers
        self.dtype = dtype
        self._painted: list[_Painted] = []

    def start(self, values: Values | None = None) -> None:
        """Compile the programs, and bring their inputs to the device.

        `values` returns those of a layer's samples, of the whole picture: without it, colorings
        that must see them get a table that is of no use but to compile.
        """
        backend = self.backend
        several = len(self.layers.drawn) > 1
        self._painted = []
        for k, layer in enumerate(self.layers.drawn):
            colors = layer.paint.make_palette()
            coloring, ranged = layer.coloring, layer.paint.range is not None
            planes = len(coloring.watcher.names) if coloring.watcher else 0
            place = backend.compile(
                shade.make_position_body,
                coloring.for_coloring(),
                layer.transfer,
                colors.cyclic,
                layer.side,
                ranged,
                planes,
            )
            paint = backend.compile(shade.make_body)
            lookup = colors.lookup(self.scene.color.inside)
            if several:
                paint = backend.compile(blend.make_layer_body, layer.blend if k else "first")
                lookup = palette.srgb_from_linear(lookup).astype(np.float32)
            least, most = layer.paint.range or (0.0, 0.0)
            self._painted.append(
                _Painted(
                    place,
                    paint,
                    backend.to_device(self._constants(layer, values)),
                    backend.to_device(lookup),
                    np.int32(self.layers.watching.first(coloring)),
                    (backend.real(least), backend.real(most)),
                    np.float32(layer.opacity),
                )
            )
        self._encode = backend.to_device(palette.encoding(self.scene.image.bits))
        if several:
            self._mean = backend.compile(blend.make_mean_body)
            self._decode = backend.to_device(palette.decoding())

    def paint(self, tile: tuple[int, int], raw: tuple[Any, ...], limit: int, base: int) -> Any:
        """Return the sRGB values of a tile of (height, width) pixels, on the device."""
        n = self.plan.supersampling
        height, width = tile
        samples = height * n, width * n
        backend = self.backend
        rgb = backend.empty((height, width, 3), self.dtype)
        position = backend.empty(samples, np.float32)
        share = np.float32(1 / n**2)
        several = len(self._painted) > 1
        colors = backend.empty((*samples, 3), np.float32) if several else None
        for layer, painted in zip(self.layers.drawn, self._painted, strict=True):
            start = base if layer.paint.transfer == "auto" else 0
            own = painted.first, painted.constants, np.int32(limit), np.int32(start)
            painted.place(position, *raw, *own, *painted.range)
            if colors is None:
                painted.paint(rgb, position, painted.lookup, self._encode, np.int32(n), share)
            else:
                painted.paint(colors, position, painted.lookup, painted.opacity)
        if colors is not None:
            self._mean(rgb, colors, self._decode, self._encode, np.int32(n), share)
        return rgb

    def value_program(self, layer: Drawn) -> Callable[..., None]:
        """Return ``run(values, raw, limit, base)`` which fills an array with a layer's values."""
        coloring = layer.coloring
        planes = len(coloring.watcher.names) if coloring.watcher else 0
        run = self.backend.compile(
            shade.make_value_body, coloring.for_ranking(), layer.side, planes
        )
        constants = self.backend.to_device(self._constants(layer, None))
        first = np.int32(self.layers.watching.first(coloring))

        def fill(values: Any, raw: tuple[Any, ...], limit: int, base: int) -> None:
            start = base if layer.paint.transfer == "auto" else 0
            run(values, *raw, first, constants, np.int32(limit), np.int32(start))

        return fill

    def _constants(self, layer: Drawn, values: Values | None) -> NDArray[Any]:
        coloring = layer.coloring
        own = coloring.constants(
            self.scene.make_formula(),
            self.scene.iteration.escape_radius,
            1.0 if self.plan.deep else float(self.plan.width),
            **coloring.settings,
        )
        numbers = [layer.paint.density, layer.paint.offset, *own]
        if coloring.knots:
            seen = values(layer) if values else np.zeros(0)
            numbers += list(coloring.knots(seen[np.isfinite(seen)]))
        return np.array(numbers, self.backend.real)
