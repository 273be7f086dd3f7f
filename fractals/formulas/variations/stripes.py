"""stripes: stripes."""

from fractals.kernels.plane import floor
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    k = floor(x + number(0.5, x))
    rest = x - k
    return fma(rest, number(1, x) - p[0], k), fma(rest * rest, p[1], y)


def make():
    """Return the variation."""
    return Variation("stripes", "Stripes", apply, {"space": 0, "warp": 0})
