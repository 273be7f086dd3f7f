"""conic: random points of conic sections."""

from fractals.kernels.elementary import quotient
from fractals.kernels.plane import inverse, radius
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    near = inverse(radius(x, y))
    t = fma(p[0], x * near, number(1, x))
    r = quotient((u[0] - p[1]) * p[0], t) * near
    return r * x, r * y


def make():
    """Return the variation."""
    return Variation(
        "conic", "Random points of conic sections", apply, {"eccentricity": 1, "holes": 0}, draws=1
    )
