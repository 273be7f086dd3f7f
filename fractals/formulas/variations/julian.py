"""julian: a part of the angle, one of several."""

from fractals.kernels.elementary import PI, angle, quotient, sincos
from fractals.kernels.plane import floor, power_of, square_of
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    k = floor(u[0] * abs(p[0]))
    s, c = sincos(quotient(fma(number(2 * PI, x), k, angle(x, y)), p[0]))
    r = power_of(square_of(x, y), quotient(p[1], p[0] + p[0]))
    return r * c, r * s


def make():
    """Return the variation."""
    return Variation(
        "julian", "A part of the angle, one of several", apply, {"power": 1, "dist": 1}, draws=1
    )
