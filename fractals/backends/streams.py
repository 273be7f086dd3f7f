"""Streams of GPUs and their memory: what the backends for CUDA and OpenCL have in common.

Two threads a GPU, a stream each, keep it busy: while the tile of one is copied to the host and
encoded, that of the other is computed. Streams and memory stay with the process. Another picture,
or another backend, uses them again, because an allocation would wait for all work of the GPU.

Nothing is freed by Python's collector. It runs in any thread, perhaps in one without a context,
where a call of the driver fails. A block of memory that nobody uses any more is put on a list, and
its slot takes it from there. When the process ends, the driver frees everything by itself.

Python may raise an interrupt between any two instructions. So memory that a slot hands on is held
by one object all the time, and the driver gets it back where an interrupt takes that object away.
"""

import contextlib
import copy
import functools
import itertools
import math
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from re import Pattern
from typing import Any, NamedTuple, TypeVar

import numpy as np

from fractals.backends.base import MakeBody, Prepare, Run, Work
from fractals.backends.block_array import BlockArray
from fractals.errors import (
    DeviceError,
    DeviceFailedError,
    DeviceLostError,
    DeviceMemoryError,
    FractalsError,
)
from fractals.kernels import escape

G = TypeVar("G", bound="Gpu")
STREAMS_PER_GPU = 2
LEAST_BLOCK = 256  # bytes; the drivers' own allocations are multiples of it
PARTS = 4  # sizes of blocks between two powers of two
ALIGNED = 256  # bytes, to which parts of page-locked memory are aligned
MAX_TABLES = 64  # small tables that a backend keeps on its GPUs

_bound = threading.local()  # `to`: the GPU of the thread


def block_size(size: int) -> int:
    """Return the bytes of the block that holds an array of this size.

    >>> block_size(1), block_size(1000), block_size(1100)
    (256, 1024, 1280)
    """
    step = max(LEAST_BLOCK, (1 << (max(1, size) - 1).bit_length()) // (2 * PARTS))
    return -(-max(1, size) // step) * step


class MemoryPiece(NamedTuple):
    """Memory of a GPU, which the driver gets back when no piece refers to it.

    `readers`: the slots, besides its own, whose streams read what lies there, or lay there before.
    """

    size: int
    address: int
    memory: Any
    readers: "set[StreamSlot]"


class Block:
    """A piece while an array lies in it; its slot has it again when all views are gone.

    The slot holds the piece, too: Python's collector would free one that only blocks hold.
    """

    def __init__(self, slot: "StreamSlot", piece: MemoryPiece) -> None:
        self.slot, self.piece = slot, piece
        self.address, self.readers = piece.address, piece.readers


class StreamSlot(ABC):
    """A stream of a GPU, and the memory of the threads that use it, one after the other.

    A stream does its work in the order in which it was given. So a block that Python no longer uses
    can be used again at once, even if the GPU still works on it.
    """

    def __init__(self, gpu: Any) -> None:
        self.gpu = gpu
        self._lent: dict[weakref.ref[Block], MemoryPiece] = {}  # the pieces of blocks
        self._returned: deque[weakref.ref[Block]] = deque()  # blocks that are gone
        self._unused: dict[int, list[MemoryPiece]] = {}  # size -> pieces in which no array lies
        self._staging: Any = None

    @abstractmethod
    def _allocate(self, size: int) -> tuple[int, Any]:
        """Return new memory of the GPU: its address, and what holds it."""

    @abstractmethod
    def _array(self, block: Block, shape: tuple[int, ...], dtype: Any) -> BlockArray:
        """Return a device array in a block."""

    @abstractmethod
    def copy_in(self, array: Any, into: Any) -> None:
        """Begin to copy a NumPy array, which may change afterwards, into a device array."""

    @abstractmethod
    def copy_out(self, array: Any, into: Any) -> None:
        """Begin to copy a device array into page-locked memory."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until the stream has done what it was given."""

    @abstractmethod
    def wait_for(self, other: Any) -> None:
        """Have the stream wait for what another of its GPU was given until now."""

    @abstractmethod
    def _page_locked(self, size: int) -> Any:
        """Return memory of the host, to which a GPU copies while threads do something else."""

    @abstractmethod
    def lap(self, k: int) -> Any:
        """Return the k-th event of a clock, which is recorded here."""

    @abstractmethod
    def seconds_between(self, begin: Any, end: Any) -> float:
        """Return the seconds between two events of a clock."""

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an uninitialised device array."""
        size = block_size(math.prod(shape) * np.dtype(dtype).itemsize)
        self._sort_returned()
        piece = self._taken(size)
        if piece is None:
            address, memory = self.with_room(lambda: self._allocate(size))
            piece = MemoryPiece(size, address, memory, set())
        block = Block(self, piece)
        # No code of Python's runs when the block is gone, so no interrupt can come there.
        self._lent[weakref.ref(block, self._returned.append)] = piece
        for reader in list(piece.readers):
            self.wait_for(reader)
            piece.readers.discard(reader)
        return self._array(block, shape, dtype)

    def filled(self, array: Any) -> Any:
        """Return a device array with a NumPy array's contents."""
        copy = self.empty(array.shape, array.dtype)
        self.copy_in(array, copy)
        return copy

    def _taken(self, size: int) -> MemoryPiece | None:
        """Return an unused piece of up to twice this size."""
        most = 2 * size
        while size <= most:
            # A thread that lacks memory may drop them at the same time.
            with contextlib.suppress(KeyError, IndexError):
                return self._unused[size].pop()
            size = block_size(size + 1)
        return None

    def _sort_returned(self) -> None:
        while self._returned:
            # A thread that lacks memory may drop the piece at the same time.
            if piece := self._lent.pop(self._returned.popleft(), None):
                self._unused.setdefault(piece.size, []).append(piece)

    def with_room(self, call: Callable[[], Any]) -> Any:
        """Return what a call returns; without memory, after what nobody uses is freed."""
        try:
            return call()
        except Exception as error:
            if not self.gpu.errors.is_out_of_memory(error):
                raise
        self.gpu.drop_unused()
        return call()

    def drop_unused(self) -> None:
        """Let the driver have the pieces that nobody uses; called by any thread with their GPU."""
        for block in list(self._lent):
            if block() is None:  # also where an interrupt has taken it from the list
                self._lent.pop(block, None)
        for pieces in list(self._unused.values()):
            pieces.clear()

    def addresses(self) -> list[int]:
        """Return where the pieces lie, with an array or without."""
        unused = itertools.chain.from_iterable(self._unused.values())
        return [piece.address for piece in (*self._lent.values(), *unused)]

    def reads(self, array: BlockArray) -> None:
        """Have the stream wait for the contents of an array that another one fills."""
        block = array.block
        if block.slot is not self and self not in block.readers:
            assert block.slot.gpu is self.gpu, "a GPU reads no memory of another one"
            self.wait_for(block.slot)
            block.readers.add(self)

    def copy_to_host(self, arrays: Sequence[Any]) -> list[Any]:
        """Return copies of device arrays in page-locked memory, valid until the next call.

        A copy to any other array would keep the calling thread waiting.
        """
        ends = np.cumsum([0, *(-(-array.nbytes // ALIGNED) * ALIGNED for array in arrays)])
        if self._staging is None or self._staging.size < ends[-1]:
            self._staging = self._staged(block_size(int(ends[-1])))
        copies = []
        for array, begin in zip(arrays, ends.tolist(), strict=False):
            part = self._staging[begin : begin + array.nbytes]
            copies.append(part.view(array.dtype).reshape(array.shape))
            owner = array.slot
            if owner.gpu is self.gpu:
                self.reads(array)
                self.copy_out(array, copies[-1])
                continue
            owner.gpu.bind()
            try:
                owner.copy_out(array, copies[-1])
                owner.synchronize()
            finally:
                self.gpu.bind()
        self.synchronize()
        return copies

    def _staged(self, size: int) -> Any:
        try:
            return self._page_locked(size)
        except Exception as error:
            if not self.gpu.errors.is_out_of_memory(error):
                raise
            return np.empty(size, np.uint8)  # copies to it are as right, and slower


class Errors(NamedTuple):
    """What the errors of a driver mean."""

    is_own: Callable[[BaseException], bool]  # whether the driver raised it
    is_out_of_memory: Callable[[BaseException], bool]
    line: Callable[[BaseException], str]  # the error in one line
    # Lines of errors after which a context can do nothing more, and neither can this process on
    # that GPU
    fatal: Pattern[str]


class Gpu(ABC):
    """What this process keeps of a GPU: its slots, and why it is lost if it has failed."""

    errors: Errors
    title = "the GPU"  # in messages

    def __init__(self, index: int) -> None:
        self.index, self.lost = index, ""
        self.unused: list[Any] = []  # slots without a thread
        self._slots: list[Any] = []

    @abstractmethod
    def _slot(self) -> Any:
        """Return a new slot."""

    @abstractmethod
    def _wait(self) -> None:
        """Wait for the work of all streams."""

    @abstractmethod
    def _select(self) -> None:
        """Make the GPU the current one of the calling thread."""

    def take(self) -> Any:
        """Return a slot, which goes back to `unused`; the GPU is that of the thread."""
        with contextlib.suppress(IndexError):
            return self.unused.pop()
        self._slots.append(self._slot())
        return self._slots[-1]

    def bind(self) -> None:
        """Make the GPU the current one of the calling thread, which another picture has changed."""
        if self.lost:
            raise DeviceLostError(self.lost)
        if getattr(_bound, "to", None) is not self:
            self._select()
            _bound.to = self

    def bind_again(self) -> None:
        """Make the GPU the current one again, where other code of the thread has changed it."""
        self.bind()

    def drop_unused(self) -> None:
        """Have the driver free all memory that nobody uses; called by a thread of this GPU."""
        self._wait()
        for slot in self._slots:
            slot.drop_unused()

    def lose(self, line: str) -> None:
        """Note why the GPU can't be used any more."""
        self.lost = line


def one_each(make: Callable[[int], G]) -> Callable[[int], G]:
    """Return ``make(index)``, which makes a GPU once, also if threads ask for it at once.

    Two objects of a GPU would keep slots of their own, and neither reads the other's memory.
    """
    found, lock = functools.cache(make), threading.Lock()

    @functools.wraps(make)
    def get(index: int) -> G:
        with lock:
            return found(index)

    get.cache_clear = found.cache_clear  # type: ignore[attr-defined]
    return get


class StreamPool:
    """The slots of one GPU or several; a thread takes a slot at its first use, until it ends."""

    def __init__(self, gpus: Sequence[Any]) -> None:
        self._gpus = gpus
        self._next = itertools.cycle(gpus)
        self._free: list[Any] = []  # GPUs whose threads have ended
        self._lock = threading.Lock()
        self._taken = threading.local()

    def here(self) -> Any:
        """Return the slot of the calling thread."""
        if not hasattr(self._taken, "hold"):
            with self._lock:
                gpu = self._free.pop() if self._free else next(self._next)
            self._taken.hold = _Hold(gpu, self._free)
        hold = self._taken.hold
        hold.gpu.bind()
        hold.slot = hold.slot or hold.gpu.take()
        return hold.slot

    def check(self) -> None:
        """Raise `DeviceLostError` if a GPU is lost; bind the calling thread again."""
        for gpu in self._gpus:
            if gpu.lost:
                raise DeviceLostError(gpu.lost)
        with contextlib.suppress(AttributeError):
            self._taken.hold.gpu.bind_again()


class _Hold:
    """A GPU and a slot of it, which are given back when the thread ends."""

    def __init__(self, gpu: Any, free: list[Any]) -> None:
        self.gpu, self.slot, self._free = gpu, None, free

    def __del__(self) -> None:
        if self.slot:
            self.gpu.unused.append(self.slot)
        self._free.append(self.gpu)


class ReplicatedArray:
    """An array with a copy on each GPU, made when a thread of that GPU first needs it."""

    def __init__(self, array: Any) -> None:
        self._host, self.shape, self.dtype = np.array(array), array.shape, array.dtype
        self._copies: dict[Any, Any] = {}
        self._lock, self._first = threading.Lock(), 0

    def on(self, slot: StreamSlot) -> Any:
        """Return the copy on a slot's GPU."""
        with self._lock:
            if slot.gpu not in self._copies:
                self._copies[slot.gpu] = slot.filled(self._host)
            whole = self._copies[slot.gpu]
        return whole.from_column(self._first) if self._first else whole

    def from_column(self, first: int) -> "ReplicatedArray":
        """Return the arrays without their first columns: see `BlockArray.from_column`."""
        part = copy.copy(self)  # both share the copies on the GPUs
        part._first += first
        return part


class StreamClock:
    """A `fractals.backends.base.Clock` of events, in the stream of a slot."""

    def __init__(self, slot: StreamSlot) -> None:
        self._slot, self._stages, self._begun = slot, list[str](), time.perf_counter()
        with failing(slot.gpu.errors):
            self._laps = [slot.lap(0)]

    def lap(self, stage: str) -> None:
        """End a stage here."""
        self._stages.append(stage)
        with failing(self._slot.gpu.errors):
            self._laps.append(self._slot.lap(len(self._laps)))

    def end(self, stage: str) -> dict[str, float]:
        """Give the last stage what is left of the time that has passed; return the seconds."""
        spent: dict[str, float] = {}
        for name, lap in zip(self._stages, itertools.pairwise(self._laps), strict=True):
            with failing(self._slot.gpu.errors):
                spent[name] = spent.get(name, 0.0) + self._slot.seconds_between(*lap)
        left = time.perf_counter() - self._begun - sum(spent.values())
        spent[stage] = spent.get(stage, 0.0) + max(0.0, left)
        return spent


class StreamBackend(ABC):
    """What a backend of GPUs needs besides a compiler.

    Several threads may use a backend at once, a stream each; the GPUs share the threads evenly.

    `number`: "float64" or "float32". `gpus`: of the backend. `steps`: most iterations of a launch,
    as in `Backend`. `streams`: of the GPUs; each thread has one.
    """

    cuts = True  # as in `Backend`

    def __init__(self, number: str, gpus: Sequence[Any], steps: int, threads: int = 0) -> None:
        self.threads, self.steps = threads or STREAMS_PER_GPU * len(gpus), steps
        self.real = np.dtype(number).type
        self.streams = StreamPool(gpus)
        self._number, self._errors, self._several = number, gpus[0].errors, len(gpus) > 1
        self._tally: Run | None = None
        self._tables: dict[int, tuple[Any, Any]] = {}
        try:
            with self._failing():
                self.streams.here()
        except FractalsError as error:
            raise DeviceError(str(error)) from error

    @abstractmethod
    def compile(self, make_body: MakeBody, *options: Any) -> Run:
        """Return ``run(out, *arguments)``, which launches a kernel over the elements of `out`."""

    @property
    def slot(self) -> Any:
        """The calling thread's stream, with its memory."""
        return self.streams.here()

    def check(self) -> None:
        """Raise `DeviceLostError` if a GPU has failed, also since the last picture."""
        with self._failing():
            self.streams.check()
        self.synchronize()

    def compile_tile_loop(self, work: Work, dtype: Any = None) -> Prepare | None:
        """Return None: Python goes from tile to tile."""
        return None

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an uninitialised device array."""
        with self._failing(shape, dtype):
            return self.slot.empty(shape, dtype)

    def to_device(self, array: Any, kept: bool = False) -> Any:
        """Return a device array with a NumPy array's contents; of several GPUs, on each."""
        if kept and id(array) in self._tables:
            return self._tables[id(array)][1]
        with self._failing(array.shape, array.dtype):
            copy = ReplicatedArray(array) if self._several else self.slot.filled(array)
        if kept:
            if len(self._tables) == MAX_TABLES:
                self._tables.clear()
            self._tables[id(array)] = array, copy
        return copy

    def copy_to(self, array: Any, into: Any) -> None:
        """Copy a NumPy array into a part of a device array, which this thread has made."""
        with self._failing():
            self.slot.copy_in(array, into)

    def to_host(self, array: Any, into: Any) -> None:
        """Copy a device array into a NumPy array; work begun before is then done."""
        self.all_to_host([(array, into)])

    def all_to_host(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Copy device arrays into NumPy arrays; work begun before is then done."""
        with self._failing():
            slot = self.slot
            arrays = (array for array, _ in pairs)
            copies = slot.copy_to_host(
                [a.on(slot) if isinstance(a, ReplicatedArray) else a for a in arrays]
            )
            for (_, into), copy in zip(pairs, copies, strict=True):
                into[...] = copy

    def tally(self, count: Any, max_iterations: int) -> Any:
        """Return the least and the greatest count of each column, and the samples inside."""
        self._tally = self._tally or self.compile(escape.make_tally_body)
        found = self.empty((escape.ROWS, count.shape[1]), np.int32)
        self._tally(found, count, np.int32(max_iterations))
        return found

    def clock(self) -> Any:
        """Return a clock that starts here, for the calling thread."""
        with self._failing():
            slot = self.slot
        return StreamClock(slot)

    def synchronize(self) -> None:
        """Wait until what the calling thread began is done."""
        with self._failing():
            self.slot.synchronize()

    def _resolve(self, value: Any, slot: Any) -> Any:
        """Return what a slot's stream may read from now on."""
        if isinstance(value, tuple):
            own: Any = value
            parts = (self._resolve(part, slot) for part in value)
            return own._make(parts) if hasattr(own, "_make") else tuple(parts)
        if isinstance(value, ReplicatedArray):
            value = value.on(slot)
        if isinstance(value, BlockArray):
            slot.reads(value)
        return value

    def _failing(
        self, shape: tuple[int, ...] = (), dtype: Any = np.uint8
    ) -> contextlib.AbstractContextManager[None]:
        return failing(self._errors, shape, dtype)


@contextlib.contextmanager
def failing(errors: Errors, shape: tuple[int, ...] = (), dtype: Any = np.uint8) -> Iterator[None]:
    """Turn what a driver raises into one line for the user."""
    try:
        yield
    except Exception as error:
        answer(error, errors, shape, dtype)
        raise


def answer(
    error: Exception, errors: Errors, shape: tuple[int, ...] = (), dtype: Any = np.uint8
) -> None:
    """Raise one line for the user in place of an error of a driver; return after any other."""
    if isinstance(error, FractalsError):
        return
    cause: BaseException = error
    if isinstance(error, SystemError) and error.__cause__:  # as cuda-core passes some errors on
        cause = error.__cause__
    gpu = getattr(_bound, "to", None)
    title = gpu.title if gpu else Gpu.title
    if errors.is_out_of_memory(cause):
        need = np.prod(shape, dtype=np.int64) * np.dtype(dtype).itemsize / 2**20
        asked = f" (asked for {need:.3g} MiB more)" if need >= 0.1 else ""
        raise DeviceMemoryError(f"{title} is out of memory{asked}") from cause
    if not errors.is_own(cause):
        return
    line = f"{title} failed: {errors.line(cause)}"
    if gpu and errors.fatal.search(line):
        gpu.lose(f"{line}; this process can't use it any more")
        raise DeviceLostError(gpu.lost) from cause
    raise DeviceFailedError(line) from cause
