"""EscapeData, the raw numbers that `fractals.compute` returns, and how they are computed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Stages
from fractals.io.escape_data import EscapePlanes, arrays_of, without_overflows
from fractals.rendering.drawing import (
    Drawing,
    Planes,
    empty_planes,
    open_drawing,
    plane_sink,
    run,
)
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan
from fractals.scene.model import Scene


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
        The kind of device that computed: "cpu", "cuda", "opencl", "simulator" or "python".
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
        from fractals.rendering.values import values_of

        return values_of(self, coloring, unit)

    def _colored(self, coloring: Any) -> tuple[str, NDArray[Any], dict[str, Any]]:
        from fractals.rendering.values import noted

        return noted(self, coloring)


def compute_data(
    plan: Plan, backend: Backend, options: RenderOptions, stages: Stages | None = None
) -> EscapeData:
    """Compute the raw numbers of a plan; see `open_plan` and `open_drawing`."""
    drawing = open_drawing(replace(plan, keeps="raw"), backend, options, stages=stages)
    planes = empty_planes(drawing)
    run(drawing, plan.tiles, plane_sink(drawing, planes), options.on_progress)
    return without_overflows(escape_data(drawing, planes, plan.scene), plan.formula)


def open_colored(
    plan: Plan, backend: Backend, options: RenderOptions, stages: Stages | None = None
) -> Drawing:
    """Return a drawing of a plan.

    Where the colors of each pixel depend on all samples, these are iterated first.
    """
    if not plan.layers.whole:
        return open_drawing(plan, backend, options, stages=stages)
    from fractals.rendering.recoloring import open_stored

    stages = stages or Stages()
    raw = compute_data(plan, backend, options, stages)
    return open_stored(plan, backend, raw, options, stages=stages)


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
