"""The contract of a solid: a map of space, whose distance estimate is seen by rays.

A solid is a function ``step(x, y, z, d, a, b, c, options) -> (x, y, z, d)``: it takes the point
(x, y, z) of an orbit to the next one, and d, which bounds how much the map stretches space, along
with it. (a, b, c) is the point of space that the orbit belongs to, or the constants of a Julia set.
`options` is a tuple of numbers. It is written as a formula's step, from the same functions (see
`fractals.kernels.formula`); `clamp` of `fractals.kernels.primitives` is of use, too.

How far the surface is from a point follows from the last point of its orbit, r = sqrt(x² + y² + z²)
and d. A ray that walks such distances never passes the surface, as long as they are not too long.
The surface may be farther away than the estimate: `Solid.short` tells how many times, as a rule.

Examples
--------
A file of one solid holds the step and ``make()``:

>>> from fractals.kernels.primitives import number
>>> def step(x, y, z, d, a, b, c, options):  # a ball of radius 1, magnified
...     two = number(2, x)
...     return x * two, y * two, z * two, d * two
>>> def make():
...     return Solid("ball", "Ball", step, distance="linear", body=1.0, steps=1, bound=1.0)
>>> make().step(1.0, 0.0, 0.5, 1.0, 1.0, 0.0, 0.5, ())
(2.0, 0.0, 1.0, 2.0)
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from fractals.kernels.formula import AnyFormula

LARGEST = 1e6  # of an option
# How many times as far as the distance estimate the surface is, as a rule. That of powers is a
# bound from below, a quarter of the distance at worst (Koebe), and d is a bound from above.
# Measured where rays end: the median is 2 to 2.8 times as far, and nine tenths are 1.7 to 5 times.
SHORT = {"log": 2.5}
MOST_STEPS = 1000


class Knob(NamedTuple):
    """The range and the meaning of a parameter, for checks, lists and sliders."""

    least: float
    most: float
    meaning: str  # with its unit


def within(knobs: Mapping[str, Knob], **given: Any) -> dict[str, Any]:
    """Return the parameters, which are numbers within the ranges of their knobs.

    Raises `ValueError` in one line for another value. A knob whose ends are of type int takes
    whole numbers only.

    >>> within({"scale": Knob(1.1, 3.0, "by which a step magnifies")}, scale=2)
    {'scale': 2}
    """
    for name, value in given.items():
        least, most, _ = knobs[name]
        whole = isinstance(least, int)
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            kind = "whole number" if whole else "number"
            raise ValueError(f"{name} is a {kind} from {least:g} to {most:g}")
        if not least <= value <= most:
            raise ValueError(f"{name}: {value:g} is not from {least:g} to {most:g}")
    return given


ANGLE = (-180.0, 180.0)


def from_afar(radius: float) -> tuple[float, float, float]:
    """Return the place of a camera that sees a ball around 0 as a whole."""
    return 1.55 * radius, -2.55 * radius, 1.1 * radius


def rotation_knobs(what: str) -> dict[str, Knob]:
    """Return the knobs of `fractals.kernels.space.rotation`."""
    return {
        name: Knob(*ANGLE, f"degrees by which {what} rotates about the {axis} axis")
        for name, axis in (("turn", "z"), ("tilt", "x"), ("roll", "y"))
    }


class Member(NamedTuple):
    """One of the solids that are applied in turn."""

    step: Callable[..., Any]
    numbers: int  # how many of the options are its own; its constants follow if it has some
    constants: bool
    fourth: bool


class Walk(NamedTuple):
    """What is compiled of a solid: its options, its steps and its bail are data."""

    step: Callable[..., Any]
    distance: str | Callable[..., Any]
    trap: Callable[..., Any] | None
    numbers: int  # how many options there are
    fourth: bool = False  # whether orbits have a fourth coordinate
    sequence: tuple["Member", ...] = ()


@dataclass(frozen=True)
class Solid(AnyFormula):
    """A fractal in space, seen by rays that walk its distance estimate."""

    family: ClassVar[str] = "solid"
    functions: ClassVar[tuple[str, ...]] = ("step", "distance", "trap")
    group: ClassVar[str] = "Solids"

    name: str  # as scenes name it
    title: str  # one line for lists
    # ``step(x, y, z, d, a, b, c, options) -> (x, y, z, d)``: the next point of an orbit, and the
    # bound of its derivative. d is 1 at the start; where a map adds the point (a, b, c), add 1. The
    # same function for all values of the options, so that a changed option compiles nothing.
    step: Callable[..., Any]
    # The distance estimate at the last point of an orbit: "log" for powers, ``0.5 r log(r) / d``,
    # and 0 where r² is below `bail`; "linear" for folds, ``(r - body) / d``; or ``distance(x, y, z,
    # d, options)``.
    distance: str | Callable[..., Any] = "log"
    # The most steps of an orbit, which are to magnify by a million. The orbit of a point on the
    # surface takes them all. Views of finer detail take more, unless there are fewer than four.
    steps: int = 10
    bail: float = 64.0  # an orbit ends where r² is larger
    # The radius of a sphere around 0 that holds the whole solid. What is outside is not drawn.
    bound: float = 2.0
    # Of a "linear" distance: the radius of the ball whose images the solid is made of.
    body: float = 0.0
    # By which the distance estimate is multiplied, where it would be too long: 0 to 1.
    factor: float = 1.0
    # How many times as far as the distance estimate the surface is, as a rule: with that distance
    # half a pixel is compared, but no ray goes farther than the estimate at once. 0: as of `SHORT`.
    short: float = 0.0
    # By how many estimates a ray far from the surface goes at once. 0: as of `Solid.longer`.
    far: float = 0.0
    # ``trap(x, y, z, options)``, a number that colors the surface: the least one of the points of
    # an orbit after the first. Without it: the distance of these points from 0.
    trap: Callable[..., Any] | None = None
    # Of a Julia set: what (a, b, c) is for all points. Without them it is the point itself.
    constants: tuple[float, float, float] | None = None
    # Where the fourth coordinate of all orbits starts, of maps of four coordinates: then ``step(x,
    # y, z, w, d, a, b, c, options) -> (x, y, z, w, d)``, and r has four parts, too.
    fourth: float | None = None
    degree: int = 1  # growth exponent at infinity: 1 for folds
    # Solids in turn: a step is a step of each, and `step` is not called. `options` are those of
    # all, each followed by its constants if it has some.
    sequence: tuple["Solid", ...] = ()
    # The step for all values of the options, with equal bits, where `step` is for some of them.
    general: Callable[..., Any] | None = None
    # The numbers that the functions receive. They may follow from the parameters, such as the sine
    # and the cosine of an angle.
    options: tuple[float, ...] = ()
    # Numbers that a scene may set, with their values.
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    # The range and the meaning of each parameter.
    knobs: Mapping[str, Knob] = field(default_factory=dict, hash=False, compare=False)
    source: str = ""  # who published the map first, and when
    # position, target: The camera of a scene that sets none, and what it looks at.
    position: tuple[float, float, float] = (1.6, -2.6, 1.3)
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)  # which direction is up for that camera
    # What every formula has: no view of the plane belongs to a solid
    center: tuple[str, str] = field(default=("0", "0"), init=False)
    width: str = field(default="4", init=False)

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            if isinstance(value, str):  # checked where it is read
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"{name} is a number")
            if not abs(value) <= LARGEST:
                raise ValueError(f"{name}: {value:g} is not from -{LARGEST:g} to {LARGEST:g}")
        if not (callable(self.distance) or self.distance in ("log", "linear")):
            raise ValueError("distance is 'log', 'linear' or a function")
        if not 1 <= self.steps <= MOST_STEPS:
            raise ValueError(f"steps: {self.steps} is not from 1 to {MOST_STEPS}")
        if not (0 < self.bound < math.inf and self.bail > 0 and 0 < self.factor <= 1):
            raise ValueError("bound and bail are more than 0, and factor is at most 1")
        if self.short and not 1 <= self.short <= LARGEST:
            raise ValueError(f"short: {self.short:g} is less than 1")
        if self.far and not 1 <= self.far <= max(1.0, self.shortness):
            raise ValueError(f"far: {self.far:g} is not from 1 to {self.shortness:g}")

    @property
    def shortness(self) -> float:
        """Return how many times as far as the distance estimate the surface is, as a rule."""
        kind = self.distance if isinstance(self.distance, str) else ""
        return self.short or SHORT.get(kind, 1.0)

    @property
    def longer(self) -> float:
        """Return by how many estimates a ray far from the surface goes at once.

        A ray that goes straight to a surface as far as powers expect it goes so far that the balls
        of the estimates around both ends of its step touch. Solids with a `short` of their own go
        one estimate, unless `far` says more: rays to bicomplex numbers and to the Bristorbrot pass
        members then.
        """
        powers = self.distance == "log" and not self.short
        return self.far or (2 * self.shortness / (1 + self.shortness) if powers else 1.0)

    def generally(self) -> "Solid":
        """Return the solid with the steps for all values of its options."""
        parts = tuple(part.generally() for part in self.sequence)
        step = parts[0].step if parts else self.general or self.step
        return replace(self, step=step, sequence=parts)

    @property
    def walk(self) -> Walk:
        """Return what is compiled."""
        fourth = self.fourth is not None
        sequence = tuple(
            Member(
                part.step, len(part.options), part.constants is not None, part.fourth is not None
            )
            for part in self.sequence
        )
        return Walk(self.step, self.distance, self.trap, len(self.options), fourth, sequence)


def make_step(target: Any, walk: Walk) -> Any:
    """Return ``step(x, y, z, w, d, a, b, c, options) -> (x, y, z, w, d)`` of a solid, compiled.

    A solid without a fourth coordinate leaves w as it is.
    """
    if not walk.sequence:
        return _whole(target, walk.step, walk.fourth)
    step, begin = None, 0
    for part in walk.sequence:
        own = _placed(target, part, begin)
        step = own if step is None else _then(target, step, own)
        begin += part.numbers + 3 * part.constants
    return step


def _whole(target: Any, step: Any, fourth: bool) -> Any:
    """Return a step with a fourth coordinate."""
    step = target.jit(step)

    def beside(x, y, z, w, d, a, b, c, options):
        x, y, z, d = step(x, y, z, d, a, b, c, options)
        return x, y, z, w, d

    return step if fourth else target.jit(beside)


def _placed(target: Any, part: Member, begin: int) -> Any:
    """Return the step of a part, whose options begin at a place of all options."""
    step, end = _whole(target, part.step, part.fourth), begin + part.numbers

    def chosen(a, b, c, options):
        return a, b, c

    def constant(a, b, c, options):
        return options[end], options[end + 1], options[end + 2]

    choose = target.jit(constant if part.constants else chosen)

    def placed(x, y, z, w, d, a, b, c, options):
        a, b, c = choose(a, b, c, options)
        return step(x, y, z, w, d, a, b, c, options[begin:end])

    return target.jit(placed)


def _then(target: Any, first: Any, second: Any) -> Any:
    def both(x, y, z, w, d, a, b, c, options):
        x, y, z, w, d = first(x, y, z, w, d, a, b, c, options)
        return second(x, y, z, w, d, a, b, c, options)

    return target.jit(both)
