"""Packs to and from memory: elements side by side, and lists without gaps of the lanes that go on.

Arrays are contiguous, and have one dimension (`spread`: one or two). Nothing here checks bounds:
every array has room for a whole pack beyond the elements that are meant.
"""

from llvmlite import ir
from numba.core import cgutils, types

from fractals.backends.cpu.entry import part_of_array
from fractals.backends.cpu.simd.pack import (
    INT32,
    INT64,
    NAMES,
    REGISTER,
    Pack,
    call,
    each,
    filled,
    intrinsic,
    join,
    to_bits,
    to_integer,
    vectors_of,
)

ORDER = ir.VectorType(ir.IntType(8), 8)  # of the parts of a register


def _address(context, builder, array, value, index, offset=0):
    data = part_of_array(context, builder, array, value, "data")
    return builder.gep(data, [builder.add(index, INT64(offset)) if offset else index])


def _index(context, builder, signature, args, k):
    return context.cast(builder, args[k], signature.args[k], types.int64)


def _loaded(context, builder, array, value, index, pack):
    if pack.vectors == 2:
        at = _address(context, builder, array, value, index)
        at = builder.bitcast(at, pack.value.as_pointer())
        return builder.load(at, align=array.dtype.bitwidth // 8, typ=pack.value)
    vectors = []
    for k in range(pack.vectors):
        at = _address(context, builder, array, value, index, k * pack.lanes)
        at = builder.bitcast(at, pack.vector.as_pointer())
        vectors.append(builder.load(at, align=array.dtype.bitwidth // 8, typ=pack.vector))
    return join(builder, vectors)


def _store(context, builder, array, value, index, pack):
    whole = isinstance(pack.type, ir.VectorType)
    for k, vector in enumerate([pack] if whole else vectors_of(builder, pack)):
        at = _address(context, builder, array, value, index, k * vector.type.count)
        at = builder.bitcast(at, vector.type.as_pointer())
        builder.store(vector, at, align=array.dtype.bitwidth // 8)


@intrinsic
def load(context, array, index, like):
    """Return the elements of a one-dimensional, contiguous array from `index` on."""
    pack = Pack(array.dtype, like.vectors, like.lanes)

    def generate(context, builder, signature, args):
        index = _index(context, builder, signature, args, 1)
        return _loaded(context, builder, array, args[0], index, pack)

    return pack(array, index, like), generate


@intrinsic
def store(context, array, index, value):
    """Write all lanes of `value` from `index` on."""

    def generate(context, builder, signature, args):
        index = _index(context, builder, signature, args, 1)
        _store(context, builder, array, args[0], index, args[2])
        return context.get_dummy_value()

    return types.none(array, index, value), generate


@intrinsic
def masked_store(context, array, index, mask, value):
    """Write the lanes under `mask`, each at its place."""
    width = array.dtype.bitwidth
    name = f"llvm.masked.store.v{value.lanes}{NAMES[value.element]}.p0"

    def generate(context, builder, signature, args):
        index = _index(context, builder, signature, args, 1)
        pairs = zip(vectors_of(builder, args[2]), vectors_of(builder, args[3]), strict=True)
        for k, (lanes, vector) in enumerate(pairs):
            at = _address(context, builder, array, args[0], index, k * value.lanes)
            at = builder.bitcast(at, value.vector.as_pointer())
            bits = to_bits(builder, lanes)
            call(builder, name, ir.VoidType(), vector, at, INT32(width // 8), bits)
        return context.get_dummy_value()

    return types.none(array, index, mask, value), generate


def _address_of_order(builder, lanes, word):
    """Return the address of a permutation that moves lanes to the front of a register.

    The permutation is one of 8 parts of 32 bits. `word` has a bit for each lane that is moved.
    """
    name = f"fractals_order_of_{lanes}"
    module = builder.module
    if name in module.globals:
        table = module.globals[name]
    else:
        rows = []
        for chosen in range(1 << lanes):
            front = [lane for lane in range(lanes) if chosen >> lane & 1]
            parts = [lane * 8 // lanes + part for lane in front for part in range(8 // lanes)]
            rows.append(ir.Constant(ORDER, parts + [0] * (8 - len(parts))))
        kind = ir.ArrayType(ORDER, 1 << lanes)
        table = ir.GlobalVariable(module, kind, name)
        table.initializer = ir.Constant(kind, rows)
        table.linkage, table.global_constant = "internal", True
    return builder.gep(table, [INT32(0), builder.zext(word, INT32)], inbounds=True)


def _compressed(context, builder, array, value, index, lanes, vector):
    """Store the lanes under a mask one after the other, and return the index after the last."""
    count = vector.type.count
    if REGISTER == 64:
        # In a register first: compressing into memory is slow on AMD's CPUs.
        word = ir.IntType(count)
        name = f"llvm.x86.avx512.mask.compress.v{count}{NAMES[array.dtype]}"
        packed = call(builder, name, vector.type, vector, ir.Constant(vector.type, None), lanes)
        at = _address(context, builder, array, value, index)
        at = builder.bitcast(at, vector.type.as_pointer())
        builder.store(packed, at, align=array.dtype.bitwidth // 8)
        taken = call(builder, f"llvm.ctpop.i{count}", word, builder.bitcast(lanes, word))
        return builder.add(index, builder.zext(taken, INT64))
    if REGISTER == 32:  # AVX2
        word = to_integer(builder, lanes)
        parts = ir.VectorType(INT32, 8)
        order = builder.load(_address_of_order(builder, count, word), align=8)
        order = builder.zext(order, parts)
        wide = ir.VectorType(
            INT64, count
        )  # numbers of 32 bits beside others of 64: half a register
        half = vector.type == ir.VectorType(INT32, 4)
        vector = builder.zext(vector, wide) if half else vector
        packed = call(builder, "llvm.x86.avx2.permd", parts, builder.bitcast(vector, parts), order)
        if half:
            packed = builder.trunc(builder.bitcast(packed, wide), ir.VectorType(INT32, count))
        at = _address(context, builder, array, value, index)
        at = builder.bitcast(at, packed.type.as_pointer())
        builder.store(packed, at, align=array.dtype.bitwidth // 8)
        taken = call(builder, "llvm.ctpop.i32", INT32, builder.zext(word, INT32))
        return builder.add(index, builder.zext(taken, INT64))
    bits = to_bits(builder, lanes)
    for k in range(count):  # every lane is written; the next one writes over those not taken
        builder.store(
            builder.extract_element(vector, INT32(k)),
            _address(context, builder, array, value, index),
        )
        taken = builder.extract_element(bits, INT32(k))
        index = builder.add(index, builder.zext(taken, INT64))
    return index


def _in_pairs(pack):
    """Tell whether vectors hold two lanes, and the CPU has no instruction for lists."""
    return REGISTER == 16 and pack.lanes == 2


def _compressed_pairs(context, builder, array, value, index, masks, vectors):
    """Store the lanes under masks of two lanes, as `_compressed` does; return how many there are.

    What tells where each vector's lanes go is the same for all rows, so LLVM computes it once.
    """
    begin, taken = _address(context, builder, array, value, index), INT64(0)
    for lanes, vector in zip(masks, vectors, strict=True):
        first, both = (ir.Constant(ir.VectorType(INT32, 2), order) for order in ([0, 0], [1, 0]))
        is_first = to_bits(builder, builder.shuffle_vector(lanes, lanes, first))
        turned = builder.shuffle_vector(vector, vector, both)
        at = builder.bitcast(builder.gep(begin, [taken]), vector.type.as_pointer())
        packed = builder.select(is_first, vector, turned)
        builder.store(packed, at, align=array.dtype.bitwidth // 8)
        for k in range(2):  # all ones are -1
            taken = builder.sub(taken, builder.extract_element(lanes, INT32(k)))
    return taken


@intrinsic
def compress_store(context, array, index, mask, value):
    """Write the lanes under `mask` one after the other; return the index after the last.

    What stood behind them is overwritten too, up to a whole pack from `index` on.
    """

    def generate(context, builder, signature, args):
        index = _index(context, builder, signature, args, 1)
        if _in_pairs(value):
            parts = (vectors_of(builder, arg) for arg in args[2:])
            taken = _compressed_pairs(context, builder, array, args[0], index, *parts)
            return builder.add(index, taken)
        for lanes, vector in zip(*(vectors_of(builder, arg) for arg in args[2:]), strict=True):
            index = _compressed(context, builder, array, args[0], index, lanes, vector)
        return index

    return types.int64(array, index, mask, value), generate


# --- Tuples of packs: all the numbers of a lane, kept in rows of `stride` elements each


@intrinsic
def load_rows(context, array, index, stride, like, rows):
    """Return a tuple of `rows` (a constant) packs: from `index`, `index + stride`, ..."""
    if not isinstance(rows, types.IntegerLiteral):
        return None
    count = rows.literal_value

    def generate(context, builder, signature, args):
        index, stride = (_index(context, builder, signature, args, k) for k in (1, 2))
        packs = []
        for _ in range(count):
            packs.append(_loaded(context, builder, array, args[0], index, like))
            index = builder.add(index, stride)
        return context.make_tuple(builder, signature.return_type, packs)

    return types.UniTuple(like, count)(array, index, stride, like, rows), generate


@intrinsic
def spread(context, array, row, like, count):
    """Return a tuple of `count` (a constant) packs: each element of an array's row in all lanes.

    Of an array of one dimension: its elements from `row` on.
    """
    if not isinstance(count, types.IntegerLiteral):
        return None
    width = count.literal_value

    def generate(context, builder, signature, args):
        begin = _index(context, builder, signature, args, 1)
        if array.ndim == 2:
            shape = part_of_array(context, builder, array, args[0], "shape")
            begin = builder.mul(begin, cgutils.unpack_tuple(builder, shape)[1])
        packs = []
        for k in range(width):
            at = _address(context, builder, array, args[0], begin, k)
            packs.append(filled(builder, like, builder.load(at)))
        return context.make_tuple(builder, signature.return_type, packs)

    return types.UniTuple(like, width)(array, row, like, count), generate


@intrinsic
def gather_rows(context, array, places, offset, stride, like, rows):
    """Return a tuple of `rows` (a constant) packs, whose lanes stand at `offset + places`, ..."""
    if not isinstance(rows, types.IntegerLiteral):
        return None
    count = rows.literal_value

    def generate(context, builder, signature, args):
        index, stride = (_index(context, builder, signature, args, k) for k in (2, 3))
        lanes = [INT32(k) for k in range(like.lanes)]
        places = [
            [builder.extract_element(vector, k) for k in lanes]
            for vector in vectors_of(builder, args[1])
        ]
        packs = []
        for _ in range(count):
            row, vectors = _address(context, builder, array, args[0], index), []
            for begins in places:
                vector = ir.Constant(like.vector, ir.Undefined)
                for k, place in zip(lanes, begins, strict=True):
                    element = builder.load(builder.gep(row, [place]))
                    vector = builder.insert_element(vector, element, k)
                vectors.append(vector)
            packs.append(join(builder, vectors))
            index = builder.add(index, stride)
        return context.make_tuple(builder, signature.return_type, packs)

    return types.UniTuple(like, count)(array, places, offset, stride, like, rows), generate


@intrinsic
def store_rows(context, array, index, stride, values):
    """Write a tuple of packs."""

    def generate(context, builder, signature, args):
        index, stride = (_index(context, builder, signature, args, k) for k in (1, 2))
        for pack in cgutils.unpack_tuple(builder, args[3]):
            _store(context, builder, array, args[0], index, pack)
            index = builder.add(index, stride)
        return context.get_dummy_value()

    return types.none(array, index, stride, values), generate


@intrinsic
def compress_rows(context, array, index, stride, mask, values):
    """Write the lanes of a tuple of packs under `mask`, as `compress_store` does each."""

    def generate(context, builder, signature, args):
        index, stride = (_index(context, builder, signature, args, k) for k in (1, 2))
        masks = vectors_of(builder, args[3])
        for pack in cgutils.unpack_tuple(builder, args[4]):
            if _in_pairs(mask):
                vectors = vectors_of(builder, pack)
                _compressed_pairs(context, builder, array, args[0], index, masks, vectors)
                index = builder.add(index, stride)
                continue
            at = index
            for lanes, vector in zip(masks, vectors_of(builder, pack), strict=True):
                at = _compressed(context, builder, array, args[0], at, lanes, vector)
            index = builder.add(index, stride)
        return context.get_dummy_value()

    return types.none(array, index, stride, mask, values), generate


@intrinsic
def select_each(context, mask, a, b):
    """`select` for each pack of two tuples."""

    def generate(context, builder, signature, args):
        pairs = zip(*(cgutils.unpack_tuple(builder, arg) for arg in args[1:]), strict=True)
        bits = each(builder, lambda vector: to_bits(builder, vector), args[0])
        packs = [each(builder, builder.select, bits, *pair) for pair in pairs]
        return context.make_tuple(builder, signature.return_type, packs)

    return a(mask, a, b), generate


# --- Additions and replacements in memory as one step, which no other thread divides
#
# Numba has none for the CPU (numba#2988). An index is an int64, and the array is contiguous.


def _cell(context, builder, signature, args):
    data = part_of_array(context, builder, signature.args[0], args[0], "data")
    return builder.gep(data, [args[1]])


@intrinsic
def read_now(_context, cells, k):
    """Return what a cell holds at this moment; another thread may change it meanwhile."""

    def generate(context, builder, signature, args):
        cell = _cell(context, builder, signature, args)
        return builder.load_atomic(cell, "monotonic", cells.dtype.bitwidth // 8)

    return cells.dtype(cells, types.int64), generate


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
