"""The function that machine code begins with: it reads the arguments of a program from cells.

See `fractals.backends.machine_code` for what the cells of an argument are.
"""

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

CELLS = types.CPointer(types.int64)
SIGNATURE = types.void(CELLS)
WORD, REAL = ir.IntType(64), ir.DoubleType()


def kind_of(layout):
    """Return Numba's type of an argument, by its layout."""
    if layout == "entry":
        return types.int64
    if isinstance(layout, str):
        return numba.from_dtype(np.dtype(layout))
    if isinstance(layout[0], str):
        char, dimensions, gaps = layout
        return types.Array(numba.from_dtype(np.dtype(char)), dimensions, "A" if gaps else "C")
    made, *parts = layout
    return types.BaseTuple.from_types(
        [kind_of(part) for part in parts], made if made is not tuple else None
    )


def part_of_array(context, builder, kind, array, name):
    """Return a part of LLVM's value of an array: its "data", which is a pointer, or its "shape"."""
    return builder.extract_value(array, context.data_model_manager[kind].get_field_position(name))


def make_entry(body, layout):
    """Return ``entry(cells)``, which calls ``body`` with arguments of a layout."""
    kind = kind_of(layout)

    @intrinsic
    def arguments(_context, cells):
        def generate(context, builder, _signature, args):
            return _Reader(context, builder, args[0]).read(kind)

        return kind(CELLS), generate

    def entry(cells):
        body(*arguments(cells))

    return entry


class _Reader:
    """Makes LLVM's instructions that read arguments, one cell after the other."""

    def __init__(self, context, builder, cells):
        self.context, self.builder, self.cells, self.at = context, builder, cells, 0

    def _word(self):
        place = self.builder.gep(self.cells, [ir.Constant(ir.IntType(32), self.at)])
        self.at += 1
        return self.builder.load(place)

    def read(self, kind):
        """Return the LLVM value of an argument."""
        context, builder = self.context, self.builder
        if isinstance(kind, types.BaseTuple):
            return context.make_tuple(builder, kind, [self.read(part) for part in kind])
        if isinstance(kind, types.Array):
            return self._array(kind)
        if isinstance(kind, types.Float):
            real = builder.bitcast(self._word(), REAL)
            return context.cast(builder, real, types.float64, kind)
        return context.cast(builder, self._word(), types.int64, kind)

    def _array(self, kind):
        data = self.builder.inttoptr(self._word(), _pointer_type(self.context, kind))
        shape = [self._word() for _ in range(kind.ndim)]
        strides = [self._word() for _ in range(kind.ndim)] if kind.layout == "A" else None
        return _made_array(self.context, self.builder, kind, data, shape, strides)


def _pointer_type(context, kind):
    return context.get_data_type(kind.dtype).as_pointer()


def _made_array(context, builder, kind, data, shape, strides=None):
    """Return the LLVM value of an array; without strides it has no gaps."""
    array = context.make_array(kind)(context, builder)
    size = WORD(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    count, steps = WORD(1), []
    for length in reversed(shape):
        steps.insert(0, builder.mul(size, count))
        count = builder.mul(count, length)
    array.data, array.itemsize, array.nitems = data, size, count
    array.shape = cgutils.pack_array(builder, shape)
    array.strides = cgutils.pack_array(builder, strides or steps)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


@intrinsic
def shaped(_context, array, shape):
    """Return an array without gaps in another shape, which has as many elements or fewer.

    Numba's `reshape` calls a function of Numba's, which a process without Numba lacks.
    """
    kind = types.Array(array.dtype, len(shape), "C")

    def generate(context, builder, signature, args):
        data = part_of_array(context, builder, signature.args[0], args[0], "data")
        lengths = cgutils.unpack_tuple(builder, args[1], len(shape))
        lengths = [
            context.cast(builder, length, part, types.int64)
            for length, part in zip(lengths, signature.args[1], strict=True)
        ]
        return _made_array(context, builder, kind, data, lengths)

    return kind(array, shape), generate


@intrinsic
def invoke(_context, entry, arguments):
    """Call the program of a `fractals.backends.machine_code.Entry` with a tuple of arguments."""

    def generate(context, builder, signature, args):
        words = []
        _write(context, builder, signature.args[1], args[1], words)
        cells = cgutils.alloca_once(builder, ir.ArrayType(WORD, len(words)))
        for k, word in enumerate(words):
            builder.store(word, cgutils.gep_inbounds(builder, cells, 0, k))
        text = ir.IntType(8).as_pointer()
        results = [cgutils.alloca_once(builder, text) for _ in range(2)]
        first = cgutils.gep_inbounds(builder, cells, 0, 0)
        function = ir.FunctionType(ir.IntType(32), [r.type for r in results] + [first.type])
        builder.call(builder.inttoptr(args[0], function.as_pointer()), [*results, first])
        return context.get_dummy_value()

    return types.none(types.int64, arguments), generate


def _write(context, builder, kind, value, words):
    if isinstance(kind, types.BaseTuple):
        for k, part in enumerate(kind):
            _write(context, builder, part, builder.extract_value(value, k), words)
    elif isinstance(kind, types.Array):
        assert kind.layout == "C"
        words.append(builder.ptrtoint(part_of_array(context, builder, kind, value, "data"), WORD))
        shape = part_of_array(context, builder, kind, value, "shape")
        words += cgutils.unpack_tuple(builder, shape, kind.ndim)
    elif isinstance(kind, types.Float):
        words.append(builder.bitcast(context.cast(builder, value, kind, types.float64), WORD))
    else:
        words.append(context.cast(builder, value, kind, types.int64))
