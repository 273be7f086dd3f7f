"""horseshoe: twice the angle."""

from fractals.kernels.plane import inverse, radius
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = inverse(radius(x, y))
    return (x - y) * (x + y) * r, (x + x) * y * r


def make():
    """Return the variation."""
    return Variation("horseshoe", "Twice the angle", apply)
