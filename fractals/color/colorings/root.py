"""Root: the point that the orbit converges to, by its direction and distance from 0.

Roots of unity are spread evenly around the palette. A layer of `speed` adds how fast they converge.
"""

import math

from fractals.kernels.coloring import Coloring, Option
from fractals.kernels.elementary import angle_in_turns, make_log2
from fractals.kernels.primitives import fma, select

NEAR = 1e-6  # |z|² below which a root counts as 0, without a direction
FAR = 0.5  # value of samples that escape


def make_value(target):
    real, log2, angle_of = target.real, make_log2(target), target.jit(angle_in_turns)
    zero, one, near, far = real(0), real(1), real(NEAR), real(FAR)

    def value(n, x, y, p, q, constants):
        m = fma(x, x, y * y)
        limit = fma(constants[2], log2(m + one), select(m > near, angle_of(x, y), zero))
        # The added 1e-4 turns keep roots on the positive real axis, whose angle may be rounded to
        # just below a whole turn, in one color.
        return select(m > constants[3], far, limit + constants[4])

    return value


def constants(formula, escape_radius, width, spread):
    return spread, escape_radius**2 if formula.escapes else math.inf, 1e-4


def make():
    return Coloring(
        name="root",
        title="the point that an orbit converges to",
        make_value=make_value,
        constants=constants,
        transfer="linear",
        ends="converging",
        options={"spread": Option(0.1, -10, 10, "turns of the palette per doubling of 1 + |z|²")},
    )
