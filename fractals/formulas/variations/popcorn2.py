"""popcorn2: sines of tangents."""

from fractals.kernels.elementary import sincos
from fractals.kernels.plane import tangent_of
from fractals.kernels.primitives import fma
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    across, down = sincos(tangent_of(y * p[2]))[0], sincos(tangent_of(x * p[2]))[0]
    return fma(p[0], across, x), fma(p[1], down, y)


def make():
    """Return the variation."""
    return Variation("popcorn2", "Sines of tangents", apply, {"x": 0, "y": 0, "c": 0})
