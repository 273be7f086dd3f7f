"""bubble: the plane as a disc."""

from fractals.kernels.plane import square_of
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = number(4, x) / (square_of(x, y) + number(4, x))
    return x * r, y * r


def make():
    """Return the variation."""
    return Variation("bubble", "The plane as a disc", apply)
