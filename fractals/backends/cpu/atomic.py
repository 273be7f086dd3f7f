"""Additions and replacements in memory as one step, which no other thread divides.

Numba has none for the CPU (numba#2988). An index is an int64, and the array is contiguous.
"""

from numba import types

from fractals.backends.cpu.entry import part_of_array
from fractals.backends.cpu.simd.pack import intrinsic


def _cell(context, builder, signature, args):
    data = part_of_array(context, builder, signature.args[0], args[0], "data")
    return builder.gep(data, [args[1]])


@intrinsic
def add_to_cell(_context, cells, k, value):
    """Add to a cell; return its value before."""

    def generate(context, builder, signature, args):
        cell = _cell(context, builder, signature, args)
        return builder.atomic_rmw("add", cell, args[2], "acq_rel")

    return cells.dtype(cells, types.int64, cells.dtype), generate


@intrinsic
def replace_in_cell(_context, cells, k, before, after):
    """Set a cell from `before` to `after`; return whether it was `before`."""

    def generate(context, builder, signature, args):
        cell = _cell(context, builder, signature, args)
        found = builder.cmpxchg(cell, args[2], args[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(cells, types.int64, cells.dtype, cells.dtype), generate


def add_up(array, index, value):
    """Add to an element: `fractals.kernels.Target.add`."""
    add_to_cell(array, index, value)
