"""The command line: arguments -> scene and options -> one call. It computes nothing itself.

Environment: FRACTALS_DEVICE and FRACTALS_THREADS are the defaults of --device and --threads;
FRACTALS_CACHE_DIR is the folder of cached reference orbits, and NUMBA_CACHE_DIR that of compiled
code; NO_COLOR switches colors off. The user's file of defaults: see `fractals.cli.shared`.
"""

import gc
import os
import sys

TYPE_CHECKING = False  # as in `fractals`
if TYPE_CHECKING:
    from typing import NoReturn

# All others are imported inside `run` and `main`, where an interrupt is caught.


# Objects that are made between two collections of garbage: as Python has it, and while the program
# starts. Imports create many objects and no garbage: 20 ms less.
USUAL, AT_START = gc.get_threshold(), 100_000


def collect_again() -> None:
    """Have Python collect garbage as usual, in a verb that lives long, once it has started."""
    if gc.get_threshold()[0] == AT_START:
        gc.freeze()  # objects that exist by now are in use, and need no look
        gc.set_threshold(*USUAL)


def run() -> "NoReturn":
    """Run the command line as a process of its own."""
    gc.set_threshold(AT_START)
    # NumPy would start a thread for each core, for large products of matrices: there are none here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from fractals.cli import signals

        signals.open_missing_streams()
        signals.end_by_signal()
        signals.end_in_spite_of_destructors()
        if ".fz" in " ".join(sys.argv).lower():
            signals.tell_of_shortened_files()
        _begin_gpu(sys.argv[1:])
        main()
    except KeyboardInterrupt:  # while the lines above are imported
        _interrupted()
    finally:
        gc.freeze()  # objects need not be freed one by one when the process ends


def _begin_gpu(words: list[str]) -> None:
    """Have the driver of a GPU start, if it is asked for, while all else is imported.

    The driver takes some tenths of a second, which need neither Python nor NumPy.
    """
    asked = [*words, os.environ.get("FRACTALS_DEVICE", "")]
    if any("gpu" in word or "cuda" in word for word in asked):
        from fractals.backends import cuda_driver

        cuda_driver.begin(words, os.environ)


def main(arguments: list[str] | None = None) -> "NoReturn":
    """Run the command line; every error ends in one line and an exit code, never a traceback."""
    try:
        from fractals.cli.verbs import run_verb

        code = run_verb(arguments)
    except KeyboardInterrupt:  # outside of click: while modules are imported, say
        _interrupted()
    if sys.stderr is not None:
        sys.stderr.flush()
    if code > 128:
        os._exit(code)  # threads in a compiled loop stop with the process
    sys.exit(code)


def _interrupted() -> "NoReturn":
    """End the process after Ctrl-C."""
    if sys.stderr is not None:
        sys.stderr.write("fractals: interrupted\n")
        sys.stderr.flush()
    os._exit(130)
