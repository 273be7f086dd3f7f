"""elliptic: elliptic coordinates."""

from fractals.kernels.elementary import PI, angle, log, quotient
from fractals.kernels.plane import square_of
from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    one, zero = number(1, x), number(0, x)
    t = square_of(x, y) + one
    far = number(0.5, x) * (sqrt(abs(t + (x + x))) + sqrt(abs(t - (x + x))))
    a = quotient(x, far)
    b, rest = fma(-a, a, one), far - one
    b = sqrt(select(b > zero, b, zero))
    rest = sqrt(select(rest > zero, rest, zero))
    up = log(far + rest) * number(2 / PI, x)
    return angle(b, a) * number(2 / PI, x), select(y > zero, up, -up)


def make():
    """Return the variation."""
    return Variation("elliptic", "Elliptic coordinates", apply)
