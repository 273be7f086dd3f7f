"""The Burning Ship: z -> (|x| + i|y|)² + c (Michelitsch and Rössler, 1992).

The imaginary axis points up, so the ship is upside down compared with most published pictures.
"""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import diffabs, fma, number, select


def step(x, y, a, b):
    u = x + x
    return fma(x, x, fma(-y, y, a)), fma(abs(y), abs(u), b)


def derivative(x, y, p, q):
    u, v = x + x, y + y
    t = fma(u, q, v * p)
    return fma(u, p, -(v * q)), select(x * y < number(0, x), -t, t)  # the kink in |2xy|


def kinks(x, y):
    return (x * y,)


def perturbed(X, Y, x, y, a, b, K):
    u, v = X + X + x, Y + Y + y
    more = diffabs(K, fma(X, y, fma(x, Y, x * y)))
    return fma(u, x, fma(-v, y, a)), fma(number(2, x), more, b)


def kink_distance(X, Y, K):  # the axes
    return select(abs(X) < abs(Y), abs(X), abs(Y))


def make():
    return Formula(
        name="burning_ship",
        title="Burning Ship, (|x| + i|y|)² + c",
        step=step,
        derivative=derivative,
        perturbed=perturbed,
        kinks=kinks,
        kink_distance=kink_distance,
        degree=2,
        center=("-0.45", "-0.5"),
        width="5.2",
        holomorphic=False,
        group="Absolute values",
    )
