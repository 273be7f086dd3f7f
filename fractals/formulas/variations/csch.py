"""csch: the complex hyperbolic cosecant."""

from fractals.kernels.elementary import quotient, sincos, sinhcosh
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(y)
    sh, ch = sinhcosh(x)
    t = quotient(number(2, x), sinhcosh(x + x)[1] - sincos(y + y)[1])
    return t * sh * c, -(t * ch * s)


def make():
    """Return the variation."""
    return Variation("csch", "The complex hyperbolic cosecant", apply)
