"""Searches a view for a Misiurewicz point: the eye of a spiral, to zoom into without end.

The critical orbit of such a point c ends in a cycle without having been in it: z_(q + p) = z_q,
where the preperiod q is at least 1 and p is the period. The set is nearly similar to itself around
c (Tan Lei, 1990): scaled by the cycle's multiplier, the product of the derivatives along the cycle,
it looks the same.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpc, mpfr, mpq
from numpy.typing import NDArray

from fractals.errors import FractalsError, OptionError, SceneError, shown
from fractals.kernels.formula import Formula
from fractals.scene.model import Scene
from fractals.scene.numbers import MAX_DIGITS, decimal_places
from fractals.search.newton import (
    BLOCK,
    GUARD_BITS,
    LOW_BITS,
    MAX_RADII,
    MAX_Z,
    SAME,
    Area,
    Point,
    Progress,
    Vectors,
    limit_for,
    log2,
    next_tangents,
    norm,
    orbit_bits,
    orbit_blocks,
    rounded,
    zero_tangents,
)

# Shares of the view's shorter side: radii of the circles around the center that are searched first.
NEAR, FAR = 1 / 8, 1 / 2
# Cells along a side of the view, searched where the circles hold no point.
CELLS = (4, 16)
# log2 of a view's radius, in plane units, below which only the first cells are searched: orbits are
# long there.
SHALLOW = -100
# Steps of a search in one small cell. In cells inside the set no orbit ends, and there are many.
MAX_CELL_STEPS = 1000
# Size of the circle's image under the orbit between which pairs of steps are compared. Points of
# which the image is smaller are compared later in the orbit, where their image has grown. A larger
# image is no linear function of the circle.
MIN_IMAGE, MAX_IMAGE = 2.0**-20, 4.0
# Pairs of steps from which Newton's method is started in one circle, until the circle is given up.
MAX_TRIES = 12
# Bits of the circle's radius to which a point is computed to learn its preperiod and period.
ROUGH_BITS = 48
# Bits by which a computed point may be farther away than its last correction.
SLACK_BITS = 8
# Corrections of Newton's method until it is given up. They double the bits, so few are needed.
MAX_CORRECTIONS = 20
# Decimals of the center beyond those that the view needs, where nothing else is asked for.
SPARE_DIGITS = 50


@dataclass(frozen=True)
class Misiurewicz:
    """A parameter c whose critical orbit ends in a repelling cycle: the eye of a spiral.

    Attributes
    ----------
    center : tuple of str
        The point, as decimal text.
    preperiod : int
        Steps after which the critical orbit has reached the cycle.
    period : int
        Length of the cycle.
    factor : str
        Zoom after which the view repeats, as decimal text.
    angle : float
        Degrees, counter-clockwise, by which the repeated view is rotated.
    found_in : Scene
        The scene that was searched.

    Examples
    --------
    >>> found = find_misiurewicz(Scene().replace(center=("-1.99", "0"), width="0.1"))
    >>> found.center, found.preperiod, found.period, found.factor
    (('-2', '0'), 2, 1, '4')
    """

    center: tuple[str, str]
    preperiod: int
    period: int
    factor: str
    angle: float
    found_in: Scene

    def scene(self) -> Scene:
        """Return the scene centered on the point, as wide as the one that was searched."""
        old = self.found_in
        return old.replace(
            title=f"A spiral of preperiod {self.preperiod} and period {self.period}",
            note="",
            center=self.center,
            max_iterations=limit_for(old, self.preperiod + self.period),
        )

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "preperiod": self.preperiod,
            "period": self.period,
            "center": list(self.center),
            "factor": self.factor,
            "angle": round(self.angle, 6),
        }


def find_misiurewicz(
    scene: Scene,
    digits: int | None = None,
    max_period: int | None = None,
    progress: Progress | None = None,
) -> Misiurewicz:
    """Return a Misiurewicz point near the center of the view: see `fractals.find_misiurewicz`.

    In the smallest parts of the view, preperiod plus period are at most MAX_CELL_STEPS.
    """
    area = Area(scene, max_period, "Misiurewicz points")
    if not area.formula.holomorphic:
        raise SceneError(
            "Misiurewicz points are found of formulas with a complex derivative, and "
            f"'{area.formula.name}' has none"
        )
    least = max(0, math.ceil(-log2(area.radius) * math.log10(2))) + 2
    digits = least + SPARE_DIGITS if digits is None else digits
    if not 1 <= digits <= MAX_DIGITS:
        raise OptionError(f"digits {shown(digits, 40)}: give 1 to {MAX_DIGITS}")
    root, center = _search(area, max(digits, least), progress)
    with gmpy2.context(precision=LOW_BITS):
        factor, angle = abs(root.multiplier), -math.degrees(float(gmpy2.phase(root.multiplier)))
        x, y = (decimal_places(mpq(part), digits) for part in center)
        text = rounded(factor)
    angle = math.remainder(angle, 360)
    return Misiurewicz((x, y), root.preperiod, root.period, text, angle + 0.0, scene)


@dataclass(frozen=True)
class _Root:
    """A Misiurewicz point to ROUGH_BITS of the circle in which it was found."""

    center: Point
    preperiod: int
    period: int
    multiplier: Any
    error: float  # log2 of the distance to the point, in plane units
    radius: float  # log2 of the radius within which Newton's method converged


def _circles(area: Area) -> Iterator[tuple[Point, Any, int]]:
    """Yield the circles that are searched in turn: centers, radii, and most steps."""
    side = min(area.width, area.height)
    with gmpy2.context(precision=LOW_BITS):
        near, far = (mpfr(side * mpq(share)) for share in (NEAR, FAR))
        radii = [area.radius / cells for cells in CELLS]
    most = area.max_period
    yield area.center, near, most
    yield area.center, far, most
    for cells, radius in zip(CELLS, radii, strict=True):
        if cells > CELLS[0]:
            if log2(radius) < SHALLOW:
                return
            most = min(most, MAX_CELL_STEPS)
        middles = [area.middle(i, j, cells) for j in range(cells) for i in range(cells)]
        middles.sort(key=lambda point: sum(part**2 for part in area.offset(point)))
        for middle in middles:
            yield middle, radius, most


def _search(area: Area, digits: int, progress: Progress | None) -> tuple[_Root, Point]:
    """Return the first point found near the center of the view, and its center in all digits."""
    circles = list(_circles(area))
    for number, (center, radius, most) in enumerate(circles, 1):
        told = progress and partial(progress, f"circle {number} of {len(circles)}")
        pairs = _pairs(area.formula, center, radius, most, told)
        for first, second in pairs[:MAX_TRIES]:
            root = _solve(area.formula, center, radius, first, second)
            if root and area.contains(root.center):
                refined = _refine(area.formula, root, digits, progress)
                if refined:
                    return root, refined
    raise FractalsError(
        "no Misiurewicz point was found in the view: move it to the edge of the set, or to the "
        "middle of a spiral"
    )


def _pairs(
    formula: Formula,
    c: Point,
    radius: Any,
    max_steps: int,
    on_steps: Callable[[int, int], None] | None,
) -> list[tuple[int, int]]:
    """Return pairs of steps (k, n) at which the orbit of a point in the circle may be the same.

    The shortest period comes first, because its spiral is the most visible one. Where z_n and z_k
    are linear functions of c, they are equal within `radius` of `c` if
    ``|z_n - z_k| < radius |dz_n/dc - dz_k/dc|``. They are linear until the circle's image becomes
    large or contains 0: a nucleus is then in the circle. Where the image stays small, or dz/dc
    comes back, c is inside the set, and there are no pairs.
    """
    points: NDArray[np.complex128] = np.zeros(1, np.complex128)
    images = np.zeros(1, np.complex128)  # of the circle's radius, under the orbit's derivative
    before, columns = (mpfr(0), mpfr(0)), zero_tangents(formula)
    n, saved = 0, before
    found: list[tuple[int, int]] = []
    unseen: NDArray[np.bool_] = np.ones(1, bool)  # by period
    bits = orbit_bits(c, log2(radius) - GUARD_BITS, max_steps)
    for block in orbit_blocks(formula, c, bits, max_steps):
        new_points, new_images = [], []
        with gmpy2.context(precision=LOW_BITS):
            for x, y in block:
                columns = next_tangents(formula, before, columns)
                before = +x, +y
                new_points.append(complex(float(x), float(y)))
                new_images.append(complex(*(float(radius * part) for part in columns[0])))
        points = np.concatenate([points, new_points])
        images = np.concatenate([images, new_images])
        unseen = np.concatenate([unseen, np.ones(len(new_points), bool)])
        while n + 1 < len(points):
            n += 1
            size = abs(images[n])
            if MIN_IMAGE < size < MAX_IMAGE:
                near = abs(points[n] - points[2:n]) < abs(images[n] - images[2:n])
                firsts = 2 + np.flatnonzero(near)
                firsts = firsts[unseen[n - firsts]]
                unseen[n - firsts] = False
                found += [(int(k), n) for k in firsts]
            if size >= MAX_IMAGE or abs(points[n]) < size or abs(points[n]) > MAX_Z:
                return sorted(found, key=lambda pair: pair[1] - pair[0])
        if on_steps:
            on_steps(n, max_steps)
        (p, q), (r, s) = columns[0], saved
        if norm((p - r, q - s)) < SAME * norm((r, s)):
            break
        if (n // BLOCK) & (n // BLOCK - 1) == 0:  # after Brent, 1980
            saved = columns[0]
    return []  # a cycle attracts the orbit, so that any two of its points are near


def _solve(formula: Formula, start: Point, radius: Any, first: int, second: int) -> _Root | None:
    """Return the point in the circle at which two steps of the orbit coincide, or None."""
    at = log2(radius)
    bits = orbit_bits(start, at - ROUGH_BITS - GUARD_BITS, second)
    c, moved = start, radius
    for _ in range(MAX_CORRECTIONS):
        move = _correction(formula, c, first, second, bits, LOW_BITS, None)
        if not gmpy2.is_finite(norm(move)):
            return None
        with gmpy2.context(precision=bits):
            c = c[0] - move[0], c[1] - move[1]
            away = norm((c[0] - start[0], c[1] - start[1]))
        if away > MAX_RADII * radius:
            return None
        moved = norm(move)
        if moved == 0 or log2(moved) < at - ROUGH_BITS:
            break
    else:
        return None
    return _reduced(formula, c, first, second, at, bits)


def _reduced(
    formula: Formula, c: Point, first: int, second: int, radius: float, bits: int
) -> _Root | None:
    """Return the point with its lowest preperiod and period; None for a nucleus."""
    points, tangents = [(mpfr(0), mpfr(0))], [zero_tangents(formula)]
    for block in orbit_blocks(formula, c, bits, second):
        with gmpy2.context(precision=LOW_BITS):
            for z in block:
                previous = points[-1]
                tangents.append(next_tangents(formula, (+previous[0], +previous[1]), tangents[-1]))
                points.append(z)
    within = gmpy2.exp2(mpfr(radius - ROUGH_BITS + SLACK_BITS))

    def same(k: int, n: int) -> bool:
        with gmpy2.context(precision=bits):
            apart = norm((points[n][0] - points[k][0], points[n][1] - points[k][1]))
        (p, q), (r, s) = tangents[n][0], tangents[k][0]
        return bool(apart < within * norm((p - r, q - s)))

    q, p = first, second - first
    p = next((part for part in range(1, p + 1) if p % part == 0 and same(q, q + part)), p)
    while q and same(q - 1, q - 1 + p):
        q -= 1
    if q == 0:
        return None
    with gmpy2.context(precision=LOW_BITS):
        factor: Vectors = ((mpfr(1), mpfr(0)),)
        for x, y in points[q : q + p]:
            factor = (formula.derivative(+x, +y, *factor[0]),)
        multiplier = mpc(*factor[0])
        (u, v), (s, t) = tangents[q + p][0], tangents[q][0]
        linear = min(radius, -log2(norm((u - s, v - t))))
    return _Root(c, q, p, multiplier, radius - ROUGH_BITS, linear)


def _refine(formula: Formula, root: _Root, digits: int, progress: Progress | None) -> Point | None:
    """Return the point to this many decimals; each correction doubles those that are right.

    None: other points are so near that its preperiod and period are mistaken.
    """
    c, error, goal = root.center, root.error, -digits * math.log2(10) - 4
    first, second = root.preperiod, root.preperiod + root.period
    for number in range(1, MAX_CORRECTIONS):
        if error <= goal:
            return c
        aim = max(2 * error - root.radius, goal) - SLACK_BITS
        bits = orbit_bits(c, aim - GUARD_BITS, second)
        low = max(LOW_BITS, math.ceil(error - aim) + GUARD_BITS)
        told = progress and partial(progress, f"Newton {number}")
        move = _correction(
            formula,
            c,
            first,
            second,
            bits,
            low,
            told,
        )
        with gmpy2.context(precision=bits):
            c = c[0] - move[0], c[1] - move[1]
        moved = norm(move)
        if moved > gmpy2.exp2(mpfr(error + ROUGH_BITS / 2)):
            return None
        error = max(2 * log2(moved) - root.radius, aim) + SLACK_BITS if moved else aim
    return None


def _correction(
    formula: Formula,
    c: Point,
    first: int,
    second: int,
    bits: int,
    low: int,
    on_steps: Callable[[int, int], None] | None,
) -> Point:
    """Return the correction of c towards z_second = z_first."""
    z, before, columns = (mpfr(0), mpfr(0)), (mpfr(0), mpfr(0)), zero_tangents(formula)
    held, held_columns = z, columns
    n = 0
    for block in orbit_blocks(formula, c, bits, second):
        with gmpy2.context(precision=low):
            for z in block:
                columns = next_tangents(formula, before, columns)
                before = +z[0], +z[1]
                n += 1
                if n == first:
                    held, held_columns = z, columns
        if on_steps:
            on_steps(n, second)
    with gmpy2.context(precision=bits):
        apart = z[0] - held[0], z[1] - held[1]
    with gmpy2.context(precision=low):
        (p, q), (r, s) = columns[0], held_columns[0]
        p, q = p - r, q - s
        square = p * p + q * q
        x, y = apart
        return (x * p + y * q) / square, (y * p - x * q) / square
