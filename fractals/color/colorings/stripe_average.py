"""Stripe average: the mean of 1/2 + sin(density * arg z) / 2 along the orbit.

After Jussi Härkönen, *On Smooth Fractal Coloring Techniques* (2007). The density is a whole number,
so the sine is the imaginary part of that power of z / |z|, which is cheaper than a sine.
"""

from fractals.kernels.coloring import Coloring, Option, OrbitStatistic
from fractals.kernels.coloring_math import make_mean_value, make_polar, mean_constants
from fractals.kernels.primitives import fma, number


def make_statistic(target, formula, base, density):
    bits = [bit == "1" for bit in bin(density)[3:]]  # below the highest, from the top

    def square(p, q):
        return fma(p, p, -(q * q)), fma(p, q, p * q)

    def times(p, q, u, v):
        return fma(p, u, -(q * v)), fma(p, v, q * u)

    square, times = target.jit(square), target.jit(times)

    def first(u, v):
        return u, v

    power, polar = target.jit(first), make_polar(target)
    for bit in bits:
        power = _next_power(target, power, square, times, bit)

    def start(x, y):
        return number(0, x), number(0, x)

    def update(w, x, y, u, v, a, b, point):
        _, p, q = polar(x, y)
        _, sine = power(p, q)
        stripe = fma(number(0.5, x), sine, number(0.5, x))
        return w[0] + stripe, stripe

    return start, update


def make_deep_statistic(target, formula, base, density):
    """Return the same of mantissas, whose directions are those of z however small z is."""
    start, update = make_statistic(target, formula, base, density)
    plain = target.jit(update)

    def update_deep(w, x, y, u, v, a, b, point, exact):
        return plain(w, exact[0][0], exact[0][1], u, v, a, b, point)

    return start, update_deep


def _next_power(target, power, square, times, bit):
    """Return the power's square, times the base where the bit is 1."""
    if bit:

        def raised(p, q):
            u, v = power(p, q)
            u, v = square(u, v)
            return times(u, v, p, q)

    else:

        def raised(p, q):
            u, v = power(p, q)
            return square(u, v)

    return target.jit(raised)


def make():
    return Coloring(
        name="stripe_average",
        title="mean of stripes around 0 along the orbit",
        make_value=make_mean_value,
        constants=mean_constants,
        transfer="linear",
        options={"density": Option(5, 1, 32, "stripes in a turn around 0", "code")},
        statistic=OrbitStatistic(
            "stripes", ("sum", "last"), make_statistic, make_deep=make_deep_statistic
        ),
    )
