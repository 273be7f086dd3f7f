"""rings: rings of the affine map's size."""

from fractals.kernels.plane import inverse, radius, remainder
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    d = fma(p[2], p[2], number(1e-10, x))
    r = radius(x, y)
    near = inverse(r)
    t = fma(r, number(1, x) - d, remainder(r + d, d + d) - d)
    return t * y * near, t * x * near


def make():
    """Return the variation."""
    return Variation("rings", "Rings of the affine map's size", apply, affine=True)
