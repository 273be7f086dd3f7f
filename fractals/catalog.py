"""Finds formulas, colorings, formats, palettes and scenes by file name or by entry point."""

import functools
import importlib
import inspect
import itertools
import os
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from fractals.errors import OptionError, shown, typed

PACKAGE = Path(__file__).parent
# A wheel has the gallery's scenes inside the package, a checkout beside it.
GALLERIES = (PACKAGE / "gallery", PACKAGE.parent / "gallery")
# The folder of each kind of plug-in. Each file there is one, unless its name begins with _, or it
# holds several.
CODE = {
    "formula": "formulas",
    "solid": "space/solids",
    "coloring": "color/colorings",
    "format": "io/foreign",
    "raw": "io/raw",
    "family": "rendering/families",
}
# Kinds whose packages say in ``FILES`` which of their files hold several, and the names. Their
# ``make`` functions are called so: NAME, or make_NAME.
GROUPED = {"formula": "", "solid": "", "coloring": "", "format": "make_"}
# Modules whose ``MAKERS`` are the ``make`` functions of more names of a kind.
TABLES = {
    "formula": "fractals.formulas._table",
    "scatter": "fractals.scatter.formulas",
    "attractor": "fractals.scatter.attractors",
    "variation": "fractals.scatter.variations",
}
# The wings' plug-ins of kinds that have a folder in the main building: no other file of it names a
# wing. A wing holds the images that one formula or one light makes, in one package.
OF_WINGS = {
    "family": {
        "relief": "fractals.space.relief:make",
        "scatter": "fractals.scatter.family:make",
        "solid": "fractals.space.family:make",
    },
    "format": {
        "flame": "fractals.scatter.flame_file:make_flame",
        "ifs": "fractals.scatter.ifs_file:make_ifs",
    },
}

# The kinds by the words for people: of `fractals list` and `fractals.names`.
KINDS = {
    "formulas": "formula",
    "scatter formulas": "scatter",
    "attractors": "attractor",
    "solids": "solid",
    "variations": "variation",
    "colorings": "coloring",
    "palettes": "palette",
    "scenes": "gallery",
    "formats": "format",
    "raw formats": "raw",
    "families": "family",
}
WORDS = {kind: words for words, kind in KINDS.items()}
# Kinds that are rows of a table elsewhere, for `fractals.names`.
TABLED = {"blends": ("fractals.scene.paint", "BLENDS")}
# The kinds whose names are those of data files.
DATA = ("palette", "gallery")
# The kinds that a scene's formula may be of.
FORMULAS = ("formula", "scatter", "attractor", "solid")

# The time of a comparison grows with the product of the lengths, and files of strangers contain
# thousands of words of any length.
MAX_WORD, MAX_WORDS = 200, 2000


def names(kind: str = "") -> tuple[str, ...]:
    """Return the names of a kind, in alphabetical order, or the kinds.

    Parameters
    ----------
    kind : str
        "formulas", "colorings", "palettes", "scenes" (those of the gallery), "formats", "blends"
        or another kind; without one the kinds are returned.

    Returns
    -------
    tuple of str

    Raises
    ------
    OptionError
        There is no such kind.

    Examples
    --------
    >>> names("colorings")[:2]
    ('atom_domains', 'biomorph')
    """
    if kind == "":
        return (*KINDS, *TABLED)
    if not isinstance(kind, str):
        kind = repr(kind)
    if kind in TABLED:
        module, table = TABLED[kind]
        return tuple(sorted(getattr(importlib.import_module(module), table)))
    found = KINDS.get(kind, "gallery" if kind == "scene" else kind)
    if found not in KINDS.values():
        raise OptionError(
            f"unknown kind {typed(kind)}: choose one of {', '.join((*KINDS, *TABLED))}"
        )
    return _names(found)


def has(kind: str, name: str) -> bool:
    """Tell whether a name is of a kind; other packages, which takes milliseconds, are asked last.

    >>> has("variation", "linear"), has("solid", "linear"), has("palette", "ember")
    (True, False, True)
    """
    if kind in DATA:
        return name in _data_files(kind)
    return name in _functions(kind) or name in _rows(kind) or name in _installed(kind)


@functools.cache
def _names(kind: str) -> tuple[str, ...]:
    if kind in DATA:
        return tuple(sorted(_data_files(kind)))
    return tuple(sorted({*_functions(kind), *_rows(kind), *_installed(kind)}))


@functools.cache
def _functions(kind: str) -> dict[str, str]:
    """Return what files of this package make of a kind: "module:function" by name."""
    listed = os.listdir(PACKAGE / CODE[kind]) if kind in CODE else []
    files = [file[:-3] for file in listed if file.endswith(".py") and not file.startswith("_")]
    held = importlib.import_module(_package(kind)).FILES if kind in GROUPED else {}
    found = dict(OF_WINGS.get(kind, {}))
    for file in files:
        for name in held.get(file, (file,)):
            function = "make" if file == name else GROUPED[kind] + name
            found[name] = f"{_package(kind)}.{file}:{function}"
    return found


def _package(kind: str) -> str:
    return f"fractals.{CODE[kind].replace('/', '.')}"


@functools.cache
def load(kind: str, name: str) -> Callable[..., Any]:
    """Return the ``make`` function of a formula, coloring or format; see `unknown`."""
    if name not in _functions(kind):
        return _load_elsewhere(kind, name)
    module, _, function = _functions(kind)[name].partition(":")
    made: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return made


def _load_elsewhere(kind: str, name: str) -> Callable[..., Any]:
    """Return the ``make`` function in a table, or of another package, which takes milliseconds."""
    if name in _rows(kind):
        return _rows(kind)[name]
    if name not in _installed(kind):
        raise unknown(kind, name)
    make: Callable[..., Any] = _installed(kind)[name].load()
    return make


@functools.cache
def _rows(kind: str) -> dict[str, Callable[..., Any]]:
    """Return the ``make`` functions of a kind's table, by name."""
    return importlib.import_module(TABLES[kind]).MAKERS if kind in TABLES else {}


@functools.cache
def load_formula(name: str) -> Callable[..., Any]:
    """Return the ``make`` function of a formula of any family of images; see `unknown`."""
    # in the order of what they cost: the table of formulas is slow to import
    tables = tuple(kind for kind in reversed(FORMULAS) if kind in TABLES)
    for known, kinds in ((_functions, FORMULAS), (_rows, tables), (_installed, FORMULAS)):
        for kind in kinds:
            if name in known(kind):
                return load(kind, name)
    raise unknown("formula", name)


def read(kind: str, name: str) -> dict[str, Any]:
    """Return the contents of a palette or gallery file of this package."""
    if name not in _data_files(kind):
        raise unknown(kind, name)
    return tomllib.loads(_data_files(kind)[name].read_text("utf-8"))


def unknown(kind: str, name: str) -> OptionError:
    """Return the error about an unknown name, with the nearest known name."""
    kinds = FORMULAS if kind == "formula" else (kind,)
    known = itertools.chain(*map(names, kinds))
    hint = did_you_mean(name, known) or (f"; fractals.names({WORDS.get(kind, kind)!r}) shows all")
    first, comma, _ = name.partition(",")
    if comma and kind == "palette":
        hint = "; colors are a palette, too, such as '#102030,#e07020'"
    elif comma and kind != "gallery" and any(first in names(k) for k in kinds):
        hint = f"; options are keys of a table: {{'name': '{first}', 'KEY': VALUE}}"
    elif kind == "gallery" and any(name.partition(",")[0] in names(k) for k in FORMULAS):
        hint = f"; it is a formula: formula='{shown(name, 80)}'"
    elif kind == "gallery" and name in names("palette"):
        hint = f"; it is a palette: palette='{name}'"
    elif kind == "formula" and name == "julia":
        hint = "; a Julia set is that of any formula: julia=(X, Y)"
    return OptionError(
        f"unknown {kind if kind != 'gallery' else 'scene'} '{shown(name, 80)}'{hint}"
    )


def owner(option: str, chosen: str = "") -> tuple[str, str] | None:
    """Return the kind and the name of a formula or a coloring that has an option, or None.

    `chosen`: the name that comes first. Without one, or where that lacks the option, any formula.
    """
    for kind, kinds in (("formula", FORMULAS), ("coloring", ("coloring",))):
        if any(chosen in names(each) for each in kinds) and option in _options(kind, chosen):
            return kind, chosen
    usual = sorted(names("formula"), key=lambda name: name != "multibrot")
    return next((("formula", name) for name in usual if option in _options("formula", name)), None)


def _options(kind: str, name: str) -> Iterable[str]:
    """Return the names of the options of a formula or a coloring."""
    if kind == "coloring":
        return tuple(load(kind, name)().options)
    return tuple(inspect.signature(load_formula(name)).parameters)


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known word in any case, or nothing."""
    import difflib

    some = itertools.islice(known, MAX_WORDS)
    words = {word.lower(): word for word in some if len(word) <= MAX_WORD}
    close = difflib.get_close_matches(given[:MAX_WORD].lower(), words, n=1)
    return f"; did you mean '{words[close[0]]}'?" if close else ""


def installed(kind: str) -> tuple[str, ...]:
    """Return the names of what other packages add to a kind, by entry points."""
    return tuple(_installed(kind))


@functools.cache
def _installed(kind: str) -> dict[str, Any]:
    from importlib import metadata

    found = metadata.entry_points(group=f"fractals.{WORDS[kind].replace(' ', '_')}")
    return {entry.name: entry for entry in found}


@functools.cache
def _data_files(kind: str) -> dict[str, Path]:
    """Return the palettes, or the gallery's scenes, by name."""
    folders = GALLERIES if kind == "gallery" else (PACKAGE / "color" / "palettes",)
    found: dict[str, Path] = {}
    for folder in filter(os.path.isdir, reversed(folders)):
        for file in os.listdir(folder):
            if file.endswith(".toml"):
                found[file.removesuffix(".toml")] = folder / file
    return found
