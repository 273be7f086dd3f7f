"""Nuclei: the c at the heart of each minibrot, whose critical orbit comes back to 0 exactly.

Orbits are iterated in arbitrary precision by the formula's own text; dz/dc, of which less is asked,
in fewer bits, but always in big floats: their exponents have room for any depth. Distances here are
mostly log2 of them, as a float.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gmpy2
from gmpy2 import mpc, mpfr

from fractals.kernels.formula import Formula

Point = tuple[Any, Any]  # two numbers of gmpy2: mpfr, or mpq where they are exact
Vectors = tuple[Point, ...]  # a matrix by columns; of a complex derivative the first is enough
Progress = Callable[[str, int, int], None]  # what is being done, steps done, steps in all

BLOCK = 64  # steps between two changes of precision
LOW = 64  # bits of dz/dc where no more than its size is asked
GUARD = 64  # bits beyond those that are looked at
FAR_OUT = 1000.0  # |z| beyond which a linear estimate says nothing
FAR = 4  # radii of a view: a correction that leads farther has gone astray
MOST_SLOW = 24  # corrections that gain little
LITTLE = 6  # bits
SAME = 2.0**-48  # of dz/dc: nearer than that, it has come back
ROUGH = 24  # bits of a view's radius, to which a nucleus is first known
FINE = 64  # bits of its own size, to which it is known in the end


@dataclass(frozen=True)
class Root:
    """A place near a nucleus.

    Attributes
    ----------
    period : int
        Of the nucleus, or a multiple of its period.
    error : float
        log2 of about how far it is.
    gain : float
        Bits that the next correction is expected to gain.
    """

    center: Point
    period: int
    error: float
    gain: float = 0.0


@dataclass(frozen=True)
class Nucleus:
    """A parameter c whose critical orbit has exactly this period.

    Attributes
    ----------
    center : tuple of mpfr
        Right to 2**-FINE of the size.
    size : mpfr
        How large the component is, as a factor of the whole set.
    angle : float, optional
        How it is turned, in degrees counter-clockwise; None under a formula without a complex
        derivative, where it is skewed as well.
    cardioid : bool, optional
        Whether it is the heart of a minibrot, and not a disc on the side of another component; None
        where that is not told, which it is for degree 2.
    """

    center: Point
    period: int
    size: Any
    angle: float | None
    cardioid: bool | None


def candidates(
    formula: Formula, center: Point, radius: Any, limit: int, progress: Progress | None = None
) -> Iterator[list[int]]:
    """Yield, by blocks, each m for which a nucleus of period m seems to be within `radius`.

    One is, as far as z_m depends linearly on c, where ``|z_m| < radius |dz_m/dc|``; the first m is
    then the lowest period around. Imagina and FractalShark end their reference orbits by this test.
    It ends at `limit`; where the orbit has gone far out; or where dz/dc comes back, as it does when
    a cycle attracts the orbit: its period is the last.
    """
    before, columns = (mpfr(0), mpfr(0)), _zero(formula)
    m = then = 0
    saved, hair = before, mpfr(0)
    for block in _blocks(formula, center, _bits(center, log2(radius) - GUARD, limit), limit):
        found, ended = [], False
        with gmpy2.context(precision=LOW):
            for x, y in block:
                columns = _vary(formula, before, columns)
                before = +x, +y  # in fewer bits
                m += 1
                if _is_within(before, columns, radius):
                    found.append(m)
                p, q = columns[0]
                if abs(p - saved[0]) < hair and abs(q - saved[1]) < hair:
                    found.append(m - then)
                    ended = True
                    break
                if ended := _norm(before) > FAR_OUT:
                    break
                if m & (m - 1) == 0:  # after Brent, 1980
                    then, saved, hair = m, columns[0], _norm(columns[0]) * SAME
        if progress:
            progress("period", m, limit)
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
    """Return the nucleus to which Newton's method leads, or None if it goes astray.

    A correction gains about twice the bits of the one before. It is made in as many as it may
    reach, and dz/dc in as many as it may gain.

    Parameters
    ----------
    radius : mpfr
        Of the view; a correction that leads `FAR` of them from the start has gone astray.
    settle : bool
        Whether to go on to `FINE` bits of the component's own size, or only to `ROUGH` of `radius`.
    """
    c, error, gain = start.center, start.error, start.gain
    last, goal = None, -math.inf if settle else log2(radius) - ROUGH
    number = slow = 0
    while slow < MOST_SLOW:
        number += 1
        aim = max(error - gain, goal) - GUARD
        low = max(LOW, math.ceil(error - aim))
        bits = _bits(c, aim, start.period)
        title = f"Newton {number}, {math.ceil(-aim * math.log10(2))} digits"
        z, columns, factors = _end(formula, c, start.period, bits, low, title, progress)
        with gmpy2.context(precision=low):
            move = _solve(z, columns)
            moved, size = _norm(move), _size(formula, columns, factors)[0]
        if not (gmpy2.is_finite(moved) and gmpy2.is_finite(size)):
            return None
        with gmpy2.context(precision=bits):
            c = c[0] - move[0], c[1] - move[1]
            if _norm((c[0] - start.center[0], c[1] - start.center[1])) > FAR * radius:
                return None
        if settle:
            goal = log2(size) - FINE
        if moved == 0:
            return Root(c, start.period, aim + GUARD / 2, gain)
        now = log2(moved)
        expected = gain if last is None else 2 * max(0.0, last - now)
        error, gain, last = max(now - expected, aim + GUARD / 2), 2 * expected, now
        if expected >= LITTLE and error <= goal:
            return Root(c, start.period, error, gain)
        slow += expected < LITTLE
    return None


def measure(
    formula: Formula, root: Root, radius: Any, progress: Progress | None = None
) -> Nucleus | None:
    """Return the nucleus within `radius` of `root`, with its true period; None if there is none.

    Its size is ``1 / (dz_p/dc L**(1 / (degree - 1)))``, where L is the product of the formula's
    derivative at z_1, ..., z_(p-1): z_p = L z**degree + dz_p/dc (c - nucleus) + ..., which scaling
    turns into z**degree + c (Heiland-Allen, *Deep zoom theory and practice*, 2021).
    """
    is_told = formula.holomorphic and formula.degree == 2
    before, columns, factors = (mpfr(0), mpfr(0)), _zero(formula), _one(formula)
    bends = ((mpfr(0), mpfr(0)),) * 2  # second derivatives of z: by c twice, by c and z_1
    m = 0
    bits = _bits(root.center, log2(radius) - GUARD, root.period)
    for block in _blocks(formula, root.center, bits, root.period):
        with gmpy2.context(precision=LOW):
            for x, y in block:
                if m and is_told:
                    bends = _bend(formula, before, columns[0], factors[0], bends)
                if m:
                    factors = _turn(formula, before, factors)
                columns = _vary(formula, before, columns)
                before = +x, +y
                m += 1
                if _is_within(before, columns, radius):
                    size, angle = _size(formula, columns, factors)
                    heart = _is_cardioid(columns[0], factors[0], *bends) if is_told else None
                    return Nucleus(root.center, m, size, angle, heart)
        if progress:
            progress("size", m, root.period)
    return None


def log2(value: Any) -> float:
    """Return the logarithm of a number that may be too small for a float."""
    return float(gmpy2.log2(value))


def _bits(c: Point, aim: float, steps: int) -> int:
    """Return the precision in which an orbit tells c from places 2**aim away."""
    with gmpy2.context(precision=LOW):
        reach = max(0.0, log2(_norm((mpfr(c[0]), mpfr(c[1])))))
    return math.ceil(reach - aim) + steps.bit_length()


def _blocks(formula: Formula, c: Point, bits: int, steps: int) -> Iterator[list[Point]]:
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
    title: str,
    progress: Progress | None,
) -> tuple[Point, Vectors, Vectors]:
    """Return z_p, dz_p/dc, and the product of the derivatives at z_1, ..., z_(p-1)."""
    z, before, columns, factors = (0, 0), (mpfr(0), mpfr(0)), _zero(formula), _one(formula)
    m = 0
    for block in _blocks(formula, c, bits, period):
        with gmpy2.context(precision=low):
            for z in block:
                if m:
                    factors = _turn(formula, before, factors)
                columns = _vary(formula, before, columns)
                before = +z[0], +z[1]
                m += 1
        if progress:
            progress(title, m, period)
    return z, columns, factors


def _zero(formula: Formula) -> Vectors:
    zero = mpfr(0)
    return ((zero, zero),) if formula.holomorphic else ((zero, zero), (zero, zero))


def _one(formula: Formula) -> Vectors:
    zero, one = mpfr(0), mpfr(1)
    return ((one, zero),) if formula.holomorphic else ((one, zero), (zero, one))


def _turn(formula: Formula, z: Point, columns: Vectors) -> Vectors:
    """Return the derivative at z times a matrix."""
    return tuple(formula.derivative(*z, *column) for column in columns)


def _vary(formula: Formula, z: Point, columns: Vectors) -> Vectors:
    """Return dz/dc one step on, where z and `columns` are those before."""
    (p, q), *others = _turn(formula, z, columns)
    return ((p + 1, q), *((r, s + 1) for r, s in others))


def _norm(z: Point) -> Any:
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


def _solve(z: Point, columns: Vectors) -> Point:
    x, y = _times_adjugate(z, columns)
    determinant = _determinant(columns)
    return x / determinant, y / determinant


def _is_within(z: Point, columns: Vectors, radius: Any) -> bool:
    """Tell whether moving c by less than `radius` makes z zero, as far as it is linear."""
    if len(columns) == 1:
        return bool(_norm(z) < radius * _norm(columns[0]))
    return bool(_norm(_times_adjugate(z, columns)) < radius * abs(_determinant(columns)))


def _size(formula: Formula, columns: Vectors, factors: Vectors) -> tuple[Any, float | None]:
    """Return the size of the component, and how it is turned in degrees."""
    root = mpfr(1) / (formula.degree - 1)
    size = 1 / gmpy2.sqrt(abs(_determinant(columns) * abs(_determinant(factors)) ** root))
    if not formula.holomorphic:
        return size, None
    turns = [float(gmpy2.atan2(y, x)) for ((x, y),) in (columns, factors)]
    angle = -math.degrees(turns[0] + turns[1] / (formula.degree - 1))
    return size, math.remainder(angle, 360) + 0.0  # not -0.0


def _bend(
    formula: Formula, z: Point, dc: Point, dz: Point, bends: tuple[Point, Point]
) -> tuple[Point, Point]:
    """Return the second derivatives one step on, under z² + c."""
    by_cc, by_cz = (formula.derivative(*z, *bend) for bend in bends)
    twice, mixed = formula.derivative(*dc, *dc), formula.derivative(*dc, *dz)
    return (by_cc[0] + twice[0], by_cc[1] + twice[1]), (by_cz[0] + mixed[0], by_cz[1] + mixed[1])


def _is_cardioid(dc: Point, dz: Point, by_cc: Point, by_cz: Point) -> bool:
    """Tell a cardioid from a disc by how its multiplier bends (Dolotin and Morozov, 2008)."""
    c, z = mpc(*dc), mpc(*dz)
    bend = -(mpc(*by_cc) / (2 * c) + mpc(*by_cz) / z) / (c * z)
    return bool(abs(bend) < abs(bend - 1))
