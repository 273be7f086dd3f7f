"""@cuda.jit kernels: device arrays, 2D grids, copies back; on a GPU or in Numba's simulator."""

import contextlib
import functools
import importlib
import os
import sys

import numba
import numpy as np
from numba import types

from fractals import formula
from fractals.backends.cache import caching
from fractals.backends.jit import (
    compile_loop,
    cpu_target,
    make_target,
    number_overload,
    select_overload,
)
from fractals.errors import DeviceError, FractalsError

BLOCK = (8, 8)  # threads; a warp covers 8x4 samples, whose orbits are of similar length
SIMULATED = ((1, 1), (4, 2))  # a simulated thread costs 0.1 ms: few, each with many elements


class CudaBackend:
    """Compiles programs as CUDA kernels and launches them.

    `geometry` is the grid and the block of every launch; without it, a thread an element on a GPU,
    and one small block in the simulator.
    """

    threads = 0

    def __init__(self, number, index=0, simulated=False, geometry=None):
        self.kind = "simulator" if simulated else "cuda"
        self.geometry = geometry or (SIMULATED if simulated else None)
        self.real = np.dtype(number).type
        self._number, self._simulated = number, simulated
        self._kernel = _import_kernel(simulated)
        self._cuda = self._kernel.cuda
        if simulated:
            self.target = cpu_target(number)
        else:
            with _failing():
                self._cuda.select_device(index)
            self.target = make_target(number, functools.cache(self._cuda.jit(device=True)))

    def compile(self, make_body, *options):
        """Return ``run(out, *arguments)``, which launches a kernel over the elements of `out`."""
        if self._simulated:
            # A thread's whole share runs compiled; indices are still checked.
            loop = compile_loop(make_body, self._number, options, checked=True)
            kernel = self._cuda.jit(self._kernel.make_kernel(lambda *a: loop(*map(_unwrap, a))))
        else:
            loop = None
            body = self._cuda.jit(device=True)(make_body(self.target, *options))
            with caching(
                "cuda", self._number, make_body.__module__, make_body.__name__, *options
            ) as cache:
                kernel = self._cuda.jit(self._kernel.make_kernel(body), cache=cache)

        def run(out, *arguments):
            height, width = out.shape[:2]
            grid = -(-width // BLOCK[0]), -(-height // BLOCK[1])
            if loop and not loop.signatures:
                # The simulator polls its threads without a pause, which makes compiling there slow.
                loop.compile(tuple(numba.typeof(_unwrap(a)) for a in (0, 0, 1, 1, out, *arguments)))
            with _failing():
                kernel[self.geometry or (grid, BLOCK)](out, arguments)

        return run

    def empty(self, shape, dtype):
        """Return an uninitialised device array."""
        with _failing(shape, dtype):
            return self._cuda.device_array(shape, dtype)

    def to_device(self, array):
        """Return a device array with a NumPy array's contents."""
        with _failing(array.shape, array.dtype):
            return self._cuda.to_device(array)

    def to_host(self, array, into):
        """Copy a device array into a NumPy array; work begun before is then done."""
        with _failing():
            if into.flags.c_contiguous:
                array.copy_to_host(into)
            else:
                into[...] = array.copy_to_host()

    def synchronize(self):
        """Wait until the kernels that were launched are done."""
        with _failing():
            self._cuda.synchronize()


def _unwrap(value):
    """Return the NumPy array behind a simulated device array, and other values as they are."""
    value = getattr(value, "_item", value)
    return getattr(value, "_ary", value)


def _import_kernel(simulated):
    """Import `numba.cuda`, real or simulated, whichever was imported before.

    Numba reads the choice once, from its configuration, and reads that again from the environment
    whenever a NUMBA_ variable changed: both are set.
    """
    name = "fractals.backends.kernel"
    if name in sys.modules and simulated == sys.modules[name].SIMULATED:
        return sys.modules[name]
    _forget_cuda(name)
    os.environ["NUMBA_ENABLE_CUDASIM"] = str(int(simulated))
    os.environ["NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"] = "0"  # small pictures are no mistake
    numba.core.config.reload_config()
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # noqa: NPY201 - numba-cuda up to 0.30.4 looks it up; NumPy 2.5 dropped it
    try:
        kernel = importlib.import_module(name)
        if not simulated:
            _teach_cuda()
        return kernel
    except Exception as error:
        _forget_cuda(name)
        if not simulated:
            raise DeviceError(
                f"a GPU is there but numba.cuda can't use it ({_first_line(error)}); "
                "pip install 'fractals-numba[gpu]' brings what it needs"
            ) from error
    # numba-cuda without CUDA's libraries can't even simulate: take the simulator inside Numba.
    sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "NumbaCudaFinder"]
    return importlib.import_module(name)


def _forget_cuda(kernel):
    for name in list(sys.modules):
        if name == kernel or name == "numba.cuda" or name.startswith("numba.cuda."):
            del sys.modules[name]
    if hasattr(numba, "cuda"):
        del numba.cuda


def _teach_cuda():
    """Tell numba.cuda what the functions of `fractals.formula` are."""
    from numba.cuda import libdevice
    from numba.cuda.cudadrv import nvvm
    from numba.cuda.extending import overload

    if not nvvm.is_available():
        raise DeviceError("libNVVM is missing")

    def fma_overload(a, b, c):
        if a == types.float32:  # libdevice.fma would compute it in float64
            return lambda a, b, c: libdevice.fmaf(a, b, c)
        return lambda a, b, c: libdevice.fma(a, b, c)

    def split_overload(v):
        if v == types.float32:
            word, real, fraction, bias = libdevice.float_as_int, libdevice.int_as_float, 23, 127
        else:
            word, real = libdevice.double_as_longlong, libdevice.longlong_as_double
            fraction, bias = 52, 1023
        low, high, one = (1 << fraction) - 1, 2 * bias + 1, bias << fraction

        def split(v):
            bits = word(v)
            return real((bits & low) | one), ((bits >> fraction) & high) - bias

        return split

    overload(formula.fma, target="cuda")(fma_overload)
    overload(formula.split, target="cuda")(split_overload)
    overload(formula.select, target="cuda")(select_overload)
    overload(formula.number, target="cuda")(number_overload)


@contextlib.contextmanager
def _failing(shape=(), dtype=np.uint8):
    """Turn what the driver raises into one line for the user."""
    try:
        yield
    except Exception as error:
        if "OUT_OF_MEMORY" in str(error) or isinstance(error, MemoryError):
            need = np.prod(shape, dtype=np.int64) * np.dtype(dtype).itemsize / 2**20
            raise FractalsError(
                f"the GPU is out of memory (asked for {need:.0f} MiB more): "
                "free some of it, draw a smaller --size, or use --cpu"
            ) from error
        if type(error).__module__.startswith(("numba.cuda", "cuda.")):
            raise FractalsError(
                f"the GPU failed: {_first_line(error)}; fractals devices tells what is there"
            ) from error
        raise


def _first_line(error):
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
