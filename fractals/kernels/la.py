"""Linear approximation (LA): stages of entries that skip whole periods of a reference orbit.

The orbit is cut where it dips towards 0, that is, at its periods (Zhuoran, 2022; the LA of
Imagina). An entry takes a sample from Z_s over a whole period, by one exact step and a linear rest:
z -> A w + B c, where w = f(Z_s + z) - f(Z_s), valid where |w| < r and |c| < r_c. The
entries of the next stage join those of the stage below in the same way, and so on.
"""

import math
from typing import Any, NamedTuple

from fractals.kernels.bla import TOLERANCE
from fractals.kernels.floatexp import Ops
from fractals.kernels.layout import (
    LA_A,
    LA_B,
    LA_LENGTH,
    LA_NEXT,
    LA_RADIUS,
    LA_RADIUS_C,
    LA_Z,
    ORBIT_Z,
    STAGE_BEGIN,
    STAGE_END,
)
from fractals.kernels.primitives import number, select

# Power of two by which a radius falls where the orbit dips towards 0: the entry ends before that
# point. A smaller number cuts periods apart, a larger one joins periods to entries with tiny radii.
DIP_BITS = 10
# Room for stages. Each has at most half of the entries of the stage below, so 64 stages suffice for
# an orbit of 2**64 points.
MAX_STAGES = 64
# Parts that an entry joins where an orbit does not dip, as beside a parabolic point, or within the
# period of a minibrot near i; and how many parts are worth it. A sample takes fewer one by one.
EVEN_PARTS = 16
MIN_EVEN = 2**6


class LinearApproximation(NamedTuple):
    """An entry, with numbers (x, y, e) and reals (x, e): see the columns of `la_entries`."""

    z: Any
    a: Any
    b: Any
    radius: Any
    radius_c: Any
    length: Any


def make_radii(ops):
    """Return ``(smaller, narrowed, room, dips)``: functions of radii, reals (x, e).

    ``smaller(p, q)`` is the smaller one; ``narrowed(r, room, by)`` the smaller of r and room / by;
    ``room(Z)`` is how long a difference from Z may be; ``dips(new, old)`` tells whether a radius
    fell by 2**-DIP_BITS or more.
    """
    jit, degree, floatexp = ops.target.jit, ops.formula.degree, ops.floatexp
    normal, _, _, size, less, ratio = ops.arithmetic
    # The square term is left out. Relative to the linear one it is (degree - 1) / 2 z / Z.
    tolerance = TOLERANCE * (2 / (degree - 1) if degree > 2 else 1)
    dip = 2.0**-DIP_BITS  # here, because Numba compiles a power as a function

    @jit
    def chosen(condition, p, q):
        return select(condition, p[0], q[0]), select(condition, p[1], q[1])

    @jit
    def smaller(p, q):
        return chosen(less(p, q), p, q)

    @jit
    def narrowed(r, room, by):
        known = by[0] > 0
        free = ratio(room, (select(known, by[0], number(1, by[0])), by[1]))
        return chosen(known, smaller(r, free), r)

    @jit
    def room(Z):
        x, e = size(Z)
        x, _, e = normal(x * tolerance, x - x, e)
        return x, e

    @jit
    def dips(new, old):
        if not floatexp:
            return new[0] < old[0] * dip
        return less(new, (old[0], old[1] - DIP_BITS))

    return smaller, narrowed, room, dips


def make_entries(ops):
    """Return ``(load, store)``: ``load(entries, i)`` and ``store(entries, i, entry, next)``."""
    jit, int64 = ops.target.jit, ops.target.int64
    number_at, real_at = ops.readers

    @jit
    def load(entries, i):
        return LinearApproximation(
            number_at(entries, i, LA_Z),
            number_at(entries, i, LA_A),
            number_at(entries, i, LA_B),
            real_at(entries, i, LA_RADIUS),
            real_at(entries, i, LA_RADIUS_C),
            int64(entries[i, LA_LENGTH]),
        )

    @jit
    def store(entries, i, entry, following):
        entries[i, LA_Z], entries[i, LA_Z + 1], entries[i, LA_Z + 2] = entry.z
        entries[i, LA_A], entries[i, LA_A + 1], entries[i, LA_A + 2] = entry.a
        entries[i, LA_B], entries[i, LA_B + 1], entries[i, LA_B + 2] = entry.b
        entries[i, LA_RADIUS], entries[i, LA_RADIUS + 1] = entry.radius
        entries[i, LA_RADIUS_C], entries[i, LA_RADIUS_C + 1] = entry.radius_c
        entries[i, LA_LENGTH], entries[i, LA_NEXT] = entry.length, following

    return load, store


def make_stages_body(target, formula, floatexp):
    """Return the body that cuts the stages, for a holomorphic formula.

    ``body(x0, y0, dx, dy, la_entries, stages, found, orbit, tiny, first, last, within_squared)``:
    the arrays are those of `fractals.kernels.layout.PerturbTables`. ``found`` (2,) holds how many
    stages, and rows of entries, there are; those of this orbit are added. ``first`` and ``last``
    are the indices where the orbit begins and ends. With `floatexp`, numbers have an exponent of
    their own. The stages end at ``last``, or before the first Z with |Z|² > ``within_squared``,
    near which a sample may escape: a skip tests for escape only where it ends. A sample at the end
    of a stage then takes single steps, and is not rebased.
    """
    int64, ops = target.int64, Ops(target, formula, floatexp)
    normal, times, plus, size, _, _ = ops.arithmetic
    reference, along = ops.reference, ops.along
    smaller, narrowed, room, dips = make_radii(ops)
    load, store = make_entries(ops)

    def body(x0, y0, dx, dy, la_entries, stages, found, orbit, tiny, first, last, within_squared):
        goes_on = int64(0)
        for k in range(first, last + 1):
            x, y = orbit[k, ORBIT_Z], orbit[k, ORBIT_Z + 1]
            if x * x + y * y > within_squared:
                last, goes_on = k - 1, int64(1)
                break
        zero = orbit[0, 0] - orbit[0, 0]
        one = normal(number(1, zero), zero, int64(0))
        unit, none = size(one), size(normal(zero, zero, int64(0)))
        stage, end = int64(found[0]), int64(found[1])
        lowest, begin, previous, parts = stage, end, end, int64(0)
        capacity = la_entries.shape[0] - 2
        # An orbit that begins elsewhere comes to 0 after some steps first: its period is known when
        # two entries are as long. Without exponents the tree of BLA skips in any case.
        periodic = not floatexp or size(reference(orbit, tiny, first))[0] == 0
        cutting = True
        while cutting and stage < stages.shape[0]:
            # The parts of the lowest stage are the points of the orbit, those of another the
            # entries below.
            begin, count = end, int64(last - first)
            if stage > lowest:
                count = stages[stage - 1, STAGE_END] - stages[stage - 1, STAGE_BEGIN] - goes_on
            period, k, before = parts, int64(0), int64(0)
            while k < count and end < capacity:
                start = k
                if stage == lowest:
                    Z = reference(orbit, tiny, first + start)
                    part = LinearApproximation(Z, one, one, unit, unit, int64(1))
                else:
                    part = load(la_entries, previous + start)
                Z, a, b, r, r_c, length = part
                k += 1
                while k < count:
                    if stage == lowest:
                        W = reference(orbit, tiny, first + k)
                    else:
                        part = load(la_entries, previous + k)
                        W = part.z
                    free = room(W)
                    near = narrowed(r, free, size(a))
                    long = period > 0 and k - start >= period
                    if k > start + 1 and (long or dips(near, r)):
                        break
                    near_c = narrowed(r_c, free, size(b))
                    a, b = along(W, a), along(W, b)
                    if stage == lowest:
                        b = plus(b, one)
                        length += 1
                    else:
                        near = narrowed(near, part.radius, size(a))
                        near_c = narrowed(near_c, part.radius, size(b))
                        near_c = smaller(near_c, part.radius_c)
                        a, b = times(a, part.a), plus(times(b, part.a), part.b)
                        length += part.length
                    r, r_c = near, near_c
                    k += 1
                if period == 0 and (periodic or k - start == before):
                    period = k - start
                before = k - start
                following = first + start if stage == lowest else previous + start
                if not abs(a[0]) + abs(a[1]) + abs(b[0]) + abs(b[1]) < math.inf:
                    r = none  # beyond float64: a difference of 0 would become NaN
                store(la_entries, end, LinearApproximation(Z, a, b, r, r_c, length), following)
                end += 1
            joined = stage == lowest or end - begin < count
            if floatexp and parts == 0 and k == count > MIN_EVEN and end - begin < 2:
                end, parts = begin, int64(EVEN_PARTS)  # nothing was cut
            elif k < count or end - begin < 2 or not joined:
                end, cutting = begin, False  # no room, or nothing was cut
            else:
                # The last entry is never valid. What stands behind it is never reached, so that a
                # stage of an orbit that goes on ends by falling to the stage below.
                Z = reference(orbit, tiny, last)
                following = last if stage == lowest else previous + count
                never = LinearApproximation(Z, one, one, none, none, int64(0))
                store(la_entries, end, never, following)
                stages[stage, STAGE_BEGIN], stages[stage, STAGE_END] = begin, end + goes_on
                end += 1
                previous = begin
                stage += 1
        found[0], found[1] = stage, end

    return body
