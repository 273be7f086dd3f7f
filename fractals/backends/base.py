"""The protocol of a backend, its limits, and the programs that it compiles."""

import math
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fractals.backends.compilation import compile_clock
from fractals.kernels import Target
from fractals.threads import Progress, run_tiles

T = TypeVar("T")
MakeBody = Callable[..., Callable[..., None]]
Prepare = Callable[[], Callable[..., NDArray[np.int64]]]

LARGE = 2**16  # bytes from which an array is kept for reuse; smaller ones cost less than the search
LINE = 64  # bytes of a CPU's cache line: a vector that crosses two lines takes two accesses


_ONE = [np.empty(0, np.uint8)]
UNUSED = sys.getrefcount(_ONE[0])  # references to an array that only a list holds


def _aligned(size: int) -> NDArray[np.uint8]:
    """Return an array of bytes that begins with a cache line."""
    memory = np.empty(size + LINE, np.uint8)
    begin = -memory.ctypes.data % LINE
    return np.frombuffer(memory.data[begin : begin + size], np.uint8)


@dataclass(frozen=True)
class Limits:
    """What a kind of device does at once, and about how fast it is: known before it is opened."""

    # Most samples of a tile. This bounds the memory of a tile, and lets a GPU copy one tile while
    # it computes another.
    samples_per_tile: int
    # Fewest samples of a tile that a picture of many iterations is divided into
    min_samples_per_tile: int
    # Most iterations of a tile's samples together. This bounds the time until Ctrl-C is noticed.
    steps_per_tile: int
    steps_per_check: int  # iterations of a sample between two tests for its escape
    # Whether tiles may be narrower than the picture: neighbors then share more of their work
    rectangles: bool
    shared_by_threads: bool  # whether a picture is divided so that each thread gets many tiles
    # steps_per_second, samples_per_second, seconds_per_deep_sample: speed of one thread, for
    # forecasts: of direct iteration, of coloring, of perturbation
    steps_per_second: float
    samples_per_second: float
    seconds_per_deep_sample: float


class Run:
    """A compiled program: ``run(out, *arguments)`` fills the elements of `out`.

    `loop`: how samples are iterated. On the CPU "packs" (direct iteration, many samples in SIMD
    registers), "packets" (perturbation, the same) or "plain" (one sample after the other, 5 to 25
    times slower for iteration). On a GPU "kernel"; in plain Python "python". `reason`: why a
    program that iterates is not compiled to packs or packets; empty where it is. `program`: the
    program as an argument of other compiled code, or where colors are painted what returns it for
    a number of samples a pixel along an axis. `bind`: does faster what `bound` does.
    """

    def __init__(
        self,
        call: Callable[..., None],
        loop: str,
        reason: str = "",
        program: Any = None,
        scratch_sizes: Any = None,
        bind: Callable[..., Callable[..., None]] | None = None,
    ) -> None:
        self._call, self._bind = call, bind
        self.loop, self.reason, self.program = loop, reason, program
        # Returns the sizes of the two arrays in which `program` works, for rows of some samples
        self.scratch_sizes = scratch_sizes
        self.called = False  # the first call compiles for the types of its arguments

    @property
    def label(self) -> str:
        """Return the loop, and after a colon why it is not a faster one."""
        return f"{self.loop}: {self.reason}" if self.reason else self.loop

    def __call__(self, *arguments: Any) -> None:
        """Fill the elements of the first argument."""
        self._call(*arguments)
        self.called = True

    def bound(self, *last: Any) -> Callable[..., None]:
        """Return the program with its last arguments given, for calls that have these in common."""
        if self._bind:
            return self._bind(*last)
        return lambda *first: self._call(*first, *last)


class Work(NamedTuple):
    """The programs and inputs with which compiled code computes whole tiles."""

    # x, y, width and height of each tile, in pixels; ndarray of int64, shape (tiles, 4)
    tiles: NDArray[np.int64]
    n: int  # samples per pixel along each axis
    derivative: bool  # whether the iteration computes dz
    planes: int  # planes of statistics
    # iterate, place, paint: programs that `Backend.compile` returned; `place` and `paint` are None
    # where only raw data is kept, `iterate` where tiles are read from arrays of the whole picture
    iterate: Run | None
    # inputs, coloring, colors: arguments of these programs besides those of the tile. Without
    # `iterate` the inputs are counts, z and dz, as pairs of real numbers, and the limit.
    inputs: tuple[Any, ...]
    place: Run | None = None
    coloring: tuple[Any, ...] = ()
    paint: Run | None = None
    colors: tuple[Any, ...] = ()


class Clock(Protocol):
    """Measures the seconds of a tile's stages, without a wait for them."""

    def lap(self, stage: str) -> None:
        """End a stage here: what the thread began since the last lap belongs to it."""

    def end(self, stage: str) -> dict[str, float]:
        """End the last stage, of which all work is done, and return the seconds of each."""


STAGES = ("compile", "reference", "iterate", "color", "copy", "encode")


class Stages:
    """Seconds of the stages of a call, or of a tile's work in one thread.

    Time passes in one stage after the other: none is left out, and none counts twice. What is
    compiled within a stage belongs to "compile".
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self._clock = compile_clock()
        self._last, self._compiled = perf_counter(), self._clock.seconds()

    def lap(self, stage: str) -> None:
        """End a stage here: the time since the last stage belongs to it."""
        self.share({stage: 1.0})

    def share(self, spent: Mapping[str, float]) -> None:
        """Divide the time since the last stage in proportion to what threads spent on stages.

        Where they spent nothing, the time belongs to the stage that follows.
        """
        whole = sum(spent.values())
        if not whole:
            return
        now, compiled = perf_counter(), self._clock.seconds()
        passed, compiling = now - self._last, compiled - self._compiled
        self._last, self._compiled = now, compiled
        self.seconds["compile"] += compiling
        for stage, seconds in spent.items():
            self.seconds[stage] += (passed - compiling) * seconds / whole

    def end(self, stage: str) -> dict[str, float]:
        """End the last stage of a tile, and return the seconds of each but "compile"."""
        self.lap(stage)
        del self.seconds["compile"]  # it is no work of the tile, and other threads wait for it
        return self.seconds


class Backend(Protocol):
    """Compiles and runs programs on one kind of device, and holds their arrays.

    An array belongs to the thread that asked for it. Any thread may read it, once the call that
    fills it has returned there: where threads have streams of their own, their work waits for that
    of the array's thread. Nobody writes to an array that others read.

    A program begins, and may end later; work that a thread began is done in this order. Only
    `to_host`, `all_to_host` and `synchronize` wait for it.
    """

    kind: str  # "cpu", "cuda", "opencl", "simulator" or "python"
    threads: int  # threads that compute tiles; 0 means the calling thread
    steps: int  # most iterations of all samples in one call of a program; 0 means no limit
    real: type[np.floating[Any]]  # NumPy's number type of the iteration
    cuts: bool  # whether arrays on the device have `from_column`, so tiles share a picture's rows

    @property
    def target(self) -> Target:
        """How functions are compiled."""

    def compile(self, make_body: MakeBody, *options: Any) -> Run:
        """Return ``run(out, *arguments)``, which fills the elements of `out`."""

    def compile_tile_loop(self, work: Work, dtype: Any = None) -> Prepare | None:
        """Return a function that prepares compiled code for a thread; None if unsupported.

        The compiled code takes tiles from a queue and does all work of a tile. With the type of a
        pixel's channels it is ``run(cells, picture, band, pixels_left)``, without it
        ``run(cells, count, z, dz)``. Both return the ticks of the stages, and the counts: of a loop
        that has read a wrong count the number of samples is below 0.
        """

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an uninitialised array on the device."""

    def to_device(self, array: Any, kept: bool = False) -> Any:
        """Return a NumPy array's contents on the device.

        `kept`: the array is a table for many pictures, to which nobody writes. It is copied once.
        """

    def copy_to(self, array: Any, into: Any) -> None:
        """Copy a NumPy array into a part of an array on the device."""

    def to_host(self, array: Any, into: Any) -> None:
        """Copy a device array into a NumPy array, after all work that the thread began before."""

    def all_to_host(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Copy device arrays into NumPy arrays as `to_host` does, with one wait."""

    def tally(self, count: Any, max_iterations: int) -> Any:
        """Return sums of the counts of a tile, on the device: int32, shape (3, columns).

        The rows hold the least and the greatest count of samples that escaped, and the number of
        those that did not. Where none escaped, the least is `max_iterations` and the greatest -1.
        """

    def clock(self) -> Clock:
        """Return a clock that starts here, for the calling thread."""

    def synchronize(self) -> None:
        """Wait for all work that the calling thread began."""

    def check(self) -> None:
        """Raise `DeviceLostError` if the device has failed: called before each picture."""


def run_pieces(
    backend: Backend,
    pieces: Sequence[T],
    work: Callable[[T], None],
    progress: Progress | None = None,
) -> None:
    """Do the work of pieces: on the CPU by all threads, and on a GPU launch after launch."""
    run_tiles(pieces, work, backend.threads if backend.kind == "cpu" else 0, progress)


def moved(backend: Backend, part: Any) -> Any:
    """Return a named tuple, or a list of some, with their arrays on the device."""
    if isinstance(part, list):
        return [moved(backend, each) for each in part]
    if isinstance(part, tuple):
        return part._make(moved(backend, each) for each in part)  # type: ignore[attr-defined]
    return backend.to_device(part) if isinstance(part, np.ndarray) else part


def tally_of(count: NDArray[np.int32], max_iterations: int) -> NDArray[np.int32]:
    """Return what `Backend.tally` does, of all columns together."""
    least, greatest = int(count.min()), int(count.max())
    if greatest < max_iterations:  # all escaped, as in most tiles of most pictures
        return np.array([[least], [greatest], [0]], np.int32)
    if least >= max_iterations:
        return np.array([[max_iterations], [-1], [count.size]], np.int32)
    if greatest > max_iterations:
        count = np.minimum(count, max_iterations)
    left = np.subtract(count, np.int32(max_iterations), dtype=np.int32)
    # 0 inside, and below 0 elsewhere: the latter are the largest unsigned numbers. To take the
    # greatest under a mask takes up to 40 times as long.
    largest = int(left.view(np.uint32).max())
    inside = left.size - int(np.count_nonzero(left))
    return np.array([[least], [largest - 2**32 + max_iterations], [inside]], np.int32)


class HostMemory:
    """Arrays of a backend that computes in the memory of the host.

    A thread reuses large arrays that were freed, because asking the system for memory takes longer
    than a tile of few iterations.
    """

    steps, cuts = 0, False
    clock = Stages  # calls return when their work is done
    tally = staticmethod(tally_of)

    def __init__(self) -> None:
        self._kept = threading.local()

    def compile_tile_loop(self, work: Work, dtype: Any = None) -> Prepare | None:
        """Return None: Python code loops over the tiles."""
        return None

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an uninitialised array."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size < LARGE:
            return np.empty(shape, dtype)
        kept: list[NDArray[np.uint8]] = self._kept.__dict__.setdefault("arrays", [])
        for k in range(len(kept)):
            if kept[k].size >= size and sys.getrefcount(kept[k]) == UNUSED:
                break
        else:
            k = len(kept)
            kept.append(_aligned(size))
        return np.ndarray(shape, dtype, kept[k])

    def to_device(self, array: Any, kept: bool = False) -> Any:
        """Return the array itself."""
        return array

    def copy_to(self, array: Any, into: Any) -> None:
        """Copy the array."""
        into[...] = array

    def to_host(self, array: Any, into: Any) -> None:
        """Copy the array."""
        into[...] = array

    def all_to_host(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Copy the arrays."""
        for array, into in pairs:
            into[...] = array

    def synchronize(self) -> None:
        """Do nothing, because a call returns when its work is done."""

    def check(self) -> None:
        """Do nothing: a CPU that fails takes the process with it."""
