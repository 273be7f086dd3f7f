"""Tables by which perturbation skips most steps of a reference orbit.

**Stages** (Zhuoran, 2022; the LA of Imagina): the orbit is cut where it dips towards 0, that is, at
its periods. An entry takes a sample from Z_s over a whole period, by one exact step and a linear
rest: z -> A (f(Z_s + z) - f(Z_s)) + B c, right while |f(Z_s + z) - f(Z_s)| < r and |c| < r_c. The
next stage does the same with entries for steps, and so on.

**Tree** (bivariate approximation, after Zhuoran, 2021, and Heiland-Allen, 2022): an entry of level
k skips 2**k steps from m = 1 + i 2**k, by z -> (A + D z) z + B c. The square is ours: with it z may
be as long as the root of the tolerance, and not only the tolerance itself, times Z. A formula that
is not holomorphic has real 2x2 matrices A and B, and no D.

Both are programs for a target; they run on the CPU, in one thread.
"""

import math

from fractals.formula import number, select
from fractals.programs.extended import make_arithmetic, make_reference
from fractals.programs.perturb import ENTRY, LEVEL

TOLERANCE = 2.0**-32  # of a skip: relative to z
DIP = 10  # a radius smaller by 2**-DIP ends an entry
MOST_STAGES = 64
APART = 0.125  # of |Z|: a z that long is near to a rebasing
BEYOND = 4.0  # nothing is skipped where |Z| is larger: the orbit is about to escape
HUGE = 1e290  # a product with c is not computed with what is larger


def level_sizes(points: int) -> list[int]:
    """Return how many entries each level of the tree has, over an orbit of so many points.

    One entry more than there are is kept in each level; it is never valid.
    """
    sizes = []
    level = LEVEL
    while (points - 2) >> level > 0:
        sizes.append(((points - 2) >> level) + 1)
        level += 1
    return sizes


def make_tree_body(target, formula):
    """Return ``body(..., tree, orbit, levels, ends, view)``, which fills the tree.

    ``ends`` are the last indices of the orbits in ``orbit``; ``view[1]`` is the exponent of c:
    where float64 has no number for c, its part is left out.
    """
    derive, fold = target.jit(formula.derivative), target.jit(formula.fold or formula.derivative)
    int64, holomorphic, folds = target.int64, formula.holomorphic, formula.fold is not None
    degree = formula.degree
    curve = (degree - 1) / 2
    # The cubic term of z**d; a single step of a square is exact.
    cubic = math.sqrt(6 * TOLERANCE / ((degree - 1) * (degree - 2))) if degree > 2 else APART
    first = min(APART, cubic)

    @target.jit
    def norm(x, y):
        return select(abs(x) < abs(y), abs(y), abs(x))

    @target.jit
    def times(ax, ay, bx, by):
        return ax * bx - ay * by, ax * by + ay * bx

    @target.jit
    def single(X, Y):
        zero, one = number(0, X), number(1, X)
        a, b = derive(X, Y, one, zero)
        size = norm(X, Y)
        known = zero < size and size < BEYOND
        m = X * X + Y * Y
        ex, ey = times(a, b, X, -Y)
        ex, ey = (curve * ex / m, curve * ey / m) if known else (zero, zero)
        return a, b, one, zero, ex, ey, first * size if known else zero, number(math.inf, X)

    @target.jit
    def joined(p, q):
        """Return the entry that takes p and then q."""
        ax, ay = times(p[0], p[1], q[0], q[1])
        bx, by = times(p[2], p[3], q[0], q[1])
        ex, ey = times(p[4], p[5], q[0], q[1])
        sx, sy = times(p[0], p[1], p[0], p[1])
        sx, sy = times(sx, sy, q[4], q[5])
        a, b, e = norm(p[0], p[1]), norm(p[2], p[3]), norm(p[4], p[5])
        a2, e2 = norm(q[0], q[1]), norm(q[4], q[5])
        r = min(p[6], q[6] / (a + e * p[6]))
        left_out = e * e2
        if left_out > 0:
            r = min(r, math.sqrt(TOLERANCE * a2 / (2 * left_out)))
        r_c = min(p[7], q[7])
        if b > 0:
            r_c = min(r_c, q[6] / b)
            if e2 > 0:
                r_c = min(r_c, TOLERANCE * a2 / (2 * e2 * b))
        r = r if a > 0 and r == r else number(0, r)
        return ax, ay, bx + q[2], by + q[3], ex + sx, ey + sy, r, r_c

    @target.jit
    def single_matrix(X, Y):
        zero, one = number(0, X), number(1, X)
        a0, a2 = derive(X, Y, one, zero)
        a1, a3 = derive(X, Y, zero, one)
        size = max(norm(a0, a1), norm(a2, a3))
        least = abs(a0 * a3 - a1 * a2) / (2 * size) if size > 0 else zero
        r = TOLERANCE * least / (degree - 1)
        if folds:
            r = min(r, fold(X, Y) / 2)
        known = norm(X, Y) < BEYOND
        return a0, a1, a2, a3, one, zero, zero, one, r if known else zero, number(math.inf, X)

    @target.jit
    def matrices(x, y, i, j):
        return (
            x[i] * y[j] + x[i + 1] * y[j + 2],
            x[i] * y[j + 1] + x[i + 1] * y[j + 3],
            x[i + 2] * y[j] + x[i + 3] * y[j + 2],
            x[i + 2] * y[j + 1] + x[i + 3] * y[j + 3],
        )

    @target.jit
    def joined_matrices(p, q):
        a, b = matrices(q, p, 0, 0), matrices(q, p, 0, 4)
        a_size = max(abs(p[0]) + abs(p[1]), abs(p[2]) + abs(p[3]))
        b_size = max(abs(p[4]) + abs(p[5]), abs(p[6]) + abs(p[7]))
        r = min(p[8], q[8] / a_size) if a_size > 0 else number(0, p[8])
        r_c = min(p[9], q[9])
        if b_size > 0:
            r_c = min(r_c, q[8] / b_size)
        b0, b1, b2, b3 = b[0] + q[4], b[1] + q[5], b[2] + q[6], b[3] + q[7]
        return a[0], a[1], a[2], a[3], b0, b1, b2, b3, r, r_c

    if holomorphic:
        make_single, join, width = single, joined, 8
    else:
        make_single, join, width = single_matrix, joined_matrices, 10

    @target.jit
    def put(tree, i, entry, c_counts):
        for k in range(width):
            tree[i, k] = entry[k]
        of_c = 2 if holomorphic else 4  # where the part of c begins, and how many numbers it has
        for k in range(of_c, 2 * of_c):
            if not c_counts:
                tree[i, k] = 0
            elif not abs(tree[i, k]) < HUGE:  # in an exponential map c may be of any size
                tree[i, width - 1] = 0
        if not c_counts:
            tree[i, width - 1] = math.inf

    @target.jit
    def get(tree, i):
        if holomorphic:
            return (
                tree[i, 0],
                tree[i, 1],
                tree[i, 2],
                tree[i, 3],
                tree[i, 4],
                tree[i, 5],
                tree[i, 6],
                tree[i, 7],
            )
        return (
            tree[i, 0],
            tree[i, 1],
            tree[i, 2],
            tree[i, 3],
            tree[i, 4],
            tree[i, 5],
            tree[i, 6],
            tree[i, 7],
            tree[i, 8],
            tree[i, 9],
        )

    def body(x0, y0, dx, dy, tree, orbit, levels, ends, view):
        c_counts = view[1] > -1000
        points = orbit.shape[0]
        tree[:, width - 2 :] = 0
        step = int64(1 << LEVEL)
        lowest = (points - 2) >> LEVEL if levels.shape[0] > 0 else 0
        for i in range(lowest):
            m = 1 + i * step
            entry = make_single(orbit[m, 0], orbit[m, 1])
            for k in range(1, step):
                entry = join(entry, make_single(orbit[m + k, 0], orbit[m + k, 1]))
            put(tree, levels[0] + i, entry, c_counts)
            for k in range(ends.shape[0]):  # no skip leads from one orbit into the next
                if m <= ends[k] < m + step:
                    tree[levels[0] + i, width - 2] = 0
        for level in range(1, levels.shape[0]):
            below, here = levels[level - 1], levels[level]
            for i in range((points - 2) >> (LEVEL + level)):
                entry = join(get(tree, below + 2 * i), get(tree, below + 2 * i + 1))
                put(tree, here + i, entry, c_counts)

    return body


def make_stages_body(target, formula, extended):
    """Return ``body(..., entries, stages, found, orbit, tiny, last)``, which cuts the stages.

    ``found`` (2,) gets how many stages and entries there are; ``last`` is the index where the orbit
    ends. Only for holomorphic formulas.
    """
    int64 = target.int64
    normal, times, plus, size, less, ratio = make_arithmetic(target, extended)
    reference = make_reference(target, extended)
    derive, degree = target.jit(formula.derivative), formula.degree
    tolerance = TOLERANCE * (2 / (degree - 1) if degree > 2 else 1)

    @target.jit
    def smaller(p, q):
        return p if less(p, q) else q

    @target.jit
    def narrowed(r, room, by):
        """Return the smaller of r and room / by, of reals (x, e)."""
        return smaller(r, ratio(room, by)) if by[0] > 0 else r

    @target.jit
    def room(Z):
        x, e = size(Z)
        x, _, e = normal(x * tolerance, x - x, e)
        return x, e

    @target.jit
    def sloped(Z, d):
        x, y = derive(Z[0], Z[1], d[0], d[1])
        return normal(x, y, int64(Z[2] * (degree - 1) + d[2]) if extended else d[2])

    @target.jit
    def dips(new, old):
        """Tell whether a radius fell by 2**-DIP or more."""
        if not extended:
            return new[0] < old[0] * 2.0**-DIP
        return less(new, (old[0], old[1] - DIP))

    @target.jit
    def at(entries, k, column):
        return entries[k, column], entries[k, column + 1], int64(entries[k, column + 2])

    @target.jit
    def write(entries, k, Z, a, b, r, r_c, length, begin):
        entries[k, 0], entries[k, 1], entries[k, 2] = Z
        entries[k, 3], entries[k, 4], entries[k, 5] = a
        entries[k, 6], entries[k, 7], entries[k, 8] = b
        entries[k, 9], entries[k, 10] = r
        entries[k, 11], entries[k, 12] = r_c
        entries[k, 13], entries[k, 14] = length, begin

    def body(x0, y0, dx, dy, entries, stages, found, orbit, tiny, last):
        zero = orbit[0, 0] - orbit[0, 0]
        one = normal(number(1, zero), zero, int64(0))
        unit = size(one)
        begin, end, stage, previous = int64(0), int64(0), int64(0), int64(0)
        capacity = entries.shape[0] - 2
        cutting = True
        while cutting and stage < stages.shape[0]:
            # The parts of stage 0 are the points of the orbit, those of another the entries below.
            begin, count = end, int64(last)
            if stage > 0:
                count = stages[stage - 1, 1] - stages[stage - 1, 0]
            period, k = int64(0), int64(0)
            while k < count and end < capacity:
                start, length = k, int64(1)
                if stage == 0:
                    Z = reference(orbit, tiny, start)
                    a, b, r, r_c = one, one, unit, unit
                else:
                    i = previous + start
                    Z, a, b = at(entries, i, 0), at(entries, i, 3), at(entries, i, 6)
                    r = entries[i, 9], int64(entries[i, 10])
                    r_c = entries[i, 11], int64(entries[i, 12])
                    length = int64(entries[i, 13])
                k += 1
                while k < count:
                    i = previous + k
                    W = reference(orbit, tiny, k) if stage == 0 else at(entries, i, 0)
                    free = room(W)
                    near = narrowed(r, free, size(a))
                    long = period > 0 and k - start >= period
                    if k > start + 1 and (long or dips(near, r)):
                        break
                    near_c = narrowed(r_c, free, size(b))
                    a, b = sloped(W, a), sloped(W, b)
                    if stage == 0:
                        b = plus(b, one)
                        length += 1
                    else:
                        r2 = entries[i, 9], int64(entries[i, 10])
                        near, near_c = narrowed(near, r2, size(a)), narrowed(near_c, r2, size(b))
                        near_c = smaller(near_c, (entries[i, 11], int64(entries[i, 12])))
                        a2, b2 = at(entries, i, 3), at(entries, i, 6)
                        a, b = times(a, a2), plus(times(b, a2), b2)
                        length += int64(entries[i, 13])
                    r, r_c = near, near_c
                    k += 1
                if period == 0:
                    period = k - start
                write(
                    entries, end, Z, a, b, r, r_c, length, start if stage == 0 else previous + start
                )
                end += 1
            if k < count or end - begin < 2 or (stage > 0 and end - begin >= count):
                end, cutting = begin, False  # no room, or nothing was cut, or nothing joined
            else:
                Z = reference(orbit, tiny, last)
                write(entries, end, Z, one, one, (zero, int64(0)), (zero, int64(0)), 0, last)
                stages[stage, 0], stages[stage, 1] = begin, end
                end += 1
                previous = begin
                stage += 1
        found[0], found[1] = stage, end

    return body


__all__ = ["ENTRY", "MOST_STAGES", "level_sizes", "make_stages_body", "make_tree_body"]
