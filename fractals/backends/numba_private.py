"""The private names of numba-cuda that GPUs and the instruments need, a function each.

Private means: not in Numba's documentation, so a release may change it. Each function names the
versions that it was tried with, and has a test in tests/backends/test_ptx.py. No picture of the CPU
or of the simulator needs one; `fractals.backends.numba_compiler` only saves time.
"""

import contextlib
import functools
import importlib
import os
import pickle
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, Protocol


class KernelStore(Protocol):
    """Where compiled code is kept."""

    folder: str

    def load(self, key: str, rebuild: Callable[[bytes], Any]) -> Any:
        """Return what `rebuild` makes of the data kept under a key; None where there are none."""

    def save(self, key: str, data: bytes) -> None:
        """Keep data."""


# --- Storing compiled code


def keep_kernel(kernel: Any, store: KernelStore, compiled: Callable[[], None]) -> None:
    """Have a CUDA kernel look for its code in a store first.

    ``compiled()`` is called once before the kernel is compiled, because there is no code.

    `numba.cuda.dispatcher.CUDACache`, its `load_overload`, `_impl`, `_cache_file` and `_index_key`;
    numba-cuda 0.30.4. Its class is kept, as the dispatcher asks it for more than code.
    `load_overload` would also import all that compiling takes, a third of a start.
    """
    module = sys.modules[type(kernel).__module__]
    compiled = functools.cache(compiled)

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

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            found = self._store.load(
                repr(self._index_key(sig, target_context.codegen())),
                lambda data: self._impl.rebuild(target_context, pickle.loads(data)),
            )
            if found is None:
                compiled()
            return found

        def _save_overload(self, sig: Any, data: Any) -> None:
            pickled = sys.modules[module.CUDACache.__mro__[1].__module__].dumps(
                self._impl.reduce(data)
            )
            self._store.save(repr(self._index_key(sig, data.codegen)), pickled)

        def mark_launch_config_sensitive(self) -> bool:
            return False  # Numba does not store kernels that depend on the launch.

        def flush(self) -> None:
            pass

    kernel._cache = KernelCache(store)


# --- Kernels for a GPU


def version_of_cuda() -> str:
    """Return the version of numba-cuda; nothing of a package that stands for it.

    `numba_cuda.__version__`; numba-cuda 0.30.4.
    """
    with contextlib.suppress(ImportError):
        return str(importlib.import_module("numba_cuda").__version__)
    return ""


def has_libnvvm() -> bool:
    """Tell whether CUDA's compiler is installed.

    `numba.cuda.cudadrv.nvvm.is_available`; numba-cuda 0.30.4.
    """
    nvvm = importlib.import_module("numba.cuda.cudadrv.nvvm")
    return bool(nvvm.is_available())


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
    types_of = importlib.import_module("numba.core.sigutils").normalize_signature
    with pretended_gpu(capability):
        made = kernel.compile(types_of(signature)[0])
        library = made._codelibrary
        return library.get_asm_str(cc=capability), bytes(library.get_cubin(cc=capability).code)
