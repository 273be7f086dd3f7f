"""Speed: how many steps an orbit takes to converge, without bands; or, where it escapes, to escape.

Between the last two steps log|z_n - z_(n-1)| passes the tolerance; how far on its way is the part
of a step that is added. It needs no order of convergence.
"""

import math

from fractals.kernels.coloring import Coloring, OrbitStatistic
from fractals.kernels.coloring_math import fraction_constants, make_fraction
from fractals.kernels.elementary import make_log2
from fractals.kernels.primitives import fma, number, select

LEAST, MOST = 1e-30, 1e30  # |z_n - z_(n-1)|² between which a logarithm is taken


def make_statistic(target, formula, base):
    def start(x, y):
        return number(MOST, x), number(MOST, x)

    def update(w, x, y, u, v, a, b, point):
        s, t = x - u, y - v
        m, least, most = fma(s, s, t * t), number(LEAST, x), number(MOST, x)
        return select(m > least, select(m < most, m, most), least), w[0]

    return start, update


def make_value(target):
    real, log2, fraction = target.real, make_log2(target), make_fraction(target)
    zero, one = real(0), real(1)

    def value(n, x, y, p, q, w, constants):
        tolerance, radius2 = constants[4], constants[5]
        now, before = log2(w[0]), log2(w[1])
        apart = before - now
        part = (before - tolerance) / select(apart > zero, apart, one)
        part = select(part > zero, select(part < one, part, one), zero)
        escaped = fma(x, x, y * y) > radius2
        return real(n) + select(escaped, fraction(x, y, constants[2], constants[3]), part)

    return value


def constants(formula, escape_radius, width):
    # Without a tolerance, or an escape radius, no orbit ends so.
    tolerance = 2 * math.log2(formula.tolerance) if formula.tolerance else 0.0
    radius2 = escape_radius**2 if formula.escapes else math.inf
    return *fraction_constants(formula, escape_radius), tolerance, radius2


def make():
    return Coloring(
        name="speed",
        title="smooth count of steps to converge",
        make_value=make_value,
        constants=constants,
        ends="converging",
        statistic=OrbitStatistic("moves", ("last", "before"), make_statistic),
    )
