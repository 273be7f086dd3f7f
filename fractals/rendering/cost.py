"""Refuses pictures that would not fit into memory, or take hours, before anything is drawn."""

import math

from fractals.backends.probe import memory_size
from fractals.errors import OptionError
from fractals.rendering import forecast
from fractals.rendering.iteration import Method
from fractals.rendering.measured import is_measurable, look
from fractals.rendering.plan import Plan
from fractals.scene.numbers import scientific

LONG = 3600  # seconds, beyond which a deep view requires --force


def check_cost(planned: Plan, force: bool = False) -> None:
    """Raise an `OptionError` for a plan that would not fit into memory, or take too long.

    Parameters
    ----------
    force : bool
        True: a plan may take any time; it must still fit into memory.
    """
    if planned.deep and not force and not is_measurable(planned):
        _check_seconds(planned, planned.seconds, planned.max_iterations)
    free, pixels = memory_size(), planned.keeps == "pixels"
    if not free or planned.memory <= 0.9 * free:  # the rest is for the compiler and the tables
        return
    needs = f"{planned.memory / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free"
    if planned.orbit_memory > planned.memory / 2:
        raise OptionError(
            f"the reference orbit of a width of {scientific(planned.width)} needs about {needs}: "
            "give a wider view"
        )
    raise OptionError(
        f"{planned.size[0]}x{planned.size[1]} pixels of {planned.supersampling}x"
        f"{planned.supersampling} samples need {needs}: give a smaller --size or --supersampling"
        + (", or write a .png, which needs less (fractals.render_to)" if pixels else "")
    )


def check_time(planned: Plan, source: Method) -> None:
    """Raise an `OptionError` for a deep view that takes too long by the forecast of --dry-run.

    Parameters
    ----------
    source : Method
        What iterates its samples, ready.
    """
    if not planned.deep:
        return
    # Most pictures can't take so long: nothing is measured for them.
    limit, planes = source.max_iterations, planned.layers.statistics.planes
    steps = float(math.prod(planned.size) * planned.supersampling**2) * limit
    steps *= forecast.statistics_cost(planes)
    if forecast.statistics_seconds(planned.device, steps, True) / planned.threads > LONG:
        _check_seconds(planned, look(planned, source).seconds, limit)


def _check_seconds(planned: Plan, seconds: float, limit: int) -> None:
    """Raise an `OptionError` for a picture that takes too long."""
    if seconds <= LONG:
        return
    samples = math.prod(planned.size) * planned.supersampling**2
    raise OptionError(
        f"at a width of {scientific(planned.width)} this takes about {seconds / 3600:.0f} hours "
        f"and {planned.memory / 2**30:.1f} GiB ({samples} samples of at most {limit} steps, "
        f"{planned.bits or 53} bits): --force draws it all the same"
    )
