"""Functions for colorings: the same bits on every target, as those of no library are."""

import math
from typing import Any

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number, select, split, two_to


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


def make_cbrt(target: Any) -> Any:
    """Return the cube root of v, 0 where v <= 0; relative error below 1e-9 in float64.

    A parabola through cbrt of the mantissa, one step of Halley's method, and the exponent's third.
    """
    real, int64 = target.real, target.int64
    zero, two = real(0), real(2)
    a, b, c = real(0.6257), real(0.4336), real(-0.0584)  # off by at most 9e-4 on [1, 2]
    roots = real(1), real(2 ** (1 / 3)), real(2 ** (2 / 3))

    def cbrt(v: Any) -> Any:
        m, exponent = split(v)
        third = (int64(exponent) + 1200) // 3 - 400
        rest = int64(exponent) - 3 * third
        y = fma(m, fma(m, c, b), a)
        cube = y * y * y
        y = y * (fma(two, m, cube) / fma(two, cube, m))
        y = y * select(rest == 0, roots[0], select(rest == 1, roots[1], roots[2]))
        return select(v > zero, y * two_to(third, v), zero)

    return target.jit(cbrt)


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


def turn(x, y):  # compiled code takes it as it is
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
    """Return the two constants of `make_fraction` for a picture.

    The second is 0 for a formula without a degree: its bands stay.
    """
    scale = 1 / math.log2(formula.degree) if formula.degree > 1 else 0.0
    return math.log2(2 * math.log2(escape_radius)), scale


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

    def value(n, x, y, p, q, w, constants):
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

    def lines(x, y, start, scale, count, weight, border, share):
        place = fraction(x, y, start, scale)
        thinner = fma(place, share - one, one) * weight
        return smooth(nearest(angle_of(x, y) * count) / thinner), smooth(nearest(place) / border)

    return target.jit(lines)
