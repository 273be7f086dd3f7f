"""Skips for formulas that are not holomorphic, where z needs an exponent: a tree of matrices.

It is the tree that `fractals.kernels.bla` makes for such formulas, z -> A z + B c with real
2x2 matrices, in numbers that have an exponent each: products over many steps, and the distances
from kinks in a deep view, are beyond float64. Holomorphic formulas have stages there.
"""

import math

from fractals.kernels.bla import BEYOND, PARTS, TOLERANCE, WITHIN
from fractals.kernels.floatexp import NEVER, make_kinks_beside, make_reference
from fractals.kernels.perturb import LEVEL
from fractals.kernels.primitives import number, select, split, two_to

FAR = 2**40  # the exponent of a radius without end


def make_folded_body(target, formula):
    """Return ``body(..., entries, orbit, tiny, levels, ends, radius2)``, which fills the entries.

    An entry is A, its exponent, B, its exponent, and the radii of z and of c, each with its own.
    """
    jit, int64 = target.jit, target.int64
    derive, fold = jit(formula.derivative), jit(formula.fold or formula.derivative)
    folds = formula.fold is not None
    reference = make_reference(target, formula, True)
    beside = make_kinks_beside(target, formula)

    @jit
    def normal(m, e):
        """Bring the largest element of a matrix into [1, 2)."""
        largest = max(max(abs(m[0]), abs(m[1])), max(abs(m[2]), abs(m[3])))
        if largest == 0:
            return m, int64(NEVER)
        _, k = split(largest)
        s = two_to(-k, largest)
        return (m[0] * s, m[1] * s, m[2] * s, m[3] * s), int64(e + k)

    @jit
    def times(p, e, q, f):
        m = (
            p[0] * q[0] + p[1] * q[2],
            p[0] * q[1] + p[1] * q[3],
            p[2] * q[0] + p[3] * q[2],
            p[2] * q[1] + p[3] * q[3],
        )
        return normal(m, e + f)

    @jit
    def plus(p, e, q, f):
        k = max(e, f)
        s, t = two_to(e - k, p[0]), two_to(f - k, p[0])
        m = p[0] * s + q[0] * t, p[1] * s + q[1] * t, p[2] * s + q[2] * t, p[3] * s + q[3] * t
        return normal(m, k)

    @jit
    def norm(m):
        """Return at most how many times as long a vector becomes, measured by its larger part."""
        return max(abs(m[0]) + abs(m[1]), abs(m[2]) + abs(m[3]))

    @jit
    def real(x, e):
        """Return the real x * 2**e, x in [1, 2)."""
        if not x > 0:
            return number(0, x), int64(NEVER)
        _, k = split(x)
        return x * two_to(-k, x), int64(e + k)

    @jit
    def smaller(x, e, y, f):
        less = f < e or (f == e and y < x)
        return select(less, y, x), select(less, f, e)

    @jit
    def single(orbit, tiny, m, radius2):
        Z = reference(orbit, tiny, m)
        X, Y, e = Z[0], Z[1], Z[2]
        zero, one = number(0, X), number(1, X)
        a0, a2 = derive(X, Y, one, zero)
        a1, a3 = derive(X, Y, zero, one)
        a, f = normal((a0, a1, a2, a3), e)  # f is of degree 2: its derivative grows as z does
        largest = max(max(abs(a0), abs(a1)), max(abs(a2), abs(a3)))
        least = abs(a0 * a3 - a1 * a2) / (2 * largest) if largest > 0 else zero
        near = TOLERANCE * least
        if folds:
            near = min(near, fold(X, Y, *beside(Z, e, 0)) / 2)
        plain = two_to(e, X)
        known = max(abs(X), abs(Y)) * plain < BEYOND
        r, k = real(near if known else zero, e)
        size = math.sqrt(X * X + Y * Y) * plain
        s, j = real((math.sqrt(radius2) * WITHIN - size) / PARTS, int64(0))
        r, k = smaller(r, k, s, j)
        return a, f, (one, zero, zero, one), int64(0), r, k, one, int64(FAR)

    @jit
    def joined(p, q):
        a, e = times(q[0], q[1], p[0], p[1])
        b, f = times(q[0], q[1], p[2], p[3])
        b, f = plus(b, f, q[2], q[3])
        r, k = real(q[4] / norm(p[0]), q[5] - p[1]) if norm(p[0]) > 0 else (p[4], p[5])
        r, k = smaller(r, k, p[4], p[5])
        s, j = real(q[4] / norm(p[2]), q[5] - p[3]) if norm(p[2]) > 0 else (p[6], p[7])
        s, j = smaller(s, j, p[6], p[7])
        s, j = smaller(s, j, q[6], q[7])
        return a, e, b, f, r, k, s, j

    @jit
    def put(entries, i, entry):
        for k in range(4):
            entries[i, k], entries[i, 5 + k] = entry[0][k], entry[2][k]
        entries[i, 4], entries[i, 9] = entry[1], entry[3]
        entries[i, 10], entries[i, 11] = entry[4], entry[5]
        entries[i, 12], entries[i, 13] = entry[6], entry[7]

    @jit
    def get(entries, i):
        a = entries[i, 0], entries[i, 1], entries[i, 2], entries[i, 3]
        b = entries[i, 5], entries[i, 6], entries[i, 7], entries[i, 8]
        radii = entries[i, 10], int64(entries[i, 11]), entries[i, 12], int64(entries[i, 13])
        return a, int64(entries[i, 4]), b, int64(entries[i, 9]), *radii

    def body(x0, y0, dx, dy, entries, orbit, tiny, levels, ends, radius2):
        points = orbit.shape[0]
        entries[:, :] = 0
        entries[:, 11] = NEVER  # a radius of 0
        step = int64(1 << LEVEL)
        lowest = (points - 2) >> LEVEL if levels.shape[0] > 0 else 0
        for i in range(lowest):
            m = 1 + i * step
            entry = single(orbit, tiny, m, radius2)
            for k in range(1, step):
                entry = joined(entry, single(orbit, tiny, m + k, radius2))
            put(entries, levels[0] + i, entry)
            for k in range(ends.shape[0]):  # no skip leads from one orbit into the next
                if m <= ends[k] < m + step:
                    entries[levels[0] + i, 10], entries[levels[0] + i, 11] = 0, NEVER
        for level in range(1, levels.shape[0]):
            below, here = levels[level - 1], levels[level]
            for i in range((points - 2) >> (LEVEL + level)):
                put(
                    entries,
                    here + i,
                    joined(get(entries, below + 2 * i), get(entries, below + 2 * i + 1)),
                )

    return body
