"""tan: the complex tangent."""

from fractals.kernels.elementary import quotient, sincos, sinhcosh
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(x + x)
    sh, ch = sinhcosh(y + y)
    t = quotient(number(1, x), c + ch)
    return t * s, t * sh


def make():
    """Return the variation."""
    return Variation("tan", "The complex tangent", apply)
