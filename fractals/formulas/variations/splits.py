"""splits: the halves moved apart, straight."""

from fractals.kernels.primitives import number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    zero = number(0, x)
    return select(x >= zero, x + p[0], x - p[0]), select(y >= zero, y + p[1], y - p[1])


def make():
    """Return the variation."""
    return Variation("splits", "The halves moved apart, straight", apply, {"x": 0, "y": 0})
