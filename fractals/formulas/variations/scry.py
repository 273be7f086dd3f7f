"""scry: inverted and pulled in."""

from fractals.kernels.elementary import quotient
from fractals.kernels.plane import square_of
from fractals.kernels.primitives import number, sqrt
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    t = square_of(x, y)
    one = number(1, x)
    r = quotient(one, sqrt(t) * (t + quotient(one, p[0] + number(1e-10, x))) + number(1e-10, x))
    return x * r, y * r


def make():
    """Return the variation."""
    return Variation("scry", "Inverted and pulled in", apply, weighted=True)
