"""What compiled code is made of: the modules of this package that a program's text comes from.

A program is made of the modules that its identity names, of the module that compiles it, and of all
that these import in this package, directly or not, at any place in their text. The package itself
is left out, because it imports each public name when somebody asks for it. So a module counts that
changes no program, such as `fractals.errors`, but none is missing: a key that knows too few modules
would run old code.

Modules are read as text, because some are imported only where a program has to be compiled. What a
process finds in their text it notes for the next one, which reads those files that changed since.
"""

import functools
import hashlib
import operator
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import fractals

PACKAGE = Path(__file__).parents[1]
# A module in the text of an identity, as in "fractals.kernels.escape:make_body".
_NAMED = re.compile(r"\bfractals(?:\.\w+)+(?=:)")
# An import of this package: in parentheses, in which there may be comments, or to the line's end.
# A text, which is compiled when the first module is read: most starts read none.
_IMPORT = (
    r"(?m)^[ \t]*(?:from[ \t]+(fractals[\w.]*)[ \t]+import[ \t]*(\((?:[^)#]|#.*\n)*|.*)"
    r"|import[ \t]+(.*\bfractals\b.*))"
)
_COMMENT, _WORD = r"#.*", r"[\w.]+"
# Seconds for which a file is new. Until then it may change once more without another time, because
# clocks of files have steps of up to 2 seconds, and the clock of a server may differ from ours.
NEW = 10
# Seconds ahead of the clock beyond which a file changed before the clock was set back, and not
# while this process runs. The clocks of file servers differ by less.
AHEAD = 86_400


class Sources(NamedTuple):
    """The text of a program's modules: its digest, and the files that hold it."""

    digest: str
    files: tuple[str, ...]

    def changed(self) -> str:
        """Return a file that changed after this process began, or an empty string.

        The module that runs here may be the file's former text, so the digest says nothing of it.
        """
        for file in self.files:
            try:
                info = os.stat(file)
            except OSError:  # it was removed
                return file
            # An older file may have taken its place. On Windows, "ctime" is when a file was made.
            changed = info.st_ctime if os.name != "nt" else max(info.st_mtime, info.st_ctime)
            now = time.time()
            set_back = changed > now + AHEAD and now >= fractals._BEGAN  # before this process began
            if changed >= fractals._BEGAN and not set_back:
                return file
        return ""


class _Module(NamedTuple):
    digest: str
    file: str
    imports: tuple[str, ...]


class Notes:
    """What is known of the text of modules, by the state that their files had when it was read.

    `changed`: whether there are notes that `take` did not bring.
    """

    def __init__(self) -> None:
        self.changed = False
        self.modules: dict[str, tuple[tuple[int, ...], _Module]] = {}

    def take(self, kept: Any) -> None:
        """Take the notes that another process kept; what is no such table changes nothing."""
        try:
            notes = {
                name: ((*map(int, state),), _Module(str(digest), str(file), tuple(imports)))
                for name, (state, (digest, file, imports)) in kept.items()
            }
        except (AttributeError, TypeError, ValueError):
            return
        self.modules = notes | self.modules

    def to_keep(self) -> dict[str, Any]:
        """Return the notes as plain values, as `take` takes them."""
        self.changed = False
        return dict(self.modules)

    def add(self, name: str, module: _Module, info: os.stat_result) -> None:
        """Note what the text says that a file has, or had after the state `info`."""
        if _tells(info):
            self.modules[name] = _STATE(info), module
            self.changed = True


# The state of a file: what changes with its text, or with any other of its attributes.
_STATE = operator.attrgetter("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")


def _tells(info: os.stat_result) -> bool:
    """Tell whether a file's text can't change any more without its state.

    `st_ctime` is when a file, its name or its attributes changed, by the clock of the system: no
    program can set it, as unpacking sets `st_mtime`. On Windows it is when the file was made.
    Whole seconds are those of a coarse clock, or of an image of files that all have one time.
    """
    changed, second = info.st_ctime_ns, 10**9
    return os.name != "nt" and changed % second > 0 and changed <= time.time_ns() - NEW * second


notes = Notes()


def sources_of(identity: str, maker: str) -> Sources | None:
    """Return the sources of the program of an identity, which the module `maker` compiles.

    If one of its modules can't be read, they are those of the whole package. None where these can't
    be read either, as in an archive: what is compiled must not be kept.
    """
    named = {*_NAMED.findall(identity), *_NAMED.findall(f"{maker}:")}
    return _sources(frozenset(named))


@functools.lru_cache(maxsize=512)
def _sources(named: frozenset[str]) -> Sources | None:
    modules = closure(named)
    if modules is None:
        files = tuple(map(str, _files()))
        digest = source_digest()
        return Sources(digest, files) if digest else None
    found = sorted(modules.items())
    text = " ".join(f"{name} {module.digest}" for name, module in found)
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    return Sources(digest, tuple(module.file for _, module in found))


def closure(named: Iterable[str]) -> dict[str, _Module] | None:
    """Return modules and all that they import in this package; None where one can't be read."""
    found: dict[str, _Module] = {}
    left = list(named)
    while left:
        name = left.pop()
        if name not in found:
            module = _read(name)
            if module is None:
                return None
            found[name] = module
            left += module.imports
    return found


@functools.cache
def _read(name: str) -> _Module | None:
    """Return the digest, the file and the imports of a module; None where it can't be read."""
    file = _file(name)
    state, known = notes.modules.get(name, ((), None))
    try:
        if known and known.file == file and state == _STATE(os.stat(file)):
            return known
        return _read_anew(name, file)
    except OSError:
        return None


def _read_anew(name: str, file: str) -> _Module:
    """Return the same of a module whose file no process noted as it is; it is noted then."""
    with open(file, "rb") as opened:
        info = os.fstat(opened.fileno())  # before the text: a change meanwhile changes it, too
        data = opened.read()
    imports = {name.rpartition(".")[0]}  # a package is imported before its modules
    for package, names, plain in re.findall(_IMPORT, data.decode("utf-8", "replace")):
        imports.add(package or name)
        inner = _file(package).endswith("__init__.py")
        for word in re.findall(_WORD, re.sub(_COMMENT, "", names or plain)):
            if plain and word.startswith("fractals."):
                imports.add(word)
            elif package and inner and os.path.exists(_file(f"{package}.{word}")):
                imports.add(f"{package}.{word}")
    imports -= {"fractals", name}
    module = _Module(hashlib.sha256(data).hexdigest(), file, tuple(sorted(imports)))
    notes.add(name, module, info)
    return module


@functools.cache
def _file(module: str) -> str:
    """Return the file of a module or of a package, which may not exist."""
    path = os.path.join(PACKAGE, *module.split(".")[1:])
    inner = os.path.join(path, "__init__.py")
    return inner if os.path.exists(inner) else f"{path}.py"


def _files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def source_digest() -> str:
    """Return a digest of the text of the whole package; nothing where the text can't be read."""
    digest = hashlib.sha256()
    files = _files()
    try:
        for file in files:
            digest.update(file.read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()[:16] if files else ""
