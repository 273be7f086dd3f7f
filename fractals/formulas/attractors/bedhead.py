"""Bedhead: a product in a sine (Ivan Emrich and Jason Rampe)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.elementary import sincos
from fractals.kernels.primitives import fma


def step(x, y, p):
    """Return the next point."""
    a, b = p
    return fma(sincos(x * y / b)[0], y, sincos(fma(a, x, -y))[1]), x + sincos(y)[0] / b


def make(a=-0.81, b=-0.92):
    """Return the attractor."""
    return Attractor(
        "bedhead",
        "Bedhead: a product in a sine",
        step,
        parameters={"a": a, "b": b},
        stride=4.0,
        center=("-0.6", "-0.1"),
        width="5",
    )
