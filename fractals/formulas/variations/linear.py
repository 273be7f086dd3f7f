"""linear: the identity."""

from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    return x, y


def make():
    """Return the variation."""
    return Variation("linear", "The identity", apply)
