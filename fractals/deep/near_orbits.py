"""Orbits near a reference orbit, compiled: long searches for nuclei take a hundredth of the time.

One reference orbit is computed in arbitrary precision. Orbits of other points of the view, and
dz/dc, are computed as differences from it in float64 with an exponent (`kernels/near_orbits.py`):
enough bits to tell where in view a nucleus is.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpfr, mpq
from numpy.typing import NDArray

from fractals.backends.devices import choose, open_backend
from fractals.deep.newton import (
    GUARD_BITS,
    LOW_BITS,
    MAX_RADII,
    MAX_SLOW,
    MIN_GAIN,
    ROUGH_BITS,
    Point,
    Progress,
    Root,
    Vectors,
    log2,
    norm,
    orbit_bits,
    solve_linear,
)
from fractals.deep.reference import Reference, compute_orbit, fraction_of
from fractals.kernels import near_orbits
from fractals.kernels.floatexp import ZERO_EXPONENT
from fractals.kernels.formula import Formula
from fractals.kernels.layout import (
    NEAR_C,
    NEAR_DZ,
    NEAR_DZ2,
    NEAR_END,
    NEAR_POINT,
    NEAR_SAVED,
    NEAR_SIZE,
    NEAR_STEP,
    NEAR_Z,
    TINY_INDEX,
    TINY_SIZE,
)

# Steps of an orbit in one call of the compiled program: some milliseconds, until progress is shown
# and Ctrl-C is noticed.
STEPS_PER_CALL = 2**16
# Points of the first reference. Where longer orbits are needed it is computed again, four times as
# long.
FIRST_STEPS = 2**15
# In plane units: a reference beyond it has escaped.
ESCAPE_RADIUS = 1000.0


class NearOrbits:
    """The orbits of the points of a view.

    Parameters
    ----------
    formula : Formula
        A map f(z) + c with `perturbed`.
    center : tuple of mpq
        Center of the view: the reference's c.
    radius : mpfr
        Radius of a circle around the view, in plane units.
    max_period : int
        Most steps of an orbit.
    progress : callable, optional
        Called with what is done, the steps taken and all steps.
    """

    def __init__(
        self,
        formula: Formula,
        center: Point,
        radius: Any,
        max_period: int,
        progress: Progress | None = None,
    ) -> None:
        self.formula, self.center, self.radius = formula, center, radius
        self.max_period, self.progress = max_period, progress
        self.reached = False  # whether a search got to `max_period`
        backend = open_backend(choose("cpu").device, "float64", 1)
        self._run = backend.compile(near_orbits.make_body, formula)
        self._reference: Reference | None = None
        self._extend(min(FIRST_STEPS, max_period))

    def candidates(self, points: list[Point], radius: Any, count: int) -> Iterator[tuple[int, int]]:
        """Yield periods of nuclei expected within `radius` of points, and the point's index.

        They ascend by period, and are the first `count` of each point at least. See
        `fractals.deep.newton.candidates`.
        """
        state = self._begin(points)
        hits = np.zeros((len(points), count + 1), np.int64)
        seen = 0
        while True:
            done = self._advance(state, hits, radius, self.max_period)
            found = sorted((int(m), k) for k, row in enumerate(hits) for m in row[1 : row[0] + 1])
            hits[:, 0] = 0
            yield from found
            seen += len(found)
            self.reached |= done >= self.max_period
            running = state[:, NEAR_END] == 0
            if done >= self.max_period or not running.any() or seen >= count:
                return
            if self.progress:
                self.progress("period", done, self.max_period)

    def newton(self, start: Root, progress: Progress | None = None) -> Root | None:
        """Return the nucleus to ROUGH_BITS of the view's radius, or None.

        See `fractals.deep.newton.newton`, of which this is the part before a result is settled.
        """
        with gmpy2.context(precision=LOW_BITS):
            origin = self._offset(start.center)
            x, y = origin
        error, last, goal = start.error, None, log2(self.radius) - ROUGH_BITS
        number = slow = 0
        while slow < MAX_SLOW:
            number += 1
            if progress:
                progress(f"period {start.period}, Newton {number}", 0, start.period)
            end = self._end((x, y), start.period)
            if end is None:
                return None
            with gmpy2.context(precision=LOW_BITS):
                move = solve_linear(*end)
                moved = norm(move)
                if not gmpy2.is_finite(moved):
                    return None
                x, y = x - move[0], y - move[1]
                if norm((x - origin[0], y - origin[1])) > MAX_RADII * self.radius:
                    return None
            now = log2(moved) if moved else -math.inf
            expected = 0.0 if last is None else 2 * max(0.0, last - now)
            error, last = max(now - expected, goal - ROUGH_BITS / 2), now
            if moved == 0 or (expected >= MIN_GAIN and error <= goal):
                center = self.center[0] + mpq(x), self.center[1] + mpq(y)
                return Root(center, start.period, error, 2 * expected)
            slow += expected < MIN_GAIN
        return None

    def lowest_period(self, root: Root, radius: Any) -> int | None:
        """Return the lowest period of a nucleus within a radius of a root, or None."""
        state = self._begin([root.center])
        hits = np.zeros((1, 2), np.int64)
        while self._advance(state, hits, radius, root.period) < root.period:
            if hits[0, 0] or state[0, NEAR_END]:
                break
        return int(hits[0, 1]) if hits[0, 0] else None

    def _offset(self, point: Point) -> Point:
        return mpfr(mpq(point[0]) - self.center[0]), mpfr(mpq(point[1]) - self.center[1])

    def _begin(self, points: list[Point]) -> NDArray[np.float64]:
        with gmpy2.context(precision=LOW_BITS):
            return _new_state([_floatexp(*self._offset(point)) for point in points])

    def _end(self, offset: Point, period: int) -> tuple[Point, Vectors] | None:
        """Return z_p and dz_p/dc of the orbit of an offset from the center; None: it escapes."""
        state, hits = _new_state([_floatexp(*offset)]), np.zeros((1, 1), np.int64)
        while self._advance(state, hits, mpfr(0), period) < period:
            pass
        if state[0, NEAR_END]:
            return None
        columns = (NEAR_DZ,) if self.formula.holomorphic else (NEAR_DZ, NEAR_DZ2)
        with gmpy2.context(precision=LOW_BITS):
            z, *tangents = (_point(state[0, k : k + 3]) for k in (NEAR_POINT, *columns))
        return z, tuple(tangents)

    def _advance(self, state: Any, hits: Any, radius: Any, limit: int) -> int:
        """Go on for STEPS_PER_CALL steps, and return the steps that all running orbits have."""
        running = state[:, NEAR_END] == 0
        done = int(state[running, NEAR_STEP].min(initial=limit))
        last = min(limit, done + STEPS_PER_CALL)
        self._extend(last)
        x, _, e = _floatexp(radius, mpfr(0))
        self._run(
            state, hits, self._orbit, self._tiny, (x, np.int64(e)), np.int64(last), np.int64(last)
        )
        return last

    def _extend(self, steps: int) -> None:
        """Compute a longer reference if orbits of this length need one."""
        old = self._reference
        if old and (old.complete or len(old.orbit) > steps):
            return
        length = FIRST_STEPS
        while length < steps:
            length *= 4
        length = min(length, self.max_period)
        center = fraction_of(self.center[0]), fraction_of(self.center[1])
        view_radius = fraction_of(self.radius)
        bits = orbit_bits(self.center, log2(self.radius) - GUARD_BITS, length)
        show = self.progress
        found = compute_orbit(
            self.formula,
            (Fraction(0), Fraction(0)),
            center,
            bits,
            length,
            ESCAPE_RADIUS,
            view_radius,
            (lambda done: show("reference", done, length)) if show else None,
        ).until(length)
        self._reference = found
        self._orbit = np.concatenate([found.orbit, found.kinks(self.formula, True)], axis=1)
        self._tiny = found.tiny
        if not len(found.tiny):
            self._tiny = np.zeros((1, TINY_SIZE))
            self._tiny[0, TINY_INDEX] = -1  # of no point


def _new_state(offsets: list[tuple[float, float, int]]) -> NDArray[np.float64]:
    state = np.zeros((len(offsets), NEAR_SIZE))
    for column in (NEAR_Z, NEAR_DZ, NEAR_DZ2, NEAR_SAVED, NEAR_POINT):
        state[:, column + 2] = ZERO_EXPONENT
    state[:, NEAR_C : NEAR_C + 3] = offsets
    return state


def _floatexp(x: Any, y: Any) -> tuple[float, float, int]:
    """Return x + iy as mantissas and an exponent, the larger mantissa in [1, 2)."""
    parts = [part for part in (x, y) if part != 0]
    if not parts:
        return 0.0, 0.0, ZERO_EXPONENT
    e = max(gmpy2.get_exp(part) for part in parts) - 1
    scale = gmpy2.exp2(mpfr(-e))
    return float(x * scale), float(y * scale), e


def _point(parts: Any) -> Point:
    x, y, e = parts
    scale = gmpy2.exp2(mpfr(int(e)))
    return mpfr(float(x)) * scale, mpfr(float(y)) * scale
