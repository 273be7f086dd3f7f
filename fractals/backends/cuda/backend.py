"""@cuda.jit kernels: device arrays, 2D grids, copies back; on a GPU or in Numba's simulator."""

import contextlib
import functools
import importlib
import os
import sys
import threading
import time

import numba
import numpy as np
from numba import types

from fractals.backends.code_cache import cached
from fractals.backends.cpu.simd.elementary import parts_overload, scaled_overload, teach_series
from fractals.backends.cpu.target import (
    compile_loop,
    cpu_target,
    make_target,
    number_overload,
    select_overload,
    sqrt_overload,
)
from fractals.backends.cuda.streams import LANES_A_GPU, Everywhere, Lanes
from fractals.errors import DeviceError, FractalsError
from fractals.kernels import elementary, primitives

BLOCK = (8, 8)  # threads; a warp covers 8x4 samples, whose orbits are of similar length
SIMULATED = ((1, 1), (4, 2))  # a simulated thread costs 0.1 ms: few, each with many elements


class CudaBackend:
    """Compiles programs as CUDA kernels and launches them.

    Several threads may use it at once, a lane each; they share the GPUs of these `indices` evenly.
    The simulator knows one GPU, and serves one thread at a time. `geometry` is the grid and the
    block of every launch; without it, a thread an element on a GPU, and one small block in the
    simulator. `steps` bounds a launch, as in `Backend`; `block` is the shape
    of the next launches.
    """

    def __init__(self, number, indices=(0,), simulated=False, geometry=None, steps=0):
        self.kind = "simulator" if simulated else "cuda"
        self.threads = LANES_A_GPU * len(indices)
        self.geometry = geometry or (SIMULATED if simulated else None)
        self.steps, self.block = steps, BLOCK
        self.real = np.dtype(number).type
        self._number, self._simulated = number, simulated
        self._several = len(indices) > 1
        self._kernel = _import_kernel(simulated)
        self._cuda = self._kernel.cuda
        self._lock = threading.RLock() if simulated else contextlib.nullcontext()
        self._lanes = Lanes(self._cuda, [0] * len(indices) if simulated else indices)
        with self._failing():
            self._lanes.here()
        if simulated:
            self.target = cpu_target(number)
        else:
            self.target = make_target(number, functools.cache(self._cuda.jit(device=True)))

    @property
    def lane(self):
        """The calling thread's."""
        return self._lanes.here()

    def compile(self, make_body, *options):
        """Return ``run(out, *arguments)``, which launches a kernel over the elements of `out`."""
        if self._simulated:
            # A thread's whole share runs compiled; indices are still checked.
            loop = compile_loop(make_body, self._number, options, checked=True)
            kernel = self._cuda.jit(self._kernel.make_kernel(lambda *a: loop(*map(_unwrap, a))))
        else:
            loop = None
            body = self._cuda.jit(device=True)(make_body(self.target, *options))
            kernel = cached(
                lambda cache: self._cuda.jit(self._kernel.make_kernel(body), cache=cache),
                *("cuda", self._number, make_body.__module__, make_body.__name__, *options),
            )
        launchers = {}

        def run(out, *arguments):
            with self._failing():
                lane = self.lane
                arguments = tuple(self._resolve(value, lane) for value in arguments)
                if loop and not loop.signatures:
                    # The simulator polls its threads without a pause, which slows compiling there.
                    values = map(_unwrap, (0, 0, 1, 1, out, *arguments))
                    loop.compile(tuple(numba.typeof(value) for value in values))
                key = lane, *out.shape[:2], *self.block
                if key not in launchers:
                    grid = -(-out.shape[1] // self.block[0]), -(-out.shape[0] // self.block[1])
                    geometry = self.geometry or (grid, self.block)
                    launchers[key] = kernel[(*geometry, lane.stream)]
                launchers[key](out, arguments)

        return run

    def join(self, work, dtype=None):
        """Return None: Python goes from tile to tile."""
        return None

    def empty(self, shape, dtype):
        """Return an uninitialised device array."""
        with self._failing(shape, dtype):
            return self.lane.empty(shape, dtype)

    def to_device(self, array):
        """Return a device array with a NumPy array's contents; of several GPUs, on each."""
        with self._failing(array.shape, array.dtype):
            lane = self.lane
            if self._several:
                return Everywhere(array)
            copy = lane.empty(array.shape, array.dtype)
            copy.copy_to_device(array, stream=lane.stream)
            return copy

    def to_host(self, array, into):
        """Copy a device array into a NumPy array; work begun before is then done."""
        with self._failing():
            lane = self.lane
            array = self._resolve(array, lane)
            staged = lane.staging(array.shape, array.dtype)
            array.copy_to_host(staged, stream=lane.stream)
            lane.stream.synchronize()
            into[...] = staged

    def synchronize(self):
        """Wait until what the calling thread began is done."""
        with self._failing():
            self.lane.stream.synchronize()

    def seconds(self, work):
        """Return what the GPU takes for what ``work()`` launches; the simulator, by the clock."""
        if self._simulated:
            begun = time.perf_counter()
            work()
            return time.perf_counter() - begun
        with self._failing():
            begin, end = self._cuda.event(), self._cuda.event()
            begin.record(self.lane.stream)
            work()
            end.record(self.lane.stream)
            end.synchronize()
            return begin.elapsed_time(end) / 1e3

    def _resolve(self, value, lane):
        if isinstance(value, tuple):  # a group of arrays
            return value._make(self._resolve(part, lane) for part in value)
        return value.on(self._cuda, lane) if isinstance(value, Everywhere) else value

    @contextlib.contextmanager
    def _failing(self, shape=(), dtype=np.uint8):
        """Turn what the driver raises into one line; in the simulator, let in one thread."""
        with self._lock, _failing(shape, dtype):
            yield


def _unwrap(value):
    """Return the NumPy array behind a simulated device array, and other values as they are.

    Of a named group of arrays, each.
    """
    if isinstance(value, tuple):
        return value._make(map(_unwrap, value))
    value = getattr(value, "_item", value)
    return getattr(value, "_ary", value)


def _import_kernel(simulated):
    """Import `numba.cuda`, real or simulated, whichever was imported before.

    Numba reads the choice once, from its configuration, and reads that again from the environment
    whenever a NUMBA_ variable changed: both are set.
    """
    name = "fractals.backends.cuda.kernel"
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
    """Tell numba.cuda what the functions of `fractals.kernels.formula` are."""
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

    def two_to_overload(k, like):
        if like == types.float32:
            word, real, fraction, bias = types.int32, libdevice.int_as_float, 23, 127
        else:
            word, real, fraction, bias = types.int64, libdevice.longlong_as_double, 52, 1023
        return lambda k, like: real(word(max(k + bias, 0)) << fraction)

    def nearest_overload(x):
        if x == types.float32:
            return lambda x: libdevice.rintf(x)
        return lambda x: libdevice.rint(x)

    overload(primitives.fma, target="cuda")(fma_overload)
    overload(elementary.nearest, target="cuda")(nearest_overload)
    overload(elementary.parts, target="cuda")(parts_overload)
    overload(elementary.scaled, target="cuda")(scaled_overload)
    teach_series(overload, target="cuda")
    overload(primitives.two_to, target="cuda")(two_to_overload)
    overload(primitives.diffabs, target="cuda")(lambda c, d: primitives.diffabs)
    overload(primitives.split, target="cuda")(split_overload)
    overload(primitives.sqrt, target="cuda")(sqrt_overload)
    overload(primitives.select, target="cuda")(select_overload)
    overload(primitives.number, target="cuda")(number_overload)


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
