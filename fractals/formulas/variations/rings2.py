"""rings2: rings."""

from fractals.kernels.elementary import quotient
from fractals.kernels.plane import inverse, radius, whole_part
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    d = fma(p[0], p[0], number(1e-10, x))
    r = radius(x, y)
    near = inverse(r)
    two = d + d
    t = fma(r, number(1, x) - d, fma(-two, whole_part(quotient(r + d, two)), r))
    return t * x * near, t * y * near


def make():
    """Return the variation."""
    return Variation("rings2", "Rings", apply, {"val": 0})
