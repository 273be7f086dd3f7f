"""Direct iteration: how many steps an orbit takes to pass the escape radius, and where."""

from fractals.coloring import UNWATCHED
from fractals.formula import fma, number
from fractals.programs.places import make_place

OWN = 3  # place in `point` where the watchers' constants begin


def state_size(formula, derivative):
    """Return how many numbers travel along an orbit, but for what is watched."""
    return 2 if not derivative else 4 if formula.holomorphic else 6


def make_orbit(target, formula, julia, derivative, watching=UNWATCHED):
    """Return ``(start, advance, finish)``: the state that travels along an orbit.

    The state is ``(x, y)``; with `derivative` also dz/dc (dz/dz0 for Julia sets) as ``(p, q)``, or,
    where the formula is not holomorphic, both columns of the Jacobian as ``(p, q, s, t)``. What is
    watched comes last. ``point`` is that of `make_body`.
    """
    functions = _make_plain_orbit(target, formula, julia, derivative)
    size, base = state_size(formula, derivative), OWN
    for coloring in watching.colorings:
        functions = _watched(target, formula, functions, size, coloring, base)
        size += len(coloring.watcher.names)
        base += len(coloring.watch_constants())
    return functions


def _watched(target, formula, functions, size, coloring, base):
    """Append to an orbit's state of `size` numbers what a coloring watches."""
    start, advance, finish = functions
    make, settings = coloring.watcher.make, coloring.compiled_settings()
    first, watch = (target.jit(part) for part in make(target, formula, base, **settings))

    def watched_start(x, y):
        return (*start(x, y), *first(x, y))

    def watched_advance(state, a, b, point):
        z = advance(state[:size], a, b, point)
        own = watch(state[size:], z[0], z[1], state[0], state[1], a, b, point)
        return (*z, *own)

    def watched_finish(state):
        return finish(state[:size])

    return target.jit(watched_start), target.jit(watched_advance), target.jit(watched_finish)


def make_planes(target, size, count):
    """Return ``(load, store)`` of `count` numbers, which follow `size` others in a state.

    ``load(watched, first, j, i)`` returns them from the planes of an array, from `first` on, as a
    tuple; ``store(watched, j, i, state, keep)`` writes them, or 0.
    """

    def load_first(watched, first, j, i):
        return (watched[first, j, i],)

    def store_first(watched, j, i, state, keep):
        watched[0, j, i] = state[size] if keep else number(0, state[0])

    load, store = target.jit(load_first), target.jit(store_first)
    for k in range(1, count):
        load, store = _one_more(target, load, store, size, k)
    return load, store


def _one_more(target, load_others, store_others, size, k):
    place = size + k

    def load(watched, first, j, i):
        return (*load_others(watched, first, j, i), watched[first + k, j, i])

    def store(watched, j, i, state, keep):
        store_others(watched, j, i, state, keep)
        watched[k, j, i] = state[place] if keep else number(0, state[0])

    return target.jit(load), target.jit(store)


def _make_plain_orbit(target, formula, julia, derivative):
    step, derive = target.jit(formula.step), target.jit(formula.derivative)
    seed = 0 if julia else 1  # each step adds dc/dc = 1, but c is fixed in a Julia set
    first = 1 if julia else 0

    if not derivative:

        def start(x, y):
            return x, y

        def advance(state, a, b, point):
            return step(state[0], state[1], a, b)

        def finish(state):
            return number(0, state[0]), number(0, state[0])

    elif formula.holomorphic:

        def start(x, y):
            return x, y, number(first, x), number(0, x)

        def advance(state, a, b, point):
            x, y = step(state[0], state[1], a, b)
            p, q = derive(state[0], state[1], state[2], state[3])
            return x, y, p + number(seed, p), q

        def finish(state):
            return state[2], state[3]

    else:

        def start(x, y):
            return x, y, number(first, x), number(0, x), number(0, x), number(first, x)

        def advance(state, a, b, point):
            x, y = step(state[0], state[1], a, b)
            p, q = derive(state[0], state[1], state[2], state[3])
            s, t = derive(state[0], state[1], state[4], state[5])
            return x, y, p + number(seed, p), q, s, t + number(seed, t)

        def finish(state):
            # The complex number that would give |z| the same gradient if f were holomorphic,
            # so that distance and direction are read off it in one way for every formula.
            x, y, p, q, s, t = state
            g, h = fma(x, p, y * q), fma(x, s, y * t)
            m = fma(x, x, y * y)
            return fma(g, x, h * y) / m, fma(g, y, -(h * x)) / m

    return target.jit(start), target.jit(advance), target.jit(finish)


def make_escape(
    target, formula, julia, derivative, interior, block, sticky=False, watching=UNWATCHED
):
    """Return ``escape(n, state, a, b, point, until, limit) -> (count, state)``.

    It goes on from step n, where the orbit has not escaped. ``count`` is the smallest n with
    |z_n|² > radius2, `until` where there is none up to it, and `limit` where there will be none.
    `block` iterations run without a branch; the block in which the orbit escaped is run again step
    by step from its beginning, so counts are exact (rounding is the same). A block is tested at its
    end, or, where an escaped orbit can come back, at each step (`sticky`). "Escaped" is "not <=",
    which holds for infinities and NaN too. With `interior`, an orbit that returns to exactly an
    earlier point is periodic and ends at once, after Brent's cycle finding (1980): no count
    changes.
    """
    _, advance, _ = make_orbit(target, formula, julia, derivative, watching)
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
                        within &= fma(state[0], state[0], state[1] * state[1]) <= radius2
                if not sticky:
                    within = fma(state[0], state[0], state[1] * state[1]) <= radius2
                if not within:
                    state = before
                    break
                n = int32(n + block)
                if interior and state[0] == old_x and state[1] == old_y:
                    n = limit
        while n < until:
            state = advance(state, a, b, point)
            n = int32(n + int32(1))
            if not (fma(state[0], state[0], state[1] * state[1]) <= radius2):
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
    which are `listed` (`fractals.programs.places`);
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
                state = start(u, v) if julia else start(zero, zero)
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
    whose count is `until` and that have not escaped. ``s`` and ``t`` are for the second column of
    the Jacobian of a formula that is not holomorphic.
    """
    escape = make_escape(target, formula, julia, derivative, interior, block, sticky, watching)
    start, _, finish = make_orbit(target, formula, julia, derivative, watching)
    zero, jacobian = target.real(0), derivative and not formula.holomorphic
    place = make_place(target, listed)
    planes, inside = watching.planes, watching.inside
    load, store = make_planes(target, state_size(formula, derivative), planes)

    def make_resume():
        if jacobian:

            def resume(x, y, p, q, s, t, j, i):
                return x[j, i], y[j, i], p[j, i], q[j, i], s[j, i], t[j, i]

        elif derivative:

            def resume(x, y, p, q, s, t, j, i):
                return x[j, i], y[j, i], p[j, i], q[j, i]

        else:

            def resume(x, y, p, q, s, t, j, i):
                return x[j, i], y[j, i]

        return target.jit(resume)

    resume = make_resume()
    if planes:

        def go_on(x, y, p, q, s, t, watched, j, i):
            return (*resume(x, y, p, q, s, t, j, i), *load(watched, 0, j, i))

    else:

        def go_on(x, y, p, q, s, t, watched, j, i):
            return resume(x, y, p, q, s, t, j, i)

    go_on = target.jit(go_on)

    def body(
        x0, y0, dx, dy, count, x, y, p, q, watched, s, t, columns, rows, point, begin, until, limit
    ):
        j = y0
        while j < count.shape[0]:
            i = x0
            while i < count.shape[1]:
                u, v = place(columns, rows, count.shape[1], j, i)
                a, b = (point[0], point[1]) if julia else (u, v)
                state = start(u, v) if julia else start(zero, zero)
                under_way = True
                if begin > 0:
                    state = go_on(x, y, p, q, s, t, watched, j, i)
                    within = fma(state[0], state[0], state[1] * state[1]) <= point[2]
                    under_way = within and count[j, i] == begin
                if under_way:
                    n, state = escape(begin, state, a, b, point, until, limit)
                    count[j, i] = n
                    within = fma(state[0], state[0], state[1] * state[1]) <= point[2]
                    under_way = within and n == until and until < limit
                    keep = under_way or n < limit
                    x[j, i] = state[0] if keep else zero
                    y[j, i] = state[1] if keep else zero
                    if derivative:
                        slope = (state[2], state[3]) if under_way else finish(state)
                        p[j, i] = slope[0] if keep else zero
                        q[j, i] = slope[1] if keep else zero
                    if jacobian:
                        s[j, i], t[j, i] = state[4], state[5]
                    if planes:
                        store(watched, j, i, state, keep or inside)
                i += dx
            j += dy

    return body
