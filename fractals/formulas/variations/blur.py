"""blur: a random point of a disc."""

from fractals.kernels.elementary import PI, sincos
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(number(2 * PI, x) * u[0])
    return u[1] * c, u[1] * s


def make():
    """Return the variation."""
    return Variation("blur", "A random point of a disc", apply, draws=2, adds=True)
