"""Clifford: a sine and a cosine in each coordinate (Clifford Pickover)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.elementary import sincos
from fractals.kernels.primitives import fma


def step(x, y, p):
    """Return the next point."""
    a, b, c, d = p
    return (
        fma(c, sincos(a * x)[1], sincos(a * y)[0]),
        fma(d, sincos(b * y)[1], sincos(b * x)[0]),
    )


def make(a=-1.4, b=1.6, c=1.0, d=0.7):
    """Return the attractor."""
    return Attractor(
        "clifford",
        "Clifford: a sine and a cosine in each coordinate",
        step,
        parameters={"a": a, "b": b, "c": c, "d": d},
        stride=3.0,
        width="5.2",
    )
