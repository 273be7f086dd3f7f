"""How deep a view is: the digits that name its center, and the bits that tell its samples apart."""

import math
import statistics
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import gmpy2

from fractals.errors import OptionError
from fractals.kernels.formula import Formula
from fractals.scene.model import Scene
from fractals.scene.numbers import log2, scientific

GONE = 4.0  # |z| beyond which an orbit has escaped
MOST_STEPS = 10_000
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
    """Return the bits that a Julia set's orbits need for what is to be seen of them; else 0."""
    if not (scene.julia and formula.perturbed):
        return 0.0
    c = Fraction(Decimal(scene.julia[0])), Fraction(Decimal(scene.julia[1]))
    # The orbits' own numbers must tell the samples apart after a step near 0, too: rounded to
    # float64, they may all lie on a repelling cycle, from which they would never part.
    bits = 64 + math.ceil(formula.degree * max(0.0, -apart))
    if bits > MOST_BITS:
        return 0.0
    with gmpy2.context(gmpy2.get_context(), precision=bits):
        return statistics.median(_along(formula, z, c, apart) for z in _around(center, width))


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
