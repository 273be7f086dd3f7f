"""cell: the cells of a grid moved apart."""

from fractals.kernels.elementary import quotient
from fractals.kernels.plane import floor
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    zero, one, two = number(0, x), number(1, x), number(2, x)
    column, row = floor(quotient(x, p[0])), floor(quotient(y, p[0]))
    dx, dy = fma(-column, p[0], x), fma(-row, p[0], y)
    # Cells of the first quadrant go to every other place; the rest fills the places between.
    column = select(column >= zero, two * column, -fma(two, column, one))
    row = select(row >= zero, two * row, -fma(two, row, one))
    return fma(column, p[0], dx), -fma(row, p[0], dy)


def make():
    """Return the variation."""
    return Variation("cell", "The cells of a grid moved apart", apply, {"size": 1})
