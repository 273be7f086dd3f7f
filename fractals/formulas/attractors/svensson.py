"""Svensson: sines and cosines with weights (Johnny Svensson)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.elementary import sincos
from fractals.kernels.primitives import fma


def step(x, y, p):
    """Return the next point."""
    a, b, c, d = p
    return (
        fma(d, sincos(a * x)[0], -sincos(b * y)[0]),
        fma(c, sincos(a * x)[1], sincos(b * y)[1]),
    )


def make(a=1.5, b=-1.8, c=1.6, d=0.9):
    """Return the attractor."""
    return Attractor(
        "svensson",
        "Svensson: sines and cosines with weights",
        step,
        parameters={"a": a, "b": b, "c": c, "d": d},
        stride=3.5,
        width="7",
    )
