"""Aizawa: a sphere with a spindle (Yoji Aizawa)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.primitives import fma, number


def velocity(x, y, z, p):
    """Return the velocity at a point."""
    a, b, c, d, e, f, _, _ = p
    s = fma(x, x, y * y)
    lift = fma(-s, fma(e, z, number(1, x)), fma(f * z, x * x * x, fma(a, z, c)))
    return (
        fma(z - b, x, -(d * y)),
        fma(d, x, (z - b) * y),
        fma(number(-1 / 3, x) * z, z * z, lift),
    )


def make(a=0.95, b=0.7, c=0.6, d=3.5, e=0.25, f=0.1, turn=20.0, tilt=15.0):
    """Return the attractor."""
    return Attractor(
        "aizawa",
        "Aizawa: a sphere with a spindle",
        velocity=velocity,
        parameters={"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "turn": turn, "tilt": tilt},
        stride=6.0,
        center=("0", "0.6"),
        width="4.2",
        start=(0.1, 0.0, 0.0),
        spread=0.1,
        settle=1000,
        time=0.01,
    )
