"""eyefish: a lens."""

from fractals.kernels.plane import radius
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = number(2, x) / (radius(x, y) + number(1, x))
    return x * r, y * r


def make():
    """Return the variation."""
    return Variation("eyefish", "A lens", apply)
