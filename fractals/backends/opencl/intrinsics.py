"""What OpenCL C has in place of the primitives of kernels, and small functions in C beside them."""

import builtins
import math
from collections.abc import Callable
from typing import Any

from fractals.backends.opencl.values import (
    CONDITION,
    LEVELS,
    NUMPY,
    REALS,
    TupleType,
    Value,
    literal,
)
from fractals.kernels import elementary, primitives

HELPERS = {
    "floor_divide": """\
static inline long floor_divide(const long a, const long b) { // as Python's //
    const long q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
""",
    "remainder": """\
static inline long remainder_of(const long a, const long b) { // as Python's %
    const long r = a % b;
    return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}
""",
    "two_to_double": """\
static inline double two_to_double(const long k) { // 2^k, from the bits of its exponent
    const long biased = k + 1023;
    return as_double((ulong)(biased < 0 ? 0 : biased) << 52);
}
""",
    "two_to_float": """\
static inline float two_to_float(const int k) { // 2^k, from the bits of its exponent
    const int biased = k + 127;
    return as_float((uint)(biased < 0 ? 0 : biased) << 23);
}
""",
    "split_double": """\
static inline PAIR split_double(const double v) { // mantissa in [1, 2), and exponent
    const ulong bits = as_ulong(v);
    const double mantissa = as_double((bits & 0xfffffffffffffUL) | 0x3ff0000000000000UL);
    return (PAIR){mantissa, (long)((bits >> 52) & 2047) - 1023};
}
""",
    "split_float": """\
static inline PAIR split_float(const float v) { // mantissa in [1, 2), and exponent
    const uint bits = as_uint(v);
    const float mantissa = as_float((bits & 0x7fffffU) | 0x3f800000U);
    return (PAIR){mantissa, (int)((bits >> 23) & 255) - 127};
}
""",
}
LESS = """\
static inline KIND NAME_KIND(const KIND a, const KIND b) {
    return TEST ? b : a;
}
"""
ABSOLUTE = """\
static inline KIND absolute_KIND(const KIND v) {
    return v < 0 ? -v : v;
}
"""


def atomic_add(array: Any, index: Any, value: Any) -> None:
    """Stand for `fractals.kernels.Target.add`, which is translated as an atomic addition."""
    array[index] += value


def _parts(v: Any) -> Any:
    m, e = primitives.split(v)
    return m, primitives.number(e, v)


def _scaled_float(v: Any, k: Any) -> Any:
    return v * primitives.two_to(min(int(k), 127), v)


def _scaled_double(v: Any, k: Any) -> Any:
    return v * primitives.two_to(min(int(k), 1023), v)


def _series(function: Any) -> Callable[..., Value]:
    return lambda writer, *values: writer.call(function, values)


def _fma(writer: Any, *values: Value) -> Value:
    kind = writer.common(*values)
    texts = (writer.given(value, kind).text for value in values)
    return Value(kind, f"fma({', '.join(texts)})")


def _select(writer: Any, condition: Value, a: Value, b: Value) -> Value:
    kind = writer.common(a, b)
    if condition.number is not None:
        chosen: Value = writer.cast(a if condition.number else b, kind)
        return chosen
    a, b = writer.given(a, kind), writer.given(b, kind)
    text = f"{condition.at(LEVELS['=='])} ? {a.at(CONDITION + 1)} : {b.at(CONDITION)}"
    return Value(kind, text, CONDITION)


def _number(writer: Any, value: Value, like: Value) -> Value:
    made: Value = writer.cast(value, like.type)
    return made


def _real(writer: Any, value: Value) -> Value:
    return value if value.type in REALS else writer.cast(value, "double")


def _of_reals(name: str) -> Callable[..., Value]:
    def make(writer: Any, value: Value) -> Value:
        value = _real(writer, value)
        if name == "sqrt" and value.number is not None:
            exact = math.sqrt(value.number) if value.number >= 0 else math.nan
            return literal(exact, value.type)
        if name == "sqrt" and value.type == "float":
            writer.divides()
        return Value(value.type, f"{name}({value.text})")

    return make


def _split(writer: Any, v: Value) -> Value:
    pair = TupleType((v.type, "long" if v.type == "double" else "int"))
    name = f"split_{v.type}"
    writer.program.helper(name, HELPERS[name].replace("PAIR", writer.program.name_of(pair)))
    return Value(pair, f"{name}({v.text})")


def _two_to(writer: Any, k: Value, like: Value) -> Value:
    name = f"two_to_{like.type}"
    writer.program.helper(name, HELPERS[name])
    return Value(like.type, f"{name}({k.text})")


def _scaled(writer: Any, v: Value, k: Value) -> Value:
    own = _scaled_float if v.type == "float" else _scaled_double
    made: Value = writer.call(own, (v, k))
    return made


def _abs(writer: Any, value: Value) -> Value:
    if value.number is not None:
        return literal(abs(value.number), value.type)
    if value.type in REALS:
        return Value(value.type, f"fabs({value.text})")
    kind = writer.arithmetic(value.type, value.type)
    writer.program.helper(f"absolute_{kind}", ABSOLUTE.replace("KIND", kind))
    return Value(kind, f"absolute_{kind}({value.text})")


def _extreme(name: str, test: str) -> Callable[..., Value]:
    def make(writer: Any, first: Value, *others: Value) -> Value:
        found = first
        for other in others:
            kind = writer.common(found, other)
            if found.number is not None and other.number is not None:
                pair = (writer.cast(found, kind).number, writer.cast(other, kind).number)
                found = literal((min if name == "least" else max)(*pair), kind)
                continue
            text = LESS.replace("KIND", kind).replace("NAME", name).replace("TEST", test)
            writer.program.helper(f"{name}_{kind}", text)
            a, b = writer.given(found, kind).text, writer.given(other, kind).text
            found = Value(kind, f"{name}_{kind}({a}, {b})")
        return found

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
    if kind not in ("int", "uint", "long", "ulong"):
        writer.fail(f"an atomic addition to an array of {kind}")
    function = "atomic_add" if kind in ("int", "uint") else "atom_add"
    return Value(None, f"{function}(&{cell.text}, {writer.cast(value, kind).text})")


INTRINSICS: dict[Any, Callable[..., Value]] = {
    primitives.fma: _fma,
    primitives.select: _select,
    primitives.number: _number,
    primitives.sqrt: _of_reals("sqrt"),
    primitives.split: _split,
    primitives.two_to: _two_to,
    elementary.nearest: _of_reals("rint"),
    elementary.parts: _series(_parts),
    elementary.scaled: _scaled,
    **{own: _series(series) for own, series in elementary.SERIES.items() if own is not series},
    math.sqrt: _of_reals("sqrt"),
    builtins.abs: _abs,
    builtins.min: _extreme("least", "b < a"),
    builtins.max: _extreme("greatest", "a < b"),
    builtins.int: _whole,
    builtins.float: _cast_to("double"),
    builtins.bool: _cast_to("bool"),
    builtins.len: _length,
    atomic_add: _add,
    **{kind: _cast_to(name) for kind, name in NUMPY.items()},
}
