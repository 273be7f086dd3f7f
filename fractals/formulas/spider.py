"""Spider: z -> z² + c, and c -> c / 2 + z after each step (known from Fractint).

What travels along an orbit is u + iv, the difference of the changed c from the first one.
"""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number


def step(x, y, a, b, u, v):
    return fma(x, x, fma(-y, y, a + u)), fma(x + x, y, b + v)


def tangent(x, y, p, q, a, b, e, f, u, v, r, s):
    g, h = x + x, y + y
    return fma(g, p, fma(-h, q, e + r)), fma(g, q, fma(h, p, f + s))


def carry(x, y, a, b, u, v):  # (c + u + iv) / 2 + z - c
    half = number(0.5, x)
    return fma(half, u - a, x), fma(half, v - b, y)


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
        carry=carry,
        degree=2,
        center=("-0.3", "0"),
        width="5",
        can_return=True,
        group="With memory",
    )
