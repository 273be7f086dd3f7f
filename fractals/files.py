"""Writing files whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from fractals.errors import FractalsError


def check_output(path: str | Path, overwrite: bool) -> None:
    """Raise a `FractalsError` where a file could not be written, before any work is done."""
    path = Path(path)
    if path.is_dir():
        raise FractalsError(f"'{path}' is a folder: name a file")
    if path.exists() and not overwrite:
        raise FractalsError(f"'{path}' exists already: name another file, or give --overwrite")
    if not path.parent.is_dir():
        raise FractalsError(f"the folder '{path.parent}' does not exist: create it first")
    if not os.access(path.parent, os.W_OK):
        raise FractalsError(f"the folder '{path.parent}' can't be written to")


@contextlib.contextmanager
def written(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only once it is whole."""
    path = Path(path)
    name = ""
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name[:50]}.", delete=False
        ) as file:
            name = file.name
            yield file  # type: ignore[misc]
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
        name = ""
    except OSError as error:
        reason = error.strerror or str(error)
        raise FractalsError(f"'{path}' can't be written: {reason}") from None
    finally:
        if name:
            with contextlib.suppress(OSError):
                os.unlink(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
