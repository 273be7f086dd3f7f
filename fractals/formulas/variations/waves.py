"""waves: waves of the affine map's size."""

from fractals.kernels.elementary import sincos
from fractals.kernels.plane import inverse
from fractals.kernels.primitives import fma
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    across = inverse(p[2] * p[2])
    down = inverse(p[5] * p[5])
    return fma(p[1], sincos(y * across)[0], x), fma(p[4], sincos(x * down)[0], y)


def make():
    """Return the variation."""
    return Variation("waves", "Waves of the affine map's size", apply, affine=True)
