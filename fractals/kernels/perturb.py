"""Perturbation: the difference from a reference orbit is iterated, at any depth, in float64.

A sample's orbit is Z + z, where Z is the reference orbit, computed once in arbitrary precision, and
z stays small: z -> f(Z + z) - f(Z) + c, with c the distance of the sample from the center. Where
|Z + z| < |z|, or the reference ends, the sample is rebased: z becomes Z + z, and the reference
starts again (Zhuoran, 2021). So one reference serves all samples.

Most steps are skipped: first by the stages of linear approximations, aligned with the periods of
the reference (Zhuoran, 2022; `fractals.kernels.bla`), later by a tree of bivariate linear
approximations (`fractals.kernels.bla`).

Three loops alternate: `la_steps` skips along the stages, `floatexp_steps` takes steps while z is
too small for float64, `bla_steps` takes steps in float64. A sample's state alone decides which loop
comes next, so a launch may end between any two steps, and the next launch goes on from there.
"""

from dataclasses import dataclass

from fractals.kernels import on_cpu
from fractals.kernels.bla import (
    LOWEST_LEVEL,
    make_larger,
    make_longest_skip,
    make_row,
    make_skip,
    make_tangents,
)
from fractals.kernels.floatexp import Ops, make_arithmetic, make_kinks
from fractals.kernels.formula import Formula
from fractals.kernels.layout import (
    BLA_RADIUS,
    FLOATEXP_A,
    FLOATEXP_B,
    FLOATEXP_RADIUS,
    FLOATEXP_RADIUS_C,
    LA_A,
    LA_B,
    LA_LENGTH,
    LA_NEXT,
    LA_RADIUS,
    LA_RADIUS_C,
    LA_Z,
    MATRIX_RADIUS,
    ORBIT_Z,
    STAGE_BEGIN,
    STAGE_END,
    STATE_COUNT,
    STATE_DZ,
    STATE_DZ2,
    STATE_ENTRY,
    STATE_INDEX,
    STATE_STAGE,
    STATE_Z,
    Sample,
    make_place,
)
from fractals.kernels.orbit import NO_STATISTICS, Statistics
from fractals.kernels.primitives import fma, sqrt

# Exponent of two: a smaller z is iterated with an exponent. A product of two such numbers still has
# a float64, 2**-1000, so steps of degree 2 are exact to rounding; a higher value costs speed only.
MIN_EXPONENT = -500
# A z so small has left the range in which float64 holds the terms of a step. Between it and
# 2**MIN_EXPONENT a sample stays in the float64 loop, so that it does not change loops at each dip.
MIN_SIZE = 2.0**-900
# Exponent of two that float64 holds with all its bits; the smallest of them is -1022.
MIN_NORMAL_EXPONENT = -1000
# A skip may begin where (m - 1) & BETWEEN is 0
BETWEEN = (1 << LOWEST_LEVEL) - 1
# Share of the escape radius. A point whose parts are smaller lies within the radius, because its
# absolute value is smaller by a factor of the square root of 2 at most.
SURELY_WITHIN = 0.7
LONGEST_LAUNCH = 2**30  # skips and rounds of steps at a time, which are counted in 32 bits


@dataclass(frozen=True)
class PerturbOptions:
    """What a program of perturbation is compiled for."""

    formula: Formula
    julia: bool  # whether the picture is a Julia set: c is fixed, and dz is dz/dz0 times the width
    derivative: bool  # whether the program computes dz
    # Whether numbers have an exponent of their own: the view is too deep for float64's
    floatexp: bool
    # Whether each sample has a position of its own (`fractals.kernels.layout`)
    explicit_positions: bool = False
    # Whether each position has an exponent of its own, which the view's width then has, too
    per_sample_exponent: bool = False
    # Whether some point of the reference is near the escape radius: see
    # `fractals.kernels.floatexp.Ops.within`
    near_radius: bool = False
    statistics: Statistics = NO_STATISTICS  # orbit statistics, for `make_statistics_body` alone

    @property
    def pair(self) -> bool:
        """Tell whether the program computes both columns of the Jacobian matrix."""
        return self.derivative and not self.formula.holomorphic


def thresholds(degree):
    """Return the exponent and the size below which z leaves float64.

    Near 0 a step raises z to the power `degree`, which float64 must hold. The loop of numbers with
    exponents goes on while z is below two to the exponent. The float64 loop ends where z is smaller
    than the size.
    """
    if degree == 2:
        return MIN_EXPONENT, MIN_SIZE
    return MIN_NORMAL_EXPONENT // degree, 2.0 ** (MIN_NORMAL_EXPONENT // degree)


def make_orbit_end(target):
    """Return ``orbit_end(m, view)``: index of the orbit's last point."""

    @target.jit
    def orbit_end(m, view):
        return view.first_end if m < view.rebase_start else view.rebase_end

    return orbit_end


def make_state(target, options):
    """Return ``(load, store)`` of a `Sample` in the array `state`.

    ``load(state, j, i)`` returns the sample; ``store(state, j, i, sample, done)`` writes it.
    """
    jit, int64, zero = target.jit, target.int64, target.real(0)
    normal = make_arithmetic(target, options.floatexp).normal
    derivative, pair = options.derivative, options.pair

    @jit
    def load_number(state, column, j, i):
        return state[column, j, i], state[column + 1, j, i], int64(state[column + 2, j, i])

    @jit
    def store_number(state, column, j, i, z):
        state[column, j, i], state[column + 1, j, i], state[column + 2, j, i] = z

    @jit
    def load(state, j, i):
        dz = dz2 = normal(zero, zero, int64(0))
        if derivative:
            dz = load_number(state, STATE_DZ, j, i)
        if pair:
            dz2 = load_number(state, STATE_DZ2, j, i)
        return Sample(
            load_number(state, STATE_Z, j, i),
            int64(state[STATE_COUNT, j, i]),
            int64(state[STATE_INDEX, j, i]),
            int64(state[STATE_STAGE, j, i]),
            int64(state[STATE_ENTRY, j, i]),
            dz,
            dz2,
        )

    @jit
    def store(state, j, i, sample, done):
        store_number(state, STATE_Z, j, i, sample.z)
        state[STATE_COUNT, j, i] = -1 if done else sample.n
        state[STATE_INDEX, j, i] = sample.m
        state[STATE_STAGE, j, i], state[STATE_ENTRY, j, i] = sample.stage, sample.entry
        if derivative:
            store_number(state, STATE_DZ, j, i, sample.dz)
        if pair:
            store_number(state, STATE_DZ2, j, i, sample.dz2)

    return load, store


def make_begin(ops, options):
    """Return ``begin(grid, view, across, j, i)``: a sample before its first step.

    Its result is ``(z, dz, dz2, c, h)``: the sample's numbers, and what a step adds to z and dz.
    `across` is the width of the tile in samples.
    """
    target, normal = ops.target, ops.arithmetic.normal
    jit, int64, zero = target.jit, target.int64, target.real(0)
    position = make_place(target, options.explicit_positions)
    julia, per_sample_exponent = options.julia, options.per_sample_exponent

    @jit
    def begin(grid, view, across, j, i):
        u, v = position(grid.columns, grid.rows, across, j, i)
        exponent = view.exponent
        if per_sample_exponent:
            exponent = int64(grid.columns[2, j * across + i])
        none = normal(zero, zero, int64(0))
        offset, width = normal(u, v, exponent), normal(view.width, zero, exponent)
        if julia:
            return offset, width, (width[1], width[0], width[2]), none, none
        return none, none, (none[1], none[0], none[2]), offset, width

    return begin


def make_plain_tangents(ops, options):
    """Return ``(plain_tangents, floatexp_tangents)``: dz and dz2 in float64, and back.

    The tangents are those of `fractals.kernels.bla.make_tangents`.
    """
    jit, int64 = ops.target.jit, ops.target.int64
    normal, plain = ops.arithmetic.normal, ops.plain

    if options.pair:

        @jit
        def plain_tangents(dz, dz2):
            p, q = plain(dz)
            s, r = plain(dz2)
            return p, q, s, r

        @jit
        def floatexp_tangents(tangents, dz, dz2):
            p, q, s, r = tangents
            return normal(p, q, int64(0)), normal(s, r, int64(0))

    else:

        @jit
        def plain_tangents(dz, dz2):
            return plain(dz)

        @jit
        def floatexp_tangents(tangents, dz, dz2):
            return normal(tangents[0], tangents[1], int64(0)), dz2

    return plain_tangents, floatexp_tangents


def make_record(ops, options):
    """Return ``record(tile, work, j, i, sample, W, escaped, max_iterations)``.

    It writes the results of a sample that has ended at W, or 0, and keeps the sample for the next
    launch; it returns whether the sample escaped, and whether it is done.
    """
    target, plain, derivative = ops.target, ops.plain, options.derivative
    int32, zero = target.int32, target.real(0)
    _, _, slope = make_tangents(target, options.formula, derivative)
    plain_tangents, _ = make_plain_tangents(ops, options)
    _, store = make_state(target, options)

    @target.jit
    def record(tile, work, j, i, sample, W, escaped, max_iterations):
        done = escaped or sample.n >= max_iterations
        escaped = escaped and sample.n < max_iterations
        tile.count[j, i] = int32(sample.n if escaped else max_iterations)
        x, y = plain(W)
        if escaped and not (x == x and y == y):
            work.under_way[0, 1] = 1
        tile.x[j, i], tile.y[j, i] = (x, y) if escaped else (zero, zero)
        if derivative:
            p, q = zero, zero
            if escaped:
                p, q = slope(x, y, plain_tangents(sample.dz, sample.dz2))
            tile.dx[j, i], tile.dy[j, i] = p, q
        if not done:
            work.under_way[0, 0] = 1
        store(work.state, j, i, sample, done)
        return escaped, done

    return record


def make_la_steps(ops, options):
    """Return ``la_steps(sample, c, h, tables, view, max_iterations, budget)``.

    It skips along the stages of linear approximations for as long as an entry is valid, and returns
    the sample and what is left of the budget.
    """
    target = ops.target
    jit, int32, int64, index = target.jit, target.int32, target.int64, target.index
    julia, derivative = options.julia, options.derivative

    if not options.formula.holomorphic:  # no stages

        @jit
        def no_steps(sample, c, h, tables, view, max_iterations, budget):
            return sample, budget

        return no_steps

    _, times, plus, size, less, _ = ops.arithmetic
    moved, along, (number_at, real_at) = ops.moved, ops.along, ops.readers

    @jit
    def la_steps(sample, c, h, tables, view, max_iterations, budget):
        stages, entries = tables.stages, tables.la_entries
        z, _, _, _, _, dz, _ = sample
        n, m = int32(sample.n), int32(sample.m)
        stage, entry = int32(sample.stage), int32(sample.entry)
        most, c_size = int32(max_iterations), size(c)
        bottom, left = int32(view.rebase_bottom), int32(min(budget, LONGEST_LAUNCH))
        here = left
        while stage >= 0 and left > 0 and n < most:
            left = int32(left - 1)
            at = index(entry)
            Z = number_at(entries, at, LA_Z)
            w = moved(Z, z)
            radius = real_at(entries, at, LA_RADIUS)
            radius_c = real_at(entries, at, LA_RADIUS_C)
            length = int32(entries[at, LA_LENGTH])
            if less(size(w), radius) and less(c_size, radius_c) and length <= int32(most - n):
                a, b = number_at(entries, at, LA_A), number_at(entries, at, LA_B)
                if derivative:
                    dz = plus(times(along(plus(Z, z), dz), a), times(b, h))
                z = plus(times(w, a), times(b, c))
                n, entry = int32(n + length), int32(entry + 1)
                W = plus(number_at(entries, index(entry), LA_Z), z)
                if entry == int32(stages[index(stage), STAGE_END]) or less(size(W), size(z)):
                    z = W
                    if julia and stage < bottom:  # a stage of the first orbit
                        m, stage = int32(view.rebase_start), int32(-1)
                    else:
                        stage = int32(view.rebase_top)  # the longest skips may be valid again
                        entry = int32(stages[index(stage), STAGE_BEGIN])
            else:
                entry = int32(entries[at, LA_NEXT])
                if stage == 0 or stage == bottom:
                    m, stage = entry, int32(-1)
                else:
                    stage = int32(stage - 1)
        sample = Sample(z, int64(n), int64(m), int64(stage), int64(entry), dz, sample.dz2)
        return sample, budget - int64(here - left)

    return la_steps


def make_floatexp_skip(ops, options):
    """Return ``skip(z, n, m, dz, dz2, c, h, tables, view, max_iterations)``: by a BLA of matrices.

    It returns z, dz, dz2 and how many steps were skipped: 0 where no entry is valid.
    """
    jit, int64 = ops.target.jit, ops.target.int64
    derivative, pair = options.derivative, options.pair
    normal, _, plus, size, less, _ = ops.arithmetic
    _, real_at = ops.readers

    if options.formula.holomorphic or not options.floatexp:  # no such tree

        @jit
        def no_skip(z, n, m, dz, dz2, c, h, tables, view, max_iterations):
            return z, dz, dz2, int64(0)

        return no_skip

    @jit
    def product(tree, entry, column, v):
        """Apply the matrix that begins in this column of an entry."""
        x = fma(tree[entry, column], v[0], tree[entry, column + 1] * v[1])
        y = fma(tree[entry, column + 2], v[0], tree[entry, column + 3] * v[1])
        return normal(x, y, int64(tree[entry, column + 4]) + v[2])

    @jit
    def linear(tree, entry, v, w):
        """Return A v + B w."""
        return plus(product(tree, entry, FLOATEXP_A, v), product(tree, entry, FLOATEXP_B, w))

    @jit
    def valid(mask, entry, length, facts):
        tree, z_size, c_size, n, max_iterations = facts
        near = less(z_size, real_at(tree, entry, FLOATEXP_RADIUS))
        near = near and less(c_size, real_at(tree, entry, FLOATEXP_RADIUS_C))
        return near and n + length <= max_iterations

    longest_skip = make_longest_skip(ops.target, valid)

    @jit
    def skip(z, n, m, dz, dz2, c, h, tables, view, max_iterations):
        tree = tables.floatexp_tree
        facts = tree, size(z), size(c), n, max_iterations
        _, entry, length = longest_skip(True, m, tables.levels, view.level_count, facts)
        if entry < 0:
            return z, dz, dz2, int64(0)
        z = linear(tree, entry, z, c)
        if derivative:
            dz = linear(tree, entry, dz, h)
        if pair:
            dz2 = linear(tree, entry, dz2, (h[1], h[0], h[2]))
        return z, dz, dz2, length

    return skip


def make_floatexp_steps(ops, options):
    """Return ``floatexp_steps(sample, c, h, tables, view, max_iterations, budget)``.

    It takes steps, and skips where that is valid, until the sample is rebased or z is large enough
    for float64. It returns the sample, the whole of it, Z + z, whether that has escaped, and what
    is left of the budget.
    """
    jit, int64 = ops.target.jit, ops.target.int64
    derivative, pair = options.derivative, options.pair
    _, _, plus, size, less, _ = ops.arithmetic
    reference, moved, along, sided = ops.reference, ops.moved, ops.along, ops.sided
    _, within = ops.within(options.near_radius)
    skip, orbit_end = make_floatexp_skip(ops, options), make_orbit_end(ops.target)
    min_exponent, _ = thresholds(options.formula.degree)

    @jit
    def floatexp_steps(sample, c, h, tables, view, max_iterations, budget):
        orbit, tiny = tables.orbit, tables.tiny
        z, n, m, _, _, dz, dz2 = sample
        end, escaped = orbit_end(m, view), False
        Z = reference(orbit, tiny, m)
        W = plus(Z, z)
        while z[2] < min_exponent and n < max_iterations and budget > 0:
            budget -= 1
            z, dz, dz2, length = skip(z, n, m, dz, dz2, c, h, tables, view, max_iterations)
            if length == 0:
                length = int64(1)
                if derivative:
                    dz = plus(along(sided(W, z), dz), h)
                if pair:
                    dz2 = plus(along(sided(W, z), dz2), (h[1], h[0], h[2]))
                z = plus(moved(Z, z), c)
            n += length
            m += length
            Z = reference(orbit, tiny, m)
            W = plus(Z, z)
            if not within(orbit, m, Z, z, W, view.escape_radius_squared):
                escaped = True
                break
            if m == end or less(size(W), size(z)):
                z, m = W, view.rebase_start
                break  # stages may begin there
        return Sample(z, n, m, sample.stage, sample.entry, dz, dz2), W, escaped, budget

    return floatexp_steps


def make_bla_steps(ops, options):
    """Return ``bla_steps(sample, c, h, tables, view, max_iterations, budget)``.

    It takes steps in float64, and skips by the tree where that is valid. Its results are those of
    the loop that `make_floatexp_steps` returns.
    """
    target, formula, floatexp = ops.target, ops.formula, ops.floatexp
    jit, int32, int64 = target.jit, target.int32, target.int64
    index, wide, one = target.index, target.wide, target.wide(1)
    radius = BLA_RADIUS if formula.holomorphic else MATRIX_RADIUS
    normal, plain, orbit_end = ops.arithmetic.normal, ops.plain, make_orbit_end(target)
    step, row = jit(formula.perturbed), make_row(target, formula)
    kinks = make_kinks(target, formula, False)
    within, _ = ops.within(options.near_radius)
    skip = make_skip(target, formula)
    step_tangents, skip_tangents, _ = make_tangents(target, formula, options.derivative)
    plain_tangents, floatexp_tangents = make_plain_tangents(ops, options)
    larger = make_larger(target)
    _, min_size = thresholds(formula.degree)

    @jit
    def valid(mask, entry, length, facts):
        tree, z_size, c_size, n, max_iterations = facts
        near = z_size < tree[entry, radius] and c_size < tree[entry, radius + 1]
        return near and n + length <= max_iterations

    longest_skip = make_longest_skip(target, valid)

    @jit
    def bla_steps(sample, c, h, tables, view, max_iterations, budget):
        orbit, tree = tables.orbit, tables.bla_tree
        z, _, _, _, _, dz, dz2 = sample
        n, m, most = int32(sample.n), int32(sample.m), int32(max_iterations)
        left = here = int32(min(budget, LONGEST_LAUNCH))
        start, end, escaped = int32(view.rebase_start), int32(orbit_end(sample.m, view)), False
        x, y = plain(z)
        a, b = plain(c)
        g, _ = plain(h)
        tangents = plain_tangents(dz, dz2)
        z_size, c_size = larger(x, y), larger(a, b)
        surely_within = sqrt(view.escape_radius_squared) * SURELY_WITHIN
        X, Y = orbit[index(m), ORBIT_Z], orbit[index(m), ORBIT_Z + 1]
        u, v = X + x, Y + y
        going = n < most and left > 0
        while going:
            left = int32(left - 1)
            entry, length, past = int64(-1), int64(1), int32(m - 1) & BETWEEN
            if past == 0 and view.level_count > 0:
                lowest = index(int32(m - 1) >> LOWEST_LEVEL)
                if z_size < tree[lowest, radius] and c_size < tree[lowest, radius + 1]:
                    facts = tree, z_size, c_size, int64(n), max_iterations
                    _, entry, length = longest_skip(
                        True, int64(m), tables.levels, view.level_count, facts
                    )
            if entry >= 0:
                numbers = row(tree, entry)
                tangents = skip_tangents(numbers, x, y, a, b, tangents, g)
                x, y = skip(numbers, x, y, a, b)
                n, m = int32(n + length), int32(m + length)
                X, Y = orbit[index(m), ORBIT_Z], orbit[index(m), ORBIT_Z + 1]
                u, v = X + x, Y + y
            else:  # steps to where the next skip may begin, or something may happen
                room = int32(min(int32(most - n), int32(end - m)))
                steps = int32(min(int32(BETWEEN + 1 - past), room))
                at, taken, stepping = wide(m), int32(0), True
                while stepping:
                    tangents = step_tangents(u, v, tangents, g)
                    x, y = step(X, Y, x, y, a, b, *kinks(orbit, at))
                    at, taken = at + one, int32(taken + 1)
                    X, Y = orbit[at, ORBIT_Z], orbit[at, ORBIT_Z + 1]
                    u, v = X + x, Y + y
                    # No branch, behind which a card would add again; and sizes that are kept would
                    # cost it two instructions a step.
                    size, whole = larger(x, y), larger(u, v)
                    stepping = (size <= whole) & (whole <= surely_within) & (taken != steps)
                    if floatexp:
                        stepping &= size >= min_size
                n, m = int32(n + taken), int32(m + taken)
            escaped = not within(
                orbit, index(m), (X, Y), (x, y), (u, v), view.escape_radius_squared
            )
            z_size, whole_size = larger(x, y), larger(u, v)
            rebased = m == end or whole_size < z_size
            if rebased and not escaped:
                x, y, m, end, z_size = u, v, start, int32(view.rebase_end), whole_size
                X, Y = orbit[index(m), ORBIT_Z], orbit[index(m), ORBIT_Z + 1]
            going = n < most and left > 0 and not escaped
            if floatexp and z_size < min_size:
                going = False
        z = normal(x, y, int64(0))
        dz, dz2 = floatexp_tangents(tangents, dz, dz2)
        W = u, v, int64(0)
        sample = Sample(z, int64(n), int64(m), sample.stage, sample.entry, dz, dz2)
        return sample, W, escaped, budget - int64(here - left)

    return bla_steps


@on_cpu("fractals.backends.cpu.fast:in_packets", "fractals.backends.cpu.fast:deep_rows")
def make_body(target, options):
    """Return the body that fills count, z and dz of a tile.

    ``body(i0, j0, di, dj, tile, work, grid, tables, view, max_iterations)``, of the groups in
    `fractals.kernels.layout`: `EscapeTile`, `PerturbWork`, `SampleGrid`, `PerturbTables` and
    `PerturbView`.
    """
    int64, index, zero, floatexp = target.int64, target.index, target.real(0), options.floatexp
    ops = Ops(target, options.formula, floatexp)
    normal = ops.arithmetic.normal
    load, _ = make_state(target, options)
    begin, record = make_begin(ops, options), make_record(ops, options)
    la_steps = make_la_steps(ops, options)
    floatexp_steps = make_floatexp_steps(ops, options)
    bla_steps = make_bla_steps(ops, options)
    min_exponent, _ = thresholds(options.formula.degree)

    @target.jit
    def staged(sample, tables, view):
        """Return the sample: at the first stage where it was rebased, is small, and has stages."""
        z, n, m, stage, entry, dz, dz2 = sample
        tiny = floatexp and z[2] < min_exponent
        top = int64(view.rebase_top)
        if tiny and stage < 0 and m == view.rebase_start and top >= view.rebase_bottom:
            stage, entry = top, int64(tables.stages[index(top), STAGE_BEGIN])
        return Sample(z, n, m, stage, entry, dz, dz2)

    def body(i0, j0, di, dj, tile, work, grid, tables, view, max_iterations):
        height, width = index(tile.count.shape[0]), index(tile.count.shape[1])
        most, top = int64(max_iterations), int64(view.stage_count - 1)
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                z, dz, dz2, c, h = begin(grid, view, width, j, i)
                if view.first_launch:
                    entry = int64(tables.stages[index(top), STAGE_BEGIN]) if top >= 0 else int64(0)
                    sample = Sample(z, int64(0), int64(0), top, entry, dz, dz2)
                else:
                    sample = load(work.state, j, i)
                budget, escaped = int64(view.step_budget), sample.n < 0
                W = normal(zero, zero, int64(0))
                while sample.n >= 0 and sample.n < most and budget > 0 and not escaped:
                    sample = staged(sample, tables, view)
                    if sample.stage >= 0:
                        sample, budget = la_steps(sample, c, h, tables, view, most, budget)
                    if sample.stage >= 0:
                        continue  # nothing is left to do, or of the budget
                    if floatexp and sample.z[2] < min_exponent:
                        sample, W, escaped, budget = floatexp_steps(
                            sample, c, h, tables, view, most, budget
                        )
                    else:
                        sample, W, escaped, budget = bla_steps(
                            sample, c, h, tables, view, most, budget
                        )
                if sample.n >= 0:
                    record(tile, work, j, i, sample, W, escaped, most)
                i = index(i + di)
            j = index(j + dj)

    return body
