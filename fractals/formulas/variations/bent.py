"""bent: another scale left and below."""

from fractals.kernels.primitives import number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    zero = number(0, x)
    return select(x < zero, x + x, x), select(y < zero, y * number(0.5, y), y)


def make():
    """Return the variation."""
    return Variation("bent", "Another scale left and below", apply)
