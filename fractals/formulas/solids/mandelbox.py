"""Mandelbox: fold the cube, fold the sphere, scale (Tom Lowe, 2010)."""

import math

from fractals.kernels.primitives import clamp, fma, number
from fractals.kernels.solid import Solid


def step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    scale, inner = options
    one, two = number(1, x), number(2, x)
    x = fma(two, clamp(x, -one, one), -x)
    y = fma(two, clamp(y, -one, one), -y)
    z = fma(two, clamp(z, -one, one), -z)
    f = scale / clamp(fma(x, x, fma(y, y, z * z)), inner, one)
    return fma(x, f, a), fma(y, f, b), fma(z, f, c), fma(d, abs(f), one)


def make(scale=-1.5, inner=0.5):
    """Return the solid."""
    if not 1.05 <= abs(scale) <= 3:
        raise ValueError("scale is from -3 to -1.05, or from 1.05 to 3")
    if not 0.01 <= inner <= 1:
        raise ValueError("inner is from 0.01 to 1")
    side = 2 * (scale + 1) / (scale - 1) if scale > 0 else 2.0  # half of the cube around it
    return Solid(
        "mandelbox",
        "Mandelbox: fold the cube, fold the sphere, scale",
        step,
        distance="linear",
        steps=14,
        bail=1e4,
        bound=side * math.sqrt(3),
        options=(scale, inner * inner),
        parameters={"scale": scale, "inner": inner},
        position=(2.1 * side, -3.6 * side, 1.7 * side),
    )
