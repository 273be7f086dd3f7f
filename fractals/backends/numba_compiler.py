"""Numba's compiler with less work: for functions of numbers and arrays, and those that they inline.

Numba compiles any Python; a program of this package is arithmetic. What it does not need is left
out here, which halves the time of a first picture. This file uses private names of Numba, so
`fractals.backends.cpu.entry` uses it only where it works, and plain Numba elsewhere.
"""

import collections
import contextlib
import functools
import gc
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import ir
from numba import _dynfunc
from numba.core import extending, imputils, types
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.ir import Inst
from numba.core.postproc import PostProcessor
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.typed_passes import (
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.types.functions import BaseFunction
from numba.core.typing import templates
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)
from numba.np import arrayobj

from fractals.backends import numba_code
from fractals.backends.numba_code import InlinedLibrary, Library, LongLibrary, PackLibrary


@register_pass(mutates_CFG=False, analysis_only=True)
class _TellCallers(LoweringPass):  # type: ignore[misc]
    """Tell callers of a function where its code is, as Numba does once it made machine code.

    They are also told of the code that it calls, behind it, for it is not linked yet.

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
        # LLVM leaves out a function that nothing linked before it calls.
        libraries = dict.fromkeys([state.library, *state.library._linking_libraries])
        state.targetctx.insert_user_function(key, function, list(libraries))
        state["cr"] = lowered._replace(cfunc=key)
        return True


@contextlib.contextmanager
def _quick_compiler(compiler: Any) -> Iterator[None]:
    """Patch Numba, under its compiler lock, to skip work that our programs never need.

    New declarations are looked for only where there are some, calls of an operator with the same
    types are typed once, the variables of a statement are listed quicker, and Python's garbage
    collector waits, because next to nothing of what a compiler makes is garbage before the program
    is done. LLVM gets fewer instructions. Programs with foreign functions keep Numba's own code,
    because Numba caches what it compiles for them.

    The names of `_quick_refresh`, `typed_once`, `variables_of` and `process`,
    `CPUContext.call_conv` and `numba.np.arrayobj.make_array`; Numba 0.61.2 to 0.68.1.
    """
    target = cpu_target.target_context
    if "refresh" in vars(target):  # a caller is being compiled
        yield
        return
    rtsys.initialize(target)  # some of Numba's own functions refer to it
    contexts = target, target.typing_context
    refresh = _quick_refresh(contexts)
    quick_code = (
        (type(target), "call_conv", property(numba_code.CallConvention)),
        (arrayobj, "make_array", numba_code.make_array),
    )
    with contextlib.ExitStack() as changed:
        for context in contexts:
            changed.enter_context(_changed(context, "refresh", refresh))
        for owner, name, quick in (
            (BaseFunction, "get_call_type", numba_code.typed_once),
            (Inst, "_rec_list_vars", numba_code.variables_of),
            (PostProcessor, "run", numba_code.process),
            (InlinedLibrary, "add_ir_module", compiler.library_class.add_ir_module),
            *([] if compiler.declares_all else quick_code),
        ):
            changed.enter_context(_changed(owner, name, quick))
        changed.enter_context(_without_collections())
        yield


# What programs of this package use of Numba; the first two have registries. The rest takes 0.07 s
# to load: lists, texts, random numbers.
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
    types_of_math, code_of_math, *_ = map(importlib.import_module, _MODULES)
    return types_of_math.registry, code_of_math.registry


@contextlib.contextmanager
def _few_declarations(typing: Any, target: Any) -> Iterator[None]:
    """Have Numba look for declarations in `_MODULES` alone, where it has not loaded the others.

    `refresh` and `install_registry` of `CPUContext` and of its typing context, `_load_builtins`,
    `numba.core.imputils.builtin_registry` and the `registry` of two modules;
    Numba 0.61.2 to 0.68.1.
    """
    if "refresh" in vars(target):  # a caller is being compiled
        yield
        return
    of_types, of_code = _registries()

    def refresh() -> None:
        target.install_registry(of_code)
        target.install_registry(imputils.builtin_registry)
        typing.install_registry(of_types)
        typing._load_builtins()

    with _changed(typing, "refresh", refresh), _changed(target, "refresh", refresh):
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
    """Have Python collect no garbage, and then count as old what was made.

    Old objects are looked at so rarely that a process which goes on compiling, as that of a
    notebook, would grow by some 30 MB a picture: all of them are, now and then.
    """
    global _compiled
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            _compiled += 1
            if _compiled % COLLECTED == 0:
                gc.collect()
            elif not _others_freeze():  # young objects become old: no collection follows at once
                gc.freeze()
                gc.unfreeze()
            gc.enable()


COLLECTED = 8  # compilations between two collections of all garbage, which take 0.1 to 0.3 s
_compiled = 0
_frozen = False


def _others_freeze() -> bool:
    """Tell whether others have frozen objects, which Python counts for up to 0.1 s: once."""
    global _frozen
    _frozen = _frozen or gc.get_freeze_count() > 0
    return _frozen


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
    NativeLowering,
    _TellCallers,
    NoPythonBackend,
)


class _Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler with the passes of `_PASSES` alone.

    `declares_all`: functions may use all that Numba knows, not only `_MODULES`. `functions`: those
    of the program alone, which Numba knows while it compiles the program.

    `CompilerBase._compile_core` and `CPUContext.get_abi_sizeof`;
    Numba 0.61.2 to 0.68.1. The rest is documented by Numba.
    """

    library_class: Any = Library
    declares_all = False
    functions: Any = ()

    def __init__(self, typing: Any, target: Any, *settings: Any) -> None:
        with contextlib.nullcontext() if self.declares_all else _few_declarations(typing, target):
            super().__init__(typing, target, *settings)

    def _compile_core(self) -> Any:
        context = self.state.targetctx  # made for this function
        context.get_abi_sizeof = numba_code.size_of_type
        with _quick_compiler(self), _declared(self.functions):
            made = super()._compile_core()._replace(type_annotation=None, metadata=None)
        if self.library_class is not InlinedLibrary:  # no code calls it
            with contextlib.suppress(KeyError):
                cpu_target.target_context.remove_user_function(made.entry_point)
        return made

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = self.library_class(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        passes = PassManager("numeric")
        for step in _PASSES:
            passes.add_pass(step, step._name)
        passes.finalize()
        return [passes]


class _InlinedCompiler(_Compiler):
    """The same for a function that is inlined into its callers."""

    library_class = InlinedLibrary


def numeric(
    packed: bool = False,
    foreign: bool = False,
    functions: Any = (),
    long: bool = False,
) -> dict[str, Any]:
    """Return options of a function that only uses numbers and arrays it is given.

    It has no references to count. `packed`: it is a program of SIMD packs; `foreign`: parts of it
    are not of this package, and may use all that Numba knows; `functions`: those of this program
    alone; `long`: as of `fractals.backends.cpu.programs.program_of`.

    `_nrt` is private: Numba 0.61.2 to 0.68.1.
    """
    library = PackLibrary if packed else LongLibrary if long else Library
    body = {"library_class": library, "declares_all": foreign, "functions": functions}
    return {"_nrt": False, "pipeline_class": type("_Numeric", (_Compiler,), body)}


# Options of a numeric function that is compiled only as a part of its callers.
INLINED = {
    "_nrt": False,
    "pipeline_class": _InlinedCompiler,
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


# --- Functions of one program: what Numba knows of them takes megabytes


_known: collections.Counter[Any] = collections.Counter()


@contextlib.contextmanager
def _declared(functions: Any) -> Iterator[None]:
    """Let Numba know functions while it compiles their program, under its compiler lock."""
    _known.update(functions)  # where one program is compiled within another
    for function in functions:
        if _known[function] == 1:
            _declare(function)
    try:
        yield
    finally:
        _known.subtract(functions)
        for function in functions:
            if not _known[function]:
                del _known[function]
                _forget(function)


def _declare(function: Any) -> None:
    """Have Numba compile a function into its callers, until `_forget`.

    `numba.extending.register_jitable` declares for ever, in lists of all targets.

    `make_overload_template`, `insert_global` of the typing context, and
    `_overload_default_jit_options`; Numba 0.61.2 to 0.68.1.
    """
    settings = {**extending._overload_default_jit_options, **INLINED}  # type: ignore[attr-defined]
    template = templates.make_overload_template(
        function, lambda *args, **kwargs: function, settings, False, "never"
    )
    cpu_target.typing_context.insert_global(function, types.Function(template))


def _forget(function: Any) -> None:
    """Have Numba forget a function of `_declare`, and the code that it made of it.

    `_lookup_global` and `_remove_global` of the typing context, `remove_user_function` and
    `_get_constants` of `CPUContext`, and `_impl_cache` and the like of an overload;
    Numba 0.61.2 to 0.68.1.
    """
    typing, target = cpu_target.typing_context, cpu_target.target_context
    whole = typing._lookup_global(function)
    for template in whole.templates:
        for entry in vars(template).get("_compiled_overloads", {}).values():
            with contextlib.suppress(KeyError):
                target.remove_user_function(entry)
        for name in ("_impl_cache", "_compiled_overloads", "_inline_overloads"):
            vars(template).get(name, {}).clear()  # each refers to itself by way of its code
    whole._impl_keys.clear()  # intrinsics that were given the function keep its type
    typing._remove_global(function)
    target._get_constants._cache.pop((whole,), None)


# --- Built-in functions of single numbers, which Numba compiles as functions of Python, 25 ms each


def _declare_built_in(function: Any, result: Callable[..., Any], lower: Any, *kinds: Any) -> None:
    """Have a function typed on the CPU by ``result(*types)``, before Numba's own declarations.

    `result` returns a type, or None for types that other declarations serve.

    `AbstractTemplate` of `numba.core.typing.templates`, its `metadata`, `infer`, `infer_global` and
    `signature`; Numba 0.61.2 to 0.68.1. The target "cpu" is more specific than Numba's "generic".
    """

    def generic(_template: Any, args: Any, kws: Any) -> Any:
        found = None if kws else result(*args)
        return None if found is None else templates.signature(found, *args)

    body = {"key": function, "metadata": {"target": "cpu"}, "generic": generic}
    template = type(f"Quick_{function.__name__}", (templates.AbstractTemplate,), body)
    # Where a name of Numba has changed, an error comes here, before anything is declared.
    typing, target = cpu_target.typing_context, cpu_target.target_context
    with _few_declarations(typing, target):
        target.refresh()  # so that it knows how numbers are cast
    for kind in (types.float64, types.int64):
        if tried := template(typing).apply((kind,) * len(kinds), {}):
            block = _block_of([target.get_value_type(kind)] * len(kinds))
            lower(target, ir.IRBuilder(block), tried, block.function.args)
    extending.lower_builtin(function, *kinds)(lower)
    templates.infer(template)
    templates.infer_global(function, types.Function(template))


def _block_of(kinds: Any) -> ir.Block:
    """Return an empty block of a function with arguments of types of LLVM."""
    kind = ir.FunctionType(ir.VoidType(), kinds)
    return ir.Function(ir.Module(), kind, "tried").append_basic_block()


def _pair(*kinds: Any) -> Any:
    """Return the type of two numbers that have the same; Numba's code serves others."""
    number = len(kinds) == 2 and isinstance(kinds[0], types.Integer | types.Float)
    return kinds[0] if number and kinds[0] == kinds[1] else None


def _whole(*kinds: Any) -> Any:
    return types.int64 if len(kinds) == 1 and isinstance(kinds[0], types.Float) else None


def _chosen(before: Callable[[Any, Any, Any], Any]) -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.return_type  # numbers of two types come from a GPU, and from an old Numba
        each = zip(args, signature.args, strict=True)
        a, b = (context.cast(builder, value, given, kind) for value, given in each)
        return builder.select(before(builder, kind, (a, b)), b, a)

    return lower


def _is_less(builder: Any, kind: Any, a: Any, b: Any) -> Any:
    if isinstance(kind, types.Float):
        return builder.fcmp_ordered("<", a, b)
    compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
    return compare("<", a, b)


_declare_built_in(
    min,
    _pair,
    _chosen(lambda builder, kind, pair: _is_less(builder, kind, *pair[::-1])),
    types.Number,
    types.Number,
)
_declare_built_in(
    max,
    _pair,
    _chosen(lambda builder, kind, pair: _is_less(builder, kind, *pair)),
    types.Number,
    types.Number,
)
_declare_built_in(
    int,
    _whole,
    lambda context, builder, signature, args: context.cast(
        builder, args[0], signature.args[0], signature.return_type
    ),
    types.Float,
)
