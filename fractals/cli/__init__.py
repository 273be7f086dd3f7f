"""The command line: arguments -> scene and options -> one call. It computes nothing itself.

Environment: FRACTALS_DEVICE and FRACTALS_THREADS are the defaults of --device and --threads;
FRACTALS_CACHE_DIR is the folder of cached reference orbits, and NUMBA_CACHE_DIR that of compiled
code; NO_COLOR switches colors off. The user's file of defaults: see `fractals.cli.options`.
"""

import gc
import os
import sys

TYPE_CHECKING = False  # as in `fractals`
if TYPE_CHECKING:
    from typing import NoReturn

# All others are imported inside `run` and `main`, where an interrupt is caught.


def run() -> "NoReturn":
    """Run the command line as a process of its own."""
    gc.set_threshold(100_000)  # imports create many objects and no garbage: 20 ms less at the start
    try:
        from fractals.cli.signals import end_by_signal, open_missing_streams

        open_missing_streams()
        end_by_signal()
        main()
    except KeyboardInterrupt:  # while the lines above are imported
        sys.stderr.write("fractals: interrupted\n")
        sys.stderr.flush()
        os._exit(130)
    finally:
        gc.freeze()  # objects need not be freed one by one when the process ends


def main(arguments: list[str] | None = None) -> "NoReturn":
    """Run the command line; every error ends in one line and an exit code, never a traceback."""
    interrupted = 130
    try:
        from fractals.cli.outcome import run_verb

        code = run_verb(arguments)
    except KeyboardInterrupt:  # while modules are imported
        if sys.stderr is not None:
            sys.stderr.write("fractals: interrupted\n")
        code = interrupted
    if sys.stderr is not None:
        sys.stderr.flush()
    if code == interrupted or code > 128:
        os._exit(code)  # threads in a compiled loop stop with the process
    sys.exit(code)
