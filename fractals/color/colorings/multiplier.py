"""Multiplier: how much one round of the attracting cycle stretches its surroundings.

The value is |derivative of the round|, from 0 at the nucleus of a component to 1 at its boundary.
The cycle is found after Brent (1980): each step is compared with the last step whose number is a
power of two, here z_0. If m steps return to z_0 within the tolerance, and their derivative A
contracts, then z_0 is about e = |z_m - z_0| / |1 - A| from a point of period m (Newton's method).
The period is m for certain, to second order of e, if

- no z_k between was within 4 e of z_0, nor within 4 times `resolution`: if the period were a
  divisor k of m, z_k would be within 2 e;
- |A| + 2 e |f''| < 1, with f'' of m steps: f then maps a disk about z_0 into itself and contracts
  it (Kantorovich). The change of A to the next round is |z_m - z_0| |f''|.

Where no step passes both tests, the boundary is too near for the iteration limit, and the sample
has no value. Near a boundary the first test rejects multiples of the period, because their
derivatives come near 1. The second test rejects divisors of the period, and orbits that escape
slowly.
"""

import math

from fractals.kernels.coloring import Coloring, Option, OrbitStatistic
from fractals.kernels.orbit import make_tangent
from fractals.kernels.primitives import fma, number, select, sqrt

FAR = 1e30  # a squared distance beyond those of all cycles
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


def make_statistic(target, formula, base):
    tangent, contraction = make_tangent(target, formula), make_contraction(target, formula)
    holomorphic, least = formula.holomorphic, target.jit(resolution)

    def start(x, y):
        zero, one = number(0, x), number(1, x)
        columns, cycle = (one, zero, zero, one), (zero, zero, zero, zero, zero, zero)
        return (x, y, zero, one, *columns, number(FAR, x), *cycle)

    def update(w, x, y, u, v, a, b, point):
        zero, one, two = number(0, x), number(1, x), number(2, x)
        from_x, from_y, n, next_n, p, q, r, s, nearest, candidate, g, h, room, period, stretch = w
        n = n + one
        m = fma(next_n, number(-0.5, x), n)
        p, q = tangent(u, v, p, q, a, b, zero, zero)
        if not holomorphic:
            r, s = tangent(u, v, r, s, a, b, zero, zero)
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
            select(again, number(FAR, x), nearest),
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
    make_statistic,
    lambda tolerance: (tolerance**2,),
)
TOLERANCE = Option(
    1e-6, 1e-12, 0.1, "a cycle is closed if two points are at most this far apart", "statistic"
)


def make_value(target):
    real = target.real
    zero, nan = real(0), real(math.nan)

    def value(n, x, y, p, q, w, constants):
        found = w[PERIOD] > zero
        return select(found, sqrt(select(found, w[STRETCH], zero)), nan)

    return value


def make():
    return Coloring(
        name="multiplier",
        title="inside: how the attracting cycle stretches, 0 at a nucleus, 1 at a boundary",
        make_value=make_value,
        ends="any",
        memoryless=True,
        transfer="linear",
        side="inside",
        options={"tolerance": TOLERANCE},
        statistic=CYCLE,
    )
