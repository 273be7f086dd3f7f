"""scry: inverted and pulled in."""

from fractals.kernels.elementary import quotient
from fractals.kernels.plane import square_of
from fractals.kernels.primitives import fma, number, sqrt
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    t = square_of(x, y)
    one = number(1, x)
    tiny = number(1e-10, x)
    r = quotient(one, fma(sqrt(t), t + quotient(one, p[0] + tiny), tiny))
    return x * r, y * r


def make():
    """Return the variation."""
    return Variation("scry", "Inverted and pulled in", apply, weighted=True)
