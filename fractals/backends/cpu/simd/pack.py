"""Packs: several SIMD vectors side by side, as one number type inside Numba's compiled code.

A compiler seldom turns an escape-time loop into vectors, because each sample leaves it at another
step. So we say it ourselves: a *pack* is some `vectors`, each as wide as the CPU's registers, and
behaves like one number. One lane is one sample; several vectors hide the latency of the arithmetic,
whose results come only after 3 or 4 cycles. Wherever numbers can stand, packs can:

    x = splat(0.0, 5)                      # a pack of 5 vectors, every lane 0.0
    y = load(array, i, x)                  # like x, from array[i], array[i + 1], ...
    z = fma(x, y, abs(y) + number(2, y))   # + - * / abs, unary minus, and fma, as in any formula
    m = (z < x) | (y == x)                 # a mask: a pack of bools; & | ~
    z = select(m, x, y)                    # lane by lane
    end = compress_store(array, j, m, z)   # only the lanes under m, one after the other

The arithmetic is that of IEEE 754 in every lane: the same bits as scalar code with the same `fma`.
It is plain LLVM: the same text runs on AVX-512, AVX2, SSE2 and NEON, at their width.

How it is made: Numba sees a type, `Pack`, whose values are LLVM arrays of LLVM vectors. Each
operation is lowered by applying LLVM's instruction to each vector in turn (`each`). A pack of two
vectors is one LLVM vector, twice as wide as a register, which LLVM splits itself: an operation is
one instruction instead of seven, and programs compile in less time. What moves
packs between registers and memory is in `fractals.backends.cpu.simd.memory`, and what LLVM does
with a function of packs is set in `fractals.backends.cpu.simd.control`.
"""

import operator

from llvmlite import ir
from llvmlite.ir import IRBuilder
from numba.core import cgutils, types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from fractals.backends.machine_code import FEATURES, REGISTER
from fractals.kernels import primitives

INT32, INT64 = ir.IntType(32), ir.IntType(64)
LLVM = {
    types.float64: ir.DoubleType(),
    types.float32: ir.FloatType(),
    types.int64: INT64,
    types.int32: INT32,
    types.boolean: ir.IntType(1),
}
NAMES = {types.float64: "f64", types.float32: "f32", types.int64: "i64", types.int32: "i32"}


# Whether the CPU has registers for masks. If so, a mask is one bit per lane. Otherwise a mask is a
# vector whose lanes are all ones or all zeros, which is what comparisons return. With bits, LLVM
# would pack masks into smaller vectors and unpack them in each round of a loop (1.3 times as slow).
MASK_REGISTERS = REGISTER == 64
FEW_REGISTERS = "sse2" in FEATURES and not MASK_REGISTERS  # 16 vector registers; elsewhere 32


class Pack(types.Type):
    """The type of `vectors` LLVM vectors of `lanes` elements each."""

    def __init__(self, element, vectors, lanes):
        self.element, self.vectors, self.lanes = element, vectors, lanes
        super().__init__(name=f"Pack({element}, {vectors} x {lanes})")

    @property
    def mask(self):
        """The type of a comparison's result."""
        return Pack(types.boolean, self.vectors, self.lanes)

    @property
    def integer(self):
        """The type of whole numbers as wide as the elements."""
        integer = types.Integer.from_bitwidth(self.element.bitwidth, signed=True)
        return Pack(integer, self.vectors, self.lanes)

    @property
    def vector(self):
        """The LLVM type of one vector."""
        return self.vector_of(self.lanes)

    @property
    def value(self):
        """The LLVM type of a pack."""
        if self.vectors == 2:
            return self.vector_of(2 * self.lanes)
        return ir.ArrayType(self.vector, self.vectors)

    def vector_of(self, lanes):
        """Return the LLVM type of a vector of some lanes."""
        if self.element == types.boolean and not MASK_REGISTERS:
            return ir.VectorType(ir.IntType(8 * REGISTER // self.lanes), lanes)
        return ir.VectorType(LLVM[self.element], lanes)


def pack_of(element, vectors):
    """Return the type of packs of a number type on this machine."""
    return Pack(element, vectors, 8 * REGISTER // element.bitwidth)


@register_model(Pack)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, pack):
        super().__init__(manager, pack, pack.value)


# --- How LLVM's instructions are applied: to each vector of a pack in turn


def _lanes_from(builder, vector, first, count):
    """Return `count` lanes of a vector."""
    order = ir.Constant(ir.VectorType(INT32, count), list(range(first, first + count)))
    return builder.shuffle_vector(vector, vector, order)


def vectors_of(builder, value):
    """Return the vectors of a pack."""
    if isinstance(value.type, ir.VectorType):
        half = value.type.count // 2
        return [_lanes_from(builder, value, k * half, half) for k in range(2)]
    return [builder.extract_value(value, k) for k in range(value.type.count)]


def join(builder, vectors):
    """Return the pack of some vectors."""
    if len(vectors) == 2:
        lanes = 2 * vectors[0].type.count
        order = ir.Constant(ir.VectorType(INT32, lanes), list(range(lanes)))
        return builder.shuffle_vector(*vectors, order)
    value = ir.Constant(ir.ArrayType(vectors[0].type, len(vectors)), ir.Undefined)
    for k, vector in enumerate(vectors):
        value = builder.insert_value(value, vector, k)
    return value


def each(builder, function, *values):
    """Return the pack of what `function` gives for each vector of some packs.

    Two vectors are given as one that is twice as long.
    """
    if isinstance(values[0].type, ir.VectorType):
        return function(*values)
    return each_register(builder, function, *values)


def each_register(builder, function, *values):
    """Return the same, where `function` takes vectors as long as a register only."""
    parts = zip(*(vectors_of(builder, value) for value in values), strict=True)
    return join(builder, [function(*vectors) for vectors in parts])


def call(builder, name, result, *args):
    """Call one of LLVM's functions by its name."""
    kind = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


def spread_scalar(builder, scalar, lanes):
    """Return the vector that has a number in all its lanes."""
    kind = ir.VectorType(scalar.type, lanes)
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, scalar, INT32(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(INT32, lanes), None))


def to_mask(builder, bits, width):
    """Return the vector of a mask, from the bits of a comparison of elements of some bits."""
    if MASK_REGISTERS:
        return bits
    return builder.sext(bits, ir.VectorType(ir.IntType(width), bits.type.count))


def to_bits(builder, mask):
    """Return a vector of one bit a lane, from that of a mask."""
    if MASK_REGISTERS:
        return mask
    return builder.icmp_signed("<", mask, ir.Constant(mask.type, None))  # x86 reads only the sign


def to_integer(builder, mask):
    """Return an integer whose bits are the lanes of a mask's vector, lane 0 the lowest."""
    return builder.bitcast(to_bits(builder, mask), ir.IntType(mask.type.count))


def filled(builder, pack, scalar):
    """Return the pack that has a number in all its lanes."""
    if pack.vectors == 2:
        return spread_scalar(builder, scalar, 2 * pack.lanes)
    return join(builder, [spread_scalar(builder, scalar, pack.lanes)] * pack.vectors)


def _lane_numbers(builder, pack):
    """Return the pack of each lane's place."""
    vectors = [
        ir.Constant(pack.vector, list(range(k * pack.lanes, (k + 1) * pack.lanes)))
        for k in range(pack.vectors)
    ]
    return join(builder, vectors)


# --- Operators, and the functions that formulas use


def define(function, result, apply, *kinds):
    """Let a function of packs be typed and lowered.

    ``result(*types)`` is the type of its value, or None; ``apply(builder, *vectors)`` computes a
    vector of it. Single numbers among the operands count as packs with the same number everywhere.
    """
    typers = lambda a: result(a), lambda a, b: result(a, b), lambda a, b, c: result(a, b, c)

    @type_callable(function)
    def typing(_context):
        return typers[len(kinds[0]) - 1]

    def lower(context, builder, signature, args):
        (pack,) = {kind for kind in signature.args if _is_pack(kind, types.Float)} or {None}
        values = [
            value
            if isinstance(kind, Pack)
            else filled(builder, pack, context.cast(builder, value, kind, pack.element))
            for kind, value in zip(signature.args, args, strict=True)
        ]
        return each(builder, lambda *vectors: apply(builder, *vectors), *values)

    for signature in kinds:
        lower_builtin(function, *signature)(lower)


def _is_pack(kind, element):
    return isinstance(kind, Pack) and isinstance(kind.element, element)


def same(element):
    """Return what says that all operands are one type of pack, which is also the result's."""
    return lambda first, *others: (
        first if _is_pack(first, element) and set(others) <= {first} else None
    )


def _common(a, b):
    """Return the type of pack that two operands of an operator make, if they do.

    One may be a single number, but not beside float32, which it would widen in scalar code.
    """
    if _is_pack(a, types.Float) and a == b:
        return a
    for pack, other in ((a, b), (b, a)):
        if _is_pack(pack, types.Float) and isinstance(other, types.Number):
            return pack if pack.element == types.float64 else None
    return None


def _mask(a, b):
    pack = _common(a, b)
    return pack and pack.mask


def _compare(function, relation):
    def apply(builder, *vectors):
        bits = getattr(builder, function)(relation, *vectors)
        return to_mask(builder, bits, 64 if vectors[0].type.element == LLVM[types.float64] else 32)

    return apply


def llvm_function(name):
    """Return what calls LLVM's function of this name for vectors like its first argument."""

    def apply(builder, *vectors):
        kind = vectors[0].type
        element = "f64" if kind.element == LLVM[types.float64] else "f32"
        return call(builder, f"llvm.{name}.v{kind.count}{element}", kind, *vectors)

    return apply


BOTH = (Pack, Pack), (Pack, types.Number), (types.Number, Pack)
define(operator.add, _common, IRBuilder.fadd, *BOTH)
define(operator.sub, _common, IRBuilder.fsub, *BOTH)
define(operator.mul, _common, IRBuilder.fmul, *BOTH)
define(operator.truediv, _common, IRBuilder.fdiv, *BOTH)
define(operator.lt, _mask, _compare("fcmp_ordered", "<"), *BOTH)
define(operator.le, _mask, _compare("fcmp_ordered", "<="), *BOTH)
define(operator.gt, _mask, _compare("fcmp_ordered", ">"), *BOTH)
define(operator.ge, _mask, _compare("fcmp_ordered", ">="), *BOTH)
define(operator.eq, _mask, _compare("fcmp_ordered", "=="), *BOTH)
define(operator.ne, _mask, _compare("fcmp_unordered", "!="), *BOTH)
define(operator.and_, same(types.Boolean), IRBuilder.and_, (Pack, Pack))
define(operator.or_, same(types.Boolean), IRBuilder.or_, (Pack, Pack))
define(operator.invert, same(types.Boolean), IRBuilder.not_, (Pack,))
define(operator.neg, same(types.Float), IRBuilder.fneg, (Pack,))
define(abs, same(types.Float), llvm_function("fabs"), (Pack,))
define(primitives.fma, same(types.Float), llvm_function("fma"), (Pack, Pack, Pack))
define(primitives.sqrt, same(types.Float), llvm_function("sqrt"), (Pack,))
define(
    primitives.select,
    lambda mask, a, b: a if _is_pack(mask, types.Boolean) and a == b else None,
    lambda builder, mask, a, b: builder.select(to_bits(builder, mask), a, b),
    (Pack, Pack, Pack),
)


@type_callable(primitives.number)
def _type_number(_context):
    return lambda value, like: like if isinstance(like, Pack) else None


@lower_builtin(primitives.number, types.Number, Pack)
def _lower_number(context, builder, signature, args):
    value, like = signature.args
    return filled(builder, like, context.cast(builder, args[0], value, like.element))


@intrinsic
def splat(context, value, vectors):
    """Return a pack of `vectors` vectors (a constant), each lane `value`."""
    if not isinstance(vectors, types.IntegerLiteral):
        return None
    pack = pack_of(value, vectors.literal_value)

    def generate(context, builder, signature, args):
        return filled(builder, pack, args[0])

    return pack(value, vectors), generate


@intrinsic
def truncate(context, value):
    """Return the lanes as int32."""
    pack = Pack(types.int32, value.vectors, value.lanes)

    def generate(context, builder, signature, args):
        cast = builder.fptosi if isinstance(value.element, types.Float) else builder.trunc
        if value == pack:
            return args[0]
        return each(
            builder, lambda vector: cast(vector, ir.VectorType(INT32, vector.type.count)), args[0]
        )

    return pack(value), generate


def all_lanes(kind, number):
    """Return the constant vector that has a number in all its lanes."""
    return ir.Constant(kind, [number] * kind.count)


# --- Masks, and their lanes


@intrinsic
def any_lane(context, mask):
    """Tell whether the mask holds in any lane."""

    def generate(context, builder, signature, args):
        joined, *others = (
            args if isinstance(args[0].type, ir.VectorType) else vectors_of(builder, args[0])
        )
        for vector in others:
            joined = builder.or_(joined, vector)
        bits = to_integer(builder, joined)
        return builder.icmp_unsigned("!=", bits, bits.type(0))

    return types.boolean(mask), generate


@intrinsic
def least(context, value):
    """Return the smallest lane's number."""

    def generate(context, builder, signature, args):
        vectors = vectors_of(builder, args[0])
        smallest = vectors[0]
        for vector in vectors[1:]:
            smallest = builder.select(builder.fcmp_ordered("<", vector, smallest), vector, smallest)
        lanes = value.lanes
        while lanes > 1:  # LLVM's own reduction goes lane by lane, for the sake of NaNs
            lanes //= 2
            low, high = (
                builder.shuffle_vector(
                    smallest, smallest, ir.Constant(ir.VectorType(INT32, lanes), list(part))
                )
                for part in (range(lanes), range(lanes, 2 * lanes))
            )
            smallest = builder.select(builder.fcmp_ordered("<", high, low), high, low)
        return builder.extract_element(smallest, INT32(0))

    return value.element(value), generate


@intrinsic
def first_lanes(context, count, like):
    """Return the mask of the first `count` lanes of a pack."""
    integer = like.integer

    def generate(context, builder, signature, args):
        scalar = context.cast(builder, args[0], signature.args[0], integer.element)
        end = filled(builder, integer, scalar)

        def apply(own, last):
            bits = builder.icmp_signed("<", own, last)
            return to_mask(builder, bits, integer.element.bitwidth)

        return each(builder, apply, _lane_numbers(builder, integer), end)

    return like.mask(count, like), generate


@intrinsic
def lane_count(context, like):
    """Return how many lanes a pack has."""
    return types.int64(like), lambda *_: INT64(like.vectors * like.lanes)


@intrinsic
def everywhere(context, value, like):
    """Return a pack of whole numbers, as wide as the elements of `like`, each `value`."""
    integer = like.integer

    def generate(context, builder, signature, args):
        scalar = context.cast(builder, args[0], signature.args[0], integer.element)
        return filled(builder, integer, scalar)

    return integer(value, like), generate


@intrinsic
def indices(context, first, like):
    """Return `first`, `first` + 1, ... as a pack of whole numbers."""
    integer = like.integer

    def generate(context, builder, signature, args):
        scalar = context.cast(builder, args[0], signature.args[0], integer.element)
        start = filled(builder, integer, scalar)
        return each(builder, builder.add, start, _lane_numbers(builder, integer))

    return integer(first, like), generate


@intrinsic
def count_under(context, mask, n):
    """Return the whole numbers `n`, plus 1 in the lanes under `mask`."""

    def generate(context, builder, signature, args):
        def apply(vector, number):
            if MASK_REGISTERS:
                more = builder.add(number, all_lanes(number.type, 1))
                return builder.select(vector, more, number)  # one instruction
            return builder.sub(number, vector)  # all ones is -1

        return each(builder, apply, *args)

    return n(mask, n), generate
