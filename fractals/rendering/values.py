"""The values of colorings as numbers, from raw numbers: periods, distances, angles."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.errors import OptionError, typed
from fractals.io.escape_data import EscapePlanes
from fractals.io.raw_data import WIDTHS, resolves
from fractals.kernels.coloring import Coloring
from fractals.rendering.drawing import open_plan
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan
from fractals.rendering.recoloring import open_stored, whole_values
from fractals.scene.geometry import ResolvedLayer, make_layers, place_of
from fractals.scene.model import Scene

UNITS = ("plane", "width")
LEAST_WIDTH = 1e-290  # of a view, whose lengths float64 holds in plane units with all digits


def values_of(raw: EscapePlanes, coloring: str | Mapping[str, Any], unit: str) -> NDArray[Any]:
    """Return the values of a coloring; see `EscapeData.values`."""
    if unit not in UNITS:
        raise OptionError(f"unit={typed(unit)}: give 'plane' or 'width'")
    scene = colored(raw.scene, coloring)
    if scene.iteration.number_type != raw.precision:
        scene = scene.replace(precision=raw.precision)
    quiet = RenderOptions(device="cpu", force=True, on_message=lambda line: None)
    plan, backend = open_plan(scene, quiet, "nothing")
    layer = plan.layers.drawn[0]
    values = layer_values(plan, backend, quiet, raw, layer)
    return in_unit(values.astype(np.float64), layer.coloring, scene, unit)


def layer_values(
    plan: Plan, backend: Backend, options: RenderOptions, raw: EscapePlanes, layer: ResolvedLayer
) -> NDArray[np.floating[Any]]:
    """Return the values of a layer's coloring, before the transfer, of all samples."""
    drawing = open_stored(plan, backend, raw, options, first=lambda drawing: None)
    assert drawing.painter
    return whole_values(drawing, layer, drawing.painter.value_program(layer))


def colored(scene: Scene, coloring: str | Mapping[str, Any]) -> Scene:
    """Return a scene with this coloring alone, of all samples that have a value.

    `OptionError`: its values are ranks among other samples.
    """
    plain: dict[str, Any] = {"layers": [], "transfer": "linear", "mask": "auto", "range": None}
    plain |= {"density": 1.0, "offset": 0.0, "bloom": 0.0, "heights": "none"}
    found = scene.replace(coloring=coloring, **plain)
    made = make_layers(found).drawn[0].coloring
    if made.rank_table:
        raise OptionError(
            f"the coloring '{made.name}' has ranks among the samples of a picture, and no value of "
            "one sample: take 'smooth' or 'count'"
        )
    return found


def in_unit(
    values: NDArray[np.float64], coloring: Coloring, scene: Scene, unit: str
) -> NDArray[np.float64]:
    """Return a coloring's values as numbers, lengths in a unit of `UNITS`."""
    numbers: NDArray[np.float64] = coloring.numbers(values) if coloring.numbers else values
    if coloring.unit != "widths":
        return numbers
    if scene.view.projection != "plane":
        raise OptionError(
            f"the coloring '{coloring.name}' has lengths in plane views only: leave the projection "
            "out"
        )
    if unit == "width":
        return numbers
    width, _ = place_of(scene)
    if width < LEAST_WIDTH:
        raise OptionError(
            "lengths of so deep a view are too small for float64: give unit='width', for lengths "
            "in widths of the view"
        )
    return numbers * float(width)


def noted(raw: EscapePlanes, coloring: Any) -> tuple[str, NDArray[np.float64], dict[str, Any]]:
    """Return name, values and notes of a coloring, for the Dataset of `EscapeData.to_xarray`."""
    scene = colored(raw.scene, coloring)
    made = make_layers(scene).drawn[0].coloring
    unit = "plane" if resolves(scene, raw.shape[1]) else "width"
    note = {"long_name": made.title.partition(", in ")[0]}
    if made.unit:
        lengths = "plane units" if unit == "plane" else WIDTHS
        note["units"] = lengths if made.unit == "widths" else made.unit
    return made.name, values_of(raw, coloring, unit), note
