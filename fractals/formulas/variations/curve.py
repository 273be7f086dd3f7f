"""curve: a bell along each axis."""

from fractals.kernels.elementary import exp, quotient
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    tiny = number(1e-10, x)
    across, down = fma(p[2], p[2], tiny), fma(p[3], p[3], tiny)
    return (
        fma(p[0], exp(quotient(-(y * y), across)), x),
        fma(p[1], exp(quotient(-(x * x), down)), y),
    )


def make():
    """Return the variation."""
    return Variation(
        "curve", "A bell along each axis", apply, {"xamp": 0, "yamp": 0, "xlength": 1, "ylength": 1}
    )
