"""pdj: the map of Peter de Jong."""

from fractals.kernels.elementary import sincos
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    return (
        sincos(p[0] * y)[0] - sincos(p[1] * x)[1],
        sincos(p[2] * x)[0] - sincos(p[3] * y)[1],
    )


def make():
    """Return the variation."""
    return Variation("pdj", "The map of Peter de Jong", apply, {"a": 0, "b": 0, "c": 0, "d": 0})
