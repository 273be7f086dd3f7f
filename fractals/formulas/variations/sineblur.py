"""sineblur: a random point of a disc, denser inside."""

from fractals.kernels.elementary import PI, sincos
from fractals.kernels.plane import inverse_cosine, power_of
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(number(2 * PI, x) * u[0])
    one = number(1, x)
    t = power_of(one - u[1], p[0])
    r = inverse_cosine(fma(number(2, x), t, -one)) * number(1 / PI, x)
    return r * c, r * s


def make():
    """Return the variation."""
    return Variation(
        "sineblur",
        "A random point of a disc, denser inside",
        apply,
        {"power": 1},
        draws=2,
        adds=True,
    )
