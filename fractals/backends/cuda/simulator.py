"""A simulator of `numba.cuda`: kernels run as plain Python, so CUDA programs need no GPU.

This module stands for `numba.cuda`, and its names are those of Numba's documentation. It imports no
Numba.

The threads of a block run one after the other. Only where a kernel calls `syncthreads` does each
get a thread of Python, of which one at a time runs, to the next barrier. So a thread always runs as
far ahead of the others as it can, and a missing barrier shows each time. Every second block begins
with its last thread, because some mistakes show in one order only. New memory holds NaN, or -1, so
that the use of what nobody wrote is seen.
"""

import contextlib
import functools
import inspect
import itertools
import math
import operator
import sys
import threading
import time
from collections import deque
from types import CodeType, SimpleNamespace

import numpy as np

MAX_THREADS, MAX_SHARED = 1024, 48 * 1024  # of a block; bytes of its shared arrays
MAX_BLOCK, MAX_GRID = (1024, 1024, 64), (2**31 - 1, 65535, 65535)  # in x, y and z
NUMBERS = bool | int | float | complex | np.generic
_observers = []


class CudaAPIError(RuntimeError):
    """What no GPU would accept."""


class _Here(threading.local):
    """The simulated thread that a thread of Python runs: its block, and its index (x, y, z)."""

    block = thread = None


_here = _Here()


def _block():
    if _here.block is None:
        raise RuntimeError("only a kernel has threads, blocks, barriers and shared memory")
    return _here.block


def _frame():
    """Return the frame of the kernel, or of the device function, that uses this module."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame


@functools.cache
def position(code: CodeType, instruction: int) -> tuple[int, int, tuple[int, int]]:
    """Return the line, the column and the end of the source of an instruction.

    The number of the instruction itself may change by some bytes, because Python rewrites code that
    runs often.
    """
    found = next(itertools.islice(code.co_positions(), instruction // 2, None))
    line, end_line, column, end_column = (number or 0 for number in found)
    return line, column, (end_line, end_column)


@contextlib.contextmanager
def observed(observe):
    """Have every access of kernels to an element of device memory observed.

    ``observe(block, thread, frame, stored, element)`` gets the index (x, y, z) of the block, the
    number of the thread in its block, the frame of the kernel, whether the element is stored, and a
    NumPy view of the element. Shared and local memory are not observed.
    """
    _observers.append(observe)
    try:
        yield
    finally:
        _observers.remove(observe)


# --- Arrays


class KernelArray(np.ndarray):
    """An array within a kernel. An index outside of it is an error that names the place.

    `title`: what an error calls the array. `own`: whether it belongs to a block or a thread.
    """

    def __array_finalize__(self, base):
        self.title, self.own = getattr(base, "title", "an array"), getattr(base, "own", False)

    def __getitem__(self, index):
        return self._access(np.ndarray.__getitem__, index)

    def __setitem__(self, index, value):
        self._access(np.ndarray.__setitem__, index, value)

    def _access(self, operation, index, *value):
        try:
            found = operation(self, index, *value)
        except IndexError as error:
            place = f"{_block().kernel.__name__}, line {_frame().f_lineno}, {_block()}"
            raise IndexError(f"{place}: {self.title}: {error}") from None
        if _observers and not self.own:
            self._tell(index if isinstance(index, tuple) else (index,), stored=bool(value))
        return found

    def _tell(self, indices, stored):
        if len(indices) != self.ndim or not all(hasattr(i, "__index__") for i in indices):
            return  # no single element
        cut = tuple(slice(i, i + 1 or None) for i in map(operator.index, indices))
        element, block, (x, y, z) = self.view(np.ndarray)[cut], _block(), _here.thread
        number = x + block.size[0] * (y + block.size[1] * z)
        for observe in _observers:
            observe(block.index, number, _frame(), stored, element)


def _seen_in_kernel(array, title, own=False):
    array = array.view(KernelArray)
    array.title, array.own = title, own
    return array


def _type(dtype):
    """Return a type as NumPy's; Numba's are of the same names."""
    return np.dtype(dtype if isinstance(dtype, type | np.dtype) else str(dtype))


def pinned_array(shape, dtype=np.float64, *, order="C"):
    """Return a NumPy array that nobody has written to, which on a GPU would be page-locked."""
    array = np.empty(shape, _type(dtype), order)
    array.ravel("K").view(np.uint8)[...] = 0xFF
    return array


class DeviceArray:
    """An array in the memory of the device, as the host sees it: for copies and launches."""

    def __init__(self, memory):
        self.memory, self.dtype, self.nbytes = memory, memory.dtype, memory.nbytes
        self.shape, self.strides = memory.shape, memory.strides
        self.ndim, self.size = memory.ndim, memory.size

    def copy_to_host(self, ary=None, stream=0):
        """Return the contents, in a new array or in `ary`, which must have their type and shape."""
        if ary is None:
            return self.memory.copy(order="K")
        _check_alike(self.memory, ary)
        ary[...] = self.memory
        return ary

    def copy_to_device(self, ary, stream=0):
        """Take the contents of an array of the same type and shape."""
        source = ary.memory if isinstance(ary, DeviceArray) else np.asarray(ary)
        _check_alike(self.memory, source)
        self.memory[...] = source

    def reshape(self, *shape):
        """Return the same memory in another shape."""
        return DeviceArray(self.memory.reshape(*shape))

    def __array__(self, dtype=None, copy=None):
        return self.memory.astype(dtype or self.dtype)

    def __len__(self):
        return len(self.memory)

    def __getitem__(self, index):
        found = self.memory[index]
        return DeviceArray(found) if isinstance(found, np.ndarray) else found

    def __setitem__(self, index, value):
        self.memory[index] = value.memory if isinstance(value, DeviceArray) else value

    def __repr__(self):
        return f"<device array of {self.dtype}, shape {self.shape}>"


def _check_alike(*arrays):
    first, last = arrays[0], arrays[-1]
    if first.dtype != last.dtype:
        raise TypeError(f"the types differ: {first.dtype} and {last.dtype}")
    if first.squeeze().shape != last.squeeze().shape:
        raise ValueError(f"the shapes differ: {first.shape} and {last.shape}")
    if not all(array.flags.c_contiguous or array.flags.f_contiguous for array in arrays):
        raise ValueError("an array with gaps can't be copied at once: use np.ascontiguousarray")


def to_device(obj, stream=0, copy=True, to=None):
    """Return a device array with the contents of a NumPy array: `to`, where it is given."""
    array = np.asarray(obj)
    _check_alike(array)
    if to is None:
        return DeviceArray(array.copy(order="K"))
    to.copy_to_device(array)
    return to


def device_array(shape, dtype=np.float64, *, order="C", stream=0):
    """Return a device array that nobody has written to."""
    return DeviceArray(pinned_array(shape, dtype, order=order))


def device_array_like(ary, stream=0):
    """Return a device array of the type and the shape of another array."""
    order = "F" if ary.strides[:1] < ary.strides[-1:] else "C"
    return device_array(ary.shape, ary.dtype, order=order)


# --- Kernels and their blocks


def jit(func_or_sig=None, **_options):
    """Return a kernel or a device function; a decorator, with or without arguments.

    The types of a signature, and all options, are passed over.
    """
    return Kernel(func_or_sig) if callable(func_or_sig) else Kernel


class Kernel:
    """A function that is launched as ``kernel[grid, block, stream, shared_bytes](...)``.

    Another kernel may call it as a device function.
    """

    def __init__(self, function):
        self.py_func = getattr(function, "py_func", function)
        functools.update_wrapper(self, self.py_func)
        self._parameters = list(inspect.signature(self.py_func).parameters)

    def __call__(self, *arguments):
        """Call the kernel as a device function."""
        if _here.block is None:
            raise ValueError(
                f"kernel {self.__name__} needs a grid: {self.__name__}[blocks, threads]()"
            )
        return self.py_func(*arguments)

    def __getitem__(self, configuration):
        """Return a function that launches the kernel with its arguments."""
        if not isinstance(configuration, tuple) or len(configuration) < 2:
            raise ValueError(
                f"kernel {self.__name__} needs a grid and a block: {self.__name__}[blocks, threads]"
            )
        grid, block, _stream, shared_bytes = (*configuration, 0, 0)[:4]
        grid, block = self._sizes("grid", grid, MAX_GRID), self._sizes("block", block, MAX_BLOCK)
        return functools.partial(self._launch, grid, block, shared_bytes)

    def forall(self, ntasks, tpb=128, stream=0, sharedmem=0):
        """Return a function that launches a thread for each of `ntasks` elements, or some more."""
        return self[max(1, -(-ntasks // tpb)), tpb, stream, sharedmem]

    def _sizes(self, name, given, most):
        sizes = tuple(given) if isinstance(given, tuple | list) else (given,)
        where = f"kernel {self.__name__}: the {name} {given}"
        if not (1 <= len(sizes) <= 3 and all(hasattr(size, "__index__") for size in sizes)):
            raise TypeError(f"{where}: it is 1 to 3 integers")
        sizes = (*sizes, 1, 1)[:3]
        if name == "block" and math.prod(sizes) > MAX_THREADS:
            raise CudaAPIError(f"{where}: a GPU takes at most {MAX_THREADS} threads")
        if not all(1 <= size <= limit for size, limit in zip(sizes, most, strict=True)):
            raise CudaAPIError(f"{where}: a GPU takes 1 to {most}")
        return sizes

    def _launch(self, grid, block, shared_bytes, *arguments):
        names, count, back = self._parameters, len(arguments), []
        if count != len(names):
            raise TypeError(f"kernel {self.__name__} takes {len(names)} arguments, not {count}")
        inside = [self._inside(*each, back) for each in zip(names, arguments, strict=True)]
        for number, (z, y, x) in enumerate(np.ndindex(grid[::-1])):
            _Block(self, inside, (x, y, z), block, grid, shared_bytes).run(bool(number % 2))
        for host, copy in back:
            host[...] = copy

    def _inside(self, name, value, back):
        """Return an argument as the kernel sees it; host arrays are copied `back` in the end."""
        if isinstance(value, tuple):
            parts = [self._inside(name, part, back) for part in value]
            return value._make(parts) if hasattr(value, "_make") else tuple(parts)
        if isinstance(value, np.ndarray):
            host, value = value, to_device(value)
            if host.flags.writeable:
                back.append((host, value.memory))
        if isinstance(value, DeviceArray):
            return _seen_in_kernel(value.memory, name)
        if value is None or isinstance(value, NUMBERS):
            return value
        error = f"kernel {self.__name__}: argument {name} is of type {type(value).__name__}: "
        raise TypeError(error + "a kernel takes numbers, arrays, and tuples of them")


class _Abandoned(BaseException):
    """Ends a simulated thread that waits after another one has failed."""


class _Block:
    """A block of a launch. Of its threads one at a time runs, to a barrier or to its end."""

    def __init__(self, kernel, arguments, index, size, grid, shared_bytes):
        self.kernel, self.index, self.size, self.grid = kernel, index, size, grid
        self.shared, self.dynamic = {}, np.full(shared_bytes, 0xFF, np.uint8)
        self._arguments = arguments
        self._new, self._waiting = (
            deque(),
            deque(),
        )  # indices of new threads; turns of threads that wait at a barrier
        self._error, self._ended = None, threading.Event()

    def __str__(self):
        return f"block {self.index}, thread {_here.thread}"

    def run(self, backwards):
        """Run the threads of the block to their ends."""
        indices = [index[::-1] for index in np.ndindex(self.size[::-1])]
        self._new.extend(reversed(indices) if backwards else indices)
        try:
            while self._new:
                self._execute(self._new.popleft())
            self._go_on()
            self._ended.wait()
        except BaseException as error:  # Ctrl-C
            self._fail(error)
        finally:
            _here.block = None
        if self._error:
            raise self._error

    def meet(self):
        """Have the calling thread wait until each other one has come here, or has ended.

        All threads that have not begun run first, and turns are in order. So nobody gets a second
        turn before each other one had the first.
        """
        turn = threading.Event()
        self._waiting.append(turn)
        self._go_on()
        turn.wait()
        if self._error:
            raise _Abandoned

    def _go_on(self):
        """Let the next thread run: one that has not begun, else the one that waits longest."""
        if self._new:
            threading.Thread(target=self._begin, args=(self._new.popleft(),), daemon=True).start()
        else:
            (self._waiting.popleft() if self._waiting else self._ended).set()

    def _begin(self, thread):
        self._execute(thread)
        self._go_on()

    def _execute(self, thread):
        _here.block, _here.thread = self, thread
        try:
            with np.errstate(all="ignore"):  # a GPU does not warn
                if self.kernel.py_func(*self._arguments) is not None:
                    raise TypeError(f"kernel {self.kernel.__name__} returns a value")
        except _Abandoned:
            pass
        except BaseException as error:
            error.add_note(f"in {self} of kernel {self.kernel.__name__}")
            self._fail(error)

    def _fail(self, error):
        """Keep the first error. Threads that wait end at their turns, and no other one begins."""
        self._error = self._error or error
        self._new.clear()


# --- What kernels ask and do


class _Triple:
    """An index or a size, in x, y and z."""

    def __init__(self, ask):
        self._ask = ask

    x = property(lambda self: self._ask(_block())[0])
    y = property(lambda self: self._ask(_block())[1])
    z = property(lambda self: self._ask(_block())[2])


threadIdx, blockIdx = _Triple(lambda _: _here.thread), _Triple(lambda block: block.index)
blockDim, gridDim = _Triple(lambda block: block.size), _Triple(lambda block: block.grid)
warpsize = 32


def grid(ndim):
    """Return the place of the thread in the grid: an integer, or a tuple of `ndim` integers."""
    along = zip(_block().index, _block().size, _here.thread, strict=True)
    return _first(ndim, tuple(i * size + k for i, size, k in along))


def gridsize(ndim):
    """Return the threads of the grid: an integer, or a tuple of `ndim` integers."""
    return _first(ndim, tuple(map(operator.mul, _block().grid, _block().size)))


def _first(ndim, values):
    if ndim not in (1, 2, 3):
        raise ValueError(f"a grid has 1 to 3 dimensions, not {ndim}")
    return values[0] if ndim == 1 else values[:ndim]


def syncthreads():
    """Wait until each thread of the block has come here, or has ended."""
    _block().meet()


def _shared_array(shape, dtype):
    """Return the array of this call, one for all threads; shape 0 is what the launch gives."""
    block, frame = _block(), _frame()
    call = frame.f_code, position(frame.f_code, frame.f_lasti)
    if call not in block.shared:
        if shape == 0:
            size = _type(dtype).itemsize
            made = block.dynamic[: len(block.dynamic) // size * size].view(_type(dtype))
        else:
            made = pinned_array(shape, dtype)
        block.shared[call] = _seen_in_kernel(made, "a shared array", own=True)
        used = sum(each.nbytes for each in block.shared.values())
        if used > max(MAX_SHARED, len(block.dynamic)):
            raise CudaAPIError(f"{used} bytes of shared memory: a block has {MAX_SHARED}")
    return block.shared[call]


def _local_array(shape, dtype):
    """Return an array of the calling thread alone."""
    return _seen_in_kernel(pinned_array(shape, dtype), "a local array", own=True)


shared, local = SimpleNamespace(array=_shared_array), SimpleNamespace(array=_local_array)
_uninterrupted = threading.Lock()


def _atomic(change):
    """Return an operation that replaces an element, and returns what was there."""

    def operation(array, index, *values):
        with _uninterrupted:
            old = array[index]
            array[index] = change(old, *values)
        return old

    return operation


atomic = SimpleNamespace(
    add=_atomic(operator.add),
    sub=_atomic(operator.sub),
    and_=_atomic(operator.and_),
    or_=_atomic(operator.or_),
    xor=_atomic(operator.xor),
    max=_atomic(lambda old, value: value if value > old else old),
    min=_atomic(lambda old, value: value if value < old else old),
    exch=_atomic(lambda old, value: value),
    inc=_atomic(lambda old, limit: 0 if old >= limit else old + 1),
    dec=_atomic(lambda old, limit: limit if old == 0 or old > limit else old - 1),
    cas=_atomic(lambda old, expected, value: value if old == expected else old),
)


# --- Streams, events and the device: each launch and each copy is done when it returns


def synchronize(*_):
    """Do nothing, because all work is done."""


def stream():
    """Return a stream."""
    return SimpleNamespace(synchronize=synchronize)


class Event:
    """A point in a stream, and the time at which it was reached."""

    synchronize = wait = synchronize

    def record(self, stream=0):
        """Take the time."""
        self.seconds = time.perf_counter()

    def elapsed_time(self, evtend):
        """Return the milliseconds until another event."""
        return 1e3 * (evtend.seconds - self.seconds)


def event(timing=True):
    """Return an event."""
    return Event()


def is_available():
    """Tell that programs can run."""
    return True


def select_device(device_id):
    """Choose the only device, 0."""
    if device_id:
        raise CudaAPIError(f"there is no device {device_id}: the simulator has one")


def __getattr__(name):
    raise AttributeError(f"the simulator of fractals has no cuda.{name}")
