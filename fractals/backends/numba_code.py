"""What takes the place of Numba's functions and classes while a program compiles.

First its code on the way to LLVM and through it, then functions that do the same quicker.
`fractals.backends.numba_compiler` uses them, and tells why private names are safe there.
"""

import functools
from typing import Any

from llvmlite import binding, ir
from llvmlite.binding import Linkage
from numba.core import cgutils, types
from numba.core.callconv import CPUCallConv, Status
from numba.core.codegen import JITCodeLibrary
from numba.core.ir import Inst, Loc, Var
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.transforms import canonicalize_cfg
from numba.core.types.functions import BaseFunction
from numba.np import arrayobj

from fractals.backends.machine_code import target_machine


class Library(JITCodeLibrary):  # type: ignore[misc]
    """The code of a program, which LLVM optimizes as a whole, and Numba does not load.

    Numba also has LLVM optimize each function by itself before. Code that Numba loads stays in
    memory for ever.

    `numba.core.codegen.JITCodeLibrary`, its `_codegen`, `_final_module`, `_linking_libraries`,
    `_optimize_functions`, `_optimize_final_module` and other members; Numba 0.61.2 to 0.68.1.
    """

    # Looked up here, as the program that tries this compiler out has a method of its own.
    _optimize_final_module: Any = JITCodeLibrary._optimize_final_module

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def add_linking_library(self, library: Any) -> None:
        """Add what the program calls, but not Numba's runtime, which counts references."""
        if library is not rtsys.library:
            super().add_linking_library(library)

    def finalize(self) -> None:
        """Link what it calls, and have LLVM optimize it all."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True
        self._optimize_final_module()

    def get_llvm_str(self) -> str:
        """Return LLVM's text."""
        self._ensure_finalized()
        return str(super().get_llvm_str())


class PackLibrary(Library):
    """The code of a program of SIMD packs, whose body LLVM optimizes by itself before the whole.

    With fewer registers it finds a better order for it then: a loop with AVX2 takes 0.9 of the
    time. Other programs gain nothing.
    """

    _optimize_functions: Any = JITCodeLibrary._optimize_functions


class LongLibrary(Library):
    """The code of a long program that takes little of a picture's time.

    LLVM optimizes it once, as Numba has it optimized before only to count fewer references; and
    unrolls no loop whose length is known only where it runs, which makes a third more code for some
    CPUs. Short loops that take a picture's time are up to a tenth slower so.

    `JITCodeLibrary.add_ir_module`; Numba 0.61.2 to 0.68.1.
    """

    def _optimize_final_module(self) -> None:
        options = binding.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization, options.slp_vectorization = True, False  # as Numba does
        passes = binding.create_pass_builder(target_machine(), options)
        passes.getModulePassManager().run(self._final_module, passes)

    def add_ir_module(self, ir_module: Any) -> None:
        """Add the code of a function."""
        _keep_rolled(ir_module)
        JITCodeLibrary.add_ir_module(self, ir_module)


def _keep_rolled(module: ir.Module) -> None:
    """Mark loops, so that LLVM unrolls none whose length is known only where it runs."""
    never = module.add_metadata(["llvm.loop.unroll.runtime.disable"])
    for function in module.functions:
        places = {block: place for place, block in enumerate(function.blocks)}
        for block, place in places.items():
            if any(places.get(to, place + 1) <= place for to in block.terminator.operands):
                loop = ir.MDValue(module, [never], str(len(module.metadata)))
                loop.operands = loop, never  # its own name tells a loop from others
                block.terminator.set_metadata("llvm.loop", loop)


class InlinedLibrary(Library):
    """The code of a function that is inlined into each caller, as LLVM reads it from Numba.

    The program links it and what it calls. Were they linked here, code would be copied at each
    level of calls.
    """

    def finalize(self) -> None:
        """Leave all of that to the program."""
        self._raise_if_finalized()
        for function in self._final_module.functions:  # several modules of a program may have it
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr
        self._finalized = True


# --- Fewer instructions for LLVM, to the same bits, in functions that refer to no object


_make_array: Any = arrayobj.make_array


class CallConvention(CPUCallConv):  # type: ignore[misc]
    """How functions call each other: where one ends with an error, so does its caller.

    `numba.core.callconv.CPUCallConv` and its members, and `Status`; Numba 0.61.2 to 0.68.1. Numba
    asks for each kind of error, and copies what says more of it.
    """

    def call_function(
        self, builder: Any, callee: Any, result: Any, kinds: Any, args: Any, attrs: Any = None
    ) -> Any:
        """Return the status of a call and what it returns."""
        if attrs or isinstance(result, types.misc.Optional):
            return super().call_function(builder, callee, result, kinds, args, attrs)
        address = cgutils.alloca_once(builder, self.get_return_type(result).pointee)
        given = self._get_arg_packer(kinds).as_arguments(builder, args)
        error = self._get_excinfo_argument(builder.function)
        code = builder.call(callee, [address, error, *given])
        facts = dict.fromkeys(Status._fields)
        facts |= {"code": code, "is_error": builder.icmp_signed("!=", code, code.type(0))}
        value = self.context.get_returned_value(builder, result, builder.load(address))
        return Status(**facts), value

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """End the calling function with the error of a call."""
        if status.excinfoptr is None:
            builder.ret(status.code)
        else:
            super().return_status_propagate(builder, status)


def make_array(kind: Any) -> Any:
    """Return what makes the parts of an array accessible: they are read from its value.

    `numba.np.arrayobj.make_array`, as of Numba 0.61.2 to 0.68.1, copies an array to memory for each
    element that is read or written.
    """
    made = _make_array(kind)

    def array(context: Any, builder: Any, value: Any = None, ref: Any = None) -> Any:
        if value is None or ref is not None:
            return made(context, builder, value, ref)
        return _Array(context, builder, value, context.data_model_manager[kind], made)

    return array if type(kind) is types.Array else made


class _Array:
    """The parts of an array, by their names, of LLVM's value of it."""

    def __init__(self, context: Any, builder: Any, value: Any, model: Any, made: Any) -> None:
        self._context, self._builder, self._value = context, builder, value
        self._model, self._made = model, made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # such as its address
            return getattr(self._made(self._context, self._builder, self._value), name)
        return self._builder.extract_value(self._value, self._model.get_field_position(name))

    def _getvalue(self) -> Any:
        return self._value


# --- Quicker functions in place of Numba's, while a program compiles


_get_call_type: Any = BaseFunction.get_call_type
_rec_list_vars: Any = Inst._rec_list_vars
_plain_process: Any = PostProcessor.run
_WITHOUT_VARIABLES = frozenset((str, int, float, bool, type(None), Loc))


def typed_once(function: Any, context: Any, args: Any, kws: Any) -> Any:
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


def variables_of(statement: Any, part: Any) -> list[Any]:
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
            found += variables_of(statement, value)
    return found


def process(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
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


@functools.lru_cache(maxsize=1024)
def size_of_type(kind: Any) -> int:
    """Return the bytes of a type of LLVM, which makes and reads a module to tell them."""
    return int(type(cpu_target.target_context).get_abi_sizeof(cpu_target.target_context, kind))
