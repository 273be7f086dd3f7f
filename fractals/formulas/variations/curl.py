"""curl: inverted in a curve."""

from fractals.kernels.elementary import quotient
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    re = fma(p[0], x, fma(p[1], fma(x, x, -(y * y)), number(1, x)))
    im = fma(p[0], y, p[1] * (x + x) * y)
    r = quotient(number(1, x), fma(re, re, im * im))
    return fma(x, re, y * im) * r, fma(y, re, -(x * im)) * r


def make():
    """Return the variation."""
    return Variation("curl", "Inverted in a curve", apply, {"c1": 1, "c2": 0})
