"""pie: random points in slices."""

from fractals.kernels.elementary import PI, quotient, sincos
from fractals.kernels.plane import whole_part
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    k = whole_part(fma(u[0], p[0], number(0.5, x)))
    s, c = sincos(fma(quotient(number(2 * PI, x), p[0]), fma(u[1], p[2], k), p[1]))
    return u[2] * c, u[2] * s


def make():
    """Return the variation."""
    return Variation(
        "pie",
        "Random points in slices",
        apply,
        {"slices": 6, "rotation": 0, "thickness": 0.5},
        draws=3,
        adds=True,
    )
