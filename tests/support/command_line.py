"""Arguments and checks shared by the tests of the command line."""

import signal

SMALL = ("--size", "32x18", "--cpu")


def one_line(err):
    lines = err.splitlines()
    return len(lines) == 1 and lines[0].startswith("fractals: ") and "Traceback" not in err


def hear_signals():
    """Undo in a child what a shell, nohup and the like have processes ignore."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
