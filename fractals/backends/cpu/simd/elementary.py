"""What Numba needs to compile the series of `fractals.kernels.elementary`: numbers and packs."""

import inspect

from llvmlite import ir
from numba.core import cgutils, types

from fractals.backends.cpu.entry import overload
from fractals.backends.cpu.simd.pack import (
    FEATURES,
    INT32,
    INT64,
    REGISTER,
    Pack,
    all_lanes,
    call,
    define,
    each,
    each_register,
    intrinsic,
    llvm_function,
    same,
)
from fractals.kernels import elementary, primitives, space

# --- How large the numbers in packs are: sizes of complex numbers, exponents, powers of two.


@intrinsic
def larger_part(context, x, y):
    """Return the larger of abs(x) and abs(y) in each lane: the size of x + iy that is compared."""
    name = f"llvm.x86.avx512.mask.range.{'pd' if x.element == types.float64 else 'ps'}.512"

    def generate(context, builder, signature, args):
        word = ir.IntType(x.lanes)

        def apply(a, b):
            if REGISTER == 64 and "avx512dq" in FEATURES:  # one instruction
                way, rounding = INT32(0b1011), INT32(4)  # of the larger, without its sign; current
                return call(builder, name, x.vector, a, b, way, a, word(-1), rounding)
            a, b = (llvm_function("fabs")(builder, part) for part in (a, b))
            return builder.select(builder.fcmp_ordered("<", a, b), b, a)

        return each_register(builder, apply, *args)

    return x(x, y) if x == y else None, generate


@intrinsic
def exponents(context, value):
    """Return the whole number e with 2**e <= abs(lane) < 2**(e + 1), in float64; -1023 for 0."""

    def generate(context, builder, signature, args):
        def apply(vector):
            words = ir.VectorType(INT64, vector.type.count)
            bits = builder.bitcast(vector, words)
            biased = builder.and_(builder.lshr(bits, all_lanes(words, 52)), all_lanes(words, 2047))
            return builder.sitofp(builder.sub(biased, all_lanes(words, 1023)), vector.type)

        return each(builder, apply, args[0])

    return value(value), generate


@intrinsic
def powers_of_two(context, value):
    """Return 2**lane, for whole numbers in float64 up to 1023; 0 for those below -1022."""

    def generate(context, builder, signature, args):
        def apply(vector):
            words = ir.VectorType(INT64, vector.type.count)
            biased = builder.add(builder.fptosi(vector, words), all_lanes(words, 1023))
            negative = builder.icmp_signed("<", biased, all_lanes(words, 0))
            biased = builder.select(negative, all_lanes(words, 0), biased)
            return builder.bitcast(builder.shl(biased, all_lanes(words, 52)), vector.type)

        return each(builder, apply, args[0])

    return value(value), generate


@intrinsic
def _rint(_context, v):
    name = f"llvm.rint.f{v.bitwidth}"

    def generate(context, builder, signature, args):
        kind = ir.FunctionType(args[0].type, [args[0].type])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return v(v), generate


@overload(elementary.nearest)
def _nearest(x):
    if isinstance(x, types.Float):
        return lambda x: _rint(x)


def parts_overload(v):
    """Compile `fractals.kernels.elementary.parts` for single numbers."""
    if not isinstance(v, Pack):

        def parts(v):
            mantissa, exponent = primitives.split(v)
            return mantissa, primitives.number(exponent, v)

        return parts


def scaled_overload(v, k):
    """Compile `fractals.kernels.elementary.scaled` for single numbers."""
    if not isinstance(v, Pack):
        most = 127 if v == types.float32 else 1023
        return lambda v, k: v * primitives.two_to(min(int(k), most), v)


def teach_series(overload, **settings):
    """Let `fractals.kernels.elementary` and `space` be compiled for a target."""
    own = {function: function for function in space.FUNCTIONS}
    for function, series in (elementary.SERIES | own).items():
        overload(function, **settings)(_returning(series))


def _returning(series):
    def choose(*_types):
        return series

    choose.__signature__ = inspect.signature(series)  # Numba compares the names of parameters
    return choose


overload(elementary.parts)(parts_overload)
overload(elementary.scaled)(scaled_overload)
teach_series(overload)


define(elementary.nearest, same(types.Float), llvm_function("rint"), (Pack,))


@intrinsic
def _split_lanes(context, v):
    """Return each lane's mantissa in [1, 2), and exponent as a number, as `primitives.split`."""
    bits, fraction, bias = (64, 52, 1023) if v.element == types.float64 else (32, 23, 127)

    def generate(context, builder, signature, args):
        def mantissa(vector):
            words = ir.VectorType(ir.IntType(bits), vector.type.count)
            low = builder.and_(
                builder.bitcast(vector, words), all_lanes(words, (1 << fraction) - 1)
            )
            return builder.bitcast(
                builder.or_(low, all_lanes(words, bias << fraction)), vector.type
            )

        def exponent(vector):
            words = ir.VectorType(ir.IntType(bits), vector.type.count)
            raw = builder.lshr(builder.bitcast(vector, words), all_lanes(words, fraction))
            biased = builder.and_(raw, all_lanes(words, 2 * bias + 1))
            return builder.sitofp(builder.sub(biased, all_lanes(words, bias)), vector.type)

        found = each(builder, mantissa, args[0]), each(builder, exponent, args[0])
        return context.make_tuple(builder, signature.return_type, found)

    return types.UniTuple(v, 2)(v), generate


@overload(elementary.parts)
def _parts_of_lanes(v):
    if isinstance(v, Pack):
        return lambda v: _split_lanes(v)


@intrinsic
def _scale_lanes(context, v, k):
    bits, fraction, bias = (64, 52, 1023) if v.element == types.float64 else (32, 23, 127)

    def generate(context, builder, signature, args):
        def apply(vector, power):
            words = ir.VectorType(ir.IntType(bits), vector.type.count)
            biased = builder.add(builder.fptosi(power, words), all_lanes(words, bias))
            zero, most = all_lanes(words, 0), all_lanes(words, 2 * bias)
            biased = builder.select(builder.icmp_signed("<", biased, zero), zero, biased)
            biased = builder.select(builder.icmp_signed(">", biased, most), most, biased)
            scale = builder.bitcast(builder.shl(biased, all_lanes(words, fraction)), vector.type)
            return builder.fmul(vector, scale)

        return each(builder, apply, *args)

    return v(v, k), generate


@overload(elementary.scaled)
def _scaled_lanes(v, k):
    if isinstance(v, Pack):
        return lambda v, k: _scale_lanes(v, k)
