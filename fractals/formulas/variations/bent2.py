"""bent2: scales left and below."""

from fractals.kernels.primitives import number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    zero = number(0, x)
    return select(x < zero, x * p[0], x), select(y < zero, y * p[1], y)


def make():
    """Return the variation."""
    return Variation("bent2", "Scales left and below", apply, {"x": 1, "y": 1})
