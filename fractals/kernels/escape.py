"""Direct iteration: how many steps an orbit takes to pass the escape radius, and where."""

from fractals.kernels.orbit import first_size, make_near, make_orbit, state_size
from fractals.kernels.sample_position import make_place
from fractals.kernels.statistics import UNWATCHED, make_planes


def make_escape(
    target, formula, julia, derivative, interior, block, sticky=False, watching=UNWATCHED
):
    """Return ``escape(n, state, a, b, point, until, limit) -> (count, state)``.

    It goes on from step n, where the orbit has not escaped. ``count`` is the smallest n with
    |z_n|² > radius2, `until` where there is none up to it, and `limit` where there will be none.
    A formula that converges counts as escaped as soon as it is told so by `make_near`.
    `block` iterations run without a branch; the block in which the orbit escaped is run again step
    by step from its beginning, so counts are exact (rounding is the same). A block is tested at its
    end, or, where an escaped orbit can come back, at each step (`sticky`). "Escaped" is "not <=",
    which holds for infinities and NaN too. With `interior`, an orbit that returns to exactly an
    earlier point is periodic and ends at once, after Brent's cycle finding (1980): no count
    changes.
    """
    _, advance, _ = make_orbit(target, formula, julia, derivative, watching)
    near = make_near(target, formula, derivative)
    interior = interior and not formula.remembers  # to be where it was is not to go on as it did
    surely_inside = formula.inside if interior and not julia else None
    test_inside = surely_inside is not None
    inside = target.jit(surely_inside if test_inside else formula.step)
    int32 = target.int32

    def escape(n, state, a, b, point, until, limit):
        if test_inside and inside(a, b):
            return limit, state
        radius2 = point[2]
        last, within = int32(until - block), True
        while within and n < last:
            old_x, old_y = state[0], state[1]  # moves on when n has doubled
            pause = int32(min(last, max(n + n, block))) if interior else last
            while n < pause:
                before, k = state, int32(0)
                while k < block:  # a range counts in 64 bits, also where it is unrolled in part
                    k = int32(k + int32(1))
                    state = advance(state, a, b, point)
                    if sticky:
                        within &= near(state, radius2)
                if not sticky:
                    within = near(state, radius2)
                if not within:
                    state = before
                    break
                n = int32(n + block)
                if interior and state[0] == old_x and state[1] == old_y:
                    n = limit
        while n < until:
            state = advance(state, a, b, point)
            n = int32(n + int32(1))
            if not near(state, radius2):
                break
        return n, state

    return target.jit(escape)


def make_body(
    target,
    formula,
    julia,
    derivative,
    interior,
    block,
    sticky=False,
    watching=UNWATCHED,
    listed=False,
):
    """Return the body that fills ``count`` (int32), and z = x + iy and dz = p + iq (real).

    With `watching` it also fills ``watched`` (planes, height, width). Its arrays: ``columns``
    (2, width) and ``rows`` (2, height), whose sums are the samples' positions in the plane, or
    which are `listed` (`fractals.kernels.sample_position`);
    ``point``: the c of a Julia set, the square of the escape radius, and the watchers' constants;
    ``limit``. z and dz are 0 where the orbit did not escape, and so is what is watched, unless that
    is looked at there, too.
    """
    escape = make_escape(target, formula, julia, derivative, interior, block, sticky, watching)
    start, _, finish = make_orbit(target, formula, julia, derivative, watching)
    zero, int32, place = target.real(0), target.int32, make_place(target, listed)
    planes, inside = watching.planes, watching.inside
    _, store = make_planes(target, state_size(formula, derivative), planes)

    def body(x0, y0, dx, dy, count, x, y, p, q, watched, columns, rows, point, limit):
        j = y0
        while j < count.shape[0]:  # a range with a stride would cost each GPU thread two divisions
            i = x0
            while i < count.shape[1]:
                u, v = place(columns, rows, count.shape[1], j, i)
                a, b = (point[0], point[1]) if julia else (u, v)
                state = start(u, v)
                n, state = escape(int32(0), state, a, b, point, limit, limit)
                count[j, i] = n
                escaped = n < limit
                x[j, i] = state[0] if escaped else zero
                y[j, i] = state[1] if escaped else zero
                if derivative:
                    slope = finish(state)
                    p[j, i] = slope[0] if escaped else zero
                    q[j, i] = slope[1] if escaped else zero
                if planes:
                    store(watched, j, i, state, escaped or inside)
                i += dx
            j += dy

    return body


def make_part_body(
    target,
    formula,
    julia,
    derivative,
    interior,
    block,
    sticky=False,
    watching=UNWATCHED,
    listed=False,
):
    """Return the body that does of the work of `make_body` the steps from `begin` to `until`.

    So the time of a call is bounded. Between calls the arrays hold the orbits under way: those
    whose count is `until` and that have not escaped. ``rest`` (planes, height, width) is for the
    numbers of their states that have no other place.
    """
    escape = make_escape(target, formula, julia, derivative, interior, block, sticky, watching)
    start, _, finish = make_orbit(target, formula, julia, derivative, watching)
    near = make_near(target, formula, derivative)
    zero, size, first = target.real(0), state_size(formula, derivative), first_size(derivative)
    more, planes, inside = size - first, watching.planes, watching.inside
    load, store = make_planes(target, size, planes)
    load_more, store_more = make_planes(target, first, more)
    place = make_place(target, listed)

    if derivative:

        def resume(x, y, p, q, j, i):
            return x[j, i], y[j, i], p[j, i], q[j, i]

    else:

        def resume(x, y, p, q, j, i):
            return x[j, i], y[j, i]

    functions = target.jit(resume), load_more, load
    go_on = _make_go_on(target, functions, more > 0, planes > 0)

    def body(
        x0, y0, dx, dy, count, x, y, p, q, watched, rest, columns, rows, point, begin, until, limit
    ):
        j = y0
        while j < count.shape[0]:
            i = x0
            while i < count.shape[1]:
                u, v = place(columns, rows, count.shape[1], j, i)
                a, b = (point[0], point[1]) if julia else (u, v)
                state = start(u, v)
                under_way = True
                if begin > 0:
                    state = go_on(x, y, p, q, rest, watched, j, i)
                    within = near(state, point[2])
                    under_way = within and count[j, i] == begin
                if under_way:
                    n, state = escape(begin, state, a, b, point, until, limit)
                    count[j, i] = n
                    within = near(state, point[2])
                    under_way = within and n == until and until < limit
                    keep = under_way or n < limit
                    x[j, i] = state[0] if keep else zero
                    y[j, i] = state[1] if keep else zero
                    if derivative:
                        slope = (state[2], state[3]) if under_way else finish(state)
                        p[j, i] = slope[0] if keep else zero
                        q[j, i] = slope[1] if keep else zero
                    if more:
                        store_more(rest, j, i, state, True)  # tells whether it is under way
                    if planes:
                        store(watched, j, i, state, keep or inside)
                i += dx
            j += dy

    return body


def _make_go_on(target, functions, more, planes):
    """Return what reads the state of an orbit under way."""
    resume, load_more, load = functions
    if more and planes:

        def go_on(x, y, p, q, rest, watched, j, i):
            first = resume(x, y, p, q, j, i)
            return (*first, *load_more(rest, 0, j, i), *load(watched, 0, j, i))

    elif more:

        def go_on(x, y, p, q, rest, watched, j, i):
            return (*resume(x, y, p, q, j, i), *load_more(rest, 0, j, i))

    elif planes:

        def go_on(x, y, p, q, rest, watched, j, i):
            return (*resume(x, y, p, q, j, i), *load(watched, 0, j, i))

    else:

        def go_on(x, y, p, q, rest, watched, j, i):
            return resume(x, y, p, q, j, i)

    return target.jit(go_on)
