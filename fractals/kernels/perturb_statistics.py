"""Perturbation for colorings that watch orbits: every step is taken, none is skipped.

The difference z from the reference orbit Z is iterated as in `fractals.kernels.perturb`, with an
exponent where float64 has none left, and rebased alike. What is watched is the orbit itself, Z + z,
rounded to float64.
"""

from fractals.kernels.floatexp import (
    make_arithmetic,
    make_moved,
    make_plain,
    make_reference,
    make_slopes,
    make_within,
)
from fractals.kernels.perturb import BUDGET, FRESH
from fractals.kernels.sample_position import make_place
from fractals.kernels.statistics import NO_STATISTICS, make_planes, make_statistics


def make_body(
    target,
    formula,
    julia,
    derivative,
    extended,
    watching=NO_STATISTICS,
    listed="",
    near_radius=False,
):
    """Return the body that fills what that of `fractals.kernels.perturb.make_body` does.

    With it ``watched`` (planes, height, width), as in direct iteration. Its other arrays are those
    named there, and ``point``: the center, or the c of a Julia set, in float64, the square of the
    escape radius, and the watchers' constants.
    """
    jit, int64, int32 = target.jit, target.int64, target.int32
    normal, _, plus, size, less, _ = make_arithmetic(target, extended)
    reference = make_reference(target, formula, extended)
    moved = make_moved(target, formula, extended)
    plain = make_plain(target, extended)
    along, slope = make_slopes(target, formula, extended)
    _, within = make_within(target, formula, extended, near_radius)
    first, watch = make_statistics(target, formula, watching)
    load, store = make_planes(target, 0, watching.planes)
    place, scaled, inside = make_place(target, listed), listed == "scaled", watching.inside
    zero, pair = target.real(0), derivative and not formula.holomorphic

    @jit
    def advance(z, W, n, m, end, d, t, w, c, h, ab, orbit, tiny, bounds, point, budget):
        """Take steps while the budget lasts."""
        radius2, limit, home, last = bounds
        Z = reference(orbit, tiny, m)
        u, v = plain(W)
        escaped = False
        while n < limit and budget > 0:
            budget -= 1
            if derivative:
                d = plus(along(W, d), h)
            if pair:
                t = plus(along(W, t), (h[1], h[0], h[2]))
            z = plus(moved(Z, z), c)
            n += 1
            m += 1
            Z = reference(orbit, tiny, m)
            W = plus(Z, z)
            x, y = plain(W)
            w = watch(w, x, y, u, v, ab[0], ab[1], point)
            u, v = x, y
            if not within(orbit, m, Z, z, W, radius2):
                escaped = True
                break
            if m == end or less(size(W), size(z)):
                z, m, end = W, home, last
                Z = reference(orbit, tiny, m)
        return z, W, n, m, d, t, w, escaped

    def body(
        x0,
        y0,
        dx,
        dy,
        count,
        x,
        y,
        p,
        q,
        watched,
        state,
        under_way,
        columns,
        rows,
        orbit,
        tiny,
        point,
        view,
        limit,
    ):
        exponent, home, last = int64(view[1]), int64(view[4]), int64(view[5])
        none = normal(zero, zero, int64(0))
        width = normal(view[2], zero, exponent)
        h = none if julia else width
        most = int64(limit)
        bounds = view[0], most, home, last
        j = y0
        while j < count.shape[0]:
            i = x0
            while i < count.shape[1]:
                u, v = place(columns, rows, count.shape[1], j, i)
                if scaled:
                    exponent = int64(columns[2, j * count.shape[1] + i])
                    width = normal(view[2], zero, exponent)
                    h = none if julia else width
                offset = normal(u, v, exponent)
                c = none if julia else offset
                a, b = plain(c)
                ab = point[0] + a, point[1] + b
                fresh = view[FRESH] > 0
                z = offset if julia else none
                n, m = int64(0), int64(0)
                d = width if julia else none
                t = (d[1], d[0], d[2])
                if not fresh:
                    z = state[0, j, i], state[1, j, i], int64(state[2, j, i])
                    n, m = int64(state[3, j, i]), int64(state[4, j, i])
                    d = state[7, j, i], state[8, j, i], int64(state[9, j, i])
                    t = state[10, j, i], state[11, j, i], int64(state[12, j, i])
                if n >= 0:
                    end = int64(view[3]) if m < home or home == 0 else last
                    W = plus(reference(orbit, tiny, m), z)
                    begun = plain(W)
                    w = first(begun[0], begun[1])
                    if not fresh:
                        w = load(watched, 0, j, i)
                    z, W, n, m, d, t, w, escaped = advance(
                        *(z, W, n, m, end, d, t, w, c, h, ab),
                        *(orbit, tiny, bounds, point, int64(view[BUDGET])),
                    )
                    done = escaped or n >= most
                    escaped = escaped and n < most
                    count[j, i] = int32(n if escaped else most)
                    x[j, i], y[j, i] = plain(W) if escaped else (zero, zero)
                    if derivative:
                        g, f = slope(W, d, t) if escaped else (zero, zero)
                        p[j, i], q[j, i] = g, f
                    store(watched, j, i, w, escaped or inside or not done)
                    if not done:
                        under_way[0, 0] = 1
                    state[0, j, i], state[1, j, i], state[2, j, i] = z
                    state[3, j, i], state[4, j, i] = -1 if done else n, m
                    if derivative:
                        state[7, j, i], state[8, j, i], state[9, j, i] = d
                    if pair:
                        state[10, j, i], state[11, j, i], state[12, j, i] = t
                i += dx
            j += dy

    return body
