"""exp: the complex exponential."""

from fractals.kernels.elementary import exp, sincos
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = exp(x)
    s, c = sincos(y)
    return r * c, r * s


def make():
    """Return the variation."""
    return Variation("exp", "The complex exponential", apply)
