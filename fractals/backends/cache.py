"""Where compiled code is kept between processes, and what keeps it from being the wrong code.

Numba's cache does not notice an edit in another file than the kernel's, so its folder is named
after the text of the whole package: an edit anywhere starts an empty one. In it each program has a
folder of its own, so that two processes that fill it at once only ever write the same thing.
"""

import contextlib
import functools
import hashlib
import itertools
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import platformdirs
from numba.core.bytecode import FunctionIdentity

KEEP = 30 * 86400  # seconds; folders that nobody used for longer are removed

# Numba numbers the functions of a process from 1, and the numbers tell functions of one name apart
# in the symbols of compiled code. Code that two processes cached would so clash in a third, where
# the linker takes the first function of a name for both: one formula is drawn with another's step.
NUMBERED = hasattr(FunctionIdentity, "_unique_ids")
FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))


@contextlib.contextmanager
def caching(*program: Any) -> Iterator[bool]:
    """Point Numba to a program's folder while it is decorated; yields whether it is to be cached.

    `program` is all that tells it from others: how it is compiled, and its options. A formula or
    coloring from elsewhere is not cached, as our folder's name knows nothing of an edit in it.
    """
    before = numba.config.CACHE_DIR
    names = ("step", "derivative", "inside", "make_value")
    functions = [getattr(part, name, None) for part in program for name in names]
    ours = all(f.__module__.startswith("fractals.") for f in functions if callable(f))
    path = folder() if ours and NUMBERED else None
    try:
        if path:
            name = "-".join(str(getattr(part, "label", part)) for part in program)
            numba.config.CACHE_DIR = os.path.join(path, name)
        yield path is not None
    finally:
        numba.config.CACHE_DIR = before


@functools.cache
def folder() -> str | None:
    """Return the folder for the package as it is now; None where none can be written."""
    base = os.environ.get("NUMBA_CACHE_DIR")
    if not base:
        base = os.path.join(platformdirs.user_cache_dir("fractals", appauthor=False), "compiled")
    path = Path(base) / f"fractals-{_fingerprint()}"
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
        os.utime(path)
        for other in path.parent.glob("fractals-*"):
            if time.time() - other.stat().st_mtime > KEEP:
                shutil.rmtree(other, ignore_errors=True)
    except OSError:
        return None
    return str(path)


def _fingerprint() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
