"""The tree of bivariate linear approximations (BLA), by which perturbation skips steps in float64.

An entry of level k skips 2**k steps from m = 1 + i 2**k (after Zhuoran, 2021, and Heiland-Allen,
2022). For a holomorphic formula it takes z to (A + D z + E c) z + (B + F c) c. D, E and F, the
terms of second order, are an addition of this project: with them z may be as long as the square
root of the tolerance times |Z|; without them, only as long as the tolerance times |Z|. Near
parabolic points B grows and A does not, so E and F decide how many steps an entry may skip. They
are 0 in views smaller than 2**MIN_CURVED_EXPONENT, in Julia sets, where c is 0, and in exponential
maps, where c has any size. For another formula A and B are real 2x2 matrices, and D, E and F are
left out. `fractals.kernels.bla_tree` fills the tree.
"""

import math

from fractals.kernels.layout import BLA_A, BLA_B, BLA_D, BLA_E, BLA_F, MATRIX_A, MATRIX_B
from fractals.kernels.orbit import gradient_derivative
from fractals.kernels.primitives import fma, number, select

# The lowest level of a tree skips 2**LOWEST_LEVEL steps. Lower levels would take as much memory as
# the orbit and save a step or two; with a higher level short skips would be lost.
LOWEST_LEVEL = 2
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
    int64 = target.int64
    if any_of is None:
        any_of = target.jit(lambda mask: mask)

    @target.jit
    def longest_skip(mask, m, levels, level_count, facts):
        best, length, longer = int64(-1), int64(1), int64(1 << LOWEST_LEVEL)
        if m > 0 and (m - 1) & ((1 << LOWEST_LEVEL) - 1) == 0:
            i = (m - 1) >> LOWEST_LEVEL
            for k in range(level_count):
                entry = levels[k] + i
                fits = valid(mask, entry, longer, facts)
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
        return select(abs(x) < abs(y), abs(y), abs(x))

    return larger
