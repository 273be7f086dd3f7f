"""twintrian: random leaves."""

from fractals.kernels.elementary import PI, log, sincos
from fractals.kernels.plane import radius
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(u[0] * p[0] * radius(x, y))
    far = select(
        s == number(0, x), number(-30, x), fma(log(s * s), number(0.4342944819032518, x), c)
    )
    return p[0] * x * far, p[0] * x * fma(number(-PI, x), s, far)


def make():
    """Return the variation."""
    return Variation("twintrian", "Random leaves", apply, draws=1, weighted=True)
