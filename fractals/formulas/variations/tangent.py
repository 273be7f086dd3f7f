"""tangent: quotients of sines and cosines."""

from fractals.kernels.elementary import quotient, sincos
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(y)
    return quotient(sincos(x)[0], c), quotient(s, c)


def make():
    """Return the variation."""
    return Variation("tangent", "Quotients of sines and cosines", apply)
