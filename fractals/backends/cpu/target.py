"""How Numba compiles the primitives of `fractals.kernels`, and whole programs, for the CPU."""

import functools
import math

import numba

# Numba imports it with the first call that looks at types, and then registers types. Where two
# threads do that together, one of them raises RuntimeError: dictionary changed size.
import numba.experimental.function_type
from numba import types
from numba.extending import lower_builtin

from fractals.backends import code_cache, numba_compiler, numba_private
from fractals.backends.code_cache import program
from fractals.backends.cpu import (
    inlined,
    interrupts,  # noqa: F401 - registers its listener
)
from fractals.backends.cpu.inlined import overload
from fractals.backends.cpu.simd import elementary  # noqa: F401 - registers its overloads
from fractals.backends.cpu.simd.pack import Pack
from fractals.kernels import Target, primitives


def _declare(function, result, *kinds):
    """Have a function of single numbers be compiled to what the decorated function generates.

    An overload is a function of its own, which takes Numba 5 to 20 ms for each type. For other
    types than those that ``result(*types)`` gives a type for, overloads are tried.
    """

    def register(lower):
        numba_private.declare(function, result)
        lower_builtin(function, *kinds)(lower)
        return lower

    return register


def _one_type(*kinds):
    first = kinds[0]
    numeric = isinstance(first, types.Integer | types.Float)
    return first if numeric and all(kind == first for kind in kinds) else None


def _is_less(builder, kind, a, b):
    if isinstance(kind, types.Float):
        return builder.fcmp_ordered("<", a, b)
    compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
    return compare("<", a, b)


def _pair(*kinds):
    return _one_type(*kinds) if len(kinds) == 2 else None


def _cast(context, builder, signature, args):
    """Return the arguments in the type of the result: CUDA's compiler finds this code too."""
    return [
        context.cast(builder, value, kind, signature.return_type)
        for value, kind in zip(args, signature.args, strict=True)
    ]


@_declare(min, _pair, types.Number, types.Number)
def _min(context, builder, signature, args):
    a, b = _cast(context, builder, signature, args)
    return builder.select(_is_less(builder, signature.return_type, b, a), b, a)


@_declare(max, _pair, types.Number, types.Number)
def _max(context, builder, signature, args):
    a, b = _cast(context, builder, signature, args)
    return builder.select(_is_less(builder, signature.return_type, a, b), b, a)


@_declare(int, lambda v: types.int64 if isinstance(v, types.Float) else None, types.Float)
def _int(context, builder, signature, args):
    return context.cast(builder, args[0], signature.args[0], signature.return_type)


def _fused(*kinds):
    return _one_type(*kinds) if isinstance(kinds[0], types.Float) else None


@_declare(primitives.fma, _fused, types.Float, types.Float, types.Float)
def _fma(_context, builder, _signature, args):
    return builder.fma(*args)


@_declare(
    primitives.select,
    lambda mask, *kinds: _one_type(*kinds) if mask == types.boolean else None,
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


def make_target(number, jit):
    """Return the target whose functions are compiled by `jit`."""
    return Target(
        jit=jit,
        real=REAL[number],
        real32=numba.float32,
        int32=numba.int32,
        int64=numba.int64,
    )


@functools.cache
def cpu_target(number):
    """Return the target for loops compiled on the CPU."""
    return make_target(number, inlined.jit)


def compile_loop(make_body, number, options, checked=False):
    """Compile a program for the CPU, without the interpreter's lock.

    Indices are checked where `checked` is true, and the program then has the arguments of a body.
    """

    def make():
        body = make_body(cpu_target(number), *options)
        if checked:
            return body
        element = inlined.jit(body)

        def loop(*arguments):  # LLVM makes vectors because the strides are 1
            element(0, 0, 1, 1, *arguments)

        return loop

    return compile_body(make, make_body, number, options, checked)


def compile_body(make, make_body, number, options, checked=False, as_argument=False, packed=False):
    """Compile what ``make()`` returns, a body that `make_body` makes for these options.

    It is not called where this process has the program. `as_argument`: the program can also be a
    `FunctionArgument`, for which Numba makes another wrapper. `packed`: its samples are SIMD packs.
    All arguments but the first and this one tell the program from others.
    """

    def compiled(store):
        foreign = code_cache.is_foreign(make_body, *options)
        with inlined.functions_of_a_program() as functions:
            body = make()
        jit = numba.njit(
            nogil=True,
            error_model="numpy",
            boundscheck=checked,
            no_cfunc_wrapper=not as_argument,
            **numba_compiler.numeric(packed, foreign, lambda: inlined.declared(functions)),
        )
        dispatcher = jit(body)
        if store:
            numba_private.keep_code(dispatcher, store)
        return dispatcher

    return program(compiled, *_identity(make_body, number, options, checked, as_argument))


def typed_once(dispatcher, signature):
    """Return a compiled function for many calls with arguments of the types of its signature.

    Numba finds the type of a named tuple by a Python function, which takes 85 us for the arguments
    of the loop over tiles. So only the first call looks at types, and raises TypeError.
    """
    run = dispatcher.get_overload(signature)
    checking = iter((dispatcher,))
    return lambda *arguments: next(checking, run)(*arguments)


def is_stored(make_body, number, options):
    """Tell whether `compile_body` finds the program on the disk."""
    return code_cache.is_stored(*_identity(make_body, number, options))


def _identity(make_body, number, options, checked=False, as_argument=False):
    kind = "checked" if checked else "argument" if as_argument else "cpu"
    return kind, number, make_body, *options
