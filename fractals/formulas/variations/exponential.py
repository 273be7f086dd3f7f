"""exponential: e to the power of x, at an angle of y."""

from fractals.kernels.elementary import PI, exp, sincos
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = exp(x - number(1, x))
    s, c = sincos(number(PI, x) * y)
    return r * c, r * s


def make():
    """Return the variation."""
    return Variation("exponential", "E to the power of x, at an angle of y", apply)
