"""popcorn: sines of tangents, of the affine map's size."""

from fractals.kernels.elementary import sincos
from fractals.kernels.plane import tangent_of
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    three = number(3, x)
    across, down = sincos(tangent_of(three * y))[0], sincos(tangent_of(three * x))[0]
    return fma(p[2], across, x), fma(p[5], down, y)


def make():
    """Return the variation."""
    return Variation("popcorn", "Sines of tangents, of the affine map's size", apply, affine=True)
