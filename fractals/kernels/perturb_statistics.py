"""Perturbation for colorings that use orbit statistics: every step is taken, none is skipped.

The difference z from the reference orbit Z is iterated as in `fractals.kernels.perturb`, with an
exponent where float64 has none left, and rebased in the same way. Statistics are of the orbit
itself, Z + z, rounded to float64; some also read what float64 loses of it.
"""

from fractals.kernels import on_cpu
from fractals.kernels.floatexp import Ops
from fractals.kernels.layout import Sample
from fractals.kernels.orbit import make_planes, make_statistics
from fractals.kernels.perturb import make_begin, make_orbit_end, make_record, make_state


def make_steps(ops, options):
    """Return ``steps(sample, W, w, c, h, parameter, tables, point, view, max_iterations)``.

    It takes steps from the whole of a sample, W = Z + z, and the statistics w, for as long as the
    budget lasts. It returns the sample, W, w and whether the sample has escaped. `parameter` is the
    sample's c in float64.
    """
    target, derivative, pair = ops.target, options.derivative, options.pair
    jit, int64, orbit_end = target.jit, target.int64, make_orbit_end(target)
    _, _, plus, size, less, _ = ops.arithmetic
    reference, moved, along, sided = ops.reference, ops.moved, ops.along, ops.sided
    plain, (_, within) = ops.plain, ops.within(options.near_radius)
    _, update = make_statistics(target, options.formula, options.statistics, deep=True)
    moves, move_at = options.statistics.moves, ops.move(options.near_radius)

    @jit
    def steps(sample, W, w, c, h, parameter, tables, point, view, max_iterations):
        orbit, tiny, budget = tables.orbit, tables.tiny, int64(view.step_budget)
        z, n, m, _, _, dz, dz2 = sample
        end, escaped = orbit_end(m, view), False
        Z = reference(orbit, tiny, m)
        u, v = plain(W)
        move = W
        while n < max_iterations and budget > 0:
            budget -= 1
            if derivative:
                dz = plus(along(sided(W, z), dz), h)
            if pair:
                dz2 = plus(along(sided(W, z), dz2), (h[1], h[0], h[2]))
            before, last = W, z
            z = plus(moved(Z, z), c)
            n += 1
            m += 1
            Z = reference(orbit, tiny, m)
            W = plus(Z, z)
            x, y = plain(W)
            if moves:  # the reference's move, plus the change of the difference z
                move = plus(move_at(orbit, m), plus(z, (-last[0], -last[1], last[2])))
            exact = W, before, move
            w = update(w, x, y, u, v, parameter[0], parameter[1], point, exact)
            u, v = x, y
            if not within(orbit, m, Z, z, W, view.escape_radius_squared):
                escaped = True
                break
            if m == end or less(size(W), size(z)):
                z, m, end = W, view.rebase_start, view.rebase_end
                Z = reference(orbit, tiny, m)
        return Sample(z, n, m, sample.stage, sample.entry, dz, dz2), W, w, escaped

    return steps


@on_cpu("fractals.backends.cpu.fast:every_step", "fractals.backends.cpu.fast:statistics_rows")
def make_statistics_body(target, options):
    """Return the body that fills count, z, dz and the statistics.

    ``body(i0, j0, di, dj, tile, work, grid, tables, point, view, max_iterations)``: as the body
    that `make_body` returns, with the statistics of the tile. ``point`` is an array: the center, or
    the c of a Julia set, in float64, an unused number, and the constants of the statistics.
    """
    int64, index = target.int64, target.index
    ops = Ops(target, options.formula, options.floatexp)
    reference, plus, plain = ops.reference, ops.arithmetic.plus, ops.plain
    load, _ = make_state(target, options)
    begin, record = make_begin(ops, options), make_record(ops, options)
    steps, inside = make_steps(ops, options), options.statistics.inside
    start_statistics, _ = make_statistics(target, options.formula, options.statistics, True)
    load_statistics, store_statistics = make_planes(target, 0, options.statistics.planes)

    def body(i0, j0, di, dj, tile, work, grid, tables, point, view, max_iterations):
        height, width = index(tile.count.shape[0]), index(tile.count.shape[1])
        most = int64(max_iterations)
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                z, dz, dz2, c, h = begin(grid, view, width, j, i)
                a, b = plain(c)
                parameter = point[0] + a, point[1] + b
                sample = Sample(z, int64(0), int64(0), int64(-1), int64(0), dz, dz2)
                if not view.first_launch:
                    sample = load(work.state, j, i)
                if sample.n >= 0:
                    W = plus(reference(tables.orbit, tables.tiny, sample.m), sample.z)
                    u, v = plain(W)
                    w = start_statistics(u, v)
                    if not view.first_launch:
                        w = load_statistics(tile.statistics, 0, j, i)
                    sample, W, w, escaped = steps(
                        sample, W, w, c, h, parameter, tables, point, view, most
                    )
                    escaped, done = record(tile, work, j, i, sample, W, escaped, most)
                    keep = escaped or inside or not done
                    store_statistics(tile.statistics, j, i, w, keep)
                i = index(i + di)
            j = index(j + dj)

    return body
