"""sinusoidal: the sines of x and y."""

from fractals.kernels.elementary import sincos
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    return sincos(x)[0], sincos(y)[0]


def make():
    """Return the variation."""
    return Variation("sinusoidal", "The sines of x and y", apply)
