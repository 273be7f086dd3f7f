"""Streams, memory and launches of CUDA GPUs, and of the simulator in their place."""

import atexit
import contextlib
import ctypes
import functools
import re
import threading
import time

import numpy as np

from fractals.backends import cuda_driver
from fractals.backends.base import Run, Stages
from fractals.backends.cpu.programs import program_of
from fractals.backends.cuda import kernel
from fractals.backends.cuda.kernel import CARD, card_target, find, first_line, make_kernel
from fractals.backends.cuda.launch import (
    NONE,
    CudaArray,
    LaidArguments,
    LoadedKernels,
    Parameters,
    launch,
)
from fractals.backends.cuda_driver import DriverError
from fractals.backends.streams import Errors, Gpu, StreamBackend, StreamSlot, answer, one_each

BLOCK = (8, 8)  # threads; a warp covers 8x4 samples, whose orbits are of similar length
SIMULATED = ((1, 1), (4, 2))  # a simulated thread costs 0.02 ms: few, each with many elements
OF_NUMBA = (CARD, "cuda.")
WITHOUT_TIMING = 2  # of an event: CU_EVENT_DISABLE_TIMING
# Of `cuDeviceGetAttribute`: CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
MAJOR, MINOR = 75, 76


def _is_of_the_driver(error):
    named = "CUDA_ERROR_" in str(error)  # also where a RuntimeError says it
    return named or isinstance(error, DriverError) or type(error).__module__.startswith(OF_NUMBA)


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


class _Memory:
    """Memory that the driver gave, of a GPU or page-locked, until nobody refers to it.

    The driver writes its address into the object, so an interrupt loses none.
    """

    _at = ctypes.c_uint64()  # until an object has its own

    def __init__(self, gpu, size, page_locked=False):
        self._gpu, self._page_locked, self._at = gpu, page_locked, ctypes.c_uint64()
        if page_locked:
            gpu.driver.cuMemHostAlloc(ctypes.byref(self._at), size, 0)
            described = {"shape": (size,), "typestr": "|u1", "data": (self._at.value, False)}
            self.__array_interface__ = {**described, "version": 3}
        else:
            gpu.driver.cuMemAlloc(ctypes.byref(self._at), size)
        self.address = self._at.value

    def __del__(self):
        if self._at.value and self._gpu.frees:
            free = "cuMemFreeHost" if self._page_locked else "cuMemFree"
            with contextlib.suppress(DriverError):
                getattr(self._gpu.driver, free)(self._at.value)


class CudaSlot(StreamSlot):
    """A stream of the driver.

    `stream`: its handle. `parameters`: from where the driver takes those of a launch. `kernel`: the
    one that was launched last, or is being launched.
    """

    def __init__(self, gpu):
        super().__init__(gpu)
        self.driver = gpu.driver
        self.stream = self.driver.ask("cuStreamCreate", 0)
        self.parameters, self.kernel = Parameters(), NONE
        self._laps = []

    @functools.cached_property
    def _done(self):
        return self.event(WITHOUT_TIMING)

    def _allocate(self, size):
        memory = _Memory(self.gpu, size)
        return memory.address, memory

    def _array(self, block, shape, dtype):
        return CudaArray(block, shape, dtype)

    def copy_in(self, array, into):
        """Begin to copy a NumPy array, which may change afterwards, into a device array."""
        source = np.ascontiguousarray(array, into.dtype)  # the driver has copied it in the end
        if source.size != into.size:
            raise ValueError(f"{source.size} elements for an array of {into.size} on the device")
        if into.size:
            at = source.ctypes.data
            self.driver.cuMemcpyHtoDAsync(into.address, at, into.nbytes, self.stream)

    def copy_out(self, array, into):
        """Begin to copy a device array into page-locked memory."""
        if array.size:
            at = into.ctypes.data
            self.driver.cuMemcpyDtoHAsync(at, array.address, array.nbytes, self.stream)

    def synchronize(self):
        """Wait until the stream has done what it was given."""
        self.driver.cuStreamSynchronize(self.stream)

    def wait_for(self, other):
        """Have the stream wait for what another of its GPU was given until now."""
        done = other._done  # read once: two threads that ask for it at once may get two
        self.driver.cuEventRecord(done, other.stream)
        self.driver.cuStreamWaitEvent(self.stream, done, 0)

    def _page_locked(self, size):
        return np.asarray(_Memory(self.gpu, size, page_locked=True))

    def event(self, flags=0):
        """Return the handle of a new event."""
        return self.driver.ask("cuEventCreate", flags)

    def lap(self, k):
        """Record the k-th event of a clock, and return it."""
        while len(self._laps) <= k:
            self._laps.append(self.event())
        self.driver.cuEventRecord(self._laps[k], self.stream)
        return self._laps[k]

    def seconds_between(self, begin, end):
        """Return the seconds between two events of a clock."""
        return self.driver.ask("cuEventElapsedTime", begin, end, answer=ctypes.c_float) / 1e3

    @functools.cached_property
    def ends(self):
        """Two events, between which a work is timed."""
        return self.event(), self.event()

    def is_done(self, event):
        """Tell whether the GPU has reached an event."""
        try:
            self.driver.cuEventQuery(event)
        except DriverError as error:
            if error.code != cuda_driver.NOT_READY:
                raise
            return False
        return True


class CudaGpu(Gpu):
    """A GPU, with the context in which this process uses it.

    It is the *primary* context, which Numba has as well. `frees`: whether memory that nobody refers
    to is given back to the driver. `kernels`: what it has loaded.
    """

    errors = ERRORS

    def __init__(self, driver, index):
        super().__init__(index)
        self.driver, self.frees, self._context = driver, True, 0
        self.kernels = LoadedKernels(self)

    @functools.cached_property
    def capability(self):
        """The compute capability, such as (9, 0)."""
        device = self.driver.ask("cuDeviceGet", self.index, answer=ctypes.c_int)
        asked = functools.partial(self.driver.ask, "cuDeviceGetAttribute", answer=ctypes.c_int)
        return asked(MAJOR, device), asked(MINOR, device)

    def _slot(self):
        return CudaSlot(self)

    def _wait(self):
        self.driver.cuCtxSynchronize()

    def _select(self):
        if not self._context:
            self._context = cuda_driver.retain(self.driver, self.index)
            atexit.register(self.free_nothing)
        self.driver.cuCtxSetCurrent(self._context)

    def launching(self):
        """Return the kernels that threads launched last, or are about to launch."""
        return {slot.kernel for slot in self._slots}

    def bind_again(self):
        """Make the GPU the current one again, where other code of the thread has changed it."""
        self.bind()
        if self.driver.ask("cuCtxGetCurrent") != self._context:
            self._select()

    def free_nothing(self):
        """Call the driver no more to free what nobody refers to.

        Such calls fail in the end of the process, when no thread may have a context, and once the
        GPU has failed.
        """
        self.frees = False

    def lose(self, line):
        """Note why the GPU can't be used any more."""
        super().lose(line)
        self.free_nothing()


class SimulatedGpu(Gpu):
    """What a `CudaGpu` is in the simulator, where each call returns when its work is done."""

    errors = ERRORS

    def __init__(self, cuda, index):
        super().__init__(index)
        self.cuda = cuda

    def take(self):
        """Return a slot for a thread."""
        return SimulatedSlot(self)

    def bind(self):
        """Do nothing."""

    _slot = _wait = _select = bind


class SimulatedSlot:
    """What a `CudaSlot` is in the simulator."""

    def __init__(self, gpu):
        self.gpu, self._cuda, self.stream = gpu, gpu.cuda, gpu.cuda.stream()

    def empty(self, shape, dtype):
        """Return an uninitialised device array."""
        return self._cuda.device_array(shape, dtype)

    def filled(self, array):
        """Return a device array with a NumPy array's contents."""
        copy = self.empty(array.shape, array.dtype)
        self.copy_in(array, copy)
        return copy

    def copy_in(self, array, into):
        """Copy a NumPy array into a device array."""
        into.copy_to_device(array, stream=self.stream)

    def copy_out(self, array, into):
        """Copy a device array into an array of the host."""
        array.copy_to_host(into, stream=self.stream)

    def copy_to_host(self, arrays):
        """Return copies of device arrays."""
        return [array.copy_to_host() for array in arrays]

    def synchronize(self):
        """Wait until the stream has done what it was given."""
        self.stream.synchronize()


@one_each
def gpu_of(index):
    """Return a GPU of this process, which all backends share. Raises DriverError: no driver."""
    return CudaGpu(cuda_driver.driver(), index)


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
        alone = simulated and cuda_driver.numba_simulates()
        self._lock = threading.RLock() if alone else contextlib.nullcontext()
        if simulated:
            self.cuts = False
            gpus = [SimulatedGpu(self.cuda, 0) for _ in indices]
        else:
            kernel.check_compiler()
            gpus = [gpu_of(index) for index in indices]
        super().__init__(number, gpus, steps, threads)

    @property
    def cuda(self):
        """Numba's module for a card, which only compiling needs, or that of the simulator."""
        return find(self._simulated)

    @functools.cached_property
    def target(self):
        """How functions are compiled."""
        from fractals.backends.cpu.target import cpu_target

        return cpu_target(self._number) if self._simulated else card_target(self.cuda, self._number)

    def compile(self, make_body, *options):
        """Return ``run(out, *arguments)``, which launches a kernel over the elements of `out`."""
        if self._simulated:
            return Run(self._simulation(make_body, options), "kernel")
        program = kernel.card_program(self._number, make_body, options)

        def run(*arguments):
            try:  # not `_failing`, which makes an object at each launch
                slot = self.slot
                launch(program, slot, self._shape(arguments), arguments)
            except Exception as error:
                answer(error, ERRORS)
                raise

        def bound(*last):
            laid = LaidArguments(*last)
            return lambda *first: run(*first, laid)

        return Run(run, "kernel", bind=bound)

    def _shape(self, arguments):
        """Return blocks across and down, and threads of a block, for the first argument."""
        if self.geometry:
            return self.geometry
        out = arguments[0]
        height, width = (out[0] if isinstance(out, tuple) else out).shape[:2]
        across, down = self.block
        return (-(-width // across), -(-height // down)), self.block

    def _simulation(self, make_body, options):
        # A thread's whole share runs compiled; indices are still checked.
        loop = program_of(make_body, self._number, options, loop=True, checked=True)
        simulated = make_kernel(self.cuda, lambda *arguments: loop(*map(_host_memory, arguments)))

        def run(*arguments):
            with self._failing():
                out, *others = self._resolve(arguments, self.slot)
                simulated[(*self._shape(arguments), self.slot.stream)](out, tuple(others))

        return run

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
            slot = self.slot
            begin, end = slot.ends
            if before:
                before()
            slot.driver.cuEventRecord(begin, slot.stream)
            work()
            slot.driver.cuEventRecord(end, slot.stream)
            queued = not slot.is_done(begin)
            slot.driver.cuEventSynchronize(end)
            return slot.seconds_between(begin, end), queued

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
