"""Lines for people on stderr, data on stdout, and durations in words."""

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

import click

from fractals.errors import FractalsError

MAX_LINES = 10  # of errors, or of lost settings; a file can hold thousands of wrong keys
MIN_WORD = 40  # characters that stay of a long word, such as a path
MAX_LENGTH = 200  # characters of a line; names and values of a file can be megabytes long
MINUTE, HOUR, DAY, YEAR = 60.0, 3600.0, 86_400.0, 31_557_600.0  # seconds


class StdoutError(FractalsError):
    """Data can't be written to stdout."""


class Verbosity:
    """What --quiet and --verbose ask for; `main` resets it."""

    quiet = False
    verbose = False


def tell(message: str) -> None:
    """Print a note on stderr, unless --quiet is given."""
    if not Verbosity.quiet:
        print_line(message)


def tell_lost(lost: Iterable[str]) -> None:
    """Print what has no equivalent, one line each, at most `MAX_LINES`.

    A line that says which of a file's entries is read is printed too; nothing is lost by that.
    """
    from fractals.io.foreign import LISTED

    if not Verbosity.quiet:
        print_lines([line if line.endswith(LISTED) else f"lost: {line}" for line in lost])


def settings(lost: Iterable[str]) -> list[str]:
    """Return the lines that tell of lost settings."""
    from fractals.io.foreign import LISTED

    return [line for line in lost if not line.endswith(LISTED)]


def print_lines(lines: list[str]) -> None:
    """Print lines on stderr: at most `MAX_LINES`, then how many more there are.

    Errors of a scene are already cut to as many, and a line with the number of the others.
    """
    cut = len(lines) == MAX_LINES + 1 and re.search(r"\band \d+ more$", lines[-1])
    shown = len(lines) if Verbosity.verbose or cut else MAX_LINES
    for line in lines[:shown]:
        print_line(line)
    if len(lines) > shown:
        print_line(f"and {len(lines) - shown} more lines (--verbose prints all)")


def print_line(message: str) -> None:
    """Print one line on stderr; a closed or full stderr does not stop the work."""
    text = escaped(message)
    if not Verbosity.verbose:
        text = shortened(text)
    try:
        click.echo(f"fractals: {text}", err=True)
    except (OSError, ValueError):
        discard(sys.stderr)


def escaped(text: str) -> str:
    r"""Return text on one line, with control characters as escapes.

    Examples
    --------
    >>> print(escaped("red\x1b[31m\nnext"))
    red\x1b[31m\nnext
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shortened(text: str, length: int = MAX_LENGTH) -> str:
    """Return text of at most `length` characters.

    Long words, such as paths and numbers, are cut in their middle, the longest first. If that is
    not enough, the text is: its beginning names what is wrong, and its end says what to do.

    Examples
    --------
    >>> shortened("0123456789", 7)
    '012...9'
    >>> shortened("/a/long/path/to/the/folder/of/some/fractals/sea.fct: not a scene", 60)
    '/a/long/path/to...lder/of/some/fractals/sea.fct: not a scene'
    """
    words = re.split(r"(\s)", text)
    for k in sorted(range(len(words)), key=lambda k: -len(words[k])):
        excess, size = len("".join(words)) - length, len(words[k])
        if excess <= 0 or size <= MIN_WORD:
            break
        kept = max(MIN_WORD, size - excess) - 3
        words[k] = f"{words[k][: kept // 3]}...{words[k][size - kept + kept // 3 :]}"
    text = "".join(words)
    if len(text) <= length:
        return text
    end = (length - 3) // 3
    return f"{text[: length - 3 - end]}...{text[-end:]}"


def write_out(data: str | bytes) -> None:
    """Write data to stdout, and flush it.

    Raises
    ------
    StdoutError
        Stdout is closed, or full. A closed pipe is a `BrokenPipeError`.
    """
    raw = data.encode() if isinstance(data, str) else data
    if sys.stdout is None:
        raise StdoutError("stdout is closed: nothing can be written to it")
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StdoutError(f"stdout can't be written: {error.strerror}") from None


def print_json(table: Any) -> None:
    """Print data as JSON on stdout."""
    write_out(json.dumps(table, indent=2) + "\n")


def discard(stream: Any) -> None:
    """Send what a broken stream still holds to nowhere, as Python flushes it at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError, io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def about(seconds: float) -> str:
    """Return a forecast in words.

    Examples
    --------
    >>> about(0.02), about(17.3), about(717), about(1e13)
    ('less than 1 s', 'about 17 s', 'about 12 minutes', 'about 320000 years')
    """
    return "less than 1 s" if seconds < 1 else f"about {duration(seconds)}"


def duration(seconds: float) -> str:
    """Return a time with the unit that suits it, to two digits.

    Examples
    --------
    >>> duration(0.2), duration(89), duration(7200), duration(5e5)
    ('0 s', '89 s', '2 hours', '5.8 days')
    """
    if seconds < 1.5 * MINUTE:
        return f"{seconds:.0f} s"
    units = ((1.5 * HOUR, MINUTE, "minutes"), (1.5 * DAY, HOUR, "hours"), (YEAR, DAY, "days"))
    size, unit = next(((size, unit) for end, size, unit in units if seconds < end), (YEAR, "years"))
    value = float(f"{seconds / size:.2g}")
    return f"{value:.0f} {unit}" if value >= 10 or value == round(value) else f"{value} {unit}"


def choices(names: Iterable[object]) -> str:
    """Return names as text, ``a, b or c``.

    Examples
    --------
    >>> choices(["a", "b", "c"])
    'a, b or c'
    """
    *others, last = map(str, names)
    return f"{', '.join(others)} or {last}" if others else last
