"""Takes steps of a reference orbit in compiled code, with the bits of gmpy2.

gmpy2 takes the first steps, and each step to a point of which more than float64 is kept. The
numbers of `fractals.backends.cpu.orbit_steps` take all others.
"""

import math
from array import array
from collections import defaultdict
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import gmpy2
import numpy as np
from numpy.typing import NDArray

from fractals.backends.compilation import Uncompiled
from fractals.backends.cpu.programs import is_stored, program_of
from fractals.backends.machine_code import Uncompilable
from fractals.kernels.layout import (
    ORBIT_C,
    ORBIT_FREE,
    ORBIT_LEFT,
    ORBIT_MANTISSA,
    ORBIT_OPERATION,
    ORBIT_PRODUCT,
    ORBIT_RIGHT,
    ORBIT_SAVED,
    ORBIT_SIZES,
    ORBIT_SPARE,
    ORBIT_SUM,
    ORBIT_ZERO,
    OrbitCode,
    OrbitFound,
    OrbitRules,
)
from fractals.kernels.primitives import fma

BODY = "fractals.backends.cpu.orbit_steps:make_body"
LIMB = 64  # bits
SIZES = ORBIT_SIZES
# Limbs up to which z² + c has a program of its own: 1.35 times as fast at 2 limbs, not faster at 16
MOST_SQUARED = 10
FLOAT64_BITS = 53
BLOCK = 2**15  # steps of a call: some milliseconds, until progress is shown and Ctrl-C is noticed
# Steps that gmpy2 takes first, because to load a program takes as long as 1,400 of them; and where
# the program is loaded, because a call takes as long as 20.
FIRST_STEPS, FEW_STEPS = 1024, 32
# Seconds of gmpy2's steps, of all orbits of a process, before a program is compiled, which takes
# 0.6 to 2 s (AMD Zen 5). So it is compiled where it would have paid, and not for a first picture
# whose orbit is short.
PATIENCE = 1.0
# Steps of a call that ends early: after a shorter call, gmpy2 takes more steps by itself, twice as
# many each time, up to the second number.
FEW, MANY = 16, 2048
MAX_ROWS = 512  # constants and operations of a step; a hybrid of many maps may have more

Number = Any  # one of gmpy2's
Pair = tuple[Number, Number]

Options = tuple[int, bool]  # of a program: the limbs, and whether the step is z² + c

_ready: set[Options] = set()  # of programs that were called in this process
_missing: set[Options] = set()  # of those that Numba can't compile
_spent: defaultdict[Options, float] = defaultdict(float)  # seconds of gmpy2 in place of a program


class OrbitState(NamedTuple):
    """Where an orbit is: all that its next step depends on."""

    n: int
    z: Pair
    saved: Pair  # the point that later ones are compared with
    d: complex  # dZ/dc = d 2**e
    e: int


class CompiledSteps:
    """Compiled steps of one orbit.

    `points` and `low`: the parts of its points, which `take` goes on with; `low` is empty where
    low parts are not asked for.
    """

    def __init__(
        self,
        code: "_Code",
        c: Pair,
        bits: int,
        rules: OrbitRules,
        points: "array[float]",
        low: "array[float]",
    ) -> None:
        self._code, self._c, self._bits, self._rules = code, c, bits, rules
        self._points, self._low = points, low
        self._limbs = size_for(bits)
        self._options = self._limbs, self._limbs <= MOST_SQUARED and code == traced(_square)
        self._begun = self._counted = perf_counter()
        # The first step at which `take` may take one
        self.next = FEW_STEPS if self._options in _ready else FIRST_STEPS
        self._pause = FEW
        self._orbit: OrbitCode | None = None
        self._stored: bool | None = None  # whether the program is on the disk; None: not known yet

    def take(
        self, state: OrbitState, last: int, on_steps: Callable[[int], None] | None
    ) -> OrbitState:
        """Take steps up to `last`, or to one that is left to gmpy2, and return the new state."""
        n = state.n
        if not self._is_ready(n, last):
            return state
        run = program_of(BODY, "float64", self._options)
        points = np.empty((BLOCK, 2))
        low = np.empty((BLOCK if self._low else 0, 2))
        growth = np.array([state.d.real, state.d.imag])
        found = OrbitFound(points, low, growth, np.array([n, state.e]))
        orbit = self._laid(state)
        while n < last:
            try:
                run(min(BLOCK, last - n), found, orbit, self._rules)
            except (Uncompiled, Uncompilable) as error:
                if isinstance(error, Uncompilable):
                    _missing.add(self._options)
                self.next = last
                return state
            _ready.add(self._options)
            before, n = n, int(found.place[0])
            self._points.frombytes(points[: n - before].tobytes())
            self._low.frombytes(low[: n - before].tobytes())
            if on_steps and n > before:
                on_steps(n)
            if n - before < min(BLOCK, last - before):
                break
        self._pause = FEW if n - state.n >= FEW else min(2 * self._pause, MANY)
        self.next = n + (1 if n - state.n >= FEW else self._pause)
        z, saved = (tuple(self._number(row + k) for k in range(2)) for row in (0, ORBIT_SAVED))
        return OrbitState(n, z, saved, complex(*growth), int(found.place[1]))

    def _is_ready(self, n: int, last: int) -> bool:
        """Tell whether the program is loaded or stored, or worth its compiling now."""
        if self._options in _ready:
            return True
        if self._options in _missing:
            return False
        if self._stored is None:
            self._stored = is_stored(BODY, "float64", self._options)
        if self._stored:
            return True
        self.next, now = n + FIRST_STEPS, perf_counter()
        _spent[self._options] += now - self._counted
        self._counted = now
        left = (now - self._begun) * (last - n) / max(n, 1)
        return _spent[self._options] > PATIENCE and left > PATIENCE

    def _laid(self, state: OrbitState) -> OrbitCode:
        """Return the code with the numbers of a state."""
        if self._orbit is None:
            rows = ORBIT_FREE + len(self._code.constants) + len(self._code.operations)
            size = ORBIT_MANTISSA + self._limbs
            operations = np.array(self._code.operations, np.int64)
            places = np.array([1, size, *2 * (size, 1, 1, 1)])  # a row becomes a place
            masks = [
                _words(mask, self._limbs)
                for bits in (self._bits, FLOAT64_BITS)
                for mask in _masks(LIMB * self._limbs, bits)
            ]
            self._orbit = OrbitCode(
                np.zeros(rows * size, np.int64),
                np.concatenate(masks),
                np.ravel(operations.reshape(-1, ORBIT_OPERATION) * places),
                np.ravel(np.array(self._code.ends, np.int64) * places[ORBIT_LEFT:ORBIT_RIGHT]),
            )
            self._put(ORBIT_C, *self._c)
            for row, value in self._code.constants.items():
                self._put(row, gmpy2.mpfr(value))
        self._put(0, *state.z)
        self._put(ORBIT_SAVED, *state.saved)
        return self._orbit

    def _put(self, first: int, *values: Number) -> None:
        assert self._orbit is not None
        limbs, size = self._limbs, ORBIT_MANTISSA + self._limbs
        for row, value in enumerate(values, first):
            at = row * size
            mantissa, exponent = value.as_mantissa_exp() if value else (0, 0)
            length = int(mantissa).bit_length()
            words = _words(abs(int(mantissa)) << (LIMB * limbs - length), limbs)
            self._orbit.numbers[at] = gmpy2.is_signed(value)
            self._orbit.numbers[at + 1] = int(exponent) + length if value else ORBIT_ZERO
            self._orbit.numbers[at + ORBIT_MANTISSA : at + size] = words

    def _number(self, row: int) -> Number:
        """Return a number of the program as one of gmpy2's."""
        assert self._orbit is not None
        size = ORBIT_MANTISSA + self._limbs
        negative, exponent, *_ = words = self._orbit.numbers[row * size : (row + 1) * size]
        mantissa = int.from_bytes(words[ORBIT_MANTISSA:].tobytes(), "little")
        value = gmpy2.mpfr(mantissa)
        if mantissa:
            far = int(exponent) - LIMB * self._limbs
            value = gmpy2.mul_2exp(value, far) if far >= 0 else gmpy2.div_2exp(value, -far)
        return -value if negative else value


def compiled_steps(
    step: Callable[..., Any],
    c: Pair,
    bits: int,
    rules: OrbitRules,
    points: "array[float]",
    low: "array[float]",
) -> CompiledSteps | None:
    """Return the compiled steps of an orbit; None where there are none for them.

    See `CompiledSteps`.
    """
    code = traced(step) if size_for(bits) and bits > LIMB else None
    return CompiledSteps(code, c, bits, rules, points, low) if code else None


def size_for(bits: int) -> int:
    """Return the limbs of the program for a precision; 0: there is none."""
    return next((size for size in SIZES if bits + ORBIT_SPARE <= LIMB * size), 0)


def _masks(width: int, bits: int) -> tuple[int, int, int]:
    """Return what rounds mantissas of a width to fewer bits: see `make_rounding`."""
    lowest = 1 << (width - bits)
    return lowest // 2 - 1, lowest, (1 << width) - lowest


def _words(value: int, limbs: int) -> NDArray[np.int64]:
    return np.frombuffer(value.to_bytes(8 * limbs, "little"), "<i8")


class _Code(NamedTuple):
    """A step as a list of operations: see `OrbitCode`."""

    constants: dict[int, int | float]
    operations: list[tuple[int, ...]]
    ends: tuple[tuple[int, int, int, int], ...]


def _square(x: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Take the step of z² + c, with the operations of the Mandelbrot set's."""
    return fma(x, x, fma(-y, y, a)), fma(y, x + x, b)


def traced(step: Callable[..., Any]) -> _Code | None:
    """Return the sums and products that a step consists of; None where there is more in it."""
    code = _Code({}, [], ())
    rows = iter(range(ORBIT_FREE, ORBIT_FREE + MAX_ROWS))

    class Traced:
        """A number that writes its operations down: an operand of a row."""

        def __init__(self, value: Any) -> None:
            if not isinstance(value, tuple):
                if type(value) not in (int, float) or not math.isfinite(value):
                    raise TypeError(f"no number: {value!r}")
                code.constants[row := next(rows)] = value
                value = row, 1, 0, 0
            self.operand: tuple[int, int, int, int] = value  # of `OrbitCode.code`

        @classmethod
        def of(cls, value: Any) -> "Traced":
            """Return a number, or the row of a constant."""
            return value if isinstance(value, cls) else cls(value)

        def __neg__(self) -> "Traced":
            row, kept, turned, doubled = self.operand
            return Traced((row, kept, 1 - turned, doubled))

        def __abs__(self) -> "Traced":
            return Traced((self.operand[0], 0, 0, self.operand[3]))

        def __add__(self, other: Any) -> "Traced":
            if isinstance(other, Traced) and other.operand == self.operand:
                row, kept, turned, doubled = self.operand
                return Traced((row, kept, turned, doubled + 1))
            return self._result(ORBIT_SUM, other)

        def __sub__(self, other: Any) -> "Traced":
            return self.__add__(-other)

        def __mul__(self, other: Any) -> "Traced":
            return self._result(ORBIT_PRODUCT, other)

        def __rsub__(self, other: Any) -> "Traced":
            return (-self).__add__(other)

        __radd__, __rmul__ = __add__, __mul__

        def _result(self, kind: int, other: Any) -> "Traced":
            row = next(rows)
            code.operations.append((kind, row, *self.operand, *Traced.of(other).operand))
            return Traced((row, 1, 0, 0))

        def __eq__(self, other: object) -> bool:
            raise TypeError("a comparison")

        def __bool__(self) -> bool:
            raise TypeError("a condition")

        __hash__ = None  # type: ignore[assignment]

    try:
        ends = step(*(Traced((row, 1, 0, 0)) for row in (0, 1, ORBIT_C, ORBIT_C + 1)))
        # A point is not doubled where it is read, so it is multiplied.
        x, y = (end * 1 if end.operand[3] else end for end in map(Traced.of, ends))
    except Exception:  # whatever a step raises about numbers that it can't take
        return None
    return code._replace(ends=(x.operand, y.operand))
