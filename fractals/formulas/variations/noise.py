"""noise: a random part of the way, at a random angle."""

from fractals.kernels.elementary import PI, sincos
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(number(2 * PI, x) * u[0])
    return u[1] * x * c, u[1] * y * s


def make():
    """Return the variation."""
    return Variation("noise", "A random part of the way, at a random angle", apply, draws=2)
