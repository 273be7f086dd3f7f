"""How deep a view is: the bits that distinguish its samples."""

import functools
import itertools
import math
import threading
from collections.abc import Iterator
from copy import copy
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fractals.errors import OptionError
from fractals.kernels.formula import Formula
from fractals.scene.numbers import log2, power_of_two, scientific

ESCAPED = 4.0  # |z| beyond which an orbit has escaped
LOG2_ESCAPED = math.log2(ESCAPED)
MAX_JULIA_STEPS = 10_000
MAX_POWER_STEPS, MAX_OTHER_STEPS = 32768, 400  # of orbits of parameter pictures, in Python
# Orbits of parameter pictures are followed where minus log2 of the spacing is in this range. Below
# it direct iteration is exact, above it float64 cannot distinguish samples.
MIN_SPACING_BITS, MAX_SPACING_BITS = 28, 60
# Minus log2 of the spacing, below which orbits of Julia sets are not followed, for 0.4 ms: previews
# have 5.9. At most 9 bits were needed below it, in 8,700 views with c near parabolic points and in
# more with random c; 39 would make a view deep. From 6.3 on, c near 0.25 may need 36.
MIN_JULIA_BITS = 6
# log2 of the distance from 0 of a view's farthest point: no larger one is drawn. Nor is a smaller
# one without perturbation, because float64 has no room for its squares.
MAX_REACH, MIN_REACH = 100, -1000
PLACES = 8  # in a width of the larger view, to which its center is rounded
MAX_SQUARE = 1e250  # of numbers along an orbit, before they overflow
# Of the move that `number_types.SPARE_BITS` allows roundings to make. A count that a shorter move
# of its sample changes is chaotic: in float64, a move of 2**-22 of the samples' distance.
CHAOTIC = 2.0**-8
MAX_BITS = 8192  # of followed orbits of Julia sets; deeper views need perturbation in any case


class SampledView(NamedTuple):
    """What decides how many digits a picture needs: where its samples are, and of which map."""

    formula: Formula
    julia: tuple[str, str] | None  # c of a Julia set
    center: tuple[Fraction, Fraction]
    width: Fraction
    spacing: float  # log2 of the distance of its nearest samples

    def wider(self, octaves: int) -> "SampledView":
        """Return the view with its samples, 2**octaves times as wide."""
        width = power_of_two(log2(self.width) + octaves) if octaves else self.width
        return self._replace(width=width, spacing=self.spacing + octaves)


class OrbitBits(NamedTuple):
    """Bits that orbits need; 0 says that those which places need suffice."""

    counts: float = 0.0  # so that rounding changes no count
    stable: float = 0.0  # so that it changes none but chaotic ones


class Depth(NamedTuple):
    """The digits and bits that a view needs."""

    digits: int  # decimal ones, of coordinates
    places: float  # bits that distinguish its samples
    counts: float  # bits of numbers along orbits, as of `OrbitBits`, at least `places`
    stable: float


def depth_of(view: SampledView) -> Depth:
    """Return the digits and the bits that a view needs.

    A view that is unreasonably far from 0 is refused; so is one so near to it that only
    perturbation could tell its samples apart, if the formula has none.
    """
    formula, spacing = view.formula, view.spacing
    reach = max(map(abs, view.center)) + view.width / 2
    least = MIN_REACH if formula.perturbed is None else -math.inf
    if not least <= log2(reach) < MAX_REACH:
        raise _out_of_reach(reach, formula)
    places = log2(reach) - spacing
    if view.julia:  # after a step neighbours near 0 are nearer still, but not near 0
        places = max(places, -spacing - (formula.degree - 1) * min(0, log2(reach)))
    digits = max(1, math.ceil(places * math.log10(2)) + 1)
    return Depth(digits, places, *(max(places, bits) for bits in needed_orbit_bits(view)))


def _out_of_reach(reach: Fraction, formula: Formula) -> OptionError:
    """Return the error of a view whose farthest point lies too far from 0, or too near to it."""
    far = scientific(reach)
    place = f"the view lies {far} from 0"
    if not log2(reach) < MAX_REACH:
        return OptionError(f"{place}: nothing is drawn out there", code="too_far", name=far)
    return OptionError(
        f"{place}, and numbers of the formula '{formula.name}' end at "
        f"{scientific(Fraction(2) ** MIN_REACH)}: give a larger width="
    )


def needed_orbit_bits(view: SampledView) -> OrbitBits:
    """Return the bits that orbits need, so that no rounding is visible."""
    if not view.formula.perturbed:
        return OrbitBits()
    if view.julia:
        bits = 0.0 if -view.spacing < MIN_JULIA_BITS else _julia_bits(_larger(view))
        return OrbitBits(bits, bits)
    followed = MIN_SPACING_BITS <= -view.spacing <= MAX_SPACING_BITS
    return _parameter_bits(view) if followed else OrbitBits()


def _larger(view: SampledView) -> SampledView:
    """Return a larger view near a view, which stands for it: so the steps of a zoom share it."""
    larger = math.ceil(log2(view.width))
    samples = math.ceil(log2(view.width) - view.spacing)  # log2 of those in a width
    place = Fraction(2) ** larger / PLACES
    x, y = (round(part / place) * place for part in view.center)
    return view._replace(center=(x, y), width=PLACES * place, spacing=larger - samples)


@functools.lru_cache(maxsize=32)  # up to 100 ms
def _julia_bits(view: SampledView) -> float:
    """Return the bits that orbits of a Julia set need: the median of points of its border."""
    import statistics

    import gmpy2

    assert view.julia
    x, y = map(Decimal, view.julia)
    formula, c = view.formula, (Fraction(x), Fraction(y))
    # The orbits' own numbers must distinguish the samples after a step near 0, too: rounded to
    # float64, they may all lie on a repelling cycle, from which they would never part.
    bits = 64 + math.ceil(formula.degree * max(0.0, -view.spacing))
    if bits > MAX_BITS:
        return 0.0
    bits = math.ceil(bits / 64) * 64  # so that pictures of other sizes share the orbits
    with _following, gmpy2.context(gmpy2.get_context(), precision=bits):
        try:
            return statistics.median(
                _orbit_bits(formula, copy(_log2_sizes(formula, z, c, bits)), view.spacing)
                for z in _border_points(view.center, view.width)
            )
        except BaseException:  # Ctrl-C, too: an orbit that was interrupted would end there
            _log2_sizes.cache_clear()
            raise


_following = threading.Lock()


@functools.lru_cache(maxsize=64)
def _log2_sizes(
    formula: Formula, start: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction], bits: int
) -> Iterator[float | None]:
    """Return log2 of |z| along an orbit: an iterator whose copies follow the orbit only once.

    It ends with None where a cycle attracts the orbit. `bits` is the precision that is set.
    """
    (sizes,) = itertools.tee(_follow(formula, start, c), 1)
    return sizes


def _follow(
    formula: Formula, start: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]
) -> Iterator[float | None]:
    import gmpy2

    z, constant = (
        gmpy2.mpc(*(gmpy2.mpfr(gmpy2.mpq(part)) for part in point)) for point in (start, c)
    )
    a, b, degree = constant.real, constant.imag, formula.degree if formula.is_power else 0
    saved = z
    for m in range(MAX_JULIA_STEPS):
        size = abs(complex(z))
        yield math.log2(size) if size else -math.inf
        if degree:  # in half of the time of the formula's step
            # z**degree takes for ever where one part of z is 1e-40000 of the other.
            z = (z * z if degree == 2 else math.prod(itertools.repeat(z, degree))) + constant
        else:
            z = gmpy2.mpc(*formula.step(z.real, z.imag, a, b))
        if z == saved:  # a cycle attracts it (Brent, 1980)
            yield None
            return
        if m & (m - 1) == 0:
            saved = z


@functools.lru_cache(maxsize=32)  # 100 ms or less; other colorings of a view ask again
def _parameter_bits(view: SampledView) -> OrbitBits:
    """Return how many bits of the orbits of a parameter picture can be seen in it.

    Beside a cycle whose multiplier is on the unit circle, and at the limits of period doubling,
    roundings add up along an orbit while neighbors do not part. Their sum, if they are independent,
    is followed beside dz/dc, and compared with it where the orbit escapes or is given up. Where the
    orbit escapes the sum is also compared with what a step of the orbit moves z by: where counts of
    neighbors differ by hundreds, a smaller part of a sample's width changes a count. If far smaller
    ones do, the counts are chaotic, and more bits make none of them mean anything.
    """
    find = _power_noise_bits if view.formula.is_power else _noise_bits
    points = _inner_points(view.center, view.width)
    found = [find(view.formula, c, 2.0**view.spacing) for c in points]
    return OrbitBits(*map(max, zip(*found, strict=True)))


def _power_noise_bits(formula: Formula, c: complex, spacing: float) -> OrbitBits:
    degree, z, d, noise, saved = formula.degree, 0j, 0j, 0.0, 1j
    for m in range(MAX_POWER_STEPS):
        slope = z + z if degree == 2 else degree * z ** (degree - 1)
        d = slope * d + spacing
        noise *= slope.real * slope.real + slope.imag * slope.imag
        z = z * z + c if degree == 2 else z**degree + c
        size = z.real * z.real + z.imag * z.imag
        noise += size
        if not size < ESCAPED**2 or not noise < MAX_SQUARE:
            break
        if z == saved:  # a cycle attracts it, and takes the roundings together
            return OrbitBits()
        if m & (m - 1) == 0:
            saved = z
    return _bits(noise, d.real * d.real + d.imag * d.imag, size, degree)


def _noise_bits(formula: Formula, c: complex, spacing: float) -> OrbitBits:
    """Follow z = x + iy, and how it moves with both parts of c; off its kinks f is conformal."""
    a, b = (np.full(1, part) for part in (c.real, c.imag))
    x, y = np.zeros(1), np.zeros(1)
    p, q = np.zeros(2), np.zeros(2)
    e, f = np.array([spacing, 0.0]), np.array([0.0, spacing])
    one, zero, noise = np.ones(1), np.zeros(1), 0.0
    for _ in range(MAX_OTHER_STEPS):
        g, h = formula.derivative(x, y, one, zero)
        p, q = formula.derivative(x, y, p, q)
        p, q = p + e, q + f
        x, y = formula.step(x, y, a, b)
        size = float(x[0] * x[0] + y[0] * y[0])
        noise = noise * float(g[0] * g[0] + h[0] * h[0]) + size
        if not size < ESCAPED**2 or not noise < MAX_SQUARE:
            break
    return _bits(noise, float(p @ p + q @ q) / 2, size, formula.degree)


def _bits(noise: float, moved: float, size: float, degree: int) -> OrbitBits:
    """Return the bits of numbers so that a sum of roundings is as long as what moved.

    `noise`, `moved` and `size` are the squares of the sum, of what moved, and of the last |z|. An
    escaped orbit's sum is also compared with the change of z that changes the smooth count by 1.
    """
    if not (0 < moved < math.inf and noise > 0):
        return OrbitBits()
    least = moved
    if ESCAPED**2 <= size < MAX_SQUARE and degree > 1:
        counted = math.sqrt(size) * math.log(size) / 2 * math.log(degree)
        least = min(moved, counted * counted)
    lengths = least, max(least, moved * CHAOTIC**2)
    return OrbitBits(*(0.5 * math.log2(noise / length) for length in lengths))


def _inner_points(center: tuple[Fraction, Fraction], width: Fraction) -> Iterator[complex]:
    """Yield points about the center of a view, none on an axis of it."""
    x, y, w = float(center[0]), float(center[1]), float(width)
    for move in (0.31 + 0.17j, -0.33 + 0.13j, 0.27 - 0.19j, -0.29 - 0.11j):
        yield complex(x, y) + move * w


def _border_points(
    center: tuple[Fraction, Fraction], width: Fraction
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the corners of a square view, and the middles of its sides."""
    (x, y), half = center, width / 2
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            if i or j:
                yield x + i * half, y + j * half


def _orbit_bits(formula: Formula, log2_sizes: Iterator[float | None], log2_spacing: float) -> float:
    """Return how many bits of an orbit can be seen in the picture, from `_log2_sizes`.

    Where z is small a step takes neighbours together: around a point that comes to 0 a whole view
    becomes a square of itself, and a rounded bit grows with what is left of it. It is seen when the
    orbit escapes, or when neighbours have parted. The derivative multiplies their
    distance.
    """
    log2_distance, total = log2_spacing, -math.inf  # `total`: log2 of all steps' roundings
    log2_degree, power = math.log2(formula.degree), formula.degree - 1
    for log2_size in log2_sizes:
        if log2_size is None:
            return 0.0
        larger = log2_size if log2_size > log2_distance else log2_distance
        more = larger - log2_distance
        if more > total - 60:  # others are lost in the sum
            low, high = (more, total) if more < total else (total, more)
            total = high + math.log2(1 + 2.0 ** (low - high))
        if not log2_size < LOG2_ESCAPED or log2_distance >= 0:
            break
        log2_distance += log2_degree + power * larger
    return total + min(log2_distance, 0)
