"""Maps tiles to threads, and stays awake for progress and Ctrl-C."""

import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")
Progress = Callable[[int, int], None]  # tiles done, tiles in all

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
        self.cells[Queue.LIMIT] = 0 if self._stopped else limit

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
    errors: list[BaseException] = []

    def worker(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
            stop()

    threads = [threading.Thread(target=worker, args=(work,), daemon=True) for work in works]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(WAKE)
                look()
        look()
    finally:
        stop()
    if errors:
        raise errors[0]


def add(spent: dict[str, float], seconds: Mapping[str, float]) -> None:
    """Add the seconds of each stage to what is there."""
    for stage, value in seconds.items():
        spent[stage] = spent.get(stage, 0.0) + value
