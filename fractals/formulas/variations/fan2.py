"""fan2: a fan."""

from fractals.kernels.elementary import PI, angle, sincos
from fractals.kernels.plane import radius, remainder
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    d = number(PI, x) * fma(p[0], p[0], number(1e-10, x))
    half = d * number(0.5, x)
    a, r = angle(y, x), radius(x, y)
    s, c = sincos(select(remainder(a + p[1], d) > half, a - half, a + half))
    return r * s, r * c


def make():
    """Return the variation."""
    return Variation("fan2", "A fan", apply, {"x": 0, "y": 0})
