"""square: a random point of a square."""

from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    half = number(0.5, x)
    return u[0] - half, u[1] - half


def make():
    """Return the variation."""
    return Variation("square", "A random point of a square", apply, draws=2, adds=True)
