"""Atom domains: the step at which the orbit came nearest to 0, each number in a color of its own.

Around each minibrot lies a domain where that step is its period; inside the set it is the period of
most components, too. After Robert Munafo's encyclopedia, *Atom domain* (1996).
"""

from fractals.kernels.coloring import Coloring, OrbitStatistic
from fractals.kernels.primitives import fma, number, select

GOLDEN = 0.3819660112501051  # turns from one number's color to the next one's: none come near
FAR = 1e30
LEAST = 1e-30  # squares below it count as 0: those too small to be normal are 0 in packs


def make_statistic(target, formula, base):
    def start(x, y):
        return number(FAR, x), number(0, x), number(0, x)

    def update(w, x, y, u, v, a, b, point):
        n = w[2] + number(1, x)
        m = fma(x, x, y * y)
        m = select(m > number(LEAST, x), m, number(0, x))
        nearer = m < w[0]
        return select(nearer, m, w[0]), select(nearer, n, w[1]), n

    return start, update


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
        constants=lambda formula, escape_radius, width: (),
        transfer="linear",
        side="both",
        statistic=OrbitStatistic("nearest", ("square", "step", "n"), make_statistic),
    )
