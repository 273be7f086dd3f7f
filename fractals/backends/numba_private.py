"""The private names of Numba and numba-cuda that GPUs and the lessons need, a function each.

Private means: not in Numba's documentation, so a release may change it. Each function names the
versions that it was tried with, and has a test in tests/backends/test_numba_private.py. No picture
of the CPU or of the simulator needs one; `fractals.backends.numba_compiler` only saves time.
"""

import contextlib
import importlib
import operator
import os
import pickle
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numba
import numpy as np


class KernelStore(Protocol):
    """Where compiled code is kept."""

    folder: str

    def load(self, key: str, rebuild: Callable[[bytes], Any]) -> Any:
        """Return what `rebuild` makes of the data kept under a key; None where there are none."""

    def save(self, key: str, data: bytes) -> None:
        """Keep data."""


# --- Storing compiled code


def keep_kernel(kernel: Any, store: KernelStore) -> None:
    """Have a CUDA kernel look for its code in a store first.

    `numba.cuda.dispatcher.CUDACache`, its `_impl`, `_cache_file` and `_index_key`;
    numba-cuda 0.30.4. Its class is kept, as the dispatcher asks it for more than code.
    """
    module = sys.modules[type(kernel).__module__]

    class KernelCache(module.CUDACache):  # type: ignore[name-defined, misc]
        def __init__(self, store: KernelStore) -> None:
            self._store = store
            self._py_func = keep_kernel  # any function without a closure
            self._impl = object.__new__(module.CUDACacheImpl)
            self._cache_path = store.folder
            self._launch_config_key = None
            self._launch_config_sensitive_flag = None
            self._launch_config_marker_path = os.path.join(store.folder, "launch-config-sensitive")
            self._enabled = True

        def _load_overload(self, sig: Any, target_context: Any) -> Any:
            return self._store.load(
                repr(self._index_key(sig, target_context.codegen())),
                lambda data: self._impl.rebuild(target_context, pickle.loads(data)),
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


# --- Real and simulated GPUs


def choose_simulator(simulated: bool) -> None:
    """Choose between real and simulated GPUs for the next import of `numba.cuda`.

    Numba reads the choice once, from its configuration, and reads that again from the environment
    whenever a NUMBA_ variable changed: both are set.
    """
    for name in list(sys.modules):
        if name == "numba.cuda" or name.startswith("numba.cuda."):
            del sys.modules[name]
    if hasattr(numba, "cuda"):
        del numba.cuda
    os.environ["NUMBA_ENABLE_CUDASIM"] = str(int(simulated))
    os.environ["NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"] = "0"  # a small picture has few threads
    numba.config.ENABLE_CUDASIM = int(simulated)
    numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0


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


class _Interface:
    """What NumPy makes an array of, without a copy."""

    def __init__(self, array: Any) -> None:
        self._array = array  # keeps the memory
        self.__array_interface__ = array.__array_interface__


def unwrap_simulated(value: Any) -> Any:
    """Return the NumPy array behind a simulated device array, and other values as they are.

    Of a named tuple, each part.
    """
    if isinstance(value, tuple):
        make: Any = type(value)
        return make(*map(unwrap_simulated, value))
    if isinstance(value, np.ndarray | np.generic) or not hasattr(value, "__array_interface__"):
        return value
    return np.asarray(_Interface(value))


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
