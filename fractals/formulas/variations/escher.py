"""escher: a complex power."""

from fractals.kernels.elementary import angle, exp, log, sincos
from fractals.kernels.plane import square_of
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    a, far = angle(x, y), number(0.5, x) * log(square_of(x, y))
    s, c = sincos(p[0])
    half = number(0.5, x)
    c, d = fma(half, c, half), half * s
    sine, cosine = sincos(fma(c, a, d * far))
    r = exp(fma(c, far, -(d * a)))
    return r * cosine, r * sine


def make():
    """Return the variation."""
    return Variation("escher", "A complex power", apply, {"beta": 0})
