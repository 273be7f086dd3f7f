"""polar2: angle and logarithm of the distance."""

from fractals.kernels.elementary import PI, angle, log
from fractals.kernels.plane import square_of
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    part = number(1 / PI, x)
    return part * angle(y, x), part * number(0.5, x) * log(square_of(x, y))


def make():
    """Return the variation."""
    return Variation("polar2", "Angle and logarithm of the distance", apply)
