"""sec: the complex secant."""

from fractals.kernels.elementary import quotient, sincos, sinhcosh
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(x)
    sh, ch = sinhcosh(y)
    t = quotient(number(2, x), sincos(x + x)[1] + sinhcosh(y + y)[1])
    return t * c * ch, t * s * sh


def make():
    """Return the variation."""
    return Variation("sec", "The complex secant", apply)
