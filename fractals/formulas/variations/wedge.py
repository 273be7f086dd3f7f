"""wedge: wedges taken out of the plane."""

from fractals.kernels.elementary import angle
from fractals.kernels.plane import radius, wedged
from fractals.kernels.primitives import fma
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = radius(x, y)
    return wedged(fma(p[3], r, angle(x, y)), r, p[0], p[1], p[2])


def make():
    """Return the variation."""
    return Variation(
        "wedge",
        "Wedges taken out of the plane",
        apply,
        {"angle": 0, "hole": 0, "count": 1, "swirl": 0},
    )
