"""How a packet skips along the stages: `leap` of `fractals.kernels.perturb`.

A packet's number is a tuple ``(x, y, e)``: two packs, and one exponent that all lanes under way
share, always 0 where the view needs none. Scaling by powers of two changes no bits, so a lane's
numbers are those it would have with an exponent of its own. Lanes that wait keep their own.
"""

import math

from fractals.backends.cpu.packet_lists import FRESH, make_clamped, make_lists, numbers_of
from fractals.backends.cpu.simd.exponents import exponents, larger_part, powers_of_two
from fractals.backends.cpu.simd.memory import select_each, spread
from fractals.backends.cpu.simd.pack import any_lane, least
from fractals.kernels.floatexp import ALIKE, NEVER
from fractals.kernels.perturb import LENGTH, NEXT, RADIUS, RADIUS_C, ZREF, A, B
from fractals.kernels.primitives import fma, number, select, split, two_to

SPREAD = 100  # a lane smaller than the largest by more than 2**-SPREAD goes on apart from it
COMPLEX = B + 2  # columns of an entry: Z, A and B
HIGHEST = 2.0**62  # above all exponents


def make_leap(target, formula, julia, derivative, extended):
    """Return ``leap(...) -> (lane, flying, at, again, fresh)``: skips along the stages.

    The lanes under `flying` go on step by step, from the index `at`; the ends of two lists say how
    many were rebased, and begin again along the stages, or where the reference begins.
    """
    jit, int64 = target.jit, target.int64

    if not formula.holomorphic:  # it has no stages

        def leap(lane, own, alive, tables, bounds, h, lists, which, again, fresh):
            return lane, alive, number(0, lane[0]), again, fresh

        return jit(leap)

    ze, de = numbers_of(formula, derivative), numbers_of(formula, derivative) + 1  # rows
    earlier = ze - 2
    step, derive, degree = jit(formula.perturbed), jit(formula.derivative), formula.degree
    _, put_lane, _, _ = make_lists(target, formula, derivative, extended)
    clamped = make_clamped(target)

    @jit
    def power(k, like):
        return number(two_to(k, 1.0), like)

    @jit
    def times(p, q):
        x, y = fma(p[0], q[0], -(p[1] * q[1])), fma(p[0], q[1], p[1] * q[0])
        return x, y, p[2] + q[2]

    @jit
    def along(W, d):
        """Return f'(W) d."""
        x, y = derive(W[0], W[1], d[0], d[1])
        return x, y, W[2] * (degree - 1) + d[2]

    if extended:

        @jit
        def exponent(entries, j, column):
            return int64(entries[j, column])

        @jit
        def plus(p, q):
            e = max(p[2], q[2])
            s, t = power(p[2] - e, p[0]), power(q[2] - e, p[0])
            return fma(p[0], s, q[0] * t), fma(p[1], s, q[1] * t), e

        @jit
        def moved(Z, z):
            """Return f(Z + z) - f(Z): see `perturb.make_moved`."""
            zero = number(0, z[0])
            if z[2] - Z[2] < ALIKE:
                return along(Z, z)
            e = max(Z[2], z[2])
            s, t = power(Z[2] - e, zero), power(z[2] - e, zero)
            x, y = step(Z[0] * s, Z[1] * s, z[0] * t, z[1] * t, zero, zero)
            if z[2] - Z[2] <= ALIKE + SPREAD:
                u, v, _ = along(Z, z)
                alike = larger_part(z[0], z[1]) < power(Z[2] + ALIKE - z[2], zero)
                x, y = select(alike, u * t, x), select(alike, v * t, y)
            return x, y, degree * e

        @jit
        def below(p, r, e):
            """Tell which lanes are smaller than r * 2**e."""
            return larger_part(p[0], p[1]) < r * two_to(min(max(e - p[2], -1000), 1000), 1.0)

        @jit
        def normal(p, mask):
            """Bring the largest of some lanes into [1, 2)."""
            most = -least(select(mask, -larger_part(p[0], p[1]), number(0, p[0])))
            if most == 0:
                return p[0], p[1], int64(NEVER)
            _, k = split(most)
            scale = power(-k, p[0])
            return p[0] * scale, p[1] * scale, int64(p[2] + k)

        @jit
        def raised(x, y, e, mask):
            """Give lanes with exponents of their own that of the largest."""
            own = e + exponents(larger_part(x, y))
            most = -least(select(mask, -own, number(HIGHEST, x)))
            scale = select(mask, powers_of_two(clamped(e - most)), number(1, x))
            return x * scale, y * scale, most, own

        @jit
        def gathered(lane, here):
            """Return lanes with exponents in common, those that are not too small beside others."""
            x, y, most, own = raised(lane[0], lane[1], lane[ze], here)
            zero = number(0, x)
            here = here & ((own >= most - SPREAD) | (larger_part(lane[0], lane[1]) == zero))
            lane = (select(here, x, lane[0]), select(here, y, lane[1])) + lane[2:]
            if not derivative:
                return lane, here, int64(most), int64(0)
            p, q, largest_d, _ = raised(lane[5], lane[6], lane[de], here)
            return lane[:5] + (p, q) + lane[7:], here, int64(most), int64(largest_d)

        @jit
        def parted(lane, mask, e, f):
            """Give lanes the exponents that they had in common."""
            zero = number(0, lane[0])
            own = select(mask, zero + e, lane[ze]), select(mask, zero + f, lane[de])
            return lane[:ze] + own

        @jit
        def with_exponents(numbers, e, f):
            zero = number(0, numbers[0])
            return numbers + (zero + e, zero + f)

    else:

        @jit
        def exponent(entries, j, column):
            return int64(0)

        @jit
        def plus(p, q):
            return p[0] + q[0], p[1] + q[1], p[2]

        @jit
        def moved(Z, z):
            zero = number(0, z[0])
            x, y = step(Z[0], Z[1], z[0], z[1], zero, zero)
            return x, y, z[2]

        @jit
        def below(p, r, e):
            return larger_part(p[0], p[1]) < r

        @jit
        def normal(p, mask):
            return p

        @jit
        def gathered(lane, here):
            return lane, here, int64(0), int64(0)

        @jit
        def parted(lane, mask, e, f):
            return lane

        @jit
        def with_exponents(numbers, e, f):
            return numbers

    if derivative:

        @jit
        def carried(lane, Z, z, f, a, b, h, mask):
            """Return dz after a skip."""
            d = plus(times(along(plus(Z, z), (lane[5], lane[6], f)), a), times(b, h))
            d = normal(d, mask)
            return (d[0], d[1]), d[2]

    else:

        @jit
        def carried(lane, Z, z, f, a, b, h, mask):
            return (), f

    @jit
    def leap(lane, own, alive, tables, bounds, h, lists, which, again, fresh):
        _, stages, entries, _, _ = tables
        _, limit, _, _, _, stage_count, _, exponent_c = bounds
        zero = number(0, lane[0])
        stage = int64(stage_count - 1)
        j, e, f = int64(stages[stage, 0]), int64(0), int64(0)  # of all lanes that are under way
        floor, at = zero + stage, zero + j  # of those that wait
        c = lane[2], lane[3], exponent_c
        here, waiting = alive & ~alive, alive
        while any_lane(here) or any_lane(waiting):
            if not any_lane(here):  # those that wait go on, from the highest stage where any do
                stage = int64(-least(select(waiting, -floor, zero)))
                here = waiting & (floor == zero + stage)
                j = int64(least(select(here, at, zero + math.inf)))
                lane, here, e, f = gathered(lane, here & (at == zero + j))
                waiting = waiting & ~here
            row = spread(entries, j, zero, COMPLEX)
            Z = row[ZREF], row[ZREF + 1], exponent(entries, j, ZREF + 2)
            z = lane[0], lane[1], e
            w = moved(Z, z)
            fits = here & below(w, entries[j, RADIUS], exponent(entries, j, RADIUS + 1))
            fits = fits & below(c, entries[j, RADIUS_C], exponent(entries, j, RADIUS_C + 1))
            fits = fits & (lane[4] + entries[j, LENGTH] <= limit)
            fails = here & ~fits
            if any_lane(fails):
                if stage > 0 and not any_lane(fits):
                    stage, j = stage - 1, int64(entries[j, NEXT])
                    continue
                at = select(fails, zero + entries[j, NEXT], at)
                floor = select(fails, zero + (stage - 1), floor)
                lane = parted(lane, fails, e, f)
                waiting = waiting | (fails & (floor >= zero))
            if any_lane(fits):
                a = row[A], row[A + 1], exponent(entries, j, A + 2)
                b = row[B], row[B + 1], exponent(entries, j, B + 2)
                tangent, f = carried(lane, Z, z, f, a, b, h, fits)
                x, y, e = normal(plus(times(w, a), times(b, c)), fits)
                n = lane[4] + entries[j, LENGTH]
                new = (x, y, lane[2], lane[3], n) + tangent + lane[earlier:]
                lane = select_each(fits, new, lane) if any_lane(alive & ~fits) else new
                j += 1
                row = spread(entries, j, zero, 2)
                z_size = larger_part(lane[0], lane[1])
                u, v, k = plus(
                    (row[0], row[1], exponent(entries, j, ZREF + 2)), (lane[0], lane[1], e)
                )
                over, back = fits & (lane[4] >= limit), fits
                if j != stages[stage, 1]:
                    back = fits & below((u, v, k), z_size, e)
                if any_lane(over | back):
                    back = back & ~over
                    whole = with_exponents((u, v) + lane[2:ze], k, f)
                    if julia:  # the stages are those of the first orbit
                        fresh = put_lane(lists, FRESH, fresh, back, whole, own, False)
                    else:
                        again = put_lane(lists, which, again, back, whole, own, False)
                    fits, alive = fits & ~(over | back), alive & ~(over | back)
                if extended:
                    small = fits & (z_size < 2.0**-SPREAD) & (z_size > zero)
                    if any_lane(small):
                        at, floor = select(small, zero + j, at), select(small, zero + stage, floor)
                        lane = parted(lane, small, e, f)
                        waiting, fits = waiting | small, fits & ~small
            here = fits
        return lane, alive, at, again, fresh

    return jit(leap)
