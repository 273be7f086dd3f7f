"""What the languages of GPUs have in place of the primitives of kernels."""

import builtins
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from fractals.backends.opencl.values import NUMPY, REALS, TupleType, Value, chosen, literal
from fractals.kernels import elementary, primitives


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
    if condition.number is not None:
        made: Value = writer.cast(a if condition.number else b, kind)
        return made
    return chosen(kind, condition, writer.given(a, kind), writer.given(b, kind))


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
