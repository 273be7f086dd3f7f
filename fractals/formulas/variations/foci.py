"""foci: two foci."""

from fractals.kernels.elementary import quotient, sincos, sinhcosh
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    sh, ch = sinhcosh(x)
    s, c = sincos(y)
    t = quotient(number(1, x), ch - c)
    return sh * t, s * t


def make():
    """Return the variation."""
    return Variation("foci", "Two foci", apply)
