"""log: the complex logarithm."""

from fractals.kernels.elementary import angle, log
from fractals.kernels.plane import square_of
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    return number(0.5, x) * log(square_of(x, y)), angle(x, y)


def make():
    """Return the variation."""
    return Variation("log", "The complex logarithm", apply)
