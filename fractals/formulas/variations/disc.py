"""disc: the distance as an angle."""

from fractals.kernels.elementary import PI, angle, sincos
from fractals.kernels.plane import radius
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    a = angle(y, x) * number(1 / PI, x)
    s, c = sincos(number(PI, x) * radius(x, y))
    return s * a, c * a


def make():
    """Return the variation."""
    return Variation("disc", "The distance as an angle", apply)
