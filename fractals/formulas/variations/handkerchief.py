"""handkerchief: angle and distance added."""

from fractals.kernels.elementary import angle, sincos
from fractals.kernels.plane import radius
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r, a = radius(x, y), angle(y, x)
    return r * sincos(a + r)[0], r * sincos(a - r)[1]


def make():
    """Return the variation."""
    return Variation("handkerchief", "Angle and distance added", apply)
