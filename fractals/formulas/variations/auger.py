"""auger: a screw."""

from fractals.kernels.elementary import sincos
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, t = sincos(p[2] * x)[0], sincos(p[2] * y)[0]
    half = p[3] * number(0.5, x)
    dx = p[1] * fma(abs(x), t, half * t)
    return fma(p[0], dx, x), fma(p[1], fma(abs(y), s, half * s), y)


def make():
    """Return the variation."""
    return Variation("auger", "A screw", apply, {"sym": 0, "weight": 0.5, "freq": 1, "scale": 0})
