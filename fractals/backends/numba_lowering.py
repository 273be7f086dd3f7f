"""LLVM's instructions of a program, with fewer of them than Numba makes.

Elements of arrays, parts of tuples, variables that several blocks use, and what Python calls. Like
`numba_compiler`, whose compiler makes instructions by this file, it uses private names of Numba and
has its tests in tests/backends/test_numba_compiler.py.
"""

import functools
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from llvmlite.ir.instructions import ExtractValue, InsertValue, PhiInstr
from numba import types
from numba.core import cgutils
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.callwrapper import PyCallWrapper
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUContext
from numba.core.intrinsics import fix_divmod
from numba.core.ir import Assign
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.cpython.slicing import fix_index
from numba.np.arrayobj import load_item, store_item

from fractals.backends.numba_private import part_of_array

_plain_extract_value: Any = ir.IRBuilder.extract_value

# --- Elements of arrays


class Context(CPUContext):  # type: ignore[misc]
    """Tells what makes the code of a call or an attribute, with less code for elements of arrays.

    Numba copies the array's struct to memory at each element that is read or stored, and multiplies
    by all strides: 40 instructions, which LLVM turns into three.

    `numba.core.cpu.CPUContext`, its `get_function`, `get_getattr`, `post_lowering`, `is32bit` and
    `enable_boundscheck`, `numba.core.intrinsics.fix_divmod`, `numba.np.arrayobj.load_item` and
    `store_item`; Numba 0.61.2 to 0.68.1.
    """

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """Return what makes the code of a call: that of elements, or Numba's."""
        elements = not self.enable_boundscheck and _is_element(sig.args)
        if elements and isinstance(fn, types.Function) and fn.typing_key in _ELEMENT:
            return functools.partial(_ELEMENT[fn.typing_key], self, sig)
        return super().get_function(fn, sig, _firstcall)

    def post_lowering(self, mod: Any, library: Any) -> None:
        """Do without Numba's runtime, which counts references."""
        if self.is32bit:
            fix_divmod(mod)

    def get_getattr(self, typ: Any, attr: str) -> Any:
        """Return what makes the code of an attribute: that of an array's shape, or Numba's."""
        if attr == "shape" and isinstance(typ, types.Array):
            return part_of_array
        return super().get_getattr(typ, attr)


def _is_element(kinds: tuple[Any, ...]) -> bool:
    """Tell whether two types are those of an array without gaps and of an element's index."""
    if len(kinds) < 2 or not isinstance(kinds[0], types.Array):
        return False
    array, indices = kinds[0], _indices(kinds[1])
    return (
        array.layout == "C"
        and isinstance(array.dtype, types.Number | types.Boolean)
        and len(indices) == array.ndim
        and all(isinstance(index, types.Integer) for index in indices)
    )


def _indices(kind: Any) -> tuple[Any, ...]:
    return tuple(kind) if isinstance(kind, types.BaseTuple) else (kind,)


def _pointer(context: Any, builder: Any, kinds: tuple[Any, ...], array: Any, index: Any) -> Any:
    """Return the pointer to an element; a negative index counts from the end."""
    shape = part_of_array(context, builder, kinds[0], array, "shape")
    several = isinstance(kinds[1], types.BaseTuple)
    offset = None
    for axis, kind in enumerate(_indices(kinds[1])):
        place = builder.extract_value(index, axis) if several else index
        wrapped = kind.signed
        if isinstance(place, ir.Constant):
            wrapped = place.constant < 0
            place = context.get_constant(types.intp, place.constant)
        else:
            place = context.cast(builder, place, kind, types.intp if wrapped else types.uintp)
        if wrapped or axis:
            length = builder.extract_value(shape, axis)
        if wrapped:
            place = fix_index(builder, place, length)
        offset = builder.add(builder.mul(offset, length), place) if axis else place
    return builder.gep(part_of_array(context, builder, kinds[0], array, "data"), [offset])


def _load_element(
    context: Any, signature: Any, builder: Any, arguments: Sequence[Any], loc: Any = None
) -> Any:
    array, index = arguments
    place = _pointer(context, builder, signature.args, array, index)
    return load_item(context, builder, signature.args[0], place)


def _store_element(
    context: Any, signature: Any, builder: Any, arguments: Sequence[Any], loc: Any = None
) -> Any:
    array, index, value = arguments
    kind, _, given = signature.args
    value = context.cast(builder, value, given, kind.dtype)
    store_item(
        context, builder, kind, value, _pointer(context, builder, signature.args, array, index)
    )
    return context.get_dummy_value()


_ELEMENT = {operator.getitem: _load_element, operator.setitem: _store_element}


# --- Fewer instructions for tuples


def extract_value(builder: Any, whole: Any, indices: Any, name: str = "") -> Any:
    """Return a part of a tuple or struct: what was put there, where that is known.

    `llvmlite.ir.IRBuilder.extract_value`, and the `aggregate`, `value` and `indices` of its
    `InsertValue`; llvmlite 0.44 to 0.50.
    """
    path = list(indices) if isinstance(indices, tuple | list) else [indices]
    made = whole
    while isinstance(made, InsertValue):
        put = list(made.indices)
        shared = min(len(path), len(put))
        if put[:shared] != path[:shared]:
            made = made.aggregate
        elif len(path) < len(put):
            break  # a part of what is asked for was put there
        else:
            made, path = made.value, path[shared:]
            if not path:
                return made
    return _plain_extract_value(builder, made, path, name)


def leave_out_unused(module: Any) -> None:
    """Remove what builds tuples and takes them apart where nothing uses the result.

    `Module.functions` and `Block.instructions` of `llvmlite.ir`, the `operands` of an instruction
    and the `incomings` of a phi; llvmlite 0.44 to 0.50.
    """
    for function in module.functions:
        used: Counter[int] = Counter()
        for block in function.blocks:
            for made in block.instructions:
                used.update(map(id, made.operands))
                if isinstance(made, PhiInstr):
                    used.update(id(value) for value, _ in made.incomings)
        for block in reversed(function.blocks):
            kept = []
            for made in reversed(block.instructions):
                if used[id(made)] or not isinstance(made, InsertValue | ExtractValue):
                    kept.append(made)
                else:
                    used.subtract(map(id, made.operands))
            block.instructions[:] = kept[::-1]


class _CallWrapper(PyCallWrapper):  # type: ignore[misc]
    """Makes what Python calls: it reads the arguments, and then asks once whether one is wrong.

    Numba asks at each array, and goes another way from there.

    `numba.core.callwrapper.PyCallWrapper` and its `build_wrapper`, `PythonAPI`, `call_conv`;
    Numba 0.61.2 to 0.68.1.
    """

    def build_wrapper(
        self, api: Any, builder: Any, _self: Any, arguments: Any, _named: Any
    ) -> None:
        """Make the body of the wrapper, of a function that returns nothing."""
        context, function = self.context, self.fndesc
        kinds = function.argtypes
        places = [api.alloca_obj() for _ in kinds]
        count = len(kinds)
        parsed = api.unpack_tuple(arguments, function.qualname, count, count, *places)
        with builder.if_then(cgutils.is_null(builder, parsed), likely=False):
            builder.ret(api.get_null_object())
        wrong = cgutils.false_bit

        def refuse() -> None:
            api.err_set_string("PyExc_TypeError", "an argument is of another type")
            builder.ret(api.get_null_object())

        def read(kind: Any, place: Any) -> Any:
            nonlocal wrong
            if isinstance(kind, types.BaseTuple):
                size = api.tuple_size(place)
                with builder.if_then(builder.icmp_signed("!=", size, size.type(len(kind)))):
                    refuse()
                parts = [read(part, api.tuple_getitem(place, k)) for k, part in enumerate(kind)]
                return context.make_tuple(builder, kind, parts)
            if isinstance(kind, types.Array):
                array = cgutils.alloca_once(builder, context.get_value_type(kind))
                code = api.numba_array_adaptor(place, builder.bitcast(array, api.voidptr))
                wrong = builder.or_(wrong, cgutils.is_not_null(builder, code))
                return builder.load(array)
            native = api.to_native_value(kind, place)
            wrong = builder.or_(wrong, native.is_error)
            return native.value

        values = [
            read(kind, builder.load(place)) for kind, place in zip(kinds, places, strict=True)
        ]
        with builder.if_then(wrong, likely=False):
            refuse()
        thread = api.save_thread()
        status, _ = context.call_conv.call_function(
            builder, self.func, types.none, kinds, values, attrs=("noinline",)
        )
        api.restore_thread(thread)
        with builder.if_then(status.is_ok, likely=True):
            api.return_none()
        context.call_conv.raise_error(builder, api, status)
        builder.ret(api.get_null_object())


class _Lower(Lower):  # type: ignore[misc]
    """Makes LLVM's instructions, with most variables as values instead of memory.

    Numba keeps a variable that two blocks use in memory, and loads it before each store because it
    counts references. Whole tuples of arrays are then loaded for one of their numbers.

    `numba.core.lowering.Lower`, its `_find_singly_assigned_variable`, `_singly_assigned_vars`,
    `_blk_local_varmap`, `_disable_sroa_like_opt`, `_alloca_var`, `varmap` and `storevar`;
    `numba.core.analysis.compute_cfg_from_blocks` and `compute_use_defs`; Numba 0.61.2 to 0.68.1.
    """

    def _find_singly_assigned_variable(self) -> None:
        """Find the variables that are assigned once, in a block that comes before all others."""
        super()._find_singly_assigned_variable()
        assigned: dict[str, list[int]] = {}
        for label, block in self.blocks.items():
            for statement in block.find_insts(Assign):
                assigned.setdefault(statement.target.name, []).append(label)
        dominators = compute_cfg_from_blocks(self.blocks).dominators()
        elsewhere = set()
        for label, used in compute_use_defs(self.blocks).usemap.items():
            for name in used:
                first = assigned.get(name, [label])[0]
                if first >= label or first not in dominators[label]:
                    elsewhere.add(name)
        kept = must_use_alloca(self.blocks) | elsewhere
        once = {name for name, labels in assigned.items() if len(labels) == 1}
        self._singly_assigned_vars |= once - kept

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        """Store a variable without a load of its old value."""
        if self._disable_sroa_like_opt or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.varmap[name])

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Make what Python calls, by `_CallWrapper` for a program that fills arrays."""
        if not release_gil or self.fndesc.restype != types.none:
            super().create_cpython_wrapper(release_gil)
            return
        context, function = self.context, self.fndesc
        module = context.create_module("wrapper")
        kind = context.call_conv.get_function_type(function.restype, function.argtypes)
        called = ir.Function(module, kind, function.llvm_func_name)
        _CallWrapper(context, module, called, function, self.env, self.call_helper, True).build()
        self.library.add_ir_module(module)


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):  # type: ignore[misc]
    """The pass that makes LLVM's instructions by `_Lower`."""

    @property
    def lowering_class(self) -> Any:
        """Return the class that makes instructions."""
        return _Lower
