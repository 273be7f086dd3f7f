"""Lyapunov exponent: whether orbits of neighboring points converge or diverge.

The exponent is the mean of log|f'| along the orbit. The value is half of its exponential, the mean
stretch of a step: below 1/2 neighbors converge (order), above they diverge (chaos). f' is taken
along the real axis; where the formula is holomorphic, all directions are alike.
"""

import math

from fractals.kernels.coloring import Coloring, Option, OrbitStatistic
from fractals.kernels.elementary import exp, log
from fractals.kernels.orbit import make_tangent
from fractals.kernels.primitives import fma, number, select, sqrt

LEAST_EXPONENT = -1e6  # of two, in place of that of 0


def make_stretch(target, formula):
    """Return ``stretch(u, v, a, b)``: log|f'| at u + iv."""
    tangent = make_tangent(target, formula)

    def stretch(u, v, a, b):
        zero, one = number(0, u), number(1, u)
        p, q = tangent(u, v, one, zero, a, b, zero, zero)
        p, q = abs(p), abs(q)
        high = p > q
        large, small = (
            select(high, p, q),
            select(high, q, p),
        )  # so that squares do not over- or underflow
        part = small / select(large > zero, large, one)
        return log(large * sqrt(fma(part, part, one)))

    return target.jit(stretch)


def start(x, y):
    return number(0, x), number(0, x)


def make_statistic(target, formula, base):
    stretch = make_stretch(target, formula)

    def update(w, x, y, u, v, a, b, point):
        n = w[0] + number(1, x)
        counted = n > number(point[base], x)
        return n, w[1] + select(counted, stretch(u, v, a, b), number(0, x))

    return start, update


def make_deep_statistic(target, formula, base):
    """Return the same of mantissas, and what the exponent adds, as f' is homogeneous there."""
    stretch, real = make_stretch(target, formula), target.real
    scale, least = real((formula.degree - 1) * math.log(2)), real(LEAST_EXPONENT)

    def update(w, x, y, u, v, a, b, point, exact):
        n = w[0] + number(1, x)
        counted = n > number(point[base], x)
        before = exact[1]
        exponent = real(before[2])
        exponent = select(exponent > least, exponent, least)
        grown = fma(scale, exponent, stretch(before[0], before[1], a, b))
        return n, w[1] + select(counted, grown, number(0, x))

    return start, update


def make_value(target):
    real = target.real
    zero, half, nan = real(0), real(0.5), real(math.nan)

    def value(n, x, y, p, q, w, constants):
        counted = real(n) - constants[2]
        mean = w[1] * constants[3] / select(counted > zero, counted, real(1))
        return select(counted > zero, half * exp(mean), nan)

    return value


def make():
    return Coloring(
        name="lyapunov",
        title="inside: the mean stretch of an orbit's neighbors, above 1/2 for chaos",
        make_value=make_value,
        ends="any",
        memoryless=True,
        constants=lambda formula, escape_radius, width, warmup: (float(warmup), 1 / formula.maps),
        transfer="linear",
        side="inside",
        options={"warmup": Option(20, 0, 1_000_000, "steps before the mean begins", "statistic")},
        statistic=OrbitStatistic(
            "exponents",
            ("steps", "sum"),
            make_statistic,
            lambda warmup: (float(warmup),),
            make_deep_statistic,
        ),
    )
