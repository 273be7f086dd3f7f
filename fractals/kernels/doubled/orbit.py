"""The functions of an orbit in double-double numbers, from the same text as those of float64.

A state has the numbers of `fractals.kernels.orbit`, in the same places, and behind them the low
parts of those that are doubled: z, the previous z, what is carried in its place, and the memory.
dz is single, and so are the statistics, which come last and are updated with the high parts.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from fractals.kernels import Target
from fractals.kernels.doubled.elementary import functions_for
from fractals.kernels.doubled.recorder import (
    OF_ELEMENTARY,
    Flag,
    Transcript,
    Unrecorded,
    recording,
    written,
)
from fractals.kernels.formula import Formula
from fractals.kernels.orbit import (
    FIRST_OPTION,
    first_size,
    make_near,
    make_orbit,
    make_statistics,
    state_size,
)

RECORDER = Target(recording, float, float, int, int, int, int, lambda array, index, value: None)


class DoubledOrbit(NamedTuple):
    """Compiled functions of states; c is (a, b, low part of a, low part of b)."""

    start: Callable[..., Any]  # ``start(u, v, low_u, low_v, point)``: the state of a sample
    advance: Callable[..., Any]  # ``advance(state, c, point)``: the state after a step
    finish: Callable[..., Any]  # ``finish(state)``: dz as (p, q)
    near: Callable[..., Any]  # ``near(state, escape_radius_squared, point)``: whether it goes on
    own: int  # numbers of a state without statistics


def doubled_places(formula: Formula, derivative: bool) -> list[int]:
    """Return the places of the doubled numbers of a state."""
    size, before = state_size(formula, derivative), first_size(derivative)
    if derivative and not formula.holomorphic:
        before += 2
    if formula.phases:  # the number of the step within a round is single
        return [0, 1]
    return [0, 1, *range(before, size if formula.remember else min(size, before + 2))]


def own_size(formula: Formula, derivative: bool) -> int:
    """Return how many numbers a state has without the statistics."""
    return int(state_size(formula, derivative)) + len(doubled_places(formula, derivative))


def constants_end(formula: Formula, statistics: Any) -> int:
    """Return the place in `point` behind the constants: of the low parts of c of a Julia set."""
    constants = sum(len(each.statistic_constants()) for each in statistics.colorings)
    return FIRST_OPTION + len(formula.options) + constants


class _Leaves:
    """A recorder with the numbers of a state, or of a sample, as leaves."""

    def __init__(self, formula: Formula, derivative: bool) -> None:
        self.recorder = Transcript()
        self.places = doubled_places(formula, derivative)
        self.names = [f"x{k}" for k in range(state_size(formula, derivative))]
        self.options = [f"option{k}" for k in range(len(formula.options))]

    def state(self) -> tuple[Any, ...]:
        """Return the leaves of a state."""
        return tuple(
            self.recorder.leaf(name, k in self.places) for k, name in enumerate(self.names)
        )

    def pair(self, *names: str) -> tuple[Any, ...]:
        """Return doubled leaves."""
        return tuple(self.recorder.leaf(name, True) for name in names)

    def point(self) -> tuple[Any, ...]:
        """Return `point` as far as formulas read it: the options are float64 numbers.

        They count as doubled, because else what is computed of options alone would be rounded to
        float64, which is another formula in a deep view.
        """
        options = (self.recorder.leaf(name, False).doubled() for name in self.options)
        return (*[0.0] * FIRST_OPTION, *options)

    @property
    def option_lines(self) -> list[str]:
        """Return the lines that take the options out of `point`."""
        return [f"{name} = point[{FIRST_OPTION + k}]" for k, name in enumerate(self.options)]

    @property
    def state_line(self) -> str:
        """Return the line that takes the parts of a state."""
        lows = [f"{self.names[k]}_" for k in self.places]
        return f"{', '.join([*self.names, *lows])} = state"

    def results(self, state: Any) -> list[tuple[Any, bool]]:
        """Return a state as results of a written function."""
        numbers = [self.recorder.number(each) for each in state]
        return [(each, k in self.places) for k, each in enumerate(numbers)]


def _recorded(formula: Formula, julia: bool, derivative: bool) -> tuple[tuple[Any, ...], ...]:
    """Return the arguments of `written`, but for the functions, of start, step, finish and near.

    Raises `Unrecorded`: the formula does what can't be recorded.
    """
    start, advance, finish = make_orbit(RECORDER, formula, julia, derivative)
    near = make_near(RECORDER, formula, derivative)
    first, step, last, test = (_Leaves(formula, derivative) for _ in range(4))
    began = first.results(start(*first.pair("u", "v"), first.point()))
    stepped = step.results(advance(step.state(), *step.pair("a", "b"), step.point()))
    slope = [(last.recorder.number(part), False) for part in finish(last.state())]
    flag = near(test.state(), test.recorder.leaf("escape_radius_squared", False), test.point())
    if not isinstance(flag, Flag):
        raise Unrecorded("a condition that no number decides")
    sample, own = ["u", "v", "u_", "v_", "point"], ["state", "a", "b", "a_", "b_", "point"]
    going = ["state", "escape_radius_squared", "point"]
    return (
        ("start", sample, first.recorder, began, first.option_lines),
        ("step", own, step.recorder, stepped, [step.state_line, *step.option_lines]),
        ("finish", ["state"], last.recorder, slope, [last.state_line]),
        ("near", going, test.recorder, [(flag, False)], [test.state_line, *test.option_lines]),
    )


@functools.lru_cache(maxsize=64)
def problem_of(formula: Formula) -> str:
    """Return why the orbits of a formula have no form in double-double numbers, or nothing."""
    try:
        _recorded(formula, False, False)
    except (Unrecorded, TypeError, ValueError, AttributeError) as error:  # of a user's function
        return str(error) or type(error).__name__
    return ""


@functools.lru_cache(maxsize=64)
def functions_in(formula: Formula) -> frozenset[str]:
    """Return the names of the elementary functions that a step of a formula calls."""
    recorder = _recorded(formula, False, False)[1][2]
    return frozenset(OF_ELEMENTARY).intersection(name for name, *_ in recorder.notes)


def make_doubled_orbit(target: Target, options: Any) -> DoubledOrbit:
    """Return the orbit of a program, whose options are `fractals.kernels.escape.EscapeOptions`."""
    formula, derivative, statistics = options.formula, options.derivative, options.statistics
    names = functions_for(target)
    parts = []
    for name, arguments, recorder, results, lines in _recorded(formula, options.julia, derivative):
        parts.append(target.jit(written(name, arguments, recorder, results, names, lines)))
    first, step, finish, near = parts
    own = own_size(formula, derivative)
    if not statistics.colorings:

        def start(u, v, low_u, low_v, point):
            return first(u, v, low_u, low_v, point)

        def advance(state, c, point):
            return step(state, c[0], c[1], c[2], c[3], point)

    else:
        begin, update = make_statistics(target, formula, statistics)

        def start(u, v, low_u, low_v, point):
            state = first(u, v, low_u, low_v, point)
            return (*state, *begin(state[0], state[1]))

        def advance(state, c, point):
            z = step(state[:own], c[0], c[1], c[2], c[3], point)
            return (*z, *update(state[own:], z[0], z[1], state[0], state[1], c[0], c[1], point))

    def end(state):
        return finish(state[:own])

    def goes_on(state, escape_radius_squared, point):
        return near(state[:own], escape_radius_squared, point)

    jit = target.jit
    return DoubledOrbit(jit(start), jit(advance), jit(end), jit(goes_on), own)
