"""A deadline in CPU time that only code that hangs misses, on a busy machine too."""

import contextlib
import signal

SECONDS = 20  # of CPU time; what tests read takes less than one


class DeadlineMissed(BaseException):
    """Not an `Exception`, so that no reader takes it for a damaged file."""


@contextlib.contextmanager
def deadline(seconds=SECONDS):
    """Raise `DeadlineMissed` in the code inside once it has used this much CPU time."""
    if not hasattr(signal, "setitimer"):  # Windows: the limit of the whole run must do
        yield
        return

    def stop(*_):
        raise DeadlineMissed(f"more than {seconds} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
