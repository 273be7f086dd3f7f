"""Halley's method for roots: z -> z - relaxation 2 f f' / (2 f'² - f f''), for f as in `newton`."""

from fractals.formulas.language import derivative
from fractals.formulas.language.derivative import minus, over, times
from fractals.formulas.newton import composed


def halley_step(function):
    """Return the tree of ``2 f f' / (2 f'² - f f'')``."""
    first = derivative.derivative(function, "z")
    second = derivative.derivative(first, "z")
    two = ("number", 2 + 0j)
    below = minus(times(two, derivative.power(first, 2)), times(function, second))
    return over(times(two, times(function, first)), below)


def make(power=3, relaxation=1.0, polynomial="", start=""):
    return composed("halley", "Halley's method", halley_step, power, relaxation, polynomial, start)
