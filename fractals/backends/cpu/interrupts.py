"""Ctrl-C while a program is compiled: raised as soon as the program is compiled.

LLVM calls back into Python. A KeyboardInterrupt that is raised there is lost, or leaves a lock
locked, for which all threads then wait. So while the main thread compiles, this module's handler of
SIGINT stands in place of the caller's, and the caller's is called afterwards.
"""

import signal
import threading

from fractals.backends import numba_private


class _Deferred:
    """Keeps the handler of Ctrl-C away from the main thread while that compiles."""

    def __init__(self):
        self._before, self._interrupted = None, False

    def begin(self):
        if threading.current_thread() is threading.main_thread() and self._before is None:
            before = signal.getsignal(signal.SIGINT)
            if callable(before):  # otherwise no Python code is called
                self._before, self._interrupted = before, False
                signal.signal(signal.SIGINT, self._defer)

    def end(self):
        if threading.current_thread() is not threading.main_thread() or self._before is None:
            return
        if not numba_private.is_compiling():
            before, self._before = self._before, None
            signal.signal(signal.SIGINT, before)
            if self._interrupted:
                before(signal.SIGINT, None)

    def _defer(self, _number, _frame):
        self._interrupted = True


_deferred = _Deferred()
numba_private.on_compiling(_deferred.begin, _deferred.end)
