"""The private names of Numba, llvmlite and numba-cuda that this package uses, a function each.

Private means: not in Numba's documentation, so a release may change it. Each function names the
versions that it was tried with, and has a test in tests/backends/test_numba_private.py, which
`.ci/run` runs with the oldest and the newest Numba that pyproject.toml allows. A new Numba that
changes one of these names is served by an edit here, or in `numba_compiler` or
`numba_lowering`, alone.
"""

import contextlib
import importlib
import itertools
import operator
import os
import secrets
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import llvmlite.binding
import numba
import numpy as np
from numba.core import event
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python
from numba.core.serialize import dumps
from numba.core.types.function_type import CompileResultWAP
from numba.core.typing import templates


class Store(Protocol):
    """Where compiled code is kept."""

    folder: str

    def load(self, key: str, rebuild: Callable[[Any], Any]) -> Any:
        """Return what `rebuild` makes of the data kept under a key; None where there are none."""

    def save(self, key: str, data: bytes) -> None:
        """Keep data, which is a pickle."""


# --- Storing compiled code


def number_functions_at_random() -> bool:
    """Number Numba's functions from a random place; return whether Numba still numbers them.

    Numba numbers the functions of a process from 1, and the numbers tell functions of one name
    apart in the symbols of compiled code. Code that two processes stored would clash in a third:
    the linker takes the first function of a name for both, and one formula is drawn with another's
    step. Without the numbers nothing is stored.

    `numba.core.bytecode.FunctionIdentity._unique_ids`; Numba 0.61.2 to 0.68.1.
    """
    if not hasattr(FunctionIdentity, "_unique_ids"):
        return False
    FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))
    return True


class _CodeCache(_Cache):  # type: ignore[misc]
    """What a dispatcher of the CPU asks for code before it compiles, with a folder of its own.

    Numba's own class takes its folder from one variable of the process when it is made, names its
    files by numbers that two processes can both take, and trusts whatever a file holds.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def cache_path(self) -> str:
        return self._store.folder

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        add_runtime_symbols()
        return self._store.load(
            _key(sig, target_context.codegen()),
            lambda parts: _loaded(target_context, parts),
        )

    def save_overload(self, sig: Any, data: Any) -> None:
        if not (data.lifted or data.library.has_dynamic_globals):
            parts = vars(data.library).pop("parts", None) or data._reduce()
            self._store.save(_key(sig, data.codegen), dumps(parts))

    def enable(self) -> None:
        pass

    def disable(self) -> None:
        pass

    def flush(self) -> None:
        pass


def _key(signature: Any, codegen: Any) -> str:
    """Return what tells the code of a signature and CPU from others of the same program."""
    return repr((signature, codegen.magic_tuple()))


def keep_code(dispatcher: Any, store: Store) -> None:
    """Have a function that Numba compiles for the CPU look for its code in a store first.

    `Dispatcher._cache` and `numba.core.caching._Cache`, `CompileResult._reduce` and `_rebuild`,
    `CodeLibrary.has_dynamic_globals`, `Codegen.magic_tuple`, `numba.core.serialize.dumps`;
    Numba 0.61.2 to 0.68.1.
    """
    dispatcher._cache = _CodeCache(store)


def memory_of_its_own(context: Any) -> Any:
    """Return what Numba compiles for, with memory for code that is freed with the code.

    Numba has one piece of memory for all code of a process, and never frees any of it.

    `BaseContext.subtarget`, `CPUContext._internal_codegen` and its class; Numba 0.61.2 to 0.68.1.
    """
    return context.subtarget(_internal_codegen=type(context.codegen())("program"))


def without_source(made: Any, context: Any) -> Any:
    """Return compiled code as it would be loaded: machine code, without LLVM's and Numba's text.

    The text of a program takes a megabyte. `parts` of its library is what a store keeps.

    `CompileResult._reduce` and `_rebuild`, `CodeLibrary.has_dynamic_globals` and `_shared_module`,
    `BaseContext.remove_user_function`; Numba 0.61.2 to 0.68.1.
    """
    if made.lifted or made.library.has_dynamic_globals:
        return made
    parts = made._reduce()
    loaded = _loaded(context, parts)
    loaded.library.parts = parts
    with contextlib.suppress(KeyError):
        context.remove_user_function(made.entry_point)
    return loaded


def _loaded(context: Any, parts: Any) -> Any:
    loaded = CompileResult._rebuild(memory_of_its_own(context), *parts)
    loaded.library._shared_module = None  # what other functions would inline
    return loaded


def add_runtime_symbols() -> None:
    """Tell LLVM the addresses of Numba's helpers, which stored code calls.

    Numba does so when it makes itself ready to compile, which takes half a second: all that it
    knows of Python and NumPy is set up. Stored code needs only these addresses.

    `numba.core.runtime._nrt_python.c_helpers`; Numba 0.61.2 to 0.68.1.
    """
    for name, address in _nrt_python.c_helpers.items():
        llvmlite.binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def keep_kernel(kernel: Any, store: Store) -> None:
    """Have a CUDA kernel look for its code in a store first.

    `numba.cuda.dispatcher.CUDACache`, its `_impl`, `_cache_file` and `_index_key`;
    numba-cuda 0.30.4. Its class is kept, as the dispatcher asks it for more than code.
    """
    module = sys.modules[type(kernel).__module__]

    class KernelCache(module.CUDACache):  # type: ignore[name-defined, misc]
        def __init__(self, store: Store) -> None:
            self._store = store
            self._py_func = _key  # any function without a closure: the store's folder says it all
            self._impl = object.__new__(module.CUDACacheImpl)
            self._cache_path = store.folder
            self._launch_config_key = None
            self._launch_config_sensitive_flag = None
            self._launch_config_marker_path = os.path.join(store.folder, "launch-config-sensitive")
            self._enabled = True

        def _load_overload(self, sig: Any, target_context: Any) -> Any:
            return self._store.load(
                repr(self._index_key(sig, target_context.codegen())),
                lambda data: self._impl.rebuild(target_context, data),
            )

        def _save_overload(self, sig: Any, data: Any) -> None:
            pickled = sys.modules[module.CUDACache.__mro__[1].__module__].dumps(
                self._impl.reduce(data)
            )
            self._store.save(repr(self._index_key(sig, data.codegen)), pickled)

        def mark_launch_config_sensitive(self) -> bool:
            return False  # such a kernel is not stored

        def flush(self) -> None:
            pass

    kernel._cache = KernelCache(store)


def name_intrinsic(intrinsic: Any, name: str) -> None:
    """Give an intrinsic an identity that is the same in every process.

    Numba gives each a random one, with which stored code would not be found again.

    `_Intrinsic._set_uuid`; Numba 0.61.2 to 0.68.1.
    """
    intrinsic._set_uuid(name)


def declare(function: Any, result: Callable[..., Any]) -> None:
    """Have a function typed on the CPU by ``result(*types)``, before Numba's own declarations.

    `result` returns a type, or None for types that other declarations serve.

    `numba.core.typing.templates.AbstractTemplate`, its `metadata`, `infer`, `infer_global` and
    `signature`; Numba 0.61.2 to 0.68.1. The target "cpu" is more specific than Numba's "generic".
    """
    template = _quick_template(function, result)
    templates.infer(template)
    templates.infer_global(function, numba.types.Function(template))


def _quick_template(function: Any, result: Callable[..., Any]) -> Any:
    def generic(_template: Any, args: Any, kws: Any) -> Any:
        found = None if kws else result(*args)
        return None if found is None else templates.signature(found, *args)

    body = {"key": function, "metadata": {"target": "cpu"}, "generic": generic}
    return type(f"Quick_{function.__name__}", (templates.AbstractTemplate,), body)


def declare_for_now(
    function: Any,
    result: Callable[..., Any],
    lower: Callable[..., Any],
    options: dict[str, Any],
) -> None:
    """Declare a function until `forget`: see `declare`.

    ``lower(context, builder, signature, arguments)`` makes the code of a call. Where `result` gives
    None, Numba compiles the function with these options. `numba.extending` has no such thing: what
    it declares stays for ever, in lists of all targets.

    `make_overload_template`, `insert_global` of the typing context and `insert_func_defn` of
    `CPUContext`; Numba 0.61.2 to 0.68.1.
    """
    settings = {"nopython": True, **options}
    other = templates.make_overload_template(
        function, lambda *args, **kwargs: function, settings, False, "never"
    )
    whole = numba.types.Function((_quick_template(function, result), other))
    cpu_target.typing_context.insert_global(function, whole)
    cpu_target.target_context.insert_func_defn(
        [(lower, function, (numba.types.VarArg(numba.types.Any),))]
    )


def forget(function: Any) -> None:
    """Have Numba forget a function of `declare_for_now`, and the code that it made of it.

    `_lookup_global` and `_remove_global` of the typing context, `remove_user_function` and
    `_get_constants` of `CPUContext`, `OverloadSelector._cache`, and `_impl_cache` and the like of
    an overload; Numba 0.61.2 to 0.68.1.
    """
    typing, target = cpu_target.typing_context, cpu_target.target_context
    whole = typing._lookup_global(function)
    for template in whole.templates:
        for name in ("_impl_cache", "_compiled_overloads", "_inline_overloads"):
            vars(template).get(name, {}).clear()  # each refers to itself by way of its code
    typing._remove_global(function)
    target.remove_user_function(function)
    target._get_constants._cache.pop((whole,), None)


def typing_context() -> Any:
    """Return what Numba knows of types on the CPU.

    `numba.core.registry.cpu_target.typing_context`; Numba 0.61.2 to 0.68.1.
    """
    return cpu_target.typing_context


# --- Calling compiled code


class FunctionArgument:
    """A compiled function as an argument of another, for one signature.

    Numba would look up the types of a function at each call; this object has its type and address.

    `numba.core.types.function_type.CompileResultWAP`, `Dispatcher.overloads`, and the protocol of
    `_numba_type_` and `__wrapper_address__`; Numba 0.61.2 to 0.68.1.
    """

    def __init__(self, dispatcher: Any, signature: tuple[Any, ...]) -> None:
        dispatcher.compile(signature)
        self._numba_type_ = numba.types.FunctionType(numba.types.void(*signature))
        self._made = CompileResultWAP(dispatcher.overloads[signature])

    @classmethod
    def of(cls, dispatcher: Any, signature: tuple[Any, ...]) -> "FunctionArgument":
        """Return the argument of a function and signature; it is made once, in 0.3 ms."""
        made = _arguments.setdefault(dispatcher, {})
        if signature not in made:
            made[signature] = cls(dispatcher, signature)
        return made[signature]

    def __wrapper_address__(self) -> int:
        return self._made.address  # type: ignore[attr-defined, no-any-return]


_arguments: weakref.WeakKeyDictionary[Any, dict[tuple[Any, ...], FunctionArgument]]
_arguments = weakref.WeakKeyDictionary()


def part_of_array(context: Any, builder: Any, kind: Any, array: Any, name: str) -> Any:
    """Return a part of LLVM's value of an array: its "data", which is a pointer, or its "shape".

    `CPUContext.data_model_manager`, and `get_field_position` of a model; Numba 0.61.2 to 0.68.1.
    """
    return builder.extract_value(array, context.data_model_manager[kind].get_field_position(name))


# --- Watching Numba compile


def on_compiling(begin: Callable[[], None], end: Callable[[], None]) -> None:
    """Have functions called in a thread whenever it takes or gives back Numba's compiler lock.

    `numba.core.event` and the name of its event "numba:compiler_lock"; Numba 0.61.2 to 0.68.1.
    """

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            begin()

        def on_end(self, event: Any) -> None:
            end()

    event.register("numba:compiler_lock", Listener())


def before_compiling(call: Callable[[], None]) -> None:
    """Have a function called in a thread before it compiles for the CPU what no store has.

    The function may raise an error in place of compiling.

    `numba.core.event` and the name of its event "numba:compile"; Numba 0.61.2 to 0.68.1.
    """

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            call()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())


def is_compiling() -> bool:
    """Tell whether the calling thread still holds Numba's compiler lock, which it may nest.

    `numba.core.compiler_lock.global_compiler_lock.is_locked`; Numba 0.61.2 to 0.68.1.
    """
    return bool(global_compiler_lock.is_locked())


# --- Real and simulated GPUs


def choose_simulator(simulated: bool) -> None:
    """Choose between real and simulated GPUs for the next import of `numba.cuda`.

    Numba reads the choice once, from its configuration, and reads that again from the environment
    whenever a NUMBA_ variable changed: both are set.

    `numba.core.config.reload_config`, `sys.modules`; Numba 0.61.2 to 0.68.1, numba-cuda 0.30.4.
    """
    for name in list(sys.modules):
        if name == "numba.cuda" or name.startswith("numba.cuda."):
            del sys.modules[name]
    if hasattr(numba, "cuda"):
        del numba.cuda
    os.environ["NUMBA_ENABLE_CUDASIM"] = str(int(simulated))
    os.environ["NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"] = "0"  # a small picture has few threads
    numba.core.config.reload_config()


def use_built_in_cuda() -> None:
    """Have `numba.cuda` imported from Numba itself, where numba-cuda lacks CUDA's libraries.

    numba-cuda replaces Numba's package by an entry in `sys.meta_path`, and can't even simulate
    without these libraries. `NumbaCudaFinder`; numba-cuda 0.30.4.
    """
    sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "NumbaCudaFinder"]
    importlib.invalidate_caches()


def has_libnvvm() -> bool:
    """Tell whether CUDA's compiler is installed.

    `numba.cuda.cudadrv.nvvm.is_available`; numba-cuda 0.30.4.
    """
    nvvm = importlib.import_module("numba.cuda.cudadrv.nvvm")
    return bool(nvvm.is_available())


def add_row_stack() -> None:
    """Give NumPy 2.5 and newer the name that numba-cuda looks up in it on import.

    `numpy.row_stack`; numba-cuda up to 0.30.4.
    """
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # noqa: NPY201


def unwrap_simulated(value: Any) -> Any:
    """Return the NumPy array behind a simulated device array, and other values as they are.

    `FakeWithinKernelCUDAArray._item` and `FakeCUDAArray._ary`; Numba 0.61.2 to 0.68.1,
    numba-cuda 0.30.4. Of a named tuple, each part.
    """
    if isinstance(value, tuple):
        make: Any = type(value)
        return make(*map(unwrap_simulated, value))
    value = getattr(value, "_item", value)
    return getattr(value, "_ary", value)


@contextlib.contextmanager
def observed_simulator(observe: Callable[..., None]) -> Iterator[None]:
    """Have every access of a simulated kernel to an element of device memory observed.

    ``observe(block, thread, frame, stored, element)`` gets the indices (x, y, z) of the block, the
    number of the thread in its block, the frame of the kernel, whether the element is stored, and a
    NumPy view of the element. Shared and local memory are not observed.

    `numba.cuda.simulator.kernel.BlockThread` with its `blockIdx` and `thread_id`,
    `FakeWithinKernelCUDAArray` with its `_item`, `FakeCUDAArray._ary`;
    Numba 0.61.2 to 0.68.1, numba-cuda 0.30.4.
    """
    if not numba.config.ENABLE_CUDASIM:  # kernels run on a GPU
        yield
        return
    module: Any = importlib.import_module("numba.cuda.simulator.kernel")
    kind = module.FakeWithinKernelCUDAArray
    if hasattr(kind, "observers"):  # inside another observation
        kind.observers.append(observe)
        try:
            yield
        finally:
            kind.observers.remove(observe)
        return
    plain = kind.__getitem__, kind.__setitem__

    def seen(wrapped: Any, index: Any, frame: Any, stored: bool) -> None:
        thread = threading.current_thread()
        array = wrapped._item._ary
        indices = index if isinstance(index, tuple) else (index,)
        if isinstance(thread, module.BlockThread) and len(indices) == array.ndim:
            element = array[tuple(slice(i, i + 1 or None) for i in map(operator.index, indices))]
            at = thread.blockIdx
            for each in kind.observers:
                each((at.x, at.y, at.z), thread.thread_id, frame, stored, element)

    def load(wrapped: Any, index: Any) -> Any:
        value = plain[0](wrapped, index)  # first, because it checks the index
        seen(wrapped, index, sys._getframe(1), False)
        return value

    def store(wrapped: Any, index: Any, value: Any) -> None:
        plain[1](wrapped, index, value)
        seen(wrapped, index, sys._getframe(1), True)

    kind.__getitem__, kind.__setitem__, kind.observers = load, store, [observe]
    try:
        yield
    finally:
        kind.__getitem__, kind.__setitem__ = plain
        del kind.observers


@contextlib.contextmanager
def pretended_gpu(capability: tuple[int, int]) -> Iterator[None]:
    """Have real kernels compiled for a compute capability on a machine without a GPU.

    Kernels compile, and are not loaded.

    `numba.cuda.dispatcher.get_current_device` and `_Kernel.bind`, and
    `numba.cuda.cudadrv.devices.get_context`; numba-cuda 0.30.4.
    """
    dispatcher: Any = importlib.import_module("numba.cuda.dispatcher")
    devices: Any = importlib.import_module("numba.cuda.cudadrv.devices")
    card = types.SimpleNamespace(compute_capability=capability)
    before = dispatcher.get_current_device, devices.get_context, dispatcher._Kernel.bind
    dispatcher.get_current_device = lambda: card
    devices.get_context = lambda *_: types.SimpleNamespace(device=card)
    dispatcher._Kernel.bind = lambda _kernel: None
    try:
        yield
    finally:
        dispatcher.get_current_device, devices.get_context, dispatcher._Kernel.bind = before


def code_of_kernel(kernel: Any, signature: str, capability: tuple[int, int]) -> tuple[str, bytes]:
    """Return the PTX and the machine code of a kernel made by `numba.cuda.jit`, without a GPU.

    `CUDADispatcher.compile`, `_Kernel._codelibrary` with `get_asm_str` and `get_cubin`;
    numba-cuda 0.30.4.
    """
    with pretended_gpu(capability):
        made = kernel.compile(numba.core.sigutils.normalize_signature(signature)[0])
        library = made._codelibrary
        return library.get_asm_str(cc=capability), bytes(library.get_cubin(cc=capability).code)
