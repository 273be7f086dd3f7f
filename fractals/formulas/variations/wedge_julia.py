"""wedge_julia: a part of the angle, one of several, with wedges taken out."""

from fractals.kernels.elementary import PI, angle, quotient
from fractals.kernels.plane import floor, power_of, square_of, wedged
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    opening, count, power, dist = p
    k = floor(u[0] * abs(power))
    a = quotient(fma(number(2 * PI, x), k, angle(x, y)), power)
    r = power_of(square_of(x, y), quotient(dist, power + power))
    return wedged(a, r, opening, number(0, x), count)


def make():
    """Return the variation."""
    return Variation(
        "wedge_julia",
        "A part of the angle, one of several, with wedges taken out",
        apply,
        {"angle": 0, "count": 1, "power": 1, "dist": 0},
        draws=1,
    )
