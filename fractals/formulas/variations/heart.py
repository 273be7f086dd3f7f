"""heart: the angle times the distance."""

from fractals.kernels.elementary import angle, sincos
from fractals.kernels.plane import radius
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = radius(x, y)
    s, c = sincos(r * angle(y, x))
    return r * s, -(r * c)


def make():
    """Return the variation."""
    return Variation("heart", "The angle times the distance", apply)
