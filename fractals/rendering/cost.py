"""Refuses pictures that would not fit into memory, or take hours, before anything is drawn."""

from fractals.backends.probe import memory_size
from fractals.errors import OptionError
from fractals.rendering.plan import Plan
from fractals.scene.numbers import scientific

LONG = 3600  # seconds of a deep picture that must be asked for


def check_cost(planned: Plan, raw: bool = False, force: bool = False) -> None:
    """Refuse a picture, or its raw numbers, that would not fit into memory or take too long."""
    if planned.deep and planned.seconds > LONG and not force:
        raise OptionError(
            f"at a width of {scientific(planned.width)} this takes about "
            f"{planned.seconds / 3600:.2g} hours and {planned.memory / 2**30:.1g} GiB: "
            "give --force to draw it all the same"
        )
    free = memory_size()
    if free and planned.memory > 0.9 * free:
        whole = planned.band == planned.size[1] and not raw
        raise OptionError(
            f"{planned.size[0]}x{planned.size[1]} pixels of {planned.supersampling}x"
            f"{planned.supersampling} samples need {planned.memory / 2**30:.1f} GiB, and "
            f"{free / 2**30:.1f} GiB are free: give a smaller --size or --supersampling"
            + (", or write a .png, which needs less (fractals.render_to)" if whole else "")
        )
