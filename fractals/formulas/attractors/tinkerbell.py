"""Tinkerbell: the square of a point, and a linear map."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.primitives import fma


def step(x, y, p):
    """Return the next point."""
    a, b, c, d = p
    return fma(x, x, fma(-y, y, fma(a, x, b * y))), fma(x + x, y, fma(c, x, d * y))


def make(a=0.9, b=-0.6013, c=2.0, d=0.5):
    """Return the attractor."""
    return Attractor(
        "tinkerbell",
        "Tinkerbell: the square of a point, and a linear map",
        step,
        parameters={"a": a, "b": b, "c": c, "d": d},
        stride=1.0,
        start=(-0.72, -0.64, 0.0),
        spread=0.01,
        settle=200,
        center=("-0.4", "-0.5"),
        width="3",
    )
