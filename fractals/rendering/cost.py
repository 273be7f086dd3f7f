"""Refuses pictures that would not fit into memory, or take hours, before anything is drawn."""

from fractals.backends.probe import memory_size
from fractals.errors import OptionError
from fractals.rendering.plan import Plan
from fractals.scene.numbers import scientific

LONG = 3600  # seconds, beyond which a deep picture requires --force


def check_cost(planned: Plan, force: bool = False) -> None:
    """Raise an `OptionError` for a plan that would not fit into memory, or take too long.

    Parameters
    ----------
    force : bool
        True: a plan may take any time; it must still fit into memory.
    """
    if planned.deep and not force and planned.seconds > LONG:
        raise OptionError(
            f"at a width of {scientific(planned.width)} this takes about "
            f"{planned.seconds / 3600:.0f} hours and {planned.memory / 2**30:.1f} GiB: "
            "--force draws it all the same"
        )
    free, pixels = memory_size(), planned.keeps == "pixels"
    if free and planned.memory > 0.9 * free:  # the rest is for the compiler and the tables
        raise OptionError(
            f"{planned.size[0]}x{planned.size[1]} pixels of {planned.supersampling}x"
            f"{planned.supersampling} samples need {planned.memory / 2**30:.1f} GiB, and "
            f"{free / 2**30:.1f} GiB are free: give a smaller --size or --supersampling"
            + (", or write a .png, which needs less (fractals.render_to)" if pixels else "")
        )
