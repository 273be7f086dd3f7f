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


def perturbed(X, Y, x, y, a, b):
    u, v = X + X + x, Y + Y + y
    across = diffabs(fma(X, X, -(Y * Y)), fma(u, x, -(v * y)))
    return across + a, fma(number(2, x), fma(diffabs(X, x), Y + y, abs(X) * y), b)


def kink_distance(X, Y):  # the imaginary axis, and the diagonals
    far = number(0.5, X) * abs(abs(X) - abs(Y))
    return select(abs(X) < far, abs(X), far)


def make():
    return Formula(
        name="celtic_heart",
        title="Celtic heart, |x² - y²| + 2i|x|y + c",
        step=step,
        derivative=derivative,
        perturbed=perturbed,
        kink_distance=kink_distance,
        degree=2,
        center=("-0.5", "0"),
        width="5",
        holomorphic=False,
    )
