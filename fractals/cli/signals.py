"""What the process does with signals, and with streams that are closed when it starts."""

import contextlib
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

RETRY = 0.1  # seconds between two attempts to end


def open_missing_streams() -> None:
    """Open /dev/null in place of a closed stdin, stdout or stderr.

    A file opened later would get the closed stream's number, and a library that writes to stderr
    would write into a picture.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            with contextlib.suppress(OSError):
                os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def end_by_signal() -> None:
    """Have SIGTERM and SIGHUP raise SystemExit, so that unfinished files are removed.

    A signal that is ignored, as under nohup, stays ignored.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _frame: FrameType | None) -> None:
    """Raise SystemExit; while a program is compiled, try again a little later.

    LLVM calls back into Python, and an exception raised there is lost, or leaves a lock held.
    """
    if is_compiling():
        _later(number)
        return
    signal.signal(number, signal.SIG_DFL)  # a second signal ends the process at once
    raise SystemExit(128 + number)


def _later(number: int) -> None:
    timer = threading.Timer(RETRY, os.kill, (os.getpid(), number))
    timer.daemon = True
    timer.start()


def tell_of_shortened_files() -> None:
    """Have a store that is shortened while it is read end the process with a line.

    Its files are mapped into memory. That the end of one is gone is found by the processor, in
    compiled code: no error of Python comes of it, and SIGBUS would end the process without a word.
    """
    if not hasattr(signal, "SIGBUS"):
        return
    import ctypes

    from fractals.errors import InputError

    once = threading.Lock()

    def end(_number: int) -> None:
        once.acquire()  # other threads wait here until the process has ended
        with contextlib.suppress(OSError):
            os.write(2, b"fractals: a file became shorter while it was read, or its disk fails\n")
        os._exit(InputError.exit_code)

    _kept.append(ctypes.CFUNCTYPE(None, ctypes.c_int)(end))
    # A function of `signal.signal` would run after the fault, which is not over before it.
    ctypes.CDLL(None).signal(int(signal.SIGBUS), _kept[-1])


_kept: list[Any] = []  # what the system calls must not be freed


def end_in_spite_of_destructors() -> None:
    """Raise what ends the process once more, if it was raised where Python ignores errors.

    A signal is handled wherever the main thread is: in a destructor or a callback of a weak
    reference, as imports have them, too. What is raised there is printed and forgotten.
    """
    sys.unraisablehook = functools.partial(_end_again, sys.unraisablehook)


def _end_again(before: Callable[[Any], object], lost: Any) -> None:
    """Raise what ends the process once more; give what was lost otherwise to the hook before."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        _later(signal.SIGINT)
    elif isinstance(lost.exc_value, SystemExit) and isinstance(lost.exc_value.code, int):
        number = signal.Signals(lost.exc_value.code - 128)
        signal.signal(number, _end)
        _later(number)
    else:
        before(lost)


def is_compiling() -> bool:
    """Return whether Numba compiles in this thread: it holds the compiler's lock.

    Frames are not looked at: Python 3.11 before 3.11.5 may read memory that it has freed when
    frames end that were looked at (cpython issue 106092).
    """
    module = sys.modules.get("numba.core.compiler_lock")
    lock = getattr(module, "global_compiler_lock", None)  # not there while it is imported
    return lock is not None and bool(lock.is_locked())
