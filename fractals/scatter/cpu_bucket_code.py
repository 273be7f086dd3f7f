"""Rows of a bucket's points: arrays of two dimensions and four columns, in the CPU's vectors."""

from llvmlite import ir
from numba.core import types

from fractals.backends.cpu.entry import part_of_array
from fractals.backends.cpu.simd.pack import INT32, INT64, LLVM, call, intrinsic


def _row(context, builder, signature, args, k):
    """Return the address of a row: the array is argument k, and the row's number the next one."""
    number = context.cast(builder, args[k + 1], signature.args[k + 1], types.int64)
    data = part_of_array(context, builder, signature.args[k], args[k], "data")
    return builder.gep(data, [builder.mul(number, INT64(4))])


@intrinsic
def add_row(_context, into, row, values, chosen):
    """Add a row of an array to a row of another."""
    kind = ir.VectorType(LLVM[types.Integer.from_bitwidth(into.dtype.bitwidth, signed=True)], 4)
    size = into.dtype.bitwidth // 8

    def generate(context, builder, signature, args):
        rows = (_row(context, builder, signature, args, k) for k in (0, 2))
        places = [builder.bitcast(row, kind.as_pointer()) for row in rows]
        parts = [builder.load(place, align=size, typ=kind) for place in places]
        builder.store(builder.add(*parts), places[0], align=size)
        return context.get_dummy_value()

    return (types.none(into, row, values, chosen) if into.dtype == values.dtype else None), generate


@intrinsic
def fetch_row(context, array, row):
    """Have the CPU fetch a row of an array into its caches."""

    def generate(context, builder, signature, args):
        at = _row(context, builder, signature, args, 0)
        at = builder.bitcast(at, ir.IntType(8).as_pointer())
        # To read, into all caches, data
        call(builder, "llvm.prefetch.p0", ir.VoidType(), at, INT32(0), INT32(3), INT32(1))
        return context.get_dummy_value()

    return types.none(array, row), generate
