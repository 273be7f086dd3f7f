"""Direct iteration: how many steps an orbit takes to pass the escape radius, and where."""

from fractals.formula import fma, number

BLOCK = 8  # iterations between two tests for escape, where an escaped orbit can't come back


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


def make_escape(target, formula, julia, derivative, interior, block):
    """Return ``escape(x, y, a, b, limit, radius2) -> (count, state)``, from z0 = x + iy.

    ``count`` is the smallest n >= 1 with |z_n|² > radius2, and `limit` where there is none below
    it. `block` iterations run without a test; the block in which the orbit escaped is run again
    step by step from its beginning, so counts are exact (rounding is the same). "Escaped" is "not
    <=", which holds for infinities and NaN too. With `interior`, an orbit that returns to exactly
    an earlier point is periodic and ends at once, after Brent's cycle finding (1980): no count
    changes.
    """
    start, advance, _ = make_orbit(target, formula, julia, derivative)
    surely_inside = formula.inside if interior and not julia else None
    test_inside = surely_inside is not None
    inside = target.jit(surely_inside if test_inside else formula.step)
    int32 = target.int32

    def escape(x, y, a, b, limit, radius2):
        state = start(x, y)
        n = int32(0)
        if test_inside and inside(a, b):
            return limit, state
        old_x, old_y, mark = x, y, int32(block)
        while n < limit - block:
            before = state
            for _ in range(block):
                state = advance(state, a, b)
            if not (fma(state[0], state[0], state[1] * state[1]) <= radius2):
                state = before
                break
            n = int32(n + block)
            if interior:
                if state[0] == old_x and state[1] == old_y:
                    return limit, state
                if n >= mark:
                    old_x, old_y, mark = state[0], state[1], int32(n + n)
        while n < limit:
            state = advance(state, a, b)
            n = int32(n + int32(1))
            if not (fma(state[0], state[0], state[1] * state[1]) <= radius2):
                return n, state
        return limit, state

    return target.jit(escape)


def make_body(target, formula, julia, derivative, interior, block):
    """Return the body that fills ``count`` (int32), and z = x + iy and dz = p + iq (real).

    Its arrays: ``columns`` (2, width) and ``rows`` (2, height), whose sums are the samples'
    positions in the plane; ``point``: the c of a Julia set and the square of the escape radius;
    ``limit``. z and dz are 0 where the orbit did not escape.
    """
    escape = make_escape(target, formula, julia, derivative, interior, block)
    finish = make_orbit(target, formula, julia, derivative)[2]
    zero = target.real(0)

    def body(x0, y0, dx, dy, count, x, y, p, q, columns, rows, point, limit):
        for j in range(y0, count.shape[0], dy):
            for i in range(x0, count.shape[1], dx):
                u, v = columns[0, i] + rows[0, j], columns[1, i] + rows[1, j]
                if julia:
                    n, state = escape(u, v, point[0], point[1], limit, point[2])
                else:
                    n, state = escape(zero, zero, u, v, limit, point[2])
                count[j, i] = n
                escaped = n < limit
                x[j, i] = state[0] if escaped else zero
                y[j, i] = state[1] if escaped else zero
                if derivative:
                    slope = finish(state)
                    p[j, i] = slope[0] if escaped else zero
                    q[j, i] = slope[1] if escaped else zero

    return body
