"""power: the distance to the power of a sine."""

from fractals.kernels.plane import inverse, power_of, radius
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = radius(x, y)
    near = inverse(r)
    s, c = x * near, y * near
    far = power_of(r, s)
    return far * c, far * s


def make():
    """Return the variation."""
    return Variation("power", "The distance to the power of a sine", apply)
