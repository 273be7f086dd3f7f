"""Quaternion Julia sets, q² + k, where the fourth coordinate is a constant (Alan Norton, 1982)."""

import math

from fractals.kernels.primitives import fma, number, sqrt
from fractals.kernels.solid import Knob, Solid, from_afar, within

TINY = 1e-30  # that keeps d from 0
KNOBS = {
    **{f"k{n}": Knob(-1.5, 1.5, f"part {n} of the constant k that a step adds") for n in range(4)},
    "w": Knob(-1.5, 1.5, "the fourth coordinate of the points that are seen"),
}


def step(x, y, z, w, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    k0, k1, k2, k3 = options
    twice, tiny = x + x, number(TINY, x)
    size = sqrt(fma(x, x, fma(y, y, fma(z, z, w * w))))
    x = fma(x, x, fma(-y, y, fma(-z, z, fma(-w, w, k0))))
    return x, fma(twice, y, k1), fma(twice, z, k2), fma(twice, w, k3), fma(size + size, d, tiny)


def make(k0=-0.2, k1=0.6, k2=0.2, k3=0.2, w=0.0):
    """Return the solid."""
    given = within(KNOBS, k0=k0, k1=k1, k2=k2, k3=k3, w=w)
    return Solid(
        "quaternion",
        "Quaternion Julia set, q² + k",
        step,
        degree=2,
        steps=20,
        bound=(1 + math.sqrt(1 + 4 * math.hypot(k0, k1, k2, k3))) / 2,
        fourth=float(w),
        constants=(0.0, 0.0, 0.0),
        options=(k0, k1, k2, k3),
        parameters=given,
        knobs=KNOBS,
        source="Alan Norton, 1982",
        position=from_afar(1.2),
    )
