"""Types and values of a translated function: what `translate` knows of an expression."""

import math
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

# How tightly an operator of C binds.
ATOM, UNARY, CONDITION = 16, 14, 3
LEVELS = {"*": 13, "/": 13, "+": 12, "-": 12, "<<": 11, ">>": 11, "<": 10, "<=": 10, ">": 10}
LEVELS |= {">=": 10, "==": 9, "!=": 9, "&": 8, "^": 7, "|": 6, "&&": 5, "||": 4}

NUMPY = {
    np.bool_: "bool",
    np.int8: "char",
    np.uint8: "uchar",
    np.int16: "short",
    np.uint16: "ushort",
    np.int32: "int",
    np.uint32: "uint",
    np.int64: "long",
    np.uint64: "ulong",
    np.float32: "float",
    np.float64: "double",
}
SCALARS = {name: kind for kind, name in NUMPY.items()}
# Names of C, and of functions of OpenCL C, that Python's names must not hide.
RESERVED = {
    *("auto", "bool", "break", "case", "char", "const", "constant", "continue", "default", "do"),
    *("double", "else", "enum", "event_t", "extern", "false", "float", "for", "generic", "global"),
    *("goto", "half", "if", "image", "inline", "int", "kernel", "local", "long", "pipe"),
    *("private", "read_only", "register", "restrict", "return", "short", "signed", "sizeof"),
    *("static", "struct", "switch", "true", "typedef", "uchar", "uint", "ulong", "union"),
    *("unsigned", "ushort", "void", "volatile", "while", "write_only"),
    *("fma", "fabs", "sqrt", "rint", "NAN", "INFINITY"),
}
REALS, UNSIGNED = ("float", "double"), ("uint", "ulong")


class TupleType(NamedTuple):
    """A tuple of values; `names` and `title` are those of a named one."""

    items: tuple[Any, ...]
    names: tuple[str, ...] = ()
    title: str = ""


class ArrayType(NamedTuple):
    """An array in the memory of the device, row by row."""

    element: str
    dimensions: int
    begins_later: bool = False  # whether it is a part of other memory: an argument of a kernel only


@dataclass(frozen=True)
class Static:
    """The type of what is known when a kernel is translated, such as a function."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True)
class Value:
    """An expression: its type, its text in C, and what is known of it."""

    type: Any  # the name of a number's type in C, a TupleType, an ArrayType or a Static
    text: str = ""
    level: int = ATOM  # how tightly its last operator binds
    items: tuple["Value", ...] | None = None  # of a tuple whose parts are at hand
    number: Any = None  # a number that is known: of NumPy's type, or a bool

    def at(self, level: int) -> str:
        """Return the text as an operand of an operator of this level."""
        unclear = self.text[0] == "-" and level >= LEVELS["-"]
        return f"({self.text})" if self.level < level or unclear else self.text


def known(value: Any) -> Value:
    """Return a value that is known now."""
    if isinstance(value, bool | np.bool_):
        return literal(bool(value), "bool")
    if isinstance(value, int | float | np.number):
        return literal(value, type_of(value))
    if isinstance(value, tuple) and value:
        items = tuple(map(known, value))
        names = getattr(value, "_fields", ())
        title = type(value).__name__ if names else ""
        return Value(TupleType(tuple(item.type for item in items), names, title), items=items)
    return Value(Static(value))


def type_of(value: Any) -> Any:
    """Return the type of an argument of a kernel, or of a known number."""
    if isinstance(value, tuple):
        names = getattr(value, "_fields", ())
        return TupleType(tuple(map(type_of, value)), names, type(value).__name__ if names else "")
    if hasattr(value, "shape") and value.shape != ():
        later = getattr(value, "offset", 0) > 0
        return ArrayType(NUMPY[np.dtype(value.dtype).type], len(value.shape), later)
    if isinstance(value, np.generic):
        return NUMPY[type(value)]
    return "bool" if isinstance(value, bool) else "long" if isinstance(value, int) else "double"


def inside(kind: Any) -> Any:
    """Return the type of an argument of a kernel as the functions in it see it."""
    if isinstance(kind, ArrayType):
        return kind._replace(begins_later=False)
    if isinstance(kind, TupleType):
        return kind._replace(items=tuple(map(inside, kind.items)))
    return kind


def literal(value: Any, kind: str) -> Value:
    """Return a known number of a type."""
    with np.errstate(all="ignore"):
        number = bool(value) if kind == "bool" else SCALARS[kind](value)
    if kind == "bool":
        text = "true" if number else "false"
    elif kind not in REALS:
        text = str(number) if -(2**31) < number < 2**31 else f"{number}{'U' * (kind in UNSIGNED)}L"
    elif math.isfinite(number):
        text = repr(float(number)) if kind == "double" else f"{np.format_float_scientific(number)}f"
        text = _plain(number, text)
    else:
        text = "NAN" if number != number else "-INFINITY" if number < 0 else "INFINITY"
        text = f"(double){text}" if kind == "double" else text
    negative = text.startswith(("-", "("))
    return Value(kind, text, UNARY if negative else ATOM, number=number)


def _plain(number: Any, text: str) -> str:
    """Return the text of a float32 as 0.5f where that is shorter than 5.e-01f."""
    if isinstance(number, np.float64):
        return text
    plain = np.format_float_positional(number, trim="0")
    return f"{plain}f" if len(plain) < 14 else text


def joined(a: Any, b: Any) -> Any:
    """Return the type that holds values of two types, by Numba's rules; None: there is none."""
    if a == b:
        return a
    if isinstance(a, str) and isinstance(b, str):
        if "double" in (a, b) or "float" in (a, b):
            return "double"
        both = a in UNSIGNED, b in UNSIGNED
        if all(both) or (any(both) and "ulong" in (a, b)):
            return "ulong" if all(both) else None
        return "long"
    if isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.items) == len(b.items):
        items = tuple(joined(p, q) for p, q in zip(a.items, b.items, strict=True))
        if None not in items:
            return TupleType(items, *(a[1:] if a.names else b[1:]))
    return None


def safe(name: str) -> str:
    """Return a name as C, and OpenCL C, take it."""
    name = re.sub(r"[^A-Za-z0-9_]", lambda found: f"u{ord(found[0]):x}", name)
    return f"{name}_" if name in RESERVED else name
