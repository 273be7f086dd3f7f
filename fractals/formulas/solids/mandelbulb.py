"""Mandelbulb: a power in spherical coordinates (Daniel White and Paul Nylander, 2009)."""

import functools
import math

from fractals.kernels.primitives import fma, number, sqrt
from fractals.kernels.solid import Solid

TINY = 1e-30  # the square of a distance from the axis that counts as none


@functools.cache
def make_step(power):
    """Return the step of a power.

    r is raised to the power, and two angles are multiplied by it: that of z + i sqrt(x² + y²), and
    that of x + iy. Both are powers of complex numbers, so no angle is computed.
    """
    bits, pairs, odd = power.bit_length() - 1, (power - 1) // 2, power % 2

    def step(x, y, z, d, a, b, c, options):
        """Return the next point, and the bound of the derivative."""
        cos_theta, sin_theta, cos_phi, sin_phi = options
        flat = fma(x, x, fma(y, y, number(TINY, x)))
        square = fma(z, z, flat)
        across = sqrt(flat)
        inverse = number(1, x) / across
        s, t, g, h = z, across, x * inverse, y * inverse
        p, q, u, v = s, t, g, h
        for k in range(bits):
            p, q = fma(p, p, -(q * q)), (p + p) * q
            u, v = fma(u, u, -(v * v)), (u + u) * v
            if (power >> (bits - 1 - k)) & 1:
                p, q = fma(p, s, -(q * t)), fma(p, t, q * s)
                u, v = fma(u, g, -(v * h)), fma(u, h, v * g)
        p, q = fma(p, cos_theta, -(q * sin_theta)), fma(p, sin_theta, q * cos_theta)
        u, v = fma(u, cos_phi, -(v * sin_phi)), fma(u, sin_phi, v * cos_phi)
        one, slope = number(1, x), number(power, x)
        for _ in range(pairs):
            slope = slope * square
        if odd == 0:
            slope = slope * sqrt(square)
        return fma(q, u, a), fma(q, v, b), p + c, fma(slope, d, one)

    return step


def make(power=8, theta=0.0, phi=0.0):
    """Return the solid; `theta` and `phi` are degrees that a step adds to the angles."""
    if isinstance(power, bool) or not isinstance(power, int) or not 2 <= power <= 16:
        raise ValueError("power is a whole number from 2 to 16")
    turns = [math.radians(angle) for angle in (theta, phi)]
    return Solid(
        "mandelbulb",
        f"Mandelbulb, power {power}",
        make_step(power),
        steps=10,
        bound=2 ** (1 / (power - 1)),
        options=tuple(part(angle) for angle in turns for part in (math.cos, math.sin)),
        parameters={"power": power, "theta": theta, "phi": phi},
        position=(1.75, -2.85, 1.25),
    )
