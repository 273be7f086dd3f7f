"""super_shape: the plane along Gielis's superformula."""

from fractals.kernels.elementary import PI, angle, quotient, sincos
from fractals.kernels.plane import power_of, radius
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    share, count, outer, first, second, holes = p
    one, quarter, r = number(1, x), number(0.25, x), radius(x, y)
    s, c = sincos(fma(count * quarter, angle(x, y), number(PI / 4, x)))
    shape = power_of(power_of(abs(c), first) + power_of(abs(s), second), quotient(-one, outer))
    far = fma(share, u[0], fma(one - share, r, -holes))
    scale = quotient(far * shape, r)
    return scale * x, scale * y


def make():
    """Return the variation."""
    return Variation(
        "super_shape",
        "The plane along Gielis's superformula",
        apply,
        {"rnd": 0, "m": 0, "n1": 1, "n2": 1, "n3": 1, "holes": 0},
        draws=1,
    )
