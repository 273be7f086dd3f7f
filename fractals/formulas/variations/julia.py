"""julia: half the angle, one of two."""

from fractals.kernels.plane import radius
from fractals.kernels.primitives import number, select, sqrt
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = radius(x, y)
    zero, half = number(0, x), number(0.5, x)
    c = sqrt(select(r + y > zero, (r + y) * half, zero))
    s = sqrt(select(r - y > zero, (r - y) * half, zero))
    sign = select(u[0] < half, number(1, x), number(-1, x))
    return sign * c, sign * select(x < zero, -s, s)


def make():
    """Return the variation."""
    return Variation("julia", "Half the angle, one of two", apply, draws=1)
