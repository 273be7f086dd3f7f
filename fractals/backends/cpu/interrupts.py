"""Ctrl-C while a program is compiled: heard as soon as that is done.

LLVM calls back into Python, and a KeyboardInterrupt that is raised there gets lost, or leaves a
lock held for which all threads then wait. Numba tells when it begins and ends to compile.
"""

import signal
import threading

from numba.core import event
from numba.core.compiler_lock import global_compiler_lock


class _Deferred(event.Listener):
    """Keeps the handler of Ctrl-C away from the main thread while that compiles."""

    def __init__(self):
        self._before, self._heard = None, False

    def on_start(self, event):
        if threading.current_thread() is threading.main_thread() and self._before is None:
            before = signal.getsignal(signal.SIGINT)
            if callable(before):  # otherwise nothing in Python hears it
                self._before, self._heard = before, False
                signal.signal(signal.SIGINT, self._hear)

    def on_end(self, event):
        if threading.current_thread() is not threading.main_thread() or self._before is None:
            return
        if not global_compiler_lock.is_locked():
            before, self._before = self._before, None
            signal.signal(signal.SIGINT, before)
            if self._heard:
                before(signal.SIGINT, None)

    def _hear(self, _number, _frame):
        self._heard = True


event.register("numba:compiler_lock", _Deferred())
