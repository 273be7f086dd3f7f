"""cylinder: the sine of x."""

from fractals.kernels.elementary import sincos
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    return sincos(x)[0], y


def make():
    """Return the variation."""
    return Variation("cylinder", "The sine of x", apply)
