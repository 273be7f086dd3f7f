"""Bristorbrot: squares of three numbers with mixed products (Doug Bristor, 2012)."""

from fractals.kernels.primitives import fma, number
from fractals.kernels.solid import Solid, from_afar
from fractals.kernels.space import stretch


def step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    twice, one = x + x, number(1, x)
    u, v = twice - z, twice + y
    slope = stretch((twice, y + y, z + z), (-(y + y), u, z), (-(z + z), -y, v))
    x = fma(x, x, fma(-y, y, fma(-z, z, a)))
    return x, fma(y, u, b), fma(z, v, c), fma(slope, d, one)


def make():
    """Return the solid."""
    return Solid(
        "bristorbrot",
        "Bristorbrot: squares with mixed products",
        step,
        degree=2,
        steps=20,
        bound=2
        * 3**0.5,  # a square has at least r² / sqrt(3), so beyond this r every orbit escapes
        source="Doug Bristor, 2012",
        position=from_afar(1.5),
    )
