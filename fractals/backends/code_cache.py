"""Where compiled code is kept between processes, and what keeps it from being the wrong code.

Numba's cache does not notice an edit in another file than the kernel's, so its folder is named
after the text of the whole package: an edit anywhere starts an empty one. In it each program has a
folder of its own, so that two processes that fill it at once only ever write the same thing.
"""

import dataclasses
import functools
import hashlib
import itertools
import os
import re
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import platformdirs
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import FunctionCache
from numba.core.runtime import _nrt_python

KEEP = 30 * 86400  # seconds; folders that nobody used for longer are removed

# Numba numbers the functions of a process from 1, and the numbers tell functions of one name apart
# in the symbols of compiled code. Code that two processes cached would so clash in a third, where
# the linker takes the first function of a name for both: one formula is drawn with another's step.
NUMBERED = hasattr(FunctionIdentity, "_unique_ids")
FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))


def cached(decorate: Callable[[bool], Any], *program: Any) -> Any:
    """Return what ``decorate(cache)`` makes, with Numba's cache pointed to the program's folder.

    `program` is all that tells it from others: how it is compiled, and its options. A formula or
    coloring from elsewhere is not cached, as our folder's name knows nothing of an edit in it.
    """
    ours = all(made.__module__.startswith("fractals.") for made in _functions(program))
    path = folder() if ours and NUMBERED else None
    if path is None:
        return decorate(False)
    name = "-".join(map(_label, program))
    name = re.sub(r"[^\w.,=+-]+", "_", name)[:150]  # of an expression, which the digest tells
    digest = hashlib.sha256(_text(program).encode()).hexdigest()[:12]
    before = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = os.path.join(path, f"{name}-{digest}")
        made = decorate(True)
    finally:
        numba.config.CACHE_DIR = before
    # Numba would tell programs apart by a pickle of their inner functions, which changes when their
    # modules come from bytecode instead of source: the second process would compile anew. Here the
    # folder's name says it all, so let it take any function that has no inner ones.
    made._cache._py_func = _text
    # It would also number its files: two processes that fill a folder at once, for numbers of
    # different types, could then load each other's code.
    made._cache._cache_file._data_name = lambda _: f"{secrets.token_hex(8)}.nbc"
    if isinstance(made._cache, FunctionCache):
        made._cache.load_overload = functools.partial(_load, made._cache)
    return made


def _load(cache: Any, signature: Any, context: Any) -> Any:
    """Load compiled code, or return None, without making Numba ready to compile.

    That is what takes it longest: all that it knows of Python and NumPy is set up. It does so by
    itself before it compiles. What is loaded only needs the addresses of Numba's helpers.
    """
    for name, address in _nrt_python.c_helpers.items():
        llvmlite.binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    return cache._load_overload(signature, context)


def _text(value: Any) -> str:
    """Return a text that is equal in every process for equal values, and only for them.

    A dataclass (a formula, a coloring, the options of a program) is its class and its fields in
    their order; a function is its name and what it encloses, as its code is part of the package.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        return f"{kind}({', '.join(_text(part) for part in _parts(value))})"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(map(_text, value.items()))}}}"
    if not callable(value):
        return repr(value)
    return f"{value.__module__}.{value.__qualname__}[{', '.join(map(_text, _parts(value)))}]"


def _parts(value: Any) -> tuple[Any, ...]:
    """Return the fields of a dataclass, the items of a tuple, or what a function encloses."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(getattr(value, field.name) for field in dataclasses.fields(value))
    if isinstance(value, tuple | list):
        return tuple(value)
    if isinstance(value, Mapping):
        return tuple(value.items())
    return tuple(cell.cell_contents for cell in getattr(value, "__closure__", None) or ())


def _functions(value: Any) -> Iterator[Any]:
    """Yield every function that a value contains, at any depth."""
    if callable(value):
        yield value
    for part in _parts(value):
        yield from _functions(part)


def _label(value: Any) -> str:
    """Return a short text for people who look into the folder; `_text` tells values apart."""
    label = getattr(value, "label", None)
    if isinstance(label, str):
        return label
    if callable(value):
        return str(value.__qualname__)
    if isinstance(value, tuple | list) or dataclasses.is_dataclass(value):
        return "-".join(map(_label, _parts(value)))
    return str(value)


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
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
