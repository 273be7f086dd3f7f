"""The state that travels along an orbit: z, dz, the previous z and dz, and orbit statistics.

A state is a flat tuple of numbers, in this order, so that it stays in registers:

1. z = (x, y);
2. with a derivative, dz as (p, q); or, where the formula is not holomorphic, both columns of the
   Jacobian as (p, q, s, t);
3. where the formula carries the previous z, or a number in its place, that number; and its change,
   as dz, if the next dz depends on it; where maps are iterated in turn, the number of the next step
   within one round; the memory of a formula that has one;
4. the orbit statistics.
"""

from fractals.kernels.primitives import fma, number
from fractals.kernels.statistics import NO_STATISTICS, make_statistics
from fractals.kernels.tangent import (
    gradient_derivative,
    make_phases,
    make_step,
    make_tangent,
)


def first_size(derivative):
    """Return the size of z and, with `derivative`, (p, q) in a state."""
    return 4 if derivative else 2


def state_size(formula, derivative):
    """Return how many numbers a state has without the orbit statistics."""
    return _tangent_end(formula, derivative) + _previous_size(formula, derivative)


def _tangent_end(formula, derivative):
    return first_size(derivative) + (2 if derivative and not formula.holomorphic else 0)


def _previous_size(formula, derivative):
    if formula.phases:
        return 1
    if formula.remember:
        return formula.memory
    if not formula.carries_previous:
        return 0
    return 4 if formula.uses_previous and derivative else 2


def make_orbit(target, formula, julia, derivative, statistics=NO_STATISTICS):
    """Return ``(start, advance, finish)``: three functions of an orbit's state.

    ``start(u, v)`` returns the state of the sample at u + iv before the first step.
    ``advance(state, a, b, point)`` returns the state after a step with c = a + ib.
    ``finish(state)`` returns dz as (p, q): dz/dc, or dz/dz0 for Julia sets.

    Parameters
    ----------
    target : Target
    formula : Formula
    julia : bool
        Whether the sample is the orbit's start, and c fixed.
    derivative : bool
        Whether dz travels along; `finish` returns zeros without it.
    statistics : Statistics
        What is updated at each step; their constants are in ``point``, which
        `fractals.kernels.escape.make_body` describes.
    """
    if formula.remember:
        make = _make_remembering_orbit
    else:
        make = _make_plain_orbit if formula.additive else _make_general_orbit
    functions = make(target, formula, julia, derivative)
    if not statistics.colorings:
        return functions
    start, advance, finish = functions
    size = state_size(formula, derivative)
    first, update = make_statistics(target, formula, statistics)

    def start_all(u, v):
        state = start(u, v)
        return (*state, *first(state[0], state[1]))

    def advance_all(state, a, b, point):
        z = advance(state[:size], a, b, point)
        own = update(state[size:], z[0], z[1], state[0], state[1], a, b, point)
        return (*z, *own)

    def finish_all(state):
        return finish(state[:size])

    return target.jit(start_all), target.jit(advance_all), target.jit(finish_all)


def make_near(target, formula, derivative):
    """Return ``near(state, escape_radius_squared)``: whether an orbit goes on.

    An orbit ends where it escapes, or converges: where two points in turn are at most the
    formula's tolerance apart. NaN, as of 0 / 0 where a derivative is 0, has not converged.
    """
    tolerance_squared, previous = formula.tolerance**2, _tangent_end(formula, derivative)
    if formula.goes_on:
        goes_on, end = target.jit(formula.goes_on), previous + formula.memory

        def bounded(state, escape_radius_squared):
            return goes_on(state[0], state[1], state[previous:end])

    else:

        def bounded(state, escape_radius_squared):
            return fma(state[0], state[0], state[1] * state[1]) <= escape_radius_squared

    bounded = target.jit(bounded)

    def moving(state, escape_radius_squared):
        s, t = state[0] - state[previous], state[1] - state[previous + 1]
        apart = fma(s, s, t * t)
        return (apart > number(tolerance_squared, s)) | (apart != apart)

    moving = target.jit(moving)
    if not formula.tolerance:
        return bounded
    if not formula.escapes:
        return moving

    def near(state, escape_radius_squared):
        return bounded(state, escape_radius_squared) & moving(state, escape_radius_squared)

    return target.jit(near)


def _make_plain_orbit(target, formula, julia, derivative):
    """Return the functions of `make_orbit` for maps f(z) + c."""
    step, derive = target.jit(formula.step), target.jit(formula.derivative)
    seed = 0 if julia else 1  # each step adds dc/dc = 1, but c is fixed in a Julia set
    if julia:

        def begin(u, v):
            return u, v, number(1, u)

    else:

        def begin(u, v):
            return number(0, u), number(0, u), number(0, u)

    begin = target.jit(begin)
    if not derivative:

        def start(u, v):
            x, y, _ = begin(u, v)
            return x, y

        def advance(state, a, b, point):
            return step(state[0], state[1], a, b)

    elif formula.holomorphic:

        def start(u, v):
            x, y, first = begin(u, v)
            return x, y, first, number(0, x)

        def advance(state, a, b, point):
            x, y = step(state[0], state[1], a, b)
            p, q = derive(state[0], state[1], state[2], state[3])
            return x, y, p + number(seed, p), q

    else:

        def start(u, v):
            x, y, first = begin(u, v)
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
        whole = target.jit(gradient_derivative)

        def finish(state):
            x, y, p, q, s, t = state[:6]
            return whole(x, y, p, q, s, t)

    return target.jit(finish)


def _make_general_orbit(target, formula, julia, derivative):
    """Return the functions of `make_orbit` for any formula."""
    jit, uses_previous = target.jit, formula.uses_previous
    step, tangent = make_step(target, formula), make_tangent(target, formula)
    old = _tangent_end(formula, derivative)  # index of the previous z
    seed = 0 if julia else 1
    begin = jit(_at_sample if julia else formula.start or _at_zero)
    carry = jit(formula.carry or formula.step)
    if formula.phases:
        step, tangent, next_phase = make_phases(target, formula)

        def move(state, a, b):
            return step(state[0], state[1], a, b, state[old])

        def change_of(state, k, a, b, e, f):
            own = state[0], state[1], state[k], state[k + 1], a, b, e, f
            return tangent(*own, state[old])

    elif uses_previous:

        def move(state, a, b):
            return step(state[0], state[1], a, b, state[old], state[old + 1])

        def change_of(state, k, a, b, e, f):
            own = state[0], state[1], state[k], state[k + 1], a, b, e, f
            return tangent(*own, state[old], state[old + 1], state[old + 2], state[old + 3])

    else:

        def move(state, a, b):
            return step(state[0], state[1], a, b)

        def change_of(state, k, a, b, e, f):
            return tangent(state[0], state[1], state[k], state[k + 1], a, b, e, f)

    move, change_of = jit(move), jit(change_of)
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
            p, q = change_of(state, 2, a, b, number(seed, a), number(0, a))
            return (*move(state, a, b), p, q)

    else:

        def first(u, v):
            x, y, p, q = begin(u, v, number(1, u), number(0, u))
            _, _, s, t = begin(u, v, number(0, u), number(1, u))
            return x, y, p, q, s, t

        def change(state, a, b):
            p, q = change_of(state, 2, a, b, number(seed, a), number(0, a))
            s, t = change_of(state, 4, a, b, number(0, a), number(seed, a))
            return (*move(state, a, b), p, q, s, t)

    first, change = jit(first), jit(change)
    if formula.phases:

        def start(u, v):
            return (*first(u, v), number(0, u))

        def advance(state, a, b, point):
            return (*change(state, a, b), next_phase(state[old]))

    elif not formula.carries_previous:

        def start(u, v):
            return first(u, v)

        def advance(state, a, b, point):
            return change(state, a, b)

    elif formula.carry and derivative:

        def start(u, v):
            zero = number(0, u)
            return (*first(u, v), zero, zero, zero, zero)

        def advance(state, a, b, point):
            z = change(state, a, b)
            own = carry(z[0], z[1], a, b, state[old], state[old + 1])
            e, f = number(seed, a), number(0, a)
            return (*z, *own, *carry(z[2], z[3], e, f, state[old + 2], state[old + 3]))

    elif formula.carry:

        def start(u, v):
            return (*first(u, v), number(0, u), number(0, u))

        def advance(state, a, b, point):
            z = change(state, a, b)
            return (*z, *carry(z[0], z[1], a, b, state[old], state[old + 1]))

    elif uses_previous and derivative:

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


def _make_remembering_orbit(target, formula, julia, derivative):
    """Return the functions of `make_orbit` for a formula with a memory, which has no derivative."""
    assert not derivative
    jit, end = target.jit, 2 + formula.memory
    step, remember = jit(formula.step), jit(formula.remember)
    begin = jit(_at_sample if julia else formula.start)

    def start(u, v):
        x, y, _, _ = begin(u, v, number(1, u), number(0, u))
        return (x, y, *remember(u, v))

    def advance(state, a, b, point):
        return step(state[0], state[1], a, b, state[2:end])

    return jit(start), jit(advance), _make_finish(target, formula, derivative)


def _at_sample(a, b, p, q):
    return a, b, p, q


def _at_zero(a, b, p, q):
    zero = number(0, a)
    return zero, zero, zero, zero
