"""EscapeData: the raw numbers of a picture, and what colorings say of them as numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Stages
from fractals.errors import OptionError, shown
from fractals.io.escape_data import EscapePlanes, arrays_of, without_overflows
from fractals.io.raw_data import WIDTHS, resolves
from fractals.kernels.coloring import Coloring
from fractals.rendering.drawing import (
    Drawing,
    Planes,
    empty_planes,
    open_drawing,
    open_plan,
    plane_sink,
    run,
    whole_values,
)
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan
from fractals.scene.geometry import ResolvedLayer, make_layers, place_of
from fractals.scene.model import Scene

UNITS = ("plane", "width")
LEAST_WIDTH = 1e-290  # of a view, whose lengths float64 holds in plane units with all digits


@dataclass(eq=False, repr=False)
class EscapeData(EscapePlanes):
    """The raw numbers of a picture's samples.

    With a supersampling of n the arrays are n times as high and wide as the picture. Two of these
    are equal if their arrays, scenes and limits are.

    Attributes
    ----------
    count : ndarray of int32, shape (height, width)
        The smallest n >= 1 with ``|z_n| > escape_radius``, if it is less than `max_iterations`;
        otherwise `max_iterations`, which means inside. Row 0 is the top.
    z : ndarray of complex, shape (height, width)
        z_n at that n; 0 inside, also where ``|z_n|`` of n = `max_iterations` is beyond the radius.
        Of formulas with exponentials, which may have overflowed there, both parts are infinite
        beyond 1e290 (float32: 1e30).
    dz : ndarray of complex, shape (height, width), or None
        dz_n/dc (dz_n/dz_0 for Julia sets), where a coloring needs it. By perturbation, times the
        width of the view, because float64 cannot hold dz_n/dc alone. In an exponential map it is
        dz_n/dc times the power of two that a sample's radius was divided by, in a deep strip, and
        else 1.
    max_iterations : int
        The limit: orbits that did not escape in fewer steps are inside. So the samples inside are
        those of which a run with a higher limit has counts >= this one.
    scene : Scene
        What was computed.
    timings : dict of str to float
        Seconds of each stage; see `fractals.Image`.
    statistics : dict of str to ndarray, shape (height, width)
        Orbit statistics of the colorings, by names such as "stripes,density=5.sum".
    device : str
        The kind of device that computed: "cpu", "cuda", "simulator" or "python".
    method : str
        "direct" or "perturbation".
    count_offset : float
        In a deep view, about the lowest smooth count; in views that are not deep, 0. The transfer
        "auto" subtracts it, because the counts of a deep view are large and differ by little.
    exact : bool
        False where z and dz were made of what an EXR keeps: fractions, angles and distances.
    beyond : Beyond, or None
        Which z overflowed and are infinite, and their directions, which colorings read.
    check_rows : callable
        Called with a slice of rows and the names of planes before they are read: raises an
        `InputError` where the file that they lie in is damaged.

    Raises
    ------
    OptionError
        An array has another shape or type.
    """

    def values(
        self, coloring: str | Mapping[str, Any], *, unit: Literal["plane", "width"] = "plane"
    ) -> NDArray[np.float64]:
        """Return the values of a coloring as numbers, such as periods, distances and angles.

        Parameters
        ----------
        coloring : str or mapping
            As the keyword ``coloring``: "period" (steps), "distance" and "interior_distance"
            (lengths), "final_angle" (turns), "smooth" (steps), or another.
        unit : "plane" or "width"
            Of lengths: that of the plane, or the width of the view.

        Returns
        -------
        ndarray of float64
            A value for each sample, NaN where the coloring says nothing of it: `period` outside,
            `distance` inside.

        Raises
        ------
        OptionError
            There is no such coloring, the raw numbers lack what it needs, its values are ranks, or
            float64 can't hold a length in plane units.

        Examples
        --------
        >>> import fractals
        >>> raw = fractals.compute(center=(-1, 0), width=0.1, size=(2, 1), coloring="period")
        >>> raw.values("period").tolist()[0]
        [2.0, 2.0, 2.0, 2.0]
        """
        return values_of(self, coloring, unit)

    def _colored(self, coloring: Any) -> tuple[str, NDArray[Any], dict[str, Any]]:
        return noted(self, coloring)


def compute_data(
    plan: Plan, backend: Backend, options: RenderOptions, stages: Stages | None = None
) -> EscapeData:
    """Compute the raw numbers of a plan; see `open_plan` and `open_drawing`."""
    drawing = open_drawing(replace(plan, keeps="raw"), backend, options, stages=stages)
    planes = empty_planes(drawing)
    run(drawing, plan.tiles, plane_sink(drawing, planes), options.on_progress)
    return without_overflows(escape_data(drawing, planes, plan.scene), plan.formula)


def escape_data(drawing: Drawing, planes: Planes, scene: Scene) -> EscapeData:
    """Return planes of the whole picture with what recoloring needs of them."""
    return EscapeData(
        **arrays_of(planes),
        max_iterations=drawing.source.max_iterations,
        scene=scene,
        timings=drawing.timings,
        device=drawing.plan.device,
        method=drawing.plan.method,
        count_offset=drawing.source.count_offset,
    )


def values_of(raw: EscapePlanes, coloring: str | Mapping[str, Any], unit: str) -> NDArray[Any]:
    """Return the values of a coloring; see `EscapeData.values`."""
    if unit not in UNITS:
        raise OptionError(f"unit={shown(repr(unit), 40)}: give 'plane' or 'width'")
    scene = colored(raw.scene, coloring).replace(precision=raw.precision)
    quiet = RenderOptions(device="cpu", force=True, on_message=lambda line: None)
    plan, backend = open_plan(scene, quiet, "nothing")
    layer = plan.layers.drawn[0]
    values = layer_values(plan, backend, quiet, raw, layer)
    return in_unit(values.astype(np.float64), layer.coloring, scene, unit)


def layer_values(
    plan: Plan, backend: Backend, options: RenderOptions, raw: EscapePlanes, layer: ResolvedLayer
) -> NDArray[np.floating[Any]]:
    """Return the values of a layer's coloring, before the transfer, of all samples."""
    drawing = open_drawing(plan, backend, options, stored=raw, first=lambda drawing: None)
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
    width, _ = place_of(scene, scene.make_formula())
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
