"""Numba's compiler with less work: for functions of numbers and arrays, and those that they inline.

Numba compiles any Python; a program of this package is arithmetic. What it does not need is left
out here, which halves the time of a first picture. Like `numba_private`, this file uses private
names of Numba; tests/backends/test_numba_compiler.py is run with the oldest and the newest one.
"""

import contextlib
import functools
import gc
import importlib
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir
from llvmlite.binding import ffi
from llvmlite.ir.instructions import ExtractValue, InsertValue, PhiInstr
from numba import _dynfunc, types
from numba.core import base, cgutils, interpreter
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.callwrapper import PyCallWrapper
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.cpu import CPUContext
from numba.core.intrinsics import fix_divmod
from numba.core.ir import Assign, Inst, Loc, Var
from numba.core.lowering import Lower
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import (
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)
from numba.cpython.slicing import fix_index
from numba.np.arrayobj import load_item, store_item

from fractals.backends.call_frames import with_room
from fractals.backends.numba_private import add_runtime_symbols, part_of_array


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """The code of a program, which LLVM gets without unused tuples, and optimizes as a whole.

    Numba also has it optimize each function by itself before, and sets the passes up for each name
    that a wrapper uses of Python, too.

    `numba.core.codegen.JITCodeLibrary`, its `_codegen` and `_optimize_functions`;
    Numba 0.61.2 to 0.68.1.
    """

    def add_ir_module(self, ir_module: Any) -> None:
        _leave_out_unused(ir_module)
        super().add_ir_module(ir_module)

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class _PackLibrary(_Library):
    """The code of a program of SIMD packs, whose body LLVM optimizes by itself before the whole.

    With fewer registers it finds a better order for it then: a loop with AVX2 takes 0.9 of the
    time. Other programs gain nothing.

    The names of Numba's wrappers; Numba 0.61.2 to 0.68.1.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        if ll_module.name in ("wrapper", "cfunc_wrapper"):
            super()._optimize_functions(ll_module)
        else:
            JITCodeLibrary._optimize_functions(self, ll_module)


class _InlinedLibrary(_Library):
    """The code of a function that is inlined into each caller, as LLVM reads it from Numba.

    Numba would optimize it and turn it into machine code, which nobody calls.

    `numba.core.codegen.JITCodeLibrary`, its `_codegen`, `_final_module`, `_linking_libraries` and
    other members; Numba 0.61.2 to 0.68.1.
    """

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=True)
class _TellCallers(LoweringPass):  # type: ignore[misc]
    """Tell callers of a function where its code is, as Numba does once it made machine code.

    `numba._dynfunc.make_function`, which makes the key that callers find the function by, and
    `CPUContext.insert_user_function`; Numba 0.61.2 to 0.68.1.
    """

    _name = "tell_callers"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        lowered = state["cr"]
        function = lowered.fndesc
        key = _dynfunc.make_function(
            function.lookup_module(), function.unique_name, "", 0, lowered.env, (state.library,)
        )
        state.targetctx.insert_user_function(key, function, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


@contextlib.contextmanager
def _quick_compiler() -> Iterator[None]:
    """Have Numba do less in vain while it compiles a program, under Numba's compiler lock.

    New declarations are looked for only where there are some; calls of an operator with the same
    types are typed once; the size of a type is asked of LLVM once, and the parameters of what makes
    code of Python once; the variables of a statement are listed quicker; the class of a type is
    told without a look for registered classes, as there are none; no event tells of LLVM's lock;
    and Python's garbage collector waits, because next to nothing of what a compiler makes is
    garbage before the program is done.

    `CPUContext.get_abi_sizeof`, `numba.core.base._has_loc`, `llvmlite.binding.ffi.lib._lock` and
    its `_cblist`, the metaclass of `numba.types.Type`, and the names of `_quick_refresh`,
    `_link_runtime`, `_typed_once`, `_variables_of`, `_process` and `_extract_value`, and
    `peep_hole_delete_with_exit` and `peep_hole_fuse_dict_add_updates` of `numba.core.interpreter`;
    Numba 0.61.2 to 0.68.1.
    """
    target = cpu_target.target_context
    if "refresh" in vars(target):  # a caller is being compiled
        yield
        return
    contexts = target, target.typing_context
    refresh = _quick_refresh(contexts)
    with contextlib.ExitStack() as changed:
        for owner, name, value in (
            *((context, "refresh", refresh) for context in contexts),
            (target, "get_abi_sizeof", functools.cache(target.get_abi_sizeof)),
            (BaseFunction, "get_call_type", _typed_once),
            (Inst, "_rec_list_vars", _variables_of),
            (ir.IRBuilder, "extract_value", _extract_value),
            (CPUContext, "post_lowering", _link_runtime),
            (PostProcessor, "run", _process),
            (interpreter, "peep_hole_delete_with_exit", _unchanged),
            (interpreter, "peep_hole_fuse_dict_add_updates", _unchanged),
            (type(types.Type), "__instancecheck__", type.__instancecheck__),
            (type(types.Type), "__subclasscheck__", type.__subclasscheck__),
            (base, "_has_loc", functools.cache(base._has_loc)),
            (ffi.lib._lock, "_cblist", []),
        ):
            changed.enter_context(_changed(owner, name, value))
        changed.enter_context(_without_collections())
        yield


# What programs of this package use of Numba; the first two have registries. The rest takes 0.07 s
# to load: lists, texts, random numbers, and the runtime that counts references.
_MODULES = (
    "numba.core.typing.mathdecl",
    "numba.cpython.mathimpl",
    "numba.core.optional",
    "numba.cpython.builtins",
    "numba.cpython.iterators",
    "numba.cpython.numbers",
    "numba.cpython.rangeobj",
    "numba.cpython.tupleobj",
    "numba.experimental.function_type",
    "numba.misc.literal",
    "numba.np.arrayobj",
)


@functools.cache
def _registries() -> tuple[Any, Any]:
    """Return those that programs use beside Numba's built-in ones, of types and of code."""
    add_runtime_symbols()  # of helpers that wrappers call
    types_of_math, code_of_math, *_ = map(importlib.import_module, _MODULES)
    return types_of_math.registry, code_of_math.registry


@contextlib.contextmanager
def _few_declarations(typing: Any, target: Any) -> Iterator[None]:
    """Have Numba look for declarations in `_MODULES` alone, where it has not loaded the others.

    `load_additional_registries` and `install_registry` of `CPUContext` and of its typing context,
    and the `registry` of two modules; Numba 0.61.2 to 0.68.1.
    """
    with contextlib.ExitStack() as changed:
        for context, registry in zip((typing, target), _registries(), strict=True):
            install = functools.partial(context.install_registry, registry)
            changed.enter_context(_changed(context, "load_additional_registries", install))
        yield


@contextlib.contextmanager
def _changed(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Let an attribute have a value, of an object or a class that may have inherited it."""
    own, before = name in vars(owner), getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before) if own else delattr(owner, name)


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """Have Python collect no garbage, and then count as old what was made."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            if not gc.get_freeze_count():  # no collection of what is old is due
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def _quick_refresh(contexts: Any) -> Callable[[], None]:
    """Return what looks for declarations in what Numba knows, and only where there are new ones.

    Numba looks at each call of an intrinsic, by importing all that it knows of Python and NumPy:
    the imports are cached, but there are hundreds of calls.

    `CPUContext.refresh` and that of its `typing_context`, their `_registries` and
    `install_registry`, and the lists of a `Registry`; Numba 0.61.2 to 0.68.1.
    """
    known: list[int] = []

    def refresh() -> None:
        sizes = [
            len(declared)
            for context in contexts
            for registry in context._registries
            for declared in vars(registry).values()
        ]
        if sizes != known:
            known[:] = sizes
            for context in contexts:
                for registry in context._registries:
                    context.install_registry(registry)

    return refresh


_post_lowering: Any = CPUContext.post_lowering
_get_call_type: Any = BaseFunction.get_call_type
_rec_list_vars: Any = Inst._rec_list_vars
_plain_process: Any = PostProcessor.run
_plain_extract_value: Any = ir.IRBuilder.extract_value


def _link_runtime(context: Any, module: Any, library: Any) -> None:
    """Link Numba's runtime to one of its own functions; it may not be there yet.

    `CPUContext.post_lowering`, and `initialize` of `numba.core.runtime.rtsys`;
    Numba 0.61.2 to 0.68.1.
    """
    rtsys.initialize(context)
    _post_lowering(context, module, library)


def _typed_once(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return the signature of a call, found once for a built-in function and types.

    Numba tries up to 20 declarations of an operator at each call, and formats a message for each
    that does not fit: a program has a thousand calls of a hundred kinds.

    `BaseFunction.get_call_type` and `_impl_keys`; Numba 0.61.2 to 0.68.1. A function that gets a
    new declaration is a new object.
    """
    if kws:
        return _get_call_type(function, context, args, kws)
    found = function.__dict__.setdefault("_typed_once", {})
    signature = found.get(args)
    if signature is None:
        signature = _get_call_type(function, context, args, kws)
        # Other functions are compiled for each setting of the compiler.
        if function._impl_keys[signature.args] is function.key[0]:
            found[args] = signature
    return signature


def _variables_of(statement: Any, part: Any) -> list[Any]:
    """Return the variables in a part of a statement: `Inst._rec_list_vars`, for the usual types.

    Numba asks for the type of a part by `isinstance` up to eight times; most parts are texts and
    places in a file.

    `numba.core.ir.Inst._rec_list_vars` and `Var`; Numba 0.61.2 to 0.68.1.
    """
    kind = type(part)
    if kind is Var:
        return [part]
    if kind in _WITHOUT_VARIABLES:
        return []
    if kind is dict:
        part = part.values()
    elif kind is not tuple and kind is not list:
        return _rec_list_vars(statement, part)  # type: ignore[no-any-return]
    found: list[Any] = []
    for value in part:
        kind = type(value)
        if kind is Var:
            found.append(value)
        elif kind not in _WITHOUT_VARIABLES:
            found += _variables_of(statement, value)
    return found


def _unchanged(function: Any) -> Any:
    """Return a function without a look for what numeric code has none of: `with`, dictionaries."""
    return function


def _process(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Bring the blocks of a function in order: `PostProcessor.run`, for most functions.

    Numba also finds which variables are alive where, four times a function. Only generators, and
    functions of Python's objects, ask for that.

    `numba.core.postproc.PostProcessor.run`, its `func_ir`, and `VariableLifetime`;
    `numba.core.transforms.canonicalize_cfg`; Numba 0.61.2 to 0.68.1.
    """
    function = processor.func_ir
    if emit_dels or function.is_generator:
        _plain_process(processor, emit_dels, extend_lifetimes)
        return
    function.blocks = canonicalize_cfg(function.blocks)
    function.variable_lifetime = VariableLifetime(function.blocks)
    function.generator_info = None


_WITHOUT_VARIABLES = frozenset((str, int, float, bool, type(None), Loc))


# --- Elements of arrays


class _Context(CPUContext):  # type: ignore[misc]
    """Tells what makes the code of a call or an attribute, with less code for elements of arrays.

    Numba copies the array's struct to memory at each element that is read or stored, and multiplies
    by all strides: 40 instructions, which LLVM turns into three.

    `numba.core.cpu.CPUContext`, its `get_function`, `get_getattr`, `post_lowering`, `is32bit` and
    `enable_boundscheck`, `numba.core.intrinsics.fix_divmod`, `numba.np.arrayobj.load_item` and
    `store_item`; Numba 0.61.2 to 0.68.1.
    """

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        elements = not self.enable_boundscheck and _is_element(sig.args)
        if elements and isinstance(fn, types.Function) and fn.typing_key in _ELEMENT:
            return functools.partial(_ELEMENT[fn.typing_key], self, sig)
        return super().get_function(fn, sig, _firstcall)

    def post_lowering(self, mod: Any, library: Any) -> None:
        """Numba also links its runtime, which counts references."""
        if self.is32bit:
            fix_divmod(mod)

    def get_getattr(self, typ: Any, attr: str) -> Any:
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


def _extract_value(builder: Any, whole: Any, indices: Any, name: str = "") -> Any:
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


def _leave_out_unused(module: Any) -> None:
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
class _Lowering(NativeLowering):  # type: ignore[misc]
    """The pass that makes LLVM's instructions by `_Lower`."""

    @property
    def lowering_class(self) -> Any:
        return _Lower


# The passes of Numba that numeric code needs. Those left out inline closures, fuse array
# expressions, rewrite exceptions and with statements, and annotate types.
_PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    RewriteSemanticConstants,
    DeadBranchPrune,
    GenericRewrites,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    _Lowering,
)


class _Passes(PassManager):  # type: ignore[misc]
    """Runs passes without Numba's events and timings of each.

    `PassManager._runPass`, its `_analysis`, and the `analysis` of a pass; Numba 0.61.2 to 0.68.1.
    """

    def _runPass(self, _index: int, step: Any, state: Any) -> None:
        step.analysis = self._analysis
        step.run_initialization(state)
        step.run_pass(state)
        step.run_finalizer(state)


class _Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler with the passes of `_PASSES` alone.

    `declares_all`: functions may use all that Numba knows, not only `_MODULES`.

    `CompilerBase._compile_core`; Numba 0.61.2 to 0.68.1. The rest is documented by Numba.
    """

    steps: tuple[Any, ...] = (*_PASSES, NoPythonBackend)
    library_class: Any = _Library
    declares_all = False

    def __init__(self, typing: Any, target: Any, *settings: Any) -> None:
        with contextlib.nullcontext() if self.declares_all else _few_declarations(typing, target):
            super().__init__(typing, target, *settings)

    def _compile_core(self) -> Any:
        context = self.state.targetctx  # made for this function
        context.__class__ = _Context
        with _quick_compiler():
            context.get_abi_sizeof = cpu_target.target_context.get_abi_sizeof
            return with_room(super()._compile_core)

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = self.library_class(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        passes = _Passes("numeric")
        for step in self.steps:
            passes.add_pass(step, step._name)
        passes.finalize()
        return [passes]


class _InlinedCompiler(_Compiler):
    """The same for a function that is inlined into its callers: no machine code is made."""

    steps = (*_PASSES, _TellCallers, NoPythonBackend)
    library_class = _InlinedLibrary

    def define_pipelines(self) -> Any:
        self.state.flags.no_compile = True
        return super().define_pipelines()


def numeric(packed: bool = False, foreign: bool = False) -> dict[str, Any]:
    """Return options of a function that only uses numbers and arrays it is given.

    It has no references to count. `packed`: it is a program of SIMD packs; `foreign`: parts of it
    are not of this package, and may use all that Numba knows.

    `_nrt` is private: Numba 0.61.2 to 0.68.1.
    """
    library = _PackLibrary if packed else _Library
    body = {"library_class": library, "declares_all": foreign}
    return {"_nrt": False, "pipeline_class": type("_Numeric", (_Compiler,), body)}


# Options of a numeric function that is compiled only as a part of its callers.
INLINED = {
    "_nrt": False,
    "pipeline_class": _InlinedCompiler,
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
