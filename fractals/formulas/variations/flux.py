"""flux: lines of flow between two points."""

from fractals.kernels.elementary import angle, quotient, sincos
from fractals.kernels.plane import radius
from fractals.kernels.primitives import number, sqrt
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    w = p[1]
    more, less = x + w, x - w
    r = sqrt(quotient(radius(more, y), radius(less, y)))
    s, c = sincos(number(0.5, x) * (angle(less, y) - angle(more, y)))
    r = r * w * (number(2, x) + p[0])
    return r * c, r * s


def make():
    """Return the variation."""
    return Variation(
        "flux", "Lines of flow between two points", apply, {"spread": 0}, weighted=True
    )
