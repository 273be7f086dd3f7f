"""Runs a verb, and turns what it raises into lines on stderr and an exit code."""

import errno
import signal
import sys
import traceback

import click

from fractals.cli.messages import (
    StdoutError,
    Verbosity,
    discard,
    print_line,
    print_lines,
    write_out,
)
from fractals.cli.verbs import cli
from fractals.errors import FractalsError

INTERRUPTED = 130


def run_verb(arguments: list[str] | None = None) -> int:
    """Run the command line, and return its exit code."""
    Verbosity.quiet = Verbosity.verbose = False
    try:
        code = cli.main(arguments, prog_name="fractals", standalone_mode=False)
        if sys.stdout is not None:
            write_out(b"")  # what is buffered fails here, and not when Python ends
        return code if isinstance(code, int) else 0
    except KeyboardInterrupt:
        print_line("interrupted")
        return INTERRUPTED
    except SystemExit as ended:  # a signal; see `signals`
        code = ended.code if isinstance(ended.code, int) else 1
        if code > 128:
            print_line(f"ended by {signal.Signals(code - 128).name}")
        return code
    except BrokenPipeError:
        discard(sys.stdout)
        return 1
    except Exception as error:
        return explain(error)


def explain(error: Exception) -> int:
    """Print what went wrong, and return the exit code."""
    if isinstance(error, click.Abort):
        print_line("interrupted")
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        print_line(usage_message(error))
        return error.exit_code
    if isinstance(error, FractalsError):
        print_lines(str(error).splitlines() or [type(error).__name__])
        if isinstance(error, StdoutError):
            discard(sys.stdout)
        return error.exit_code
    if isinstance(error, MemoryError):
        print_line("out of memory: give a smaller --size or --supersampling")
    elif isinstance(error, OSError):
        print_line(system_message(error))
        if error.errno in (errno.ENOSPC, errno.EBADF, errno.EIO):
            discard(sys.stdout)
    elif isinstance(error, RuntimeError) and "start new thread" in str(error):
        print_line("the system starts no more threads: give --threads 1, or raise ulimit -v and -u")
    elif isinstance(error, UnicodeError):
        print_line(f"text that is not UTF-8: {error}")
        return 2
    else:
        print_line(f"internal error: {type(error).__name__}: {error} (--verbose says where)")
        if Verbosity.verbose:
            traceback.print_exception(error)
    return 1


def system_message(error: OSError) -> str:
    """Return what the operating system says, with the file's name."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename is None:
        full = error.errno == errno.ENOSPC
        return f"stdout can't be written: {reason}" if full else reason
    return f"'{error.filename}': {reason}"


def usage_message(error: click.ClickException) -> str:
    """Return what click says, with the name of the option or argument in front."""
    message = error.format_message().replace("\n", " ")
    if isinstance(error, click.MissingParameter):
        name = error.param.make_metavar(error.ctx) if error.param and error.ctx else "a value"
        verb = error.ctx.command_path if error.ctx else "fractals"
        return f"{name} is missing: '{verb} --help' shows how to write it"
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Option):
        name = max(error.param.opts, key=len)
        variable = error.param.envvar
        return f"{name}: {error.message}" + (f" (or {variable} is wrong)" if variable else "")
    return message[:1].lower() + message[1:].removesuffix(".")
