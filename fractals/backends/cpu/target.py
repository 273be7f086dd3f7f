"""How Numba compiles the primitives of `fractals.kernels`, and whole programs, for the CPU."""

import functools
import importlib
import math
import re

import numba

# Numba imports it with the first call that looks at types, and then registers types. Where two
# threads do that together, one of them raises RuntimeError: dictionary changed size.
import numba.experimental.function_type
from numba import types
from numba.core.errors import NumbaError
from numba.extending import lower_builtin, type_callable

from fractals.backends import machine_code
from fractals.backends.cpu import entry
from fractals.backends.cpu.entry import overload
from fractals.backends.cpu.simd import elementary  # noqa: F401 - registers its overloads
from fractals.backends.cpu.simd.memory import add_up
from fractals.backends.cpu.simd.pack import Pack
from fractals.kernels import Target, primitives


def _declare(function, result, *kinds):
    """Have a function of single numbers be compiled to what the decorated function generates.

    An overload is a function of its own, which takes Numba 5 to 20 ms for each type. For other
    types than those that ``result(*types)`` gives a type for, overloads are tried.
    """

    def register(lower):
        type_callable(function)(lambda _context: result)
        lower_builtin(function, *kinds)(lower)
        return lower

    return register


def _one_type(*kinds):
    first = kinds[0]
    numeric = isinstance(first, types.Integer | types.Float)
    return first if numeric and all(kind == first for kind in kinds) else None


def _fused(a, b, c):
    return _one_type(a, b, c) if isinstance(a, types.Float) else None


@_declare(primitives.fma, _fused, types.Float, types.Float, types.Float)
def _fma(_context, builder, _signature, args):
    return builder.fma(*args)


@_declare(
    primitives.select,
    lambda mask, a, b: _one_type(a, b) if mask == types.boolean else None,
    *(types.Boolean, types.Number, types.Number),
)
def _select(_context, builder, _signature, args):
    return builder.select(*args)


@_declare(
    primitives.number,
    lambda value, like: like if _one_type(value) and _one_type(like) else None,
    *(types.Number, types.Number),
)
def _number(context, builder, signature, args):
    return context.cast(builder, args[0], signature.args[0], signature.return_type)


def _split_type(v):
    if isinstance(v, types.Float):
        return types.Tuple((v, types.Integer.from_bitwidth(v.bitwidth, signed=True)))


@_declare(primitives.split, _split_type, types.Float)
def _split(context, builder, signature, args):
    """Return a float's mantissa and exponent from its bits, because frexp would cost a call."""
    v, integer = signature.return_type
    fraction, bias = (52, 1023) if v == types.float64 else (23, 127)
    word = context.get_value_type(integer)
    raw = builder.bitcast(args[0], word)
    biased = builder.and_(builder.lshr(raw, word(fraction)), word(2 * bias + 1))
    exponent = builder.sub(biased, word(bias))
    mantissa = builder.or_(builder.and_(raw, word((1 << fraction) - 1)), word(bias << fraction))
    parts = builder.bitcast(mantissa, args[0].type), exponent
    return context.make_tuple(builder, signature.return_type, parts)


def _power_type(k, like):
    return like if isinstance(k, types.Integer) and isinstance(like, types.Float) else None


@_declare(primitives.two_to, _power_type, types.Integer, types.Float)
def _two_to(context, builder, signature, args):
    """Return 2**k from the bits of its exponent; 0 below the exponents of normal numbers."""
    like = signature.return_type
    bits, fraction, bias = (64, 52, 1023) if like == types.float64 else (32, 23, 127)
    integer = types.Integer.from_bitwidth(bits, signed=True)
    word = context.get_value_type(integer)
    k = context.cast(builder, args[0], signature.args[0], integer)
    biased = builder.add(k, word(bias))
    biased = builder.select(builder.icmp_signed("<", biased, word(0)), word(0), biased)
    real = context.get_value_type(like)
    return builder.bitcast(builder.shl(biased, word(fraction)), real)


@overload(primitives.diffabs)
def _diffabs(c, d):
    return primitives.diffabs


@overload(primitives.clamp)
def _clamp(v, low, high):
    return primitives.clamp


def select_overload(condition, a, b):
    """Compile `fractals.kernels.primitives.select` for single numbers."""
    if not isinstance(condition, Pack):
        return lambda condition, a, b: a if condition else b


def number_overload(value, like):
    """Compile `fractals.kernels.primitives.number` for single numbers."""
    real = like
    if not isinstance(like, Pack):
        return lambda value, like: real(value)


def sqrt_overload(v):
    """Compile `fractals.kernels.primitives.sqrt` for single numbers."""
    if not isinstance(v, Pack):
        return lambda v: math.sqrt(v)


overload(primitives.sqrt)(sqrt_overload)
overload(primitives.select)(select_overload)
overload(primitives.number)(number_overload)

REAL = {"float32": numba.float32, "float64": numba.float64}
EACH = 0, 0, 1, 1


def make_target(number, jit, add, index=numba.int64, wide=numba.int64):
    """Return the target whose functions are compiled by `jit`; `add` is that of `Target`."""
    return Target(
        jit=jit,
        real=REAL[number],
        real32=numba.float32,
        int32=numba.int32,
        int64=numba.int64,
        index=index,
        wide=wide,
        add=add,
    )


@functools.cache
def cpu_target(number):
    """Return the target for loops compiled on the CPU."""
    return make_target(number, entry.jit, entry.jit(add_up))


def text_of(make_body, number, options, layout, foreign, loop=False, checked=False, **kinds):
    """Return LLVM's text of a program; the parameters are those of `compiled`.

    Raises NumbaError: Numba can't compile it.
    """
    if isinstance(make_body, str):
        module, _, name = make_body.partition(":")
        make_body = getattr(importlib.import_module(module), name)

    def make():
        body = make_body(cpu_target(number), *options)
        if not loop or checked:
            return body
        element = entry.jit(body)

        def whole(*arguments):  # LLVM makes vectors because the strides are 1
            element(*EACH, *arguments)

        return whole

    return entry.text_of_program(make, layout, foreign, checked, **kinds)


def compiled(make_body, number, options, layout, foreign, loop=False, **kinds):
    """Return the machine code of a program, as `fractals.backends.machine_code.loaded` takes it.

    The parameters are those of `fractals.backends.cpu.programs.program_of`. `layout`: that of the
    arguments; `foreign`: a part of the program is not of this package.

    Raises NumbaError: Numba can't compile it, though it is a loop over elements, which any formula
    has.
    """
    try:
        text = text_of(make_body, number, options, layout, foreign, loop, **kinds)
        return machine_code.made(text)
    except NumbaError as error:
        if loop:
            raise
        return machine_code.refused(_reason(error))


# A call that Numba can't compile, in its messages.
MISSING = re.compile(r">>> (\w+\(.*\))$", re.MULTILINE)


def _reason(error):
    """Return in one line what Numba can't compile for SIMD packs, from its message."""
    found = MISSING.findall(str(error))
    return f"no SIMD form of {found[-1]}" if found else str(error).strip().splitlines()[0]
