"""loonie: a disc turned inside out."""

from fractals.kernels.elementary import quotient
from fractals.kernels.plane import square_of
from fractals.kernels.primitives import number, select, sqrt
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r, w = square_of(x, y), p[0] * p[0]
    inside = (r < w) & (r > number(0, x))
    t = quotient(w, select(inside, r, w)) - number(1, x)
    t = select(inside, p[0] * sqrt(t), p[0])
    return t * x, t * y


def make():
    """Return the variation."""
    return Variation("loonie", "A disc turned inside out", apply, weighted=True)
