"""Elementary functions of double-double numbers, to 100 bits, as their arithmetic is recorded.

Each is a series after a reduction of its range, as in `fractals.kernels.elementary`. Of a series,
the terms that are below 2**-53 of the sum are computed in float64. Constants are fractions of
integers, which are rounded once.
"""

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from fractals.kernels import Target
from fractals.kernels import elementary as single
from fractals.kernels.doubled.recorder import HELPERS, NAMES, Number, Transcript, written

# pi / 2 and log 2 to 200 bits, as integers over 2**200.
BITS = 200
HALF_PI = Fraction(2524172377308996935986705070621218418107321710744331485767684, 2**BITS)
LN2 = Fraction(1113844574712631719546256151097547306333272293549090750737802, 2**BITS)
# Bits of a piece of these: k times it is exact, for a k of 23 bits.
PIECE = 30
FIRST_SINGLE = 2.0**-53  # a term below this, in units of the sum, is computed in float64


def _constant(value: Fraction, x: Number) -> Any:
    return x.recorder.exact(value)


def _reduced(x: Any, k: Any, period: Fraction) -> Any:
    """Return x - k times a period, to which little is left where x is near to it."""
    left, done = x, Fraction(0)
    for piece in range(1, 4):
        part = Fraction(int(period * 2 ** (piece * PIECE)), 2 ** (piece * PIECE)) - done
        left, done = left - k * _constant(part, x), done + part
    return left - k.doubled() * _constant(period - done, x)


def _series(t: Any, coefficients: Sequence[Fraction], most: float) -> Any:
    """Return a polynomial in t, which is at most `most`; its first coefficient is the lowest."""
    sizes = [abs(float(c / coefficients[0])) * most**n for n, c in enumerate(coefficients)]
    first = next((n for n, size in enumerate(sizes) if size < FIRST_SINGLE), len(sizes))
    low, found = t.rounded(), None
    for n in range(len(coefficients) - 1, -1, -1):
        own = _constant(coefficients[n], t)
        if found is None:
            found = own.rounded() if n >= first else own
        else:
            found = (found * low + own.rounded()) if n >= first else found * t + own
    return found


def _inverse_factorials(first: int, step: int, count: int, sign: int = 1) -> list[Fraction]:
    return [Fraction(sign**n, math.factorial(first + step * n)) for n in range(count)]


def _select(condition: Any, a: Any, b: Any) -> Any:
    return condition.recorder.select(condition, a, b)


def _of(name: str, *values: Any) -> Any:
    return values[0].recorder.let(name, *values)


def exp(x: Any) -> Any:
    """Return e**x: 2**k times the power series of the rest of x."""
    far = single.MAX_EXPONENT
    high = x.rounded()
    x = _select(high < far, _select(high > -far, x, -x.recorder.number(far)), far)
    k = _of("nearest", x.rounded() * float(1 / LN2))
    r = _reduced(x, k, LN2)
    return _of("scaled", _series(r, _inverse_factorials(0, 1, 24), 0.35), k)


def sincos(x: Any) -> tuple[Any, Any]:
    """Return sine and cosine: series of the rest after k right angles."""
    k = _of("nearest", x.rounded() * float(1 / HALF_PI))
    r = _reduced(x, k, HALF_PI)
    t = r * r
    s = r * _series(t, _inverse_factorials(1, 2, 15, -1), 0.62)
    c = _series(t, _inverse_factorials(0, 2, 16, -1), 0.62)
    q = k - 4.0 * _of("nearest", k * 0.25)  # from -2 to 2
    odd, opposite = abs(q) == 1.0, abs(q) == 2.0
    sine, cosine = _select(odd, c, s), _select(odd, s, c)
    sine = _select(opposite | (q == -1.0), -sine, sine)
    return sine, _select(opposite | (q == 1.0), -cosine, cosine)


def sinhcosh(x: Any) -> tuple[Any, Any]:
    """Return both from e**x; near 0, the sine from its own series."""
    up = _of("exp", x) * 0.5
    down = 0.25 / up
    s = x * _series(x * x, _inverse_factorials(1, 2, 13), 0.26)
    return _select(abs(x.rounded()) < 0.5, s, up - down), up + down


def log(x: Any) -> Any:
    """Return the logarithm: 2 artanh of (m - 1) / (m + 1) for the mantissa m, plus e log 2."""
    high = x.rounded()
    small, large = 2.0**-1000, 2.0**1000
    x = _select(high > small, _select(high < large, x, large), small)
    e = _of("nearest", _of("log", x.rounded()).rounded() * float(1 / LN2))
    m = _of("scaled", x, -e)
    s = (m - 1.0) / (m + 1.0)
    odd = [Fraction(2, 2 * n + 1) for n in range(22)]
    return s * _series(s * s, odd, 0.0296) + e.doubled() * _constant(LN2, x)


def angle(x: Any, y: Any) -> Any:
    """Return the angle of x + iy, by a step of Newton's method from that of float64."""
    first = _of("angle", x.rounded(), y.rounded()).doubled()
    s, c = sincos(first)
    along = x.rounded() * c.rounded() + y.rounded() * s.rounded()
    off = (y * c - x * s).high() / along
    return first + _select(along > 0.0, off, along - along)


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "exp": (exp, ("x",)),
    "sincos": (sincos, ("x",)),
    "sinhcosh": (sinhcosh, ("x",)),
    "log": (log, ("x",)),
    "angle": (angle, ("x", "y")),
}


@functools.cache
def _recorded(name: str) -> Any:
    """Return what `written` takes of a function."""
    function, leaves = FUNCTIONS[name]
    recorder = Transcript()
    made = function(*(recorder.leaf(leaf, True) for leaf in leaves))
    results = [(part, True) for part in (made if isinstance(made, tuple) else (made,))]
    arguments = [part for leaf in leaves for part in (leaf, f"{leaf}_")]
    return f"{name}_doubled", arguments, recorder, results


def functions_for(target: Target) -> dict[str, Any]:
    """Return the functions that a written text calls, compiled for a target."""
    names = {**NAMES, **{name: target.jit(part) for name, part in HELPERS.items()}}
    for name in FUNCTIONS:  # each may call those before it
        text, arguments, recorder, results = _recorded(name)
        names[text] = target.jit(written(text, arguments, recorder, results, names))
    return names
