"""Types and values of a translated function: what `translate` knows of an expression."""

import ast
import builtins
import functools
import linecache
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fractals.errors import DeviceError
from fractals.kernels import elementary, primitives

# How tightly an operator of C binds.
ATOM, UNARY, EQUAL, CONDITION = 16, 14, 9, 3
LEVELS = {"*": 13, "/": 13, "+": 12, "-": 12, "<<": 11, ">>": 11, "<": 10, "<=": 10, ">": 10}
LEVELS |= {">=": 10, "==": EQUAL, "!=": EQUAL, "&": 8, "^": 7, "|": 6, "&&": 5, "||": 4, "%": 13}
OPERATORS: dict[type, tuple[str, Any]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
IN_C = {"//": "floor_divide", "%": "remainder"}  # what C has in another sense
BITWISE = ("<<", ">>", "&", "|", "^")

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
# Words of C, of C++, and of the two languages for GPUs, that Python's names must not hide.
RESERVED = {
    *("auto", "bool", "break", "case", "catch", "char", "class", "const", "constant", "continue"),
    *("default", "delete", "device", "do", "double", "else", "enum", "explicit", "extern"),
    *("false", "fast", "float", "for", "friend", "generic", "global", "goto", "half", "if"),
    *("image", "inline", "int", "kernel", "local", "long", "metal", "mutable", "namespace"),
    *("new", "operator", "pipe", "precise", "private", "protected", "public", "read_only"),
    *("register", "restrict", "return", "short", "signed", "sizeof", "static", "struct"),
    *("switch", "template", "this", "thread", "threadgroup", "throw", "true", "try", "typedef"),
    *("typename", "uchar", "uint", "ulong", "union", "unsigned", "ushort", "using", "vertex"),
    *("virtual", "void", "volatile", "while", "write_only", "at", "fma", "fabs", "rint", "size"),
    *("sqrt", "NAN", "INFINITY"),
}
REALS, UNSIGNED = ("float", "double"), ("uint", "ulong")
SIGNED = ("char", "short", "int")  # which C makes as wide as a uint beside one


class TupleType(NamedTuple):
    """A tuple of values; `names` and `title` are those of a named one."""

    items: tuple[Any, ...]
    names: tuple[str, ...] = ()
    title: str = ""

    @property
    def fields(self) -> list[str]:
        """Return the names of the parts in C."""
        return [safe(name) for name in self.names] or [f"v{k}" for k in range(len(self.items))]


class ArrayType(NamedTuple):
    """An array in the memory of the device, row by row."""

    element: str
    dimensions: int


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
        return f"({self.text})" if self.level < level else self.text

    @property
    def is_known(self) -> bool:
        """Tell whether the value is known when a kernel is translated."""
        return self.number is not None or isinstance(self.type, Static)

    @property
    def truth(self) -> bool:
        """Tell whether a known value counts as true."""
        return bool(self.type.value if isinstance(self.type, Static) else self.number)

    def words(self) -> set[str]:
        """Return the names in the text, and in that of its parts."""
        inner = [each.words() for each in self.items or ()]
        return set(re.findall(r"\w+", self.text)).union(*inner)


def between(kind: Any, a: Value, sign: str, b: Value) -> Value:
    """Return the value of an operator, with parentheses where C, or a reader, needs them."""
    level = LEVELS[sign]
    usual = sign not in (*BITWISE, "&&", "||")
    right = level + 1 if usual else UNARY if sign in BITWISE else EQUAL
    left = level if usual or a.level == level else right
    return Value(kind, f"{a.at(left)} {sign} {b.at(right)}", level)


def chosen(kind: Any, condition: Value, a: Value, b: Value) -> Value:
    """Return one of two values of a type."""
    text = f"{condition.at(EQUAL)} ? {a.at(CONDITION + 1)} : {b.at(CONDITION)}"
    return Value(kind, text, CONDITION)


def known(value: Any) -> Value:
    """Return a value that is known now."""
    if isinstance(value, bool | np.bool_):
        return literal(bool(value), "bool")
    if isinstance(value, int | float | np.number):
        return literal(value, type_of(value))
    if isinstance(value, tuple) and value:
        items = tuple(map(known, value))
        return Value(tuple_type(value, [item.type for item in items]), items=items)
    return Value(Static(value))


def type_of(value: Any) -> Any:
    """Return the type of an argument of a kernel, or of a known number."""
    if isinstance(value, tuple):
        return tuple_type(value, map(type_of, value))
    if hasattr(value, "shape") and value.shape != ():
        return ArrayType(NUMPY[np.dtype(value.dtype).type], len(value.shape))
    if isinstance(value, np.generic):
        return NUMPY[type(value)]
    return "bool" if isinstance(value, bool) else "long" if isinstance(value, int) else "double"


def tuple_type(value: Any, items: Any) -> TupleType:
    """Return the type of a tuple, or of one of this type, whose parts have these types."""
    names, kind = getattr(value, "_fields", ()), value if isinstance(value, type) else type(value)
    return TupleType(tuple(items), names, kind.__name__ if names else "")


def literal(value: Any, kind: str) -> Value:
    """Return a known number of a type."""
    with np.errstate(all="ignore"):
        number = bool(value) if kind == "bool" else SCALARS[kind](value)
    if kind == "bool":
        text = "true" if number else "false"
    elif kind not in REALS:
        suffix = {"uint": "U", "ulong": "UL"}.get(kind, "L")
        text = str(number) if -(2**31) < number < 2**31 else f"{number}{suffix}"
    elif math.isfinite(number):
        text = repr(float(number))
        if kind == "float":  # 0.5f where that is shorter than 5.e-01f
            plain = np.format_float_positional(number, trim="0")
            text = f"{plain if len(plain) < 14 else np.format_float_scientific(number)}f"
    else:
        text = "NAN" if number != number else "-INFINITY" if number < 0 else "INFINITY"
        text = f"(double){text}" if kind == "double" else text
    return Value(kind, text, UNARY if text[0] in "-(" else ATOM, number=number)


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
    """Return a name as C, and the languages for GPUs, take it."""
    name = re.sub(r"[^A-Za-z0-9_]", lambda found: f"u{ord(found[0]):x}", name)
    return f"{name}_" if name in RESERVED else name


# --- Syntax trees of functions, and their places in files

PACKAGE = Path(__file__).parents[2]


def place_of(filename: str, line: int) -> str:
    """Return file and line, of this package from its folder on."""
    path = Path(filename)
    if path.is_relative_to(PACKAGE):
        path = path.relative_to(PACKAGE.parent)
    return f"{path.as_posix()}:{line}"


@functools.cache
def _functions_of(text: str) -> dict[tuple[int, str], list[Any]]:
    found: dict[tuple[int, str], list[Any]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found.setdefault((line, node.name), []).append(node)
        elif isinstance(node, ast.Lambda):
            found.setdefault((node.lineno, "<lambda>"), []).append(node)
    return found


def tree_of(function: Any) -> Any:
    """Return the syntax tree of a function, a definition or a lambda.

    A function of generated text has the text as its attribute `text`.
    """
    code = function.__code__
    text = getattr(function, "text", None) or "".join(linecache.getlines(code.co_filename))
    found = _functions_of(text).get((code.co_firstlineno, code.co_name), [])
    if len(found) != 1:
        what = "several functions are" if found else "no source text is"
        raise DeviceError(f"{place_of(code.co_filename, code.co_firstlineno)}: {what} there")
    return found[0]


def stored(*nodes: ast.AST) -> set[str]:
    """Return the names in C of what statements, or targets, change; "data" for arrays."""
    changed = [
        each
        for node in nodes
        for each in ast.walk(node)
        if isinstance(getattr(each, "ctx", None), ast.Store)
    ]
    return {
        safe(each.id) if isinstance(each, ast.Name) else "data"
        for each in changed
        if isinstance(each, ast.Name | ast.Subscript)
    }


# --- What the languages of GPUs have in place of the primitives of kernels


class Dialect(NamedTuple):
    """How a language of GPUs, which is C but for this, spells what C lacks."""

    name: str
    head: str  # of a program
    space: str  # of the memory that a kernel is given
    made: str  # a struct of parts
    bits: str  # the bits of a number as one of another type
    exact: str  # before a function that is rounded once
    add: str  # an atomic addition
    whole: str  # a parameter of a kernel that is a number
    places: tuple[str, str]  # the index of a work-item, and the number of work-items, by dimension
    last: str  # parameters of a kernel behind its arguments
    atomic: tuple[str, ...]  # types of numbers that have atomic additions
    lacks: tuple[str, ...]  # types of numbers


OPENCL = Dialect(
    name="OpenCL C",
    head="#pragma OPENCL FP_CONTRACT OFF\n",
    space="global",
    made="({0}){{{1}}}",
    bits="as_{0}",
    exact="",
    add="{0}(&{1}, {2})",
    whole="const {0} {1}",
    places=("get_global_id({0})", "get_global_size({0})"),
    last="",
    atomic=("int", "uint", "long", "ulong"),
    lacks=(),
)
# Its text is tested, and was not run: no machine of the project has Metal.
METAL = Dialect(
    name="Metal",
    head="#include <metal_stdlib>\nusing namespace metal;\n"
    "#pragma METAL fp math_mode(safe)\n#pragma METAL fp contract(off)\n",
    space="device",
    made="{0}{{{1}}}",
    bits="as_type<{0}>",
    exact="precise::",
    add="atomic_fetch_add_explicit((device atomic_{3} *)&{1}, {2}, memory_order_relaxed)",
    whole="constant {0} &{1}",
    places=("at[{0}]", "size[{0}]"),
    last="uint2 at [[thread_position_in_grid]],\n    uint2 size [[threads_per_grid]]",
    atomic=("int", "uint"),
    lacks=("double",),
)

# Small functions in C: the types, then the bits, of a real number are put into them.
HELPERS = {
    "floor_divide": """\
static inline long floor_divide(const long a, const long b) { // as Python's //
    const long q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
""",
    "remainder": """\
static inline long remainder(const long a, const long b) { // as Python's %
    const long r = a % b;
    return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}
""",
    "two_to": """\
static inline REAL two_to_REAL(const WHOLE k) { // 2^k, from the bits of its exponent
    const WHOLE biased = k + BIAS;
    return AS_REAL((uWHOLE)(biased < 0 ? 0 : biased) << FRACTION);
}
""",
    "split": """\
static inline PAIR split_REAL(const REAL v) { // mantissa in [1, 2), and exponent
    const uWHOLE bits = AS_uWHOLE(v);
    const REAL mantissa = AS_REAL((bits & MANTISSA) | ONE);
    const WHOLE exponent = (WHOLE)((bits >> FRACTION) & MOST) - BIAS;
    return MADE;
}
""",
}


def atomic_add(array: Any, index: Any, value: Any) -> None:
    """Stand for `fractals.kernels.Target.add`, which is translated as an atomic addition."""
    array[index] += value


# Functions of Python that are translated in place of others.


def parts(v: Any) -> Any:
    """Return mantissa and exponent, both in the type of v."""
    m, e = primitives.split(v)
    return m, primitives.number(e, v)


def scaled_float(v: Any, k: Any) -> Any:
    """Return v * 2**k."""
    return v * primitives.two_to(min(int(k), 127), v)


def scaled_double(v: Any, k: Any) -> Any:
    """Return v * 2**k."""
    return v * primitives.two_to(min(int(k), 1023), v)


def least(a: Any, b: Any) -> Any:
    """Return the smaller number; the first where there is none."""
    return b if b < a else a


def greatest(a: Any, b: Any) -> Any:
    """Return the larger number; the first where there is none."""
    return b if a < b else a


def absolute(v: Any) -> Any:
    """Return the absolute value of a whole number."""
    return -v if v < 0 else v


def _called(function: Any) -> Callable[..., Value]:
    return lambda writer, *values: writer.call(function, values)


def _fma(writer: Any, *values: Value) -> Value:
    kind = writer.common(*values)
    texts = (writer.given(value, kind).text for value in values)
    return Value(kind, f"{writer.dialect.exact}fma({', '.join(texts)})")


def _select(writer: Any, condition: Value, a: Value, b: Value) -> Value:
    kind = writer.common(a, b)
    made: Value = (
        writer.chosen(kind, condition, a, b)
        if condition.number is None
        else writer.cast(a if condition.number else b, kind)
    )
    return made


def _sqrt(writer: Any, value: Value) -> Value:
    if value.number is not None:
        exact = math.sqrt(value.number) if value.number >= 0 else math.nan
        return literal(exact, value.type if value.type in REALS else "double")
    return _of_reals(writer, value, writer.dialect.exact + "sqrt", divides=True)


def _of_reals(writer: Any, value: Value, name: str, divides: bool = False) -> Value:
    value = value if value.type in REALS else writer.cast(value, "double")
    if divides and value.type == "float":
        writer.divides()
    return Value(value.type, f"{name}({value.text})")


def _helper(writer: Any, name: str, kind: str, value: Value, pair: str = "") -> str:
    """Have the program contain a helper for a type of real numbers; return a call of it."""
    fraction, bias, whole = (52, 1023, "long") if kind == "double" else (23, 127, "int")
    text, bits = HELPERS[name], writer.dialect.bits
    for word, own in (
        *(("AS_REAL", bits.format(kind)), ("AS_uWHOLE", bits.format(f"u{whole}"))),
        *(("REAL", kind), ("WHOLE", whole), ("BIAS", bias), ("FRACTION", fraction)),
        *(("MANTISSA", hex((1 << fraction) - 1)), ("ONE", hex(bias << fraction))),
        *(("MOST", 2 * bias + 1), ("PAIR", pair)),
        ("MADE", writer.dialect.made.format(pair, "mantissa, exponent")),
    ):
        text = text.replace(word, str(own))
    writer.program.helper(f"{name}_{kind}", text)
    return f"{name}_{kind}({value.text})"


def _split(writer: Any, v: Value) -> Value:
    pair = TupleType((v.type, "long" if v.type == "double" else "int"))
    return Value(pair, _helper(writer, "split", v.type, v, writer.program.name_of(pair)))


def _two_to(writer: Any, k: Value, like: Value) -> Value:
    return Value(like.type, _helper(writer, "two_to", like.type, k))


def _scaled(writer: Any, v: Value, k: Value) -> Value:
    made: Value = writer.call(scaled_float if v.type == "float" else scaled_double, (v, k))
    return made


def _abs(writer: Any, value: Value) -> Value:
    if value.number is not None:
        return literal(abs(value.number), value.type)
    if value.type in REALS:
        return Value(value.type, f"fabs({value.text})")
    made: Value = writer.call(absolute, (writer.cast(value, writer.arithmetic(value, value)),))
    return made


def _extreme(function: Any, of_known: Callable[..., Any]) -> Callable[..., Value]:
    def make(writer: Any, first: Value, *others: Value) -> Value:
        for other in others:
            kind = writer.common(first, other)
            first, other = writer.cast(first, kind), writer.cast(other, kind)
            if first.number is not None and other.number is not None:
                first = literal(of_known(first.number, other.number), kind)
            else:
                first = writer.call(function, (first, other))
        return first

    return make


def _cast_to(kind: str) -> Callable[..., Value]:
    return lambda writer, value: writer.cast(value, kind)


def _whole(writer: Any, value: Value) -> Value:
    return writer.cast(value, "long") if value.type in (*REALS, "bool") else value


def _length(writer: Any, value: Value) -> Value:
    if isinstance(value.type, TupleType):
        return literal(len(value.type.items), "long")
    return Value("long", f"{value.text}.n0")


def _add(writer: Any, array: Value, index: Value, value: Value) -> Value:
    cell, kind = writer.element(array, (index,)), array.type.element
    if kind not in writer.dialect.atomic:
        writer.fail(f"an atomic addition to an array of {kind}")
    function = "atomic_add" if kind in ("int", "uint") else "atom_add"
    text = writer.dialect.add.format(function, cell.text, writer.cast(value, kind).text, kind)
    return Value(None, text)


INTRINSICS: dict[Any, Callable[..., Value]] = {
    primitives.fma: _fma,
    primitives.select: _select,
    primitives.number: lambda writer, value, like: writer.cast(value, like.type),
    primitives.sqrt: _sqrt,
    primitives.split: _split,
    primitives.two_to: _two_to,
    elementary.nearest: lambda writer, value: _of_reals(writer, value, "rint"),
    elementary.parts: _called(parts),
    elementary.scaled: _scaled,
    **{own: _called(series) for own, series in elementary.SERIES.items() if own is not series},
    math.sqrt: _sqrt,
    builtins.abs: _abs,
    builtins.min: _extreme(least, min),
    builtins.max: _extreme(greatest, max),
    builtins.int: _whole,
    builtins.float: _cast_to("double"),
    builtins.bool: _cast_to("bool"),
    builtins.len: _length,
    atomic_add: _add,
    **{kind: _cast_to(name) for kind, name in NUMPY.items()},
}
