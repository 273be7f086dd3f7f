"""Functions that several colorings use, with the same bits on every target."""

import math
from typing import Any

from fractals.kernels.elementary import angle_in_turns, make_log2
from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number, select, split, sqrt, two_to


def make_cbrt(target: Any) -> Any:
    """Return ``cbrt(v)``: the cube root, 0 where v <= 0.

    The relative error is below 1e-9 in float64.

    A parabola approximates the root of the mantissa; a step of Halley's method cubes its error;
    a third of the exponent scales the result.
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


def make_polar(target: Any) -> Any:
    """Return ``polar(x, y)``: the length of x + iy, and its direction as two more numbers.

    Squares of long or short vectors would over- or underflow, so the larger part scales both. The
    length and direction of vectors whose parts are below 1e-300 (1e-36 in float32) are 0.
    """

    def polar(x: Any, y: Any) -> Any:
        zero, one = number(0, x), number(1, x)
        p, q = abs(x), abs(y)
        large = select(p > q, p, q)
        double = one + number(2.0**-30, x) > one
        known = large > select(double, number(1e-300, x), number(1e-36, x))
        scale = select(known, large, one)
        s, t = select(known, x, zero) / scale, select(known, y, zero) / scale
        length = sqrt(fma(s, s, t * t))
        unit = select(known, length, one)
        # A bare product could become one fma with a sum that takes it.
        return fma(length, scale, zero), s / unit, t / unit

    return target.jit(polar)


def fraction_constants(formula: Formula, escape_radius: float) -> tuple[float, float]:
    """Return the constants `start` and `scale` of `make_fraction` for a picture.

    `scale` is 0 for a formula without a degree: its bands of equal counts stay visible.
    """
    scale = 1 / math.log2(formula.degree) if formula.degree > 1 else 0.0
    return math.log2(2 * math.log2(escape_radius)), scale


def make_fraction(target: Any) -> Any:
    """Return ``fraction(x, y, start, scale)``: the place of z within its band of counts.

    The place of the escaped point z = x + iy is from 0, where the orbit nearly escaped a step
    before, to 1, where it passed the escape radius only just. The smooth count is the count plus
    this number.
    """
    log2, zero, one = make_log2(target), target.real(0), target.real(1)

    def fraction(x: Any, y: Any, start: Any, scale: Any) -> Any:
        beyond = log2(log2(fma(x, x, y * y))) - start
        rest = fma(-beyond, scale, one)
        return select(rest > zero, select(rest < one, rest, one), zero)

    return target.jit(fraction)


def make_mean_value(target: Any) -> Any:
    """Return ``value`` of a coloring: a number's mean over the orbit.

    The coloring's statistic is (sum, last) of the number. The value goes from the mean without the
    last step to the mean with it as `make_fraction` goes from 0 to 1, so it is continuous where
    counts change (Härkönen, *On Smooth Fractal Coloring Techniques*, 2007).
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

    ``lines`` returns two numbers, for field lines and for borders between bands of counts. Each
    goes from 0 on a line to 1 beyond the line's weight. Its arguments:

    x, y : real
        The escaped point.
    start, scale : real
        Constants of `make_fraction`.
    count : real
        Field lines in a turn.
    weight : real
        Width of a field line, as a share of half the distance between lines.
    border : real
        Width of a border, in half the height of a band.
    share : real
        1 / degree. A step multiplies angles by the degree, so across a band lines grow thinner by
        this factor: the weight goes with the fraction, without a jump at the next band.
    """
    fraction, angle_of, int32 = make_fraction(target), target.jit(angle_in_turns), target.int32
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
