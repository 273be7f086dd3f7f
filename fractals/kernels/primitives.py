"""Arithmetic that is the same on every target: fma, select, number, sqrt, clamp and others."""

import functools
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray  # without an attribute: steps of plain Python ask for it each time


def fma(a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c``, rounded once (IEEE 754 fusedMultiplyAdd).

    >>> fma(1 + 2.0**-30, 1 + 2.0**-30, -1.0) == 2.0**-29 + 2.0**-60
    True
    """
    return _FMA[type(a)](a, b, c)


@functools.cache
def _mpfr_fma(number: str) -> Callable[..., Any]:
    """Return MPFR's fma, which rounds as a type does, subnormal numbers and infinities included."""
    import gmpy2  # takes milliseconds, and few pictures need it

    bits, largest, least = (24, 128, -148) if number == "float32" else (53, 1024, -1073)
    context = gmpy2.context(precision=bits, emax=largest, emin=least, subnormalize=True)
    fma_of_type: Callable[..., Any] = context.fma
    return fma_of_type


_by_python: Any = getattr(math, "fma", None)  # from Python 3.13 on


def _single(a: Any, b: Any, c: Any) -> Any:
    return np.float32(float(_mpfr_fma("float32")(float(a), float(b), float(c))))


def _exact(a: float, b: float, c: float) -> float:
    return float(_mpfr_fma("float64")(a, b, c))


def _quick(a: float, b: float, c: float) -> Any:
    try:
        return _by_python(a, b, c)
    except (OverflowError, ValueError):  # something infinite or NaN goes in or comes out
        finite = math.isfinite(a) and math.isfinite(b) and math.isfinite(c)
        return math.copysign(math.inf, a * b + c) if finite else a * b + c


def _twice(a: Any, b: Any, c: Any) -> Any:
    return a * b + c  # a second rounding does not matter at the precision of reference orbits


class _ByType(dict[type, Callable[..., Any]]):
    """What fma does for numbers of a type; one that is met for the first time is added."""

    def __missing__(self, kind: type) -> Callable[..., Any]:
        self[kind] = self[float] if issubclass(kind, float) else _twice
        return self[kind]


_FMA = _ByType(dict.fromkeys((float, np.float64), _quick if _by_python else _exact))
_FMA[np.float32] = _single


def select(condition: Any, a: Any, b: Any) -> Any:
    """Return `a` where `condition` holds, otherwise `b`; both are computed."""
    if type(condition) is ndarray:
        return np.where(condition, a, b)
    return a if condition else b


def number(value: float, like: Any) -> Any:
    """Return the constant `value` in the type of the number `like`.

    A bare ``0.25`` in a formula would turn float32 arithmetic into float64.
    """
    kind = type(like)
    return np.full_like(like, value) if kind is ndarray else kind(value)


def sqrt(v: Any) -> Any:
    """Return the square root, correctly rounded; NaN below 0.

    >>> sqrt(2.25)
    1.5
    """
    if isinstance(v, np.ndarray):
        return np.sqrt(v)
    if hasattr(v, "context"):  # mpmath, with the digits of its number
        return v.context.sqrt(v) if v >= 0 else v.context.nan
    if type(v).__module__ == "gmpy2":
        import gmpy2

        return gmpy2.sqrt(v)
    return type(v)(math.sqrt(v) if v >= 0 else math.nan)


def split(v: Any) -> tuple[Any, Any]:
    """Return the mantissa m, in [1, 2), and the exponent e of v.

    ``v == m * 2**e``; v is normal and above 0. The bits are taken apart, so 0, infinities and NaN
    give the same numbers on every target.

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
    """Return 2**k in the type of `like`; 0 below the normal numbers.

    >>> two_to(-3, 1.0), two_to(-2000, 1.0)
    (0.125, 0.0)
    """
    least = -126 if isinstance(like, np.float32) else -1022
    return type(like)(math.ldexp(1.0, k) if k >= least else 0)


def clamp(v, low, high):  # compiled as it stands
    """Return the number from `low` to `high` that is nearest to v; `low` for NaN."""
    return select(v > low, select(v < high, v, high), low)


def diffabs(c, d):  # compiled as it stands
    """Return ``|c + d| - |c|`` without cancellation, for perturbed steps with kinks."""
    zero = number(0, c)
    size, grown = abs(c), select(c < zero, -d, d)  # d away from 0, as c lies
    return select(size + grown < zero, -(size + size + grown), grown)
