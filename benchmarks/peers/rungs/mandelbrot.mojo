"""Counts of z*z + c: as many complex numbers side by side as a register holds."""

from std.complex import ComplexSIMD
from std.sys import simd_width_of

comptime WIDTH = simd_width_of[DType.float64]()
comptime Numbers = ComplexSIMD[DType.float64, WIDTH]
comptime Reals = Pointer[Float64, MutAnyOrigin]
comptime Counts = Pointer[Int32, MutAnyOrigin]


def count(c: Numbers, limit: Int) -> SIMD[DType.int32, WIDTH]:
    var z = Numbers(0, 0)
    var counts = SIMD[DType.int32, WIDTH](1)
    var stays = SIMD[DType.bool, WIDTH](fill=True)
    for _ in range(1, limit):
        z = z.squared_add(c)
        stays &= z.squared_norm().le(4)
        if not stays.reduce_or():
            break
        counts += stays.cast[DType.int32]()
    return counts


@export
def fill(xs: Reals, ys: Reals, counts: Counts, columns: Int, rows: Int, limit: Int) abi("C"):
    """The last vector of a row begins earlier, where the columns are no multiple of WIDTH."""
    for row in range(rows):
        var y = SIMD[DType.float64, WIDTH](ys[unsafe_offset=row])
        for start in range(0, columns, WIDTH):
            var column = min(start, columns - WIDTH)
            var x = xs.unsafe_load[width=WIDTH](column)
            counts.unsafe_store(row * columns + column, count(Numbers(x, y), limit))
