"""swirl: a turn by the square of the distance."""

from fractals.kernels.elementary import sincos
from fractals.kernels.plane import square_of
from fractals.kernels.primitives import fma
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(square_of(x, y))
    return fma(s, x, -(c * y)), fma(c, x, s * y)


def make():
    """Return the variation."""
    return Variation("swirl", "A turn by the square of the distance", apply)
