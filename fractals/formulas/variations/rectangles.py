"""rectangles: each cell of a grid mirrored."""

from fractals.kernels.elementary import quotient
from fractals.kernels.plane import floor
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    zero, one, two = number(0, x), number(1, x), number(2, x)
    across = fma(fma(two, floor(quotient(x, p[0])), one), p[0], -x)
    down = fma(fma(two, floor(quotient(y, p[1])), one), p[1], -y)
    return select(p[0] == zero, x, across), select(p[1] == zero, y, down)


def make():
    """Return the variation."""
    return Variation("rectangles", "Each cell of a grid mirrored", apply, {"x": 1, "y": 1})
