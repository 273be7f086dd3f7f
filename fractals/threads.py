"""Maps tiles to threads, and stays awake for progress and Ctrl-C."""

import contextlib
import functools
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

import numpy as np

T = TypeVar("T")
Progress = Callable[[int, int], None]  # tiles done, tiles in all
Tasks = SimpleQueue[Callable[[], None] | None]  # of one thread, which None ends

WAKE = 0.05  # seconds between two looks at what the threads have done


def core_count() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Queue:
    """Numbers of tiles that threads take one after the other, in compiled code too.

    Attributes
    ----------
    total : int
        How many tiles there are.
    cells : ndarray of int64
        NEXT, the tile that is taken next; LIMIT, the one that must not be taken yet; DONE, how many
        are done.
    """

    NEXT, LIMIT, DONE = 0, 1, 2

    def __init__(self, total: int) -> None:
        self.total = total
        self.cells = np.array([0, total, 0], np.int64)
        self._stopped = False

    @property
    def left(self) -> int:
        """Return how many tiles are still to be taken; none where it was stopped."""
        return 0 if self._stopped else self.total - int(self.cells[Queue.NEXT])

    @property
    def waiting(self) -> int:
        """Return how many of these may be taken now."""
        return max(0, int(self.cells[Queue.LIMIT] - self.cells[Queue.NEXT]))

    def allow(self, limit: int) -> None:
        """Have the tiles before this one be taken, and no others yet."""
        self.cells[Queue.LIMIT] = limit
        if self._stopped:  # perhaps since the line above
            self.cells[Queue.LIMIT] = 0

    def stop(self) -> None:
        """Have threads end when they are done with the tile they are at."""
        self._stopped = True
        self.cells[Queue.LIMIT] = 0


def run_tiles(
    tiles: Sequence[T],
    work: Callable[[T], Mapping[str, float]],
    threads: int,
    progress: Progress | None = None,
) -> dict[str, float]:
    """Do the work of every tile and return the seconds of each stage, summed over tiles.

    With 0 threads the work is done in the calling one (a GPU's context and the simulator belong to
    it); otherwise as by `run_threads`.
    """
    spent: dict[str, float] = {}
    done = 0

    def finish(seconds: Mapping[str, float]) -> None:
        nonlocal done
        done += 1
        add(spent, seconds)

    if threads == 0:
        for tile in tiles:
            finish(work(tile))
            if progress:
                progress(done, len(tiles))
        return spent

    numbers = itertools.count()  # its next() is atomic under the interpreter's lock
    cancelled = threading.Event()
    lock = threading.Lock()

    def worker() -> None:
        while not cancelled.is_set() and (k := next(numbers)) < len(tiles):
            seconds = work(tiles[k])
            with lock:
                finish(seconds)

    def look() -> None:
        if progress:
            progress(done, len(tiles))

    run_threads([worker] * threads, look, cancelled.set)
    return spent


def run_queue(
    queue: Queue,
    works: Iterable[Callable[[], Mapping[str, float]]],
    progress: Progress | None = None,
) -> dict[str, float]:
    """Do works that take their tiles from the queue, a thread each; return the stages' sums."""
    spent: dict[str, float] = {}
    lock = threading.Lock()

    def worker(work: Callable[[], Mapping[str, float]]) -> None:
        seconds = work()
        with lock:
            add(spent, seconds)

    def look() -> None:
        if progress:
            progress(int(queue.cells[Queue.DONE]), queue.total)

    run_threads([functools.partial(worker, work) for work in works], look, queue.stop)
    return spent


def run_threads(
    works: Sequence[Callable[[], None]], look: Callable[[], None], stop: Callable[[], None]
) -> None:
    """Do each work in a thread; `look` now and then, and at the end, in the calling one.

    That one only waits, so that it hears a KeyboardInterrupt at once. The first error ends all
    work, of which `stop` tells the threads, and is raised here.
    """
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    errors: list[BaseException | None] = []

    def worker(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            ended.put(error)
            stop()
        else:
            ended.put(None)

    try:
        for tasks, work in zip(_workers(len(works)), works, strict=True):
            tasks.put(functools.partial(worker, work))
        while len(errors) < len(works):
            with contextlib.suppress(Empty):
                errors.append(ended.get(timeout=WAKE))
            look()
    finally:
        stop()
    for error in filter(None, errors):
        raise error


class _Workers:
    """Threads that wait for tasks, each with a queue of its own, for as long as this object lives.

    Where there are as many as cores, each keeps to one. Otherwise a scheduler may put one behind
    another for some milliseconds, while a core idles: as long as it takes to draw a picture.
    """

    def __init__(self, cores: Sequence[int | None]) -> None:
        self.tasks: list[Tasks] = [SimpleQueue() for _ in cores]
        ready: SimpleQueue[None] = SimpleQueue()
        for tasks, core in zip(self.tasks, cores, strict=True):
            threading.Thread(target=_serve, args=(tasks, core, ready), daemon=True).start()
            weakref.finalize(self, tasks.put, None).atexit = False
        for _ in cores:
            ready.get()  # a thread that is not yet on its core could have to wait for another


def _serve(tasks: Tasks, core: int | None, ready: SimpleQueue[None]) -> None:
    if core is not None:
        with contextlib.suppress(OSError):  # it is no longer ours
            os.sched_setaffinity(0, {core})
    ready.put(None)
    while task := tasks.get():
        task()
        del task  # it would keep a picture alive


class _Kept(threading.local):
    def __init__(self) -> None:
        self.workers: dict[tuple[int, ...], _Workers] = {}


_kept = _Kept()


def _workers(count: int) -> Sequence[Tasks]:
    """Return the queues of so many workers of the calling thread; they end when it does.

    A process that was forked, or moved to other cores, has others.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    key = os.getpid(), count, *cores
    if key not in _kept.workers:
        _kept.workers[key] = _Workers(cores if 1 < count == len(cores) else [None] * count)
    return _kept.workers[key].tasks


def add(spent: dict[str, float], seconds: Mapping[str, float]) -> None:
    """Add the seconds of each stage to what is there."""
    for stage, value in seconds.items():
        spent[stage] = spent.get(stage, 0.0) + value
