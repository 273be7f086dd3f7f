"""Every error raised on purpose, each with the exit code that the command line answers with.

    FractalsError                1   something failed: a file, a device that broke
    ├── OptionError              2   a bad value of an option or an argument
    ├── InputError               3   an input file that is invalid: a palette, raw numbers
    │   └── SceneError           3   a scene, or a file with one, that is invalid
    ├── DeviceError              4   the device asked for is missing
    ├── DeviceFailedError        1   a GPU can't do what it was asked for
    │   ├── DeviceLostError      1   a GPU has failed, and this process can't use it any more
    │   ├── DeviceMemoryError    1   a GPU has no memory left
    │   └── DeviceProgramError   4   a program can't be made for a GPU
    └── DifferenceError          5   pictures that should be equal differ

A message says what was given (quoted, by `shown`), what is allowed, and what to type next.
"""

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

MAX_LINE = 2000  # characters of a message
MAX_SHOWN = 200  # characters of a given text in a message; longer texts are cut
MAX_LINES = 10  # errors in a message; the rest are counted
# Of files whose functions are no callers of this package
INNER = (os.path.dirname(__file__) + os.sep, contextlib.__file__)


class FractalsError(Exception):
    """Base of all errors that are raised on purpose; the message is for the user.

    `about`: what the message means, for the explorer's page (`explorer/answers.py`: `Meant`).
    """

    exit_code = 1

    def __init__(self, *message: object, **about: Any) -> None:
        super().__init__(*message)
        self.about = about


class OptionError(FractalsError, ValueError):
    """A bad value of an option or an argument."""

    exit_code = 2


class InputError(FractalsError, ValueError):
    """An input file that is invalid, such as a palette or raw numbers."""

    exit_code = 3


class SceneError(InputError):
    """A scene, or a file with a scene, that is invalid."""


class DeviceError(FractalsError, RuntimeError):
    """The device asked for is missing, or can't be used here."""

    exit_code = 4


class DeviceFailedError(FractalsError):
    """A GPU can't do what it was asked for: what failed, and perhaps other advice than usual."""

    advice = "; fractals.devices() tells what is there"

    def __str__(self) -> str:
        """Return what failed, and what to do."""
        what, *advice = self.args
        return f"{what}{(advice or [self.advice])[0]}"


class DeviceLostError(DeviceFailedError):
    """A GPU has failed, and this process can't use it any more."""

    advice = ": run it again, or with device='cpu'"


class DeviceMemoryError(DeviceFailedError):
    """A GPU has no memory left for what it was asked to hold."""

    advice = ": free some of it, draw a smaller size=, or use device='cpu'"


class DeviceProgramError(DeviceFailedError, DeviceError):
    """A program can't be made for a GPU."""

    advice = ": use device='cpu'"


def on_the_cpu(reason: str) -> str:
    """Return the line about a GPU that does not draw: why, and that the CPU draws.

    `reason`: of an error, the first of its arguments, which has no advice: the CPU needs none.
    """
    return f"{reason}; drawing on the CPU"


class DifferenceError(FractalsError):
    """Pictures or counts that should be equal differ."""

    exit_code = 5


class FractalsWarning(UserWarning):
    """A note, such as why another device draws; see `on_message` of the public functions."""


def warn(text: str) -> None:
    """Give a note as a `FractalsWarning` at the line that called this package.

    Python shows a warning once for each line, so a note at a line of this package would be shown
    once for all calls of a program.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_code.co_filename.startswith(INNER):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, FractalsWarning, stacklevel=level)


def to_install(*extras: str) -> str:
    """Return the command that adds extras of this package, from where it was installed."""
    import json
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    named = f"[{','.join(extras)}]"
    try:
        found = metadata.distribution("fractals-numba")
        installer = (found.read_text("INSTALLER") or "").strip()
        origin = json.loads(found.read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        installer, origin = "", {}
    url, where = origin.get("url", ""), origin.get("dir_info")
    if where and where.get("editable") and installer == "uv":
        return "uv sync --inexact " + " ".join(f"--extra {extra}" for extra in extras)
    if where is not None:
        editable = "-e " * where.get("editable", False)
        return f"pip install {editable}'{url2pathname(urlsplit(url).path)}{named}'"
    if url and "vcs_info" in origin:
        return f"pip install 'fractals-numba{named} @ {origin['vcs_info']['vcs']}+{url}'"
    return f"pip install 'fractals-numba{named}'"


def escaped(text: str) -> str:
    r"""Return text on one line, with the characters escaped that a terminal would obey.

    These, and those that it can't show (surrogates), are escaped as in Python, because a file of a
    stranger could otherwise print lines of its own. Escaping twice changes nothing.

    >>> print(escaped("red\x1b[31m\nnext"))
    red\x1b[31m\nnext
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def typed(given: Any, most: int = 40) -> str:
    """Return a value as Python writes it, for a message; see `shown`."""
    return shown(given, most, repr)


def shown(given: Any, most: int = MAX_SHOWN, write: Callable[[Any], str] = str) -> str:
    r"""Return a given text for a message: `escaped`, and cut at `most` characters.

    >>> print(shown("red\x1b[0m"), shown("a" * 9, 3), typed("a"))
    red\x1b[0m aaa... 'a'
    """
    try:
        text = write(given)
    except ValueError:  # Python refuses to write integers of more than 4300 digits
        text = "an integer of more than 4300 digits"
    return escaped(text[:most]) + "..." * (len(text) > most)


KINDS = {list: "a list", dict: "a table", type(None): "an empty value", str: "a text"}


def kind_of(value: Any) -> str:
    """Return what a value is, in words for those of files.

    >>> kind_of([1]), kind_of(None), kind_of(1j)
    ('a list', 'an empty value', 'of type complex')
    """
    return KINDS.get(type(value), f"of type {type(value).__name__}")


def counted(count: Any, what: str) -> str:
    """Return a number and what it counts: the first word of this gets an s, unless it is 1.

    >>> counted(1, "sample a pixel"), counted(0, "file"), counted("1.5", "sample a pixel")
    ('1 sample a pixel', '0 files', '1.5 samples a pixel')
    """
    noun, space, rest = what.partition(" ")
    return f"{count} {noun}{'s' * (str(count) != '1')}{space}{rest}"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, escaped as by `shown`."""
    lines = str(error).splitlines()
    return shown(lines[0], MAX_LINE) if lines else "failed"


def listed(lines: Iterable[str], most: int = MAX_LINES) -> list[str]:
    """Return the first lines and, if there are more than `most`, how many were left out.

    >>> listed(["a", "b", "c", "d"], 2)
    ['a', 'b', 'and 2 more']
    """
    given = list(lines)
    return given if len(given) <= most else [*given[:most], f"and {len(given) - most} more"]
