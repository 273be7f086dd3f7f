"""sech: the complex hyperbolic secant."""

from fractals.kernels.elementary import quotient, sincos, sinhcosh
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(y)
    sh, ch = sinhcosh(x)
    t = quotient(number(2, x), sincos(y + y)[1] + sinhcosh(x + x)[1])
    return t * c * ch, -(t * s * sh)


def make():
    """Return the variation."""
    return Variation("sech", "The complex hyperbolic secant", apply)
