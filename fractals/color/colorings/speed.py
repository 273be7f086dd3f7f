"""Speed: the smooth number of steps an orbit takes to converge, or to escape.

log|z_n - z_(n-1)| passes the tolerance during the last step. Linear interpolation gives the
fraction of the step at which it does, for any order of convergence.
"""

import math

from fractals.kernels.coloring import Coloring, OrbitStatistic
from fractals.kernels.coloring_math import make_fraction
from fractals.kernels.elementary import make_log2
from fractals.kernels.primitives import fma, number, select

MIN_SQUARE, MAX_SQUARE = 1e-30, 1e30  # |z_n - z_(n-1)|² is clamped, for a finite logarithm


def make_statistic(target, formula, base):
    def start(x, y):
        return number(MAX_SQUARE, x), number(MAX_SQUARE, x)

    def update(w, x, y, u, v, a, b, point):
        s, t = x - u, y - v
        m, least, most = fma(s, s, t * t), number(MIN_SQUARE, x), number(MAX_SQUARE, x)
        return select(m > least, select(m < most, m, most), least), w[0]

    return start, update


def make_value(target):
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


def constants(formula, escape_radius, width):
    # 0 and infinity: no orbit converges without a tolerance, or escapes without a radius.
    tolerance = 2 * math.log2(formula.tolerance) if formula.tolerance else 0.0
    escape_radius_squared = escape_radius**2 if formula.escapes else math.inf
    return *formula.fraction_constants(escape_radius), tolerance, escape_radius_squared


def make():
    return Coloring(
        name="speed",
        title="smooth count of steps to converge",
        make_value=make_value,
        counted=True,
        constants=constants,
        ends="converging",
        statistic=OrbitStatistic("moves", ("last", "before"), make_statistic),
    )
