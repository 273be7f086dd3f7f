"""cos: the complex cosine."""

from fractals.kernels.elementary import sincos, sinhcosh
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(x)
    sh, ch = sinhcosh(y)
    return c * ch, -(s * sh)


def make():
    """Return the variation."""
    return Variation("cos", "The complex cosine", apply)
