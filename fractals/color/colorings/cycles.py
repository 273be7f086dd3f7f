"""Colorings by periods: of the cycle that attracts the orbit, and of the nearest minibrot."""

import math

from fractals.kernels.coloring import (
    Coloring,
    Option,
    OrbitStatistic,
    in_widths,
    make_polar,
)
from fractals.kernels.elementary import make_log2
from fractals.kernels.orbit import make_last, make_tangent
from fractals.kernels.primitives import fma, number, select, sqrt

# Turns of the palette between consecutive numbers: a fraction of the golden ratio, which keeps the
# colors of small numbers apart from each other.
GOLDEN = 0.3819660112501051
FAR = 1e30  # |z|² before the first step; finite in float32
MIN_SQUARE = 1e-30  # |z|² below it counts as 0, because packs flush subnormal squares to 0


def steps_of(values):
    """Return the whole numbers of steps that turns of the palette stand for."""
    return (values / GOLDEN + 0.5) // 1


def make_atom_domains_statistic(target, formula, base):
    def start(x, y):
        return number(FAR, x), number(0, x), number(0, x)

    def update(w, x, y, u, v, a, b, point):
        n = w[2] + number(1, x)
        m = fma(x, x, y * y)
        m = select(m > number(MIN_SQUARE, x), m, number(0, x))
        nearer = m < w[0]
        return select(nearer, m, w[0]), select(nearer, n, w[1]), n

    return start, update


def make_atom_domains_deep_statistic(target, formula, base):
    """Return the same, but that a |z|² below MIN_SQUARE is not 0: it is replaced by its log2."""
    start, update = make_atom_domains_statistic(target, formula, base)
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


def make_atom_domains_value(target):
    golden = target.real(GOLDEN)

    def value(n, x, y, p, q, w, constants):
        return w[1] * golden

    return value


def atom_domains():
    """Atom domains: the step at which the orbit comes nearest to 0, each number with its own color.

    Each minibrot is surrounded by a domain where this number is the minibrot's period; inside the
    set it is the period of most components. After Robert Munafo's encyclopedia, *Atom domain*
    (1996).
    """
    return Coloring(
        name="atom_domains",
        title="the step at which the orbit came nearest to 0",
        make_value=make_atom_domains_value,
        unit="steps",
        numbers=steps_of,
        ends="any",
        transfer="linear",
        side="both",
        statistic=OrbitStatistic(
            "nearest",
            ("square", "step", "n"),
            make_atom_domains_statistic,
            make_deep=make_atom_domains_deep_statistic,
        ),
    )


BEYOND = 1e30  # a squared distance beyond those of all cycles
DIVISOR_GROWTH = 4.0  # determinant of a shorter round, which is below 1 at a divisor of the period
FOUND = -1.0  # candidate in a round of Brent's method that is done


def resolution(x):  # compiled with `target.jit`
    """Return the square root of the rounding unit of x's type, about.

    Points of a cycle that are nearer may be one point with rounding errors, and a cycle whose
    (1 - |A|) |1 - A| / 2 is smaller may only seem to attract. A smaller value finds the period
    nearer to boundaries, and wrong ones, too: in float32 multiples of the period.
    """
    one = number(1, x)
    double = one + number(2.0**-30, x) > one
    return select(double, number(2.0**-40, x), number(2.0**-12, x))


def make_contraction(target, formula):
    """Return ``contraction(p, q, r, s)`` of a matrix with the columns (p, q) and (r, s).

    It returns the determinant, the largest |eigenvalue|, and 1 / ‖inverse of (1 - matrix)‖².
    Of a holomorphic formula the first column decides.
    """

    def complex_contraction(p, q, r, s):
        product, rest = fma(p, p, q * q), number(1, p) - p
        return product, sqrt(product), fma(rest, rest, q * q)

    def real_contraction(p, q, r, s):
        zero, one = number(0, p), number(1, p)
        determinant, half = fma(p, s, -(q * r)), number(0.5, p) * (p + s)
        spread = fma(half, half, -determinant)
        real = spread > zero
        root = sqrt(select(real, spread, -spread))
        length = sqrt(fma(half, half, root * root))
        largest = select(real, abs(half) + root, length)
        rest = one - half - half + determinant
        k, m = one - p, one - s
        norm = fma(k, k, q * q) + fma(r, r, m * m)
        known = norm > zero
        return determinant, largest, select(known, rest * rest / select(known, norm, one), zero)

    return target.jit(complex_contraction if formula.holomorphic else real_contraction)


def make_multiplier_statistic(target, formula, base):
    tangent, contraction = make_tangent(target, formula), make_contraction(target, formula)
    holomorphic, least = formula.holomorphic, target.jit(resolution)
    last = make_last(target, formula)

    def start(x, y):
        zero, one = number(0, x), number(1, x)
        columns, cycle = (one, zero, zero, one), (zero, zero, zero, zero, zero, zero)
        return (x, y, zero, one, *columns, number(BEYOND, x), *cycle)

    def update(w, x, y, u, v, a, b, point):
        zero, one, two = number(0, x), number(1, x), number(2, x)
        from_x, from_y, n, next_n, p, q, r, s, nearest, candidate, g, h, room, period, stretch = w
        n = n + one
        m, own = fma(next_n, number(-0.5, x), n), last(point, x)
        p, q = tangent(u, v, p, q, a, b, zero, zero, *own)
        if not holomorphic:
            r, s = tangent(u, v, r, s, a, b, zero, zero, *own)
        product = fma(p, p, q * q)
        # The candidate's second round: its derivative must be nearly that of the first one.
        due = m == candidate + candidate
        e, f = p - g, q - h
        certain = due & (candidate > zero) & (fma(e, e, f * f) <= room)
        period = select(certain, candidate, period)
        stretch = select(certain, sqrt(product), stretch)
        candidate = select(certain, number(FOUND, x), select(due, zero, candidate))
        # A new candidate
        e, f = x - from_x, y - from_y
        away = fma(e, e, f * f)
        determinant, largest, gap = contraction(p, q, r, s)
        margin = number(0.25, x) * gap * (one - largest) * (one - largest)
        low = least(x) * least(x)
        opened = (candidate >= zero) & (away <= number(point[base], x)) & (largest < one)
        opened = opened & (margin >= low) & (nearest > number(16, x) * low)
        opened = opened & (nearest * gap > number(16, x) * away)
        # An A that underflowed says nothing, unless the orbit has come to a nucleus' own cycle.
        opened = opened & ((abs(p) + abs(q) > zero) | (away == zero))
        candidate = select(opened, m, candidate)
        if holomorphic:
            square_p, square_q = fma(p, p, -(q * q)), two * p * q
        else:
            square_p, square_q = fma(p, p, r * q), fma(q, p, s * q)
        g, h = select(opened, square_p, g), select(opened, square_q, h)
        room = select(opened, margin * product, room)
        shorter = (abs(determinant) < number(DIVISOR_GROWTH, x)) & (away < nearest)
        nearest = select(shorter, away, nearest)
        again = n == next_n
        return (
            select(again, x, from_x),
            select(again, y, from_y),
            n,
            select(again, n + n, next_n),
            select(again, one, p),
            select(again, zero, q),
            select(again, zero, r),
            select(again, one, s),
            select(again, number(BEYOND, x), nearest),
            select(again, zero, candidate),
            g,
            h,
            room,
            period,
            stretch,
        )

    return start, update


PERIOD, STRETCH = 13, 14  # their places in the numbers of the statistic
CYCLE = OrbitStatistic(
    "cycle",
    (
        *("x", "y", "n", "next", "p", "q", "r", "s", "nearest"),
        *("candidate", "square.p", "square.q", "room", "period", "stretch"),
    ),
    make_multiplier_statistic,
    lambda tolerance: (tolerance**2,),
)
TOLERANCE = Option(
    1e-6, 1e-12, 0.1, "a cycle is closed if two points are at most this far apart", "statistic"
)


def make_multiplier_value(target):
    real = target.real
    zero, nan = real(0), real(math.nan)

    def value(n, x, y, p, q, w, constants):
        found = w[PERIOD] > zero
        return select(found, sqrt(select(found, w[STRETCH], zero)), nan)

    return value


def multiplier():
    """Multiplier: how much one round of the attracting cycle stretches its surroundings.

    The value is |derivative of the round|, from 0 at the nucleus of a component to 1 at its
    boundary. The cycle is found after Brent (1980): each step is compared with the last step whose
    number is a power of two, here z_0. If m steps return to z_0 within the tolerance, and their
    derivative A contracts, then z_0 is about e = |z_m - z_0| / |1 - A| from a point of period m
    (Newton's method). The period is m for certain, to second order of e, if

    - no z_k between was within 4 e of z_0, nor within 4 times `resolution`: if the period were a
      divisor k of m, z_k would be within 2 e;
    - |A| + 2 e |f''| < 1, with f'' of m steps: f then maps a disk about z_0 into itself and
      contracts it (Kantorovich). The change of A to the next round is |z_m - z_0| |f''|.

    Where no step passes both tests, the boundary is too near for the iteration limit, and the
    sample has no value. Near a boundary the first test rejects multiples of the period, because
    their derivatives come near 1. The second test rejects divisors of the period, and orbits that
    escape slowly.
    """
    return Coloring(
        name="multiplier",
        title="inside: how the attracting cycle stretches, 0 at a nucleus, 1 at a boundary",
        make_value=make_multiplier_value,
        ends="any",
        memoryless=True,
        transfer="linear",
        side="inside",
        options={"tolerance": TOLERANCE},
        statistic=CYCLE,
    )


def make_period_value(target):
    real = target.real
    zero, nan, golden = real(0), real(math.nan), real(GOLDEN)

    def value(n, x, y, p, q, w, constants):
        return select(w[PERIOD] > zero, w[PERIOD] * golden, nan)

    return value


def period():
    """Period of the cycle that attracts the orbit, each number with its own color.

    A sample whose period is not certain has no value, and gets the inside color: see `multiplier`.
    A higher iteration limit leaves fewer such samples.
    """
    return Coloring(
        name="period",
        title="inside: the period of the attracting cycle, where it is certain",
        make_value=make_period_value,
        unit="steps",
        numbers=steps_of,
        ends="any",
        memoryless=True,
        transfer="linear",
        side="inside",
        options={"tolerance": TOLERANCE},
        statistic=CYCLE,
    )


MAX_SQUARE = 16.0  # |z|² of points of a cycle: those of z**d + c have |z| <= 2
MAX_GROWTH = 1e24  # |A|² beyond which rounding in float64 hides the return to the cycle
TINY = 1e-18  # derivatives below it count as 0, because packs flush their powers to 0
LEAST_SQUARE = 1e-30  # least square of a distance: 0 says that no cycle was found


def make_interior_distance_statistic(target, formula, base):
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
        one, least = number(1, A), number(LEAST_SQUARE, A)
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


def make_interior_distance_value(target):
    real = target.real
    zero, nan = real(0), real(math.nan)

    def value(n, x, y, p, q, w, constants):
        found = w[13] > zero
        return select(found, constants[2] * sqrt(select(found, w[13], zero)), nan)

    return value


def interior_distance():
    """Distance estimate from inside the set to its boundary, in thousandths of the picture's width.

    The estimate is (1 - |A|²) / |D + B C / (1 - A)|. For one round of the attracting cycle, A is
    the derivative by z, C the derivative by c, B = dA/dz and D = dA/dc. The multiplier A maps a
    component onto the unit disc, so the boundary is between a quarter of the estimate and the
    estimate away (Koebe). After Milnor, and Peitgen and Saupe, *The Science of Fractal Images*
    (1988). Cycles are found as in `multiplier`.
    """
    return Coloring(
        name="interior_distance",
        title="inside: distance to the boundary, in thousandths of the picture's width",
        make_value=make_interior_distance_value,
        unit="widths",
        numbers=in_widths,
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
            make_interior_distance_statistic,
            lambda tolerance: (tolerance**2,),
        ),
    )
