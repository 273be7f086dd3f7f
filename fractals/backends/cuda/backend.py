"""@cuda.jit kernels: device arrays, 2D grids, copies back; on a GPU or in a simulator."""

import atexit
import contextlib
import functools
import itertools
import re
import threading
import time
from collections import deque

import numpy as np

from fractals.backends import numba_private, probe
from fractals.backends.base import HostClock, Run
from fractals.backends.code_cache import program
from fractals.backends.compilation import announce, uninterrupted
from fractals.backends.cpu.programs import program_of
from fractals.backends.cuda.kernel import (
    CARD,
    find,
    first_line,
    give_body,
    make_add,
    make_kernel,
    register_overloads,
)
from fractals.errors import DeviceError, DeviceLostError, DeviceMemoryError, FractalsError
from fractals.kernels import escape

# --- Where a thread's work on a GPU goes: a stream, and device memory that is used again.
#
# Two threads a GPU, a stream each, keep it busy: while the tile of one is copied to the host and
# encoded, that of the other is computed. Streams and memory stay with the process. Another picture,
# or another backend, uses them again, because cudaMalloc would wait for all work of the GPU.
#
# Nothing is freed by Python's collector. It runs in any thread, perhaps in one without a context,
# where a call of the driver fails. A block of memory that nobody uses any more is put on a list,
# and its slot takes it from there. When the process ends, the driver frees everything by itself.

STREAMS_PER_GPU = 2
LEAST_BLOCK = 256  # bytes; the driver's own allocations are multiples of it
PARTS = 4  # sizes of blocks between two powers of two
ALIGNED = 256  # bytes, to which parts of page-locked memory are aligned

_bound = threading.local()


def block_size(size):
    """Return the bytes of the block that holds an array of this size.

    Examples
    --------
    >>> block_size(1), block_size(1000), block_size(1100)
    (256, 1024, 1280)
    """
    step = max(LEAST_BLOCK, (1 << (max(1, size) - 1).bit_length()) // (2 * PARTS))
    return -(-max(1, size) // step) * step


class Block:
    """Memory of a GPU while an array lies in it; its slot gets it back when all views are gone.

    `readers` are the slots, besides its own, whose streams read the array. The memory itself is
    held by the slot: Python's collector calls Numba's finalizers before those of this class.
    """

    def __init__(self, slot, address, size, shape, dtype):
        self.slot, self.address, self.size, self.readers = slot, address, size, set()
        described = {"shape": shape, "typestr": np.dtype(dtype).str, "data": (address, False)}
        self.__cuda_array_interface__ = {**described, "strides": None, "version": 3}

    def __del__(self):
        self.slot.returned.append((self.size, self.address, self.readers))


class StreamSlot:
    """A stream of a GPU, and the memory of the threads that use it, one after the other.

    A stream does its work in the order in which it was given. So a block that Python no longer uses
    can be used again at once, even if the GPU still works on it.
    """

    def __init__(self, cuda, gpu):
        self.gpu, self.stream = gpu, cuda.stream()
        self.returned = deque()  # sizes, addresses and readers of blocks that nobody uses
        self._cuda = cuda
        self._memory = {}  # address -> memory of all blocks
        self._unused = {}  # size -> addresses and readers of blocks that nobody uses
        self._done = cuda.event(timing=False)
        self._laps = []
        self._staging = None

    def empty(self, shape, dtype):
        """Return an uninitialised device array."""
        size = block_size(int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
        self._sort_returned()
        size, address, readers = self._taken(size) or (size, self._allocated(size), ())
        block = Block(self, address, size, shape, dtype)
        for reader in readers:
            self.wait_for(reader)
        return self._cuda.as_cuda_array(block, sync=False)

    def _taken(self, size):
        """Return size, address and readers of an unused block of up to twice this size."""
        most = 2 * size
        while size <= most:
            # A thread that lacks memory may drop them at the same time.
            with contextlib.suppress(KeyError, IndexError):
                return (size, *self._unused[size].pop())
            size = block_size(size + 1)
        return None

    def _sort_returned(self):
        with contextlib.suppress(IndexError):
            while True:
                size, *block = self.returned.popleft()
                self._unused.setdefault(size, []).append(block)

    def _allocated(self, size):
        """Return the address of new memory."""
        try:
            memory = self._cuda.device_array(size, np.uint8, stream=self.stream)
        except Exception as error:
            if not _is_out_of_memory(error):
                raise
            memory = None
        if memory is None:
            self.gpu.drop_unused()
            memory = self._cuda.device_array(size, np.uint8, stream=self.stream)
        address, _ = memory.__cuda_array_interface__["data"]
        self._memory[address] = memory
        return address

    def drop_unused(self):
        """Let Numba have the blocks that nobody uses; called by any thread with their GPU."""
        self._sort_returned()
        for blocks in list(self._unused.values()):
            with contextlib.suppress(IndexError):
                while True:
                    del self._memory[blocks.pop()[0]]

    def wait_for(self, other):
        """Have the stream wait for what another of its GPU was given until now."""
        other._done.record(other.stream)
        other._done.wait(self.stream)

    def reads(self, array):
        """Have the stream wait for the contents of an array that another one fills."""
        block = array.gpu_data.owner
        if block.slot is not self and self not in block.readers:
            assert block.slot.gpu is self.gpu, "a GPU reads no memory of another one"
            self.wait_for(block.slot)
            block.readers.add(self)

    def copy_to_host(self, arrays):
        """Return copies of device arrays in page-locked memory, valid until the next call.

        A copy to any other array would keep the calling thread waiting.
        """
        ends = np.cumsum([0, *(-(-array.nbytes // ALIGNED) * ALIGNED for array in arrays)])
        if self._staging is None or self._staging.size < ends[-1]:
            self._staging = self._page_locked(block_size(int(ends[-1])))
        staged = []
        for array, begin in zip(arrays, ends.tolist(), strict=False):
            part = self._staging[begin : begin + array.nbytes]
            staged.append(part.view(array.dtype).reshape(array.shape))
            owner = array.gpu_data.owner.slot
            if owner.gpu is self.gpu:
                self.reads(array)
                array.copy_to_host(staged[-1], stream=self.stream)
                continue
            owner.gpu.bind()
            try:
                array.copy_to_host(staged[-1], stream=owner.stream)
                owner.stream.synchronize()
            finally:
                self.gpu.bind()
        self.stream.synchronize()
        return staged

    def _page_locked(self, size):
        try:
            return self._cuda.pinned_array(size, dtype=np.uint8)
        except Exception as error:
            if not _is_out_of_memory(error):
                raise
            return np.empty(size, np.uint8)  # copies to it are as right, and slower

    def lap(self, k):
        """Record the k-th event of a clock, and return it."""
        while len(self._laps) <= k:
            self._laps.append(self._cuda.event())
        self._laps[k].record(self.stream)
        return self._laps[k]


class Gpu:
    """What this process keeps of a GPU: its slots, and why it is lost if it has failed."""

    def __init__(self, cuda, index):
        self.index, self.lost = index, ""
        self.unused = []  # slots without a thread
        self._slots, self._cuda = [], cuda
        self._context = self._cleanup = None

    def take(self):
        """Return a slot, which goes back to `unused`; the GPU is that of the thread."""
        with contextlib.suppress(IndexError):
            return self.unused.pop()
        self._slots.append(StreamSlot(self._cuda, self))
        return self._slots[-1]

    def bind(self):
        """Make the GPU the current one of the calling thread, which another picture has changed."""
        if self.lost:
            raise DeviceLostError(self.lost)
        if getattr(_bound, "to", None) is not self:
            self._cuda.select_device(self.index)
            if not self._context:
                self._context = self._cuda.current_context()
                atexit.register(self.free_nothing)
            _bound.to = self

    def bind_again(self):
        """Make the GPU the current one again, where other code of the thread has changed it."""
        if getattr(_bound, "to", None) is self and self._cuda.current_context() != self._context:
            _bound.to = None
        self.bind()

    def drop_unused(self):
        """Have the driver free all memory that nobody uses; called by a thread of this GPU."""
        self._context.synchronize()
        for slot in self._slots:
            slot.drop_unused()

    def free_nothing(self):
        """Have Numba call the driver no more to free what Python's collector finds.

        Such calls fail in the end of the process, when no thread may have a context, and once the
        GPU has failed.
        """
        if not self._cleanup:
            self._cleanup = self._context.defer_cleanup()
            self._cleanup.__enter__()


class SimulatedGpu:
    """What a `Gpu` is in the simulator, where each call returns when its work is done."""

    def __init__(self, cuda):
        self.unused, self.lost = [], ""
        self._cuda = cuda

    def take(self):
        """Return a slot for a thread."""
        return SimulatedSlot(self._cuda, self)

    def bind(self):
        """Do nothing."""

    bind_again = bind


class SimulatedSlot:
    """What a `StreamSlot` is in the simulator."""

    def __init__(self, cuda, gpu):
        self.gpu, self.stream = gpu, cuda.stream()
        self._cuda = cuda

    def empty(self, shape, dtype):
        """Return an uninitialised device array."""
        return self._cuda.device_array(shape, dtype)

    def reads(self, array):
        """Do nothing."""

    def copy_to_host(self, arrays):
        """Return copies of device arrays."""
        return [array.copy_to_host() for array in arrays]


gpu_of = functools.cache(Gpu)


class StreamPool:
    """The slots of one GPU or several; a thread takes a slot at its first use, until it ends."""

    def __init__(self, gpus):
        self._gpus = gpus
        self._next = itertools.cycle(gpus)
        self._free = []  # GPUs whose threads have ended
        self._lock = threading.Lock()
        self._taken = threading.local()

    def here(self):
        """Return the slot of the calling thread."""
        if not hasattr(self._taken, "hold"):
            with self._lock:
                gpu = self._free.pop() if self._free else next(self._next)
            self._taken.hold = _Hold(gpu, self._free)
        hold = self._taken.hold
        hold.gpu.bind()
        hold.slot = hold.slot or hold.gpu.take()
        return hold.slot

    def check(self):
        """Raise `DeviceLostError` if a GPU is lost; bind the calling thread again."""
        for gpu in self._gpus:
            if gpu.lost:
                raise DeviceLostError(gpu.lost)
        with contextlib.suppress(AttributeError):
            self._taken.hold.gpu.bind_again()


class _Hold:
    """A GPU and a slot of it, which are given back when the thread ends."""

    def __init__(self, gpu, free):
        self.gpu, self.slot, self._free = gpu, None, free

    def __del__(self):
        if self.slot:
            self.gpu.unused.append(self.slot)
        self._free.append(self.gpu)


class ReplicatedArray:
    """An array with a copy on each GPU, made when a thread of that GPU first needs it."""

    def __init__(self, array):
        self._host, self.shape = np.array(array), array.shape
        self._copies = {}
        self._lock = threading.Lock()

    def on(self, slot):
        """Return the copy on a slot's GPU."""
        with self._lock:
            if slot.gpu not in self._copies:
                self._copies[slot.gpu] = _copied(slot, self._host)
            return self._copies[slot.gpu]


def _copied(slot, array):
    copy = slot.empty(array.shape, array.dtype)
    copy.copy_to_device(array, stream=slot.stream)
    return copy


class GpuClock:
    """A `fractals.backends.base.Clock` of events, in the stream of a slot."""

    def __init__(self, slot):
        self._slot, self._stages, self._begun = slot, [], time.perf_counter()
        self._laps = [slot.lap(0)]

    def lap(self, stage):
        """End a stage here."""
        self._stages.append(stage)
        with _failing():
            self._laps.append(self._slot.lap(len(self._laps)))

    def end(self, stage):
        """Give the last stage what is left of the time that has passed; return the seconds."""
        spent = {}
        for name, (begin, end) in zip(self._stages, itertools.pairwise(self._laps), strict=True):
            with _failing():
                spent[name] = spent.get(name, 0.0) + begin.elapsed_time(end) / 1e3
        left = time.perf_counter() - self._begun - sum(spent.values())
        spent[stage] = spent.get(stage, 0.0) + max(0.0, left)
        return spent


BLOCK = (8, 8)  # threads; a warp covers 8x4 samples, whose orbits are of similar length
LAUNCHING = threading.Lock()  # Numba compiles, loads and begins a kernel without locks of its own
MAX_TABLES = 64  # small tables that a backend keeps on its GPUs
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
        simulator = SimulatedGpu(self.cuda)
        gpus = [simulator if simulated else gpu_of(self.cuda, index) for index in indices]
        self.streams = StreamPool(gpus)
        try:
            with self._failing():
                self.streams.here()
        except FractalsError as error:
            raise DeviceError(str(error)) from error
        self._tally, self._tables = None, {}

    @functools.cached_property
    def target(self):
        """How functions are compiled."""
        from fractals.backends.cpu.target import cpu_target, make_target

        if self._simulated:
            return cpu_target(self._number)
        jit = functools.cache(self.cuda.jit(device=True))
        return make_target(self._number, jit, jit(make_add(self.cuda)))

    @property
    def slot(self):
        """The calling thread's stream, with its memory."""
        return self.streams.here()

    def check(self):
        """Raise `DeviceLostError` if a GPU has failed, also since the last picture."""
        self.streams.check()
        self.synchronize()

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
                if loop:
                    launchers[key](out, arguments)
                    return
                with LAUNCHING, contextlib.nullcontext() if ready else uninterrupted():
                    launchers[key](out, arguments)
                ready = True

        return Run(run, "kernel")

    def _compiled(self, make_body, options):
        """Return the kernel of a program."""

        def body():
            announce()
            register_overloads(self.cuda)
            return self.cuda.jit(device=True)(make_body(self.target, *options))

        def make(store):
            if not store:
                return make_kernel(self.cuda, body())
            kernel = make_kernel(self.cuda, None)
            # A kernel whose code is kept needs no body, and no more of Numba than launches it.
            compiled = functools.partial(give_body, kernel, body)
            numba_private.keep_kernel(kernel, store, compiled)
            return kernel

        return program(make, "cuda", self._number, make_body, *options, scope=self.cuda)

    def compile_tile_loop(self, work, dtype=None):
        """Return None: Python goes from tile to tile."""
        return None

    def empty(self, shape, dtype):
        """Return an uninitialised device array."""
        with self._failing(shape, dtype):
            return self.slot.empty(shape, dtype)

    def to_device(self, array, kept=False):
        """Return a device array with a NumPy array's contents; of several GPUs, on each."""
        if kept and id(array) in self._tables:
            return self._tables[id(array)][1]
        with self._failing(array.shape, array.dtype):
            copy = ReplicatedArray(array) if self._several else _copied(self.slot, array)
        if kept:
            if len(self._tables) == MAX_TABLES:
                self._tables.clear()
            self._tables[id(array)] = array, copy
        return copy

    def copy_to(self, array, into):
        """Copy a NumPy array into a part of a device array, which this thread has made."""
        with self._failing():
            into.copy_to_device(array, stream=self.slot.stream)

    def to_host(self, array, into):
        """Copy a device array into a NumPy array; work begun before is then done."""
        self.all_to_host([(array, into)])

    def all_to_host(self, pairs):
        """Copy device arrays into NumPy arrays; work begun before is then done."""
        with self._failing():
            slot = self.slot
            arrays = (array for array, _ in pairs)
            staged = slot.copy_to_host(
                [a.on(slot) if isinstance(a, ReplicatedArray) else a for a in arrays]
            )
            for (_, into), copy in zip(pairs, staged, strict=True):
                into[...] = copy

    def tally(self, count, max_iterations):
        """Return the least and the greatest count of each column, and the samples inside."""
        self._tally = self._tally or self.compile(escape.make_tally_body)
        found = self.empty((escape.ROWS, count.shape[1]), np.int32)
        self._tally(found, count, np.int32(max_iterations))
        return found

    def clock(self):
        """Return a clock that starts here, for the calling thread."""
        if self._simulated:
            return HostClock()
        with self._failing():
            return GpuClock(self.slot)

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
        """Return what a slot's stream may read from now on."""
        if isinstance(value, tuple):
            return value._make(self._resolve(part, slot) for part in value)
        if isinstance(value, ReplicatedArray):
            value = value.on(slot)
        if not self._simulated and hasattr(value, "gpu_data"):
            slot.reads(value)
        return value

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


# After these errors a context can do nothing more, and neither can this process on that GPU.
FATAL = re.compile(
    r"ILLEGAL_ADDRESS|LAUNCH_TIMEOUT|LAUNCH_FAILED|ASSERT|HARDWARE_STACK|ILLEGAL_INSTRUCTION"
    r"|MISALIGNED|INVALID_ADDRESS_SPACE|INVALID_PC|UNCORRECTABLE|CONTAINED|TENSOR_MEMORY_LEAK"
    r"|CONTEXT_IS_DESTROYED|DEINITIALIZED|DEVICE_UNAVAILABLE|EXTERNAL_DEVICE|ERROR_UNKNOWN"
    r"|NO_DEVICE|INVALID_DEVICE|MPS_"
)


@contextlib.contextmanager
def _failing(shape=(), dtype=np.uint8):
    """Turn what the driver raises into one line for the user."""
    try:
        yield
    except Exception as error:
        if isinstance(error, SystemError) and error.__cause__:  # as cuda-core passes some errors on
            error = error.__cause__
        if _is_out_of_memory(error):
            need = np.prod(shape, dtype=np.int64) * np.dtype(dtype).itemsize / 2**20
            asked = f" (asked for {need:.3g} MiB more)" if need >= 0.1 else ""
            raise DeviceMemoryError(
                f"the GPU is out of memory{asked}: free some of it, draw a smaller size=, "
                "or use device='cpu'"
            ) from error
        if not type(error).__module__.startswith((CARD, "cuda.")):
            raise
        line = f"the GPU failed: {first_line(error)}"
        gpu = getattr(_bound, "to", None)
        if gpu and FATAL.search(line):
            gpu.lost = f"{line}; this process can't use it any more"
            gpu.free_nothing()
            raise DeviceLostError(gpu.lost) from error
        raise FractalsError(f"{line}; fractals.devices() tells what is there") from error


def _is_out_of_memory(error):
    return "OUT_OF_MEMORY" in str(error) or isinstance(error, MemoryError)
