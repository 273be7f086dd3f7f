"""How deep a view is: the digits that name its center, and the bits that tell its samples apart."""

import math
import statistics
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import gmpy2
import numpy as np

from fractals.errors import OptionError
from fractals.kernels.formula import Formula
from fractals.scene.model import Scene
from fractals.scene.numbers import log2, scientific

GONE = 4.0  # |z| beyond which an orbit has escaped
MOST_STEPS = 10_000
MOST_POWERS, MOST_OTHERS = 32768, 400  # along orbits of parameter pictures
CLOSE_BITS, FLOAT_BITS = 28, 60  # minus log2 of the distances between which they are followed
LARGEST = 1e250  # the square of what is followed
MOST_BITS = 8192  # of orbits that are followed: deeper it is seen without them what is needed


def depth_of(
    scene: Scene,
    formula: Formula,
    width: Fraction,
    center: tuple[Fraction, Fraction],
    apart: float,
) -> tuple[int, float]:
    """Return the decimal digits that the view needs, and the bits that tell its samples apart.

    Parameters
    ----------
    apart : float
        log2 of the distance of the nearest samples.

    Raises
    ------
    OptionError
        The view is unreasonably far from 0.
    """
    reach = max(abs(center[0]), abs(center[1])) + width / 2
    if not -1000 < log2(reach) < 100:
        raise OptionError(f"the view lies {scientific(reach)} from 0: nothing is drawn out there")
    relative = log2(reach) - apart
    if scene.julia:  # after a step neighbours near 0 are nearer still, but not near 0
        relative = max(relative, -apart - (formula.degree - 1) * min(0, log2(reach)))
    return max(1, math.ceil(relative * math.log10(2)) + 1), relative


def bits_along(
    scene: Scene,
    formula: Formula,
    width: Fraction,
    center: tuple[Fraction, Fraction],
    apart: float,
) -> float:
    """Return the bits that orbits need for what is to be seen of them; 0: `depth_of` tells."""
    if not formula.perturbed:
        return 0.0
    if not scene.julia:
        far = -apart < CLOSE_BITS or -apart > FLOAT_BITS  # direct iteration is exact, or hopeless
        return 0.0 if far else _along_parameters(formula, center, width, apart)
    c = Fraction(Decimal(scene.julia[0])), Fraction(Decimal(scene.julia[1]))
    # The orbits' own numbers must tell the samples apart after a step near 0, too: rounded to
    # float64, they may all lie on a repelling cycle, from which they would never part.
    bits = 64 + math.ceil(formula.degree * max(0.0, -apart))
    if bits > MOST_BITS:
        return 0.0
    with gmpy2.context(gmpy2.get_context(), precision=bits):
        return statistics.median(_along(formula, z, c, apart) for z in _around(center, width))


def _along_parameters(
    formula: Formula, center: tuple[Fraction, Fraction], width: Fraction, apart: float
) -> float:
    """Return how many bits of the orbits of a parameter picture can be seen in it.

    Beside a cycle whose multiplier is on the unit circle, and at the limits of period doubling,
    roundings add up along an orbit while neighbors do not part. Their sum, if they are independent,
    is followed beside dz/dc, and compared with it where the orbit escapes or is given up. Where the
    orbit escapes the sum is also compared with what a step of the orbit moves z by: where counts of
    neighbors differ by hundreds, a smaller part of a sample's width changes a count.
    """
    find = _shaken_power if formula.is_power else _shaken
    return max(find(formula, c, 2.0**apart) for c in _middles(center, width))


def _shaken_power(formula: Formula, c: complex, spacing: float) -> float:
    degree, z, d, noise, saved = formula.degree, 0j, 0j, 0.0, 1j
    for m in range(MOST_POWERS):
        slope = z + z if degree == 2 else degree * z ** (degree - 1)
        d = slope * d + spacing
        noise *= slope.real * slope.real + slope.imag * slope.imag
        z = z * z + c if degree == 2 else z**degree + c
        size = z.real * z.real + z.imag * z.imag
        noise += size
        if not size < GONE**2 or not noise < LARGEST:
            break
        if z == saved:  # a cycle attracts it, and takes the roundings together
            return 0.0
        if m & (m - 1) == 0:
            saved = z
    return _bits(noise, d.real * d.real + d.imag * d.imag, size, degree)


def _shaken(formula: Formula, c: complex, spacing: float) -> float:
    """Follow z = x + iy, and how it moves with both parts of c; off its kinks f is conformal."""
    a, b = (np.full(1, part) for part in (c.real, c.imag))
    x, y = np.zeros(1), np.zeros(1)
    p, q = np.zeros(2), np.zeros(2)
    e, f = np.array([spacing, 0.0]), np.array([0.0, spacing])
    one, zero, noise = np.ones(1), np.zeros(1), 0.0
    for _ in range(MOST_OTHERS):
        g, h = formula.derivative(x, y, one, zero)
        p, q = formula.derivative(x, y, p, q)
        p, q = p + e, q + f
        x, y = formula.step(x, y, a, b)
        size = float(x[0] * x[0] + y[0] * y[0])
        noise = noise * float(g[0] * g[0] + h[0] * h[0]) + size
        if not size < GONE**2 or not noise < LARGEST:
            break
    return _bits(noise, float(p @ p + q @ q) / 2, size, formula.degree)


def _bits(noise: float, moved: float, size: float, degree: int) -> float:
    """Return the bits of numbers so that a sum of roundings is as long as what moved.

    `noise`, `moved` and `size` are the squares of the sum, of what moved, and of the last |z|. An
    escaped orbit's sum is also compared with the change of z that changes the smooth count by 1.
    """
    if not (0 < moved < math.inf and noise > 0):
        return 0.0
    if GONE**2 <= size < LARGEST and degree > 1:
        counted = math.sqrt(size) * math.log(size) / 2 * math.log(degree)
        moved = min(moved, counted * counted)
    return 0.5 * math.log2(noise / moved)


def _middles(center: tuple[Fraction, Fraction], width: Fraction) -> Iterator[complex]:
    """Yield points about the center of a view, none on an axis of it."""
    x, y, w = float(center[0]), float(center[1]), float(width)
    for move in (0.31 + 0.17j, -0.33 + 0.13j, 0.27 - 0.19j, -0.29 - 0.11j):
        yield complex(x, y) + move * w


def _around(
    center: tuple[Fraction, Fraction], width: Fraction
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the corners of a square view, and the middles of its sides."""
    (x, y), half = center, width / 2
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            if i or j:
                yield x + i * half, y + j * half


def _along(
    formula: Formula,
    start: tuple[Fraction, Fraction],
    c: tuple[Fraction, Fraction],
    apart: float,
) -> float:
    """Return how many bits of an orbit can be seen in the picture.

    Where z is small a step takes neighbours together: around a point that comes to 0 a whole view
    becomes a square of itself, and a rounded bit grows with what is left of it. It is seen when the
    orbit escapes, or when neighbours have parted. `apart` is log2 of their distance, which the
    derivative multiplies.
    """
    x, y = (gmpy2.mpfr(gmpy2.mpq(part)) for part in start)  # ten times as fast as our fma of floats
    a, b = (gmpy2.mpfr(gmpy2.mpq(part)) for part in c)
    total, saved = -math.inf, (x, y)  # log2 of all steps' roundings: that of c is always the same
    for m in range(MOST_STEPS):
        size = math.hypot(float(x), float(y))
        larger = max(math.log2(size) if size else -math.inf, apart)
        low, high = sorted((total, larger - apart))
        total = high + math.log2(1 + 2.0 ** (low - high))
        if not size < GONE or apart >= 0:
            break
        apart += math.log2(formula.degree) + (formula.degree - 1) * larger
        x, y = formula.step(x, y, a, b)
        if x == saved[0] and y == saved[1]:  # a cycle attracts it (Brent, 1980)
            return 0.0
        if m & (m - 1) == 0:
            saved = x, y
    return total + min(apart, 0)
