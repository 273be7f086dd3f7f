"""separation: the halves moved apart."""

from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    zero = number(0, x)
    across, down = sqrt(fma(x, x, p[0] * p[0])), sqrt(fma(y, y, p[2] * p[2]))
    return (
        select(x > zero, fma(-x, p[1], across), -fma(x, p[1], across)),
        select(y > zero, fma(-y, p[3], down), -fma(y, p[3], down)),
    )


def make():
    """Return the variation."""
    return Variation(
        "separation", "The halves moved apart", apply, {"x": 0, "xinside": 0, "y": 0, "yinside": 0}
    )
