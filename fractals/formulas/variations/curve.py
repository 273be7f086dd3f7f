"""curve: a bell along each axis."""

from fractals.kernels.elementary import exp, quotient
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    across, down = p[2] * p[2], p[3] * p[3]
    return (
        fma(p[0], exp(quotient(-(y * y), across + number(1e-10, x))), x),
        fma(p[1], exp(quotient(-(x * x), down + number(1e-10, x))), y),
    )


def make():
    """Return the variation."""
    return Variation(
        "curve", "A bell along each axis", apply, {"xamp": 0, "yamp": 0, "xlength": 1, "ylength": 1}
    )
