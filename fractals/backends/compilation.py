"""Tells when a thread begins to compile, and keeps a thread from compiling."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fractals.backends import numba_private


class _Announcer(threading.local):
    """What this thread calls when it compiles, or loads compiled code from disk; once."""

    say: Callable[[], None] | None = None

    def begin(self) -> None:
        if say := self.say:
            self.say = None
            say()


class Uncompiled(Exception):
    """A program would have to be compiled, in a thread that must not compile."""


class _Keeper(threading.local):
    """Whether this thread must not compile."""

    on = False

    def check(self) -> None:
        if self.on:
            raise Uncompiled


_announcer, _keeper = _Announcer(), _Keeper()
numba_private.before_compiling(_keeper.check)
numba_private.on_compiling(_announcer.begin, lambda: None)


@contextmanager
def announced(say: Callable[[], None]) -> Iterator[None]:
    """Call a function when the calling thread first compiles, or loads compiled code from disk.

    Loading takes some milliseconds, and compiling takes seconds: show it after a moment.
    """
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
