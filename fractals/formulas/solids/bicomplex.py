"""Bicomplex Mandelbrot set, or Tetrabrot: pairs of complex numbers, ζ² + c (Dominic Rochon, 2000).

A bicomplex number x + yi + zj + wij, with i² = j² = -1 and ij = ji, is a pair of complex numbers
that are squared one by one: x + w + (y - z)i and x - w + (y + z)i. The larger one bounds what a
product stretches.
"""

import math

from fractals.kernels.primitives import fma, select, sqrt
from fractals.kernels.solid import Knob, Solid, from_afar, within

KNOBS = {
    "w": Knob(-2.0, 2.0, "the fourth coordinate of the points that are seen"),
    "julia": Knob(0, 1, "1 for the Julia set of the constant k"),
    **{f"k{n}": Knob(-2.0, 2.0, f"part {n} of the constant k of a Julia set") for n in range(4)},
}


def step(x, y, z, w, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    e, rest = options
    p, q, s, t = x + w, y - z, x - w, y + z
    first, second = fma(p, p, q * q), fma(s, s, t * t)
    size = sqrt(select(first > second, first, second))
    twice, both = x + x, y + y
    return (
        fma(x, x, fma(-y, y, fma(-z, z, fma(w, w, a)))),
        fma(twice, y, fma(-(z + z), w, b)),
        fma(twice, z, fma(-both, w, c)),
        fma(twice, w, fma(both, z, e)),
        fma(size + size, d, rest),
    )


def make(w=0.0, julia=0, k0=-0.2, k1=0.5, k2=0.3, k3=0.1):
    """Return the solid."""
    given = within(KNOBS, w=w, julia=julia, k0=k0, k1=k1, k2=k2, k3=k3)
    # The two complex numbers of a point of a Julia set: |z|² - |k| is |z| at most.
    sizes = [math.hypot(k0 + sign * k3, k1 - sign * k2) for sign in (1, -1)]
    radii = [(1 + math.sqrt(1 + 4 * size)) / 2 for size in sizes]
    return Solid(
        "bicomplex",
        "Bicomplex Julia set, ζ² + k" if julia else "Bicomplex Mandelbrot set, ζ² + c",
        step,
        degree=2,
        steps=20,
        bound=math.hypot(*radii) / math.sqrt(2) if julia else 2.0,
        fourth=float(w),
        constants=(k0, k1, k2) if julia else None,
        options=(k3, 1e-30) if julia else (w, 1.0),
        parameters=given,
        knobs=KNOBS,
        source="Dominic Rochon, 2000",
        position=from_afar(1.5),
    )
