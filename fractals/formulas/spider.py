"""Spider: z -> z² + c, and c -> c / 2 + z after each step (known from Fractint).

The c of a step follows from the two points before: it is z - previous², halved, plus z. So the next
z is z² + 3/2 z - 1/2 previous², without a c that changes. The first step, which has no point
before, is z² + c.
"""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number, select


def step(x, y, a, b, u, v):  # u + iv is the previous z
    more, half = number(1.5, x), number(-0.5, x)
    old = number(0, u) < abs(u) + abs(v)  # whether there is a point before
    p = select(old, fma(more, x, half * fma(u, u, -v * v)), a)
    q = select(old, fma(more, y, -u * v), b)
    return fma(x, x, fma(-y, y, p)), fma(x + x, y, q)


def tangent(x, y, p, q, a, b, e, f, u, v, r, s):
    more = number(1.5, x)
    old = number(0, u) < abs(u) + abs(v)  # whether there is a point before
    g = select(old, fma(more, p, fma(-u, r, v * s)), e)
    h = select(old, fma(more, q, fma(-u, s, -v * r)), f)
    return fma(x + x, p, fma(-(y + y), q, g)), fma(x + x, q, fma(y + y, p, h))


def start(a, b, p, q):
    return a, b, p, q


def make():
    return Formula(
        name="spider",
        title="Spider, z² + c with c / 2 + z as the next c",
        step=step,
        derivative=None,
        tangent=tangent,
        start=start,
        uses_previous=True,
        degree=2,
        center=("-0.3", "0"),
        width="5",
        can_return=True,
    )
