"""Where compiled code is kept between processes.

Numba's cache does not notice an edit in another file than the kernel's, so its folder is named
after the text of the whole package: an edit anywhere starts an empty one.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import platformdirs

KEEP = 30 * 86400  # seconds; folders that nobody used for longer are removed


@contextlib.contextmanager
def caching(variant: str, options: tuple[Any, ...]) -> Iterator[bool]:
    """Point Numba to our folder while a function is decorated; yields whether it is to be cached.

    `variant` keeps code compiled in different ways apart, which Numba does not. `options` are those
    of the program: the folder's name knows nothing of an edit in a formula from elsewhere.
    """
    before = numba.config.CACHE_DIR
    functions = [
        getattr(o, name) for o in options for name in ("step", "make_value") if hasattr(o, name)
    ]
    ours = all(function.__module__.startswith("fractals.") for function in functions)
    path = folder() if ours else None
    try:
        numba.config.CACHE_DIR = os.path.join(path, variant) if path else before
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
