"""The seconds that a picture takes, from some of its samples.

How many steps the tables of a deep view skip differs from view to view by a factor of a hundred,
and how many samples a processor iterates at once by a factor of eight, so a formula of the size and
the digits alone is no forecast.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

import numpy as np

from fractals.errors import OptionError
from fractals.rendering import forecast
from fractals.rendering.iteration import SampleSource
from fractals.rendering.number_types import doubled_cost
from fractals.rendering.plan import Plan
from fractals.rendering.tiles import Tile
from fractals.scene.numbers import scientific
from fractals.threads import apart

TILES, SIDE = 6, 8  # across and down the picture; most pixels of each, across and down
SIDE_OF_DIRECT = 64  # of a tile that is iterated directly, whose samples take less time
TILE_STEPS = 2**32  # most steps of such a tile, in float64: a second or two of a core
SHARE = 100  # of a small picture, one pixel in 100 is measured
CALLS = 6  # that iterate a single pixel, for the seconds of a call
STRIDE = 13  # from a tile to the next that is measured: few of them are spread over the picture
PATIENCE = 8  # seconds after which no further tile is measured
# Seconds of the reference orbit, by its estimate, beyond which nothing is measured; after twice as
# many it is given up. At a width of 1e-8300 the estimate is 6 seconds, at 1e-10000 it is 10.
MAX_REFERENCE = 6
# Steps after which the samples that are measured are given up: their seconds grow with the limit.
MAX_STEPS = 2**20


@dataclass(frozen=True)
class Measured:
    """What is known of a picture before it is drawn."""

    seconds: float  # of the whole picture, without compiling
    max_iterations: int  # the limit that the picture is drawn with


def is_measurable(plan: Plan) -> bool:
    """Tell whether some samples of a plan tell its seconds, and are soon drawn.

    A GPU is not used to capacity by some samples.
    """
    return plan.device == "cpu" and is_soon_open(plan)


def is_soon_open(plan: Plan) -> bool:
    """Tell whether the reference orbit of a plan takes some seconds at most."""
    length = forecast.reference_length(plan.scene, plan.digits)
    return not plan.deep or forecast.reference_seconds(plan.bits, length) <= MAX_REFERENCE


def look(plan: Plan, source: SampleSource) -> Measured:
    """Return the forecast of a picture whose source is ready: what --dry-run and --force go by."""
    limit = source.max_iterations
    if not is_measurable(plan):
        return Measured(replace(plan, max_iterations=limit).seconds, limit)
    seconds = source.reference + source.probing + _measured(plan, source) / plan.threads
    return Measured(seconds + plan.encoding, limit)


def _measured(plan: Plan, source: SampleSource) -> float:
    """Return the seconds of one thread for all samples, from those of some small tiles."""
    width, height = plan.size
    most = SIDE if plan.deep else _side_of_direct(plan, source.max_iterations)
    side = min(max(int((width * height / SHARE) ** 0.5 / TILES), 1), most, width, height)
    starts = [np.linspace(0, length - side, TILES).astype(int) for length in (width, height)]
    tiles = [Tile(int(x), int(y), side, side) for y in starts[1] for x in starts[0]]
    seconds = apart(partial(_mean_seconds, source, tiles)) * width * height / side**2
    return seconds + forecast.direct_seconds(plan.device, 0, plan.samples)


def _side_of_direct(plan: Plan, limit: int) -> int:
    """Return the most pixels of a tile across and down, so that it is soon iterated."""
    steps = min(limit, MAX_STEPS) * plan.supersampling**2
    steps *= doubled_cost(plan.formula) if plan.doubled else 1
    return max(1, min(SIDE_OF_DIRECT, math.isqrt(TILE_STEPS // steps)))


def _mean_seconds(source: SampleSource, tiles: list[Tile]) -> float:
    """Return the mean seconds of a tile, without those of a call."""
    limit = source.max_iterations
    most = min(limit, MAX_STEPS)
    call = call_seconds(source)
    passed = seconds = 0.0
    for done in range(1, len(tiles) + 1):
        begun = perf_counter()
        counts = source.iterate(tiles[STRIDE * done % len(tiles)], most).count
        spent = perf_counter() - begun
        passed += spent
        seconds += max(0.0, spent - call) * (1 + (counts == most).mean() * (limit / most - 1))
        if passed > PATIENCE:
            break
    return seconds / done


def call_seconds(source: SampleSource) -> float:
    """Return the seconds of a call that iterates next to nothing: of a small tile they are most."""
    spent = []
    for _ in range(CALLS):
        begun = perf_counter()
        source.iterate(Tile(0, 0, 1, 1), 1)
        spent.append(perf_counter() - begun)
    # The first one fills caches. NumPy's median imports masked arrays, which takes 40 ms.
    return sorted(spent[1:])[CALLS // 2 - 1]


# The refusal of pictures that would take hours, before they are drawn.


LONG = 3600  # seconds, beyond which a deep view requires --force


def check_forecast(planned: Plan) -> None:
    """Raise an `OptionError` for a deep view that takes too long and can't be measured."""
    if not (planned.deep and is_measurable(planned)):
        _check_seconds(planned, planned.seconds, planned.max_iterations)


def check_time(planned: Plan, source: SampleSource) -> None:
    """Raise an `OptionError` for a deep view that takes too long by the forecast of --dry-run."""
    if not planned.deep:
        return
    # Most pictures can't take so long: nothing is measured for them.
    limit, planes = source.max_iterations, planned.layers.statistics.planes
    steps = float(planned.samples) * limit
    steps *= forecast.statistics_cost(planes)
    if forecast.statistics_seconds(planned.device, steps, True) / planned.threads > LONG:
        _check_seconds(planned, look(planned, source).seconds, limit)


def _check_seconds(planned: Plan, seconds: float, limit: int) -> None:
    """Raise an `OptionError` for a picture that takes too long."""
    if seconds <= LONG:
        return
    raise OptionError(
        f"at a width of {scientific(planned.width)} this takes about {seconds / 3600:.0f} hours "
        f"and {planned.memory / 2**30:.1f} GiB ({planned.samples} samples of at most {limit} "
        f"steps, {planned.bits or 53} bits): force=True draws it all the same"
    )
