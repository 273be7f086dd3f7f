"""butterfly: two wings."""

from fractals.kernels.elementary import quotient
from fractals.kernels.plane import square_of
from fractals.kernels.primitives import number, sqrt
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    two = y + y
    r = sqrt(quotient(abs(y * x), square_of(x, two) + number(1e-10, x)))
    r = r * number(1.3029400317411197, x)
    return x * r, two * r


def make():
    """Return the variation."""
    return Variation("butterfly", "Two wings", apply)
