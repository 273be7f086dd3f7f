"""The Celtic: z -> |Re z²| + i Im z² + c."""

from fractals.formula import Formula, fma, number, select


def step(x, y, a, b):
    return abs(fma(x, x, -(y * y))) + a, fma(x + x, y, b)


def derivative(x, y, p, q):
    u, v = x + x, y + y
    t = fma(u, p, -(v * q))
    return select(fma(x, x, -(y * y)) < number(0, x), -t, t), fma(u, q, v * p)


def make():
    return Formula(
        name="celtic",
        title="Celtic, |Re z²| + i Im z² + c",
        step=step,
        derivative=derivative,
        degree=2,
        center=("-0.6", "0"),
        width="4.8",
        holomorphic=False,
    )
