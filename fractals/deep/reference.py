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

WATCH = 4096  # steps between two calls of `watch`
LARGE = 1e150  # the derivative's mantissa is brought back to 1 beyond it


@dataclass(frozen=True)
class Reference:
    """An orbit Z_0 = `start`, Z_1, ...

    Attributes
    ----------
    orbit : ndarray of float64, shape (M + 1, 2)
        Its points.
    tiny : ndarray of float64, shape (K, 4)
        Points too small for float64: index, x, y, e, for (x + iy) 2**e.
    period : int
        Where it was ended as nearly periodic for the whole view; 0: it was not.
    escaped : bool
        Whether its last point has escaped.
    bits : int
        Of the numbers it was computed in.
    repeats : int
        Steps after which its last point, in all its bits, came back, and so all that follow do; 0:
        it did not. Then a cycle attracts the orbit.
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

    def until(self, limit: int) -> "Reference":
        """Return it with `limit` steps, where it repeats and has fewer."""
        last = len(self.orbit) - 1
        if not self.repeats or last >= limit:
            return self
        turn = slice(last + 1 - self.repeats, last + 1)
        turns = -(-(limit - last) // self.repeats)
        orbit = np.concatenate([self.orbit, np.tile(self.orbit[turn], (turns, 1))])
        again = self.tiny[self.tiny[:, 0] >= turn.start]
        later = np.tile(again, (turns, 1))
        later[:, 0] += np.repeat(np.arange(1, turns + 1) * self.repeats, len(again))
        tiny = np.concatenate([self.tiny, later])
        return replace(self, orbit=orbit[: limit + 1], tiny=tiny[tiny[:, 0] <= limit])


def compute_orbit(
    formula: Formula,
    start: tuple[Fraction, Fraction],
    c: tuple[Fraction, Fraction],
    bits: int,
    limit: int,
    escape_radius: float,
    reach: Fraction | None = None,
    watch: Callable[[int], None] | None = None,
) -> Reference:
    """Iterate from `start` until the orbit escapes, comes back or has taken `limit` steps.

    Parameters
    ----------
    bits : int
        Precision of the numbers.
    reach : Fraction, optional
        Half of the view's larger side. The orbit ends at the first m with
        |Z_m| < 2 reach |dZ_m/dc|: some sample in view has an orbit that is exactly periodic
        there, and rebasing goes on from the start. Only for parameter pictures of
        holomorphic formulas.
    watch : callable, optional
        Called with the steps taken, now and then.
    """
    step, degree = formula.step, formula.degree
    radius2 = min(escape_radius**2, 1e300)
    xs, ys = array("d"), array("d")
    tiny: list[tuple[float, float, float, float]] = []
    period, repeats, escaped = 0, 0, False
    seek = reach is not None and formula.holomorphic
    with gmpy2.context(gmpy2.get_context(), precision=bits, emin=-(2**40), emax=2**40):
        x, y = (_mpfr(part) for part in start)
        a, b = (_mpfr(part) for part in c)
        near, near_e = _split(_mpfr(2 * (reach or Fraction(0))), gmpy2.mpfr(0))
        d, e = 0j, 0  # dZ/dc = d 2**e, and is long if |dZ/dc| 2 reach = gate |d|
        gate = near.real * _scaled(near_e)
        u, v = float(x), float(y)
        xs.append(u)
        ys.append(v)
        is_tiny = False
        then, saved, saved_x, saved_y = 0, u, x, y
        for n in range(1, limit + 1):
            if seek:
                z = complex(u, v)
                if is_tiny:
                    z, k = _split(x, y)
                    e += k * (degree - 1)
                d = 2 * z * d if degree == 2 else degree * z ** (degree - 1) * d
                d += _scaled(-e) if e else 1
                long = abs(d.real) + abs(d.imag)
                if is_tiny or not 1e-150 < long < LARGE:
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
            if u * u + v * v > radius2:
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
            if watch and n % WATCH == 0:
                watch(n)
    orbit = np.stack([np.frombuffer(xs), np.frombuffer(ys)], axis=1)
    points = np.array(tiny, np.float64).reshape(-1, 4)
    return Reference(orbit, points, period, escaped, bits, 0 if period else repeats)


def _mpfr(value: Fraction) -> Any:
    return gmpy2.mpfr(gmpy2.mpq(value.numerator, value.denominator))


def _split(x: Any, y: Any) -> tuple[complex, int]:
    """Return z and k with x + iy = z 2**k, the larger part about 1."""
    k = max((gmpy2.get_exp(part) for part in (x, y) if part != 0), default=0)
    scale = gmpy2.div_2exp if k > 0 else gmpy2.mul_2exp
    return complex(float(scale(x, abs(k))), float(scale(y, abs(k)))), k


def _scaled(k: int) -> float:
    return 2.0**k if -1000 < k < 1000 else 0.0 if k < 0 else 2.0**999


def _renormal(d: complex, e: int) -> tuple[complex, int]:
    k = math.frexp(max(abs(d.real), abs(d.imag)))[1]
    return complex(math.ldexp(d.real, -k), math.ldexp(d.imag, -k)), e + k
