"""The perpendicular Burning Ship: z -> (x + i|y|)² + c, mirrored: Im -> 2x|y| + b."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import diffabs, fma, number, select


def step(x, y, a, b):
    return fma(x, x, fma(-y, y, a)), fma(x + x, abs(y), b)


def derivative(x, y, p, q):
    u, v = x + x, y + y
    return fma(u, p, -(v * q)), fma(u, select(y < number(0, y), -q, q), abs(v) * p)


def kinks(x, y):
    return (y,)


def perturbed(X, Y, x, y, a, b, K):
    u, v = X + X + x, Y + Y + y
    t = diffabs(K, y)
    more = fma(X, t, fma(x, abs(Y), x * t))
    return fma(u, x, fma(-v, y, a)), fma(number(2, x), more, b)


def kink_distance(X, Y, K):  # the real axis
    return abs(Y)


def make():
    return Formula(
        name="perpendicular_burning_ship",
        title="Perpendicular Burning Ship, (x + i|y|)² + c",
        step=step,
        derivative=derivative,
        perturbed=perturbed,
        kinks=kinks,
        kink_degrees=(1,),
        kink_distance=kink_distance,
        degree=2,
        center=("-0.5", "-0.2"),
        width="5.0",
        holomorphic=False,
        group="Absolute values",
    )
