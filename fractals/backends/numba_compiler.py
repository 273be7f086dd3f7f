"""Numba's compiler with less work: for functions of numbers and arrays, and those that they inline.

Numba compiles any Python; a program of this package is arithmetic. What it does not need is left
out here, which halves the time of a first picture. Like `numba_private`, this file uses private
names of Numba, is tested by tests/backends/test_numba_private.py with the oldest and the newest
Numba, and is the only other one to do so.
"""

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator
from typing import Any

from numba import _dynfunc
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.ir import Assign, Inst, Loc, Var
from numba.core.lowering import Lower
from numba.core.registry import cpu_target
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

from fractals.backends.call_frames import with_room


class _InlinedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function that is inlined into each caller, as LLVM reads it from Numba.

    Numba would optimize it and turn it into machine code, which nobody calls.

    `numba.core.codegen.JITCodeLibrary`, its `_codegen`, `_final_module`, `_linking_libraries` and
    other members; Numba 0.61.2 to 0.68.1.
    """

    def add_llvm_module(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)

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
    types are typed once; the size of a type is asked of LLVM once; the variables of a statement are
    listed quicker; and Python's garbage collector waits, because next to nothing of what a compiler
    makes is garbage before the program is done.

    `CPUContext.get_abi_sizeof`, and the names of `_quick_refresh`, `_typed_once` and
    `_variables_of`; Numba 0.61.2 to 0.68.1.
    """
    target = cpu_target.target_context
    if "refresh" in vars(target):  # a caller is being compiled
        yield
        return
    contexts = target, target.typing_context
    collecting = gc.isenabled()
    refresh = _quick_refresh(contexts)
    for context in contexts:
        context.refresh = refresh
    target.get_abi_sizeof = functools.cache(target.get_abi_sizeof)
    calls: Any = BaseFunction
    statements: Any = Inst
    calls.get_call_type = _typed_once
    statements._rec_list_vars = _variables_of
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            if not gc.get_freeze_count():  # count what was made as old: no collection of it is due
                gc.freeze()
                gc.unfreeze()
            gc.enable()
        calls.get_call_type = _get_call_type
        statements._rec_list_vars = _rec_list_vars
        del target.get_abi_sizeof
        for context in contexts:
            del context.refresh


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


_get_call_type: Any = BaseFunction.get_call_type
_rec_list_vars: Any = Inst._rec_list_vars


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


_WITHOUT_VARIABLES = frozenset((str, int, float, bool, type(None), Loc))


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

    `CompilerBase._compile_core`; Numba 0.61.2 to 0.68.1. The rest is documented by Numba.
    """

    steps: tuple[Any, ...] = (*_PASSES, NoPythonBackend)

    def _compile_core(self) -> Any:
        with _quick_compiler():
            return with_room(super()._compile_core)

    def define_pipelines(self) -> Any:
        passes = _Passes("numeric")
        for step in self.steps:
            passes.add_pass(step, step._name)
        passes.finalize()
        return [passes]


class _InlinedCompiler(_Compiler):
    """The same for a function that is inlined into its callers: no machine code is made."""

    steps = (*_PASSES, _TellCallers, NoPythonBackend)

    def define_pipelines(self) -> Any:
        state = self.state
        state.flags.no_compile = True
        state.library = _InlinedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


# Options of a function that only uses numbers and arrays it is given, so that it has no references
# to count. `_nrt` is private: Numba 0.61.2 to 0.68.1.
NUMERIC = {"_nrt": False, "pipeline_class": _Compiler}

# The same for a function that is compiled only as a part of its callers.
INLINED = {
    "_nrt": False,
    "pipeline_class": _InlinedCompiler,
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
