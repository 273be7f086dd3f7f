"""Linear approximations by which perturbation skips steps: the tree of BLA, and the stages of LA.

The stages, which skip whole periods of a reference orbit, have a comment of their own below. The
tree of bivariate linear approximations (BLA) skips steps in float64. An entry of level k skips 2**k
steps from m = 1 + i 2**k (after Zhuoran, 2021, and Heiland-Allen, 2022). For a holomorphic formula
it takes z to (A + D z + E c) z + (B + F c) c. D, E and F, the terms of second order, are an
addition of this project: with them z may be as long as the square root of the tolerance times |Z|;
without them, only as long as the tolerance times |Z|. Near parabolic points B grows and A does not,
so E and F decide how many steps an entry may skip. They are 0 in views smaller than
2**MIN_CURVED_EXPONENT, in Julia sets, where c is 0, and in exponential maps, where c has any size.
For another formula A and B are real 2x2 matrices, and D, E and F are left out.
`fractals.kernels.bla_tree` fills the tree.
"""

import math
from typing import Any, NamedTuple

from fractals.kernels.floatexp import Ops
from fractals.kernels.layout import (
    BLA_A,
    BLA_B,
    BLA_D,
    BLA_E,
    BLA_F,
    LA_A,
    LA_B,
    LA_LENGTH,
    LA_NEXT,
    LA_RADIUS,
    LA_RADIUS_C,
    LA_Z,
    MATRIX_A,
    MATRIX_B,
    ORBIT_Z,
    STAGE_BEGIN,
    STAGE_END,
)
from fractals.kernels.orbit import gradient_derivative
from fractals.kernels.primitives import fma, number, select

# The lowest level of a tree skips 2**LOWEST_LEVEL steps. Lower levels would take more memory than
# the orbit, and on a card a skip would take as long as its steps; with a higher level short skips
# would be lost.
LOWEST_LEVEL = 4
# Error of one skip relative to z. A larger tolerance skips more steps and shifts results further
# from those of single steps; 2**-32 is far below the step between two colors.
TOLERANCE = 2.0**-32
# A dz that is beyond float64, where details are far finer than samples; its square is not.
STEEP = 2.0**500


def level_sizes(points: int) -> list[int]:
    """Return the number of entries of each level of the tree, for a reference of `points` points.

    Each level has one entry that is never valid behind its others.
    """
    sizes = []
    level = LOWEST_LEVEL
    while (points - 2) >> level > 0:
        sizes.append(((points - 2) >> level) + 1)
        level += 1
    return sizes


def make_longest_skip(target, valid, any_of=None):
    """Return ``longest_skip(mask, m, levels, level_count, facts)``: the longest valid entry.

    Its result is ``(mask, entry, length)``: the samples that may take the entry, its row in the
    tree, below 0 if none is valid, and how many steps it skips, 1 if none is valid.

    ``valid(mask, entry, length, facts) -> mask`` tells for which samples under a mask an entry of
    this length is valid; `facts` are passed on to it. ``any_of(mask) -> bool`` tells whether any
    sample is under a mask; without it the mask is a bool.
    """
    int64, index = target.int64, target.index
    if any_of is None:
        any_of = target.jit(lambda mask: mask)

    @target.jit
    def longest_skip(mask, m, levels, level_count, facts):
        best, length, longer = int64(-1), int64(1), int64(1 << LOWEST_LEVEL)
        if m > 0 and (m - 1) & ((1 << LOWEST_LEVEL) - 1) == 0:
            i = (m - 1) >> LOWEST_LEVEL
            for k in range(level_count):
                entry = levels[index(k)] + i
                fits = valid(mask, index(entry), longer, facts)
                if not any_of(fits):
                    break
                mask, best, length = fits, entry, longer
                if i & 1:  # on the next level no entry begins at m
                    break
                i >>= 1
                longer <<= 1
        return mask, best, length

    return longest_skip


def make_row(target, formula):
    """Return ``row(tree, entry)``: an entry's numbers, without its radii."""
    if formula.holomorphic:

        def row(tree, entry):
            return (
                tree[entry, BLA_A],
                tree[entry, BLA_A + 1],
                tree[entry, BLA_D],
                tree[entry, BLA_D + 1],
                tree[entry, BLA_B],
                tree[entry, BLA_B + 1],
                tree[entry, BLA_E],
                tree[entry, BLA_E + 1],
                tree[entry, BLA_F],
                tree[entry, BLA_F + 1],
            )

    else:

        def row(tree, entry):
            return (
                tree[entry, MATRIX_A],
                tree[entry, MATRIX_A + 1],
                tree[entry, MATRIX_A + 2],
                tree[entry, MATRIX_A + 3],
                tree[entry, MATRIX_B],
                tree[entry, MATRIX_B + 1],
                tree[entry, MATRIX_B + 2],
                tree[entry, MATRIX_B + 3],
            )

    return target.jit(row)


def make_skip(target, formula):
    """Return ``skip(e, x, y, a, b)``: z after a skip.

    z = x + iy, c = a + ib, and `e` holds the numbers of an entry of the tree; all may be packs of
    samples.
    """
    if formula.holomorphic:

        def skip(e, x, y, a, b):
            ax, ay, dx, dy, bx, by, ex, ey, fx, fy = e
            ax, ay = ax + fma(dx, x, -(dy * y)), ay + fma(dx, y, dy * x)
            ax, ay = fma(ex, a, fma(-ey, b, ax)), fma(ex, b, fma(ey, a, ay))
            bx, by = fma(fx, a, fma(-fy, b, bx)), fma(fx, b, fma(fy, a, by))
            x, y = fma(ax, x, -(ay * y)), fma(ax, y, ay * x)
            return fma(bx, a, fma(-by, b, x)), fma(bx, b, fma(by, a, y))

    else:

        def skip(e, x, y, a, b):
            a0, a1, a2, a3, b0, b1, b2, b3 = e
            x, y = fma(a0, x, a1 * y), fma(a2, x, a3 * y)
            return fma(b0, a, fma(b1, b, x)), fma(b2, a, fma(b3, b, y))

    return target.jit(skip)


def make_tangents(target, formula, derivative):
    """Return ``(by_step, by_skip, slope)``: how dz changes, and dz in the end.

    ``by_step(u, v, tangents, g)`` and ``by_skip(e, x, y, a, b, tangents, g)`` return the tangents
    after a step from Z + z = u + iv, or a skip from z = x + iy by the entry `e`, with c = a + ib; a
    step adds g to dz.
    ``slope(u, v, tangents)`` returns the complex derivative, or what gives |z| the same gradient.

    The tangents are (p, q) with dz = p + iq, or both columns (p, q, s, r) of the Jacobian matrix
    of a formula that is not holomorphic. Without `derivative` they are left as they are.
    """
    derive, gradient_of = target.jit(formula.derivative), target.jit(gradient_derivative)

    @target.jit
    def held(p, q):
        """Return (p, q), or STEEP where float64 can't hold it: sums of infinities are NaN."""
        fits = abs(p) + abs(q) < number(math.inf, p)
        return select(fits, p, number(STEEP, p)), select(fits, q, number(0, q))

    if not derivative:

        def by_step(u, v, tangents, g):
            return tangents

        def by_skip(e, x, y, a, b, tangents, g):
            return tangents

        def slope(u, v, tangents):
            return number(0, u), number(0, u)

    elif formula.holomorphic:

        def by_step(u, v, tangents, g):
            p, q = derive(u, v, tangents[0], tangents[1])
            return p + g, q

        def by_skip(e, x, y, a, b, tangents, g):
            ax, ay, dx, dy, bx, by, ex, ey, fx, fy = e
            p, q = tangents
            sx, sy = fma(dx, x, -(dy * y)), fma(dx, y, dy * x)
            ax, ay = ax + sx + sx, ay + sy + sy
            ax, ay = fma(ex, a, fma(-ey, b, ax)), fma(ex, b, fma(ey, a, ay))
            sx, sy = fma(fx, a, -(fy * b)), fma(fx, b, fy * a)
            bx, by = bx + sx + sx, by + sy + sy
            bx, by = fma(ex, x, fma(-ey, y, bx)), fma(ex, y, fma(ey, x, by))
            p, q = fma(ax, p, -(ay * q)), fma(ax, q, ay * p)
            return fma(bx, g, p), fma(by, g, q)

        def slope(u, v, tangents):
            return held(*tangents)

    else:

        def by_step(u, v, tangents, g):
            p, q = derive(u, v, tangents[0], tangents[1])
            s, r = derive(u, v, tangents[2], tangents[3])
            return p + g, q, s, r + g

        def by_skip(e, x, y, a, b, tangents, g):
            a0, a1, a2, a3, b0, b1, b2, b3 = e
            p, q, s, r = tangents
            return (
                fma(a0, p, fma(a1, q, b0 * g)),
                fma(a2, p, fma(a3, q, b2 * g)),
                fma(a0, s, fma(a1, r, b1 * g)),
                fma(a2, s, fma(a3, r, b3 * g)),
            )

        def slope(u, v, tangents):
            return held(*gradient_of(u, v, *tangents))

    return target.jit(by_step), target.jit(by_skip), target.jit(slope)


def make_larger(target):
    """Return ``larger(x, y)``: the larger of two absolute values."""

    @target.jit
    def larger(x, y):
        return abs(select(abs(x) < abs(y), y, x))

    return larger


# --- Linear approximation (LA): stages of entries that skip whole periods of a reference orbit
#
# The orbit is cut where it dips towards 0, that is, at its periods (Zhuoran, 2022; the LA of
# Imagina). An entry takes a sample from Z_s over a whole period, by one exact step and a linear
# rest: z -> A w + B c, where w = f(Z_s + z) - f(Z_s), valid where |w| < r and |c| < r_c. The
# entries of the next stage join those of the stage below in the same way, and so on.

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
            # The parts of the lowest stage are points of the orbit; the parts of a higher stage
            # are entries of the stage below.
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
