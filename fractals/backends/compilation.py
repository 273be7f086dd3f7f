"""Tells when a thread begins to compile."""

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


_announcer = _Announcer()
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
