"""spiral: a spiral."""

from fractals.kernels.elementary import sincos
from fractals.kernels.plane import inverse, radius
from fractals.kernels.primitives import fma
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = radius(x, y)
    near = inverse(r)
    s, c = sincos(r)
    return fma(y, near, s) * near, fma(x, near, -c) * near


def make():
    """Return the variation."""
    return Variation("spiral", "A spiral", apply)
