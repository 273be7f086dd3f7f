"""Wide numbers: unsigned whole numbers of some limbs, words of 64 bits, inside compiled code.

Numba has no integers above 64 bits, and LLVM has them at any width. Sums and bits of wide numbers
are one operation of LLVM, which carries from limb to limb. Products and shifts are made here limb
by limb, because LLVM would shift a number of more than two limbs by way of memory.
"""

import operator
from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from fractals.backends.cpu.entry import WORD, part_of_array
from fractals.backends.cpu.simd.pack import call
from fractals.kernels import primitives

PAIR = ir.IntType(128)  # holds the product of two limbs
BITS = 64  # of a limb


class Wide(types.Type):
    """The type of numbers of some limbs."""

    def __init__(self, limbs):
        self.limbs = limbs
        self.value = ir.IntType(BITS * limbs)
        super().__init__(name=f"Wide({limbs})")


@register_model(Wide)
class _WideModel(models.PrimitiveModel):
    def __init__(self, manager, wide):
        super().__init__(manager, wide, wide.value)


def _same(a, b):
    return a if isinstance(a, Wide) and a == b else None


def _define(function, result, apply):
    """Let a function of two numbers be typed and lowered; ``apply(builder, a, b)`` computes it."""
    type_callable(function)(lambda _context: result)

    @lower_builtin(function, Wide, Wide)
    def lower(_context, builder, _signature, args):
        return apply(builder, *args)


_define(operator.add, _same, ir.IRBuilder.add)
_define(operator.sub, _same, ir.IRBuilder.sub)
_define(operator.and_, _same, ir.IRBuilder.and_)
_define(operator.or_, _same, ir.IRBuilder.or_)
_define(
    operator.eq,
    lambda a, b: types.boolean if _same(a, b) else None,
    lambda builder, a, b: builder.icmp_unsigned("==", a, b),
)


@type_callable(primitives.select)
def _type_select(_context):
    return lambda condition, a, b: _same(a, b) if condition == types.boolean else None


@lower_builtin(primitives.select, types.Boolean, Wide, Wide)
def _select(_context, builder, _signature, args):
    return builder.select(*args)


def _limbs_of(builder, value):
    """Return the limbs of a number, the lowest first."""
    shifts = range(0, value.type.width, BITS)
    return [builder.trunc(builder.lshr(value, value.type(k)), WORD) for k in shifts]


def _joined(builder, limbs):
    """Return the number of some limbs."""
    kind = ir.IntType(BITS * len(limbs))
    value = kind(0)
    for k, limb in enumerate(limbs):
        moved = builder.shl(builder.zext(limb, kind), kind(BITS * k))
        value = builder.or_(value, moved)
    return value


def _product(builder, a, b):
    """Return the limbs of a product, column after column (Comba, 1990)."""
    a, b = _limbs_of(builder, a), _limbs_of(builder, b)
    size, column = len(a), ir.IntType(3 * BITS)
    total, limbs = column(0), []
    for k in range(2 * size - 1):
        for i in range(max(0, k - size + 1), min(k, size - 1) + 1):
            part = builder.mul(builder.zext(a[i], PAIR), builder.zext(b[k - i], PAIR))
            total = builder.add(total, builder.zext(part, column))
        limbs.append(builder.trunc(total, WORD))
        total = builder.lshr(total, column(BITS))
    return [*limbs, builder.trunc(total, WORD)]


def _left(builder, limbs, k):
    """Return limbs that are moved upwards by 0 to 63 bits."""
    pairs = zip(limbs[1:], limbs[:-1], strict=True)
    moved = [call(builder, "llvm.fshl.i64", WORD, *pair, k) for pair in pairs]
    return [builder.shl(limbs[0], k), *moved]


def _right(builder, limbs, k):
    pairs = zip(limbs[1:], limbs[:-1], strict=True)
    moved = [call(builder, "llvm.fshr.i64", WORD, *pair, k) for pair in pairs]
    return [*moved, builder.lshr(limbs[-1], k)]


class WideFunctions(NamedTuple):
    """The functions of numbers of a size; a word is an int64, of which all bits count."""

    load: Any  # (array, index): the number whose limbs lie there, the lowest first
    store: Any  # (array, index, value)
    of_word: Any  # (word)
    of_high_word: Any  # (word): the number with this highest limb, and no others
    low_word: Any  # (value)
    high_word: Any  # (value)
    # (value, k) moved by 0 to 63 bits; what leaves the number is lost
    left: Any
    right: Any
    left_limb: Any  # (value) moved by a limb
    right_limb: Any
    product: Any  # (a, b): both halves
    borrowed: Any  # (a, b): 1 where a is less than b, otherwise 0
    low: Any  # (value): the number that its lowest limbs are
    with_low: Any  # (value, low): the value with other lowest limbs
    of_low: Any  # (low): the number with these lowest limbs, and zeros above


def wide_functions(limbs, lowest=1):
    """Return the `WideFunctions` of numbers of some limbs; `lowest`: how many `low` takes."""
    wide, part = Wide(limbs), Wide(lowest)
    upper = wide.value(2 ** (BITS * limbs) - 2 ** (BITS * lowest))
    pair, word = types.UniTuple(wide, 2), types.int64
    top, one = wide.value(BITS * (limbs - 1)), wide.value(BITS)

    def place(*given):
        _, builder, *_ = given
        return builder.bitcast(_word_place(*given), wide.value.as_pointer())

    @intrinsic
    def load(_context, array, index):
        def generate(context, builder, signature, args):
            at = place(context, builder, signature, args)
            return builder.load(at, align=BITS // 8, typ=wide.value)

        return wide(array, index), generate

    @intrinsic
    def store(_context, array, index, value):
        def generate(context, builder, signature, args):
            at = place(context, builder, signature, args)
            builder.store(args[2], at, align=BITS // 8)
            return context.get_dummy_value()

        return types.none(array, index, value), generate

    def of_word(builder, a):
        return builder.zext(a, wide.value)

    def of_high_word(builder, a):
        return builder.shl(builder.zext(a, wide.value), top)

    def high_word(builder, a):
        return builder.trunc(builder.lshr(a, top), WORD)

    def left(builder, a, k):
        return _joined(builder, _left(builder, _limbs_of(builder, a), k))

    def right(builder, a, k):
        return _joined(builder, _right(builder, _limbs_of(builder, a), k))

    def product(builder, a, b):
        made = _product(builder, a, b)
        halves = ir.Constant(ir.ArrayType(wide.value, 2), ir.Undefined)
        for k, half in enumerate((made[limbs:], made[:limbs])):
            halves = builder.insert_value(halves, _joined(builder, half), k)
        return halves

    def borrowed(builder, a, b):
        return builder.zext(builder.icmp_unsigned("<", a, b), WORD)

    def with_low(builder, a, b):
        return builder.or_(builder.and_(a, upper), builder.zext(b, wide.value))

    return WideFunctions(
        load,
        store,
        of_word=_intrinsic(wide, of_word, word),
        of_high_word=_intrinsic(wide, of_high_word, word),
        low_word=_intrinsic(word, lambda builder, a: builder.trunc(a, WORD), wide),
        high_word=_intrinsic(word, high_word, wide),
        left=_intrinsic(wide, left, wide, word),
        right=_intrinsic(wide, right, wide, word),
        left_limb=_intrinsic(wide, lambda builder, a: builder.shl(a, one), wide),
        right_limb=_intrinsic(wide, lambda builder, a: builder.lshr(a, one), wide),
        product=_intrinsic(pair, product, wide, wide),
        borrowed=_intrinsic(word, borrowed, wide, wide),
        low=_intrinsic(part, lambda builder, a: builder.trunc(a, part.value), wide),
        with_low=_intrinsic(wide, with_low, wide, part),
        of_low=_intrinsic(wide, lambda builder, a: builder.zext(a, wide.value), part),
    )


def _intrinsic(result, apply, *kinds):
    """Return a function of compiled code that is ``apply(builder, *values)``."""

    def made():
        return result(*kinds), lambda _, builder, __, args: apply(builder, *args)

    # Numba takes the number of arguments from the function.
    of_counts = lambda _, a: made(), lambda _, a, b: made(), lambda _, a, b, c: made()
    return intrinsic(of_counts[len(kinds) - 1])


@intrinsic
def leading_zeros(_context, word):
    """Return how many bits of a word that is not 0 precede its first 1."""

    def generate(_context, builder, _signature, args):
        return builder.ctlz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


@intrinsic
def unsigned(_context, word):
    """Return the float64 nearest to a word of which all bits count."""

    def generate(_context, builder, _signature, args):
        return builder.uitofp(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def turned(_context, value, negative):
    """Return a float64 of at least 0 with the sign that a word says: 1 is negative."""

    def generate(_context, builder, _signature, args):
        sign = builder.shl(args[1], WORD(BITS - 1))
        bits = builder.or_(builder.bitcast(args[0], WORD), sign)
        return builder.bitcast(bits, ir.DoubleType())

    return types.float64(types.float64, types.int64), generate


def _word_place(context, builder, signature, args):
    data = part_of_array(context, builder, signature.args[0], args[0], "data")
    return builder.gep(data, [context.cast(builder, args[1], signature.args[1], types.int64)])


@intrinsic
def word_at(_context, array, index):
    """Return an element of an array of int64; Numba would look whether the index is below 0."""

    def generate(context, builder, signature, args):
        return builder.load(_word_place(context, builder, signature, args), typ=WORD)

    return types.int64(array, index), generate


@intrinsic
def put_word(_context, array, index, value):
    """Write an element of an array of int64."""

    def generate(context, builder, signature, args):
        builder.store(args[2], _word_place(context, builder, signature, args))
        return context.get_dummy_value()

    return types.none(array, index, types.int64), generate
