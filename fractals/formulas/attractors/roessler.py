"""Rössler: a band folded once (Otto Rössler)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.primitives import fma


def velocity(x, y, z, p):
    """Return the velocity at a point."""
    a, b, c, _, _ = p
    return -(y + z), fma(a, y, x), fma(z, x - c, b)


def make(a=0.2, b=0.2, c=5.7, turn=0.0, tilt=25.0):
    """Return the attractor."""
    return Attractor(
        "roessler",
        "Rössler: a band folded once",
        velocity=velocity,
        parameters={"a": a, "b": b, "c": c, "turn": turn, "tilt": tilt},
        stride=25.0,
        center=("0.5", "6"),
        width="46",
        start=(0.0, -4.0, 0.0),
        spread=2.0,
        settle=2000,
        time=0.01,
    )
