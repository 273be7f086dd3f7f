"""spherical: inversion in the unit circle."""

from fractals.kernels.plane import inverse, square_of
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r = inverse(square_of(x, y))
    return x * r, y * r


def make():
    """Return the variation."""
    return Variation("spherical", "Inversion in the unit circle", apply)
