"""Heart: the Mandelbrot set with 2|x|y for 2xy: z -> x² - y² + 2i|x|y + c."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import diffabs, fma, number, select


def step(x, y, a, b):
    return fma(x, x, fma(-y, y, a)), fma(abs(x + x), y, b)


def derivative(x, y, p, q):
    u, v = x + x, y + y
    return fma(u, p, -(v * q)), fma(abs(u), q, select(x < number(0, x), -v, v) * p)


def kinks(x, y):
    return (x,)


def perturbed(X, Y, x, y, a, b, K):
    u, v = X + X + x, Y + Y + y
    more = fma(diffabs(K, x), Y + y, abs(X) * y)  # of |x| y
    return fma(u, x, fma(-v, y, a)), fma(number(2, x), more, b)


def kink_distance(X, Y, K):  # the imaginary axis
    return abs(X)


def make():
    return Formula(
        name="heart",
        title="Heart, x² - y² + 2i|x|y + c",
        step=step,
        derivative=derivative,
        perturbed=perturbed,
        kinks=kinks,
        kink_degrees=(1,),
        kink_distance=kink_distance,
        degree=2,
        center=("-0.5", "0"),
        width="5",
        holomorphic=False,
        group="Absolute values",
    )
