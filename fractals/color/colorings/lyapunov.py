"""Lyapunov exponent: whether orbits of neighboring points converge or diverge.

The exponent is the mean of log|f'| along the orbit. The value is half of its exponential, the mean
stretch of a step: below 1/2 neighbors converge (order), above they diverge (chaos). f' is taken
along the real axis; where the formula is holomorphic, all directions are alike.
"""

import math

from fractals.kernels.coloring import Coloring, Option, OrbitStatistic
from fractals.kernels.elementary import exp, log
from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.tangent import make_tangent


def make_statistic(target, formula, base):
    tangent = make_tangent(target, formula)

    def start(x, y):
        return number(0, x), number(0, x)

    def update(w, x, y, u, v, a, b, point):
        zero, one = number(0, x), number(1, x)
        p, q = tangent(u, v, one, zero, a, b, zero, zero)
        p, q = abs(p), abs(q)
        high = p > q
        large, small = (
            select(high, p, q),
            select(high, q, p),
        )  # so that squares do not over- or underflow
        part = small / select(large > zero, large, one)
        n = w[0] + one
        counted = n > number(point[base], x)
        stretch = log(large * sqrt(fma(part, part, one)))
        return n, w[1] + select(counted, stretch, zero)

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
            "exponents", ("steps", "sum"), make_statistic, lambda warmup: (float(warmup),)
        ),
    )
