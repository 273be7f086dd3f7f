"""Hopalong: a square root with a sign (Barry Martin)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.primitives import fma, number, select, sqrt


def step(x, y, p):
    """Return the next point."""
    a, b, c = p
    root = sqrt(abs(fma(b, x, -c)))
    return y - select(x < number(0, x), -root, root), a - x


def make(a=-11.0, b=0.05, c=0.5):
    """Return the attractor."""
    return Attractor(
        "hopalong",
        "Hopalong: a square root with a sign",
        step,
        parameters={"a": a, "b": b, "c": c},
        stride=12.0,
        spread=1.0,
        center=("-5", "-5.5"),
        width="45",
    )
