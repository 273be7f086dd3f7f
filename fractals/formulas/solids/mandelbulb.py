"""Mandelbulb: a power in spherical coordinates (Daniel White and Paul Nylander, 2009)."""

import functools
import math

from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.solid import ANGLE, Knob, Solid, from_afar, within

TINY = 1e-30  # the square of a distance from the axis that counts as none, and a d that is no 0


KNOBS = {
    "power": Knob(2, 16, "of the distance from 0, and factor of both angles"),
    "theta": Knob(*ANGLE, "degrees that a step adds to the angle from the z axis"),
    "phi": Knob(*ANGLE, "degrees that a step adds to the angle about the z axis"),
}


@functools.cache
def make_step(power, constant=False, folds=False):
    """Return the step of a power.

    `constant`: (a, b, c) is that of a Julia set; `folds`: of the absolute values of x, y and z.

    r is raised to the power, and two angles are multiplied by it: that of z + i sqrt(x² + y²), and
    that of x + iy. Both are powers of complex numbers, so no angle is computed.

    The step stretches space by power * r**(power - 1) along r and along the meridian. About the z
    axis it stretches up to `power` times more near the poles. Where it does, a Julia set has the
    geometric mean of both: with the first alone rays pass fins at the poles, and with the larger
    one detail drowns.
    """
    bits, pairs, odd = power.bit_length() - 1, (power - 1) // 2, power % 2

    def step(x, y, z, d, a, b, c, options):
        """Return the next point, and the bound of the derivative."""
        cos_theta, sin_theta, cos_phi, sin_phi = options
        if folds:
            x, y, z = abs(x), abs(y), abs(z)
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
        rest, slope = number(TINY if constant else 1, x), number(power, x)
        for _ in range(pairs):
            slope = slope * square
        if odd == 0:
            slope = slope * sqrt(square)
        if constant:
            about = number(power, x) * abs(q) * inverse
            slope = select(about > slope, sqrt(about * slope), slope)
        return fma(q, u, a), fma(q, v, b), p + c, fma(slope, d, rest)

    return step


def steps_of(power):
    """Return how many steps magnify by a million, which float32 resolves."""
    return max(10, math.ceil(14 / math.log(power)))


def phases(theta, phi):
    """Return the options of a step."""
    return tuple(f(math.radians(angle)) for angle in (theta, phi) for f in (math.cos, math.sin))


def make(power=8, theta=0.0, phi=0.0):
    """Return the solid."""
    given = within(KNOBS, power=power, theta=theta, phi=phi)
    return Solid(
        "mandelbulb",
        f"Mandelbulb, power {power}",
        make_step(power),
        degree=power,
        steps=steps_of(power),
        bound=2 ** (1 / (power - 1)),
        options=phases(theta, phi),
        parameters=given,
        knobs=KNOBS,
        source="Daniel White and Paul Nylander, 2009",
        position=from_afar(1.12),
    )
