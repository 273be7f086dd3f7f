"""The seconds that a deep picture takes, from some of its samples.

How many steps the tables skip differs from view to view by a factor of a hundred, so a formula of
the size and the digits alone is no forecast.
"""

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from fractals.rendering import forecast
from fractals.rendering.drawing import open_drawing, open_plan
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene

TILES, SIDE = 6, 8  # across and down the picture; pixels of each, across and down
# Seconds of the reference orbit, by its estimate, beyond which nothing is measured.
MAX_REFERENCE = 20


@dataclass(frozen=True)
class Measured:
    """What some samples of a deep picture tell.

    Attributes
    ----------
    seconds : float
        Of the whole picture, without compiling.
    max_iterations : int
        The limit that the picture is drawn with.
    """

    seconds: float
    max_iterations: int


def is_measurable(plan: Plan) -> bool:
    """Tell whether some samples of a plan tell its seconds, and are soon drawn.

    A GPU is not used to capacity by some samples. Direct iteration is estimated well without them.
    Colorings that need the whole picture may need more memory than there is.
    """
    length = forecast.reference_length(plan.scene, plan.digits)
    soon = forecast.reference_seconds(plan.bits, length) <= MAX_REFERENCE
    return plan.deep and plan.device == "cpu" and soon and not plan.layers.whole


def measure(scene: Scene, options: RenderOptions) -> Measured:
    """Iterate some samples of a measurable picture, and return what they tell.

    The programs are compiled and the reference orbit is found as for the picture itself.
    """
    quiet = replace(options, force=True, progress=None, on_message=lambda line: None)
    plan, backend = open_plan(scene, quiet, "bands")
    drawing = open_drawing(plan, backend, quiet, shading=False)
    width, height = plan.size
    side = min(SIDE, width, height)
    starts = [np.linspace(0, length - side, TILES).astype(int) for length in (width, height)]
    tiles = [Tile(int(x), int(y), side, side) for y in starts[1] for x in starts[0]]
    begun = perf_counter()
    for tile in tiles:
        drawing.source.iterate(tile)
    share = len(tiles) * side**2 / (width * height)
    seconds = (perf_counter() - begun) / share
    samples = width * height * plan.supersampling**2
    seconds += forecast.direct_seconds(plan.device, 0, samples)
    return Measured(
        drawing.timings["reference"] + seconds / plan.threads, drawing.source.max_iterations
    )
