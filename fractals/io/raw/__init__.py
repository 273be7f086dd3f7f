"""The formats of raw numbers, a file each: ``make() -> RawFormat``. The suffix is its name."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fractals.io.escape_data import EscapePlanes


def _nothing_to_check() -> None:
    pass


@dataclass(frozen=True)
class RawFormat:
    """A format of files of raw numbers."""

    # ``save(raw, path, overwrite)`` writes a file, or raises an `OptionError`
    save: Callable[[EscapePlanes, Path, bool], None]
    # ``load(path)`` returns the raw numbers of a file, or raises an `InputError`
    load: Callable[[Path], EscapePlanes]
    lost: str = ""  # what the format does not keep; empty where it keeps everything
    # Raises a `FractalsError` where a library that the format requires is not installed
    check: Callable[[], object] = _nothing_to_check
