"""sinh: the complex hyperbolic sine."""

from fractals.kernels.elementary import sincos, sinhcosh
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(y)
    sh, ch = sinhcosh(x)
    return sh * c, ch * s


def make():
    """Return the variation."""
    return Variation("sinh", "The complex hyperbolic sine", apply)
