"""The contract of a formula: a map of the plane, in real arithmetic.

A formula is a function of four real numbers: ``step(x, y, a, b)`` takes z = x + iy and c = a + ib
to the next z, and returns it as ``(x, y)``. The same text runs on plain Python numbers, NumPy
scalars, big floats, packs of samples, and compiled on the CPU and the GPU. So it may use

- ``+ - *``, ``abs``, ``<``, ``&``, ``|``; and from `fractals.kernels.primitives`: `fma` (a * b + c,
  rounded once), `select` (both branches are computed: there is no ``if`` on numbers), `number`
  (a constant in the type of another number), `sqrt`, and `diffabs`;
- from `fractals.kernels.elementary`: `exp`, `sincos`, `sinhcosh`, `log`, `angle`, `quotient`;
- loops over ranges that are known when it is compiled.

`fma` is used for each ``a * b + c``, because compilers differ in which of these they fuse, and
counts must be the same on every device.

Examples
--------
A file of one formula holds these functions and ``make()``:

>>> from fractals.kernels.primitives import fma
>>> def step(x, y, a, b):  # z**2 + c
...     return fma(x, x, fma(-y, y, a)), fma(x + x, y, b)
>>> def derivative(x, y, p, q):  # 2z (p + iq)
...     u, v = x + x, y + y
...     return fma(u, p, -(v * q)), fma(u, q, v * p)
>>> def make():
...     return Formula("square", "z² + c", step=step, derivative=derivative, degree=2)
>>> make().step(1.0, 2.0, 0.5, 0.25)
(-2.5, 4.25)
"""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, count
from typing import Any, ClassVar, NamedTuple, TypeVar

from fractals.kernels.primitives import number

MAX_MEMORY = 18  # numbers that an orbit carries besides z

Step = Callable[..., Any]
PerturbedStep = Callable[..., tuple[Any, Any]]
Start = Callable[..., tuple[Any, Any, Any, Any]]


class OrbitPoint(NamedTuple):
    """A point of an orbit, the point before it, and what the orbit carries besides."""

    z: tuple[Any, Any]
    before: tuple[Any, Any]
    memory: tuple[Any, ...]


M = TypeVar("M", bound="ByRecipe")


class ByRecipe:
    """A value whose functions may be made of text or of options, and so can't be pickled.

    A pickle holds the recipe in their place: a function and its arguments, which return an equal
    value. Without a recipe the value is pickled as any other.
    """

    recipe: ClassVar[tuple[Callable[..., Any], tuple[Any, ...]] | None] = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the recipe, for `pickle` and `copy`."""
        return self.recipe or super().__reduce_ex__(protocol)


def with_recipe(made: M, function: Callable[..., M], *arguments: Any) -> M:
    """Return a value with its recipe; the function is of a module, so that a pickle can name it."""
    object.__setattr__(made, "recipe", (function, arguments))  # the value is frozen
    return made


def with_options(make: Callable[..., M], usual: Mapping[str, Any]) -> Callable[..., M]:
    """Return a function of keywords, whose signature shows them with their usual values."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = [inspect.Parameter(key, kind, default=value) for key, value in usual.items()]
    make.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return make


class AnyFormula(ByRecipe):
    """What a scene's formula is in any family of images.

    A family is a way to make images: it decides how a formula is planned, computed, colored and
    forecast (`fractals.rendering.families`). Every formula has a name, a title, a home view and
    parameters, as those of `Formula`; and its class or the formula has a group.
    """

    family: ClassVar[str]
    # Its functions of numbers, which a user's file may define; without one no file makes it.
    functions: ClassVar[tuple[str, ...]] = ()
    name: str
    title: str
    center: tuple[str, str]
    width: str
    parameters: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Return name and options, such as ``"multibrot,power=3"``."""
        return ",".join([self.name, *(f"{key}={value}" for key, value in self.parameters.items())])


Make = TypeVar("Make", bound=Callable[..., Any])


def explained(**meanings: str) -> Callable[[Make], Make]:
    """Return a decorator of what makes a formula: it says what each option means."""

    def declare(make: Make) -> Make:
        make.meanings = meanings  # type: ignore[attr-defined]
        return make

    return declare


def meanings_of(make: Callable[..., AnyFormula]) -> dict[str, str]:
    """Return what each option of a formula of any family means, by name; `make` makes it."""
    knobs = getattr(make(), "knobs", {})
    return {name: knob.meaning for name, knob in knobs.items()} | getattr(make, "meanings", {})


@dataclass(frozen=True)
class Formula(AnyFormula):
    """A map whose orbits are iterated: z -> f(z) + c, or any other map of z and c.

    Maps f(z) + c whose orbits start at 0 need `step` and `derivative`; with `perturbed` they are
    also drawn in deep views. Any other map has a `tangent` in place of the derivative, and a
    `start` unless its orbits start at 0.

    Attributes
    ----------
    name : str
        As scenes name it.
    title : str
        One line for lists.
    step : callable
        ``step(x, y, a, b) -> (x, y)``: the next z. With `uses_previous` the previous z = u + iv
        comes last: ``step(x, y, a, b, u, v)``.
    derivative : callable, or None
        ``derivative(x, y, p, q) -> (p, q)``: f'(z) (p + iq) at z = x + iy; where f is not
        holomorphic, the Jacobian matrix of f times the vector (p, q). None for a map with a
        `tangent`.
    degree : int
        Growth exponent at infinity: ``|f(z)| ~ |z|**degree``; 0 where there is none, and then
        counts are not smoothed.
    center, width : str
        The home view, drawn when a scene names no other: decimal text, in plane units.
    holomorphic : bool
        Whether f has a complex derivative. If not, both columns of the Jacobian travel along an
        orbit in place of dz.
    can_return : bool
        Whether an orbit beyond R >= 2 and ``R >= |c|`` may come back within R. Then every step is
        tested for escape, at about half the speed. No ``z**d + c`` does.
    perturbed : callable, optional
        ``perturbed(X, Y, x, y, a, b, *kinks(X, Y)) -> (x, y)``: f(Z + z) - f(Z) + c for a reference
        point Z = X + iY, and for the differences z = x + iy and c = a + ib from the reference orbit
        and its parameter, without cancellation where ``|z|`` is far below ``|Z|``. Without
        `perturbed` the formula is only drawn in views that the number type resolves.
    kinks : callable, optional
        ``kinks(x, y)``: the one or two numbers whose absolute values the step takes, as a tuple,
        for a formula with `perturbed` that is not smooth everywhere. f has a kink where one of them
        is 0. Those of the reference are computed in the reference's precision, because X² - Y² of
        its rounded points loses its digits near a diagonal.
    kink_degrees : tuple of int
        The power of ``|z|`` that each of these numbers grows with; () where all are squares.
    kink_distance : callable, optional
        ``kink_distance(X, Y, *kinks(X, Y))``: a lower bound of the distance of Z = X + iY from
        where f has a kink, in plane units.
    inside : callable, optional
        ``inside(a, b) -> bool``: true only where c = a + ib is in the set for certain, for every
        number type. Such samples are not iterated.
    symmetric : bool
        Whether the orbit of conj(c) mirrors that of c, in every bit:
        ``step(x, -y, a, -b)`` is ``(x', -y')``. Only for maps whose orbits start at 0.
    parameters : mapping
        Options that a scene may set, with their values, such as ``{"power": 3}``.
    tangent : callable, optional
        ``tangent(x, y, p, q, a, b, e, f) -> (p, q)``: how the next z changes when z changes by
        p + iq and c by e + if. With `uses_previous` four more arguments come last: the previous z,
        or what `carry` returned, and its change.
    start : callable, optional
        ``start(a, b, p, q) -> (x, y, s, t)``: where the orbit of c = a + ib starts in the parameter
        plane (a critical point), and how that start changes when c changes by p + iq.
    uses_previous : bool
        Whether the next z also depends on the previous z, which is 0 at the start. Only for
        holomorphic maps.
    carry : callable, optional
        ``carry(x, y, a, b, u, v) -> (u, v)``, with `uses_previous`: the number that travels along
        the orbit in place of the previous z. It is 0 at the start; after each step it follows from
        the new z = x + iy, c = a + ib and itself. It is linear in all three, so that it also takes
        their changes to its own.
    tolerance : float
        Above 0 orbits converge: they end where two points in turn are at most this far apart, in
        plane units.
    escapes : bool
        False: orbits end only by converging.
    sequence : tuple of Formula
        Maps f(z) + c that one step applies one after the other; () for an ordinary formula.
    maps : int
        How many maps one step applies.
    phases : tuple of (Formula, int)
        Maps that are iterated in turn, each a number of times; () for an ordinary formula. Unlike
        those of a `sequence`, each is a step with a count of its own. `step` and `tangent` are
        then those of the first one.
    loop : int
        The phase that follows the last one.
    coloring : str
        Name of the coloring that takes the place of `smooth`; "" for none.
    group : str
        The heading of lists under which the formula is found.
    remember : callable, optional
        ``remember(a, b)``: the numbers that an orbit carries besides z, its memory, before the
        first step, as a tuple; a + ib is the sample. The memory then comes last among the arguments
        of `step`, as one tuple, and its new numbers follow those of the next z. Such a formula has
        no `tangent`, so no coloring may need dz.
    memory_stays : bool
        Whether the memory is the same along an orbit, so that z alone decides the next z.
    goes_on : callable, optional
        ``goes_on(x, y, memory) -> bool``: whether an orbit at z = x + iy has not escaped, in place
        of the comparison of ``|z|`` with the escape radius.
    options : tuple of float
        Numbers that programs get when they run, so that other numbers compile nothing. A formula
        with options has a `tangent` or a memory. They come last among the arguments of `step`,
        `tangent`, `start`, `remember` and `goes_on`, as one tuple of numbers of the type of x.
    """

    family: ClassVar[str] = "escape"
    functions: ClassVar[tuple[str, ...]] = (
        *("step", "derivative", "perturbed", "kinks", "kink_distance", "tangent", "start"),
    )

    name: str
    title: str
    step: Step
    derivative: Any
    degree: int
    center: tuple[str, str] = ("0", "0")
    width: str = "4.5"
    holomorphic: bool = field(default=True, kw_only=True)
    can_return: bool = field(default=False, kw_only=True)
    perturbed: PerturbedStep | None = None
    kinks: Callable[[Any, Any], tuple[Any, ...]] | None = None
    kink_degrees: tuple[int, ...] = ()
    kink_distance: Callable[..., Any] | None = None
    inside: Callable[[Any, Any], Any] | None = None
    symmetric: bool = field(default=False, kw_only=True)
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    tangent: Step | None = None
    start: Start | None = None
    uses_previous: bool = field(default=False, kw_only=True)
    carry: Step | None = None
    tolerance: float = 0.0
    escapes: bool = field(default=True, kw_only=True)
    sequence: tuple["Formula", ...] = ()
    maps: int = 1
    phases: tuple[tuple["Formula", int], ...] = ()
    loop: int = 0
    coloring: str = ""
    group: str = field(default="Others", compare=False)
    remember: Callable[..., tuple[Any, ...]] | None = None
    memory_stays: bool = field(default=False, kw_only=True)
    goes_on: Callable[..., Any] | None = None
    options: tuple[float, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.options and (self.perturbed or not (self.tangent or self.remember)):
            raise ValueError("options: give a tangent in place of derivative and perturbed")

    def compiled(self) -> "Formula":
        """Return a copy without what does not affect compiled code: values, and their texts."""
        if not self.options:
            return self
        phases = tuple((each.compiled(), count) for each, count in self.phases)
        options = (0.0,) * len(self.options)
        return replace(self, title="", parameters={}, options=options, phases=phases)

    def last(self, like: Any) -> tuple[Any, ...]:
        """Return what functions take last, as a tuple: () or the options, of the type of `like`."""
        return (tuple(number(value, like) for value in self.options),) if self.options else ()

    @property
    def memory(self) -> int:
        """Return how many numbers `remember` returns."""
        return len(self.remember(1.0, 1.0, *self.last(1.0))) if self.remember else 0

    @property
    def kink_count(self) -> int:
        """Return how many numbers `kinks` returns."""
        return len(self.kinks(1.0, 1.0)) if self.kinks else 0

    @property
    def carries_previous(self) -> bool:
        """Tell whether the previous z travels along an orbit."""
        return self.uses_previous or self.tolerance > 0

    @property
    def memoryless(self) -> bool:
        """Tell whether z and c alone decide the next z."""
        changes = self.remember is not None and not self.memory_stays
        return not (self.carries_previous or self.phases or changes)

    def map_at(self, n: int) -> "Formula":
        """Return the formula of step n, counted from 0."""
        if not self.phases:
            return self
        ends = tuple(accumulate(count for _, count in self.phases))
        if n >= ends[-1]:
            first = ends[self.loop - 1] if self.loop else 0
            n = first + (n - first) % (ends[-1] - first)
        return next(own for (own, _), end in zip(self.phases, ends, strict=True) if n < end)

    @property
    def additive(self) -> bool:
        """Tell whether the map is f(z) + c, iterated from 0 until |z| exceeds a radius."""
        return not (self.tangent or self.start or self.carries_previous or self.goes_on)

    def fraction_constants(self, escape_radius: float) -> tuple[float, float]:
        """Return `start` and `scale` of `fractals.kernels.coloring.make_fraction` for a picture.

        `scale` is 0 for a formula without a degree: its bands of equal counts stay visible.
        """
        scale = 1 / math.log2(self.degree) if self.degree > 1 else 0.0
        return math.log2(2 * math.log2(escape_radius)), scale

    @property
    def is_power(self) -> bool:
        """Tell whether the map is z -> z**degree + c."""
        plain = self.additive and self.holomorphic and not self.sequence and self.degree > 1
        return plain and self.derivative(1.0, 0.0, 1.0, 0.0)[0] == self.degree  # not -z**degree

    def begin(self, julia: bool, u: Any, v: Any) -> tuple[Any, Any]:
        """Return where the orbit of the sample at u + iv starts."""
        if julia:
            return u, v
        zero = abs(0 * u)
        return self.start(u, v, zero, zero, *self.last(u))[:2] if self.start else (zero, zero)

    def orbit(self, julia: bool, u: Any, v: Any, a: Any, b: Any) -> Iterator["OrbitPoint"]:
        """Yield the points z_1, z_2, ... of the orbit of the sample at u + iv, on the host."""
        z, carried = self.begin(julia, u, v), (abs(0 * u), abs(0 * u))
        last = self.last(u)
        memory = self.remember(u, v, *last) if self.remember else ()
        for n in count():
            step, before = self.map_at(n).step, z
            if self.remember:
                x, y, *rest = step(*z, a, b, memory, *last)
                z, memory = (x, y), tuple(rest)
            else:
                z = step(*z, a, b, *(carried if self.uses_previous else ()), *last)
            carried = self.carry(*z, a, b, *carried) if self.carry else before
            yield OrbitPoint(z, before, memory)

    def is_near(self, point: "OrbitPoint", escape_radius_squared: Any) -> Any:
        """Tell whether an orbit has neither escaped nor converged at a point, on the host."""
        (x, y), (u, v), memory = point
        near = x == x
        if self.tolerance:
            near = near & ((x - u) * (x - u) + (y - v) * (y - v) > self.tolerance**2)
        if self.goes_on:
            near = near & self.goes_on(x, y, memory, *self.last(x))
        elif self.escapes:
            near = near & (x * x + y * y <= escape_radius_squared)
        return near
