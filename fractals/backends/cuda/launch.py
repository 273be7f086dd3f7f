"""How a kernel is launched: a row of numbers, and one call of the driver.

A *kernel* is a program that thousands of threads of a GPU run at once, each for elements of its
own. A *launch* tells the driver which kernel, in how many blocks of how many threads, on which
stream, and with which parameters. The call returns at once: the GPU runs the kernel when it has
done what the stream was given before.

The driver takes the address of each parameter. Parameters lie one behind the other in *cells* of 8
bytes, in one piece of memory. So their addresses are computed once, for all launches:

========  =======================================================================================
array     0, 0 (which Numba keeps for its own host), elements, bytes of one, the address, then of
          each dimension the length, and of each its stride in bytes
number    its own bytes, and zeros
tuple     the cells of its parts
========  =======================================================================================

Kernels are compiled for the types of their arguments, their *layout*. An array knows its cells from
the start, because it is passed more often than it is made.

A GPU keeps the kernels that were used last (`LoadedKernels`). A thread names the kernel that it is
about to launch in its slot, and then looks whether the kernel is still loaded. What unloads a
kernel marks the kernel first and looks into the slots then. So one of both sees the other, and a
launch takes no lock.
"""

import ctypes
import functools
import itertools
import math
import operator
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fractals.backends.block_array import BlockArray
from fractals.backends.cuda_driver import Driver, DriverError
from fractals.backends.streams import ReplicatedArray
from fractals.errors import DeviceError, DeviceLostError

CELL = 8  # bytes
MAX_KERNELS = 256  # loaded on a GPU: those of some forty kinds of pictures
USUAL_CELLS = 512  # of a kernel: 4 KB, the most that cards before Volta take
# What packs a number as a cell, by its type: the letters of `struct` for those of NumPy's types.
# Python's own numbers have 8 bytes, as for Numba.
LETTERS = {"b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I"}
LETTERS |= {"i8": "q", "u8": "Q", "f4": "f", "f8": "d"}
PACKERS: dict[type, Callable[[Any], bytes]] = {
    kind: struct.Struct(f"<{letter}{CELL - struct.calcsize(letter)}x").pack
    for kind, letter in [
        *((np.dtype(char).type, LETTERS[np.dtype(char).str[1:]]) for char in "?bBhHiIlLqQfd"),
        *((bool, "?"), (int, "q"), (float, "d")),
    ]
}
# Errors about code that is not for this card or this driver, or that has no such kernel
REFUSED = (200, 209, 218, 222, 300, 500, 801)


class Described(NamedTuple):
    """What all arrays of a shape and a type have in common."""

    before: bytes  # the cells before the address
    after: bytes  # the cells after it
    kind: str  # in a layout: the type of an element, and the number of dimensions


@functools.lru_cache(maxsize=4096)
def described(shape: tuple[int, ...], dtype: Any) -> Described:
    """Return the cells of arrays of a shape and a type."""
    size = dtype.itemsize
    strides = [size * math.prod(shape[k + 1 :]) for k in range(len(shape))]
    before = struct.pack("<4q", 0, 0, math.prod(shape), size)
    after = struct.pack(f"<{2 * len(shape)}q", *shape, *strides)
    return Described(before, after, sys.intern(f"{dtype.str}[{len(shape)}]"))


class CudaArray(BlockArray):
    """An array on a CUDA GPU. Other packages read it by `__cuda_array_interface__`."""

    __slots__ = ("address", "cells", "kind", "owner")

    def __init__(self, block: Any, shape: Sequence[int], dtype: Any, offset: int = 0) -> None:
        super().__init__(block, shape, dtype, offset)
        self.owner = block.slot  # looked at in each launch
        self.address: int = block.address + self.first_byte
        before, after, self.kind = described(self.shape, self.dtype)
        self.cells = b"".join((before, self.address.to_bytes(CELL, "little"), after))

    def _part(self, shape: Sequence[int], begin: int) -> "CudaArray":
        return CudaArray(self.block, shape, self.dtype, self.offset + begin)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array, as CUDA's packages for Python describe it to each other."""
        place = {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False)}
        return place | {"strides": None, "version": 3}


def lay(values: Sequence[Any], slot: Any, cells: list[bytes], layout: list[Any]) -> None:
    """Append the cells of arguments to a list, and their layout to another one.

    The stream of `slot` is then one that may read the arrays: it waits for those of other streams.
    Raises TypeError: an argument has no cells.
    """
    for value in values:
        kind = type(value)
        if kind is ReplicatedArray:
            value = value.on(slot)
            kind = CudaArray
        if kind is CudaArray:
            if value.owner is not slot:
                slot.reads(value)
            cells.append(value.cells)
            layout.append(value.kind)
        elif pack := PACKERS.get(kind):
            cells.append(pack(value))
            layout.append(kind)
        elif isinstance(value, tuple):
            layout += kind, len(value)
            lay(value, slot, cells, layout)
        elif kind is LaidArguments:
            joined, own = value.on(slot)
            cells.append(joined)
            layout.append(own)
        else:
            raise TypeError(f"no argument of a kernel: {kind.__name__}")


class LaidArguments:
    """Arguments of many launches, whose cells are joined once a stream: as if given one by one."""

    def __init__(self, *values: Any) -> None:
        self.values = values  # keeps their memory
        self._found: dict[Any, tuple[bytes, str]] = {}

    def on(self, slot: Any) -> tuple[bytes, str]:
        """Return the cells for a slot, whose stream may read the arrays, and their layout."""
        found = self._found.get(slot)
        if found is None:
            cells: list[bytes] = []
            layout: list[Any] = []
            lay(self.values, slot, cells, layout)
            found = self._found[slot] = b"".join(cells), repr(layout)
        return found


def one_by_one(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Return arguments with those within `LaidArguments` in its place."""
    parts = (value.values if type(value) is LaidArguments else (value,) for value in arguments)
    return tuple(itertools.chain.from_iterable(parts))


class Parameters:
    """The memory from which the driver takes the parameters of a launch, of one thread."""

    def __init__(self) -> None:
        self._make(USUAL_CELLS)

    def _make(self, count: int) -> None:
        self._memory = ctypes.create_string_buffer(CELL * count)
        self._view = memoryview(self._memory).cast("B")
        begin = ctypes.addressof(self._memory)
        places = range(begin, begin + CELL * count, CELL)
        self.addresses = (ctypes.c_void_p * count)(*places)

    def take(self, cells: bytes) -> Any:
        """Take cells in place of those before; return what the driver is given."""
        if len(cells) > len(self._view):
            self._make(len(cells) // CELL)
        self._view[: len(cells)] = cells
        return self.addresses


class Loaded:
    """A kernel in the memory of a GPU.

    `function`: the driver's handle, or 0 once the kernel must not be launched. `used`: how many
    kernels the GPU had loaded when this one was launched last.
    """

    __slots__ = ("function", "module", "used")

    def __init__(self, module: int, function: int) -> None:
        self.module, self.function, self.used = module, function, 0


NONE = Loaded(0, 0)


class LoadedKernels:
    """The kernels of a GPU: at most `MAX_KERNELS`, and those that threads launched last.

    The memory that the driver takes for a kernel is given back only when the kernel is unloaded. An
    explorer that is open for days, or a film of many formulas, would fill the GPU with kernels.
    `count`: those that were loaded since the beginning.
    """

    def __init__(self, gpu: Any) -> None:
        self._gpu, self._loaded, self.count = gpu, list[Loaded](), 0
        self._lock = threading.Lock()

    def add(self, kernel: Loaded) -> None:
        """Note a kernel that a thread of the GPU has loaded; unload others if there are too many.

        A quarter is unloaded at once, because the GPU has to end all work before. Raises
        DriverError: that work, or the call that unloads, has failed.
        """
        with self._lock:
            self.count += 1
            kernel.used = self.count
            self._loaded.append(kernel)
            if len(self._loaded) > MAX_KERNELS:
                self._unload_oldest(len(self._loaded) - MAX_KERNELS * 3 // 4)

    def _unload_oldest(self, count: int) -> None:
        self._loaded.sort(key=operator.attrgetter("used"))
        launching = self._gpu.launching()
        old = [kernel for kernel in self._loaded[:-1] if kernel not in launching][:count]
        functions = [kernel.function for kernel in old]
        for kernel in old:
            kernel.function = 0
        launching = self._gpu.launching()
        for kernel, function in zip(old, functions, strict=True):
            if kernel in launching:  # named by its thread before it was marked
                kernel.function = function
        gone = [kernel for kernel in old if not kernel.function]
        self._loaded = [kernel for kernel in self._loaded if kernel.function]
        self._gpu.driver.cuCtxSynchronize()
        for kernel in gone:
            self._gpu.driver.cuModuleUnload(kernel.module)


def launch(program: Any, slot: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
    """Launch the kernel of a program for some arguments on the stream of a slot.

    `program`: a `fractals.backends.cuda.kernel.CardProgram`. `shape`: blocks across and down, and
    threads of a block. Raises TypeError: an argument has no cells; DriverError; DeviceLostError: a
    kernel has to be compiled, and the compiler can't be used.
    """
    cells: list[bytes] = []
    layout: list[Any] = []
    lay(arguments, slot, cells, layout)
    key = slot.gpu, *layout
    slot.kernel = kernel = program.kernels.get(key, NONE)
    while not (function := kernel.function):  # another thread may have unloaded it again
        slot.kernel = kernel = _loaded(program, slot, key, arguments)
    kernel.used = slot.gpu.kernels.count
    (across, down), (wide, high) = shape
    addresses = slot.parameters.take(b"".join(cells))
    slot.driver.cuLaunchKernel(
        function, across, down, 1, wide, high, 1, 0, slot.stream, addresses, None
    )


def _loaded(program: Any, slot: Any, key: tuple[Any, ...], arguments: tuple[Any, ...]) -> Loaded:
    """Bring the kernel for a layout to the slot's GPU."""
    with program.lock:  # threads that launch it for the first time at once
        kernel: Loaded = program.kernels.get(key, NONE)
        if kernel.function:
            return kernel
        arguments, layout = one_by_one(arguments), list[Any]()
        lay(arguments, slot, [], layout)
        asked = repr(layout), slot.gpu.capability, tuple(map(example_of, arguments))
        try:
            kernel = _loaded_code(slot, *program.code(*asked))
        except DriverError as error:
            if error.code not in REFUSED:
                raise
            kernel = _loaded_code(slot, *program.code_anew(*asked, reason=str(error)))
        except DeviceError as error:  # the compiler can't be used
            slot.gpu.lose(str(error))
            raise DeviceLostError(slot.gpu.lost) from error
        program.kernels[key] = kernel
    slot.gpu.kernels.add(kernel)
    return kernel


def _loaded_code(slot: Any, name: str, code: bytes) -> Loaded:
    driver: Driver = slot.driver
    module = slot.with_room(lambda: driver.ask("cuModuleLoadData", code))
    return Loaded(module, int(driver.ask("cuModuleGetFunction", module, name.encode())))


def example_of(value: Any) -> Any:
    """Return an argument of the same type for a compiler: of an array a small one of NumPy."""
    if isinstance(value, tuple):
        parts = map(example_of, value)
        return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    if isinstance(value, ReplicatedArray | CudaArray):
        return np.empty((1,) * len(value.shape), value.dtype)
    return value
