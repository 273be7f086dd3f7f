"""The Buffalo: z -> |Re z²| + i |Im z²| + c."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import diffabs, fma, number, select


def step(x, y, a, b):
    return abs(fma(x, x, -(y * y))) + a, fma(abs(x + x), abs(y), b)


def derivative(x, y, p, q):
    u, v = x + x, y + y
    s, t = fma(u, p, -(v * q)), fma(u, q, v * p)
    zero = number(0, x)
    return select(fma(x, x, -(y * y)) < zero, -s, s), select(x * y < zero, -t, t)


def kinks(x, y):
    return (x - y) * (x + y), x * y


def perturbed(X, Y, x, y, a, b, K, L):
    u, v = X + X + x, Y + Y + y
    real = diffabs(K, fma(u, x, -(v * y)))
    imaginary = diffabs(L, fma(X, y, fma(x, Y, x * y)))
    return real + a, fma(number(2, x), imaginary, b)


def kink_distance(X, Y, K, L):  # the axes and the diagonals
    axis = select(abs(X) < abs(Y), abs(X), abs(Y))
    size = abs(X) + abs(Y)
    diagonal = select(size > number(0, X), abs(K) / (size + size), size)
    return select(axis < diagonal, axis, diagonal)


def make():
    return Formula(
        name="buffalo",
        title="Buffalo, |Re z²| + i |Im z²| + c",
        step=step,
        derivative=derivative,
        perturbed=perturbed,
        kinks=kinks,
        kink_distance=kink_distance,
        degree=2,
        center=("-0.5", "-0.4"),
        width="5.0",
        holomorphic=False,
        group="Absolute values",
    )
