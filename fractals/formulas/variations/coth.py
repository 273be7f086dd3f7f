"""coth: the complex hyperbolic cotangent."""

from fractals.kernels.elementary import quotient, sincos, sinhcosh
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(y + y)
    sh, ch = sinhcosh(x + x)
    t = quotient(number(1, x), ch - c)
    return t * sh, t * s


def make():
    """Return the variation."""
    return Variation("coth", "The complex hyperbolic cotangent", apply)
