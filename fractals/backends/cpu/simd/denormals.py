"""Numbers below the smallest normal one, taken as 0 while a loop runs.

An orbit that falls into a point on an axis comes to such numbers and stays with them, and many CPUs
compute with them 100 times slower.
"""

from llvmlite import ir
from numba.core import cgutils, types

from fractals.backends.cpu.simd.pack import FEATURES, INT32, call, intrinsic

X86 = "sse2" in FEATURES
FLUSH = 0x8040  # two bits of x86's register of modes: for denormal results, and for operands


def _access_mode(builder, name, slot):
    """Read (stmxcsr) or write (ldmxcsr) x86's register of modes."""
    pointer = builder.bitcast(slot, ir.IntType(8).as_pointer())
    call(builder, f"llvm.x86.sse.{name}", ir.VoidType(), pointer)


@intrinsic
def flush_denormals(context):
    """Have this thread take numbers below the smallest normal one as 0; return the former mode.

    Where it isn't known how (not on x86), nothing is done.
    """

    def generate(context, builder, signature, args):
        if not X86:
            return INT32(0)
        slot = cgutils.alloca_once(builder, INT32)
        _access_mode(builder, "stmxcsr", slot)
        mode = builder.load(slot)
        builder.store(builder.or_(mode, INT32(FLUSH)), slot)
        _access_mode(builder, "ldmxcsr", slot)
        return mode

    return types.int32(), generate


@intrinsic
def restore_mode(context, mode):
    """Undo `flush_denormals`."""

    def generate(context, builder, signature, args):
        if X86:
            _access_mode(builder, "ldmxcsr", cgutils.alloca_once_value(builder, args[0]))
        return context.get_dummy_value()

    return types.none(types.int32), generate
