"""The Simonobrot: z -> z² |z|² + c."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma


def step(x, y, a, b):
    square = y * y
    size = fma(x, x, square)
    return fma(fma(x, x, -square), size, a), fma((x + x) * y, size, b)


def derivative(x, y, p, q):
    square, u, v = y * y, x + x, y + y
    size, along, across = fma(x, x, square), fma(u, p, v * q), fma(u, p, -(v * q))
    turned = fma(u, q, v * p)
    return (
        fma(across, size, fma(x, x, -square) * along),
        fma(turned, size, u * y * along),
    )


def perturbed(X, Y, x, y, a, b):
    u, v = (X + X + x) * x, (Y + Y + y) * y  # changes of X² and Y²
    more, size = u + v, fma(X, X, Y * Y) + (u + v)
    turned = fma(x, Y + y, X * y)
    return (
        fma(fma(X, X, -(Y * Y)), more, fma(u - v, size, a)),
        fma((X + X) * Y, more, fma(turned + turned, size, b)),
    )


def make():
    return Formula(
        name="simonobrot",
        title="Simonobrot, z² |z|² + c",
        step=step,
        derivative=derivative,
        perturbed=perturbed,
        degree=4,
        center=("-0.1", "0"),
        width="3.6",
        holomorphic=False,
        group="Powers",
    )
