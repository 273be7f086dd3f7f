"""Solids of powers: of points in space, and of numbers of more than two parts."""

import functools
import math

from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.space import stretch
from fractals.space.solid import (
    ANGLE,
    Knob,
    Solid,
    from_afar,
    within,
)

TINY = 1e-30  # the square of a distance from the axis that counts as none, and a d that is no 0


BULB_KNOBS = {
    "power": Knob(2, 16, "of the distance from 0, and factor of both angles"),
    "theta": Knob(*ANGLE, "degrees that a step adds to the angle from the z axis"),
    "phi": Knob(*ANGLE, "degrees that a step adds to the angle about the z axis"),
}


@functools.cache
def make_bulb_step(power, constant=False, folds=False, *, turned):
    """Return the step of a power.

    `constant`: (a, b, c) is that of a Julia set; `folds`: of the absolute values of x, y and z;
    `turned`: the options rotate, as of `phases`, else they are not read.

    r is raised to the power, and two angles are multiplied by it: that of z + i across, with
    across = sqrt(x² + y²), and that of x + iy. Both are powers of complex numbers, so no angle is
    computed. Of the first one, q is the imaginary part over `across`; of the second one, u + iv is
    the power over the largest even power of `across`. So the root and the quotient are computed
    beside the powers, and an odd power needs no root: these take most of a step's time.

    The step stretches space by power * r**(power - 1) along r and along the meridian. About the z
    axis it stretches up to `power` times more near the poles. Where it does, a Julia set has the
    geometric mean of both: with the first alone rays pass fins at the poles, and with the larger
    one detail drowns.
    """
    bits, pairs, odd = power.bit_length() - 1, (power - 1) // 2, power % 2

    def step(x, y, z, d, a, b, c, options):
        """Return the next point, and the bound of the derivative."""
        if folds:
            x, y, z = abs(x), abs(y), abs(z)
        flat = fma(x, x, fma(y, y, number(TINY, x)))
        square = fma(z, z, flat)
        across, inverse = sqrt(flat), number(1, x) / flat
        p, q, u, v = z, number(1, x), x, y
        for k in range(bits):
            p, q = fma(p, p, -(q * q * flat)), (p + p) * q
            # Products: a compiler of GPUs could fuse u + u with the product that u is
            u, v = fma(u, u, -(v * v)), number(2, x) * u * v
            if (power >> (bits - k)) & 1:  # the square of an odd power
                u, v = u * inverse, v * inverse
            if (power >> (bits - 1 - k)) & 1:
                p, q = fma(p, z, -(q * flat)), fma(q, z, p)
                u, v = fma(u, x, -(v * y)), fma(u, y, v * x)
        rest, slope = number(TINY if constant else 1, x), number(power, x)
        for _ in range(pairs):
            slope = slope * square
        if odd == 0:
            slope = slope * sqrt(square)
        if turned:
            cos_theta, sin_theta, cos_phi, sin_phi = options
            down, right = across * sin_theta, across * inverse * sin_theta
            p, q = fma(p, cos_theta, -(q * down)), fma(p, right, q * cos_theta)
            u, v = fma(u, cos_phi, -(v * sin_phi)), fma(u, sin_phi, v * cos_phi)
        if constant:
            about = number(power, x) * abs(q)
            slope = select(about > slope, sqrt(about * slope), slope)
        if odd == 0:
            q = q * across
        return fma(q, u, a), fma(q, v, b), p + c, fma(slope, d, rest)

    return step


def bulb_steps(power):
    """Return how many steps magnify by a million, which float32 resolves."""
    return max(10, math.ceil(14 / math.log(power)))


def phases(theta, phi):
    """Return the options of a step."""
    return tuple(f(math.radians(angle)) for angle in (theta, phi) for f in (math.cos, math.sin))


def mandelbulb(power=8, theta=0.0, phi=0.0):
    """Mandelbulb: a power in spherical coordinates (Daniel White and Paul Nylander, 2009)."""
    given = within(BULB_KNOBS, power=power, theta=theta, phi=phi)
    return Solid(
        "mandelbulb",
        f"Mandelbulb, power {power}",
        make_bulb_step(power, turned=bool(theta or phi)),
        general=make_bulb_step(power, turned=True),
        degree=power,
        steps=bulb_steps(power),
        bound=2 ** (1 / (power - 1)),
        options=phases(theta, phi),
        parameters=given,
        knobs=BULB_KNOBS,
        source="Daniel White and Paul Nylander, 2009",
        position=from_afar(1.12),
    )


def burning_bulb(power=2, theta=0.0, phi=0.0):
    """Burning bulb: the power of the Mandelbulb, of absolute values, as the burning ship's."""
    given = within(BULB_KNOBS, power=power, theta=theta, phi=phi)
    return Solid(
        "burning_bulb",
        f"Burning bulb, power {power} of absolute values",
        make_bulb_step(power, folds=True, turned=bool(theta or phi)),
        general=make_bulb_step(power, folds=True, turned=True),
        degree=power,
        steps=bulb_steps(power),
        bound=2 ** (1 / (power - 1)),
        options=phases(theta, phi),
        parameters=given,
        knobs=BULB_KNOBS,
        source="after the burning ship of Michael Michelitsch and Otto Rössler, 1992",
        position=from_afar(1.6 if power == 2 else 1.12),
    )


JULIABULB_KNOBS = {
    **BULB_KNOBS,
    **{f"c{axis}": Knob(-1.5, 1.5, f"{axis} of the constant that a step adds") for axis in "xyz"},
}


def radius_of(power, size):
    """Return the radius beyond which no orbit returns: r**power - size = r there."""
    least, most = 1.0, 4.0
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (least, middle) if middle**power - size > middle else (middle, most)
    return most


def juliabulb(power=8, cx=0.35, cy=-0.65, cz=-0.25, theta=0.0, phi=0.0):
    """Juliabulb: the Julia sets of the Mandelbulb's power (Daniel White, Paul Nylander, 2009)."""
    given = within(JULIABULB_KNOBS, power=power, cx=cx, cy=cy, cz=cz, theta=theta, phi=phi)
    return Solid(
        "juliabulb",
        f"Juliabulb, power {power}",
        make_bulb_step(power, constant=True, turned=bool(theta or phi)),
        general=make_bulb_step(power, constant=True, turned=True),
        degree=power,
        steps=bulb_steps(power),
        bound=radius_of(power, (cx * cx + cy * cy + cz * cz) ** 0.5),
        constants=(cx, cy, cz),
        options=phases(theta, phi),
        parameters=given,
        knobs=JULIABULB_KNOBS,
        source="Daniel White and Paul Nylander, 2009",
        position=from_afar(1.12),
    )


QUATERNION_KNOBS = {
    **{f"k{n}": Knob(-1.5, 1.5, f"part {n} of the constant k that a step adds") for n in range(4)},
    "w": Knob(-1.5, 1.5, "the fourth coordinate of the points that are seen"),
}


def quaternion_step(x, y, z, w, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    k0, k1, k2, k3 = options
    twice, tiny = x + x, number(TINY, x)
    size = sqrt(fma(x, x, fma(y, y, fma(z, z, w * w))))
    x = fma(x, x, fma(-y, y, fma(-z, z, fma(-w, w, k0))))
    return x, fma(twice, y, k1), fma(twice, z, k2), fma(twice, w, k3), fma(size + size, d, tiny)


def quaternion(k0=-0.2, k1=0.6, k2=0.2, k3=0.2, w=0.0):
    """Quaternion Julia sets, q² + k, whose fourth coordinate is a constant (Alan Norton, 1982)."""
    given = within(QUATERNION_KNOBS, k0=k0, k1=k1, k2=k2, k3=k3, w=w)
    return Solid(
        "quaternion",
        "Quaternion Julia set, q² + k",
        quaternion_step,
        degree=2,
        steps=20,
        bound=(1 + math.sqrt(1 + 4 * math.hypot(k0, k1, k2, k3))) / 2,
        fourth=float(w),
        constants=(0.0, 0.0, 0.0),
        options=(k0, k1, k2, k3),
        parameters=given,
        knobs=QUATERNION_KNOBS,
        source="Alan Norton, 1982",
        position=from_afar(1.2),
    )


BICOMPLEX_KNOBS = {
    "w": Knob(-2.0, 2.0, "the fourth coordinate of the points that are seen"),
    "julia": Knob(0, 1, "1 for the Julia set of the constant k"),
    **{f"k{n}": Knob(-2.0, 2.0, f"part {n} of the constant k of a Julia set") for n in range(4)},
}


def bicomplex_step(x, y, z, w, d, a, b, c, options):
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


def bicomplex(w=0.0, julia=0, k0=-0.2, k1=0.5, k2=0.3, k3=0.1):
    """Bicomplex Mandelbrot set, or Tetrabrot: pairs of complex numbers, ζ² + c (D. Rochon, 2000).

    A bicomplex number x + yi + zj + wij, with i² = j² = -1 and ij = ji, is a pair of complex
    numbers that are squared one by one: x + w + (y - z)i and x - w + (y + z)i. The larger one
    bounds what a product stretches.
    """
    given = within(BICOMPLEX_KNOBS, w=w, julia=julia, k0=k0, k1=k1, k2=k2, k3=k3)
    # The two complex numbers of a point of a Julia set: |z|² - |k| is |z| at most.
    sizes = [math.hypot(k0 + sign * k3, k1 - sign * k2) for sign in (1, -1)]
    radii = [(1 + math.sqrt(1 + 4 * size)) / 2 for size in sizes]
    return Solid(
        "bicomplex",
        "Bicomplex Julia set, ζ² + k" if julia else "Bicomplex Mandelbrot set, ζ² + c",
        bicomplex_step,
        short=4.0,  # measured: the larger number's slope counts, whichever leaves
        degree=2,
        steps=20,
        bound=math.hypot(*radii) / math.sqrt(2) if julia else 2.0,
        fourth=float(w),
        constants=(k0, k1, k2) if julia else None,
        options=(k3, 1e-30) if julia else (w, 1.0),
        parameters=given,
        knobs=BICOMPLEX_KNOBS,
        source="Dominic Rochon, 2000",
        position=from_afar(1.5),
    )


def bristorbrot_step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    twice, one = x + x, number(1, x)
    u, v = twice - z, twice + y
    slope = stretch((twice, y + y, z + z), (-(y + y), u, z), (-(z + z), -y, v))
    x = fma(x, x, fma(-y, y, fma(-z, z, a)))
    return x, fma(y, u, b), fma(z, v, c), fma(slope, d, one)


def bristorbrot():
    """Bristorbrot: squares of three numbers with mixed products (Doug Bristor, 2012)."""
    return Solid(
        "bristorbrot",
        "Bristorbrot: squares with mixed products",
        bristorbrot_step,
        short=6.0,  # measured: directions that a step stretches most hardly meet the next one's
        degree=2,
        steps=20,
        # A square has at least r² / sqrt(3), so beyond this r every orbit escapes.
        bound=2 * 3**0.5,
        source="Doug Bristor, 2012",
        position=from_afar(1.5),
    )
