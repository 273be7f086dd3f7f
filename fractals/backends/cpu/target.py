"""How Numba compiles the primitives of `fractals.kernels`, and whole programs, for the CPU."""

import functools
import math

import numba
from numba import types
from numba.extending import intrinsic

from fractals.backends import code_cache, numba_private
from fractals.backends.code_cache import program
from fractals.backends.cpu import (
    inlined,
    interrupts,  # noqa: F401 - registers its listener
)
from fractals.backends.cpu.inlined import overload
from fractals.backends.cpu.simd import elementary  # noqa: F401 - registers its overloads
from fractals.backends.cpu.simd.pack import Pack
from fractals.kernels import Target, primitives


@intrinsic
def _fused(_context, a, b, c):
    if not (isinstance(a, types.Float) and a == b == c):
        return None
    return a(a, a, a), lambda _context, builder, _signature, args: builder.fma(*args)


@overload(primitives.fma)
def _fma(a, b, c):
    if isinstance(a, types.Float):
        return lambda a, b, c: _fused(a, b, c)


@intrinsic
def _split_bits(_context, v):
    """Return a float's mantissa and exponent from its bits, because frexp would cost a call."""
    bits, fraction, bias = (64, 52, 1023) if v == types.float64 else (32, 23, 127)
    integer = types.Integer.from_bitwidth(bits, signed=True)

    def generate(context, builder, signature, args):
        word = context.get_value_type(integer)
        raw = builder.bitcast(args[0], word)
        biased = builder.and_(builder.lshr(raw, word(fraction)), word(2 * bias + 1))
        exponent = builder.sub(biased, word(bias))
        mantissa = builder.or_(builder.and_(raw, word((1 << fraction) - 1)), word(bias << fraction))
        parts = builder.bitcast(mantissa, args[0].type), exponent
        return context.make_tuple(builder, signature.return_type, parts)

    return types.Tuple((v, integer))(v), generate


@overload(primitives.split)
def _split(v):
    return lambda v: _split_bits(v)


@intrinsic
def _power_of_two(_context, k, like):
    """Return 2**k from the bits of its exponent; 0 below the exponents of normal numbers."""
    bits, fraction, bias = (64, 52, 1023) if like == types.float64 else (32, 23, 127)
    integer = types.Integer.from_bitwidth(bits, signed=True)

    def generate(context, builder, signature, args):
        word = context.get_value_type(integer)
        k = context.cast(builder, args[0], signature.args[0], integer)
        biased = builder.add(k, word(bias))
        biased = builder.select(builder.icmp_signed("<", biased, word(0)), word(0), biased)
        real = context.get_value_type(signature.return_type)
        return builder.bitcast(builder.shl(biased, word(fraction)), real)

    return like(k, like), generate


@overload(primitives.two_to)
def _two_to(k, like):
    return lambda k, like: _power_of_two(k, like)


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
    return make_target(number, functools.cache(inlined.jit))


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


def compile_body(make, make_body, number, options, checked=False):
    """Compile what ``make()`` returns, a body that `make_body` makes for these options.

    It is not called where this process has the program. The last four arguments are all that tells
    the program from others.
    """

    def compiled(store):
        settings = numba_private.NUMERIC
        jit = numba.njit(nogil=True, error_model="numpy", boundscheck=checked, **settings)
        dispatcher = jit(make())
        if store:
            numba_private.keep_code(dispatcher, store)
        return dispatcher

    return program(compiled, *_identity(make_body, number, options, checked))


def is_stored(make_body, number, options):
    """Tell whether `compile_body` finds the program on the disk."""
    return code_cache.is_stored(*_identity(make_body, number, options, checked=False))


def _identity(make_body, number, options, checked):
    return "checked" if checked else "cpu", number, make_body, *options
