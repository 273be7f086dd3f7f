"""edisc: a disc by elliptic coordinates."""

from fractals.kernels.elementary import log, quotient, sincos, sinhcosh
from fractals.kernels.plane import inverse_cosine, square_of
from fractals.kernels.primitives import number, select, sqrt
from fractals.kernels.scatter import Variation

SCALE = 1 / 11.57034632  # so that the disc is about 1 wide


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    one, half, zero = number(1, x), number(0.5, x), number(0, x)
    t = square_of(x, y) + one
    far = half * (sqrt(abs(t + (x + x))) + sqrt(abs(t - (x + x))))
    rest = far - one
    s, c = sincos(log(far + sqrt(select(rest > zero, rest, zero))))
    sh, ch = sinhcosh(-inverse_cosine(quotient(x, far)))
    scale = number(SCALE, x)
    return scale * ch * c, scale * sh * select(y > zero, -s, s)


def make():
    """Return the variation."""
    return Variation("edisc", "A disc by elliptic coordinates", apply)
