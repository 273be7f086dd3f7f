"""Maps tiles to threads, and stays awake for progress and Ctrl-C."""

import itertools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
Progress = Callable[[int, int], None]  # tiles done, tiles in all

WAKE = 0.05  # seconds between two looks at what the threads have done


def core_count() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_tiles(
    tiles: Sequence[T],
    work: Callable[[T], Mapping[str, float]],
    threads: int,
    progress: Progress | None = None,
) -> dict[str, float]:
    """Do the work of every tile and return the seconds of each stage, summed over tiles.

    With 0 threads the work is done in the calling one (a GPU's context and the simulator belong to
    it); otherwise the calling thread only waits, so that it hears a KeyboardInterrupt at once. The
    first error ends all work and is raised here.
    """
    spent: dict[str, float] = {}
    done = 0

    def finish(seconds: Mapping[str, float]) -> None:
        nonlocal done
        done += 1
        for stage, value in seconds.items():
            spent[stage] = spent.get(stage, 0.0) + value

    if threads == 0:
        for tile in tiles:
            finish(work(tile))
            if progress:
                progress(done, len(tiles))
        return spent

    numbers = itertools.count()  # its next() is atomic under the interpreter's lock
    cancelled = threading.Event()
    errors: list[BaseException] = []
    lock = threading.Lock()

    def worker() -> None:
        try:
            while not cancelled.is_set() and (k := next(numbers)) < len(tiles):
                seconds = work(tiles[k])
                with lock:
                    finish(seconds)
        except BaseException as error:
            errors.append(error)
            cancelled.set()

    workers = [threading.Thread(target=worker, daemon=True) for _ in range(threads)]
    try:
        for thread in workers:
            thread.start()
        for thread in workers:
            while thread.is_alive():
                thread.join(WAKE)
                if progress:
                    progress(done, len(tiles))
        if progress:
            progress(done, len(tiles))
    finally:
        cancelled.set()
    if errors:
        raise errors[0]
    return spent
