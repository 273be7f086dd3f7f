"""The shark fin: z -> x² - y|y| + 2ixy + c."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import diffabs, fma


def step(x, y, a, b):
    return fma(x, x, fma(-y, abs(y), a)), fma(x + x, y, b)


def derivative(x, y, p, q):
    u, v = x + x, y + y
    return fma(u, p, -(abs(v) * q)), fma(u, q, v * p)


def kinks(x, y):
    return (y,)


def perturbed(X, Y, x, y, a, b, K):
    u = X + X + x
    t = fma(Y, diffabs(K, y), y * abs(Y + y))
    return fma(u, x, a - t), fma(u, y, fma(Y + Y, x, fma(x, y, b)))


def kink_distance(X, Y, K):  # the real axis
    return abs(Y)


def make():
    return Formula(
        name="shark_fin",
        title="Shark fin, x² - y|y| + 2ixy + c",
        step=step,
        derivative=derivative,
        perturbed=perturbed,
        kinks=kinks,
        kink_degrees=(1,),
        kink_distance=kink_distance,
        degree=2,
        center=("-0.5", "0.3"),
        width="5.0",
        holomorphic=False,
        group="Absolute values",
    )
