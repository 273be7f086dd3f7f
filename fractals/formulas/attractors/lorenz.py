"""Lorenz: the butterfly of convection (Edward Lorenz)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.primitives import fma


def velocity(x, y, z, p):
    """Return the velocity at a point."""
    sigma, rho, beta, _, _ = p
    return sigma * (y - x), fma(x, rho - z, -y), fma(x, y, -(beta * z))


def make(sigma=10.0, rho=28.0, beta=8 / 3, turn=-20.0, tilt=0.0):
    """Return the attractor."""
    return Attractor(
        "lorenz",
        "Lorenz: the butterfly of convection",
        velocity=velocity,
        parameters={"sigma": sigma, "rho": rho, "beta": beta, "turn": turn, "tilt": tilt},
        stride=180.0,
        center=("0", "25"),
        width="88",
        start=(0.0, 0.0, 25.0),
        spread=15.0,
        settle=600,
        time=0.004,
    )
