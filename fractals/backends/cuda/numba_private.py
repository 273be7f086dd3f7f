"""The private names of numba-cuda that GPUs and the instruments need, a function each.

Private means: not in Numba's documentation, so a release may change it. Each function names the
versions that it was tried with, and has a test in tests/backends/test_ptx.py. No picture of the CPU
or of the simulator needs one; `fractals.backends.numba_compiler` only saves time.
"""

import contextlib
import functools
import importlib
import importlib.metadata
import types
from collections.abc import Iterator
from typing import Any

# --- Kernels for a GPU


@functools.cache
def version_of_cuda() -> str:
    """Return the versions of numba-cuda and of CUDA's compiler, as far as packages brought them.

    Their names among the installed packages; numba-cuda 0.30.4.
    """
    found = []
    for name in ("numba-cuda", "nvidia-nvvm", "nvidia-cuda-nvcc-cu12"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(importlib.metadata.version(name))
    return " ".join(found)


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


def compiled_kernel(kernel: Any, arguments: tuple[Any, ...], capability: tuple[int, int]) -> Any:
    """Return Numba's object of the kernel of a program; nothing is loaded.

    `arguments`: ``(out, *others)``, of which the kernel takes the others as one tuple, with NumPy's
    arrays in place of those of a card. `capability`: the compute capability that it compiles for.

    `CUDADispatcher.compile`; numba-cuda 0.30.4.
    """
    import numba

    out, *others = arguments
    with pretended_gpu(capability):
        return kernel.compile((numba.typeof(out), numba.typeof(tuple(others))))


def code_of(made: Any, capability: tuple[int, int]) -> tuple[str, bytes]:
    """Return the name and the machine code of a kernel that `compiled_kernel` made.

    The compute capability may be another one than there.

    `_Kernel.entry_name` and `_codelibrary` with `get_cubin`; numba-cuda 0.30.4.
    """
    with pretended_gpu(capability):
        return str(made.entry_name), bytes(made._codelibrary.get_cubin(cc=capability).code)


def text_of(made: Any, capability: tuple[int, int]) -> bytes:
    """Return the PTX from which the machine code of such a kernel is made.

    `_Kernel._codelibrary` with `get_lto_ptx`; numba-cuda 0.30.4.
    """
    with pretended_gpu(capability):
        return bytes(made._codelibrary.get_lto_ptx(cc=capability).encode())


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
