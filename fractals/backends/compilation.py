"""Tells when a thread compiles and how long, or keeps it from that, and Ctrl-C from a compiler.

LLVM calls back into Python. A KeyboardInterrupt that is raised there is lost, or leaves a lock
locked, for which all threads then wait. So programs of the CPU are compiled in another thread than
the main one. While a driver of a GPU compiles in the main thread, this module's handler of SIGINT
stands in place of the caller's, and the caller's is called afterwards.
"""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Any, TypeVar

Result = TypeVar("Result")

MOST_CALLS = 4000  # within each other; compiling some programs takes more than Python's 1,000


class _Announcer(threading.local):
    """What this thread calls when it compiles; once."""

    say: Callable[[], None] | None = None
    within: ExitStack | None = None  # a first launch

    def begin(self) -> None:
        if say := self.say:
            self.say = None
            say()
        if self.within:
            self.within.enter_context(counted())


class Uncompiled(Exception):
    """A program would have to be compiled, in a thread that must not compile."""


class _Keeper(threading.local):
    """Whether this thread must not compile."""

    on = False


class CompileClock:
    """Adds up the seconds in which at least one of the threads that share it compiles.

    So the time counts once where two compile at once, or one waits for the other's program.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads, self._since, self._ended = 0, 0.0, 0.0

    def begin(self) -> None:
        """Begin to compile, in the calling thread."""
        with self._lock:
            if not self._threads:
                self._since = perf_counter()
            self._threads += 1

    def end(self) -> None:
        """End to compile, in the calling thread."""
        with self._lock:
            self._threads -= 1
            if not self._threads:
                self._ended += perf_counter() - self._since

    @property
    def runs(self) -> bool:
        """Whether one of the threads compiles now."""
        return self._threads > 0

    def seconds(self) -> float:
        """Return the seconds so far."""
        with self._lock:
            return self._ended + (perf_counter() - self._since if self._threads else 0.0)


_announcer, _keeper = _Announcer(), _Keeper()
# Of the calling thread. Threads that work for it run in copies of its context, and share the clock.
_clock: ContextVar[CompileClock] = ContextVar("clock")


def compile_clock() -> CompileClock:
    """Return the clock of the calling thread, and of those that work for it."""
    clock = _clock.get(None)
    if clock is None:
        _clock.set(clock := CompileClock())
    return clock


@contextmanager
def counted() -> Iterator[None]:
    """Count the time as compiling, where somebody asks for it."""
    if (clock := _clock.get(None)) is None:
        yield
        return
    clock.begin()
    try:
        yield
    finally:
        clock.end()


@contextmanager
def announced(say: Callable[[], None]) -> Iterator[None]:
    """Call a function when the calling thread first compiles, or would if it were allowed."""
    _announcer.say = say
    try:
        yield
    finally:
        _announcer.say = None


@contextmanager
def without_compiling() -> Iterator[None]:
    """Raise `Uncompiled` where the calling thread would compile; code on disk is loaded.

    Programs of the CPU only: those of a GPU compile.
    """
    _keeper.on = True
    try:
        yield
    finally:
        _keeper.on = False


def announce() -> None:
    """Announce that the calling thread compiles."""
    _announcer.begin()


def allow_nested_calls() -> None:
    """Raise Python's limit: Numba compiles a function within its caller, 40 calls deeper.

    It stays raised, because other threads may compile at the same time.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), MOST_CALLS))


@contextmanager
def compiling() -> Iterator[None]:
    """Announce that this thread compiles; `compiled_apart` does it.

    Raises Uncompiled: it would compile within `without_compiling`.
    """
    announce()
    if _keeper.on:
        raise Uncompiled
    with counted():
        yield


@contextmanager
def first_launch() -> Iterator[None]:
    """Count the time from `announce` on as compiling; raise a KeyboardInterrupt only in the end."""
    with uninterrupted(), ExitStack() as _announcer.within:
        try:
            yield
        finally:
            _announcer.within = None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Raise a KeyboardInterrupt of the main thread only in the end."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # no Python code is called
        return
    waiting: list[int] = []

    def defer(number: int, _frame: Any) -> None:
        waiting.append(number)

    signal.signal(signal.SIGINT, defer)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting and before is not defer:
            before(signal.SIGINT, None)


def with_room(call: Callable[..., Result], *arguments: Any) -> Result:
    """Return what a function returns, with room for all frames of its calls in one piece of memory.

    Python takes memory for frames in pieces of 16 KiB, and gives a piece back when its first frame
    ends. Where calls go up and down across the end of a piece, as those of a compiler do, that
    takes up to half of their time. A frame larger than a piece begins a larger one, with room
    behind it: the frame of this function is.
    """
    return call(*arguments)


def compiled_apart(make: Callable[..., Result], *arguments: Any) -> Result:
    """Return what a compiler makes, in another thread where the main one asks for it.

    So the main thread raises a KeyboardInterrupt at once, though compiling may take many seconds on
    a busy machine. The compiler goes on to its end, for which the end of the process waits: LLVM
    must not be torn down under it. Programs are compiled one at a time, because one that goes on
    holds none of the locks under which it was begun.
    """
    from fractals.threads import apart  # its NumPy would be imported where nothing is compiled

    def work() -> Result:
        with _one_compiler:
            return with_room(make, *arguments)

    return apart(work, daemon=False)


_one_compiler = threading.RLock()  # a program may be made of others

# Numbers of 8 bytes: the piece then has 1 MiB, of which only what is used is taken.
with_room.__code__ = with_room.__code__.replace(co_stacksize=70_000)
