"""hemisphere: the plane as half of a sphere."""

from fractals.kernels.plane import square_of
from fractals.kernels.primitives import number, sqrt
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = number(1, x) / sqrt(square_of(x, y) + number(1, x))
    return x * r, y * r


def make():
    """Return the variation."""
    return Variation("hemisphere", "The plane as half of a sphere", apply)
