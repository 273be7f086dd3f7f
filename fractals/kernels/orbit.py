"""The state that travels along an orbit: z, dz, what a formula remembers, and what is watched."""

from fractals.kernels.primitives import fma, number
from fractals.kernels.statistics import (
    UNWATCHED,
    make_watchers,
)
from fractals.kernels.tangent import make_step, make_tangent


def first_size(derivative):
    """Return how many numbers of a state are z and, with `derivative`, dz."""
    return 4 if derivative else 2


def state_size(formula, derivative):
    """Return how many numbers travel along an orbit, but for what is watched."""
    return _tangent_end(formula, derivative) + _memory_size(formula, derivative)


def _tangent_end(formula, derivative):
    return first_size(derivative) + (2 if derivative and not formula.holomorphic else 0)


def _memory_size(formula, derivative):
    return 0 if not formula.remembers else 4 if formula.memory and derivative else 2


def make_orbit(target, formula, julia, derivative, watching=UNWATCHED):
    """Return ``(start, advance, finish)``: the state that travels along an orbit.

    The state is ``(x, y)``; with `derivative` also dz/dc (dz/dz0 for Julia sets) as ``(p, q)``, or,
    where the formula is not holomorphic, both columns of the Jacobian as ``(p, q, s, t)``. Where
    the formula remembers, the z before, and its dz if the formula has a memory, come next. What is
    watched comes last. ``start(u, v)`` returns the state of the sample at u + iv before a step;
    ``point`` is that of `fractals.kernels.escape.make_body`.
    """
    make = _make_plain_orbit if formula.additive else _make_general_orbit
    functions = make(target, formula, julia, derivative)
    if not watching.colorings:
        return functions
    start, advance, finish = functions
    size = state_size(formula, derivative)
    first, watch = make_watchers(target, formula, watching)

    def watched_start(u, v):
        state = start(u, v)
        return (*state, *first(state[0], state[1]))

    def watched_advance(state, a, b, point):
        z = advance(state[:size], a, b, point)
        own = watch(state[size:], z[0], z[1], state[0], state[1], a, b, point)
        return (*z, *own)

    def watched_finish(state):
        return finish(state[:size])

    return target.jit(watched_start), target.jit(watched_advance), target.jit(watched_finish)


def make_near(target, formula, derivative):
    """Return ``near(state, radius2)``: whether an orbit has neither escaped nor converged."""
    tolerance2, place = formula.tolerance**2, _tangent_end(formula, derivative)

    def bounded(state, radius2):
        return fma(state[0], state[0], state[1] * state[1]) <= radius2

    bounded = target.jit(bounded)

    def moving(state, radius2):
        s, t = state[0] - state[place], state[1] - state[place + 1]
        return fma(s, s, t * t) > number(tolerance2, s)

    moving = target.jit(moving)
    if not formula.tolerance:
        return bounded
    if not formula.escapes:
        return moving

    def near(state, radius2):
        return bounded(state, radius2) & moving(state, radius2)

    return target.jit(near)


def _make_plain_orbit(target, formula, julia, derivative):
    """Return the functions for f(z) + c, from 0 or, in a Julia set, from the sample."""
    step, derive = target.jit(formula.step), target.jit(formula.derivative)
    seed = 0 if julia else 1  # each step adds dc/dc = 1, but c is fixed in a Julia set
    if julia:

        def place(u, v):
            return u, v, number(1, u)

    else:

        def place(u, v):
            return number(0, u), number(0, u), number(0, u)

    place = target.jit(place)
    if not derivative:

        def start(u, v):
            x, y, _ = place(u, v)
            return x, y

        def advance(state, a, b, point):
            return step(state[0], state[1], a, b)

    elif formula.holomorphic:

        def start(u, v):
            x, y, first = place(u, v)
            return x, y, first, number(0, x)

        def advance(state, a, b, point):
            x, y = step(state[0], state[1], a, b)
            p, q = derive(state[0], state[1], state[2], state[3])
            return x, y, p + number(seed, p), q

    else:

        def start(u, v):
            x, y, first = place(u, v)
            return x, y, first, number(0, x), number(0, x), first

        def advance(state, a, b, point):
            x, y = step(state[0], state[1], a, b)
            p, q = derive(state[0], state[1], state[2], state[3])
            s, t = derive(state[0], state[1], state[4], state[5])
            return x, y, p + number(seed, p), q, s, t + number(seed, t)

    finish = _make_finish(target, formula, derivative)
    return target.jit(start), target.jit(advance), finish


def _make_finish(target, formula, derivative):
    if not derivative:

        def finish(state):
            return number(0, state[0]), number(0, state[0])

    elif formula.holomorphic:

        def finish(state):
            return state[2], state[3]

    else:

        def finish(state):
            # The complex number that would give |z| the same gradient if f were holomorphic,
            # so that distance and direction are read off it in one way for every formula.
            x, y, p, q, s, t = state[:6]
            g, h = fma(x, p, y * q), fma(x, s, y * t)
            m = fma(x, x, y * y)
            return fma(g, x, h * y) / m, fma(g, y, -(h * x)) / m

    return target.jit(finish)


def _make_general_orbit(target, formula, julia, derivative):
    """Return the functions for any formula, put together from parts of its state."""
    jit, memory = target.jit, formula.memory
    step, tangent = make_step(target, formula), make_tangent(target, formula)
    old = _tangent_end(formula, derivative)  # place of the z before
    seed = 0 if julia else 1
    begin = jit(_at_sample if julia else formula.start or _at_zero)
    if memory:

        def move(state, a, b):
            return step(state[0], state[1], a, b, state[old], state[old + 1])

        def turn(state, k, a, b, e, f):
            own = state[0], state[1], state[k], state[k + 1], a, b, e, f
            return tangent(*own, state[old], state[old + 1], state[old + 2], state[old + 3])

    else:

        def move(state, a, b):
            return step(state[0], state[1], a, b)

        def turn(state, k, a, b, e, f):
            return tangent(state[0], state[1], state[k], state[k + 1], a, b, e, f)

    move, turn = jit(move), jit(turn)
    if not derivative:

        def first(u, v):
            x, y, _, _ = begin(u, v, number(1, u), number(0, u))
            return x, y

        def change(state, a, b):
            return move(state, a, b)

    elif formula.holomorphic:

        def first(u, v):
            return begin(u, v, number(1, u), number(0, u))

        def change(state, a, b):
            p, q = turn(state, 2, a, b, number(seed, a), number(0, a))
            return (*move(state, a, b), p, q)

    else:

        def first(u, v):
            x, y, p, q = begin(u, v, number(1, u), number(0, u))
            _, _, s, t = begin(u, v, number(0, u), number(1, u))
            return x, y, p, q, s, t

        def change(state, a, b):
            p, q = turn(state, 2, a, b, number(seed, a), number(0, a))
            s, t = turn(state, 4, a, b, number(0, a), number(seed, a))
            return (*move(state, a, b), p, q, s, t)

    first, change = jit(first), jit(change)
    if not formula.remembers:

        def start(u, v):
            return first(u, v)

        def advance(state, a, b, point):
            return change(state, a, b)

    elif memory and derivative:

        def start(u, v):
            zero = number(0, u)
            return (*first(u, v), zero, zero, zero, zero)

        def advance(state, a, b, point):
            return (*change(state, a, b), state[0], state[1], state[2], state[3])

    else:

        def start(u, v):
            return (*first(u, v), number(0, u), number(0, u))

        def advance(state, a, b, point):
            return (*change(state, a, b), state[0], state[1])

    return jit(start), jit(advance), _make_finish(target, formula, derivative)


def _at_sample(a, b, p, q):
    return a, b, p, q


def _at_zero(a, b, p, q):
    zero = number(0, a)
    return zero, zero, zero, zero
