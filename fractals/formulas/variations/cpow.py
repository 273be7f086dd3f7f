"""cpow: a complex power, one of several."""

from fractals.kernels.elementary import PI, angle, exp, log, quotient, sincos
from fractals.kernels.plane import floor, square_of
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    a, far = angle(x, y), number(0.5, x) * log(square_of(x, y))
    c, d = quotient(p[0], p[2]), quotient(p[1], p[2])
    turn = quotient(number(2 * PI, x), p[2]) * floor(p[2] * u[0])
    sine, cosine = sincos(fma(c, a, fma(d, far, turn)))
    r = exp(fma(c, far, -(d * a)))
    return r * cosine, r * sine


def make():
    """Return the variation."""
    return Variation(
        "cpow", "A complex power, one of several", apply, {"r": 1, "i": 0, "power": 1}, draws=1
    )
