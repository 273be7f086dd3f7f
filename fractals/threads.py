"""Maps tiles to threads, and stays awake for progress and Ctrl-C.

Tiles are computed by daemon threads, which end with the thread that called. While a picture is
computed by as many threads as there are cores, each is kept on one core (Linux), unless another
process of the user does so at that moment. The affinity of other threads is never changed.
docs/reference/process.md lists what else changes in the process of a caller.
"""

import contextlib
import contextvars
import ctypes
import functools
import itertools
import math
import os
import socket
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Progress = Callable[[int, int], None]  # tiles done, tiles in all
Tasks = SimpleQueue[Callable[[], None] | None]  # of one thread, which None ends

PATIENCE = 0.5  # seconds in which compiled loops that look at `Queue.HALT` end, after an error
WAKE = 0.05  # seconds between two calls for progress, and until a KeyboardInterrupt is raised
CLAIM = "fractals-threads-on-cores"  # name of what one process of a user holds at a time
OWN_GROUPS, GROUPS = "/proc/self/cgroup", "/sys/fs/cgroup"  # where Linux tells of control groups


_pinned: dict[int, set[int]] = {}  # native id of a worker -> the cores it may use otherwise


def allowed_cores() -> set[int]:
    """Return the cores that the calling thread may use; nothing where the system doesn't say.

    A worker that this module keeps on one core counts with all cores of its caller.
    """
    if not hasattr(os, "sched_getaffinity"):
        return set()
    return _pinned.get(threading.get_native_id()) or os.sched_getaffinity(0)


def core_count() -> int:
    """Return how many cores this process may use, and has the time of.

    The threads of a container (``docker run --cpus=1``) may run on all cores. Once they have used
    up the time of one core together, all of them stand still for the rest of a tenth of a second.
    """
    return min(len(allowed_cores()) or os.cpu_count() or 1, _cores_of_time())


@functools.cache  # a limit is rarely changed, and a picture asks some ten times
def _cores_of_time() -> int:
    """Return the cores that the limits of time amount to, rounded up."""
    least = float(sys.maxsize)
    for names in (["cpu.max"], ["cpu.cfs_quota_us", "cpu.cfs_period_us"]):
        for texts in group_files("cpu", names):
            quota, period, *_ = (*" ".join(texts).split(), "0", "0")
            if quota.isdecimal() and int(period):  # neither "max" nor -1
                least = min(least, int(quota) / int(period))
    return max(1, math.ceil(least))


def group_files(controller: str, names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts of these files of each control group of Linux that this process is in.

    Containers and services of systemd are such groups. The limits of the groups around a group hold
    for it, too. A container sees only its own group, as the outermost one.
    """
    try:
        lines = Path(OWN_GROUPS).read_text("utf-8", "surrogateescape").strip().split("\n")
    except OSError:
        return
    # A kernel without groups says nothing.
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") > 1):
        group = PurePosixPath(path)
        root = f"{GROUPS}/{controller}" if controllers else GROUPS  # none: version 2 of the groups
        if not controllers or controller in controllers.split(","):
            for each in (group, *group.parents):
                with contextlib.suppress(OSError, ValueError):
                    yield [Path(f"{root}{each}", name).read_text("utf-8") for name in names]


def threads_for(asked: int | None, usual: int = 0) -> int:
    """Return how many threads to start: those asked for, or `usual`, but at most one a core."""
    return min(asked or usual or core_count(), core_count())


class Queue:
    """Numbers of tiles that threads take one after the other, in compiled code too."""

    NEXT, LIMIT, DONE, HALT = 0, 1, 2, 3

    def __init__(self, total: int) -> None:
        self.total = total  # how many tiles there are
        # NEXT, the tile that is taken next; LIMIT, the one that must not be taken yet; DONE, how
        # many are done; HALT, 1 where tiles are not needed: compiled loops then return early;
        # ndarray of int64
        self.cells = np.array([0, total, 0, 0], np.int64)
        self._lock = threading.Lock()

    @property
    def stopped(self) -> bool:
        """Tell whether no further tile is to be taken, and the tiles under way are not needed."""
        return bool(self.cells[Queue.HALT])

    @property
    def left(self) -> int:
        """Return how many tiles are still to be taken; none where it was stopped."""
        return 0 if self.stopped else self.total - int(self.cells[Queue.NEXT])

    @property
    def waiting(self) -> int:
        """Return how many of these may be taken now."""
        return max(0, int(self.cells[Queue.LIMIT] - self.cells[Queue.NEXT]))

    def allow(self, limit: int) -> None:
        """Have the tiles before this one be taken, and no others yet."""
        self.cells[Queue.LIMIT] = limit
        if self.stopped:  # perhaps since the line above
            self.cells[Queue.LIMIT] = 0

    def stop(self) -> None:
        """Have threads take no further tile, and end the ones under way as soon as they can."""
        self.cells[Queue.HALT] = 1
        self.cells[Queue.LIMIT] = 0

    def numbers(self) -> Iterator[int]:
        """Yield numbers of tiles until none is left; each counts as done when the next is taken."""
        while True:
            with self._lock:
                if self.waiting == 0:
                    return
                k = int(self.cells[Queue.NEXT])
                self.cells[Queue.NEXT] += 1
            yield k
            with self._lock:
                self.cells[Queue.DONE] += 1


def within(progress: Progress | None, before: int, own: int, whole: int) -> Progress | None:
    """Return the progress function of a part of some work: of `own` steps after those before.

    `whole`: the steps of all parts.
    """
    if progress is None:
        return None
    return lambda done, total: progress(before * total + own * done, whole * total)


def run_tiles(
    tiles: Sequence[T],
    work: Callable[[T], Mapping[str, float] | None],
    threads: int,
    progress: Progress | None = None,
    queue: Queue | None = None,
) -> dict[str, float]:
    """Do the work of every tile and return the seconds of each stage, summed over tiles.

    The work of a tile returns its own, or None where nobody asks which stages it has.
    With 0 threads the work is done in the calling one (a GPU's context and the simulator belong to
    it); otherwise as by `run_loops`. `queue` is one that the work asks whether it was stopped.
    """
    queue = queue or Queue(len(tiles))

    def loop() -> dict[str, float]:
        spent: dict[str, float] = {}
        for k in queue.numbers():
            add(spent, work(tiles[k]) or {})
        return spent

    if threads:
        return run_loops(queue, [loop] * threads, progress)
    return _run_here(tiles, work, progress)


def _run_here(
    tiles: Sequence[T],
    work: Callable[[T], Mapping[str, float] | None],
    progress: Progress | None,
) -> dict[str, float]:
    """Do the work of every tile in the calling thread; see `run_tiles`."""
    spent: dict[str, float] = {}
    for done, tile in enumerate(tiles, 1):
        add(spent, work(tile) or {})
        _kept.check()
        if progress:
            progress(done, len(tiles))
    return spent


def run_loops(
    queue: Queue,
    loops: Sequence[Callable[[], Mapping[str, float]]],
    progress: Progress | None = None,
) -> dict[str, float]:
    """Do loops that take their tiles from the queue, a thread each; return the stages' sums.

    The calling thread only waits and calls `progress`, so that it hears a KeyboardInterrupt at
    once. The first error stops the queue, and is raised here.
    """
    ended: SimpleQueue[Mapping[str, float] | BaseException] = SimpleQueue()
    results: list[Mapping[str, float] | BaseException] = []

    def worker(loop: Callable[[], Mapping[str, float]]) -> None:
        try:
            with _working_for(queue):
                ended.put(loop())
        except BaseException as error:
            ended.put(error)
            queue.stop()

    # The workers themselves stay out of this frame: a traceback that keeps it would keep them.
    tasks, threads = _workers(len(loops)).tasks, _workers(len(loops)).threads
    with _each_on_a_core(threads):
        try:
            for own, loop in zip(tasks, loops, strict=True):
                own.put(functools.partial(contextvars.copy_context().run, worker, loop))
            while len(results) < len(loops):
                with contextlib.suppress(Empty):
                    results.append(ended.get(timeout=WAKE))
                if progress:
                    progress(int(queue.cells[Queue.DONE]), queue.total)
                _kept.check()
        except BaseException:
            queue.stop()
            _wait_a_little(ended, len(loops) - len(results))
            raise
        queue.stop()
    spent: dict[str, float] = {}
    for result in results:
        if isinstance(result, BaseException):
            raise result
        add(spent, result)
    return spent


def _wait_a_little(ended: SimpleQueue[Any], left: int) -> None:
    """Wait for the loops of a queue that was stopped: the next picture needs their threads."""
    end = monotonic() + PATIENCE
    with contextlib.suppress(Empty):
        for _ in range(left):
            ended.get(timeout=max(0.0, end - monotonic()))


def share(tiles: Sequence[T], work: Callable[[T], object], threads: int) -> None:
    """Do short works, a tile each, in the calling thread and `threads` - 1 others.

    Waking a thread may take as long as a work of a tenth of a millisecond. So the calling thread
    begins at once, and waits only for the works that other threads are still doing when no work is
    left. A KeyboardInterrupt takes effect when the calling thread finishes its current work.
    """
    numbers = itertools.count()  # its next() is atomic under the interpreter's lock
    queue = Queue(len(tiles))
    ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def worker() -> None:
        while not queue.stopped and (k := next(numbers)) < len(tiles):
            try:
                _kept.check()
                with _working_for(queue):
                    work(tiles[k])
            except BaseException as error:
                queue.stop()
                ended.put(error)
            else:
                ended.put(None)

    helpers = range(1, min(threads, len(tiles)))
    # The workers themselves stay out of this frame, as in `run_loops`.
    tasks = [_workers(threads).tasks[k] for k in helpers]
    with _on_other_cores([_workers(threads).threads[k] for k in helpers]):
        try:
            for own in tasks:
                own.put(functools.partial(contextvars.copy_context().run, worker))
            worker()
            done = 0
            while done < len(tiles):
                with contextlib.suppress(Empty):
                    if error := ended.get(timeout=WAKE):
                        raise error
                    done += 1
                _kept.check()
        finally:
            queue.stop()


def apart(work: Callable[[], T], daemon: bool = True) -> T:
    """Return what a long work in compiled code returns, done in another thread for the main one.

    The main thread only waits, so that it hears a KeyboardInterrupt at once. Nobody then gets the
    result of the work, which ends early where it looks at `halting`. A process waits for it at its
    end unless it is a `daemon`.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    queue = Queue(1)
    ended: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def whole() -> None:
        try:
            with _working_for(queue):
                ended.put((work(), None))
        except BaseException as error:
            ended.put((None, error))

    run = functools.partial(contextvars.copy_context().run, whole)
    threading.Thread(target=run, daemon=daemon).start()
    try:
        while True:
            with contextlib.suppress(Empty):
                result, error = ended.get(timeout=WAKE)
                if error:
                    raise error
                return cast(T, result)
            _kept.check()
    finally:
        queue.stop()


class _Workers:
    """Threads that wait for tasks, each with a queue of its own, for as long as this object lives.

    They may use all cores of the calling thread.
    """

    def __init__(self, count: int) -> None:
        cores = allowed_cores()
        self.tasks: list[Tasks] = [SimpleQueue() for _ in range(count)]
        self.threads: list[int] = []
        for tasks in self.tasks:
            thread = threading.Thread(target=_serve, args=(tasks,), daemon=True)
            thread.start()
            self.threads.append(thread.native_id or 0)
            if threading.get_native_id() in _pinned:  # a thread inherits the core of its creator
                _move(self.threads[-1], cores)
            weakref.finalize(self, tasks.put, None).atexit = False


def _serve(tasks: Tasks) -> None:
    while task := tasks.get():
        task()
        del task  # it would keep a picture alive


class _Kept(threading.local):
    def __init__(self) -> None:
        self.workers: dict[tuple[int, ...], _Workers] = {}
        self.check: Callable[[], None] = lambda: None
        self.cells = NEVER


NEVER = Queue(0).cells  # of work that nobody ends early
_kept = _Kept()


def halting() -> NDArray[np.int64]:
    """Return the cells of the queue whose work this thread does.

    Compiled code that gets them ends early where `Queue.HALT` is not 0: its results are not used.
    """
    return _kept.cells


def halted() -> bool:
    """Tell whether the work that this thread does is not needed any more."""
    return bool(_kept.cells[Queue.HALT])


@contextlib.contextmanager
def _working_for(queue: Queue) -> Iterator[None]:
    before, _kept.cells = _kept.cells, queue.cells
    try:
        yield
    finally:
        _kept.cells = before


@contextlib.contextmanager
def checking(check: Callable[[], None]) -> Iterator[None]:
    """Have work that this thread waits for call `check` several times a second.

    An error that it raises ends the work, as a KeyboardInterrupt does.
    """
    before, _kept.check = _kept.check, check
    try:
        yield
    finally:
        _kept.check = before


def _workers(count: int) -> _Workers:
    """Return `count` workers of the calling thread; they end when it does.

    A process that was forked, or moved to other cores, has others.
    """
    key = os.getpid(), count, *sorted(allowed_cores())
    if key not in _kept.workers:
        _kept.workers[key] = _Workers(count)
    return _kept.workers[key]


@contextlib.contextmanager
def _each_on_a_core(threads: Sequence[int]) -> Iterator[None]:
    """Keep each of these threads on a core of its own for a while, if there are as many cores.

    Otherwise a scheduler may put one behind another for some milliseconds, while a core idles: as
    long as a small picture takes. Threads of two processes that are kept on the same cores would
    wait for each other much longer, so only one process of a user does this at a time.
    """
    cores = allowed_cores()
    claim = _claim_cores() if 1 < len(threads) == len(cores) else None
    if claim is None:
        yield
        return
    with claim:
        try:
            for thread, core in zip(threads, sorted(cores), strict=True):
                _pinned[thread] = cores
                _move(thread, {core})
            yield
        finally:
            for thread in threads:
                _move(thread, cores)
                _pinned.pop(thread, None)


@contextlib.contextmanager
def _on_other_cores(threads: Sequence[int]) -> Iterator[None]:
    """Keep threads from the core of the calling one for a while.

    A scheduler often wakes a thread on the core of the one that wakes it, behind which it then
    waits for some milliseconds, while another core idles.
    """
    cores = allowed_cores()
    others = cores - {_own_core()}
    if not others or others == cores:
        yield
        return
    try:
        for thread in threads:
            _pinned[thread] = cores
            _move(thread, others)
        yield
    finally:
        for thread in threads:
            _move(thread, cores)
            _pinned.pop(thread, None)


def _own_core() -> int:
    """Return the core that the calling thread is on; -1 where the system doesn't say."""
    return int(_sched_getcpu())


_library = ctypes.CDLL(None) if hasattr(os, "sched_setaffinity") else None
_sched_getcpu = getattr(_library, "sched_getcpu", lambda: -1)


def _move(thread: int, cores: set[int]) -> None:
    with contextlib.suppress(OSError):  # the thread has ended, or a core was taken from the process
        os.sched_setaffinity(thread, cores)


def _claim_cores() -> socket.socket | None:
    """Return a claim that one process of a user holds at a time; None where another holds it.

    The claim is a name in Linux's abstract namespace of sockets. It leaves no file, and ends with
    the process, however that ends.
    """
    if not hasattr(os, "sched_setaffinity") or not hasattr(socket, "AF_UNIX"):
        return None
    try:
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    except OSError:
        return None
    try:
        claim.bind(f"\0{CLAIM}-{os.getuid()}")
    except OSError:
        claim.close()
        return None
    return claim


def add(spent: dict[str, float], seconds: Mapping[str, float]) -> None:
    """Add the seconds of each stage to what is there."""
    for stage, value in seconds.items():
        spent[stage] = spent.get(stage, 0.0) + value
