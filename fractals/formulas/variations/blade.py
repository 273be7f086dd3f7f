"""blade: random blades."""

from fractals.kernels.elementary import sincos
from fractals.kernels.plane import radius
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(u[0] * p[0] * radius(x, y))
    return p[0] * x * (c + s), p[0] * x * (c - s)


def make():
    """Return the variation."""
    return Variation("blade", "Random blades", apply, draws=1, weighted=True)
