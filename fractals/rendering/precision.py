"""How deep a view is: the bits that distinguish its samples, and what rounding does to counts."""

import functools
import itertools
import math
import threading
from collections.abc import Iterator
from copy import copy
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import gmpy2
import numpy as np

from fractals.errors import OptionError
from fractals.kernels.formula import Formula
from fractals.scene.geometry import matrix
from fractals.scene.model import Scene
from fractals.scene.numbers import log2, scientific
from fractals.scene.picture import View

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
MAX_BITS = 8192  # of followed orbits of Julia sets; deeper views need perturbation in any case


def depth_of(
    scene: Scene,
    formula: Formula,
    width: Fraction,
    center: tuple[Fraction, Fraction],
    log2_spacing: float,
) -> tuple[int, float]:
    """Return the decimal digits and the bits that distinguish a view's samples.

    `log2_spacing` is log2 of the distance of the nearest samples. A view that is unreasonably far
    from 0 is refused; so is one so near to it that only perturbation could tell its samples apart,
    if the formula has none.
    """
    reach = max(abs(center[0]), abs(center[1])) + width / 2
    if not log2(reach) < MAX_REACH:
        raise OptionError(f"the view lies {scientific(reach)} from 0: nothing is drawn out there")
    if formula.perturbed is None and log2(reach) < MIN_REACH:
        raise OptionError(
            f"the view lies {scientific(reach)} from 0, and numbers of the formula "
            f"'{formula.name}' end at {scientific(Fraction(2) ** MIN_REACH)}: give a larger width="
        )
    relative = log2(reach) - log2_spacing
    if scene.julia:  # after a step neighbours near 0 are nearer still, but not near 0
        relative = max(relative, -log2_spacing - (formula.degree - 1) * min(0, log2(reach)))
    return max(1, math.ceil(relative * math.log10(2)) + 1), relative


def needed_orbit_bits(
    julia: tuple[str, str] | None,
    formula: Formula,
    width: Fraction,
    center: tuple[Fraction, Fraction],
    log2_spacing: float,
) -> float:
    """Return the bits that orbits need, so that no rounding is visible.

    0 says that the bits of `depth_of` suffice.
    """
    if not formula.perturbed:
        return 0.0
    if not julia:
        if not MIN_SPACING_BITS <= -log2_spacing <= MAX_SPACING_BITS:
            return 0.0
        return _parameter_bits(formula, center, width, log2_spacing)
    if -log2_spacing < MIN_JULIA_BITS:
        return 0.0
    # A larger view near this view stands for it, so the steps of a zoom share its orbits.
    larger = math.ceil(log2(width))
    samples = math.ceil(log2(width) - log2_spacing)  # log2 of those in a width
    place = Fraction(2) ** larger / PLACES
    x, y = (round(part / place) * place for part in center)
    return _julia_bits(julia, formula, PLACES * place, (x, y), larger - samples)


@functools.lru_cache(maxsize=32)  # up to 100 ms
def _julia_bits(
    julia: tuple[str, str],
    formula: Formula,
    width: Fraction,
    center: tuple[Fraction, Fraction],
    log2_spacing: float,
) -> float:
    """Return the bits that the orbits of a Julia set need: the median of points of its border."""
    import statistics

    c = Fraction(Decimal(julia[0])), Fraction(Decimal(julia[1]))
    # The orbits' own numbers must distinguish the samples after a step near 0, too: rounded to
    # float64, they may all lie on a repelling cycle, from which they would never part.
    bits = 64 + math.ceil(formula.degree * max(0.0, -log2_spacing))
    if bits > MAX_BITS:
        return 0.0
    bits = math.ceil(bits / 64) * 64  # so that pictures of other sizes share the orbits
    with _following, gmpy2.context(gmpy2.get_context(), precision=bits):
        try:
            return statistics.median(
                _orbit_bits(formula, copy(_log2_sizes(formula, z, c, bits)), log2_spacing)
                for z in _border_points(center, width)
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


@functools.lru_cache(maxsize=32)  # up to 100 ms, and the same for each new coloring of a view
def _parameter_bits(
    formula: Formula, center: tuple[Fraction, Fraction], width: Fraction, log2_spacing: float
) -> float:
    """Return how many bits of the orbits of a parameter picture can be seen in it.

    Beside a cycle whose multiplier is on the unit circle, and at the limits of period doubling,
    roundings add up along an orbit while neighbors do not part. Their sum, if they are independent,
    is followed beside dz/dc, and compared with it where the orbit escapes or is given up. Where the
    orbit escapes the sum is also compared with what a step of the orbit moves z by: where counts of
    neighbors differ by hundreds, a smaller part of a sample's width changes a count.
    """
    find = _power_noise_bits if formula.is_power else _noise_bits
    return max(find(formula, c, 2.0**log2_spacing) for c in _inner_points(center, width))


def _power_noise_bits(formula: Formula, c: complex, spacing: float) -> float:
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
            return 0.0
        if m & (m - 1) == 0:
            saved = z
    return _bits(noise, d.real * d.real + d.imag * d.imag, size, degree)


def _noise_bits(formula: Formula, c: complex, spacing: float) -> float:
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


def _bits(noise: float, moved: float, size: float, degree: int) -> float:
    """Return the bits of numbers so that a sum of roundings is as long as what moved.

    `noise`, `moved` and `size` are the squares of the sum, of what moved, and of the last |z|. An
    escaped orbit's sum is also compared with the change of z that changes the smooth count by 1.
    """
    if not (0 < moved < math.inf and noise > 0):
        return 0.0
    if ESCAPED**2 <= size < MAX_SQUARE and degree > 1:
        counted = math.sqrt(size) * math.log(size) / 2 * math.log(degree)
        moved = min(moved, counted * counted)
    return 0.5 * math.log2(noise / moved)


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


# Noise: the share of a picture's counts that the rounding of float64 may change.
#
# Formulas without a perturbed step are iterated directly down to where float64 cannot tell
# samples apart. Two things are rounded on the way: the places of samples, and every point of an
# orbit, whose roundings add up where the orbits of neighbors do not part. So some samples of a
# view are iterated in float64 and in arbitrary precision, and compared where they end. Next to
# the border counts are chaotic: they change if a sample moves by a tiny part of a pixel. Such
# changes are subtracted.


LEAST_BITS, MOST_BITS = 28, 1024  # minus log2 of the samples' distance: where views are measured
COLUMNS, ROWS = 8, 5  # samples that are iterated in float64
MOST_STEPS = 2048  # of an orbit
BUDGET = 16_000  # steps in arbitrary precision, some microseconds each
MOVE = Fraction(1, 100_000)  # of a pixel
CHAOS = 4  # times the change by MOVE, which is not counted as noise
Point = tuple[Fraction, Fraction]


def wrong_share(
    scene: Scene,
    formula: Formula,
    center: Point,
    width: Fraction,
    finest: Fraction,
    bits: float,
    limit: int,
) -> float:
    """Return the share of a direct picture's samples whose counts rounding may change.

    `finest` is the width of a plain view whose samples are as close as the closest of this one;
    `bits` distinguish samples, as of `fractals.rendering.precision.depth_of`; `limit` is that of
    iterations.
    """
    columns, rows = scene.image.size
    spacing = finest / columns / scene.image.supersampling
    if formula.goes_on or not LEAST_BITS <= max(bits, -log2(spacing)) <= MOST_BITS:
        return 0.0  # how far an orbit is from a condition of the user is not known
    if scene.view.projection == "exponential":  # its innermost circle
        width, axes = finest, matrix(View())
        size = width, width
    else:
        axes, size = matrix(scene.view), (width, width * rows / columns)
    radius = scene.iteration.escape_radius
    return _wrong_share(formula, scene.julia, axes, center, size, spacing, limit, radius)


@functools.lru_cache(maxsize=64)  # up to 150 ms, more where orbits stay
def _wrong_share(
    formula: Formula,
    julia: tuple[str, str] | None,
    axes: tuple[Fraction, Fraction, Fraction, Fraction],
    center: Point,
    size: tuple[Fraction, Fraction],
    spacing: Fraction,
    limit: int,
    radius: float,
) -> float:
    bits = 128 + math.ceil(max(2, formula.degree) * max(0.0, -log2(spacing)))
    most, by = min(limit, MOST_STEPS), MOVE * spacing
    c = (Fraction(Decimal(julia[0])), Fraction(Decimal(julia[1]))) if julia else None
    places, starts = _places(axes, center, size)
    rounded = _rounded_ends(formula, c, *starts, most, radius)
    inside = [end.steps == most for end in rounded]
    errors: dict[bool, list[float]] = {True: [], False: []}
    budget = BUDGET
    with gmpy2.context(gmpy2.get_context(), precision=bits):
        for k in sorted(range(len(places)), key=lambda k: (inside[k], k * 7 % len(places))):
            budget -= 2 * rounded[k].steps
            if budget < 0 and errors[inside[k]]:
                continue
            x, y = places[k]
            exact, moved = (
                _end(formula, c, place, most, radius) for place in ((x, y), (x + by, y + by))
            )
            chaos = min(1.0, CHAOS * exact.doubt(moved, formula, radius))
            errors[inside[k]].append(max(0.0, exact.doubt(rounded[k], formula, radius) - chaos))
    return sum(
        inside.count(side) / len(inside) * sum(found) / len(found)
        for side, found in errors.items()
        if found
    )


class End(NamedTuple):
    """Where an orbit ends: its count, and |z| and the step's length before and after that step."""

    steps: int
    sizes: tuple[float, ...] = (0.0, 0.0)
    before: tuple[float, ...] = (0.0, 0.0)

    def doubt(self, other: "End", formula: Formula, radius: float) -> float:
        """Return the chance, from 0 to 1, that counts differ by what two orbits differ by.

        It is 1 where they do, or where numbers are nearer to their bound than to each other.
        """
        if self.steps != other.steps:
            return 1.0
        bounds = (radius if formula.escapes else math.inf, formula.tolerance or math.inf)
        found = 0.0
        for own, others in ((self.sizes, other.sizes), (self.before, other.before)):
            for a, b, bound in zip(own, others, bounds, strict=True):
                if math.isfinite(bound) and a != b:  # the quotient of infinities is not larger
                    found = max(found, abs(a - b) / max(abs(a - bound), abs(a - b)))
        return found


def _places(
    axes: tuple[Fraction, ...], center: Point, size: tuple[Fraction, Fraction]
) -> tuple[list[Point], tuple[Any, Any]]:
    """Return exact places of samples, and the same as they are rounded in a picture."""
    a, b, c, d = axes
    places, xs, ys = [], [], []
    for j in range(ROWS):
        for i in range(COLUMNS):
            # Not at regular places: on the axes of a view counts may be special.
            right = size[0] * (Fraction(10 * i + 3 + 2 * j, 10 * COLUMNS + 4) - Fraction(1, 2))
            up = size[1] * (Fraction(10 * j + 3 + i % 5, 10 * ROWS) - Fraction(1, 2))
            places.append((center[0] + a * right + b * up, center[1] + c * right + d * up))
            xs.append(float(center[0] + a * right) + float(b * up))
            ys.append(float(c * right) + float(center[1] + d * up))
    return places, (np.array(xs), np.array(ys))


def _rounded_ends(
    formula: Formula, c: Point | None, x: Any, y: Any, most: int, radius: float
) -> list[End]:
    """Return where orbits in float64 end."""
    a, b = (np.full_like(x, float(part)) for part in c) if c else (x, y)
    found = [End(most)] * len(x)
    left, orbit = np.ones(len(found), bool), _orbit(formula, c is not None, x, y, a, b)
    with np.errstate(all="ignore"):
        before = next(orbit)
        for n in range(1, most):
            sizes = next(orbit)
            for k in np.flatnonzero(left & ~_goes_on(formula, sizes, radius)):
                found[k] = _end_at(n, *([part[k] for part in pair] for pair in (sizes, before)))
                left[k] = False
            if not left.any():
                break
            before = sizes
    return found


def _end(formula: Formula, c: Point | None, place: Point, most: int, radius: float) -> End:
    """Return where one orbit ends in the precision of gmpy2's context."""
    x, y = (gmpy2.mpfr(gmpy2.mpq(part)) for part in place)
    a, b = (gmpy2.mpfr(gmpy2.mpq(part)) for part in c) if c else (x, y)
    orbit = _orbit(formula, c is not None, x, y, a, b)
    before = next(orbit)
    for n in range(1, most):
        sizes = next(orbit)
        if not _goes_on(formula, sizes, radius):
            return _end_at(n, sizes, before)
        before = sizes
    return End(most)


def _end_at(n: int, *squares: Any) -> End:
    return End(n, *(tuple(math.sqrt(float(part)) for part in pair) for pair in squares))


def _orbit(
    formula: Formula, julia: bool, x: Any, y: Any, a: Any, b: Any
) -> Iterator[tuple[Any, Any]]:
    """Yield the squares of |z| and of the last step's length along an orbit."""
    z = formula.begin(julia, x, y)
    yield z[0] * z[0] + z[1] * z[1], 0 * x
    for (u, v), before, _memory in formula.orbit(julia, x, y, a, b):
        s, t = u - before[0], v - before[1]
        yield u * u + v * v, s * s + t * t


def _goes_on(formula: Formula, sizes: tuple[Any, Any], radius: float) -> Any:
    """Tell whether an orbit, or each of them, has neither escaped nor converged."""
    near = sizes[0] <= (radius**2 if formula.escapes else math.inf)
    return near & (sizes[1] > formula.tolerance**2) if formula.tolerance else near
