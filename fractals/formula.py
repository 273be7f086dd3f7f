"""The contract of a formula, and the few functions its text may use on every target.

A formula is a function of four real numbers: ``step(x, y, a, b)`` takes z = x + iy and c = a + ib
to the next z. The same text runs on plain Python numbers, NumPy scalars, big floats, and compiled
on the CPU and the GPU, where `fma`, `select`, `number`, `sqrt` and `split` have an overload each.
"""

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

Step = Callable[..., tuple[Any, Any]]
PerturbedStep = Callable[[Any, Any, Any, Any, Any, Any], tuple[Any, Any]]
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
        ``perturbed(X, Y, x, y, a, b) -> (x, y)``: the difference f(Z + z) + C + c - (f(Z) + C) for
        a reference Z = X + iY and small differences z = x + iy and c = a + ib, without the
        cancellation. Without it a formula is drawn down to what float64 resolves, and no deeper.
    fold : callable, optional
        ``fold(X, Y)``: how far Z = X + iY is from where f has a kink, at most; for a formula that
        is not smooth everywhere.
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
    fold: Callable[[Any, Any], Any] | None = None
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


def fma(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once (IEEE 754 fusedMultiplyAdd).

    Examples
    --------
    >>> fma(1 + 2.0**-30, 1 + 2.0**-30, -1.0) == 2.0**-29 + 2.0**-60
    True
    """
    if isinstance(a, np.float32):
        return _fma32(a, b, c)
    if isinstance(a, float):
        return _fma64(a, b, c)
    return a * b + c  # big floats: another rounding at their precision does no harm


def _fma32(a: Any, b: Any, c: Any) -> np.float32:
    """In float64 the product is exact; the sum is rounded to odd, so that rounding again is safe.

    After Boldo and Melquiond, *Emulation of FMA and correctly rounded sums* (2008).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        product, addend = float(a) * float(b), float(c)
        total = product + addend
        virtual = total - product
        error = (product - (total - virtual)) + (addend - virtual)
        if math.isfinite(total) and error != 0 and not np.float64(total).view(np.int64) & 1:
            total = math.nextafter(total, math.inf if error > 0 else -math.inf)
        return np.float32(total)


def _fma64(a: float, b: float, c: float) -> float:
    try:
        return _fma64_finite(a, b, c)
    except (OverflowError, ValueError):  # something infinite or NaN goes in or comes out
        finite = math.isfinite(a) and math.isfinite(b) and math.isfinite(c)
        return math.copysign(math.inf, a * b + c) if finite else a * b + c


def _fma64_exact(a: float, b: float, c: float) -> float:
    """For Python before 3.13, which has `math.fma`."""
    if math.isinf(c) and math.isfinite(a) and math.isfinite(b):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)  # raises for infinities and NaN
    return float(exact) if exact else a * b + c  # the latter keeps the sign of zero


_fma64_finite: Callable[[float, float, float], float] = getattr(math, "fma", _fma64_exact)


def select(condition: Any, a: Any, b: Any) -> Any:
    """`a` where `condition` holds, otherwise `b`; both are computed."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, a, b)
    return a if condition else b


def number(value: float, like: Any) -> Any:
    """The constant `value` in the type of the number `like`.

    A bare ``0.25`` in a formula would turn float32 arithmetic into float64.
    """
    return np.full_like(like, value) if isinstance(like, np.ndarray) else type(like)(value)


def sqrt(v: Any) -> Any:
    """Square root, correctly rounded; NaN below 0.

    Examples
    --------
    >>> sqrt(2.25)
    1.5
    """
    if isinstance(v, np.ndarray):
        return np.sqrt(v)
    return type(v)(math.sqrt(v) if v >= 0 else math.nan)


def split(v: Any) -> tuple[Any, Any]:
    """Return m in [1, 2) and the whole number e with ``v == m * 2**e``, for a normal v > 0.

    By the bits, so that other numbers give the same nonsense on every target.

    Examples
    --------
    >>> split(20.0)
    (1.25, 4)
    """
    single = isinstance(v, np.float32)
    fraction, bias, (code, word) = (23, 127, "fi") if single else (52, 1023, "dq")
    (bits,) = struct.unpack(word, struct.pack(code, v))
    exponent = ((bits >> fraction) & (2 * bias + 1)) - bias
    mantissa = (bits & ((1 << fraction) - 1)) | (bias << fraction)
    return type(v)(*struct.unpack(code, struct.pack(word, mantissa))), exponent


def two_to(k: int, like: Any) -> Any:
    """2**k in the type of the number `like`; 0 below the exponents of normal numbers.

    Examples
    --------
    >>> two_to(-3, 1.0), two_to(-2000, 1.0)
    (0.125, 0.0)
    """
    least = -126 if isinstance(like, np.float32) else -1022
    return type(like)(math.ldexp(1.0, k) if k >= least else 0)


def diffabs(c, d):  # type: ignore[no-untyped-def]  # compiled code takes it as it is
    """``|c + d| - |c|`` without cancellation, for the perturbed steps of formulas with kinks."""
    zero = number(0, c)
    size, grown = abs(c), select(c < zero, -d, d)  # by as much as |c + d| is larger, with c's sign
    return select(size + grown < zero, -(size + size + grown), grown)
