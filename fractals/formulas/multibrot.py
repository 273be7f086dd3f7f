"""The multibrot sets: z -> z**power + c, power 2 to 8."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number


def make_step(power):
    def step(x, y, a, b):
        u, v = x, y  # z**(power // 2), then squared, and times z where the power is odd
        for _ in range(power // 2 - 1):
            u, v = fma(u, x, -(v * y)), fma(u, y, v * x)
        if power % 2 == 0:
            return fma(u, u, fma(-v, v, a)), fma(u + u, v, b)
        p, q = fma(u, u, -(v * v)), (u + u) * v
        s, t = fma(-q, y, a), fma(q, x, b)  # both first: then q needs no register
        return fma(p, x, s), fma(p, y, t)

    return step


def make_derivative(power):
    def derivative(x, y, p, q):  # power * z**(power - 1) * (p + iq)
        n = number(power, x)
        u, v = n * x, n * y
        for _ in range(power - 2):
            u, v = fma(u, x, -(v * y)), fma(u, y, v * x)
        return fma(u, p, -(v * q)), fma(u, q, v * p)

    return derivative


def make_perturbed(power):
    def perturbed(X, Y, x, y, a, b):  # z times the sum of (Z + z)**k Z**(power - 1 - k), plus c
        u, v = X + x, Y + y
        s, t = X + u, Y + v  # the sum for power 2, after Horner in Z + z
        p, q = X, Y  # powers of Z
        for _ in range(power - 2):
            p, q = fma(p, X, -(q * Y)), fma(p, Y, q * X)
            s, t = fma(s, u, fma(-t, v, p)), fma(s, v, fma(t, u, q))
        return fma(s, x, fma(-t, y, a)), fma(s, y, fma(t, x, b))

    return perturbed


def make(power=3):
    if not isinstance(power, int) or not 2 <= power <= 8:
        raise ValueError("power is a whole number from 2 to 8")
    return Formula(
        name="multibrot",
        title=f"Multibrot set, z**{power} + c",
        step=make_step(power),
        derivative=make_derivative(power),
        perturbed=make_perturbed(power),
        degree=power,
        width="4.2",
        parameters={"power": power},
        symmetric=True,
        group="Powers",
    )
