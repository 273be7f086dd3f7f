"""The Mandelbrot set: z -> z² + c."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number


def step(x, y, a, b):  # z = x + iy, c = a + ib
    u = x + x  # first: then x is not needed after x', which can take its register
    return fma(x, x, fma(-y, y, a)), fma(y, u, b)


def derivative(x, y, p, q):  # 2z (p + iq)
    u, v = x + x, y + y
    return fma(u, p, -(v * q)), fma(u, q, v * p)


def perturbed(X, Y, x, y, a, b):  # (2Z + z) z + c
    u, v = X + X + x, Y + Y + y
    return fma(u, x, fma(-v, y, a)), fma(u, y, fma(v, x, b))


def inside(a, b):
    """Tell whether c lies in the main cardioid or the period-2 disc.

    Both are shrunk by 2**-18 of their size, which exceeds all rounding errors, also in float32. So
    no point outside is taken for one inside; the rim is iterated.
    """
    shrink = number(1 - 2**-18, a)
    b2 = b * b
    u = a - number(0.25, a)
    q = fma(u, u, b2)
    w = a + number(1, a)
    s = fma(u, a + number(0.75, a), b2)  # q + u, without the cancellation where it meets the disc
    cardioid = q * s < shrink * number(0.25, a) * b2
    disc = fma(w, w, b2) < shrink * number(0.0625, a)
    return cardioid | disc


def make():
    return Formula(
        name="mandelbrot",
        title="Mandelbrot set, z² + c",
        step=step,
        derivative=derivative,
        degree=2,
        center=("-0.65", "0"),
        width="4.6",
        perturbed=perturbed,
        inside=inside,
        symmetric=True,
        group="Powers",
    )
