"""Functions for colorings: the same bits on every target, as those of no library are."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.formula import Formula, fma, number, select, split

KNOTS = 2048  # of a picture's ranks


def make_log2(target: Any) -> Any:
    """Return ``log2(v)`` for v > 0, the same bits on every target; absolute error below 3e-8.

    Mantissa and exponent, then 2/ln 2 artanh((m - 1)/(m + 1)) as a series: no library's logarithm
    is the same on CPU and GPU.
    """
    real = target.real
    c1, c3, c5, c7, c9, c11 = (real(2 / math.log(2) / k) for k in (1, 3, 5, 7, 9, 11))
    root, one, half = real(math.sqrt(2)), real(1), real(0.5)

    def log2(v: Any) -> Any:
        m, exponent = split(v)
        e = real(exponent)
        high = m > root
        m, e = select(high, m * half, m), select(high, e + one, e)
        s = (m - one) / (m + one)
        t = s * s
        series = fma(t, fma(t, fma(t, fma(t, fma(t, c11, c9), c7), c5), c3), c1)
        return fma(s, series, e)

    return target.jit(log2)


# Of arctan(t) / t in t², for t up to tan(22.5°), over 2π: fitted at Chebyshev's points.
ARCTAN = (
    0.15915494308857342,
    -0.053051645778753036,
    0.031830807020048035,
    -0.022729934823609989,
    0.01757238331253623,
    -0.013463089511701299,
    0.0075009663062183202,
)
LOW_SLOPE = math.sqrt(2) - 1  # tan(22.5°)


def turn(x, y):  # type: ignore[no-untyped-def]  # compiled code takes it as it is
    """Return the angle of x + iy in turns, from 0 to 1; absolute error below 1e-9, in float64.

    For numbers and for packs. 0 for 0.
    """
    zero, one = number(0, x), number(1, x)
    p, q = abs(x), abs(y)
    steep = q > p
    large, small = select(steep, q, p), select(steep, p, q)
    far = small > large * number(LOW_SLOPE, x)  # then it is the angle from 45° on
    above, below = select(far, small - large, small), select(far, small + large, large)
    t = above / select(below > zero, below, one)
    s = t * t
    c0, c1, c2, c3, c4, c5, c6 = ARCTAN
    series = fma(s, number(c6, x), number(c5, x))
    series = fma(s, series, number(c4, x))
    series = fma(s, series, number(c3, x))
    series = fma(s, series, number(c2, x))
    series = fma(s, series, number(c1, x))
    series = fma(s, series, number(c0, x))
    angle = fma(t, series, select(far, number(0.125, x), zero))
    angle = select(steep, number(0.25, x) - angle, angle)
    angle = select(x < zero, number(0.5, x) - angle, angle)
    return select(y < zero, one - angle, angle)


def fraction_constants(formula: Formula, escape_radius: float) -> tuple[float, float]:
    """Return the two constants of `make_fraction` for a picture."""
    return math.log2(2 * math.log2(escape_radius)), 1 / math.log2(formula.degree)


def make_fraction(target: Any) -> Any:
    """Return ``fraction(x, y, start, scale)``: where within a band of equal counts z = x + iy lies.

    From 0, where the orbit nearly escaped a step before, to 1, where it escaped only just: what the
    smooth count adds to the count.
    """
    log2, zero, one = make_log2(target), target.real(0), target.real(1)

    def fraction(x: Any, y: Any, start: Any, scale: Any) -> Any:
        beyond = log2(log2(fma(x, x, y * y))) - start
        rest = fma(-beyond, scale, one)
        return select(rest > zero, select(rest < one, rest, one), zero)

    return target.jit(fraction)


def make_mean_value(target: Any) -> Any:
    """Return ``value`` of a coloring that watches (sum, last) of a number a step: their mean.

    From the mean without the last one to that with it, as the fraction goes from 0 to 1: so it is
    continuous where counts change (Härkönen, *On Smooth Fractal Coloring Techniques*, 2007).
    """
    real, fraction, one = target.real, make_fraction(target), target.real(1)

    def value(n, x, y, p, q, w, constants):  # type: ignore[no-untyped-def]
        terms = real(n)
        before = (w[0] - w[1]) / select(terms > one, terms - one, one)
        mean = w[0] / terms
        before = select(terms > one, before, mean)
        part = fraction(x, y, constants[2], constants[3])
        return fma(part, mean - before, before)

    return value


def mean_constants(
    formula: Formula, escape_radius: float, width: float, **settings: object
) -> tuple[float, ...]:
    """Return the constants of `make_mean_value`."""
    return fraction_constants(formula, escape_radius)


def make_ranked(make_value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what makes a value into its position among those of the whole picture.

    The coloring's constants end with KNOTS values in rising order, and as many positions.
    """

    def make(target: Any) -> Any:
        real, int32 = target.real, target.int32
        value = target.jit(make_value(target))
        one = real(1)

        def ranked(n, x, y, p, q, constants):  # type: ignore[no-untyped-def]
            v = value(n, x, y, p, q, constants)
            k, half = int32(constants.shape[0] - 2 * KNOTS), int32(KNOTS // 2)
            while half > 0:  # to the last knot that is not above v, or the first
                k = int32(select(constants[k + half] <= v, k + half, k))
                half = int32(half >> 1)
            low, high = constants[k], constants[min(k + 1, constants.shape[0] - KNOTS - 1)]
            start, end = constants[k + KNOTS], constants[min(k + 1 + KNOTS, constants.shape[0] - 1)]
            apart = high > low
            part = (v - low) / select(apart, high - low, one)
            part = select(part > one - one, select(part < one, part, one), one - one)
            return fma(part, end - start, start)

        return ranked

    return make


def make_lines(target: Any) -> Any:
    """Return ``lines(x, y, start, scale, count, weight, border, share)``: how near lines are.

    It returns two numbers, from 0 on a line to 1 beyond its weight: of `count` field lines in a
    turn, and of the borders between bands, which are `border` wide. `share`, 1 / degree, is what a
    step makes of a line's width in turns, so that lines grow thinner without a jump.
    """
    fraction, angle_of, int32 = make_fraction(target), target.jit(turn), target.int32
    real = target.real
    zero, one, two, three = (real(k) for k in range(4))

    def smooth(t: Any) -> Any:
        t = select(t > zero, select(t < one, t, one), zero)
        return t * t * fma(-two, t, three)

    smooth = target.jit(smooth)

    def nearest(t: Any) -> Any:
        """Return the distance from a whole number, in halves."""
        t = t - real(int32(t))
        return two * select(t < one - t, t, one - t)

    nearest = target.jit(nearest)

    def lines(x, y, start, scale, count, weight, border, share):  # type: ignore[no-untyped-def]
        place = fraction(x, y, start, scale)
        thinner = fma(place, share - one, one) * weight
        return smooth(nearest(angle_of(x, y) * count) / thinner), smooth(nearest(place) / border)

    return target.jit(lines)


def rank_knots(values: NDArray[np.floating[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return values evenly spaced in the order of all, and their places from 0 to 1."""
    if not values.size:
        return np.zeros(KNOTS), np.linspace(0, 1, KNOTS)
    chosen = np.linspace(0, values.size - 1, KNOTS).round().astype(np.int64)
    return np.sort(values)[chosen], chosen / max(1, values.size - 1)


def histogram_knots(values: NDArray[np.floating[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the whole numbers between which smooth counts lie, and the shares that lie below."""
    if not values.size:
        return np.zeros(KNOTS), np.linspace(0, 1, KNOTS)
    bands, counts = np.unique(np.ceil(values) - 1, return_counts=True)
    edges = np.unique(np.concatenate([bands, bands + 1]))
    cells = np.zeros(len(edges))
    cells[np.searchsorted(edges, bands) + 1] = counts  # of the samples just below an edge
    shares = np.cumsum(cells) / values.size
    if len(edges) > KNOTS:  # keep those that are evenly spaced in the order of samples
        places = np.searchsorted(shares, np.linspace(0, 1, KNOTS)).clip(0, len(edges) - 1)
        return edges[places], shares[places]
    missing = KNOTS - len(edges)
    return np.pad(edges, (0, missing), "edge"), np.pad(shares, (0, missing), "edge")
