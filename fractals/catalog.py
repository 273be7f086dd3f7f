"""Finds formulas, colorings, formats, palettes and scenes by file name or by entry point."""

import difflib
import functools
import importlib
import importlib.metadata
import itertools
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from fractals.errors import OptionError, shown

PACKAGE = Path(__file__).parent
# A wheel has the gallery's scenes inside the package, a checkout beside it.
GALLERIES = (PACKAGE / "gallery", PACKAGE.parent / "gallery")
# The folder of each kind of plug-in. Each file there is one, unless its name begins with _.
CODE = {
    "formula": "formulas",
    "coloring": "color/colorings",
    "format": "io/foreign",
    "raw": "io/raw",
}
PLURALS = {
    "formula": "formulas",
    "coloring": "colorings",
    "format": "formats",
    "raw": "raw formats",
}

# The kinds by the words for people: of `fractals list` and `fractals.names`.
KINDS = {
    "formulas": "formula",
    "colorings": "coloring",
    "palettes": "palette",
    "scenes": "gallery",
    "formats": "format",
    "raw formats": "raw",
}

# The time of a comparison grows with the product of the lengths, and files of strangers contain
# thousands of words of any length.
MAX_WORD, MAX_WORDS = 200, 2000


def names(kind: str) -> tuple[str, ...]:
    """Return the names of a kind, in alphabetical order.

    Parameters
    ----------
    kind : str
        "formulas", "colorings", "palettes", "scenes" (those of the gallery) or "formats".

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
    found = KINDS.get(kind, kind)
    if found not in KINDS.values():
        raise OptionError(f"unknown kind {shown(repr(kind), 40)}: choose one of {', '.join(KINDS)}")
    return _names(found)


@functools.cache
def _names(kind: str) -> tuple[str, ...]:
    if kind in CODE:
        files = (PACKAGE / CODE[kind]).glob("*.py")
        built_in = {file.stem for file in files if not file.stem.startswith("_")}
        return tuple(sorted(built_in | set(_installed(kind))))
    return tuple(sorted(path.stem for path in _data_files(kind)))


def load(kind: str, name: str) -> Callable[..., Any]:
    """Return the ``make`` function of a formula, coloring or format.

    Raises
    ------
    OptionError
        The name is unknown.
    """
    if name in _installed(kind):
        make: Callable[..., Any] = _installed(kind)[name].load()
        return make
    if name not in names(kind):
        raise unknown(kind, name)
    module = importlib.import_module(f"fractals.{CODE[kind].replace('/', '.')}.{name}")
    return module.make  # type: ignore[no-any-return]


def read(kind: str, name: str) -> dict[str, Any]:
    """Return the contents of a palette or gallery file of this package."""
    for path in _data_files(kind):
        if path.stem == name:
            return tomllib.loads(path.read_text("utf-8"))
    raise unknown(kind, name)


def unknown(kind: str, name: str) -> OptionError:
    """Return the error about an unknown name, with the nearest known name."""
    plural = {**PLURALS, "palette": "palettes", "gallery": "scenes"}
    hint = did_you_mean(name, names(kind)) or f"; fractals list {plural.get(kind, kind)} shows all"
    if kind == "gallery" and "," in name and name.partition(",")[0] in names("formula"):
        hint = f"; a formula with options is given as --formula {shown(name, 80)}"
    return OptionError(
        f"unknown {kind if kind != 'gallery' else 'scene'} '{shown(name, 80)}'{hint}"
    )


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known word, or nothing."""
    words = [word for word in itertools.islice(known, MAX_WORDS) if len(word) <= MAX_WORD]
    close = difflib.get_close_matches(given[:MAX_WORD], words, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def installed(kind: str) -> tuple[str, ...]:
    """Return the names of what other packages add to a kind, by entry points."""
    return tuple(_installed(kind))


@functools.cache
def _installed(kind: str) -> dict[str, importlib.metadata.EntryPoint]:
    found = importlib.metadata.entry_points(group=f"fractals.{PLURALS[kind].replace(' ', '_')}")
    return {entry.name: entry for entry in found}


def _data_files(kind: str) -> list[Path]:
    folders = GALLERIES if kind == "gallery" else (PACKAGE / "color" / "palettes",)
    return [path for folder in folders for path in sorted(folder.glob("*.toml"))]
