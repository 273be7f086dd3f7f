"""cosine: the complex cosine of pi times x."""

from fractals.kernels.elementary import PI, sincos, sinhcosh
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(number(PI, x) * x)
    sh, ch = sinhcosh(y)
    return c * ch, -(s * sh)


def make():
    """Return the variation."""
    return Variation("cosine", "The complex cosine of pi times x", apply)
