"""flower: random petals."""

from fractals.kernels.elementary import angle, sincos
from fractals.kernels.plane import inverse, radius
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = (u[0] - p[0]) * sincos(p[1] * angle(x, y))[1] * inverse(radius(x, y))
    return r * x, r * y


def make():
    """Return the variation."""
    return Variation("flower", "Random petals", apply, {"holes": 0, "petals": 0}, draws=1)
