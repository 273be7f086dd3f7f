"""cosh: the complex hyperbolic cosine."""

from fractals.kernels.elementary import sincos, sinhcosh
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(y)
    sh, ch = sinhcosh(x)
    return ch * c, sh * s


def make():
    """Return the variation."""
    return Variation("cosh", "The complex hyperbolic cosine", apply)
