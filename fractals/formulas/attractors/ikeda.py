"""Ikeda: light that goes round in a cavity (Kensuke Ikeda)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.elementary import quotient, sincos
from fractals.kernels.primitives import fma, number


def step(x, y, p):
    """Return the next point."""
    (u,) = p
    one = number(1, x)
    s, c = sincos(number(0.4, x) - quotient(number(6, x), fma(x, x, fma(y, y, one))))
    return fma(u, fma(x, c, -(y * s)), one), u * fma(x, s, y * c)


def make(u=0.9):
    """Return the attractor."""
    return Attractor(
        "ikeda",
        "Ikeda: light that goes round in a cavity",
        step,
        parameters={"u": u},
        stride=2.5,
        settle=60,
        center=("0.6", "-0.6"),
        width="5.4",
    )
