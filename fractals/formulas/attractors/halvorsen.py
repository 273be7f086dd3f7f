"""Halvorsen: three arms in a ring (Arne Halvorsen)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.primitives import fma, number


def velocity(x, y, z, p):
    """Return the velocity at a point."""
    a, four = p[0], number(4, x)
    return (
        fma(-a, x, fma(-y, y, -(four * (y + z)))),
        fma(-a, y, fma(-z, z, -(four * (z + x)))),
        fma(-a, z, fma(-x, x, -(four * (x + y)))),
    )


def make(a=1.4, turn=45.0, tilt=35.0):
    """Return the attractor."""
    return Attractor(
        "halvorsen",
        "Halvorsen: three arms in a ring",
        velocity=velocity,
        parameters={"a": a, "turn": turn, "tilt": tilt},
        stride=90.0,
        center=("0", "-4"),
        width="32",
        start=(-5.0, 0.0, 0.0),
        spread=1.0,
        settle=800,
        time=0.004,
    )
