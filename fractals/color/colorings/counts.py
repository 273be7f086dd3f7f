"""Colorings of the number of steps: in bands, smooth, and by rank."""

import math

from fractals.kernels.coloring import Coloring, OrbitStatistic, make_fraction
from fractals.kernels.elementary import make_log2
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.ranks import make_histogram_table, make_rank_table


def make_count_value(target):
    real = target.real

    def value(n, x, y, p, q, constants):
        return real(n)

    return value


def count():
    """Plain counts: one flat color a step, in bands; `smooth` has none."""
    return Coloring(
        name="count",
        unit="steps",
        title="steps to escape, in flat bands",
        make_value=make_count_value,
        counted=True,
        ends="any",
    )


def make_smooth_value(target):
    real, log2 = target.real, make_log2(target)
    one = real(1)

    def value(n, x, y, p, q, constants):
        beyond = log2(log2(fma(x, x, y * y))) - constants[2]
        return fma(-beyond, constants[3], real(n) + one)

    return value


def smooth_constants(formula, escape_radius, width):
    return formula.fraction_constants(escape_radius)


def smooth():
    """Smooth count: n + 1 - log(log|z| / log R) / log degree, without the bands of counts.

    After García, Fernández, Barrallo and Martín, *Coloring Dynamical Systems in the Complex Plane*
    (1999).
    """
    return Coloring(
        name="smooth",
        unit="steps",
        title="smooth escape count",
        make_value=make_smooth_value,
        counted=True,
        constants=smooth_constants,
        converging="speed",
    )


def histogram():
    """Histogram: the share of the picture's escaped samples that have a lower count.

    Histogram equalisation by whole counts; within a band the share rises with the smooth count.
    """
    return Coloring(
        name="histogram",
        title="share of the samples whose count is lower",
        make_value=make_smooth_value,
        constants=smooth_constants,
        transfer="linear",
        rank_table=make_histogram_table,
    )


def rank():
    """Rank: the share of the picture's escaped samples that have a lower smooth count.

    Equal stretches of the palette cover equal areas of the picture.
    """
    return Coloring(
        name="rank",
        title="rank of the smooth count among all samples, from 0 to 1",
        make_value=make_smooth_value,
        constants=smooth_constants,
        transfer="linear",
        rank_table=make_rank_table,
    )


MIN_SQUARE, MAX_SQUARE = 1e-30, 1e30  # |z_n - z_(n-1)|² is clamped, for a finite logarithm


def make_speed_statistic(target, formula, base):
    def start(x, y):
        return number(MAX_SQUARE, x), number(MAX_SQUARE, x)

    def update(w, x, y, u, v, a, b, point):
        s, t = x - u, y - v
        m, least, most = fma(s, s, t * t), number(MIN_SQUARE, x), number(MAX_SQUARE, x)
        return select(m > least, select(m < most, m, most), least), w[0]

    return start, update


def make_speed_value(target):
    real, log2, fraction = target.real, make_log2(target), make_fraction(target)
    zero, one = real(0), real(1)

    def value(n, x, y, p, q, w, constants):
        tolerance, escape_radius_squared = constants[4], constants[5]
        now, before = log2(w[0]), log2(w[1])
        apart = before - now
        part = (before - tolerance) / select(apart > zero, apart, one)
        part = select(part > zero, select(part < one, part, one), zero)
        escaped = fma(x, x, y * y) > escape_radius_squared
        return real(n) + select(escaped, fraction(x, y, constants[2], constants[3]), part)

    return value


def speed_constants(formula, escape_radius, width):
    # 0 and infinity: no orbit converges without a tolerance, or escapes without a radius.
    tolerance = 2 * math.log2(formula.tolerance) if formula.tolerance else 0.0
    escape_radius_squared = escape_radius**2 if formula.escapes else math.inf
    return *formula.fraction_constants(escape_radius), tolerance, escape_radius_squared


def speed():
    """Speed: the smooth number of steps an orbit takes to converge, or to escape.

    log|z_n - z_(n-1)| passes the tolerance during the last step. Linear interpolation gives the
    fraction of the step at which it does, for any order of convergence.
    """
    return Coloring(
        name="speed",
        unit="steps",
        title="smooth count of steps to converge",
        make_value=make_speed_value,
        counted=True,
        constants=speed_constants,
        ends="converging",
        statistic=OrbitStatistic("moves", ("last", "before"), make_speed_statistic),
    )
