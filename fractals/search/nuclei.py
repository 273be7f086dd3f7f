"""All nuclei of a period, of the sets of z**d + c: the roots of a polynomial, all at once."""

import math

import numpy as np
from numpy.typing import NDArray

from fractals.errors import FractalsError, OptionError, shown, typed
from fractals.scene.numbers import whole

Roots = NDArray[np.complex128]
MAX_DEGREE = 2**14  # of the polynomial: the time grows with its square, to some 10 s
MAX_STEPS = 200  # of Aberth's method; at most 20 were seen
PRECISE = 4e-15  # share of |c| by which the last step moves a root
ANOTHER = 1e-11  # |c - root of a divisor of the period|, below which c is that root
LARGE = 200  # log10 of |P|**d beyond which only its growth counts: the next powers could overflow
ROWS = 256  # roots whose distances to all others are in memory together


def nuclei(period: int, degree: int = 2) -> Roots:
    """Find all nuclei of a period p: each c for which the orbit of 0 returns to 0 after p steps.

    Each is the middle of a component of the Mandelbrot set, or of the set of another power. Their
    number follows from the Möbius function (`count_nuclei`), and is checked. They are the roots of
    a polynomial, which are found together by Aberth's method (1973), from the roots of the
    polynomial of the period before.

    Parameters
    ----------
    period : int
        1 or more, and at most 15 for degree 2: ``degree ** (period - 1)`` is at most 16384.
    degree : int
        Of the map z**degree + c, 2 or more.

    Returns
    -------
    ndarray of complex128
        One dimension, sorted by real, then by imaginary part. The error is about 1e-15.

    Raises
    ------
    OptionError
        The period or the degree is out of range.
    FractalsError
        Another number was found than there are.

    Examples
    --------
    >>> nuclei(3).round(4).tolist()
    [(-1.7549+0j), (-0.1226-0.7449j), (-0.1226+0.7449j)]
    >>> len(nuclei(10)), count_nuclei(10)
    (495, 495)
    """
    period, degree = _checked(period, "period", 1), _checked(degree, "degree", 2)
    most = 1 + int(math.log2(MAX_DEGREE) / math.log2(degree))
    if period > most:
        of = f"for degree {shown(degree, 40)}"
        raise OptionError(f"period={shown(period, 40)}: give at most {most} {of}")
    if period == 1:
        return np.zeros(1, np.complex128)
    with np.errstate(all="ignore"):
        roots = np.zeros(0, np.complex128)
        for each in range(2, period + 1):
            roots = _together(_starts(roots, each, degree), each, degree)
        shorter = [k for k in range(2, period) if period % k == 0]
        others = [abs(_step(roots, k, degree)) < ANOTHER for k in shorter]
    found = roots[~np.any(others, axis=0)] if others else roots
    if len(found) != count_nuclei(period, degree) or not np.isfinite(found).all():
        raise FractalsError(
            f"{len(found)} nuclei of period {period} were found, and there are "
            f"{count_nuclei(period, degree)}"
        )
    found.imag[abs(found.imag) < ANOTHER**2 + PRECISE] = 0  # those on the real axis
    return np.sort_complex(found)


def count_nuclei(period: int, degree: int = 2) -> int:
    """Return how many nuclei a period has: the sum of mu(period / k) degree**(k - 1) over divisors.

    >>> [count_nuclei(period) for period in range(1, 9)], count_nuclei(3, degree=3)
    ([1, 1, 3, 6, 15, 27, 63, 120], 8)
    """
    divisors = (k for k in range(1, period + 1) if period % k == 0)
    return sum(_moebius(period // k) * degree ** (k - 1) for k in divisors)


def _moebius(n: int) -> int:
    """Return 0 for a multiple of a square, else the parity of the number of prime factors."""
    sign, prime = 1, 2
    while n > 1:
        if n % prime == 0:
            n, sign = n // prime, -sign
            if n % prime == 0:
                return 0
        prime += 1
    return sign


def _checked(given: int, name: str, least: int) -> int:
    number = whole(given)
    if not isinstance(number, int) or isinstance(number, bool) or number < least:
        raise OptionError(f"{name}={typed(given)}: give a whole number of {least} or more")
    return number


def _step(c: Roots, period: int, degree: int) -> Roots:
    """Return the step of Newton's method for P, of degree ``degree ** (period - 1) - 1``.

    c P is z after `period` steps of the critical orbit: P_1 = 1, P_n = c**(d - 1) P_(n-1)**d + 1.
    Where P is large, P' / P alone goes on, as (d - 1) / c + d P' / P, and p keeps its value.
    """
    power, slope = c ** (degree - 1), (degree - 1) * c ** (degree - 2)
    p, dp = np.ones_like(c), np.zeros_like(c)
    for _ in range(period - 1):
        w = p ** (degree - 1)
        small = abs(p) < 10 ** (LARGE / degree)
        more = np.where(small, slope * w * p, (degree - 1) / c * p)
        dp = more + degree * np.where(small, power * w, 1) * dp
        p = np.where(small, power * w * p + 1, p)
    step: Roots = p / dp
    return step


def _starts(roots: Roots, period: int, degree: int) -> Roots:
    """Return points near the roots of a period, from all roots of the period before.

    P_n = 0 where P_(n-1) is one of the d-th roots of -1 / c**(d - 1), and P_(n-1) is nearly linear
    there. The other roots lie near the d - 1 tips, -2 for the degree 2. Starts are moved a little
    off these places, because points that are alike by symmetry would stay alike.
    """
    turns = np.arange(degree - 1) * 2 + 1
    tips: Roots = np.exp(1j * np.pi * turns / (degree - 1)) * 2 ** (1 / (degree - 1))
    tips = tips * (1 - 4.0 * float(degree) ** (-2 * period) * (1 + 0.1j))
    if not len(roots):
        return tips
    slope = _slope(roots, period - 1, degree)
    reach = (-1 / roots ** (degree - 1)) ** (1 / degree) / slope
    around = reach[:, None] * np.exp(2j * np.pi * np.arange(degree) / degree)
    off = 1 + 0.1 * np.exp(2.4j * np.arange(around.size))
    return np.concatenate([np.repeat(roots, degree) + around.ravel() * off, tips])


def _slope(c: Roots, period: int, degree: int) -> Roots:
    """Return P' at c, where P is small."""
    power, slope = c ** (degree - 1), (degree - 1) * c ** (degree - 2)
    p, dp = np.ones_like(c), np.zeros_like(c)
    for _ in range(period - 1):
        w = p ** (degree - 1)
        p, dp = power * w * p + 1, slope * w * p + degree * power * w * dp
    return dp


def _together(c: Roots, period: int, degree: int) -> Roots:
    """Return all roots, from a point near each, by Aberth's method: they repel each other."""
    c = c.copy()
    moving = np.arange(len(c))
    for _ in range(MAX_STEPS):
        step, repulsion = _step(c[moving], period, degree), np.zeros(len(moving), np.complex128)
        for first in range(0, len(moving), ROWS):
            part = moving[first : first + ROWS]
            away = c[part][:, None] - c[None, :]
            away[np.arange(len(part)), part] = np.inf
            repulsion[first : first + ROWS] = (1 / away).sum(1)
        step = step / (1 - step * repulsion)
        c[moving] -= step
        moving = moving[abs(step) > PRECISE * abs(c[moving])]
        if not len(moving):
            break
    return c
