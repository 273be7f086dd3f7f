"""waves: waves of the affine map's size."""

from fractals.kernels.elementary import sincos
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    one, tiny = number(1, x), number(1e-10, x)
    across, down = one / fma(p[2], p[2], tiny), one / fma(p[5], p[5], tiny)
    return fma(p[1], sincos(y * across)[0], x), fma(p[4], sincos(x * down)[0], y)


def make():
    """Return the variation."""
    return Variation("waves", "Waves of the affine map's size", apply, affine=True)
