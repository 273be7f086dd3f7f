"""Where compiled programs are kept: in this process, and on the disk between processes.

Numba's cache does not notice an edit in another file than the kernel's. Here a program is known by
its identity and by the text of all modules that it is made of (`fractals.backends.sources`), so an
edit compiles anew the programs that it may change, and no others. Each program has a folder of its
own, so that processes that fill it at once only ever write the same thing, also those of different
versions of the package. Each file begins with a digest of its place and its content, because a
power failure or a full disk leaves damaged files, and damaged machine code, or another program's,
must not be run.
"""

import dataclasses
import fnmatch
import functools
import hashlib
import importlib.util
import json
import os
import sys
import threading
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from fractals.backends import sources
from fractals.backends.cache_folder import (
    check_own_folder,
    compiled_folder,
    read_own,
    reason,
    report,
    short_name,
    sweep,
    trusted_folder,
    used,
    write_own,
)
from fractals.backends.sources import Sources, sources_of
from fractals.errors import shown
from fractals.kernels.formula import Formula

T = TypeVar("T")

# In memory; a picture takes 3 to 10, each as code and as a `Run`, and some 30 KB of memory.
MAX_PROGRAMS = 192
# Modules whose names mean the same in every process: changes come with new versions of Python and
# Numba, by which the folder is named.
KNOWN_MODULES = ("builtins", "math", "cmath", "operator", "numpy", "fractals")
PLAIN = bool, int, float, complex, str, bytes, np.generic, type(None)
MARK = b"fractals compiled code 3\n"  # how a file begins: a digest and the data follow
BEGINNING = len(MARK) + hashlib.sha256().digest_size  # bytes before the data
MAX_BYTES = 2**26  # of a file; a program takes 30 KB to 1 MB
NOTES = "notes about modules 1"  # the key of `sources.Notes`; another number for another table


class Store:
    """The folder of one program on the disk: a file for each of its signatures.

    The digest of a file is that of the program's text, of the key and of the data, so a file copied
    from elsewhere is noticed like a damaged one. It is removed and counts as missing, as does what
    is no file of this user alone. A file that can't be loaded stays, because the reason lies
    elsewhere, such as in another LLVM. A file that can't be written is left out. All of this is
    reported to the user.

    `folder`: within a folder of `trusted_folder`; a relative one: nothing is kept. `text`: all that
    tells the program from others. `sources`: what it is made of.
    """

    def __init__(self, folder: str, text: str = "", sources: Sources | None = None) -> None:
        self.folder = folder
        self._text, self._sources = text, sources
        self.kept = os.path.isabs(folder)

    def _path(self, key: str) -> Path:
        return Path(self.folder, f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.code")

    @property
    def name(self) -> str:
        """The name of the folder, which tells the program from others."""
        return os.path.basename(self.folder)

    def place(self, key: str) -> str:
        """Return the name of the folder and of the file of a key."""
        return f"{self.name}/{self._path(key).name}"

    def content(self, key: str, data: bytes) -> bytes:
        """Return the content of the file of a key."""
        names = repr((self._text, key)).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(b"%d %b%b" % (len(names), names, data)).digest()
        return MARK + digest + data

    def holds_any(self) -> bool:
        """Tell whether there is a file, of any key."""
        return self.kept and any(Path(self.folder).glob("*.code"))

    def load(self, key: str, rebuild: Callable[[bytes], T]) -> T | None:
        """Return what `rebuild` makes of the data kept under a key; None where there are none."""
        if not self.kept:
            return None
        path = self._path(key)
        try:
            check_own_folder(path.parent)
        except FileNotFoundError:
            return None
        except OSError as error:
            report(f"compiled code is not used, and every start compiles anew: {reason(error)}")
            return None
        try:
            content = read_own(path, MAX_BYTES)
            data = content[BEGINNING:]
            if content != self.content(key, data):
                raise ValueError("damaged, or copied from elsewhere")
            used(path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            _remove(path)
            return None
        try:
            return rebuild(data)
        except Exception as error:  # whatever Numba or LLVM raises about code that they can't load
            said = f"({type(error).__name__}: {shown(error, 120)}): '{path}'"
            report(f"compiled code can't be loaded, so every start compiles anew {said}")
            return None

    def save(self, key: str, data: bytes) -> None:
        """Keep data in a file that appears whole or not at all.

        Nothing is kept once the text has changed that the program is made of.
        """
        if not self.kept or (self._sources and _outdated(self._sources)):
            return
        path = self._path(key)
        base = path.parent.parent
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            check_own_folder(path.parent)
            write_own(path, self.content(key, data))
            sweep(base.parent, len(data))
        except OSError as error:
            report(f"compiled code can't be kept in '{base}': {reason(error)}")


def _remove(path: Path) -> None:
    """Remove a file that must not be used, and report it."""
    kind = "a file of compiled code that is damaged, or that others could have written"
    try:
        path.unlink()
        report(f"{kind}, was removed, and is compiled anew: '{path}'")
    except OSError:  # such as a folder of this name
        report(f"{kind}, is not used: delete '{path}'")


def _outdated(sources: Sources) -> bool:
    """Tell, and report, whether a module may be another than the one that runs here."""
    changed = sources.changed()
    if changed:
        report(f"compiled code is not kept until you start again: '{changed}' has changed")
    return bool(changed)


class _Same:
    """Equal to itself alone: an object that is known by its identity, and kept alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class _Programs:
    """The programs that were used last in this process."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.RLock()  # a program may be made of others
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the program of a key, made at its first use."""
        with self._lock:
            found = self._kept.get(key, self)  # a key is long: each look takes some microseconds
            if found is self:
                found = self._kept[key] = make()
                while len(self._kept) > self._most:
                    self._kept.popitem(last=False)
            else:
                self._kept.move_to_end(key)
            return found

    def clear(self) -> None:
        """Forget all programs."""
        with self._lock:
            self._kept.clear()


_programs = _Programs(MAX_PROGRAMS)


def program(
    make: Callable[[Store | None], T], *identity: Any, scope: object = None, stored: bool = True
) -> T:
    """Return what ``make(store)`` makes, or made before in this process.

    `make`: given the program's folder on the disk, or None where its code must not be kept, or
    `stored` is false. The program is made of the module of `make`, and of all that this imports.
    `identity`: all that tells the program from others: how it is compiled, its body, and its
    options. Functions of this package are known by their names, by what they enclose and by the
    text of their modules. A function from elsewhere is known by its bytecode and all values that it
    refers to; a program is not kept on the disk if one of these has no text. `scope`: an object
    that the program can only be used with, in this process.
    """
    parts = _Parts()
    text = _text(identity, parts)
    key = text, *map(_Same, (scope, *parts.unknown))
    kept = stored and not parts.unknown
    maker = make.__module__
    return _programs.get(key, lambda: make(_store(maker, identity, text) if kept else None))


def is_foreign(*identity: Any) -> bool:
    """Tell whether a function from elsewhere, or one of NumPy, is part of a program."""
    parts = _Parts()
    _text(identity, parts)
    return parts.foreign


def forget_programs() -> None:
    """Forget all programs of this process; those on the disk stay."""
    _programs.clear()


def _store(maker: str, identity: tuple[Any, ...], text: str) -> Store | None:
    path = folder()
    made_of = sources_of(text, maker) if path is None else _sources(path, text, maker)
    if made_of is None or _outdated(made_of):
        return None
    text = f"{text} made of {made_of.digest}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    # For people who look into the folder; the text tells programs apart.
    names = [getattr(part, "__qualname__", part) for part in identity]
    name = short_name("-".join([part for part in names if isinstance(part, str)]))
    return Store(os.path.join(path or "", f"{name}-{digest}"), text, made_of)


def _sources(path: str, text: str, maker: str) -> Sources | None:
    """Return what a program is made of; notes about its modules are kept beside the programs."""
    store = _notes_in(path, str(sources.PACKAGE))
    found = sources_of(text, maker)
    if sources.notes.changed:
        store.save(NOTES, json.dumps(sources.notes.to_keep()).encode())
    return found


@functools.cache
def _notes_in(path: str, package: str) -> Store:
    """Return where the notes about the modules of a package are kept; what is there is taken."""
    digest = hashlib.sha256(os.fsencode(package)).hexdigest()[:12]
    store = Store(os.path.join(path, f"modules-{digest}"), package)
    sources.notes.take(store.load(NOTES, json.loads))
    return store


class _Parts:
    """What a description found: values that have no text, and whether functions are foreign."""

    def __init__(self) -> None:
        self.unknown: list[Any] = []
        self.foreign = False


def _text(value: Any, parts: _Parts, seen: tuple[Any, ...] = ()) -> str:
    """Return a text that is equal for values that compile to the same program, and only for them.

    A dataclass (a formula, a coloring, the options of a program) is its class and its fields in
    their order; a function of the package is its name and what it encloses. What belongs to a
    module of the package is named "module:name": by these names its source is found. The text is
    the same in every process, unless `parts` gets values that have no such text, such as an array
    or a module of the user: they are named by their identity. `seen` are the functions under way:
    one that calls itself is named by its place there.
    """
    if isinstance(value, PLAIN):
        return f"{type(value).__name__} {value!r}"  # 0.0 == -0.0, and NaN != NaN
    within: Any
    if isinstance(value, types.FunctionType):
        if not (value.__module__ or "").startswith("fractals."):
            parts.foreign = True
            return _text_of_foreign(value, parts, seen)
        line = value.__code__.co_firstlineno  # of two lambdas
        kind = f"{value.__module__}:{value.__qualname__}:{line}"
        within = [cell.cell_contents for cell in value.__closure__ or ()]
    elif isinstance(value, tuple | list):
        kind, within = _kind(type(value)), value
    elif hasattr(type(value), "__dataclass_fields__"):  # as the module dataclasses asks
        if isinstance(value, Formula) and (known := _known_text(value)):
            return known
        kind = _kind(type(value))
        within = [getattr(value, name) for name in _field_names(type(value))]
    elif isinstance(value, Mapping):
        kind, within = _kind(type(value)), value.items()
    else:
        return _text_of_other(value, parts)
    own = _Parts() if isinstance(value, Formula) else parts
    texts = [  # numbers and texts need no call
        f"{type(part).__name__} {part!r}" if isinstance(part, PLAIN) else _text(part, own, seen)
        for part in within
    ]
    text = f"{kind}({', '.join(texts)})"
    if own is parts:
        return text
    parts.unknown += own.unknown
    parts.foreign = parts.foreign or own.foreign
    if not own.unknown and not own.foreign:
        gone = functools.partial(_formula_texts.pop, id(value))
        _formula_texts[id(value)] = weakref.ref(value, gone), text
    return text


@functools.cache
def _kind(kind: type[Any]) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


@functools.cache
def _field_names(kind: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(kind)]


def _text_of_other(value: Any, parts: _Parts) -> str:
    name = f"{getattr(value, '__module__', None)}:{getattr(value, '__qualname__', None)}"
    if isinstance(value, types.ModuleType):
        # A package does not import all modules within it, so its imports don't lead to them.
        ours = value.__name__.partition(".")[0] == "fractals" and hasattr(value, "__path__")
        name = "" if ours else f"{value.__name__}:"
    elif not isinstance(value, type | types.BuiltinFunctionType):
        name = ""
    module = str(getattr(value, "__module__", "")).partition(".")[0]
    known = isinstance(value, type) or module in ("builtins", "math", "operator", "fractals")
    parts.foreign = parts.foreign or (callable(value) and not known)
    if name.partition(":")[0].partition(".")[0] in KNOWN_MODULES:
        return name
    parts.unknown.append(value)
    return f"object {id(value)}"


# A formula of this package never changes, so its text is found once.
_formula_texts: dict[int, tuple[weakref.ref[Formula], str]] = {}


def _known_text(formula: Formula) -> str | None:
    known, text = _formula_texts.get(id(formula), (None, ""))
    return text if known is not None and known() is formula else None


def _text_of_foreign(function: types.FunctionType, parts: _Parts, seen: tuple[Any, ...]) -> str:
    """Return the text of a function from elsewhere: its bytecode, and all that it refers to.

    Numba takes those values as constants when it compiles, so an edit in its file, in a function
    that it calls, or in such a value gives another text.
    """
    if function in seen:
        return f"recursive {seen.index(function)}"
    seen = *seen, function
    outer = function.__globals__
    names = sorted(name for name in _names(function.__code__) if name in outer)
    values = [
        ("defaults", function.__defaults__),
        ("defaults by name", tuple((function.__kwdefaults__ or {}).items())),
        ("enclosed", tuple([cell.cell_contents for cell in function.__closure__ or ()])),
        *((name, outer[name]) for name in names),
    ]
    named = [f"{name}: {_text(value, parts, seen)}" for name, value in values]
    return f"foreign({_text_of_code(function.__code__)}, {', '.join(named)})"


def _names(code: types.CodeType) -> set[str]:
    """Return the names of globals and attributes in a function, and in those inside it."""
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return {*code.co_names}.union(*map(_names, inner))


def _text_of_code(code: types.CodeType) -> str:
    """Return the text of bytecode, without the place in its file."""
    constants = (
        _text_of_code(part) if isinstance(part, types.CodeType) else f"{type(part)} {part!r}"
        for part in code.co_consts
    )
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_kwonlyargcount, code.co_flags
    return repr((code.co_name, code.co_code, code.co_exceptiontable, *constants, names, counts))


# --- The folder on the disk


@functools.cache
def folder() -> str | None:
    """Return the folder for these versions of Python and Numba; None where none can be used.

    It is in `compiled_folder`. Why there is none is reported.
    """
    try:
        path = trusted_folder(compiled_folder() / f"fractals-{_versions()}")
        _check_writable(path)
    except OSError as error:
        report(f"compiled code is not kept, so every start compiles anew: {reason(error)}")
        return None
    return str(path)


def _check_writable(path: Path) -> None:
    """Raise an OSError where no file can be made in a folder: its rights don't tell."""
    file = path / f"{os.urandom(8).hex()}.part"
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    file.unlink()


def _version(package: str) -> str:
    """Return the version of a package that is installed, as its folder's name has it.

    `importlib.metadata` takes 5 ms, because it imports `email` to read the text in that folder.
    """
    found = importlib.util.find_spec(package)
    inner = found.origin if found else None
    names = os.listdir(os.path.dirname(os.path.dirname(inner))) if inner else []
    names = fnmatch.filter(names, f"{package}-*.dist-info")
    if len(names) != 1:
        from importlib import metadata

        return metadata.version(package)
    return names[0][len(package) + 1 : -10]


def _versions() -> str:
    versions = " ".join(map(_version, ("numba", "llvmlite")))
    return hashlib.sha256(f"{versions} {sys.version}".encode()).hexdigest()[:16]
