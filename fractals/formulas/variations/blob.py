"""blob: waves along the angle."""

from fractals.kernels.elementary import angle, sincos
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    half = number(0.5, x)
    t = fma(half, sincos(p[2] * angle(y, x))[0], half)
    r = fma(p[0] - p[1], t, p[1])
    return x * r, y * r


def make():
    """Return the variation."""
    return Variation("blob", "Waves along the angle", apply, {"high": 1, "low": 0, "waves": 1})
