"""Noise: the share of a picture's counts that the rounding of a number type may change.

Formulas without a perturbed step are iterated directly down to where float64 cannot tell samples
apart. Two things are rounded on the way: the places of samples, and every point of an orbit, whose
roundings add up where the orbits of neighbors do not part. So some samples of a view are iterated
in float64 and in arbitrary precision, and compared where they end. Next to the border counts are
chaotic: they change if a sample moves by a tiny part of a pixel. Such changes are subtracted.
"""

import functools
import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import gmpy2
import numpy as np

from fractals.kernels.formula import Formula
from fractals.rendering.number_types import BITS, LEAST_NOISY_BITS
from fractals.scene.geometry import matrix
from fractals.scene.model import Scene
from fractals.scene.numbers import log2
from fractals.scene.picture import View

MOST_BITS = 1024  # minus log2 of the samples' distance, beyond which no view is measured
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
    own_bits: int = BITS["float64"],
) -> float:
    """Return the share of a direct picture's samples whose counts rounding may change.

    `finest` is the width of a plain view whose samples are as close as the closest of this one;
    `bits` distinguish samples, as of `fractals.rendering.precision.depth_of`; `limit` is that of
    iterations; `own_bits` are those of the number type.
    """
    columns, rows = scene.image.size
    spacing = finest / columns / scene.image.supersampling
    if formula.goes_on or not LEAST_NOISY_BITS <= max(bits, -log2(spacing)) <= MOST_BITS:
        return 0.0  # how far an orbit is from a condition of the user is not known
    if scene.view.projection == "exponential":  # its innermost circle
        width, axes = finest, matrix(View())
        size = width, width
    else:
        axes, size = matrix(scene.view), (width, width * rows / columns)
    radius = scene.iteration.escape_radius
    return _wrong_share(formula, scene.julia, axes, center, size, spacing, limit, radius, own_bits)


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
    own_bits: int,
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
            end = rounded[k]
            if own_bits > BITS["float64"]:
                # One bit less than its width, because sums of double-double numbers may lose a bit
                with gmpy2.context(gmpy2.get_context(), precision=own_bits - 1):
                    end = _end(formula, c, places[k], most, radius)
            errors[inside[k]].append(max(0.0, exact.doubt(end, formula, radius) - chaos))
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
