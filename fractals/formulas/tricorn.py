"""The tricorn: z -> conj(z)² + c (Crowe, Hasson, Rippon and Strain-Clark, 1989)."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma


def step(x, y, a, b):
    u, v = x + x, -y
    return fma(x, x, fma(v, y, a)), fma(v, u, b)


def derivative(x, y, p, q):
    u, v = x + x, y + y
    return fma(u, p, -(v * q)), -fma(u, q, v * p)


def perturbed(X, Y, x, y, a, b):
    u, v = X + X + x, Y + Y + y
    return fma(u, x, fma(-v, y, a)), fma(-u, y, fma(-v, x, b))


def make():
    return Formula(
        name="tricorn",
        title="Tricorn, conj(z)² + c",
        step=step,
        derivative=derivative,
        perturbed=perturbed,
        degree=2,
        symmetric=True,
        center=("-0.2", "0"),
        width="6.0",
        holomorphic=False,
        group="Powers",
    )
