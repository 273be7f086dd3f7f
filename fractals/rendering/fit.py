"""Density and offset of the palette that fit a coloring's values in a view."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.layout import EscapeTile
from fractals.rendering.drawing import open_drawing, open_plan
from fractals.rendering.options import RenderOptions
from fractals.rendering.render import compute_data
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene

SIZE = (96, 54)  # samples; the fit depends on the scene, and not on the size of its picture
SHARES = (0.01, 0.99)  # of the values: those between them are spread over the palette
# Turns of the palette between them at density 1. Fewer turns leave most of the palette unused.
LEAST_TURNS = 0.5
# The curves of `fractals.kernels.shade.make_transfer`, in NumPy.
CURVES: dict[str, Callable[[Any], Any]] = {
    "linear": lambda v: v,
    "sqrt": lambda v: np.sqrt(np.maximum(v, 0)),
    "cbrt": lambda v: np.cbrt(np.maximum(v, 0)),
    "log": lambda v: np.copysign(np.log2(1 + np.abs(v)), v),
    "atan": lambda v: np.arctan(np.maximum(v, 0)) * 2 / math.pi,
}


def fit_colors(scene: Scene) -> Scene:
    """Return a scene whose density and offset fit the values of its first coloring.

    They are 1 and 0 where the values then fill half of the palette or more. Otherwise, and with a
    palette that is not cyclic, the middle 98 % of the values are spread over one turn. The result
    depends on the view, and not on the size of the picture.

    Raises
    ------
    OptionError
        The coloring has no meaning for the formula, or the view can't be drawn.

    Examples
    --------
    >>> seahorses = Scene().replace(center=("-0.7453", "0.1127"), width="0.0065")
    >>> fit_colors(seahorses.replace(coloring="stripe_average")).color.density > 1
    True
    """
    plain = scene.replace(density=1.0, offset=0.0)
    values = curved_values(plain)
    if not values.size:
        return plain
    first, last = (float(part) for part in np.quantile(values, SHARES))
    cyclic = plain.color.make_palette().cyclic
    within = first >= 0 and last <= 1
    if last <= first or (last - first >= LEAST_TURNS and (cyclic or within)):
        return plain
    density = min(float(f"{1 / (last - first):.3g}"), 1e6)
    return plain.replace(density=density, offset=float(f"{-density * first:.3g}"))


def curved_values(scene: Scene) -> NDArray[np.float64]:
    """Return the values of the scene's first coloring at SIZE, after the transfer."""
    small = scene.replace(
        size=SIZE, supersampling=1, antialias="grid", layers=[], density=1.0, offset=0.0
    )
    options = RenderOptions(device="cpu", force=True, on_message=lambda line: None)
    plan, backend = open_plan(small, options, "raw")
    layer = plan.layers.drawn[0]
    if layer.coloring.rank_table:  # shares of the picture
        return np.linspace(0, 1, 100)
    raw = compute_data(plan, backend, options)
    drawing = open_drawing(plan, backend, options, stored=raw)
    assert drawing.painter
    values = np.empty(SIZE[::-1], backend.real)
    tile: EscapeTile = drawing.source.iterate(Tile(0, 0, *SIZE))
    drawing.painter.value_program(layer)(values, tile, raw.max_iterations, raw.count_offset)
    known = values[np.isfinite(values)].astype(np.float64)
    curved: NDArray[np.float64] = CURVES[layer.transfer](known)
    return curved
