"""The caches of this user: which files they have, and how they are emptied."""

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
    real = os.path.realpath(folder)
    return [
        path
        for path in found
        if path.is_file()
        and os.path.realpath(path).startswith(os.path.join(real, ""))
        and not path.is_symlink()
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
