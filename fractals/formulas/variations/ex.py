"""ex: cubes of sine and cosine."""

from fractals.kernels.elementary import angle, sincos
from fractals.kernels.plane import radius
from fractals.kernels.primitives import fma
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    r, a = radius(x, y), angle(y, x)
    s, c = sincos(a + r)[0], sincos(a - r)[1]
    square, cube = s * s, c * c * c
    return r * fma(square, s, cube), r * fma(square, s, -cube)


def make():
    """Return the variation."""
    return Variation("ex", "Cubes of sine and cosine", apply)
