"""The Celtic: z -> |Re z²| + i Im z² + c."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import diffabs, fma, number, select


def step(x, y, a, b):
    return abs(fma(x, x, -(y * y))) + a, fma(x + x, y, b)


def derivative(x, y, p, q):
    u, v = x + x, y + y
    t = fma(u, p, -(v * q))
    return select(fma(x, x, -(y * y)) < number(0, x), -t, t), fma(u, q, v * p)


def kinks(x, y):
    return ((x - y) * (x + y),)


def perturbed(X, Y, x, y, a, b, K):
    u, v = X + X + x, Y + Y + y
    more = diffabs(K, fma(u, x, -(v * y)))
    return more + a, fma(u, y, fma(v, x, b))


def kink_distance(X, Y, K):  # the diagonals, half of the distance along an axis
    size = abs(X) + abs(Y)
    return select(size > number(0, X), abs(K) / (size + size), size)


def make():
    return Formula(
        name="celtic",
        title="Celtic, |Re z²| + i Im z² + c",
        step=step,
        derivative=derivative,
        perturbed=perturbed,
        kinks=kinks,
        kink_distance=kink_distance,
        degree=2,
        symmetric=True,
        center=("-0.6", "0"),
        width="4.8",
        holomorphic=False,
        group="Absolute values",
    )
