"""@cuda.jit kernels: device arrays, 2D grids, copies back; on a GPU or in a simulator."""

import atexit
import contextlib
import functools
import re
import threading
import time

import numpy as np

from fractals.backends import probe
from fractals.backends.base import Run, Stages
from fractals.backends.compilation import first_launch
from fractals.backends.cpu.programs import program_of
from fractals.backends.cuda.kernel import (
    CARD,
    card_kernel,
    card_target,
    find,
    first_line,
    make_kernel,
)
from fractals.backends.streams import Errors, Gpu, StreamBackend, StreamSlot

BLOCK = (8, 8)  # threads; a warp covers 8x4 samples, whose orbits are of similar length
LAUNCHING = threading.Lock()  # Numba compiles, loads and begins a kernel without locks of its own
SIMULATED = ((1, 1), (4, 2))  # a simulated thread costs 0.02 ms: few, each with many elements


def _is_of_the_driver(error):
    named = "CUDA_ERROR_" in str(error)  # also where a RuntimeError says it
    return named or type(error).__module__.startswith((CARD, "cuda."))


ERRORS = Errors(
    is_own=_is_of_the_driver,
    is_out_of_memory=lambda e: "OUT_OF_MEMORY" in str(e) or isinstance(e, MemoryError),
    line=first_line,
    fatal=re.compile(
        r"ILLEGAL_ADDRESS|LAUNCH_TIMEOUT|LAUNCH_FAILED|ASSERT|HARDWARE_STACK|ILLEGAL_INSTRUCTION"
        r"|MISALIGNED|INVALID_ADDRESS_SPACE|INVALID_PC|UNCORRECTABLE|CONTAINED|TENSOR_MEMORY_LEAK"
        r"|CONTEXT_IS_DESTROYED|DEINITIALIZED|DEVICE_UNAVAILABLE|EXTERNAL_DEVICE|ERROR_UNKNOWN"
        r"|NO_DEVICE|INVALID_DEVICE|MPS_"
    ),
)


class CudaSlot(StreamSlot):
    """A stream of `numba.cuda`."""

    def __init__(self, cuda, gpu):
        super().__init__(gpu)
        self.stream, self._cuda = cuda.stream(), cuda
        self._laps = []

    @functools.cached_property
    def _done(self):
        return self._cuda.event(timing=False)

    def _allocate(self, size):
        memory = self._cuda.device_array(size, np.uint8, stream=self.stream)
        address, _ = memory.__cuda_array_interface__["data"]
        return address, memory

    def _array(self, block, shape, dtype):
        described = {"shape": shape, "typestr": np.dtype(dtype).str, "data": (block.address, False)}
        block.__cuda_array_interface__ = {**described, "strides": None, "version": 3}
        return self._cuda.as_cuda_array(block, sync=False)

    @staticmethod
    def block_of(array):
        """Return the block in which a device array lies."""
        return array.gpu_data.owner

    def copy_in(self, array, into):
        """Begin to copy a NumPy array, which may change afterwards, into a device array."""
        into.copy_to_device(array, stream=self.stream)

    def copy_out(self, array, into):
        """Begin to copy a device array into page-locked memory."""
        array.copy_to_host(into, stream=self.stream)

    def synchronize(self):
        """Wait until the stream has done what it was given."""
        self.stream.synchronize()

    def wait_for(self, other):
        """Have the stream wait for what another of its GPU was given until now."""
        other._done.record(other.stream)
        other._done.wait(self.stream)

    def _page_locked(self, size):
        return self._cuda.pinned_array(size, dtype=np.uint8)

    def lap(self, k):
        """Record the k-th event of a clock, and return it."""
        while len(self._laps) <= k:
            self._laps.append(self._cuda.event())
        self._laps[k].record(self.stream)
        return self._laps[k]

    def seconds_between(self, begin, end):
        """Return the seconds between two events of a clock."""
        return begin.elapsed_time(end) / 1e3


class CudaGpu(Gpu):
    """A GPU, with the context in which this process uses it."""

    errors = ERRORS

    def __init__(self, cuda, index):
        super().__init__(index)
        self._cuda = cuda
        self._context = self._cleanup = None

    def _slot(self):
        return CudaSlot(self._cuda, self)

    def _wait(self):
        self._context.synchronize()

    def _select(self):
        self._cuda.select_device(self.index)
        if not self._context:
            self._context = self._cuda.current_context()
            atexit.register(self.free_nothing)

    def bind_again(self):
        """Make the GPU the current one again, where other code of the thread has changed it."""
        self.bind()
        if self._cuda.current_context() != self._context:
            self._select()

    def free_nothing(self):
        """Have Numba call the driver no more to free what Python's collector finds.

        Such calls fail in the end of the process, when no thread may have a context, and once the
        GPU has failed.
        """
        if not self._cleanup:
            self._cleanup = self._context.defer_cleanup()
            self._cleanup.__enter__()

    def lose(self, line):
        """Note why the GPU can't be used any more."""
        super().lose(line)
        self.free_nothing()


class SimulatedGpu(CudaGpu):
    """What a `CudaGpu` is in the simulator, where each call returns when its work is done."""

    def take(self):
        """Return a slot for a thread."""
        return SimulatedSlot(self._cuda, self)

    def bind(self):
        """Do nothing."""

    bind_again = bind


class SimulatedSlot(CudaSlot):
    """What a `CudaSlot` is in the simulator."""

    def empty(self, shape, dtype):
        """Return an uninitialised device array."""
        return self._cuda.device_array(shape, dtype)

    def reads(self, array):
        """Do nothing."""

    def copy_to_host(self, arrays):
        """Return copies of device arrays."""
        return [array.copy_to_host() for array in arrays]


gpu_of = functools.cache(CudaGpu)


class CudaBackend(StreamBackend):
    """Compiles programs as CUDA kernels and launches them.

    A simulator has one GPU, and Numba's serves one thread at a time.

    `number`: "float64" or "float32". `indices`: numbers of the GPUs. `simulated`: whether a
    simulator takes the place of the GPU. `geometry`: grid and block of every launch. The default is
    a thread per element on a GPU, and one small block in the simulator. `steps`: most iterations of
    a launch, as in `Backend`. `block`: shape of the blocks of the next launches on a GPU. `cuda`:
    Numba's, or that of its simulator.
    """

    def __init__(self, number, indices=(0,), simulated=False, geometry=None, steps=0, threads=0):
        self.kind = "simulator" if simulated else "cuda"
        self.geometry = geometry or (SIMULATED if simulated else None)
        self.block, self._simulated = BLOCK, simulated
        self.cuda = find(simulated)
        alone = simulated and probe.numba_simulates()
        self._lock = threading.RLock() if alone else contextlib.nullcontext()
        simulator = SimulatedGpu(self.cuda, 0)
        gpus = [simulator if simulated else gpu_of(self.cuda, index) for index in indices]
        super().__init__(number, gpus, steps, threads)

    @functools.cached_property
    def target(self):
        """How functions are compiled."""
        from fractals.backends.cpu.target import cpu_target

        return cpu_target(self._number) if self._simulated else card_target(self.cuda, self._number)

    def compile(self, make_body, *options):
        """Return ``run(out, *arguments)``, which launches a kernel over the elements of `out`."""
        if self._simulated:
            # A thread's whole share runs compiled; indices are still checked.
            loop = program_of(make_body, self._number, options, loop=True, checked=True)
            body = lambda *arguments: loop(*map(_host_memory, arguments))  # noqa: E731
            kernel = make_kernel(self.cuda, body)
        else:
            loop = None
            kernel = card_kernel(self.cuda, self._number, make_body, options)
        launchers, ready = {}, False

        def run(out, *arguments):
            nonlocal ready
            with self._failing():
                slot = self.slot
                out, *arguments = (self._resolve(value, slot) for value in (out, *arguments))
                arguments = tuple(arguments)
                height, width = (out[0] if isinstance(out, tuple) else out).shape[:2]
                key = slot, height, width, *self.block
                if key not in launchers:
                    grid = -(-width // self.block[0]), -(-height // self.block[1])
                    geometry = self.geometry or (grid, self.block)
                    launchers[key] = kernel[(*geometry, slot.stream)]
                if loop:
                    launchers[key](out, arguments)
                    return
                with LAUNCHING, contextlib.nullcontext() if ready else first_launch():
                    launchers[key](out, arguments)
                ready = True

        return Run(run, "kernel")

    def clock(self):
        """Return a clock that starts here, for the calling thread."""
        return Stages() if self._simulated else super().clock()

    def seconds(self, work, before=None):
        """Return what the GPU takes for what ``work()`` launches, and whether the host is left out.

        ``before()`` launches something that keeps the GPU busy while the host launches the work:
        launch, event, launch, event. The GPU then goes from one launch to the next, and what it
        takes is all that lies between the events. Without `before`, and where the GPU has reached
        the first event too early, it may have waited for the host. The simulator goes by the clock.
        """
        if self._simulated:
            begun = time.perf_counter()
            work()
            return time.perf_counter() - begun, False
        with self._failing():
            begin, end = self.cuda.event(), self.cuda.event()
            if before:
                before()
            begin.record(self.slot.stream)
            work()
            end.record(self.slot.stream)
            queued = not begin.query()
            end.synchronize()
            return begin.elapsed_time(end) / 1e3, queued

    def _is_array(self, value):
        return not self._simulated and hasattr(value, "gpu_data")

    @contextlib.contextmanager
    def _failing(self, shape=(), dtype=np.uint8):
        """Turn what the driver raises into one line; in the simulator, let in one thread."""
        with self._lock, super()._failing(shape, dtype):
            yield


def _host_memory(value):
    """Return the NumPy array behind an array of a simulated kernel, without a copy.

    Of a named tuple each part is such; other values are as they are.
    """
    if isinstance(value, tuple):
        return type(value)(*map(_host_memory, value))
    if isinstance(value, np.generic) or not hasattr(value, "__array_interface__"):
        return value
    return np.asarray(value)
