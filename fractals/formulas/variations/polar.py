"""polar: angle and distance as x and y."""

from fractals.kernels.elementary import PI, angle
from fractals.kernels.plane import radius
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    return angle(y, x) * number(1 / PI, x), radius(x, y) - number(1, x)


def make():
    """Return the variation."""
    return Variation("polar", "Angle and distance as x and y", apply)
