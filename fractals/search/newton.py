"""Newton's method for nuclei: the c of minibrots, whose critical orbit comes back to 0 exactly.

Orbits are iterated by the formula's own `step` in numbers of gmpy2, in arbitrary precision. dz/dc
is needed to fewer digits, and is computed in fewer bits; its exponents have room for any depth.
Where nothing else is said, a distance is its log2, a float.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import gmpy2
from gmpy2 import mpc, mpfr, mpq

from fractals.errors import OptionError, SceneError
from fractals.kernels.formula import Formula
from fractals.scene.geometry import limit_of, matrix, place_of
from fractals.scene.model import Scene

Point = tuple[Any, Any]  # two numbers of gmpy2: mpfr, or mpq where they are exact
Vectors = tuple[Point, ...]  # a matrix by columns; of a complex derivative the first is enough
Progress = Callable[[str, int, int], None]  # what is being done, steps done, steps in all

# Steps between two changes of precision. More steps take more memory for their points, fewer spend
# more time on the changes.
BLOCK = 64
# Bits of dz/dc where only its size is used, and of sizes.
LOW_BITS = 64
# Bits beyond those that a result has: the rounding of a long orbit stays below its last bit.
GUARD_BITS = 64
# |z| beyond which the orbit has escaped, and z as a linear function of c says nothing of nuclei.
MAX_Z = 1000.0
# Radii of the view: Newton's method has gone astray if it leads farther from its start.
MAX_RADII = 4
# Corrections that gain fewer than MIN_GAIN bits, until Newton's method is given up.
MAX_SLOW = 24
# Bits: a correction that converges quadratically gains more.
MIN_GAIN = 6
# Distance, relative to dz/dc, within which two of its values count as one: it has come back.
SAME = 2.0**-48
# Bits of a view's radius to which a nucleus is computed first, to tell whether it is in view.
ROUGH_BITS = 24
# Bits of the component's size to which a nucleus is computed in the end: its picture may be zoomed
# by 2**64.
FINE_BITS = 64


@dataclass(frozen=True)
class Root:
    """An estimate of a nucleus."""

    center: Point  # the estimate, a c
    period: int  # period of the nucleus, or a multiple of the period
    error: float  # log2 of the estimate's error in plane units
    gain: float = 0.0  # bits that the next correction is expected to gain


@dataclass(frozen=True)
class Nucleus:
    """A parameter c whose critical orbit has exactly this period."""

    center: Point  # the nucleus; its error is below 2**-FINE_BITS times the size
    period: int  # steps after which the critical orbit comes back to 0
    size: Any  # size of the component over that of the whole set
    # Rotation of the component, in degrees counter-clockwise; None if the formula is not
    # holomorphic: the component is then skewed, too
    angle: float | None
    # Whether the component is the cardioid of a minibrot, and not a disc on the side of another
    # component; None if the degree is not 2, for which it is not computed
    cardioid: bool | None


def candidates(
    formula: Formula, center: Point, radius: Any, max_period: int, progress: Progress | None = None
) -> Iterator[list[int]]:
    """Yield, by blocks, the periods of nuclei expected near `center`.

    Where z_m is a linear function of c, a nucleus is within `radius` of `center` if
    ``|z_m| < radius |dz_m/dc|``; the first m is then the lowest period around. Imagina and
    FractalShark end their reference orbits by this test. The search ends at `max_period`, or when
    the orbit has escaped, or when dz/dc comes back: a cycle then attracts the orbit, and its period
    is the last m. `progress` is called with "period", the steps taken and `max_period`.
    """
    before, columns = (mpfr(0), mpfr(0)), zero_tangents(formula)
    m = saved_m = 0
    saved, tolerance = before, mpfr(0)
    bits = orbit_bits(center, log2(radius) - GUARD_BITS, max_period)
    for block in orbit_blocks(formula, center, bits, max_period):
        found, ended = [], False
        with gmpy2.context(precision=LOW_BITS):
            for x, y in block:
                columns = next_tangents(formula, before, columns)
                before = +x, +y  # rounded to LOW_BITS
                m += 1
                if _is_within(before, columns, radius):
                    found.append(m)
                p, q = columns[0]
                if abs(p - saved[0]) < tolerance and abs(q - saved[1]) < tolerance:
                    found.append(m - saved_m)
                    ended = True
                    break
                if ended := norm(before) > MAX_Z:
                    break
                if m & (m - 1) == 0:  # after Brent, 1980
                    saved_m, saved, tolerance = m, columns[0], norm(columns[0]) * SAME
        if progress:
            progress("period", m, max_period)
        yield found
        if ended:
            return


def newton(
    formula: Formula,
    start: Root,
    radius: Any,
    settle: bool,
    progress: Progress | None = None,
) -> Root | None:
    """Return the nucleus to which Newton's method converges, or None.

    A correction gains about twice the bits of the one before. z is computed in as many bits as the
    result may then have, and dz/dc in as many as the correction may gain. It goes on to ROUGH_BITS
    of `radius`, that of the view in plane units, or, to `settle`, to FINE_BITS of the component's
    size; the result is at most MAX_RADII radii from the start. `progress` is called with the
    correction's title, the steps taken, and the period.
    """
    c, error, gain = start.center, start.error, start.gain
    last, goal = None, -math.inf if settle else log2(radius) - ROUGH_BITS
    number = slow = 0
    while slow < MAX_SLOW:
        number += 1
        aim = max(error - gain, goal) - GUARD_BITS
        low = max(LOW_BITS, math.ceil(error - aim))
        bits = orbit_bits(c, aim, start.period)
        title = f"Newton {number}, {math.ceil(-aim * math.log10(2))} digits"
        factors = _one(formula) if settle and goal == -math.inf else ()
        z, columns, factors = _end(formula, c, start.period, bits, low, factors, title, progress)
        with gmpy2.context(precision=low):
            move = solve_linear(z, columns)
            moved = norm(move)
            if factors:  # the size changes little where Newton's method converges
                size = _size(formula, columns, factors)[0]
                goal = log2(size) - FINE_BITS if size else goal
        if not gmpy2.is_finite(moved) or math.isnan(goal) or goal == math.inf:
            return None
        with gmpy2.context(precision=bits):
            c = c[0] - move[0], c[1] - move[1]
            if norm((c[0] - start.center[0], c[1] - start.center[1])) > MAX_RADII * radius:
                return None
        if moved == 0:
            return Root(c, start.period, aim + GUARD_BITS / 2, gain)
        now = log2(moved)
        expected = gain if last is None else 2 * max(0.0, last - now)
        error, gain, last = max(now - expected, aim + GUARD_BITS / 2), 2 * expected, now
        if expected >= MIN_GAIN and error <= goal:
            return Root(c, start.period, error, gain)
        slow += expected < MIN_GAIN
    return None


def measure(
    formula: Formula, root: Root, radius: Any, progress: Progress | None = None
) -> Nucleus | None:
    """Return the nucleus within a radius of a root, or None.

    Its period is the lowest one, of which that of the root may be a multiple. Its size is
    ``1 / (dz_p/dc L**(1 / (degree - 1)))``, where L is the product of the formula's
    derivative at z_1, ..., z_(p-1): z_p = L z**degree + dz_p/dc (c - nucleus) + ..., which scaling
    turns into z**degree + c (Heiland-Allen, *Deep zoom theory and practice*, 2021). The radius is
    in plane units; `progress` is called with "size", the steps taken, and the period of the root.
    """
    has_cardioid = formula.holomorphic and formula.degree == 2
    before, columns, factors = (mpfr(0), mpfr(0)), zero_tangents(formula), _one(formula)
    second = ((mpfr(0), mpfr(0)),) * 2  # derivatives of z: by c twice, by c and z_1
    m = 0
    bits = orbit_bits(root.center, log2(radius) - GUARD_BITS, root.period)
    for block in orbit_blocks(formula, root.center, bits, root.period):
        with gmpy2.context(precision=LOW_BITS):
            for x, y in block:
                if m and has_cardioid:
                    second = _next_second(formula, before, columns[0], factors[0], second)
                if m:
                    factors = _times_derivative(formula, before, factors)
                columns = next_tangents(formula, before, columns)
                before = +x, +y
                m += 1
                if _is_within(before, columns, radius):
                    size, angle = _size(formula, columns, factors)
                    cardioid = (
                        _is_cardioid(columns[0], factors[0], *second) if has_cardioid else None
                    )
                    return Nucleus(root.center, m, size, angle, cardioid)
        if progress:
            progress("size", m, root.period)
    return None


def log2(value: Any) -> float:
    """Return log2 of a number of gmpy2, as a float."""
    return float(gmpy2.log2(value))


def orbit_bits(c: Point, aim: float, steps: int) -> int:
    """Return the bits in which an orbit tells c from a point 2**aim away; some in any case."""
    with gmpy2.context(precision=LOW_BITS):
        size = max(0.0, log2(norm((mpfr(c[0]), mpfr(c[1])))))
    return max(GUARD_BITS, math.ceil(size - aim)) + steps.bit_length()


def orbit_blocks(formula: Formula, c: Point, bits: int, steps: int) -> Iterator[list[Point]]:
    """Yield the points z_1, z_2, ... of the orbit of 0 in lists."""
    with gmpy2.context(precision=bits):
        a, b = mpfr(c[0]), mpfr(c[1])
        x = y = mpfr(0)
    for first in range(0, steps, BLOCK):
        points = []
        with gmpy2.context(precision=bits):
            for _ in range(min(BLOCK, steps - first)):
                x, y = formula.step(x, y, a, b)
                points.append((x, y))
        yield points


def _end(
    formula: Formula,
    c: Point,
    period: int,
    bits: int,
    low: int,
    factors: Vectors,
    title: str,
    progress: Progress | None,
) -> tuple[Point, Vectors, Vectors]:
    """Return z_p, dz_p/dc, and `factors` times the derivatives at z_1, ..., z_(p-1)."""
    z, before, columns = (0, 0), (mpfr(0), mpfr(0)), zero_tangents(formula)
    m = 0
    for block in orbit_blocks(formula, c, bits, period):
        with gmpy2.context(precision=low):
            for z in block:
                if m and factors:
                    factors = _times_derivative(formula, before, factors)
                columns = next_tangents(formula, before, columns)
                before = +z[0], +z[1]
                m += 1
        if progress:
            progress(title, m, period)
    return z, columns, factors


def zero_tangents(formula: Formula) -> Vectors:
    """Return dz/dc of z_0 = 0."""
    zero = mpfr(0)
    return ((zero, zero),) if formula.holomorphic else ((zero, zero), (zero, zero))


def _one(formula: Formula) -> Vectors:
    zero, one = mpfr(0), mpfr(1)
    return ((one, zero),) if formula.holomorphic else ((one, zero), (zero, one))


def _times_derivative(formula: Formula, z: Point, columns: Vectors) -> Vectors:
    """Return the derivative at z times a matrix."""
    return tuple(formula.derivative(*z, *column) for column in columns)


def next_tangents(formula: Formula, z: Point, columns: Vectors) -> Vectors:
    """Return dz/dc after a step, from z and dz/dc before it."""
    (p, q), *others = _times_derivative(formula, z, columns)
    return ((p + 1, q), *((r, s + 1) for r, s in others))


def norm(z: Point) -> Any:
    """Return the absolute value of z."""
    return gmpy2.hypot(*z)


def _determinant(columns: Vectors) -> Any:
    if len(columns) == 1:
        return columns[0][0] ** 2 + columns[0][1] ** 2
    (p, q), (r, s) = columns
    return p * s - q * r


def _times_adjugate(z: Point, columns: Vectors) -> Point:
    """Return z times the inverse of a matrix and its determinant."""
    (p, q), (r, s) = columns if len(columns) == 2 else (columns[0], (-columns[0][1], columns[0][0]))
    return s * z[0] - r * z[1], p * z[1] - q * z[0]


def solve_linear(z: Point, columns: Vectors) -> Point:
    """Return the v with columns v = z."""
    x, y = _times_adjugate(z, columns)
    determinant = _determinant(columns)
    return x / determinant, y / determinant


def _is_within(z: Point, columns: Vectors, radius: Any) -> bool:
    """Return whether z, linear in c, has a zero nearer than `radius`."""
    if len(columns) == 1:
        return bool(norm(z) < radius * norm(columns[0]))
    return bool(norm(_times_adjugate(z, columns)) < radius * abs(_determinant(columns)))


def _size(formula: Formula, columns: Vectors, factors: Vectors) -> tuple[Any, float | None]:
    """Return the size of the component, and its rotation in degrees."""
    root = mpfr(1) / (formula.degree - 1)
    size = 1 / gmpy2.sqrt(abs(_determinant(columns) * abs(_determinant(factors)) ** root))
    if not formula.holomorphic:
        return size, None
    angles = [float(gmpy2.atan2(y, x)) for ((x, y),) in (columns, factors)]
    angle = -math.degrees(angles[0] + angles[1] / (formula.degree - 1))
    return size, math.remainder(angle, 360) + 0.0  # not -0.0


def _next_second(
    formula: Formula, z: Point, dc: Point, dz: Point, second: tuple[Point, Point]
) -> tuple[Point, Point]:
    """Return the second derivatives after a step of z² + c."""
    by_cc, by_cz = (formula.derivative(*z, *part) for part in second)
    twice, mixed = formula.derivative(*dc, *dc), formula.derivative(*dc, *dz)
    return (by_cc[0] + twice[0], by_cc[1] + twice[1]), (by_cz[0] + mixed[0], by_cz[1] + mixed[1])


def _is_cardioid(dc: Point, dz: Point, by_cc: Point, by_cz: Point) -> bool:
    """Return whether a component is a cardioid, not a disc (Dolotin and Morozov, 2008)."""
    c, z = mpc(*dc), mpc(*dz)
    curvature = -(mpc(*by_cc) / (2 * c) + mpc(*by_cz) / z) / (c * z)  # of the multiplier in c
    return bool(abs(curvature) < abs(curvature - 1))


# --- The view that is searched: its center, sides and cells, as exact numbers

# Highest period of a search if the scene's limit is "auto". A search takes time in proportion.
MAX_STEPS = 10_000_000


class Area:
    """The view of a scene in the parameter plane.

    `width`, `height` and `radius`, of a circle around the view, are in plane units. A scene that
    has no plane of parameters, because it shows a Julia set or an exponential map, is refused.
    """

    def __init__(self, scene: Scene, max_period: int | None, what: str) -> None:
        if scene.julia:
            line = f"a Julia set has no {what}: find them in the set of its formula"
            raise SceneError(line, code="of_a_julia_set")
        if max_period is not None and max_period < 1:
            raise OptionError(
                f"max_period {max_period}: give the highest period to look for, 1 or more"
            )
        if scene.view.projection != "plane":
            raise SceneError(
                "an exponential map has no middle to search in: give projection='plane'"
            )
        self.formula: Formula = scene.make_formula()
        if not self.formula.additive or self.formula.degree < 2:
            raise SceneError(
                f"{what} are found of maps f(z) + c of a polynomial f, and "
                f"'{self.formula.name}' is another"
            )
        width, center = place_of(scene)
        across, down = scene.image.size
        self.width, self.height = mpq(width), mpq(width) * down / across
        self.center: Point = mpq(center[0]), mpq(center[1])
        self.matrix = tuple(map(mpq, matrix(scene.view)))
        with gmpy2.context(precision=LOW_BITS):
            self.radius = mpfr(gmpy2.hypot(self.width, self.height) / 2)
            self.radius *= max(scene.view.stretch, 1 / scene.view.stretch)
        auto = scene.iteration.max_iterations == "auto"
        # Most steps of a search
        self.max_period = max_period or min(limit_of(scene, width), MAX_STEPS if auto else 2**31)

    def middle(self, i: int, j: int, cells: int) -> Point:
        """Return the middle of a cell, where the view has `cells` of them along a side."""
        right = (mpq(2 * i + 1, 2 * cells) - mpq(1, 2)) * self.width
        up = (mpq(2 * j + 1, 2 * cells) - mpq(1, 2)) * self.height
        (x, y), (a, b, c, d) = self.center, self.matrix
        return x + a * right + b * up, y + c * right + d * up

    def offset(self, point: Point) -> Point:
        """Return a point's offset from the center, in view widths and heights."""
        x, y = (mpq(a) - b for a, b in zip(point, self.center, strict=True))
        a, b, c, d = self.matrix
        area = a * d - b * c
        right, up = (d * x - b * y) / area, (a * y - c * x) / area
        return right / self.width, up / self.height

    def contains(self, point: Point) -> bool:
        """Tell whether a point is in view."""
        right, up = self.offset(point)
        return bool(max(abs(right), abs(up)) <= 0.5)


def limit_for(scene: Scene, period: int) -> int | Literal["auto"]:
    """Return the scene's limit, or "auto" where it is too low for a cycle of this period.

    Pictures at a point of this period show orbits that take many times its steps.
    """
    limit = scene.iteration.max_iterations
    return "auto" if limit != "auto" and limit < 20 * period else limit


def rounded(value: Any) -> str:
    """Return a number to six digits."""
    return str(Decimal(format(value, ".5e")).normalize()).lower()
