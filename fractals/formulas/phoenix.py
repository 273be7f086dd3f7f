"""Phoenix: z -> z² + c + memory times the previous z (Shigehiro Ushiki, 1988)."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number


def make_step(memory):
    def step(x, y, a, b, u, v):  # u + iv is the previous z
        k = number(memory, x)
        return fma(x, x, fma(-y, y, fma(k, u, a))), fma(x + x, y, fma(k, v, b))

    return step


def make_tangent(memory):
    def tangent(x, y, p, q, a, b, e, f, u, v, r, s):
        k, g, h = number(memory, x), x + x, y + y
        return fma(g, p, fma(-h, q, fma(k, r, e))), fma(g, q, fma(h, p, fma(k, s, f)))

    return tangent


def make(memory=-0.5):
    if isinstance(memory, bool) or not isinstance(memory, int | float) or not -2 <= memory <= 2:
        raise ValueError("memory is a number from -2 to 2")
    memory = float(memory)
    return Formula(
        name="phoenix",
        title=f"Phoenix, z² + c {'+' if memory >= 0 else '-'} {abs(memory):g} times the previous z",
        step=make_step(memory),
        derivative=None,
        tangent=make_tangent(memory),
        uses_previous=True,
        degree=2,
        center=("-0.35", "0"),
        width="6",
        can_return=True,
        parameters={"memory": memory},
        group="With memory",
    )
