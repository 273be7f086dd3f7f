"""Fractal dream: sines of both coordinates (Clifford Pickover)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.elementary import sincos
from fractals.kernels.primitives import fma


def step(x, y, p):
    """Return the next point."""
    a, b, c, d = p
    return (
        fma(c, sincos(x * b)[0], sincos(y * b)[0]),
        fma(d, sincos(y * a)[0], sincos(x * a)[0]),
    )


def make(a=-0.966918, b=2.879879, c=0.765145, d=0.744728):
    """Return the attractor."""
    return Attractor(
        "fractal_dream",
        "Fractal dream: sines of both coordinates",
        step,
        parameters={"a": a, "b": b, "c": c, "d": d},
        stride=3.0,
        width="4.2",
    )
