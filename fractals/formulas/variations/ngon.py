"""ngon: a polygon."""

from fractals.kernels.elementary import PI, angle, quotient, sincos
from fractals.kernels.plane import floor, inverse, power_of, square_of
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    part = quotient(number(2 * PI, x), p[0])
    a = angle(x, y)
    a = fma(-part, floor(quotient(a, part)), a)
    a = select(a > part * number(0.5, x), a - part, a)
    one = number(1, x)
    size = fma(p[3], one / (sincos(a)[1] + number(1e-10, x)) - one, p[2])
    r = size * inverse(power_of(square_of(x, y), p[1] * number(0.5, x)))
    return x * r, y * r


def make():
    """Return the variation."""
    return Variation(
        "ngon", "A polygon", apply, {"sides": 5, "power": 3, "circle": 1, "corners": 2}
    )
