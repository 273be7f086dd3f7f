"""fisheye: a lens that swaps x and y."""

from fractals.kernels.plane import radius
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = number(2, x) / (radius(x, y) + number(1, x))
    return y * r, x * r


def make():
    """Return the variation."""
    return Variation("fisheye", "A lens that swaps x and y", apply)
