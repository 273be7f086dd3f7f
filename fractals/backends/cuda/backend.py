"""@cuda.jit kernels: device arrays, 2D grids, copies back; on a GPU or in a simulator."""

import contextlib
import functools
import itertools
import threading
import time
import weakref

import numpy as np

from fractals.backends import numba_private, probe
from fractals.backends.base import Run
from fractals.backends.code_cache import program
from fractals.backends.compilation import compiling
from fractals.backends.cpu.programs import program_of
from fractals.backends.cuda.kernel import CARD, find, first_line, make_kernel
from fractals.errors import FractalsError

# --- Where a thread's work on a GPU goes: a stream, and device memory that is used again.
#
# Two threads a GPU, a stream each, keep it busy: while the tile of one is copied to the host and
# encoded, that of the other is computed. A stream does its work in the order in which it was given,
# so a device array that Python has freed can be reused at once, even if the GPU still works on it.
# Freed arrays are pooled, because cudaMalloc would synchronise with the GPU.

STREAMS_PER_GPU = 2
_bound = threading.local()


class StreamSlot:
    """A stream of a GPU, and the memory of the threads that use it, one after the other."""

    def __init__(self, cuda, index):
        self.index = index
        self.stream = cuda.stream()
        self._cuda = cuda
        self._free = {}  # shape and type -> device arrays that nobody uses
        self._staging = None

    def empty(self, shape, dtype):
        """Return an uninitialised device array, which goes back to the pool once it is freed."""
        free = self._free.setdefault((shape, np.dtype(dtype)), [])
        whole = free.pop() if free else self._cuda.device_array(shape, dtype, stream=self.stream)
        lent = whole.reshape(*shape)
        weakref.finalize(lent, free.append, whole).atexit = False
        return lent

    def staging(self, shape, dtype):
        """Return a page-locked host array, valid until the next call.

        A copy to any other array keeps the calling thread waiting.
        """
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self._staging is None or self._staging.size < size:
            self._staging = self._cuda.pinned_array(max(size, 1), dtype=np.uint8)
        return self._staging[:size].view(dtype).reshape(shape)


class StreamPool:
    """The slots of one GPU or several; a thread takes a slot at its first use, until it ends."""

    def __init__(self, cuda, indices):
        self._cuda = cuda
        self._next_index = itertools.cycle(indices)
        self._free = []
        self._lock = threading.Lock()
        self._taken = threading.local()

    def here(self):
        """Return the slot of the calling thread."""
        if not hasattr(self._taken, "hold"):
            with self._lock:
                slot = self._free.pop() if self._free else None
                index = slot.index if slot else next(self._next_index)
            self._bind(index)
            self._taken.hold = _Hold(slot or StreamSlot(self._cuda, index), self._free)
        slot = self._taken.hold.slot
        self._bind(slot.index)
        return slot

    def _bind(self, index):
        """Make a GPU the current one of the calling thread, which another pool may have changed."""
        if getattr(_bound, "to", None) != (self._cuda, index):
            self._cuda.select_device(index)
            _bound.to = self._cuda, index


class _Hold:
    """Ends with its thread, and then gives the slot back to the pool."""

    def __init__(self, slot, free):
        self.slot = slot
        weakref.finalize(self, free.append, slot).atexit = False


class ReplicatedArray:
    """An array with a copy on each GPU, made when a thread of that GPU first needs it."""

    def __init__(self, array):
        self._host = np.array(array)
        self._copies = {}
        self._lock = threading.Lock()

    def on(self, cuda, slot):
        """Return the copy on a slot's GPU."""
        with self._lock:
            if slot.index not in self._copies:
                self._copies[slot.index] = cuda.to_device(self._host, stream=slot.stream)
                slot.stream.synchronize()  # other streams may read the copy from now on
            return self._copies[slot.index]


BLOCK = (8, 8)  # threads; a warp covers 8x4 samples, whose orbits are of similar length
SIMULATED = ((1, 1), (4, 2))  # a simulated thread costs 0.02 ms: few, each with many elements


class CudaBackend:
    """Compiles programs as CUDA kernels and launches them.

    Several threads may use a backend at once, a stream each; the GPUs share the threads evenly.
    A simulator has one GPU, and Numba's serves one thread at a time.

    `number`: "float64" or "float32". `indices`: numbers of the GPUs. `simulated`: whether a
    simulator takes the place of the GPU. `geometry`: grid and block of every launch. The default is
    a thread per element on a GPU, and one small block in the simulator. `steps`: most iterations of
    a launch, as in `Backend`. `block`: shape of the blocks of the next launches on a GPU. `cuda`:
    Numba's, or that of its simulator. `streams`: of the GPUs; each thread has one.
    """

    def __init__(self, number, indices=(0,), simulated=False, geometry=None, steps=0, threads=0):
        self.kind = "simulator" if simulated else "cuda"
        self.threads = threads or STREAMS_PER_GPU * len(indices)
        self.geometry = geometry or (SIMULATED if simulated else None)
        self.steps, self.block = steps, BLOCK
        self.real = np.dtype(number).type
        self._number, self._simulated = number, simulated
        self._several = len(indices) > 1
        self.cuda = find(simulated)
        alone = simulated and probe.numba_simulates()
        self._lock = threading.RLock() if alone else contextlib.nullcontext()
        self.streams = StreamPool(self.cuda, [0] * len(indices) if simulated else indices)
        with self._failing():
            self.streams.here()

    @functools.cached_property
    def target(self):
        """How functions are compiled."""
        from fractals.backends.cpu.target import cpu_target, make_target

        if self._simulated:
            return cpu_target(self._number)
        return make_target(self._number, functools.cache(self.cuda.jit(device=True)))

    @property
    def slot(self):
        """The calling thread's stream, with its memory."""
        return self.streams.here()

    def compile(self, make_body, *options):
        """Return ``run(out, *arguments)``, which launches a kernel over the elements of `out`."""
        if self._simulated:
            # A thread's whole share runs compiled; indices are still checked.
            loop = program_of(make_body, self._number, options, loop=True, checked=True)
            body = lambda *arguments: loop(*map(_host_memory, arguments))  # noqa: E731
            kernel = make_kernel(self.cuda, body)
        else:
            loop = None
            kernel = self._compiled(make_body, options)
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
                if loop or ready:
                    launchers[key](out, arguments)
                else:
                    with compiling(on_cpu=False):
                        launchers[key](out, arguments)
                    ready = True

        return Run(run, "kernel")

    def _compiled(self, make_body, options):
        """Return the kernel of a program."""

        def make(store):
            body = self.cuda.jit(device=True)(make_body(self.target, *options))
            kernel = make_kernel(self.cuda, body)
            if store:
                numba_private.keep_kernel(kernel, store)
            return kernel

        return program(make, "cuda", self._number, make_body, *options, scope=self.cuda)

    def compile_tile_loop(self, work, dtype=None):
        """Return None: Python goes from tile to tile."""
        return None

    def empty(self, shape, dtype):
        """Return an uninitialised device array."""
        with self._failing(shape, dtype):
            return self.slot.empty(shape, dtype)

    def to_device(self, array):
        """Return a device array with a NumPy array's contents; of several GPUs, on each."""
        with self._failing(array.shape, array.dtype):
            slot = self.slot
            if self._several:
                return ReplicatedArray(array)
            copy = slot.empty(array.shape, array.dtype)
            copy.copy_to_device(array, stream=slot.stream)
            return copy

    def to_host(self, array, into):
        """Copy a device array into a NumPy array; work begun before is then done."""
        with self._failing():
            slot = self.slot
            array = self._resolve(array, slot)
            staged = slot.staging(array.shape, array.dtype)
            array.copy_to_host(staged, stream=slot.stream)
            slot.stream.synchronize()
            into[...] = staged

    def synchronize(self):
        """Wait until what the calling thread began is done."""
        with self._failing():
            self.slot.stream.synchronize()

    def seconds(self, work):
        """Return what the GPU takes for what ``work()`` launches; the simulator, by the clock."""
        if self._simulated:
            begun = time.perf_counter()
            work()
            return time.perf_counter() - begun
        with self._failing():
            begin, end = self.cuda.event(), self.cuda.event()
            begin.record(self.slot.stream)
            work()
            end.record(self.slot.stream)
            end.synchronize()
            return begin.elapsed_time(end) / 1e3

    def _resolve(self, value, slot):
        if isinstance(value, tuple):
            return value._make(self._resolve(part, slot) for part in value)
        return value.on(self.cuda, slot) if isinstance(value, ReplicatedArray) else value

    @contextlib.contextmanager
    def _failing(self, shape=(), dtype=np.uint8):
        """Turn what the driver raises into one line; in the simulator, let in one thread."""
        with self._lock, _failing(shape, dtype):
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
        if type(error).__module__.startswith((CARD, "cuda.")):
            raise FractalsError(
                f"the GPU failed: {first_line(error)}; fractals devices tells what is there"
            ) from error
        raise
