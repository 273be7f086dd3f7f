"""How large the numbers in packs are: sizes of complex numbers, exponents, powers of two."""

from llvmlite import ir
from numba.core import types

from fractals.backends.cpu.simd.pack import (
    FEATURES,
    INT32,
    INT64,
    REGISTER,
    all_lanes,
    call,
    each,
    each_register,
    intrinsic,
    llvm_function,
)


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
