"""Direct iteration: how many steps an orbit takes to pass the escape radius, and where."""

from fractals.formula import fma, number


def make_orbit(target, formula, julia, derivative):
    """Return ``(start, advance, finish)``: the state that travels along an orbit.

    The state is ``(x, y)``; with `derivative` also dz/dc (dz/dz0 for Julia sets) as ``(p, q)``, or,
    where the formula is not holomorphic, both columns of the Jacobian as ``(p, q, s, t)``.
    """
    step, derive = target.jit(formula.step), target.jit(formula.derivative)
    seed = 0 if julia else 1  # each step adds dc/dc = 1, but c is fixed in a Julia set
    first = 1 if julia else 0

    if not derivative:

        def start(x, y):
            return x, y

        def advance(state, a, b):
            return step(state[0], state[1], a, b)

        def finish(state):
            return number(0, state[0]), number(0, state[0])

    elif formula.holomorphic:

        def start(x, y):
            return x, y, number(first, x), number(0, x)

        def advance(state, a, b):
            x, y = step(state[0], state[1], a, b)
            p, q = derive(state[0], state[1], state[2], state[3])
            return x, y, p + number(seed, p), q

        def finish(state):
            return state[2], state[3]

    else:

        def start(x, y):
            return x, y, number(first, x), number(0, x), number(0, x), number(first, x)

        def advance(state, a, b):
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


def make_escape(target, formula, julia, derivative, interior, block, sticky=False):
    """Return ``escape(n, state, a, b, until, limit, radius2) -> (count, state)``.

    It goes on from step n, where the orbit has not escaped. ``count`` is the smallest n with
    |z_n|² > radius2, `until` where there is none up to it, and `limit` where there will be none.
    `block` iterations run without a branch; the block in which the orbit escaped is run again step
    by step from its beginning, so counts are exact (rounding is the same). A block is tested at its
    end, or, where an escaped orbit can come back, at each step (`sticky`). "Escaped" is "not <=",
    which holds for infinities and NaN too. With `interior`, an orbit that returns to exactly an
    earlier point is periodic and ends at once, after Brent's cycle finding (1980): no count
    changes.
    """
    _, advance, _ = make_orbit(target, formula, julia, derivative)
    surely_inside = formula.inside if interior and not julia else None
    test_inside = surely_inside is not None
    inside = target.jit(surely_inside if test_inside else formula.step)
    int32 = target.int32

    def escape(n, state, a, b, until, limit, radius2):
        if test_inside and inside(a, b):
            return limit, state
        last, within = int32(until - block), True
        while within and n < last:
            old_x, old_y = state[0], state[1]  # moves on when n has doubled
            pause = int32(min(last, max(n + n, block))) if interior else last
            while n < pause:
                before, k = state, int32(0)
                while k < block:  # a range counts in 64 bits, also where it is unrolled in part
                    k = int32(k + int32(1))
                    state = advance(state, a, b)
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
            state = advance(state, a, b)
            n = int32(n + int32(1))
            if not (fma(state[0], state[0], state[1] * state[1]) <= radius2):
                break
        return n, state

    return target.jit(escape)


def make_body(target, formula, julia, derivative, interior, block, sticky=False):
    """Return the body that fills ``count`` (int32), and z = x + iy and dz = p + iq (real).

    Its arrays: ``columns`` (2, width) and ``rows`` (2, height), whose sums are the samples'
    positions in the plane; ``point``: the c of a Julia set and the square of the escape radius;
    ``limit``. z and dz are 0 where the orbit did not escape.
    """
    escape = make_escape(target, formula, julia, derivative, interior, block, sticky)
    start, _, finish = make_orbit(target, formula, julia, derivative)
    zero, int32 = target.real(0), target.int32

    def body(x0, y0, dx, dy, count, x, y, p, q, columns, rows, point, limit):
        j = y0
        while j < count.shape[0]:  # a range with a stride would cost each GPU thread two divisions
            i = x0
            while i < count.shape[1]:
                u, v = columns[0, i] + rows[0, j], columns[1, i] + rows[1, j]
                a, b = (point[0], point[1]) if julia else (u, v)
                state = start(u, v) if julia else start(zero, zero)
                n, state = escape(int32(0), state, a, b, limit, limit, point[2])
                count[j, i] = n
                escaped = n < limit
                x[j, i] = state[0] if escaped else zero
                y[j, i] = state[1] if escaped else zero
                if derivative:
                    slope = finish(state)
                    p[j, i] = slope[0] if escaped else zero
                    q[j, i] = slope[1] if escaped else zero
                i += dx
            j += dy

    return body


def make_part_body(target, formula, julia, derivative, interior, block, sticky=False):
    """Return the body that does of the work of `make_body` the steps from `begin` to `until`.

    So the time of a call is bounded. Between calls the arrays hold the orbits under way: those
    whose count is `until` and that have not escaped. ``s`` and ``t`` are for the second column of
    the Jacobian of a formula that is not holomorphic.
    """
    escape = make_escape(target, formula, julia, derivative, interior, block, sticky)
    start, _, finish = make_orbit(target, formula, julia, derivative)
    zero, jacobian = target.real(0), derivative and not formula.holomorphic

    def body(x0, y0, dx, dy, count, x, y, p, q, s, t, columns, rows, point, begin, until, limit):
        j = y0
        while j < count.shape[0]:
            i = x0
            while i < count.shape[1]:
                u, v = columns[0, i] + rows[0, j], columns[1, i] + rows[1, j]
                a, b = (point[0], point[1]) if julia else (u, v)
                state = start(u, v) if julia else start(zero, zero)
                under_way = True
                if begin > 0:
                    if jacobian:
                        state = x[j, i], y[j, i], p[j, i], q[j, i], s[j, i], t[j, i]
                    elif derivative:
                        state = x[j, i], y[j, i], p[j, i], q[j, i]
                    else:
                        state = x[j, i], y[j, i]
                    within = fma(state[0], state[0], state[1] * state[1]) <= point[2]
                    under_way = within and count[j, i] == begin
                if under_way:
                    n, state = escape(begin, state, a, b, until, limit, point[2])
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
                i += dx
            j += dy

    return body
