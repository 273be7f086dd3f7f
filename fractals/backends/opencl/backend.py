"""Runs translated kernels on the devices of OpenCL, each with two queues (`streams.py`)."""

import re
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fractals.backends import opencl
from fractals.backends.base import MakeBody, Run
from fractals.backends.block_array import BlockArray
from fractals.backends.code_cache import program
from fractals.backends.compilation import announce, first_launch
from fractals.backends.opencl.translate import make_target, source
from fractals.backends.opencl.values import type_of
from fractals.backends.probe import Device
from fractals.backends.streams import Block, Errors, Gpu, StreamBackend, StreamSlot, one_each
from fractals.errors import DeviceError, DeviceProgramError, first_line, shown

try:
    import pyopencl as cl
    from pyopencl.tools import ImmediateAllocator
except ImportError as error:  # it is not installed, or a file of the user has a name that it needs
    cl, PROBLEM = None, first_line(error)

GROUP = (8, 8)  # work-items that a device runs together
ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"
LAUNCHING = threading.RLock()  # pyopencl's kernels hold the arguments of their next launch


def _is_out_of_memory(error: BaseException) -> bool:
    # The second is more than the device gives to one array.
    return isinstance(error, cl.MemoryError | MemoryError) or "INVALID_BUFFER_SIZE" in str(error)


ERRORS = Errors(
    is_own=lambda error: isinstance(error, cl.Error),
    is_out_of_memory=_is_out_of_memory,
    line=lambda error: shown(first_line(error), 120),
    fatal=re.compile("DEVICE_NOT_AVAILABLE|INVALID_COMMAND_QUEUE|INVALID_CONTEXT"),
)


class OpenClArray(BlockArray):
    """An array on a device of OpenCL, whose kernels are given the memory and an offset."""

    __slots__ = ("memory",)

    def __init__(
        self, block: Block, memory: Any, shape: Sequence[int], dtype: Any, offset: int = 0
    ) -> None:
        super().__init__(block, shape, dtype, offset)
        self.memory = memory

    def _part(self, shape: Sequence[int], begin: int) -> "OpenClArray":
        return OpenClArray(self.block, self.memory, shape, self.dtype, self.offset + begin)


class OpenClSlot(StreamSlot):
    """A queue of a device, which does its work in the order in which it was given."""

    def __init__(self, gpu: "OpenClGpu") -> None:
        super().__init__(gpu)
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        self.queue = cl.CommandQueue(gpu.context, properties=profiling)
        self._allocator = ImmediateAllocator(self.queue)
        self._copies: deque[Any] = deque()  # events; each keeps its array on the host

    def _allocate(self, size: int) -> tuple[int, Any]:
        memory = self._allocator(size)
        return memory.int_ptr, memory

    def _array(self, block: Block, shape: tuple[int, ...], dtype: Any) -> OpenClArray:
        return OpenClArray(block, block.piece.memory, shape, dtype)

    def copy_in(self, array: Any, into: OpenClArray) -> None:
        """Begin to copy a NumPy array, which may change afterwards, into a device array."""
        done = cl.command_execution_status.COMPLETE
        while self._copies and self._copies[0].command_execution_status <= done:
            self._copies.popleft().wait()  # raises the error of a copy that failed
        own = np.array(array, into.dtype, order="C")
        self._copy(into, into.memory, own, dst_offset=into.first_byte)

    def copy_out(self, array: OpenClArray, into: Any) -> None:
        """Begin to copy a device array into page-locked memory."""
        self._copy(array, into, array.memory, src_offset=array.first_byte)

    def _copy(self, array: OpenClArray, into: Any, source: Any, **offset: int) -> None:
        if array.size:
            event = cl.enqueue_copy(self.queue, into, source, is_blocking=False, **offset)
            self._copies.append(event)
            self.queue.flush()

    def synchronize(self) -> None:
        """Wait until the queue has done what it was given."""
        self.queue.finish()
        while self._copies:
            self._copies.popleft().wait()  # raises the error of what failed

    def wait_for(self, other: "OpenClSlot") -> None:
        """Have the queue wait for what another of its device was given until now."""
        event = cl.enqueue_marker(other.queue)
        other.queue.flush()
        cl.enqueue_barrier(self.queue, wait_for=[event])

    def _page_locked(self, size: int) -> Any:
        flags, both = cl.mem_flags, cl.map_flags.READ | cl.map_flags.WRITE
        memory = cl.Buffer(self.gpu.context, flags.READ_WRITE | flags.ALLOC_HOST_PTR, size)
        array, _ = cl.enqueue_map_buffer(self.queue, memory, both, 0, (size,), np.uint8)
        return array

    def lap(self, k: int) -> Any:
        """Return the k-th event of a clock, which is recorded here."""
        return cl.enqueue_marker(self.queue)

    def seconds_between(self, begin: Any, end: Any) -> float:
        """Return the seconds between two events of a clock."""
        end.wait()
        return max(0.0, float(end.profile.end - begin.profile.end) / 1e9)


class OpenClGpu(Gpu):
    """A device, with a context of its own."""

    errors = ERRORS

    def __init__(self, index: int) -> None:
        super().__init__(index)
        handle = opencl.handle_of(index)
        self.title = f"'{' '.join(handle.name.split())}'"
        self.context = cl.Context([handle])
        most = handle.max_work_item_sizes  # macOS runs work-items of a CPU one by one
        self.group = GROUP if most[0] >= GROUP[0] and most[1] >= GROUP[1] else (1, 1)

    def _slot(self) -> OpenClSlot:
        return OpenClSlot(self)

    def _select(self) -> None:
        """Do nothing: calls of OpenCL name their queue."""

    def _wait(self) -> None:
        for slot in self._slots:
            slot.queue.finish()


gpu_of = one_each(OpenClGpu)


class _Kernel:
    """A program of OpenCL, built for each device and each tuple of types of its arguments."""

    def __init__(self, backend: "OpenClBackend", make_body: MakeBody, options: Any) -> None:
        self._backend, self._make_body, self._options = backend, make_body, options
        self._built: dict[Any, Any] = {}

    def launch(self, slot: OpenClSlot, arguments: tuple[Any, ...]) -> None:
        """Run the program for the elements of the first argument."""
        first, group = arguments[0], slot.gpu.group
        height, width = (first[0] if isinstance(first, tuple) else first).shape[:2]
        if not (height and width):
            return
        size = tuple(-(-n // g) * g for n, g in zip((width, height), group, strict=True))
        types = tuple(map(type_of, arguments))
        key = slot.gpu, types
        with LAUNCHING:
            if key not in self._built:
                with first_launch():
                    announce()
                    made = self._backend.build(self._make_body, self._options, types, slot.gpu)
                self._built[key] = made
            kernel = self._built[key]
            kernel.set_args(*_flat(arguments))
            slot.with_room(lambda: cl.enqueue_nd_range_kernel(slot.queue, kernel, size, group))
        slot.queue.flush()


def _flat(arguments: Sequence[Any]) -> Iterator[Any]:
    """Yield the arguments of a kernel: of an array its memory and its shape."""
    for value in arguments:
        if isinstance(value, tuple):
            yield from _flat(value)
        elif isinstance(value, OpenClArray):
            yield value.memory
            yield np.int64(value.offset)
            yield from map(np.int64, value.shape)
        elif isinstance(value, bool | np.bool_):
            yield np.int32(value)
        elif isinstance(value, np.generic):
            yield value
        else:
            yield np.int64(value) if isinstance(value, int) else np.float64(value)


class OpenClBackend(StreamBackend):
    """Translates programs to OpenCL C, and runs them on one device or several.

    `number`: "float64" or "float32". `steps`: most iterations of a launch, as in `Backend`.
    """

    kind = "opencl"

    def __init__(self, number: str, device: Device, steps: int = 0) -> None:
        self.device, self.target = device, make_target(number)
        if opencl.FLOAT64 in device.lacks and number == "float64":
            raise DeviceError(
                f"'{device.name}' has no float64: give precision='float32' where the view is wide "
                "enough, or use device='cpu'"
            )
        if cl is None:
            raise DeviceError(f"'{device.name}': pyopencl can't be imported ({PROBLEM})")
        try:
            gpus = [gpu_of(index) for index in device.indices]
        except cl.Error as error:
            raise DeviceError(f"'{device.name}' failed: {ERRORS.line(error)}") from error
        super().__init__(number, gpus, steps)

    def compile(self, make_body: MakeBody, *options: Any) -> Run:
        """Return ``run(out, *arguments)``, which launches a kernel over the elements of `out`."""
        kernel = program(
            lambda _store: _Kernel(self, make_body, options),
            *("opencl", self._number, make_body, *options),
            scope=self,
            stored=False,
        )

        def run(*arguments: Any) -> None:
            with self._failing():
                slot = self.slot
                kernel.launch(slot, tuple(self._resolve(value, slot) for value in arguments))

        return Run(run, "kernel")

    def build(
        self, make_body: MakeBody, options: Any, types: tuple[Any, ...], gpu: OpenClGpu
    ) -> Any:
        """Return the kernel of a program for a device and arguments of these types."""
        try:
            made = source(make_body, options, types, self._number)
        except DeviceError as error:  # the translator does not know something
            raise DeviceProgramError(str(error), "") from error
        flags = ["-w"]  # no warnings, which pyopencl would print
        if opencl.DIVISION not in self.device.lacks:
            flags.append(ROUNDED)
        elif made.divides:
            raise DeviceProgramError(
                f"'{self.device.name}' has no {opencl.DIVISION}, and {made.divides} divides",
                ": give precision='float64', or use device='cpu'",
            )
        try:
            built = cl.Program(gpu.context, made.text).build(options=flags, cache_dir=False)
        except cl.RuntimeError as error:
            if "BUILD_PROGRAM_FAILURE" not in str(error):
                raise
            reason = next((line for line in str(error).splitlines() if "error" in line), "")
            raise DeviceProgramError(
                f"the compiler of '{self.device.name}' fails with {made.name} "
                f"({shown(reason.strip() or first_line(error), 120)})"
            ) from error
        return cl.Kernel(built, made.name)
