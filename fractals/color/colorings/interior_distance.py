"""Distance estimate from inside the set to its boundary, in thousandths of the picture's width.

The estimate is (1 - |A|²) / |D + B C / (1 - A)|. For one round of the attracting cycle, A is the
derivative by z, C the derivative by c, B = dA/dz and D = dA/dc. The multiplier A maps a component
onto the unit disc, so the boundary is between a quarter of the estimate and the estimate away
(Koebe). After Milnor, and Peitgen and Saupe, *The Science of Fractal Images* (1988). Cycles are
found as in `multiplier`.
"""

import math

from fractals.color.colorings.multiplier import TOLERANCE
from fractals.kernels.coloring import Coloring, OrbitStatistic
from fractals.kernels.primitives import fma, number, select, sqrt

MAX_SQUARE = 16.0  # |z|² of points of a cycle: those of z**d + c have |z| <= 2
MAX_GROWTH = 1e24  # |A|² beyond which rounding in float64 hides the return to the cycle
TINY = 1e-18  # derivatives below it count as 0, because packs flush their powers to 0
MIN_SQUARE = 1e-30  # least square of a distance: 0 says that no cycle was found


def make_statistic(target, formula, base):
    derive, power = target.jit(formula.derivative), formula.degree

    def product(p, q, s, t):
        return fma(p, s, -(q * t)), fma(p, t, q * s)

    def whole(p):
        return select(abs(p) < number(TINY, p), number(0, p), p)

    product, whole = target.jit(product), target.jit(whole)

    def after(u, v, p, q, s, t, e, f):
        """Return the next second derivative: ``f''(z) (p + iq) (s + it) + f'(z) (e + if)``."""
        p, q = product(p, q, s, t)
        for _ in range(power - 2):
            p, q = fma(p, u, -(q * v)), fma(p, v, q * u)
        e, f = derive(u, v, e, f)
        scale = number(power * (power - 1), u)
        return whole(fma(scale, p, e)), whole(fma(scale, q, f))

    after = target.jit(after)

    def square_of(A, a, B, b, C, c, D, d):
        one, least = number(1, A), number(MIN_SQUARE, A)
        rest = one - fma(A, A, a * a)
        s, t = product(D, d, one - A, -a)
        p, q = product(B, b, C, c)
        s, t = s + p, t + q
        below = fma(s, s, t * t)
        away = fma(one - A, one - A, a * a)
        m = rest * rest * away / select(below > least, below, least)
        return select(m > least, m, least)

    square_of = target.jit(square_of)

    def start(x, y):
        zero, one = number(0, x), number(1, x)
        return x, y, zero, one, one, one, zero, zero, zero, zero, zero, zero, zero, zero

    def update(w, x, y, u, v, a, b, point):
        zero, one = number(0, x), number(1, x)
        from_x, from_y, n, next_n, sought, p, q, e, f, g, h, k, m, square = w
        n = n + one
        near = fma(u, u, v * v) <= number(MAX_SQUARE, x)
        live = (sought > zero) & near & (fma(p, p, q * q) <= number(MAX_GROWTH, x))
        new_e, new_f = after(u, v, p, q, p, q, e, f)
        new_k, new_m = after(u, v, p, q, g, h, k, m)
        new_g, new_h = derive(u, v, g, h)
        new_p, new_q = derive(u, v, p, q)
        e, f = select(live, new_e, e), select(live, new_f, f)
        k, m = select(live, new_k, k), select(live, new_m, m)
        g, h = select(live, new_g + one, g), select(live, new_h, h)
        p, q = select(live, whole(new_p), p), select(live, whole(new_q), q)
        s, t = x - from_x, y - from_y
        back = fma(s, s, t * t) <= number(point[base], x)
        closed = live & back & (fma(p, p, q * q) < one)
        square = select(closed, square_of(p, q, e, f, g, h, k, m), square)
        sought = select(closed, zero, select(live, sought, zero))
        again = n == next_n
        return (
            select(again, x, from_x),
            select(again, y, from_y),
            n,
            select(again, n + n, next_n),
            select(again, one, sought),
            select(again, one, p),
            select(again, zero, q),
            select(again, zero, e),
            select(again, zero, f),
            select(again, zero, g),
            select(again, zero, h),
            select(again, zero, k),
            select(again, zero, m),
            square,
        )

    return start, update


def make_value(target):
    real = target.real
    zero, nan = real(0), real(math.nan)

    def value(n, x, y, p, q, w, constants):
        found = w[13] > zero
        return select(found, constants[2] * sqrt(select(found, w[13], zero)), nan)

    return value


def make():
    return Coloring(
        name="interior_distance",
        title="inside: distance to the boundary, in thousandths of the picture's width",
        make_value=make_value,
        powers=True,
        constants=lambda formula, escape_radius, width, tolerance: (1000 / width,),
        side="inside",
        options={"tolerance": TOLERANCE},
        statistic=OrbitStatistic(
            "cycle and distance",
            (
                *("x", "y", "n", "next", "sought", "z.x", "z.y", "zz.x", "zz.y"),
                *("c.x", "c.y", "cz.x", "cz.y", "square"),
            ),
            make_statistic,
            lambda tolerance: (tolerance**2,),
        ),
    )
