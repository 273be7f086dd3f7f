"""whorl: a whorl."""

from fractals.kernels.elementary import angle, quotient, sincos
from fractals.kernels.plane import radius
from fractals.kernels.primitives import select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r, w = radius(x, y), p[2]
    a = angle(x, y) + quotient(select(r < w, p[0], p[1]), w - r)
    s, c = sincos(a)
    return w * r * c, w * r * s


def make():
    """Return the variation."""
    return Variation("whorl", "A whorl", apply, {"inside": 0, "outside": 0}, weighted=True)
