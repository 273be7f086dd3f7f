"""mobius: a map of circles to circles."""

from fractals.kernels.elementary import quotient
from fractals.kernels.plane import square_of
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    above, up = fma(p[0], x, fma(-p[1], y, p[2])), fma(p[0], y, fma(p[1], x, p[3]))
    below, down = fma(p[4], x, fma(-p[5], y, p[6])), fma(p[4], y, fma(p[5], x, p[7]))
    r = quotient(number(1, x), square_of(below, down))
    return fma(above, below, up * down) * r, fma(up, below, -(above * down)) * r


def make():
    """Return the variation."""
    return Variation(
        "mobius",
        "A map of circles to circles",
        apply,
        {"re_a": 0, "im_a": 0, "re_b": 0, "im_b": 0, "re_c": 0, "im_c": 0, "re_d": 0, "im_d": 0},
    )
