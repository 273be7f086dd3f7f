"""The one place that chooses the module `cuda`, and the one CUDA kernel."""

import functools
import importlib
import importlib.util
import os
import re
import sys
import types
from collections.abc import Callable
from typing import Any

from fractals.backends import numba_private, probe
from fractals.backends.code_cache import program
from fractals.backends.compilation import allow_nested_calls, announce
from fractals.backends.cuda import simulator
from fractals.errors import DeviceError, to_install

# Of numba-cuda. Its successor is "numba_cuda_mlir.cuda", and AMD's package "numba.hip".
# docs/explanation/gpu-without-a-gpu.md says what was tried.
CARD = "numba.cuda"


def find(simulated):
    """Return the module `cuda`: that of a card; or the simulator, Numba's where the user asks.

    NUMBA_ENABLE_CUDASIM=1 asks for Numba's. Raises DeviceError: the module can't be used.
    """
    if simulated and not probe.numba_simulates():
        return simulator
    cuda, problem = _imported()
    if not problem:
        from numba import config

        if config.ENABLE_CUDASIM and not simulated:
            problem = "NUMBA_ENABLE_CUDASIM was set when it was imported"
        elif simulated and not config.ENABLE_CUDASIM:
            problem = "it was imported before NUMBA_ENABLE_CUDASIM was set"
    if problem and simulated:
        raise DeviceError(f"no simulator of Numba ({problem}): unset NUMBA_ENABLE_CUDASIM")
    if problem:
        raise DeviceError(
            f"a GPU is there but {CARD} can't use it ({problem}); "
            f"{to_install('gpu')} brings what it needs"
        )
    return cuda


@functools.cache
def _imported():
    """Return Numba's module with what our programs need, and what is wrong with it."""
    try:
        from numba import config

        os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
        config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # a small picture has few threads
        cuda = importlib.import_module(CARD)
        if not config.ENABLE_CUDASIM:
            if CARD == "numba.cuda" and importlib.util.find_spec("numba_cuda") is None:
                return None, "numba-cuda is not installed"  # Numba's own module lacks what we need
            if not numba_private.has_libnvvm():
                return None, "libNVVM is missing"
        return cuda, ""
    except Exception as error:
        return None, first_line(error)


def stand_in(cuda: Any) -> Callable[[], None]:
    """Have ``from numba import cuda`` give this module; return a function that ends this."""
    import numba

    def put(module):
        sys.modules["numba.cuda"] = numba.cuda = module
        if module is None:
            del sys.modules["numba.cuda"], numba.cuda

    before = sys.modules.get("numba.cuda")
    put(cuda)
    return functools.partial(put, before)


def first_line(error):
    """Return the driver's name of an error and the call that failed, or the first line."""
    text = str(error).strip()
    if lacking := re.search(r"function (\w+) is not found", text):
        return f"the driver is too old (it has no {lacking[1]}): update it"
    if name := re.search(r"CUDA_ERROR_\w+", text):
        call = re.search(r"Call to (\w+)", text)
        return f"{name[0]} in {call[1]}" if call else name[0]
    lines = text.splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


cuda = body = None  # stand for the globals of each kernel


def kernel(out, arguments):
    """Fill a thread's share of the elements of `out`."""
    x, y = cuda.grid(2)
    dx, dy = cuda.gridsize(2)
    body(x, y, dx, dy, out, *arguments)


def make_kernel(cuda, body):
    """Return the kernel that runs a body; `cuda` is a global, which Numba's simulator replaces."""
    names = {"__name__": __name__, "cuda": cuda, "body": body}
    return cuda.jit(types.FunctionType(kernel.__code__, names))


def give_body(kernel, make_body):
    """Give a kernel of `make_kernel` its body, which ``make_body()`` returns."""
    kernel.py_func.__globals__["body"] = make_body()


@functools.cache
def register_overloads(cuda):
    """Teach a card's module our primitives, which it needs to compile."""
    from fractals.backends.cuda import overloads

    overloads.register(cuda)


def add(array, index, value):
    """Add to an element as one step: `fractals.kernels.Target.add`."""
    cuda.atomic.add(array, index, value)


def make_add(cuda):
    """Return `add` for a module `cuda`."""
    return types.FunctionType(add.__code__, {"__name__": __name__, "cuda": cuda})


@functools.cache
def card_target(cuda, number):
    """Return the target for kernels of a card; `number` is "float64" or "float32"."""
    from numba import uint32, uint64

    from fractals.backends.cpu.target import make_target

    jit = functools.cache(cuda.jit(device=True))
    return make_target(number, jit, jit(make_add(cuda)), uint32, uint64)


def card_kernel(cuda, number, make_body, options):
    """Return the kernel of a program for a card, whose code is kept on the disk."""

    def body():
        announce()
        allow_nested_calls()
        register_overloads(cuda)
        return cuda.jit(device=True)(make_body(card_target(cuda, number), *options))

    def make(store):
        if not (store and store.kept):
            return make_kernel(cuda, body())
        kernel = make_kernel(cuda, None)
        # A kernel whose code is kept needs no body, and no more of Numba than launches it.
        numba_private.keep_kernel(kernel, store, functools.partial(give_body, kernel, body))
        return kernel

    # The folder on the disk is not named by the version of numba-cuda.
    version = numba_private.version_of_cuda()
    return program(make, "cuda", version, number, make_body, *options, scope=cuda)
