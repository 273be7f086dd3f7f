"""arch: random points of an arch."""

from fractals.kernels.elementary import PI, quotient, sincos
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(u[0] * p[0] * number(PI, x))
    return p[0] * s, p[0] * quotient(s * s, c)


def make():
    """Return the variation."""
    return Variation("arch", "Random points of an arch", apply, draws=1, weighted=True, adds=True)
