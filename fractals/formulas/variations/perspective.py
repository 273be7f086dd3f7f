"""perspective: seen at an angle."""

from fractals.kernels.elementary import PI, quotient, sincos
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(p[0] * number(PI / 2, x))
    t = quotient(number(1, x), fma(-y, s, p[1]))
    return p[1] * x * t, p[1] * c * y * t


def make():
    """Return the variation."""
    return Variation("perspective", "Seen at an angle", apply, {"angle": 0, "dist": 0})
