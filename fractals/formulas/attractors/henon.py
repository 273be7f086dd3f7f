"""Hénon: a parabola folded over itself (Michel Hénon)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.primitives import fma, number


def step(x, y, p):
    """Return the next point."""
    a, b = p
    return fma(-a * x, x, number(1, x) + y), b * x


def make(a=1.4, b=0.3):
    """Return the attractor."""
    return Attractor(
        "henon",
        "Hénon: a parabola folded over itself",
        step,
        parameters={"a": a, "b": b},
        stride=2.5,
        width="3",
    )
