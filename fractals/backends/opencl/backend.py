"""Runs translated kernels on a device of OpenCL: one queue, pooled memory, short launches.

All threads share one queue, which does its work in the order in which it was given. So a block of
memory that Python no longer uses can be used again at once, and a thread may read what another one
has filled.
"""

import contextlib
import itertools
import math
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fractals.backends import opencl
from fractals.backends.base import MakeBody, Prepare, Run, Work
from fractals.backends.code_cache import program
from fractals.backends.compilation import announce, uninterrupted
from fractals.backends.opencl.translate import make_target, source
from fractals.backends.opencl.values import type_of
from fractals.backends.probe import Device
from fractals.errors import (
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    FractalsError,
    first_line,
    shown,
)
from fractals.kernels import escape

try:
    import pyopencl as cl
    from pyopencl.tools import ImmediateAllocator, MemoryPool
except ImportError:  # pytest looks for examples in every file, also where it is not installed
    cl = None

THREADS = 2  # one encodes what the device has computed while the other has it compute
GROUP = (8, 8)  # work-items that a device runs together
ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"
MAX_TABLES = 64  # small tables that a backend keeps on its device
LOST = "DEVICE_NOT_AVAILABLE", "INVALID_COMMAND_QUEUE", "INVALID_CONTEXT"
TOO_LARGE = "INVALID_BUFFER_SIZE"  # more than the device gives to one array


class OpenClArray:
    """An array in the memory of a device: all of it, or from an element on."""

    def __init__(self, memory: Any, shape: tuple[int, ...], dtype: Any, offset: int = 0) -> None:
        self.memory, self.shape, self.dtype = memory, tuple(shape), np.dtype(dtype)
        self.size, self.offset, self.ndim = math.prod(self.shape), offset, len(self.shape)
        self.nbytes = self.size * self.dtype.itemsize

    def __getitem__(self, index: Any) -> "OpenClArray":
        """Return the elements of one index, or of a range of indices, of the first dimension."""
        length, inner = self.shape[0], self.size // max(1, self.shape[0])
        if isinstance(index, slice):
            begin, end, step = index.indices(length)
            if step != 1:
                raise IndexError("a part of an array on the device has no gaps")
            shape: tuple[int, ...] = (max(0, end - begin), *self.shape[1:])
        else:
            begin = range(length)[index]
            shape = self.shape[1:]
        return OpenClArray(self.memory, shape, self.dtype, self.offset + begin * inner)

    def reshape(self, *shape: int) -> "OpenClArray":
        """Return the same elements in another shape."""
        return OpenClArray(self.memory, shape, self.dtype, self.offset)

    @property
    def first_byte(self) -> int:
        """Return where the array begins in its memory."""
        return int(self.offset * self.dtype.itemsize)


class _Kernel:
    """A program of OpenCL, built once for each tuple of types of its arguments."""

    def __init__(self, backend: "OpenClBackend", make_body: MakeBody, options: Any) -> None:
        self._backend, self._make_body, self._options = backend, make_body, options
        self._built: dict[Any, Any] = {}

    def launch(self, arguments: tuple[Any, ...]) -> None:
        """Run the program for the elements of the first argument."""
        first, backend, group = arguments[0], self._backend, self._backend.group
        height, width = (first[0] if isinstance(first, tuple) else first).shape[:2]
        if not (height and width):
            return
        types = tuple(map(type_of, arguments))
        with backend.lock:
            if types not in self._built:
                announce()
                with uninterrupted():
                    self._built[types] = backend.build(self._make_body, self._options, types)
            kernel = self._built[types]
            kernel.set_args(*_flat(arguments))
            size = tuple(-(-n // g) * g for n, g in zip((width, height), group, strict=True))
            cl.enqueue_nd_range_kernel(backend.queue, kernel, size, group)
            backend.queue.flush()


def _flat(arguments: Sequence[Any]) -> Iterator[Any]:
    """Yield the arguments of a kernel: of an array its memory and its shape."""
    for value in arguments:
        if isinstance(value, tuple):
            yield from _flat(value)
        elif isinstance(value, OpenClArray):
            yield value.memory
            if value.offset:
                yield np.int64(value.offset)
            yield from map(np.int64, value.shape)
        elif isinstance(value, bool | np.bool_):
            yield np.int32(value)
        elif isinstance(value, np.generic):
            yield value
        else:
            yield np.int64(value) if isinstance(value, int) else np.float64(value)


class OpenClClock:
    """A `fractals.backends.base.Clock` of markers in the queue of a device."""

    def __init__(self, backend: "OpenClBackend") -> None:
        self._backend, self._stages, self._begun = backend, list[str](), time.perf_counter()
        self._laps = [cl.enqueue_marker(backend.queue)]

    def lap(self, stage: str) -> None:
        """End a stage here."""
        self._stages.append(stage)
        with self._backend.failing():
            self._laps.append(cl.enqueue_marker(self._backend.queue))

    def end(self, stage: str) -> dict[str, float]:
        """Give the last stage what is left of the time that has passed; return the seconds."""
        spent: dict[str, float] = {}
        with self._backend.failing():
            self._laps[-1].wait()
            for name, (begin, end) in zip(
                self._stages, itertools.pairwise(self._laps), strict=True
            ):
                seconds = (end.profile.end - begin.profile.end) / 1e9
                spent[name] = spent.get(name, 0.0) + max(0.0, seconds)
        left = time.perf_counter() - self._begun - sum(spent.values())
        spent[stage] = spent.get(stage, 0.0) + max(0.0, left)
        return spent


class OpenClBackend:
    """Translates programs to OpenCL C, and runs them on one device.

    `number`: "float64" or "float32". `steps`: most iterations of a launch, as in `Backend`.
    """

    kind = "opencl"

    def __init__(self, number: str, device: Device, steps: int = 0) -> None:
        self.device, self.steps, self.threads = device, steps, THREADS
        self.real = np.dtype(number).type
        self.target = make_target(number)
        self.lock = threading.RLock()  # pyopencl's kernels hold the arguments of their next launch
        self._number, self._lost = number, ""
        self._tally: Run | None = None
        self._tables: dict[int, tuple[Any, OpenClArray]] = {}
        self._sent: deque[Any] = deque()  # events of copies whose source must stay
        if opencl.FLOAT64 in device.lacks and number == "float64":
            raise DeviceError(
                f"'{device.name}' has no float64: give precision='float32' where the view is wide "
                "enough, or use device='cpu'"
            )
        try:
            with self.failing():
                handle = opencl.handle_of(device.index)
                self.context = cl.Context([handle])
                most = handle.max_work_item_sizes  # macOS runs work-items of a CPU one by one
                fits = most[0] >= GROUP[0] and most[1] >= GROUP[1]
                self.group = GROUP if fits else (1, 1)
                profiling = cl.command_queue_properties.PROFILING_ENABLE
                self.queue = cl.CommandQueue(self.context, properties=profiling)
                allocator = ImmediateAllocator(self.queue)
                self._pool = MemoryPool(allocator)
        except FractalsError as error:
            raise DeviceError(str(error)) from error

    def check(self) -> None:
        """Raise `DeviceLostError` if the device has failed, also since the last picture."""
        if self._lost:
            raise DeviceLostError(self._lost)
        self.synchronize()

    def compile(self, make_body: MakeBody, *options: Any) -> Run:
        """Return ``run(out, *arguments)``, which launches a kernel over the elements of `out`."""
        kernel = program(
            lambda _store: _Kernel(self, make_body, options),
            *("opencl", self._number, make_body, *options),
            scope=self,
            stored=False,
        )

        def run(*arguments: Any) -> None:
            with self.failing():
                kernel.launch(arguments)

        return Run(run, "kernel")

    def build(self, make_body: MakeBody, options: Any, types: tuple[Any, ...]) -> Any:
        """Return the kernel of a program for arguments of these types."""
        made = source(make_body, options, types, self._number)
        flags = ["-w"]  # no warnings, which pyopencl would print
        if opencl.DIVISION not in self.device.lacks:
            flags.append(ROUNDED)
        elif made.divides:
            raise DeviceError(
                f"'{self.device.name}' has no {opencl.DIVISION}, and {made.divides} divides: give "
                "precision='float64', or use device='cpu'"
            )
        try:
            built = cl.Program(self.context, made.text).build(options=flags, cache_dir=False)
        except cl.RuntimeError as error:
            if "BUILD_PROGRAM_FAILURE" not in str(error):
                raise
            reason = next((line for line in str(error).splitlines() if "error" in line), "")
            raise DeviceError(
                f"the compiler of '{self.device.name}' fails with {made.name} "
                f"({shown(reason.strip() or first_line(error), 120)}): use device='cpu'"
            ) from error
        return cl.Kernel(built, made.name)

    def compile_tile_loop(self, work: Work, dtype: Any = None) -> Prepare | None:
        """Return None: Python goes from tile to tile."""
        return None

    def empty(self, shape: tuple[int, ...], dtype: Any) -> OpenClArray:
        """Return an uninitialised device array."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        with self.failing(size), self.lock:
            return OpenClArray(self._pool.allocate(max(1, size)), shape, dtype)

    def to_device(self, array: Any, kept: bool = False) -> OpenClArray:
        """Return a device array with a NumPy array's contents."""
        if kept and id(array) in self._tables:
            return self._tables[id(array)][1]
        copy = self.empty(array.shape, array.dtype)
        self.copy_to(array, copy)
        if kept:
            if len(self._tables) == MAX_TABLES:
                self._tables.clear()
            self._tables[id(array)] = array, copy
        return copy

    def copy_to(self, array: Any, into: OpenClArray) -> None:
        """Copy a NumPy array into a device array."""
        if not array.size:
            return
        own = np.array(array, into.dtype, order="C")  # the caller may change the array
        with self.failing(), self.lock:
            self._forget_copied()
            self._sent.append(
                cl.enqueue_copy(
                    self.queue, into.memory, own, dst_offset=into.first_byte, is_blocking=False
                )
            )

    def _forget_copied(self) -> None:
        """Free arrays on the host whose copies have arrived on the device."""
        done = cl.command_execution_status.COMPLETE
        while self._sent and self._sent[0].command_execution_status == done:
            self._sent.popleft()

    def to_host(self, array: OpenClArray, into: Any) -> None:
        """Copy a device array into a NumPy array; work begun before is then done."""
        self.all_to_host([(array, into)])

    def all_to_host(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Copy device arrays into NumPy arrays; work begun before is then done."""
        with self.failing():
            copies = [np.empty(array.shape, array.dtype) for array, _ in pairs]
            events = [
                cl.enqueue_copy(
                    *(self.queue, copy, array.memory),
                    src_offset=array.first_byte,
                    is_blocking=False,
                )
                for (array, _), copy in zip(pairs, copies, strict=True)
                if array.size
            ]
            for event in events:
                event.wait()
            with self.lock:
                self._forget_copied()
        for (_, into), copy in zip(pairs, copies, strict=True):
            into[...] = copy.reshape(into.shape)

    def tally(self, count: OpenClArray, max_iterations: int) -> OpenClArray:
        """Return the least and the greatest count of each column, and the samples inside."""
        self._tally = self._tally or self.compile(escape.make_tally_body)
        found = self.empty((escape.ROWS, count.shape[1]), np.int32)
        self._tally(found, count, np.int32(max_iterations))
        return found

    def clock(self) -> OpenClClock:
        """Return a clock that starts here, for the calling thread."""
        with self.failing():
            return OpenClClock(self)

    def synchronize(self) -> None:
        """Wait until all work that was begun is done."""
        with self.failing():
            self.queue.finish()

    @contextlib.contextmanager
    def failing(self, size: int = 0) -> Iterator[None]:
        """Turn what OpenCL raises into one line for the user."""
        if self._lost:
            raise DeviceLostError(self._lost)
        try:
            yield
        except (cl.Error, MemoryError) as error:
            if isinstance(error, cl.MemoryError | MemoryError) or TOO_LARGE in str(error):
                asked = f" (asked for {size / 2**20:.3g} MiB more)" if size >= 2**17 else ""
                raise DeviceMemoryError(
                    f"'{self.device.name}' is out of memory{asked}: free some of it, draw a "
                    "smaller size=, or use device='cpu'"
                ) from error
            line = f"'{self.device.name}' failed: {shown(first_line(error), 120)}"
            if any(name in str(error) for name in LOST):
                self._lost = f"{line}; this process can't use it any more"
                raise DeviceLostError(self._lost) from error
            raise FractalsError(f"{line}; fractals.devices() tells what is there") from error
