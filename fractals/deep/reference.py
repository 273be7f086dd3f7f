"""The reference orbit: one orbit in arbitrary precision, kept as float64."""

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

from fractals.kernels.floatexp import MAX_TINY
from fractals.kernels.formula import Formula
from fractals.kernels.layout import TINY_INDEX, TINY_SIZE

# Steps between two calls of `on_steps`: some milliseconds of the cheapest orbits.
STEPS_PER_CALL = 4096
# The derivative's mantissa is brought back to about 1 where it is larger, or smaller than 1 / this.
# Its square is then still in the range of float64, 1e308.
MAX_MANTISSA = 1e150
# Largest square of the escape radius that is compared: float64 ends at 1e308.
MAX_RADIUS_SQUARED = 1e300


@dataclass(frozen=True)
class Reference:
    """A reference orbit Z_0, Z_1, ...

    Attributes
    ----------
    orbit : ndarray of float64, shape (M + 1, 2)
        The points.
    tiny : ndarray of float64, shape (K, TINY_SIZE)
        Points too small for float64: see `fractals.kernels.layout`.
    period : int
        Step at which the orbit was ended, because it is nearly periodic for the whole view; 0: it
        was not ended so.
    escaped : bool
        Whether the last point has escaped.
    bits : int
        Precision in which the points were computed.
    repeats : int
        Steps between the last point and an equal one, in all bits, before it: a cycle attracts the
        orbit, and its points repeat. 0: no point came back.
    """

    orbit: NDArray[np.float64]
    tiny: NDArray[np.float64]
    period: int
    escaped: bool
    bits: int
    repeats: int = 0

    @property
    def complete(self) -> bool:
        """Tell whether more steps would add nothing."""
        return self.period > 0 or self.escaped

    def until(self, max_iterations: int) -> "Reference":
        """Return an orbit that repeats continued to `max_iterations` steps, any other as it is."""
        last = len(self.orbit) - 1
        if not self.repeats or last >= max_iterations:
            return self
        begin = last + 1 - self.repeats
        rounds = -(-(max_iterations - last) // self.repeats)
        orbit = np.concatenate([self.orbit, np.tile(self.orbit[begin:], (rounds, 1))])
        repeated = self.tiny[self.tiny[:, TINY_INDEX] >= begin]
        later = np.tile(repeated, (rounds, 1))
        shifts = np.arange(1, rounds + 1) * self.repeats
        later[:, TINY_INDEX] += np.repeat(shifts, len(repeated))
        tiny = np.concatenate([self.tiny, later])
        tiny = tiny[tiny[:, TINY_INDEX] <= max_iterations]
        return replace(self, orbit=orbit[: max_iterations + 1], tiny=tiny)


def compute_orbit(
    formula: Formula,
    start: tuple[Fraction, Fraction],
    c: tuple[Fraction, Fraction],
    bits: int,
    max_iterations: int,
    escape_radius: float,
    view_radius: Fraction | None = None,
    on_steps: Callable[[int], None] | None = None,
) -> Reference:
    """Return the orbit of `start` until it escapes, repeats or reaches `max_iterations`.

    Parameters
    ----------
    formula : Formula
    start, c : tuple of Fraction
        Z_0 and the parameter.
    bits : int
        Precision of the numbers.
    max_iterations : int
        Most steps.
    escape_radius : float
        In plane units.
    view_radius : Fraction, optional
        Half of the view's larger side, in plane units. The orbit then ends at the first m with
        |Z_m| < 2 view_radius |dZ_m/dc|: some sample in view has an orbit that is exactly periodic
        there, and samples are rebased to the start. Only for parameter pictures; formulas that are
        not holomorphic ignore it.
    on_steps : callable, optional
        Called with the steps taken, every STEPS_PER_CALL steps.

    Returns
    -------
    Reference
    """
    step, degree = formula.step, formula.degree
    escape_radius_squared = min(escape_radius**2, MAX_RADIUS_SQUARED)
    xs, ys = array("d"), array("d")
    tiny: list[tuple[float, float, float, float]] = []
    period, repeats, escaped = 0, 0, False
    seek = view_radius is not None and formula.holomorphic
    with gmpy2.context(gmpy2.get_context(), precision=bits, emin=-(2**40), emax=2**40):
        x, y = (_mpfr(part) for part in start)
        a, b = (_mpfr(part) for part in c)
        near, near_e = _split(_mpfr(2 * (view_radius or Fraction(0))), gmpy2.mpfr(0))
        d, e = 0j, 0  # dZ/dc = d 2**e, and 2 view_radius |dZ/dc| = gate |d|
        gate = near.real * _scaled(near_e)
        u, v = float(x), float(y)
        xs.append(u)
        ys.append(v)
        is_tiny = False
        then, saved, saved_x, saved_y = 0, u, x, y
        for n in range(1, max_iterations + 1):
            if seek:
                z = complex(u, v)
                if is_tiny:
                    z, k = _split(x, y)
                    e += k * (degree - 1)
                d = 2 * z * d if degree == 2 else degree * z ** (degree - 1) * d
                d += _scaled(-e) if e else 1
                long = abs(d.real) + abs(d.imag)
                if is_tiny or not 1 / MAX_MANTISSA < long < MAX_MANTISSA:
                    d, e = _renormal(d, e)
                    long = abs(d.real) + abs(d.imag)
                    gate = near.real * _scaled(near_e + e)
            x, y = step(x, y, a, b)
            u, v = float(x), float(y)
            xs.append(u)
            ys.append(v)
            is_tiny = -MAX_TINY < u < MAX_TINY and -MAX_TINY < v < MAX_TINY
            if is_tiny and (x != 0 or y != 0):
                z, k = _split(x, y)
                tiny.append((n, z.real, z.imag, k))
            if u * u + v * v > escape_radius_squared:
                escaped = True
                break
            if seek and -gate * long < u < gate * long and -gate * long < v < gate * long:
                period = n
            elif seek and is_tiny:
                z, k = _split(x, y)
                if max(abs(z.real), abs(z.imag)) * _scaled(k - near_e - e) < near.real * long:
                    period = n
            if u == saved and x == saved_x and y == saved_y:
                repeats = n - then
            if period or repeats:
                break
            if n & (n - 1) == 0:  # after Brent, 1980
                then, saved, saved_x, saved_y = n, u, x, y
            if on_steps and n % STEPS_PER_CALL == 0:
                on_steps(n)
    orbit = np.stack([np.frombuffer(xs), np.frombuffer(ys)], axis=1)
    points = np.array(tiny, np.float64).reshape(-1, TINY_SIZE)
    return Reference(orbit, points, period, escaped, bits, 0 if period else repeats)


def _mpfr(value: Fraction) -> Any:
    return gmpy2.mpfr(gmpy2.mpq(value.numerator, value.denominator))


def _split(x: Any, y: Any) -> tuple[complex, int]:
    """Return z and k with x + iy = z 2**k, the larger part of z about 1."""
    k = max((gmpy2.get_exp(part) for part in (x, y) if part != 0), default=0)
    scale = gmpy2.div_2exp if k > 0 else gmpy2.mul_2exp
    return complex(float(scale(x, abs(k))), float(scale(y, abs(k)))), k


def _scaled(k: int) -> float:
    """Return 2**k, or 0 or 2**999 where k is out of the range of float64."""
    return 2.0**k if -1000 < k < 1000 else 0.0 if k < 0 else 2.0**999


def _renormal(d: complex, e: int) -> tuple[complex, int]:
    """Return the same number d 2**e with a d of about 1."""
    k = math.frexp(max(abs(d.real), abs(d.imag)))[1]
    return complex(math.ldexp(d.real, -k), math.ldexp(d.imag, -k)), e + k
