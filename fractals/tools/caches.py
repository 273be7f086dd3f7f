"""The caches of this user: which files they have, and how they are emptied."""

import functools
import os
from collections.abc import Callable
from pathlib import Path

from fractals.backends.cache_folder import OURS, compiled_folder, orbits_folder
from fractals.errors import FractalsError, counted

CACHES: dict[str, Callable[[], Path]] = {
    "compiled programs": compiled_folder,
    "reference orbits": orbits_folder,
}
# The files of a cache. Folders that the environment names may hold files of other programs.
PATTERNS = {
    "compiled programs": (f"{OURS}/**/*",),
    "reference orbits": ("*.npz", "*.part"),
}


def contents(name: str) -> list[Path]:
    """Return the files of a cache, one of `CACHES`."""
    folder = CACHES[name]()
    found = (path for pattern in PATTERNS[name] for path in folder.glob(pattern))
    real = os.path.join(os.path.realpath(folder), "")

    @functools.cache
    def is_inside(parent: str) -> bool:  # a link among its parents may lead elsewhere
        return os.path.join(os.path.realpath(parent), "").startswith(real)

    return [
        path
        for path in found
        if not path.is_symlink() and path.is_file() and is_inside(os.path.dirname(path))
    ]


def empty_cache(name: str) -> int:
    """Delete the files of a cache, and return how many were deleted.

    Folders are kept, because another process may be writing to them. Files that can't be deleted,
    as those in use on Windows, are a `FractalsError` once the others are deleted.
    """
    deleted, kept, reason = 0, 0, ""
    for path in contents(name):
        try:
            path.unlink()
            deleted += 1
        except FileNotFoundError:  # another process deleted it
            pass
        except OSError as error:
            kept, reason = kept + 1, error.strerror or str(error)
    if kept:
        raise FractalsError(
            f"{name}: {counted(deleted, 'file')} deleted, and {kept} can't be: {reason}. "
            "End the programs that use them, and try again"
        )
    return deleted
