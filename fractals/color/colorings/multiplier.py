"""Multiplier: how much one round of the attracting cycle stretches its surroundings.

The value is |derivative of the round|, from 0 at the nucleus of a component to 1 at its boundary.
The cycle is found after Brent (1980): each step is compared with the last step whose number is a
power of two. The first step within the tolerance of that point closes the cycle, if the steps
between contract. Where no step does, the boundary is too near for the iteration limit, and the
sample has no value; next to such samples a multiple of the period may be found.
"""

import math

from fractals.kernels.coloring import Coloring, Option, OrbitStatistic
from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.tangent import make_tangent


def make_statistic(target, formula, base):
    tangent = make_tangent(target, formula)

    def start(x, y):
        zero, one = number(0, x), number(1, x)
        return x, y, zero, one, one, zero, one, zero, zero

    def update(w, x, y, u, v, a, b, point):
        zero, one = number(0, x), number(1, x)
        from_x, from_y, n, next_n, sought, period, p, q, stretch = w
        n = n + one
        p, q = tangent(u, v, p, q, a, b, zero, zero)
        s, t = x - from_x, y - from_y
        product = fma(p, p, q * q)
        near = (fma(s, s, t * t) <= number(point[base], x)) & (product < one)
        closed = near & (sought > zero)
        period = select(closed, fma(next_n, number(-0.5, x), n), period)
        stretch = select(closed, product, stretch)
        sought = select(closed, zero, sought)
        again = n == next_n
        return (
            select(again, x, from_x),
            select(again, y, from_y),
            n,
            select(again, n + n, next_n),
            select(again, one, sought),
            period,
            select(again, one, p),
            select(again, zero, q),
            stretch,
        )

    return start, update


CYCLE = OrbitStatistic(
    "cycle",
    ("x", "y", "n", "next", "sought", "period", "p", "q", "stretch"),
    make_statistic,
    lambda tolerance: (tolerance**2,),
)
TOLERANCE = Option(1e-6, 1e-12, 0.1, "how near is a return", "statistic")


def make_value(target):
    real = target.real
    zero, nan = real(0), real(math.nan)

    def value(n, x, y, p, q, w, constants):
        found = w[5] > zero
        return select(found, sqrt(select(w[8] > zero, w[8], zero)), nan)

    return value


def make():
    return Coloring(
        name="multiplier",
        title="inside: how the attracting cycle stretches, 0 at a nucleus, 1 at a boundary",
        make_value=make_value,
        ends="any",
        memoryless=True,
        constants=lambda formula, escape_radius, width, tolerance: (),
        transfer="linear",
        side="inside",
        options={"tolerance": TOLERANCE},
        statistic=CYCLE,
    )
