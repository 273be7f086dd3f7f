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

from dataclasses import dataclass, replace
from typing import Any

from fractals.kernels.coloring import Coloring
from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number, select

# Orbit statistics: the numbers that colorings update at every step of an orbit.


INSIDE_TOO = " (inside too)"  # ends the names of statistics that are kept inside the set, too
FIRST_OPTION = 3  # index in `point` where the formula's options begin: after c and radius²


@dataclass(frozen=True)
class Statistics:
    """The orbit statistics of a picture: those of all its colorings, each once."""

    colorings: tuple[Coloring, ...] = ()  # one coloring for each distinct statistic
    # Whether statistics are also kept where orbits do not escape. Interior shortcuts are then off,
    # because a statistic needs every step.
    inside: bool = False

    @staticmethod
    def of(colorings: tuple[Coloring, ...], inside: bool) -> "Statistics":
        """Return the statistics that these colorings need."""
        found = {c.statistic_label: c for c in colorings if c.statistic}
        return Statistics(tuple(found.values()), inside and bool(found))

    @property
    def planes(self) -> int:
        """Return how many numbers a sample has."""
        return sum(len(part.statistic.names) for part in self.colorings if part.statistic)

    @property
    def names(self) -> list[str]:
        """Return a name for each number, such as "stripes,density=5.sum"."""
        end = INSIDE_TOO if self.inside else ""
        return [
            f"{part.statistic_label}.{name}{end}"
            for part in self.colorings
            if part.statistic
            for name in part.statistic.names
        ]

    @property
    def moves(self) -> bool:
        """Tell whether deep views need the differences of consecutive points, in all digits."""
        return any(part.statistic.moves for part in self.colorings if part.statistic)

    def constants(self) -> list[float]:
        """Return the constants of all statistics, one after the other."""
        return [value for part in self.colorings for value in part.statistic_constants()]

    def compiled(self) -> "Statistics":
        """Return a copy without settings that do not affect compiled code."""
        return replace(self, colorings=tuple(part.for_statistic() for part in self.colorings))

    def first(self, coloring: Coloring) -> int:
        """Return the plane where a coloring's statistic begins; 0 without a statistic."""
        if not coloring.statistic:
            return 0
        end = INSIDE_TOO if self.inside else ""
        return self.names.index(f"{coloring.statistic_label}.{coloring.statistic.names[0]}{end}")


NO_STATISTICS = Statistics()


def make_statistics(target, formula, statistics, deep=False):
    """Return ``(start, update)`` for all statistics together; ``()`` where there are none.

    Both have the signatures that `fractals.kernels.coloring.OrbitStatistic` describes for `make`,
    or for `make_deep`; their tuple of numbers is that of all statistics, one after the other.
    """
    found, size, base = (), 0, FIRST_OPTION + len(formula.options)
    for coloring in statistics.colorings:
        make, settings = coloring.statistic.make, coloring.compiled_settings()
        if deep:
            make = coloring.statistic.make_deep or _make_of_plain(make)
        own = tuple(target.jit(part) for part in make(target, formula, base, **settings))
        found = _together(target, found, size, own) if found else own
        size += len(coloring.statistic.names)
        base += len(coloring.statistic_constants())
    return found


def _make_of_plain(make):
    """Return the `make_deep` of a statistic that needs no more than float64 in deep views."""

    def make_deep(target, formula, base, **settings):
        start, own = make(target, formula, base, **settings)
        plain = target.jit(own)

        def update(w, x, y, u, v, a, b, point, exact):
            return plain(w, x, y, u, v, a, b, point)

        return start, update

    return make_deep


def _together(target, before, size, own):
    """Return ``(start, update)`` of the first `size` numbers and of one more statistic."""
    start_before, update_before = before
    start_own, update_own = own

    def start(x, y):
        return (*start_before(x, y), *start_own(x, y))

    def update(w, x, y, u, v, a, b, point, *exact):
        first = update_before(w[:size], x, y, u, v, a, b, point, *exact)
        return (*first, *update_own(w[size:], x, y, u, v, a, b, point, *exact))

    return target.jit(start), target.jit(update)


def make_planes(target, size, count):
    """Return ``(load, store)`` of `count` numbers that follow `size` others in a state.

    ``load(planes, first, j, i)`` returns a sample's numbers as a tuple, from plane `first` on;
    ``store(planes, j, i, state, keep)`` writes the state's numbers, or zeros where not `keep`.
    """

    def load_first(planes, first, j, i):
        return (planes[first, j, i],)

    def store_first(planes, j, i, state, keep):
        planes[0, j, i] = state[size] if keep else number(0, state[0])

    load, store = target.jit(load_first), target.jit(store_first)
    for k in range(1, count):
        load, store = _one_more(target, load, store, size, k)
    return load, store


def _one_more(target, load_others, store_others, size, k):
    index = size + k

    def load(planes, first, j, i):
        return (*load_others(planes, first, j, i), planes[first + k, j, i])

    def store(planes, j, i, state, keep):
        store_others(planes, j, i, state, keep)
        planes[k, j, i] = state[index] if keep else number(0, state[0])

    return target.jit(load), target.jit(store)


# Steps of a formula with their tangents, and the gradient of ``|z|``.


def make_last(target: Any, formula: Formula) -> Any:
    """Return ``last(point, like)``: what functions of a formula take last, as `Formula.last`."""

    def none(point, like):
        return ()

    numbers = target.jit(none)
    for k in range(len(formula.options)):
        numbers = _with_option(target, numbers, FIRST_OPTION + k)
    if not formula.options:
        return numbers

    def together(point, like):
        return (numbers(point, like),)

    return target.jit(together)


def _with_option(target: Any, others: Any, index: int) -> Any:
    def numbers(point, like):
        return (*others(point, like), number(point[index], like))

    return target.jit(numbers)


def make_step(target: Any, formula: Formula) -> Any:
    """Return ``step(x, y, a, b, *last)`` of a formula, compiled; `last`: see `make_last`."""
    if not formula.sequence:
        return target.jit(formula.step)
    step = target.jit(formula.sequence[0].step)
    for part in formula.sequence[1:]:
        step = _then(target, step, target.jit(part.step))
    return step


def _then(target: Any, first: Any, second: Any) -> Any:
    def both(x, y, a, b):
        x, y = first(x, y, a, b)
        return second(x, y, a, b)

    return target.jit(both)


def make_tangent(target: Any, formula: Formula) -> Any:
    """Return ``tangent(x, y, p, q, a, b, e, f, *last)`` of a formula, compiled.

    A formula that has only a `derivative` is f(z) + c: its tangent is f'(z) (p + iq) + (e + if).
    """
    if formula.sequence:
        step, tangent = (
            make_step(target, formula.sequence[0]),
            make_tangent(target, formula.sequence[0]),
        )
        for part in formula.sequence[1:]:
            tangent = _tangent_then(target, step, tangent, make_tangent(target, part))
            step = _then(target, step, target.jit(part.step))
        return tangent
    if formula.tangent:
        return target.jit(formula.tangent)
    derive = target.jit(formula.derivative)

    def added(x, y, p, q, a, b, e, f):
        p, q = derive(x, y, p, q)
        return p + e, q + f

    return target.jit(added)


def _tangent_then(target: Any, step: Any, first: Any, second: Any) -> Any:
    def both(x, y, p, q, a, b, e, f):
        u, v = step(x, y, a, b)
        p, q = first(x, y, p, q, a, b, e, f)
        return second(u, v, p, q, a, b, e, f)

    return target.jit(both)


def make_phases(target: Any, formula: Formula) -> tuple[Any, Any, Any]:
    """Return step, tangent and ``next_phase(k)`` of maps in turn.

    Step and tangent have one more argument: k, the number of the step within one round, as a real
    number; `last` follows it. Every map is computed, and k selects one, because lanes of a pack and
    threads of a GPU are at different steps.
    """
    *others, (last, count) = formula.phases
    end, first = sum(repeats for _, repeats in others), 0
    total = end + count
    for _, repeats in formula.phases[: formula.loop]:
        first += repeats
    step, tangent = _ignore_phase(target, make_step(target, last), make_tangent(target, last))
    for own, repeats in reversed(others):
        step = _until(target, end, make_step(target, own), step)
        tangent = _tangent_until(target, end, make_tangent(target, own), tangent)
        end -= repeats

    def next_phase(k):
        after = k + number(1, k)
        return select(after < number(total, k), after, number(first, k))

    return step, tangent, target.jit(next_phase)


def _ignore_phase(target: Any, own_step: Any, own_tangent: Any) -> tuple[Any, Any]:
    def step(x, y, a, b, k, *last):
        return own_step(x, y, a, b, *last)

    def tangent(x, y, p, q, a, b, e, f, k, *last):
        return own_tangent(x, y, p, q, a, b, e, f, *last)

    return target.jit(step), target.jit(tangent)


def _until(target: Any, end: int, own: Any, later: Any) -> Any:
    def step(x, y, a, b, k, *last):
        u, v = own(x, y, a, b, *last)
        s, t = later(x, y, a, b, k, *last)
        now = k < number(end, k)
        return select(now, u, s), select(now, v, t)

    return target.jit(step)


def _tangent_until(target: Any, end: int, own: Any, later: Any) -> Any:
    def tangent(x, y, p, q, a, b, e, f, k, *last):
        u, v = own(x, y, p, q, a, b, e, f, *last)
        s, t = later(x, y, p, q, a, b, e, f, k, *last)
        now = k < number(end, k)
        return select(now, u, s), select(now, v, t)

    return target.jit(tangent)


def gradient_derivative(x, y, p, q, s, t):  # compiled with `target.jit`
    """Return the complex dz that gives ``|z|`` a Jacobian's gradient; z = x + iy is not 0.

    If f were holomorphic, dz/dc would be this number. So distance and direction are computed from
    dz in one way for every formula. The Jacobian's first column, (p, q), is how z changes with the
    real part of c; its second, (s, t), with the imaginary part.
    """
    g, h = fma(x, p, y * q), fma(x, s, y * t)
    m = fma(x, x, y * y)
    return fma(g, x, h * y) / m, fma(g, y, -(h * x)) / m


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

    ``start(u, v, point)`` returns the state of the sample at u + iv before the first step.
    ``advance(state, a, b, point)`` returns the state after a step with c = a + ib.
    ``finish(state)`` returns dz as (p, q): dz/dc, or dz/dz0 for Julia sets, whose samples are the
    starts of orbits; zeros without `derivative`. The formula's options, and the constants of
    `statistics`, which each step updates, are in ``point``, which
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

    def start_all(u, v, point):
        state = start(u, v, point)
        return (*state, *first(state[0], state[1]))

    def advance_all(state, a, b, point):
        z = advance(state[:size], a, b, point)
        own = update(state[size:], z[0], z[1], state[0], state[1], a, b, point)
        return (*z, *own)

    def finish_all(state):
        return finish(state[:size])

    return target.jit(start_all), target.jit(advance_all), target.jit(finish_all)


def make_near(target, formula, derivative):
    """Return ``near(state, escape_radius_squared, point)``: whether an orbit goes on.

    An orbit ends where it escapes, or converges: where two points in turn are at most the
    formula's tolerance apart. NaN, as of 0 / 0 where a derivative is 0, has not converged.
    """
    tolerance_squared, previous = formula.tolerance**2, _tangent_end(formula, derivative)
    if formula.goes_on:
        goes_on, end = target.jit(formula.goes_on), previous + formula.memory
        last = make_last(target, formula)

        def bounded(state, escape_radius_squared, point):
            return goes_on(state[0], state[1], state[previous:end], *last(point, state[0]))

    else:

        def bounded(state, escape_radius_squared, point):
            return fma(state[0], state[0], state[1] * state[1]) <= escape_radius_squared

    bounded = target.jit(bounded)

    def moving(state, escape_radius_squared, point):
        s, t = state[0] - state[previous], state[1] - state[previous + 1]
        apart = fma(s, s, t * t)
        return (apart > number(tolerance_squared, s)) | (apart != apart)

    moving = target.jit(moving)
    if not formula.tolerance:
        return bounded
    if not formula.escapes:
        return moving

    def near(state, escape_radius_squared, point):
        going = bounded(state, escape_radius_squared, point)
        return going & moving(state, escape_radius_squared, point)

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

        def start(u, v, point):
            x, y, _ = begin(u, v)
            return x, y

        def advance(state, a, b, point):
            return step(state[0], state[1], a, b)

    elif formula.holomorphic:

        def start(u, v, point):
            x, y, first = begin(u, v)
            return x, y, first, number(0, x)

        def advance(state, a, b, point):
            x, y = step(state[0], state[1], a, b)
            p, q = derive(state[0], state[1], state[2], state[3])
            return x, y, p + number(seed, p), q

    else:

        def start(u, v, point):
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
    carry, last = jit(formula.carry or formula.step), make_last(target, formula)
    if formula.phases:
        step, tangent, next_phase = make_phases(target, formula)

        def move(state, a, b, point):
            return step(state[0], state[1], a, b, state[old], *last(point, state[0]))

        def change_of(state, k, a, b, e, f, point):
            own = state[0], state[1], state[k], state[k + 1], a, b, e, f
            return tangent(*own, state[old], *last(point, state[0]))

    elif uses_previous:

        def move(state, a, b, point):
            before = state[old], state[old + 1]
            return step(state[0], state[1], a, b, *before, *last(point, state[0]))

        def change_of(state, k, a, b, e, f, point):
            own = state[0], state[1], state[k], state[k + 1], a, b, e, f
            before = state[old], state[old + 1], state[old + 2], state[old + 3]
            return tangent(*own, *before, *last(point, state[0]))

    else:

        def move(state, a, b, point):
            return step(state[0], state[1], a, b, *last(point, state[0]))

        def change_of(state, k, a, b, e, f, point):
            own = state[0], state[1], state[k], state[k + 1], a, b, e, f
            return tangent(*own, *last(point, state[0]))

    move, change_of = jit(move), jit(change_of)
    if not derivative:

        def first(u, v, point):
            x, y, _, _ = begin(u, v, number(1, u), number(0, u), *last(point, u))
            return x, y

        def change(state, a, b, point):
            return move(state, a, b, point)

    elif formula.holomorphic:

        def first(u, v, point):
            return begin(u, v, number(1, u), number(0, u), *last(point, u))

        def change(state, a, b, point):
            p, q = change_of(state, 2, a, b, number(seed, a), number(0, a), point)
            return (*move(state, a, b, point), p, q)

    else:

        def first(u, v, point):
            x, y, p, q = begin(u, v, number(1, u), number(0, u), *last(point, u))
            _, _, s, t = begin(u, v, number(0, u), number(1, u), *last(point, u))
            return x, y, p, q, s, t

        def change(state, a, b, point):
            p, q = change_of(state, 2, a, b, number(seed, a), number(0, a), point)
            s, t = change_of(state, 4, a, b, number(0, a), number(seed, a), point)
            return (*move(state, a, b, point), p, q, s, t)

    first, change = jit(first), jit(change)
    if formula.phases:

        def start(u, v, point):
            return (*first(u, v, point), number(0, u))

        def advance(state, a, b, point):
            return (*change(state, a, b, point), next_phase(state[old]))

    elif not formula.carries_previous:

        def start(u, v, point):
            return first(u, v, point)

        def advance(state, a, b, point):
            return change(state, a, b, point)

    elif formula.carry and derivative:

        def start(u, v, point):
            zero = number(0, u)
            return (*first(u, v, point), zero, zero, zero, zero)

        def advance(state, a, b, point):
            z = change(state, a, b, point)
            own = carry(z[0], z[1], a, b, state[old], state[old + 1])
            e, f = number(seed, a), number(0, a)
            return (*z, *own, *carry(z[2], z[3], e, f, state[old + 2], state[old + 3]))

    elif formula.carry:

        def start(u, v, point):
            return (*first(u, v, point), number(0, u), number(0, u))

        def advance(state, a, b, point):
            z = change(state, a, b, point)
            return (*z, *carry(z[0], z[1], a, b, state[old], state[old + 1]))

    elif uses_previous and derivative:

        def start(u, v, point):
            zero = number(0, u)
            return (*first(u, v, point), zero, zero, zero, zero)

        def advance(state, a, b, point):
            return (*change(state, a, b, point), state[0], state[1], state[2], state[3])

    else:

        def start(u, v, point):
            return (*first(u, v, point), number(0, u), number(0, u))

        def advance(state, a, b, point):
            return (*change(state, a, b, point), state[0], state[1])

    return jit(start), jit(advance), _make_finish(target, formula, derivative)


def _make_remembering_orbit(target, formula, julia, derivative):
    """Return the functions of `make_orbit` for a formula with a memory, which has no derivative."""
    assert not derivative
    jit, end = target.jit, 2 + formula.memory
    step, remember = jit(formula.step), jit(formula.remember)
    begin, last = jit(_at_sample if julia else formula.start), make_last(target, formula)

    def start(u, v, point):
        own = last(point, u)
        x, y, _, _ = begin(u, v, number(1, u), number(0, u), *own)
        return (x, y, *remember(u, v, *own))

    def advance(state, a, b, point):
        return step(state[0], state[1], a, b, state[2:end], *last(point, state[0]))

    return jit(start), jit(advance), _make_finish(target, formula, derivative)


def _at_sample(a, b, p, q, *last):
    return a, b, p, q


def _at_zero(a, b, p, q, *last):
    zero = number(0, a)
    return zero, zero, zero, zero
