"""diamond: sines of the angle and the distance."""

from fractals.kernels.elementary import sincos
from fractals.kernels.plane import inverse, radius
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = radius(x, y)
    near = inverse(r)
    s, c = sincos(r)
    return x * near * c, y * near * s


def make():
    """Return the variation."""
    return Variation("diamond", "Sines of the angle and the distance", apply)
