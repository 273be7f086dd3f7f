"""The numbers that a shader colors: curve(v) - c0 of each layer, and the layers' descriptions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.color import palette as spaces
from fractals.kernels.coloring_math import EDGE_COUNT, edges
from fractals.kernels.layout import EscapeTile
from fractals.rendering.drawing import Drawing
from fractals.rendering.fit import CURVES
from fractals.rendering.plan import Tile
from fractals.rendering.shading import Painter
from fractals.scene.geometry import ResolvedLayer, make_layers
from fractals.scene.model import Scene
from fractals.scene.paint import Paint

Floats = NDArray[np.float64]


def same_values(old: Scene, scene: Scene) -> bool:
    """Tell whether the layers of two scenes have equal values, however these are colored."""

    def facts(paint: Paint) -> tuple[Any, ...]:
        return paint.coloring, paint.transfer, paint.mask, paint.range

    first, second = ([each.color, *each.color.layers] for each in (old, scene))
    return [facts(paint) for paint in first] == [facts(paint) for paint in second]


@dataclass
class LayerValues:
    """Computes the values of one layer."""

    layer: ResolvedLayer
    fill: Any
    # The median of the view's values, which is subtracted, so that float32 keeps its digits
    c0: float = 0.0
    table: Floats | None = None  # of a coloring that ranks values; ndarray, optional
    # The values of the coarse picture: what fits and histograms are made of; ndarray
    coarse: Floats = field(default_factory=lambda: np.zeros(0))

    def settle(self, found: Floats) -> None:
        """Set what depends on the whole view, from the coarse picture's plain values."""
        known = found[np.isfinite(found)]
        if self.layer.coloring.rank_table:
            self.table = np.asarray(self.layer.coloring.rank_table(known), np.float64)
        curved = self.curved(found)
        self.coarse = curved[np.isfinite(curved)]
        self.c0 = float(np.median(self.coarse)) if self.coarse.size else 0.0

    def curved(self, found: Floats) -> Floats:
        """Return values after rank, range and transfer; NaN where the layer draws nothing."""
        values = found
        if self.table is not None:
            assert len(self.table) == EDGE_COUNT + 1
            ranks = np.interp(found, edges(self.table[0]), self.table[1:])
            values = np.where(np.isnan(found), np.nan, ranks)
        with np.errstate(invalid="ignore", over="ignore"):
            if self.layer.paint.range:
                low, high = self.layer.paint.range
                values = np.where((values >= low) & (values <= high), values, np.nan)
            return np.asarray(CURVES[self.layer.transfer](values), np.float64)

    def centered(self, found: Floats) -> NDArray[np.float32]:
        """Return what is sent: curve(v) - c0 in float32."""
        return (self.curved(found) - self.c0).astype(np.float32)


class ViewValues:
    """Computes the values of all layers of a drawing with one sample a pixel."""

    def __init__(self, drawing: Drawing) -> None:
        plan = drawing.plan
        self.drawing, self.color = drawing, plan.scene.color
        self.settled = False  # whether the coarse picture has set c0
        self.painter = Painter(drawing.backend, plan.scene, plan, plan.layers, np.uint8)
        self.layers = [
            LayerValues(layer, self.painter.value_program(layer)) for layer in plan.layers.drawn
        ]

    def settle(self, found: Sequence[Floats]) -> None:
        """Set what depends on the whole view, from the coarse picture's plain values."""
        for each, part in zip(self.layers, found, strict=True):
            each.settle(part)
        self.settled = True

    def repaint(self, scene: Scene) -> None:
        """Take other palettes, densities, offsets and blends, which change no value."""
        self.color = scene.color
        for each, layer in zip(self.layers, make_layers(scene).drawn, strict=True):
            each.layer = layer

    def plain(self, tile: Tile, raw: EscapeTile) -> list[Floats]:
        """Return each layer's values v of a tile's samples, before the transfer."""
        backend, source = self.drawing.backend, self.drawing.source
        turned = self.painter.turned(tile, raw)
        found = []
        for each in self.layers:
            values = np.empty((tile.height, tile.width), backend.real)
            on_device = backend.empty(values.shape, backend.real)
            each.fill(on_device, turned, source.max_iterations, source.count_offset)
            backend.to_host(on_device, values)
            found.append(values.astype(np.float64, copy=False))
        return found

    def tables(self) -> list[NDArray[np.float32]]:
        """Return the layers' lookup tables, in the space in which their colors are mixed."""
        inside = self.color.inside
        found = [each.layer.paint.make_palette().lookup(inside) for each in self.layers]
        if len(found) > 1:
            found = [spaces.srgb_from_linear(table).astype(np.float32) for table in found]
        return found

    def described(self) -> list[dict[str, Any]]:
        """Return the descriptions of the layers, as of PROTOCOL.md."""
        space = "srgb" if len(self.layers) > 1 else "linear"
        return [
            {
                "coloring": each.layer.coloring.name,
                "c0": each.c0,
                "density": each.layer.paint.density,
                "offset": each.layer.paint.offset,
                "cyclic": (palette := each.layer.paint.make_palette()).cyclic,
                "entries": len(palette.lookup("#000")) - 2,
                "space": space,
                "transfer": each.layer.transfer,
                "blend": each.layer.blend if k else "normal",
                "opacity": each.layer.opacity,
            }
            for k, each in enumerate(self.layers)
        ]

    def fit(self) -> tuple[float, float]:
        """Return density and offset that spread the middle 98 % of the first layer over a turn."""
        coarse = self.layers[0].coarse
        if not coarse.size:
            return 1.0, 0.0
        first, last = (float(part) for part in np.quantile(coarse, (0.01, 0.99)))
        if last <= first:
            return 1.0, 0.0
        density = min(float(f"{1 / (last - first):.3g}"), 1e6)
        return density, max(-1e6, min(1e6, float(f"{-density * first:.3g}")))

    def histogram(self, layer: int, bins: int) -> tuple[float, float, list[int]]:
        """Return the ends, and how many samples lie in each of equal steps between them."""
        coarse = self.layers[layer].coarse
        if not coarse.size:
            return 0.0, 1.0, [0] * bins
        low, high = (float(part) for part in (coarse.min(), coarse.max()))
        high = high if high > low else low + 1
        counts, _ = np.histogram(coarse, bins, (low, high))
        return low, high, [int(count) for count in counts]
