"""csc: the complex cosecant."""

from fractals.kernels.elementary import quotient, sincos, sinhcosh
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(x)
    sh, ch = sinhcosh(y)
    t = quotient(number(2, x), sinhcosh(y + y)[1] - sincos(x + x)[1])
    return t * s * ch, -(t * c * sh)


def make():
    """Return the variation."""
    return Variation("csc", "The complex cosecant", apply)
