"""Records the arithmetic of a function of numbers, and writes it as one of double-double numbers.

A formula is a function of numbers without a branch on them (`fractals.kernels.formula`). So it is
run once with numbers that note what is done with them, and the notes are written as the text of a
function of float64 numbers, two for each: every target compiles it as any other.

A number is *doubled*, or *single*: a float64. A value is computed doubled only where a doubled
result depends on it. So a derivative, which is single, costs what it costs in float64.
"""

import builtins
import functools
import math
import types
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fractals.kernels import elementary, primitives
from fractals.kernels.doubled import arithmetic

PAIRS = "sincos", "sinhcosh"  # functions that return two numbers
OF_ELEMENTARY = *PAIRS, "exp", "log", "angle"
COMPARISONS = {"below": "<", "at_most": "<=", "equal": "==", "unequal": "!="}
ROUNDED = "rounded", "high"
SUMS = "+", "-+"  # operations that take products as they are
FLAGS = *COMPARISONS, "&", "|"


class Unrecorded(TypeError):
    """A function does with numbers what can't be recorded, such as an ``if``."""


class Flag:
    """A recorded condition."""

    def __init__(self, recorder: "Transcript", index: int) -> None:
        self.recorder, self.index = recorder, index

    def __and__(self, other: Any) -> "Flag":
        return self.recorder.flag("&", self, other)

    def __or__(self, other: Any) -> "Flag":
        return self.recorder.flag("|", self, other)

    def __bool__(self) -> bool:
        raise Unrecorded("a branch depends on a number")


class Number:
    """A recorded number, with the operators of a formula."""

    def __init__(self, recorder: "Transcript", index: int) -> None:
        self.recorder, self.index = recorder, index

    def _with(self, name: str, *others: Any) -> Any:
        return self.recorder.let(name, self, *others)

    def __add__(self, other: Any) -> Any:
        return self._with("+", other)

    def __sub__(self, other: Any) -> Any:
        return self._with("+", -self.recorder.number(other))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        return self._with("*", other)

    def __truediv__(self, other: Any) -> Any:
        return self._with("/", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.recorder.number(other) / self

    def __neg__(self) -> Any:
        return self._with("-")

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self._with("abs")

    def __lt__(self, other: Any) -> Any:
        return self.recorder.flag("below", self, other)

    def __le__(self, other: Any) -> Any:
        return self.recorder.flag("at_most", self, other)

    def __gt__(self, other: Any) -> Any:
        return self.recorder.flag("below", self.recorder.number(other), self)

    def __ge__(self, other: Any) -> Any:
        return self.recorder.flag("at_most", self.recorder.number(other), self)

    def __eq__(self, other: Any) -> Any:
        return self.recorder.flag("equal", self, other)

    def __ne__(self, other: Any) -> Any:
        return self.recorder.flag("unequal", self, other)

    __radd__, __rmul__, __hash__ = __add__, __mul__, object.__hash__

    def rounded(self) -> Any:
        """Return the number as a single one; what it is computed from may be single, too."""
        return self._with("rounded")

    def high(self) -> Any:
        """Return the high part of the number, computed as a doubled one: a small difference is."""
        return self._with("high")

    def doubled(self) -> Any:
        """Return a single number as a doubled one."""
        return self._with("doubled")


class Transcript:
    """What is done with numbers: each value once, in the order in which it was computed."""

    def __init__(self) -> None:
        # Of each value: the name of what makes it, the indices of its operands, and what is known
        self.notes: list[tuple[str, tuple[int, ...], Any]] = []
        self.doubled: list[bool | None] = []  # None: a constant is of either kind
        self._known: dict[Any, int] = {}

    def leaf(self, name: str, doubled: bool) -> Number:
        """Return a parameter of the function that is written."""
        return Number(self, self._note("leaf", (), name, doubled))

    def exact(self, value: Fraction | float) -> Number:
        """Return a constant, rounded once."""
        high = float(value)
        if not math.isfinite(high):  # its text is no number of Python
            raise Unrecorded("a constant is not finite")
        low = float(Fraction(value) - Fraction(high))
        return Number(self, self._note("constant", (), (repr(high), repr(low)), None))

    def number(self, value: Any) -> Number:
        """Return a recorded number, or the constant of a number of Python."""
        if isinstance(value, Number):
            return value
        if isinstance(value, int | float | np.number):
            return self.exact(value if isinstance(value, int) else float(value))
        raise Unrecorded(f"no number: {type(value).__name__}")

    def let(self, name: str, *operands: Any) -> Any:
        """Return the number that a function, or an operator, makes of numbers."""
        indices = tuple(self.number(each).index for each in operands)
        if name == "-" and self.notes[indices[0]][0] in ("-", "constant"):
            return self._opposite(indices[0])
        if name in ("+", "*"):
            indices = tuple(sorted(indices))
            neutral = ("0.0", "0.0") if name == "+" else ("1.0", "0.0")
            for k, other in (indices, indices[::-1]):
                if self.notes[k][2] == neutral:  # the constant of these parts
                    return Number(self, other)
        kinds = [self.doubled[k] for k in indices]
        if name == "scaled":
            kinds.pop()
        doubled = name not in ROUNDED and (True in kinds or False not in kinds)
        return Number(self, self._note(name, indices, None, doubled or name == "doubled"))

    def _opposite(self, index: int) -> Number:
        name, indices, data = self.notes[index]
        if name == "-":
            return Number(self, indices[0])
        data = tuple(repr(-float(part)) for part in data)
        return Number(self, self._note("constant", (), data, None))

    def part(self, pair: Number, k: int) -> Number:
        """Return the number of this place in a pair."""
        return Number(self, self._note("part", (pair.index,), k, self.doubled[pair.index]))

    def flag(self, name: str, a: Any, b: Any) -> Flag:
        """Return the condition of two numbers, or of two conditions."""
        if not isinstance(a, Flag):
            a, b = self.number(a), self.number(b)
        elif not isinstance(b, Flag):
            raise Unrecorded("a condition beside a number")
        return Flag(self, self._note(name, (a.index, b.index), None, None))

    def select(self, condition: Flag, a: Any, b: Any) -> Any:
        """Return one of two numbers."""
        indices = condition.index, self.number(a).index, self.number(b).index
        kinds = [self.doubled[k] for k in indices[1:]]
        doubled = True in kinds or False not in kinds
        return Number(self, self._note("select", indices, None, doubled))

    def _note(self, name: str, indices: tuple[int, ...], data: Any, doubled: bool | None) -> int:
        key = name, indices, data, doubled
        if key not in self._known:
            self._known[key] = len(self.notes)
            self.notes.append((name, indices, data))
            self.doubled.append(doubled)
        return self._known[key]

    def needs(self, results: Sequence[tuple[Number, bool]]) -> tuple[list[int], list[int]]:
        """Return what is needed of each value, 0: nothing, 1: single, 2: doubled; and how often.

        `results`: numbers, and whether they are doubled.
        """
        need, uses = [0] * len(self.notes), [0] * len(self.notes)
        for number, doubled in results:
            own = 2 if doubled and self.doubled[number.index] is not False else 1
            need[number.index] = max(need[number.index], own)
            uses[number.index] += 2  # a result is never a part of another operation
        for index in range(len(self.notes) - 1, -1, -1):
            name, indices, _ = self.notes[index]
            for place, k in enumerate(indices if need[index] else ()):
                wanted = 2 if name in (*FLAGS, "high") else need[index]
                if name == "rounded" or (name, place) in (("scaled", 1), ("select", 0)):
                    wanted = 1
                need[k] = max(need[k], wanted if self.doubled[k] is not False else 1)
                uses[k] += 1
        return need, uses


# --- What stands for the functions of kernels, while a function is recorded


def _are_plain(*values: Any) -> bool:
    """Tell whether none of some values is recorded, as constants are not."""
    return not any(isinstance(value, Number | Flag) for value in values)


def _number(value: Any, like: Any) -> Any:
    return primitives.number(value, like) if _are_plain(like) else like.recorder.number(value)


def _select(condition: Any, a: Any, b: Any) -> Any:
    if _are_plain(condition):
        return a if condition else b
    return condition.recorder.select(condition, a, b)


def _of(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return what records a function; of constants it returns what `plain` does."""

    def note(*values: Any) -> Any:
        if _are_plain(*values):
            return plain(*values)
        recorder = next(value.recorder for value in values if not _are_plain(value))
        made = recorder.let(name, *values)
        return (recorder.part(made, 0), recorder.part(made, 1)) if name in PAIRS else made

    return note


def _fma(a: Any, b: Any, c: Any) -> Any:
    return primitives.fma(a, b, c) if _are_plain(a, b, c) else a * b + c


def _least(*values: Any) -> Any:
    several = values if len(values) > 1 else values[0]
    return functools.reduce(lambda a, b: _select(b < a, b, a), several)


def _greatest(*values: Any) -> Any:
    several = values if len(values) > 1 else values[0]
    return functools.reduce(lambda a, b: _select(b > a, b, a), several)


STANDS_FOR: dict[Any, Callable[..., Any]] = {
    primitives.fma: _fma,
    primitives.number: _number,
    primitives.select: _select,
    builtins.min: _least,
    builtins.max: _greatest,
    elementary.quotient: _of("/", elementary.quotient),
    **{plain: _of("sqrt", plain) for plain in (primitives.sqrt, math.sqrt)},
    **{
        plain: _of(plain.__name__, plain)
        for plain in (
            elementary.nearest,
            elementary.scaled,
            *(getattr(elementary, name) for name in OF_ELEMENTARY),
        )
    },
}


def recording(function: Any) -> Any:
    """Return a function that calls what records in place of the functions of kernels.

    It is the `jit` of a target: `fractals.kernels.orbit` makes recorded orbits with it.
    """
    return _recording(function, {})


def _recording(function: Any, under_way: dict[Any, Any]) -> Any:
    try:
        if function in STANDS_FOR:
            return STANDS_FOR[function]
    except TypeError:  # it has no hash
        return function
    if not isinstance(function, types.FunctionType) or function.__module__ == __name__:
        return function
    if getattr(function, "records", False):
        return function
    if function in under_way:
        return under_way[function]
    outer = dict(function.__globals__)
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    made = types.FunctionType(
        function.__code__, outer, function.__name__, function.__defaults__, cells or None
    )
    made.records = True  # type: ignore[attr-defined]
    under_way[function] = made
    for name in _names(function.__code__):
        own = outer.get(name, getattr(builtins, name, None))
        outer[name] = _recording(own, under_way)
        if outer[name] is None and name not in function.__globals__:
            del outer[name]
    for cell, own_cell in zip(cells, function.__closure__ or (), strict=True):
        cell.cell_contents = _recording(own_cell.cell_contents, under_way)
    return made


def _names(code: types.CodeType) -> set[str]:
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


# --- The text of what was recorded


def written(
    name: str,
    arguments: Sequence[str],
    recorder: Transcript,
    results: Sequence[tuple[Any, bool]],
    functions: dict[str, Any],
    first: Sequence[str] = (),
) -> Any:
    """Return the function that computes what was recorded.

    Parameters
    ----------
    name : str
    arguments : sequence of str
        Names of its parameters.
    recorder : Transcript
        Its leaves have names among the arguments, or of what the lines `first` set. The low part of
        a doubled leaf `x` is `x_`.
    results : sequence of (Number or Flag, bool)
        What it returns, and whether that is doubled: all high parts, then the low ones.
    functions : dict
        By their names, the functions that its text calls, compiled for a target.
    """
    writer = _Writer(recorder, results)
    lines = [*first, *writer.lines]
    values = [writer.parts(number.index) for number, _ in results]
    parts = [high for high, _ in values]
    parts += [
        low or "zero" for (_, low), (_, doubled) in zip(values, results, strict=True) if doubled
    ]
    body = "\n    ".join([*lines, f"return {', '.join(parts)}"])
    text = f"def {name}({', '.join(arguments)}):\n    {body}\n"
    names = {"__name__": __name__, **functions}
    exec(text, names)  # generated text, which holds nothing but names of this module and numbers
    made: Any = names[name]
    made.text = text  # for compilers that read it, as that to OpenCL C
    return made


class _Writer:
    """Writes lines, in which the value of index k is ``t<k>``, and its low part ``t<k>_``."""

    def __init__(self, recorder: Transcript, results: Sequence[tuple[Any, bool]]) -> None:
        self.notes, self.doubled = recorder.notes, recorder.doubled
        self.need, self.uses = recorder.needs(results)
        self.takers = self._takers()
        self.texts: dict[int, tuple[str, str]] = {}  # the high part, and the low one, or nothing
        leaves = [data for name, _, data in self.notes if name == "leaf"]
        self.like = leaves[0]
        self.lines = [f"zero = number(0, {self.like})"]
        for index, (name, indices, data) in enumerate(self.notes):
            if not self.need[index] or self._is_part_of_sum(index):
                continue
            twice = self.need[index] == 2 and self.doubled[index] is not False
            self.texts[index] = self._value(index, name, indices, data, twice)

    def parts(self, index: int) -> tuple[str, str]:
        """Return the names of both parts of a value; the low one is empty where it is 0."""
        return self.texts[index]

    def _pair(self, index: int) -> str:
        high, low = self.texts[index]
        return f"{high}, {low or 'zero'}"

    def _set(self, index: int, text: str, twice: bool) -> tuple[str, str]:
        self.lines.append(f"t{index}, t{index}_ = {text}" if twice else f"t{index} = {text}")
        return f"t{index}", f"t{index}_" if twice else ""

    def _is_product(self, index: int) -> bool:
        """Tell whether a value is a product that only one sum takes, or its opposite."""
        name, indices, _ = self.notes[index]
        if self.uses[index] != 1:
            return False
        return name == "*" or (name == "-" and self._is_product(indices[0]))

    def _is_part_of_sum(self, index: int) -> bool:
        """Tell whether a value is computed where it is added."""
        return self._is_product(index) and self.takers.get(index) in SUMS

    def _takers(self) -> dict[int, str]:
        """Return the name of the operation that takes each value; "-+": the opposite is added."""
        found: dict[int, str] = {}
        for index in range(len(self.notes) - 1, -1, -1):
            name, indices, _ = self.notes[index]
            added = name == "-" and found.get(index) in SUMS and self.uses[index] == 1
            for k in indices if self.need[index] else ():
                found[k] = "-+" if added else name
        return found

    def _value(
        self, index: int, name: str, indices: tuple[int, ...], data: Any, twice: bool
    ) -> tuple[str, str]:
        """Write a value, and return the names of its parts."""
        if name == "leaf":
            return data, f"{data}_" if self.doubled[index] else ""
        if name == "constant":
            return self._constant(index, data)
        if name in FLAGS:
            return self._flag(index, name, indices)
        if name == "-":
            high, low = self.texts[indices[0]]
            return f"(-{high})", f"(-{low})" if low else ""
        if name == "part":
            high, low = self.texts[indices[0]]
            names = [part + "b" * data for part in (high, low) if part]
            return names[0], names[1] if len(names) > 1 and twice else ""
        write = getattr(self, WRITERS.get(name, "_call"))
        found: tuple[str, str] = write(index, indices, name, twice)
        return found

    def _constant(self, index: int, data: tuple[str, str]) -> tuple[str, str]:
        high, low = data
        self.lines.append(f"t{index} = number({high}, {self.like})")
        if float(low) and self.need[index] == 2:
            self.lines.append(f"t{index}_ = number({low}, {self.like})")
            return f"t{index}", f"t{index}_"
        return f"t{index}", ""

    def _flag(self, index: int, name: str, indices: tuple[int, ...]) -> tuple[str, str]:
        a, b = (self.texts[k] for k in indices)
        if name in COMPARISONS and (a[1] or b[1]):
            self.lines.append(
                f"t{index} = {name}({self._pair(indices[0])}, {self._pair(indices[1])})"
            )
        else:
            self.lines.append(f"t{index} = {a[0]} {COMPARISONS.get(name, name)} {b[0]}")
        return f"t{index}", ""

    def _sum(
        self, index: int, indices: tuple[int, ...], _name: str, twice: bool
    ) -> tuple[str, str]:
        first, second = indices
        if not twice:
            if self._is_part_of_sum(second):
                first, second = second, first
            if self._is_part_of_sum(first):
                a, b = self._factors(first)
                other = self._single(second)
                return self._set(index, f"fma({a}, {b}, {other})", False)
            return self._set(index, f"{self._single(first)} + {self._single(second)}", False)
        if first == second:
            high, low = self.texts[first]
            self.lines.append(f"t{index} = {high} + {high}")
            if low:
                self.lines.append(f"t{index}_ = {low} + {low}")
            return f"t{index}", f"t{index}_" if low else ""
        (ah, al), (bh, bl) = (self._addend(k) for k in indices)
        if not al:
            ah, al, bh, bl = bh, bl, ah, al
        if al and bl:
            return self._set(index, f"total({ah}, {al}, {bh}, {bl})", True)
        if al:
            return self._set(index, f"total_single({ah}, {al}, {bh})", True)
        return self._set(index, f"total_singles({ah}, {bh})", True)

    def _single(self, index: int) -> str:
        """Return the text of a single addend."""
        if not self._is_part_of_sum(index):
            return self.texts[index][0]
        a, b = self._factors(index)
        return f"fma({a}, {b}, zero)"

    def _factors(self, index: int) -> tuple[str, str]:
        """Return the high parts of the factors of a product, or of its opposite."""
        name, indices, _ = self.notes[index]
        if name == "-":
            a, b = self._factors(indices[0])
            return f"(-{a})", b
        return self.texts[indices[0]][0], self.texts[indices[1]][0]

    def _addend(self, index: int) -> tuple[str, str]:
        """Return the parts of a doubled addend; a product needs not be normalized."""
        if not self._is_part_of_sum(index):
            return self.texts[index]
        name, indices, _ = self.notes[index]
        if name == "-":
            high, low = self._addend(indices[0])
            return f"(-{high})", f"(-{low})" if low else ""
        text, exact = self._product_text(indices)
        if exact:
            self.lines += [f"t{index} = {exact[0]}"] + [f"t{index}_ = {exact[1]}"] * bool(exact[1])
            return f"t{index}", f"t{index}_" if exact[1] else ""
        return self._set(index, text, True)

    def _product_text(self, indices: tuple[int, ...]) -> tuple[str, tuple[str, str] | None]:
        """Return the call of a doubled product; or both parts, where it is exact."""
        (ah, al), (bh, bl) = (self.texts[k] for k in indices)
        for k, (high, low) in zip(indices, ((bh, bl), (ah, al)), strict=True):
            name, _, data = self.notes[k]
            if name == "constant" and not float(data[1]) and _is_power_of_two(float(data[0])):
                own = self.texts[k][0]
                return "", (f"{own} * {high}", f"{own} * {low}" if low else "")
        if indices[0] == indices[1] and al:
            return f"square({ah}, {al})", None
        if not al:
            ah, al, bh, bl = bh, bl, ah, al
        if al and bl:
            return f"product({ah}, {al}, {bh}, {bl})", None
        if al:
            return f"product_single({ah}, {al}, {bh})", None
        return f"product_singles({ah}, {bh})", None

    def _product(
        self, index: int, indices: tuple[int, ...], _name: str, twice: bool
    ) -> tuple[str, str]:
        if not twice:
            a, b = (self.texts[k][0] for k in indices)
            return self._set(index, f"fma({a}, {b}, zero)", False)
        text, exact = self._product_text(indices)
        if exact:
            self.lines += [f"t{index} = {exact[0]}"] + [f"t{index}_ = {exact[1]}"] * bool(exact[1])
            return f"t{index}", f"t{index}_" if exact[1] else ""
        self._set(index, text, True)
        if text.startswith("product_singles"):
            return f"t{index}", f"t{index}_"
        return self._set(index, f"normalized(t{index}, t{index}_)", True)

    def _select(
        self, index: int, indices: tuple[int, ...], _name: str, twice: bool
    ) -> tuple[str, str]:
        (flag, _), (ah, al), (bh, bl) = (self.texts[k] for k in indices)
        self.lines.append(f"t{index} = select({flag}, {ah}, {bh})")
        if not twice or not (al or bl):
            return f"t{index}", ""
        self.lines.append(f"t{index}_ = select({flag}, {al or 'zero'}, {bl or 'zero'})")
        return f"t{index}", f"t{index}_"

    def _abs(
        self, index: int, indices: tuple[int, ...], _name: str, twice: bool
    ) -> tuple[str, str]:
        high, low = self.texts[indices[0]]
        self.lines.append(f"t{index} = abs({high})")
        if not twice or not low:
            return f"t{index}", ""
        self.lines.append(f"t{index}_ = select({high} < zero, -{low}, {low})")
        return f"t{index}", f"t{index}_"

    def _rounded(
        self, _index: int, indices: tuple[int, ...], _name: str, _twice: bool
    ) -> tuple[str, str]:
        return self.texts[indices[0]][0], ""

    def _scaled(
        self, index: int, indices: tuple[int, ...], _name: str, twice: bool
    ) -> tuple[str, str]:
        (high, low), (power, _) = (self.texts[k] for k in indices)
        self.lines.append(f"t{index} = scaled({high}, {power})")
        if not twice or not low:
            return f"t{index}", ""
        self.lines.append(f"t{index}_ = scaled({low}, {power})")
        return f"t{index}", f"t{index}_"

    def _call(
        self, index: int, indices: tuple[int, ...], name: str, twice: bool
    ) -> tuple[str, str]:
        """Write the call of a function of numbers; a pair has four names."""
        if twice:
            called, given = DOUBLED.get(name, f"{name}_doubled"), [self._pair(k) for k in indices]
        else:
            called, given = SINGLE.get(name, name), [self.texts[k][0] for k in indices]
        text, own = f"{called}({', '.join(given)})", f"t{index}"
        if name not in PAIRS:
            return self._set(index, text, twice)
        names = [own, f"{own}b"] + ([f"{own}_", f"{own}_b"] if twice else [])
        self.lines.append(f"{', '.join(names)} = {text}")
        return own, f"{own}_" if twice else ""


WRITERS = {
    "+": "_sum",
    "*": "_product",
    "select": "_select",
    "abs": "_abs",
    "rounded": "_rounded",
    "high": "_rounded",
    "doubled": "_rounded",
    "scaled": "_scaled",
}
DOUBLED = {"/": "divided", "sqrt": "root", "nearest": "whole"}
SINGLE = {"/": "quotient"}
# The functions of the text besides those of `fractals.kernels.doubled.elementary`.
NAMES: dict[str, Any] = {
    **{name: getattr(primitives, name) for name in ("fma", "number", "select", "sqrt")},
    **{
        name: getattr(elementary, name)
        for name in (*OF_ELEMENTARY, "quotient", "nearest", "scaled")
    },
}
HELPERS: dict[str, Any] = {
    name: part
    for name, part in vars(arithmetic).items()
    if isinstance(part, types.FunctionType) and part.__module__ == arithmetic.__name__
}


def _is_power_of_two(value: float) -> bool:
    return math.isfinite(value) and value != 0 and abs(math.frexp(value)[0]) == 0.5
