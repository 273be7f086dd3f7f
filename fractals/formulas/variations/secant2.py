"""secant2: the secant of the distance."""

from fractals.kernels.elementary import quotient, sincos
from fractals.kernels.plane import radius
from fractals.kernels.primitives import number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    one = number(1, x)
    c = sincos(p[0] * radius(x, y))[1]
    secant = quotient(one, c)
    return p[0] * x, p[0] * select(c < number(0, x), secant + one, secant - one)


def make():
    """Return the variation."""
    return Variation("secant2", "The secant of the distance", apply, weighted=True)
