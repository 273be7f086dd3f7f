"""What Numba has no words for: how LLVM compiles a function of packs, and in which order it works.

Packs are used at their best speed where a loop needs no more registers than the CPU has. That
depends on what stands around the loop, and on the order of its operations and variables.
"""

import builtins
import dis
import inspect
import types as python_types

from llvmlite import ir
from numba.core import cgutils, types

from fractals.backends.cpu.simd.pack import (
    FEATURES,
    INT32,
    INT64,
    REGISTER,
    Pack,
    call,
    intrinsic,
    join,
    vectors_of,
)
from fractals.kernels import primitives

# --- Numbers below the smallest normal one, taken as 0 while a loop runs. An orbit that falls into
# a point on an axis comes to such numbers and stays with them, and many CPUs compute with them
# 100 times slower.

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


# --- How LLVM compiles the function in which these are called


@intrinsic
def align_stack(context):
    """Align the stack frame of the calling function to cache lines.

    LLVM spills vectors to the stack, and a vector that crosses two lines takes two accesses.
    """

    def generate(context, builder, signature, args):
        with builder.goto_entry_block():
            line = builder.alloca(ir.IntType(8), 64)
            line.align = 64
        kind = ir.FunctionType(ir.VoidType(), [line.type])
        builder.call(ir.InlineAsm(kind, "", "r", side_effect=True), [line])
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def keep_apart(context):
    """Prevent LLVM from inlining the calling function.

    In a large function LLVM allocates too few registers to an inner loop.
    """

    def generate(context, builder, signature, args):
        attributes = builder.function.attributes
        attributes.discard("alwaysinline")
        attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def whole_registers(context):
    """Have LLVM make vectors as long as a register of the loops of the calling function.

    Of AVX-512's registers it takes half on most CPUs, because longer vectors lower the clock of
    some. The function must be kept apart: in another one, the other's vectors count.
    """

    def generate(context, builder, signature, args):
        width = f'"prefer-vector-width"="{8 * REGISTER}"'
        set.add(builder.function.attributes, width)  # llvmlite's `add` knows no names in quotes
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def unknown(context, index):
    """Return `index`, as a value that LLVM knows nothing about.

    In a loop, LLVM therefore does not move loads from that index out of the loop, where their
    results would need registers; and it does not unroll the loop.
    """

    def generate(context, builder, signature, args):
        kind = ir.FunctionType(INT64, [INT64])
        same = ir.InlineAsm(kind, "", "=r,0", side_effect=True)
        return builder.call(same, args, attrs=("convergent",))

    return types.int64(types.int64), generate


# --- Functions applied to the vectors of packs

# Operations of a short function, such as a step of z² + c.
SHORT = 5
_PRIMITIVES = {abs, min, max, *(part for part in vars(primitives).values() if callable(part))}


def count_operations(function):
    """Return how many operations on numbers a Python function has, with those that it calls."""
    outer = {**vars(builtins), **inspect.getclosurevars(function).nonlocals}
    outer = {**function.__globals__, **outer}
    count = 0
    for instruction in dis.get_instructions(function):
        name = instruction.opname
        if name in ("BINARY_OP", "UNARY_NEGATIVE", "COMPARE_OP"):
            count += 1
        elif name in ("LOAD_GLOBAL", "LOAD_DEREF"):
            called = outer.get(instruction.argval)
            if isinstance(called, python_types.FunctionType) and called not in _PRIMITIVES:
                count += count_operations(called)
            elif callable(called) and called in _PRIMITIVES:
                count += 1
    return count


def _with_vectors(kind, vectors):
    """Return a type in which every pack has this number of vectors."""
    if isinstance(kind, Pack):
        return Pack(kind.element, vectors, kind.lanes)
    if isinstance(kind, types.BaseTuple):
        return types.Tuple([_with_vectors(part, vectors) for part in kind])
    return kind


def _packs_in(kind):
    if isinstance(kind, Pack):
        return [kind]
    return (
        [p for part in kind for p in _packs_in(part)] if isinstance(kind, types.BaseTuple) else []
    )


def _some_vectors(context, builder, kind, value, begin, end):
    """Return a value in which every pack is replaced by the pack of some of its vectors."""
    if isinstance(kind, Pack):
        return join(builder, vectors_of(builder, value)[begin:end])
    if not isinstance(kind, types.BaseTuple):
        return value
    parts = zip(kind, cgutils.unpack_tuple(builder, value), strict=True)
    parts = [_some_vectors(context, builder, part, of, begin, end) for part, of in parts]
    return context.make_tuple(builder, _with_vectors(kind, end - begin), parts)


def _joined(context, builder, kind, values):
    """Return a value of a type, made of values whose packs have its vectors, some each."""
    if isinstance(kind, Pack):
        return join(builder, [vector for value in values for vector in vectors_of(builder, value)])
    parts = zip(*(cgutils.unpack_tuple(builder, value) for value in values), strict=True)
    parts = [_joined(context, builder, part, of) for part, of in zip(kind, parts, strict=True)]
    return context.make_tuple(builder, kind, parts)


@intrinsic
def by_vectors(context, function, arguments):
    """Return ``function(*arguments)``, computed for one vector after another, or for two.

    All packs in the arguments and the result have the same number of vectors. A function of whole
    packs would apply its first operation to all vectors, then the second operation, and so on, and
    the intermediate results would need more registers than a CPU has. In a short function most
    operations wait for the one before, and a CPU does not look far enough ahead to fill the time
    with the next vector's; so each is applied to two vectors. In a longer one, intermediate results
    of two vectors would need too many registers.
    """
    (vectors,) = {pack.vectors for pack in _packs_in(arguments)}
    most = 2 if count_operations(function.typing_key) <= SHORT else 1
    groups = [(begin, min(begin + most, vectors)) for begin in range(0, vectors, most)]
    kinds = {
        width: context.resolve_function_type(function, tuple(_with_vectors(arguments, width)), {})
        for width in {end - begin for begin, end in groups}
    }
    kind = _with_vectors(kinds[most].return_type, vectors)

    def generate(context, builder, signature, args):
        calls = {width: context.get_function(function, kinds[width]) for width in kinds}
        for each in calls.values():
            context.add_linking_libs(getattr(each, "libs", ()))
        found = []
        for begin, end in groups:
            part = _some_vectors(context, builder, arguments, args[1], begin, end)
            found.append(calls[end - begin](builder, cgutils.unpack_tuple(builder, part)))
        return _joined(context, builder, kind, found)

    return kind(function, arguments), generate


# --- A loop whose variables keep their order


def _leaves(builder, kind, value):
    """Return the vectors and numbers in a value of nested tuples, from left to right."""
    if isinstance(kind, Pack):
        return vectors_of(builder, value)
    if not isinstance(kind, types.BaseTuple):
        return [value]
    parts = zip(kind, cgutils.unpack_tuple(builder, value), strict=True)
    return [leaf for part, of in parts for leaf in _leaves(builder, part, of)]


def _of_leaves(context, builder, kind, leaves):
    """Return the value of a type whose leaves an iterator gives."""
    if isinstance(kind, Pack):
        return join(builder, [next(leaves) for _ in range(kind.vectors)])
    if not isinstance(kind, types.BaseTuple):
        return next(leaves)
    parts = [_of_leaves(context, builder, part, leaves) for part in kind]
    return context.make_tuple(builder, kind, parts)


@intrinsic
def repeat(context, function, times, carried, arguments):
    """Return `carried` after ``carried = function(carried, *arguments)``, some times.

    Where the vectors of a loop need all registers, LLVM spills some of them or none, depending on
    the order of the loop's variables (phi nodes). Here it is the order in `carried`; in a loop
    that Numba compiles, it changes with details of the passes.
    """
    called = context.resolve_function_type(function, (carried, *arguments), {})
    carried = types.unliteral(called.return_type)

    def generate(context, builder, signature, args):
        times, first, rest = args[1], args[2], cgutils.unpack_tuple(builder, args[3])
        call_one = context.get_function(function, called)
        context.add_linking_libs(getattr(call_one, "libs", ()))
        times = context.cast(builder, times, signature.args[1], types.int64)
        before, inputs = builder.basic_block, _leaves(builder, carried, first)
        loop, after = builder.append_basic_block("repeat"), builder.append_basic_block("repeated")
        builder.cbranch(builder.icmp_signed(">", times, INT64(0)), loop, after)
        builder.position_at_end(loop)
        variables = [builder.phi(value.type) for value in inputs]
        left = builder.phi(INT64)
        value = _of_leaves(context, builder, carried, iter(variables))
        outputs = _leaves(builder, carried, call_one(builder, [value, *rest]))
        less = builder.sub(left, INT64(1))
        end = builder.basic_block
        builder.cbranch(builder.icmp_signed(">", less, INT64(0)), loop, after)
        for phi, start, again in zip(
            [*variables, left], [*inputs, times], [*outputs, less], strict=True
        ):
            phi.add_incoming(start, before)
            phi.add_incoming(again, end)
        builder.position_at_end(after)
        found = [builder.phi(value.type) for value in inputs]
        for phi, start, last in zip(found, inputs, outputs, strict=True):
            phi.add_incoming(start, before)
            phi.add_incoming(last, end)
        return _of_leaves(context, builder, carried, iter(found))

    return carried(function, times, carried, arguments), generate
