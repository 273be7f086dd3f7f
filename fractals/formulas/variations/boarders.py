"""boarders: squares with frames, each made smaller by half."""

from fractals.kernels.elementary import nearest, quotient
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    zero, half, quarter = number(0, x), number(0.5, x), number(0.25, x)
    column, row = nearest(x), nearest(y)
    dx, dy = x - column, y - row
    a, b = fma(dx, half, column), fma(dy, half, row)
    # Three of four points go into the frame, towards the side that is next.
    across = select(dx >= zero, quarter, -quarter)
    down = select(dy >= zero, quarter, -quarter)
    beside = abs(dx) >= abs(dy)
    right = select(beside, across, down * quotient(dx, dy))
    up = select(beside, across * quotient(dy, dx), down)
    inner = u[0] >= number(0.75, x)
    return select(inner, a, a + right), select(inner, b, b + up)


def make():
    """Return the variation."""
    return Variation("boarders", "Squares with frames, smaller by half", apply, draws=1)
