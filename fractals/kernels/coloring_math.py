"""Functions that several colorings use, with the same bits on every target."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.elementary import angle_in_turns, make_log2
from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number, select, split, sqrt, two_to

# Ranks of values: the look-up table of the colorings histogram and rank.


# The table divides values into cells: CELLS for each doubling of their distance from the lowest
# value, so a cell is less than 1 % of that distance wide. More cells cost memory only.
CELLS = 128  # a power of two: a value's cell is read from its bits
DOUBLINGS = 32  # more than counts have, which are below 2**31
EDGE_COUNT = CELLS * DOUBLINGS + 1
MAX_BINS = 2**22  # widest range of counts that takes a bin each (32 MiB); others are sorted


def make_rank(target: Any) -> Any:
    """Return ``rank(v, table)``: the share of values below v.

    The table holds the lowest value, then the shares at the EDGE_COUNT edges of the cells above it.
    `rank` is from 0 to 1. A value's cell is read from its bits; within a cell the share rises
    linearly.
    """
    real, int32 = target.real, target.int32
    one, cells, last = real(1), real(CELLS), int32(EDGE_COUNT - 2)

    def rank(v: Any, table: Any) -> Any:
        u = v - table[0] + one
        m, e = split(select(u > one, u, one))
        place = (m - one) * cells
        k = int32(place)
        cell = int32(int32(e) * CELLS + k)
        cell = int32(select(cell < last, cell, last))
        start, end = table[1 + cell], table[2 + cell]
        return fma(place - real(k), end - start, start)

    return target.jit(rank)


def edges(lowest: float) -> NDArray[np.float64]:
    """Return the values at the edges of the cells of `make_rank`."""
    j = np.arange(EDGE_COUNT)
    return lowest - 1 + np.ldexp(1 + (j % CELLS) / CELLS, j // CELLS)


def make_rank_table(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the table of `make_rank`, shape (EDGE_COUNT + 1,): each value counts once.

    The values are finite; there may be none.
    """
    lowest = float(values.min()) if values.size else 1.0
    u = np.maximum(values.astype(np.float64) - lowest + 1, 1)
    cells = (u.view(np.int64) >> (52 - CELLS.bit_length() + 1)) - 1023 * CELLS  # by its bits
    counts = np.bincount(np.minimum(cells, EDGE_COUNT - 2), minlength=EDGE_COUNT - 1)
    shares = np.concatenate([[0], np.cumsum(counts)]) / max(1, values.size)
    return np.concatenate([[lowest], shares])


def make_histogram_table(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the table of `make_rank`, with bands of counts spread evenly.

    A band holds the values above a whole number up to the next. Parameters and result are those of
    `make_rank_table`.
    """
    if not values.size:
        return make_rank_table(values)
    bands = np.ceil(values).astype(np.int64)  # each named after its upper end
    first, last = int(bands.min()), int(bands.max())
    if last - first < MAX_BINS:
        counts = np.bincount(bands - first)
        bands = np.flatnonzero(counts)
        counts, bands = counts[bands], bands + first
    else:
        bands, counts = np.unique(bands, return_counts=True)
    ends = np.unique(np.concatenate([bands - 1, bands]))
    cells = np.zeros(len(ends))
    cells[np.searchsorted(ends, bands)] = counts
    shares = np.cumsum(cells) / values.size
    return np.concatenate([[first - 1], np.interp(edges(first - 1), ends, shares)])


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


def make_fraction(target: Any) -> Any:
    """Return ``fraction(x, y, start, scale)``: the place of z within its band of counts.

    `Formula.fraction_constants` returns `start` and `scale`.

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
    return formula.fraction_constants(escape_radius)


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
