"""Formulas of powers of z, and of its conjugate: the Mandelbrot set and its relatives."""

from fractals.kernels.formula import Formula, explained
from fractals.kernels.primitives import fma, number


def mandelbrot_step(x, y, a, b):  # z = x + iy, c = a + ib
    u = x + x  # first: then x is not needed after x', which can take its register
    return fma(x, x, fma(-y, y, a)), fma(y, u, b)


def mandelbrot_derivative(x, y, p, q):  # 2z (p + iq)
    u, v = x + x, y + y
    return fma(u, p, -(v * q)), fma(u, q, v * p)


def mandelbrot_perturbed(X, Y, x, y, a, b):  # (2Z + z) z + c
    u, v = fma(number(2, X), X, x), fma(number(2, Y), Y, y)
    return fma(u, x, fma(-v, y, a)), fma(u, y, fma(v, x, b))


def mandelbrot_inside(a, b):
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


def mandelbrot():
    """The Mandelbrot set: z -> z² + c."""
    return Formula(
        name="mandelbrot",
        title="Mandelbrot set, z² + c",
        step=mandelbrot_step,
        derivative=mandelbrot_derivative,
        degree=2,
        center=("-0.65", "0"),
        width="4.6",
        perturbed=mandelbrot_perturbed,
        inside=mandelbrot_inside,
        symmetric=True,
        group="Powers",
    )


def make_multibrot_step(power):
    def step(x, y, a, b):
        u, v = x, y  # z**(power // 2), then squared, and times z where the power is odd
        for _ in range(power // 2 - 1):
            u, v = fma(u, x, -(v * y)), fma(u, y, v * x)
        if power % 2 == 0:
            return fma(u, u, fma(-v, v, a)), fma(u + u, v, b)
        q = (u + u) * v  # first: more operations follow it
        p = fma(u, u, -(v * v))
        s, t = fma(-q, y, a), fma(q, x, b)  # both first: then q needs no register
        return fma(p, x, s), fma(p, y, t)

    return step


def make_multibrot_derivative(power):
    def derivative(x, y, p, q):  # power * z**(power - 1) * (p + iq)
        n = number(power, x)
        u, v = n * x, n * y
        for _ in range(power - 2):
            u, v = fma(u, x, -(v * y)), fma(u, y, v * x)
        return fma(u, p, -(v * q)), fma(u, q, v * p)

    return derivative


def make_multibrot_perturbed(power):
    def perturbed(X, Y, x, y, a, b):  # z times the sum of (Z + z)**k Z**(power - 1 - k), plus c
        u, v = X + x, Y + y
        s, t = X + u, Y + v  # the sum for power 2, after Horner in Z + z
        p, q = X, Y  # powers of Z
        for _ in range(power - 2):
            p, q = fma(p, X, -(q * Y)), fma(p, Y, q * X)
            s, t = fma(s, u, fma(-t, v, p)), fma(s, v, fma(t, u, q))
        return fma(s, x, fma(-t, y, a)), fma(s, y, fma(t, x, b))

    return perturbed


@explained(power="power of z, 2 to 8")
def multibrot(power=3):
    """The multibrot sets: z -> z**power + c, power 2 to 8."""
    if not isinstance(power, int) or not 2 <= power <= 8:
        raise ValueError("power is a whole number from 2 to 8")
    return Formula(
        name="multibrot",
        title=f"Multibrot set, z**{power} + c",
        step=make_multibrot_step(power),
        derivative=make_multibrot_derivative(power),
        perturbed=make_multibrot_perturbed(power),
        degree=power,
        width="4.2",
        parameters={"power": power},
        symmetric=True,
        group="Powers",
    )


def tricorn_step(x, y, a, b):
    u, v = x + x, -y
    return fma(x, x, fma(v, y, a)), fma(v, u, b)


def tricorn_derivative(x, y, p, q):
    u, v = x + x, y + y
    return fma(u, p, -(v * q)), -fma(u, q, v * p)


def tricorn_perturbed(X, Y, x, y, a, b):
    u, v = fma(number(2, X), X, x), fma(number(2, Y), Y, y)
    return fma(u, x, fma(-v, y, a)), fma(-u, y, fma(-v, x, b))


def tricorn():
    """The tricorn: z -> conj(z)² + c (Crowe, Hasson, Rippon and Strain-Clark, 1989)."""
    return Formula(
        name="tricorn",
        title="Tricorn, conj(z)² + c",
        step=tricorn_step,
        derivative=tricorn_derivative,
        perturbed=tricorn_perturbed,
        degree=2,
        symmetric=True,
        center=("-0.2", "0"),
        width="6.0",
        holomorphic=False,
        group="Powers",
    )


def simonobrot_step(x, y, a, b):
    square = y * y
    size = fma(x, x, square)
    return fma(fma(x, x, -square), size, a), fma((x + x) * y, size, b)


def simonobrot_derivative(x, y, p, q):
    square, u, v = y * y, x + x, y + y
    size, along, across = fma(x, x, square), fma(u, p, v * q), fma(u, p, -(v * q))
    turned = fma(u, q, v * p)
    return (
        fma(across, size, fma(x, x, -square) * along),
        fma(turned, size, u * y * along),
    )


def simonobrot_perturbed(X, Y, x, y, a, b):
    u, v = (X + X + x) * x, (Y + Y + y) * y  # changes of X² and Y²
    more, size = u + v, fma(X, X, Y * Y) + (u + v)
    turned = fma(x, Y + y, X * y)
    return (
        fma(fma(X, X, -(Y * Y)), more, fma(u - v, size, a)),
        fma((X + X) * Y, more, fma(turned + turned, size, b)),
    )


def simonobrot():
    """The Simonobrot: z -> z² |z|² + c."""
    return Formula(
        name="simonobrot",
        title="Simonobrot, z² |z|² + c",
        step=simonobrot_step,
        derivative=simonobrot_derivative,
        perturbed=simonobrot_perturbed,
        degree=4,
        center=("-0.1", "0"),
        width="3.6",
        holomorphic=False,
        group="Powers",
    )
