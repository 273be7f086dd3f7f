"""Thomas: three sines in a ring (René Thomas)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.elementary import sincos
from fractals.kernels.primitives import fma


def velocity(x, y, z, p):
    """Return the velocity at a point."""
    b = p[0]
    return fma(-b, x, sincos(y)[0]), fma(-b, y, sincos(z)[0]), fma(-b, z, sincos(x)[0])


def make(b=0.208186, turn=45.0, tilt=35.0):
    """Return the attractor."""
    return Attractor(
        "thomas",
        "Thomas: three sines in a ring",
        velocity=velocity,
        parameters={"b": b, "turn": turn, "tilt": tilt},
        stride=1.7,
        width="15",
        spread=3.0,
        settle=1000,
        time=0.04,
    )
