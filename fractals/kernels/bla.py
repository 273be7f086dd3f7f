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

from fractals.kernels.floatexp import make_kinks
from fractals.kernels.perturb import LEVEL
from fractals.kernels.primitives import number, select

TOLERANCE = 2.0**-32  # of a skip: relative to z
APART = 0.125  # of |Z|: a z that long is near to a rebasing
HUGE = 1e290  # a product with c is not computed with what is larger
WITHIN = 1 - 2.0**-20  # of the escape radius: no skip leads a sample nearer to it
PARTS = 16  # of the room up to the escape radius, one for z and one for c at each level of the tree
BEYOND = 4.0  # nothing is skipped where |Z| is larger: the orbit is about to escape


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

    ``ends`` are the last indices of the orbits in ``orbit``; ``view[0]`` is the square of the
    escape radius; ``view[1]`` is the exponent of c:
    where float64 has no number for c, its part is left out.
    """
    derive, fold = target.jit(formula.derivative), target.jit(formula.fold or formula.derivative)
    int64, holomorphic, folds = target.int64, formula.holomorphic, formula.fold is not None
    degree, kinks = formula.degree, make_kinks(target, formula, False)
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
    def room(X, Y, radius2):
        """Return how long z may be without escaping: inside a skip nothing tests for that."""
        return max(number(0, X), (math.sqrt(radius2) * WITHIN - math.sqrt(X * X + Y * Y)) / PARTS)

    @target.jit
    def single(orbit, m, radius2):
        X, Y = orbit[m, 0], orbit[m, 1]
        zero, one = number(0, X), number(1, X)
        a, b = derive(X, Y, one, zero)
        size = norm(X, Y)
        known = zero < size and size < BEYOND
        m = X * X + Y * Y
        ex, ey = times(a, b, X, -Y)
        ex, ey = (curve * ex / m, curve * ey / m) if known else (zero, zero)
        r = min(first * size, room(X, Y, radius2)) if known else zero
        return a, b, one, zero, ex, ey, r, number(math.inf, X)

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
    def single_matrix(orbit, m, radius2):
        X, Y = orbit[m, 0], orbit[m, 1]
        zero, one = number(0, X), number(1, X)
        a0, a2 = derive(X, Y, one, zero)
        a1, a3 = derive(X, Y, zero, one)
        size = max(norm(a0, a1), norm(a2, a3))
        least = abs(a0 * a3 - a1 * a2) / (2 * size) if size > 0 else zero
        r = TOLERANCE * least / (degree - 1)
        if folds:
            r = min(r, fold(X, Y, *kinks(orbit, m)) / 2)
        r = min(r, room(X, Y, radius2))
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
            entry = make_single(orbit, m, view[0])
            for k in range(1, step):
                entry = join(entry, make_single(orbit, m + k, view[0]))
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
