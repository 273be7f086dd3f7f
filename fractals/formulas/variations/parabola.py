"""parabola: random parabolas."""

from fractals.kernels.elementary import sincos
from fractals.kernels.plane import radius
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(radius(x, y))
    return p[0] * s * s * u[0], p[1] * c * u[1]


def make():
    """Return the variation."""
    return Variation("parabola", "Random parabolas", apply, {"height": 0, "width": 0}, draws=2)
