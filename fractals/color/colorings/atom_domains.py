"""Atom domains: the step at which the orbit comes nearest to 0, each number with its own color.

Each minibrot is surrounded by a domain where this number is the minibrot's period; inside the set
it is the period of most components. After Robert Munafo's encyclopedia, *Atom domain* (1996).
"""

from fractals.kernels.coloring import Coloring, OrbitStatistic
from fractals.kernels.coloring_math import make_polar
from fractals.kernels.elementary import make_log2
from fractals.kernels.primitives import fma, number, select

# Turns of the palette between consecutive numbers: a fraction of the golden ratio, which keeps the
# colors of small numbers apart from each other.
GOLDEN = 0.3819660112501051
FAR = 1e30  # |z|² before the first step; finite in float32
MIN_SQUARE = 1e-30  # |z|² below it counts as 0, because packs flush subnormal squares to 0


def make_statistic(target, formula, base):
    def start(x, y):
        return number(FAR, x), number(0, x), number(0, x)

    def update(w, x, y, u, v, a, b, point):
        n = w[2] + number(1, x)
        m = fma(x, x, y * y)
        m = select(m > number(MIN_SQUARE, x), m, number(0, x))
        nearer = m < w[0]
        return select(nearer, m, w[0]), select(nearer, n, w[1]), n

    return start, update


def make_deep_statistic(target, formula, base):
    """Return the same, but that a |z|² below MIN_SQUARE is not 0: it is replaced by its log2."""
    start, update = make_statistic(target, formula, base)
    plain, polar, log2, real = (
        target.jit(update),
        make_polar(target),
        make_log2(target),
        target.real,
    )

    def update_deep(w, x, y, u, v, a, b, point, exact):
        n = w[2] + number(1, x)
        if fma(x, x, y * y) > number(MIN_SQUARE, x):
            return plain(w, x, y, u, v, a, b, point)
        length, _, _ = polar(exact[0][0], exact[0][1])
        least = real(2) * (log2(length) + real(exact[0][2]))
        nearer = least < w[0]
        return select(nearer, least, w[0]), select(nearer, n, w[1]), n

    return start, update_deep


def make_value(target):
    golden = target.real(GOLDEN)

    def value(n, x, y, p, q, w, constants):
        return w[1] * golden

    return value


def make():
    return Coloring(
        name="atom_domains",
        title="the step at which the orbit came nearest to 0",
        make_value=make_value,
        ends="any",
        transfer="linear",
        side="both",
        statistic=OrbitStatistic(
            "nearest", ("square", "step", "n"), make_statistic, make_deep=make_deep_statistic
        ),
    )
