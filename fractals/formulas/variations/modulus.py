"""modulus: folded into a rectangle."""

from fractals.kernels.plane import remainder
from fractals.kernels.primitives import select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    px = select(x > p[0], remainder(x + p[0], p[0] + p[0]) - p[0], x)
    px = select(x < -p[0], p[0] - remainder(p[0] - x, p[0] + p[0]), px)
    py = select(y > p[1], remainder(y + p[1], p[1] + p[1]) - p[1], y)
    py = select(y < -p[1], p[1] - remainder(p[1] - y, p[1] + p[1]), py)
    return px, py


def make():
    """Return the variation."""
    return Variation("modulus", "Folded into a rectangle", apply, {"x": 1, "y": 1})
