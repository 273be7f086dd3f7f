"""Celtic heart: z -> |x² - y²| + 2i|x|y + c."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import diffabs, fma, number, select


def step(x, y, a, b):
    return abs(fma(x, x, -(y * y))) + a, fma(abs(x + x), y, b)


def derivative(x, y, p, q):
    zero, u, v = number(0, x), x + x, y + y
    s = fma(u, p, -(v * q))
    square = fma(x, x, -(y * y))
    return select(square < zero, -s, s), fma(abs(u), q, select(x < zero, -v, v) * p)


def kinks(x, y):
    return (x - y) * (x + y), x


def perturbed(X, Y, x, y, a, b, K, L):
    u, v = X + X + x, Y + Y + y
    across = diffabs(K, fma(u, x, -(v * y)))
    return across + a, fma(number(2, x), fma(diffabs(L, x), Y + y, abs(X) * y), b)


def kink_distance(X, Y, K, L):  # the imaginary axis, and the diagonals
    size = abs(X) + abs(Y)
    far = select(size > number(0, X), abs(K) / (size + size), size)
    return select(abs(X) < far, abs(X), far)


def make():
    return Formula(
        name="celtic_heart",
        title="Celtic heart, |x² - y²| + 2i|x|y + c",
        step=step,
        derivative=derivative,
        perturbed=perturbed,
        kinks=kinks,
        kink_degrees=(2, 1),
        kink_distance=kink_distance,
        degree=2,
        center=("-0.5", "0"),
        width="5",
        holomorphic=False,
        group="Absolute values",
    )
