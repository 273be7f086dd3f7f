"""The reference orbit: one orbit in arbitrary precision, kept as float64."""

import itertools
import math
from array import array
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

from fractals.deep.orbit_steps import OrbitState, compiled_steps
from fractals.kernels.floatexp import MAX_TINY, ZERO_EXPONENT
from fractals.kernels.formula import Formula
from fractals.kernels.layout import TINY_INDEX, TINY_SIZE, OrbitRules
from fractals.kernels.near_orbits import MAX_MANTISSA

# Steps between two calls of `on_steps`: some milliseconds of the cheapest orbits.
STEPS_PER_CALL = 4096
ROUNDING = 1 + Fraction(1, 2**20)  # of a least radius, upwards
# Distance from an axis or a diagonal: at a nearer point the numbers of `Formula.kinks` are kept in
# the precision of the orbit, because the rounded point loses them.
NEAR_KINK = 2.0**-10
# Share of the escape radius: at points so near to it, |Z|² - R² is kept in the orbit's precision,
# because float64 can't tell there on which side a sample is.
NEAR_RADIUS = 2.0**-20
# Share of |Z|: a shorter difference from the point before is kept in the orbit's precision.
NEAR_MOVE = 2.0**-10
# In plane units: the orbit ends beyond it, and not at a smaller escape radius, within which it may
# come back.
MIN_END = 4.0
# Largest square of the escape radius that is compared: float64 ends at 1e308.
MAX_RADIUS_SQUARED = 1e300

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Reference:
    """A reference orbit Z_0, Z_1, ..."""

    orbit: NDArray[np.float64]  # the points; ndarray of float64, shape (M + 1, 2)
    # Points too small for float64: see `fractals.kernels.layout`; ndarray of float64, shape (K,
    # TINY_SIZE)
    tiny: NDArray[np.float64]
    # Step at which the orbit was ended, because it is nearly periodic for the whole view; 0: it was
    # not ended so
    period: int
    escaped: bool  # whether the last point has escaped
    bits: int  # precision in which the points were computed
    # Steps between the last point and an equal one, in all bits, before it: a cycle attracts the
    # orbit, and its points repeat. 0: no point came back.
    repeats: int = 0
    # The K numbers of `Formula.kinks` at points that may be near a kink: index, and each number's
    # mantissa and exponent; ndarray of float64, shape (N, 1 + 2 K)
    near_kinks: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 1)))
    # Index, mantissa and exponent of |Z|² - R² at points near the escape radius R; ndarray of
    # float64, shape (N, 3)
    margins: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    # Index, mantissas and exponent of the difference from the point before, where it is so short
    # that the rounded points lose its digits; of no rows where nobody asked for it; ndarray of
    # float64, shape (N, 4)
    moves: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4)))
    # With a period: views with a larger radius about the same center end their orbit there too
    least_radius: Fraction = Fraction(0)
    # What the rounding of each point left out, rounded; of no rows where nobody asked for it;
    # ndarray of float64, shape (M + 1, 2)
    low: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2)))

    @property
    def complete(self) -> bool:
        """Tell whether more steps would add nothing."""
        return self.period > 0 or self.escaped

    @property
    def nbytes(self) -> int:
        """Return the bytes of its arrays."""
        lists = self.orbit, self.low, self.tiny, self.near_kinks, self.margins, self.moves
        return sum(part.nbytes for part in lists)

    def until(self, max_iterations: int) -> "Reference":
        """Return the orbit, continued to `max_iterations` steps if it repeats."""
        last = len(self.orbit) - 1
        if not self.repeats or last >= max_iterations:
            return self
        begin = last + 1 - self.repeats
        rounds = -(-(max_iterations - last) // self.repeats)
        orbit = np.concatenate([self.orbit, np.tile(self.orbit[begin:], (rounds, 1))])
        shifts = np.arange(1, rounds + 1) * self.repeats
        lists = []
        for part in (self.tiny, self.near_kinks, self.margins, self.moves):  # by index
            repeated = part[part[:, TINY_INDEX] >= begin]
            later = np.tile(repeated, (rounds, 1))
            later[:, TINY_INDEX] += np.repeat(shifts, len(repeated))
            part = np.concatenate([part, later])
            lists.append(part[part[:, TINY_INDEX] <= max_iterations])
        orbit, (tiny, near_kinks, margins, moves) = orbit[: max_iterations + 1], lists
        return replace(
            self, orbit=orbit, tiny=tiny, near_kinks=near_kinks, margins=margins, moves=moves
        )

    def all_moves(self, floatexp: bool) -> NDArray[np.float64]:
        """Return the difference of each point from the one before, 0 of the first.

        They are float64; with `floatexp`, two mantissas and an exponent.
        """
        plain = np.diff(self.orbit, axis=0, prepend=self.orbit[:1])
        index, parts = self.moves[:, 0].astype(np.int64), self.moves[:, 1:]
        if not floatexp:
            plain[index] = _plain(parts[:, :2], parts[:, 2:])
            return plain
        size, exponents = np.frexp(abs(plain).max(axis=1))
        numbers = np.column_stack([np.ldexp(plain, -exponents[:, None]), exponents])
        numbers[size == 0, 2] = ZERO_EXPONENT
        numbers[index] = parts
        return numbers

    def radius_margins(self, escape_radius: float, floatexp: bool) -> NDArray[np.float64]:
        """Return |Z|² - R² at each point; with `floatexp`, mantissas and exponents follow."""
        x, y = self.orbit.T
        plain = x * x + y * y - escape_radius**2
        parts = np.stack(np.frexp(plain), axis=1)
        index = self.margins[:, 0].astype(np.int64)
        parts[index] = self.margins[:, 1:]
        plain[index] = _plain(self.margins[:, 1], self.margins[:, 2])
        columns = [plain[:, None], parts] if floatexp else [plain[:, None]]
        return np.concatenate(columns, axis=1)

    def kinks(self, formula: Formula, floatexp: bool) -> NDArray[np.float64]:
        """Return the numbers of `Formula.kinks` at each point, as columns beside the orbit.

        Each is a float64; with `floatexp`, mantissas and exponents follow.
        """
        if not formula.kinks:
            return np.zeros((len(self.orbit), 0))
        plain = np.stack(formula.kinks(*self.orbit.T), axis=1)
        parts = np.stack(np.frexp(plain), axis=2).reshape(len(plain), -1)
        index = self.near_kinks[:, 0].astype(np.int64)
        parts[index] = self.near_kinks[:, 1:]
        plain[index] = _plain(self.near_kinks[:, 1::2], self.near_kinks[:, 2::2])
        return np.concatenate([plain, parts], axis=1) if floatexp else plain


@dataclass(frozen=True)
class OrbitRequest:
    """What a reference orbit is computed for: it says all that its points depend on."""

    formula: Formula
    start: Point  # Z_0
    c: Point
    bits: int  # precision of its numbers
    max_iterations: int
    escape_radius: float
    # Half of the view's larger side, in plane units. With it the orbit ends at the first m with
    # |Z_m| < 2 view_radius |dZ_m/dc|: some sample in view has an orbit that is exactly periodic
    # there, and samples are rebased to the start. It is for parameter pictures only; formulas that
    # are not holomorphic ignore it.
    view_radius: Fraction | None = None


def compute_orbit(
    wanted: OrbitRequest,
    on_steps: Callable[[int], None] | None = None,
    with_low: bool = False,
    with_moves: bool = False,
) -> Reference:
    """Return the orbit of `start`, Z_0, until it escapes, repeats or reaches `max_iterations`.

    It ends somewhat beyond the escape radius, where all samples near it have escaped.

    `on_steps` is called with the steps taken, every STEPS_PER_CALL steps. For `Reference.low`
    (`with_low`) a step takes a quarter longer; `with_moves` is for `Reference.moves`.
    """
    context = gmpy2.get_context()
    with gmpy2.context(context, precision=wanted.bits, emin=-(2**40), emax=2**40):
        orbit = _Orbit(wanted, with_low, with_moves)
        orbit.follow(on_steps)
    return orbit.reference()


class _Orbit:
    """An orbit that is followed; gmpy2's context has its precision."""

    def __init__(self, wanted: OrbitRequest, with_low: bool, with_moves: bool) -> None:
        formula, degree = wanted.formula, wanted.formula.degree
        self._wanted, self._formula = wanted, formula
        self._points, self._low = array("d"), array("d", (0.0, 0.0) if with_low else ())
        # Of single points, by the field of `Reference`
        self._rows = defaultdict[str, list[tuple[float, ...]]](list)
        self._period, self._repeats, self._escaped, self._least_radius = 0, 0, False, Fraction(0)
        self._higher = tuple(power for power in formula.kink_degrees if power > 2)
        self._radii = end_radii(wanted.escape_radius)
        seek = wanted.view_radius is not None and formula.holomorphic
        # Of z**(degree - 1) in f'(z)
        factor = formula.derivative(1.0, 0.0, 1.0, 0.0)[0] if seek else 0.0
        gate = view_gate(wanted.view_radius or Fraction(0), wanted.bits)
        kink, move = NEAR_KINK * bool(formula.kinks), NEAR_MOVE * with_moves
        most = max(self._higher, default=0)
        self._rules = OrbitRules(seek, degree, factor, *gate, self._radii[0], kink, most, move)

    def follow(self, on_steps: Callable[[int], None] | None) -> None:
        """Take steps until the orbit ends."""
        wanted, rules, points, low = self._wanted, self._rules, self._points, self._low
        step, max_iterations = self._formula.step, wanted.max_iterations
        seek, degree, factor, near, near_e, inner, kink, _, move = rules
        x, y = self._begin()
        a, b = (mpfr_of(part) for part in wanted.c)
        compiled = compiled_steps(step, (a, b), wanted.bits, rules, points, low)
        u, v = points  # of which there is one so far
        n, is_tiny = 0, False
        d, e = 0j, 0  # dZ/dc = d 2**e, and 2 view_radius |dZ/dc| = gate |d|
        gate = near * _scaled(near_e)
        # The point to compare with (Brent, 1980): that of the last power of two of steps
        saved, saved_x, saved_y = u, x, y
        # Python 3.11 specializes no loop that jumps back by a condition, which took 1.15 times as
        # long.
        while True:
            if n >= max_iterations:
                return
            if compiled and not is_tiny and n >= compiled.next:
                begun = OrbitState(n, (x, y), (saved_x, saved_y), d, e)
                n, (x, y), (saved_x, saved_y), d, e = compiled.take(begun, max_iterations, on_steps)
                if n > begun.n:
                    u, v, saved = float(x), float(y), float(saved_x)
                    gate = near * _scaled(near_e + e)
                    continue
            n += 1
            if seek:
                z = complex(u, v)
                if is_tiny:
                    z, k = _split(x, y)
                    e += k * (degree - 1)
                d = factor * z * d if degree == 2 else factor * z ** (degree - 1) * d
                d += _scaled(-e) if e else 1
                long = abs(d.real) + abs(d.imag)
                if is_tiny or not 1 / MAX_MANTISSA < long < MAX_MANTISSA:
                    d, e = _renormal(d, e)
                    long = abs(d.real) + abs(d.imag)
                    gate = near * _scaled(near_e + e)
            if move:
                previous = x, y
            x, y = step(x, y, a, b)
            u, v = float(x), float(y)
            if move and _loses_digits(u, v, points[-2], points[-1]):
                self._keep_move(n, x - previous[0], y - previous[1])
            points.append(u)
            points.append(v)
            if low:
                low.append(float(x - u))
                low.append(float(y - v))
            is_tiny = -MAX_TINY < u < MAX_TINY and -MAX_TINY < v < MAX_TINY
            if is_tiny:
                self._keep_tiny(n, x, y)
            if kink and self._is_near_kink(u, v):
                self._keep_kinks(n, x, y)
            if u * u + v * v > inner and self._has_escaped(n, x, y):
                return
            if seek:
                radius = gate * long
                about_0 = -radius < u < radius and -radius < v < radius
                if about_0 or (is_tiny and self._is_about_0(x, y, long, e)):
                    return self._end_at_period(n, x, y, long, e)
            if u == saved and x == saved_x and y == saved_y:
                self._repeats = n - _last_power_of_two(n - 1)
                return
            if n & (n - 1) == 0:
                saved, saved_x, saved_y = u, x, y
            if on_steps and n % STEPS_PER_CALL == 0:
                on_steps(n)

    def _begin(self) -> tuple[Any, Any]:
        """Keep the first point, and return its parts."""
        x, y = (mpfr_of(part) for part in self._wanted.start)
        u, v = float(x), float(y)
        self._points.extend((u, v))
        if abs(u) < MAX_TINY and abs(v) < MAX_TINY:
            self._keep_tiny(0, x, y)
        if self._formula.kinks:
            self._keep_kinks(0, x, y)
        return x, y

    def _is_near_kink(self, u: float, v: float) -> bool:
        """Tell whether a point lies near an axis or a diagonal, where formulas have kinks."""
        s, t = abs(u), abs(v)
        if s < NEAR_KINK or t < NEAR_KINK or -NEAR_KINK < s - t < NEAR_KINK:
            return True
        return bool(self._higher) and _near_axis(complex(u, v), self._higher)

    def _is_about_0(self, x: Any, y: Any, long: float, e: int) -> bool:
        """Tell whether a point too small for float64 ends the orbit at a period."""
        z, k = _split(x, y)
        _, _, _, near, near_e, *_ = self._rules
        return max(abs(z.real), abs(z.imag)) * _scaled(k - near_e - e) < near * long

    def _has_escaped(self, n: int, x: Any, y: Any) -> bool:
        """Tell whether the orbit ends at a point near the escape radius, or beyond it."""
        _, outer, end = self._radii
        u, v = float(x), float(y)
        square = u * u + v * v
        if square < outer:
            margin = x * x + y * y - gmpy2.mpfr(self._wanted.escape_radius) ** 2
            self._rows["margins"].append((n, *_parts(margin)))
        self._escaped = square > end
        return self._escaped

    def _end_at_period(self, n: int, x: Any, y: Any, long: float, e: int) -> None:
        size = max(abs(x), abs(y)) / (2 * long)
        self._period, self._least_radius = n, fraction_of(size) / Fraction(2) ** e * ROUNDING

    def _keep_tiny(self, n: int, x: Any, y: Any) -> None:
        if x != 0 or y != 0:
            z, k = _split(x, y)
            self._rows["tiny"].append((n, z.real, z.imag, k))

    def _keep_kinks(self, n: int, x: Any, y: Any) -> None:
        assert self._formula.kinks is not None
        parts = map(_parts, self._formula.kinks(x, y))
        self._rows["near_kinks"].append((n, *itertools.chain(*parts)))

    def _keep_move(self, n: int, x: Any, y: Any) -> None:
        z, k = _split(x, y)
        self._rows["moves"].append((n, z.real, z.imag, k if z else ZERO_EXPONENT))

    def reference(self) -> Reference:
        """Return the orbit as far as it was followed."""

        def rows(name: str, wide: int) -> NDArray[np.float64]:
            return np.array(self._rows[name], np.float64).reshape(-1, wide)

        # The arrays have room for more
        orbit, low = (np.frombuffer(p).reshape(-1, 2).copy() for p in (self._points, self._low))
        return Reference(
            orbit=orbit,
            tiny=rows("tiny", TINY_SIZE),
            period=self._period,
            escaped=self._escaped,
            bits=self._wanted.bits,
            repeats=self._repeats,
            near_kinks=rows("near_kinks", 1 + 2 * self._formula.kink_count),
            margins=rows("margins", 3),
            moves=rows("moves", 4),
            least_radius=self._least_radius,
            low=low,
        )


def _last_power_of_two(n: int) -> int:
    """Return the last power of two up to n; 0 of 0."""
    return 1 << n.bit_length() >> 1


def _loses_digits(u: float, v: float, s: float, t: float) -> bool:
    """Tell whether the difference of two rounded points has lost digits."""
    size = NEAR_MOVE * (abs(u) + abs(v))
    return abs(u - s) <= size and abs(v - t) <= size


def end_radii(escape_radius: float) -> tuple[float, float, float]:
    """Return three squares: points between the first two are near the radius, beyond the last out.

    The last is where an orbit ends.
    """
    squared = min(escape_radius**2, MAX_RADIUS_SQUARED)
    outer = squared * (1 + NEAR_RADIUS)
    return squared * (1 - NEAR_RADIUS), outer, max(outer, MIN_END**2)


def view_gate(view_radius: Fraction, bits: int) -> tuple[float, int]:
    """Return (x, e) with twice the radius about x 2**e."""
    with gmpy2.context(gmpy2.get_context(), precision=bits, emin=-(2**40), emax=2**40):
        near, e = _split(mpfr_of(2 * view_radius), gmpy2.mpfr(0))
    return near.real, e


def _near_axis(z: complex, powers: tuple[int, ...]) -> bool:
    """Tell whether one of these powers of z lies near an axis, where chains have their kinks."""
    parts = [(abs(w.real), abs(w.imag)) for w in (z**power for power in powers)]
    return any(min(pair) < NEAR_KINK * max(pair) for pair in parts)


def _parts(value: Any) -> tuple[float, int]:
    """Return mantissa and exponent of a number."""
    z, k = _split(value, gmpy2.mpfr(0))
    return z.real, k if value else ZERO_EXPONENT


def _plain(mantissas: NDArray[np.float64], exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return mantissas * 2**exponents in float64, or 0, or infinity."""
    return np.ldexp(mantissas, np.clip(exponents, -2000, 2000).astype(np.int64))


def fraction_of(value: Any) -> Fraction:
    """Return the exact value of one of gmpy2's numbers."""
    ratio = gmpy2.mpq(value)
    return Fraction(int(ratio.numerator), int(ratio.denominator))


def mpfr_of(value: Fraction) -> Any:
    """Return a number of gmpy2, rounded to the precision of its context."""
    return gmpy2.mpfr(gmpy2.mpq(value.numerator, value.denominator))


def _split(x: Any, y: Any) -> tuple[complex, int]:
    """Return z, of about 1, and k with x + iy = z 2**k."""
    k = max((gmpy2.get_exp(part) for part in (x, y) if part != 0), default=0)
    scale = gmpy2.div_2exp if k > 0 else gmpy2.mul_2exp
    return complex(float(scale(x, abs(k))), float(scale(y, abs(k)))), k


def _scaled(k: int) -> float:
    """Return 2**k; out of float64's range, 0 or 2**999."""
    return 2.0**k if -1000 < k < 1000 else 0.0 if k < 0 else 2.0**999


def _renormal(d: complex, e: int) -> tuple[complex, int]:
    """Return the same number d 2**e with a d of about 1."""
    k = math.frexp(max(abs(d.real), abs(d.imag)))[1]
    return complex(math.ldexp(d.real, -k), math.ldexp(d.imag, -k)), e + k
