"""Formulas whose step also reads the previous z, or a number that changes along the orbit."""

from fractals.kernels.formula import Formula, explained
from fractals.kernels.primitives import fma, number


def make_phoenix_step(memory):
    def step(x, y, a, b, u, v):  # u + iv is the previous z
        k = number(memory, x)
        return fma(x, x, fma(-y, y, fma(k, u, a))), fma(x + x, y, fma(k, v, b))

    return step


def make_phoenix_tangent(memory):
    def tangent(x, y, p, q, a, b, e, f, u, v, r, s):
        k, g, h = number(memory, x), x + x, y + y
        return fma(g, p, fma(-h, q, fma(k, r, e))), fma(g, q, fma(h, p, fma(k, s, f)))

    return tangent


@explained(memory="factor of the previous z, -2 to 2")
def phoenix(memory=-0.5):
    """Phoenix: z -> z² + c + memory times the previous z (Shigehiro Ushiki, 1988)."""
    if isinstance(memory, bool) or not isinstance(memory, int | float) or not -2 <= memory <= 2:
        raise ValueError("memory is a number from -2 to 2")
    memory = float(memory)
    return Formula(
        name="phoenix",
        title=f"Phoenix, z² + c {'+' if memory >= 0 else '-'} {abs(memory):g} times the previous z",
        step=make_phoenix_step(memory),
        derivative=None,
        tangent=make_phoenix_tangent(memory),
        uses_previous=True,
        degree=2,
        center=("-0.35", "0"),
        width="6",
        can_return=True,
        parameters={"memory": memory},
        group="With memory",
    )


def spider_step(x, y, a, b, u, v):
    return fma(x, x, fma(-y, y, a + u)), fma(x + x, y, b + v)


def spider_tangent(x, y, p, q, a, b, e, f, u, v, r, s):
    g, h = x + x, y + y
    return fma(g, p, fma(-h, q, e + r)), fma(g, q, fma(h, p, f + s))


def spider_carry(x, y, a, b, u, v):  # (c + u + iv) / 2 + z - c
    half = number(0.5, x)
    return fma(half, u - a, x), fma(half, v - b, y)


def spider_start(a, b, p, q):
    return a, b, p, q


def spider():
    """Spider: z -> z² + c, and c -> c / 2 + z after each step (known from Fractint).

    What travels along an orbit is u + iv, the difference of the changed c from the first one.
    """
    return Formula(
        name="spider",
        title="Spider, z² + c with c / 2 + z as the next c",
        step=spider_step,
        derivative=None,
        tangent=spider_tangent,
        start=spider_start,
        uses_previous=True,
        carry=spider_carry,
        degree=2,
        center=("-0.3", "0"),
        width="5",
        can_return=True,
        group="With memory",
    )
