"""Density and offset of the palette that fit a coloring's values in a view."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.io.load import Source, load_scene
from fractals.kernels.formula import Formula
from fractals.rendering.drawing import open_plan
from fractals.rendering.options import CHOSEN, RenderOptions, reading
from fractals.rendering.raw_numbers import compute_data
from fractals.rendering.values import layer_values
from fractals.scene.geometry import ResolvedLayer
from fractals.scene.model import Scene, no_scene
from fractals.scene.paint import Paint

SIZE = (96, 54)  # samples; the fit depends on the scene, and not on the size of its picture
SHARES = (0.01, 0.99)  # quantiles of the values; the palette is spread between the two
# Turns of the palette between the two quantiles at density 1. Fewer turns leave most of the palette
# unused.
LEAST_TURNS = 0.5
# The curves of `fractals.kernels.shade.make_transfer`, in NumPy.
CURVES: dict[str, Callable[[Any], Any]] = {
    "linear": lambda v: v,
    "sqrt": lambda v: np.sqrt(np.maximum(v, 0)),
    "cbrt": lambda v: np.cbrt(np.maximum(v, 0)),
    "log": lambda v: np.copysign(np.log2(1 + np.abs(v)), v),
    "atan": lambda v: np.arctan(np.maximum(v, 0)) * 2 / math.pi,
}


def fit_new_coloring(scene: Scene, sources: Sequence[Source], keywords: Mapping[str, Any]) -> Scene:
    """Return a scene whose colors fit the coloring or the palette among the keywords.

    See `chosen`. A scene that is colored as its sources are is returned as it is.
    """
    if not CHOSEN & keywords.keys() or "color" in keywords:
        return scene
    before = load_scene(*sources, lost=[], **reading(keywords))
    what = chosen(before, scene, keywords)
    if what == "coloring":
        own: dict[str, Any] = dict.fromkeys({"palette", "transfer"} - keywords.keys(), "auto")
        scene = scene.replace(**own)
    return fit_colors(scene) if what else scene


def chosen(before: Scene, scene: Scene, given: Collection[str]) -> str:
    """Return what density and offset must fit among keys that were given, "" for nothing.

    "coloring": it is another one than before, and has other values. "palette": it has two ends, and
    the one before had none, so that density and offset may lie far beyond an end, where the color
    stays the same. A density or an offset that is given stays. Other families than escape time fit
    their own colors.
    """
    escapes = isinstance(scene.make_any_formula(), Formula)
    if {"density", "offset"} & set(given) or not escapes:
        return ""
    if "coloring" in given and scene.color.coloring.name != before.color.coloring.name:
        return "coloring"
    cyclic = [each.color.make_palette().cyclic for each in (before, scene)]
    return "palette" if "palette" in given and cyclic == [True, False] else ""


def fit_colors(scene: Scene, *, layers: bool = False) -> Scene:
    """Return a scene whose density and offset fit the values of its first coloring.

    They are 1 and 0 where the values then fill half of the palette or more. Otherwise, and with a
    palette that is not cyclic, the middle 98 % of the values are spread over one turn. The result
    depends on the view, and not on the size of the picture.

    Parameters
    ----------
    scene : Scene
    layers : bool
        True: the density and the offset of every layer are fitted too.

    Returns
    -------
    Scene

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
    if not isinstance(scene, Scene):
        raise no_scene(scene)
    if layers:
        tables = scene.to_values()["color"].get("layers", ())
        scene = scene.replace(layers=[_fit_layer(scene, table) for table in tables])
    plain = scene.replace(density=1.0, offset=0.0)
    values = curved_values(plain)
    density, offset = fit_values(values, plain.color.make_palette().cyclic)
    return plain.replace(density=density, offset=offset)


def fit_values(
    values: NDArray[np.float64], cyclic: bool, always: bool = False
) -> tuple[float, float]:
    """Return the density and the offset for a view's values; `always`: spread them in any case."""
    if not values.size:
        return 1.0, 0.0
    first, last = (float(part) for part in np.quantile(values, SHARES))
    filled = last - first >= LEAST_TURNS and (cyclic or (first >= 0 and last <= 1))
    if last <= first or (filled and not always):
        return 1.0, 0.0
    density = min(float(f"{1 / (last - first):.3g}"), 1e6)
    return density, max(-1e6, min(1e6, float(f"{-density * first:.3g}")))


def _fit_layer(scene: Scene, layer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a layer's table with the density and the offset that fit the layer's values."""
    paint: dict[str, Any] = {"mask": "auto", "range": None}
    paint |= {key: layer[key] for key in Paint.model_fields if key in layer}
    color = fit_colors(scene.replace(**paint, layers=[])).color
    return {**layer, "density": color.density, "offset": color.offset}


def curved_values(scene: Scene) -> NDArray[np.float64]:
    """Return the values of the scene's first coloring at SIZE, after the transfer."""
    small = scene.replace(
        size=SIZE, supersampling=1, antialias="grid", layers=[], density=1.0, offset=0.0
    )
    options = RenderOptions(device="cpu", force=True, on_message=lambda line: None)
    values, layer = first_values(small, options)
    if layer.coloring.rank_table:  # shares of the picture
        return np.linspace(0, 1, 100)
    known = values[np.isfinite(values)].astype(np.float64)
    curved: NDArray[np.float64] = CURVES[layer.transfer](known)
    return curved


def first_values(scene: Scene, options: RenderOptions) -> tuple[NDArray[Any], ResolvedLayer]:
    """Return the values of the scene's first coloring, before the transfer, and its layer.

    They have the shape (height, width) of the scene's samples, and are NaN where the coloring says
    nothing, as inside the set. A coloring by ranks has none: all are NaN.
    """
    plan, backend = open_plan(scene, options, "raw")
    layer = plan.layers.drawn[0]
    if layer.coloring.rank_table:
        n, (width, height) = plan.supersampling, plan.size
        return np.full((n * height, n * width), np.nan, backend.real), layer
    raw = compute_data(plan, backend, options)
    return layer_values(plan, backend, options, raw, layer), layer
