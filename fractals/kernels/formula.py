"""The contract of a formula, and the few functions its text may use on every target.

A formula is a function of four real numbers: ``step(x, y, a, b)`` takes z = x + iy and c = a + ib
to the next z. The same text runs on plain Python numbers, NumPy scalars, big floats, and compiled
on the CPU and the GPU, where `fma`, `select`, `number`, `sqrt` and `split` have an overload each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

Step = Callable[..., tuple[Any, Any]]
PerturbedStep = Callable[..., tuple[Any, Any]]
Start = Callable[[Any, Any, Any, Any], tuple[Any, Any, Any, Any]]


class Home(Protocol):
    """Where a formula is looked at first: a center and a full width, as decimal text."""

    center: tuple[str, str]
    width: str


@dataclass(frozen=True)
class Formula:
    """A map whose orbits are iterated: z -> f(z) + c, or any other of z and c.

    Attributes
    ----------
    step : callable
        ``step(x, y, a, b) -> (x, y)``: one application, in real arithmetic with `fma`.
    derivative : callable, or None
        ``derivative(x, y, p, q) -> (p, q)``: the linear part of f at z = x + iy, applied to the
        vector p + iq (the derivative times a complex number where f is holomorphic, otherwise the
        Jacobian matrix times a vector). None for a map that is not f(z) + c: it has a `tangent`.
    degree : int
        Growth exponent at infinity: ``|f(z)| ~ |z|**degree``; 0 where there is none.
    center, width : str
        The home view: what is drawn when a scene names no other.
    holomorphic : bool
        Whether f has a complex derivative; if not, two tangent vectors are carried along.
    can_return : bool
        Whether an orbit beyond R >= 2 and R >= |c| may come back within R, as none of ``z**d + c``
        does; every step is then tested, at about half the speed.
    perturbed : callable, optional
        ``perturbed(X, Y, x, y, a, b, *kinks(X, Y)) -> (x, y)``: the difference
        f(Z + z) + C + c - (f(Z) + C) for a reference Z = X + iY and small differences z = x + iy
        and c = a + ib, without the cancellation. Without it a formula is drawn down to what float64
        resolves, and no deeper.
    kinks : callable, optional
        ``kinks(x, y)``: the numbers whose absolute values the step takes, one or two, for a formula
        that is not smooth everywhere; f has a kink where one is 0. Those of the reference are
        computed in its precision: of its rounded points X² - Y² would be lost near a diagonal.
    kink_degrees : tuple of int
        By which power of z each of them grows; where it is empty, they are squares.
    kink_distance : callable, optional
        ``kink_distance(X, Y, *kinks(X, Y))``: a distance from Z = X + iY within which f has no
        kink.
    inside : callable, optional
        ``inside(a, b) -> bool``: true only where c = a + ib is surely in the set.
    parameters : mapping
        Options a scene may set, with their values, such as ``{"power": 3}``.
    tangent : callable, optional
        ``tangent(x, y, p, q, a, b, e, f) -> (p, q)``: how the next z changes when z changes by
        p + iq and c by e + if.
    start : callable, optional
        ``start(a, b, p, q) -> (x, y, s, t)``: where the orbit of c = a + ib starts in the parameter
        plane, a critical point, and how that changes when c changes by p + iq. Without it at 0.
    memory : bool
        Whether the next z depends on the one before, too, which is 0 at first: `step` is given it
        as two more arguments, and `tangent` also its change, as four. Only for holomorphic maps.
    tolerance : float
        Above 0 the orbits converge: they end where two points in turn are no farther apart.
    escapes : bool
        False: orbits end only so.
    turn : tuple of Formula
        Maps f(z) + c that are applied one after the other, where one step is all of them.
    maps : int
        How many maps one step is.
    coloring : str
        Name of the coloring that takes the place of `smooth`.
    """

    name: str
    title: str
    step: Step
    derivative: Any
    degree: int
    center: tuple[str, str] = ("0", "0")
    width: str = "4.5"
    holomorphic: bool = True
    can_return: bool = False
    perturbed: PerturbedStep | None = None
    kinks: Callable[[Any, Any], tuple[Any, ...]] | None = None
    kink_degrees: tuple[int, ...] = ()
    kink_distance: Callable[..., Any] | None = None
    inside: Callable[[Any, Any], Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tangent: Step | None = None
    start: Start | None = None
    memory: bool = False
    tolerance: float = 0.0
    escapes: bool = True
    turn: tuple["Formula", ...] = ()
    maps: int = 1
    coloring: str = ""

    @property
    def kink_count(self) -> int:
        """Return how many numbers `kinks` gives."""
        return len(self.kinks(1.0, 1.0)) if self.kinks else 0

    @property
    def remembers(self) -> bool:
        """Tell whether the z before travels along an orbit."""
        return self.memory or self.tolerance > 0

    @property
    def additive(self) -> bool:
        """Tell whether it is z -> f(z) + c from 0, as what is known of such maps supposes."""
        return not (self.tangent or self.start or self.remembers)

    @property
    def is_power(self) -> bool:
        """Tell whether it is z -> z**degree + c."""
        return self.additive and self.holomorphic and not self.turn and self.degree > 1

    def begin(self, julia: bool, u: Any, v: Any) -> tuple[Any, Any]:
        """Return where the orbit of the sample at u + iv starts."""
        if julia:
            return u, v
        zero = abs(0 * u)
        return self.start(u, v, zero, zero)[:2] if self.start else (zero, zero)

    def go_on(self, z: tuple[Any, Any], before: tuple[Any, Any], a: Any, b: Any) -> tuple[Any, Any]:
        """Return the z after `z`; for loops on the host."""
        return self.step(*z, a, b, *before) if self.memory else self.step(*z, a, b)

    @property
    def label(self) -> str:
        """Return name and options, such as ``"multibrot,power=3"``."""
        return ",".join([self.name, *(f"{key}={value}" for key, value in self.parameters.items())])
