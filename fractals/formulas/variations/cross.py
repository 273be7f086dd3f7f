"""cross: a cross."""

from fractals.kernels.elementary import quotient
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = quotient(number(1, x), abs((x - y) * (x + y)) + number(1e-10, x))
    return x * r, y * r


def make():
    """Return the variation."""
    return Variation("cross", "A cross", apply)
