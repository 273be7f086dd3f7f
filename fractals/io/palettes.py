"""Palettes by name: built in, in a file of this or of another program, or in cmap."""

import importlib.util
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fractals import catalog
from fractals.color import palette
from fractals.color.palette import Palette
from fractals.errors import InputError, OptionError, shown, to_install
from fractals.io import formats
from fractals.io.files import PATH_SHOWN, read_toml

CMAP = "cmap:"
MAX_NAME = 4096  # characters; longer names are no files


def find(
    name: str, folder: Path = Path(), from_file: bool = False
) -> tuple[Palette | None, tuple[str, ...]]:
    """Return the palette of a name, and what of its file was lost, a line each.

    A name is a built-in palette; a file in `folder` or in the current folder, and ``#entry`` after
    it names one of several palettes; or a color map of the package cmap. ``cmap:`` before a name
    selects the color map where a built-in palette has the same name. An unknown name returns None.

    `from_file`: whether a file, which may be a stranger's, contains the name: see `beside`.
    Messages then quote nothing of the palette's file. `OptionError`: a name after ``cmap:`` is
    unknown, or the package is not installed. `InputError`: the file can't be read, or is invalid;
    names the file, and the line where that is known.
    """
    if name.lower() in catalog.names("palettes"):  # never cmap's map whose name differs by case
        return palette.load(name.lower()), ()
    if len(name) > MAX_NAME:
        return None, ()
    if parts := split_entry(name):
        if from_file:
            return _read_beside(folder, *parts)
        path = folder / parts[0] if os.path.isfile(folder / parts[0]) else parts[0]
        return read(path, parts[1])
    if name.startswith(CMAP) or cmap_installed():
        if found := from_cmap(name.removeprefix(CMAP)):
            return found, ()
        if name.startswith(CMAP):
            raise OptionError(f"cmap has no color map '{shown(name.removeprefix(CMAP), 80)}'")
    return None, ()


def beside(folder: Path, path: Path) -> Path:
    """Return where a file lies that a scene's file names, if that is in `folder` or inside it.

    `InputError`: the path, or a symbolic link on it, leads elsewhere.
    """
    root = os.path.realpath(folder)
    try:
        inside = Path(os.path.realpath(folder / path)).is_relative_to(root)
    except (OSError, ValueError):  # a zero byte
        inside = False
    if path.anchor or ".." in path.parts or not inside:
        raise InputError(
            f"'{shown(path)}' is not in the folder of the scene that names it: copy it there, or "
            "name it yourself (palette= or coloring=)"
        )
    return folder / path


def _read_beside(folder: Path, path: Path, entry: str) -> tuple[Palette, tuple[str, ...]]:
    found = beside(folder, path)
    try:
        return read(found, entry)
    except InputError:
        label = shown(found)
        if not os.path.isfile(found):
            raise InputError(f"{label}: no such file") from None
        raise InputError(
            f"{label}: not a palette that can be read; fractals show {label} says why"
        ) from None


def split_entry(name: str) -> tuple[Path, str] | None:
    """Return the file and the entry that ``file.ugr#entry`` names; None where it is no file.

    >>> split_entry("a/b.ugr#Dusk 3"), split_entry("ember")
    ((PosixPath('a/b.ugr'), 'Dusk 3'), None)
    """
    ends = "|".join(map(re.escape, _suffixes()))
    parts = re.fullmatch(rf"(.*?(?:{ends}))(?:#(.*))?", name, re.IGNORECASE | re.DOTALL)
    return (Path(parts[1]), parts[2] or "") if parts else None


def read(path: Path, entry: str = "") -> tuple[Palette, tuple[str, ...]]:
    """Return the palette in a file, and what was lost; see `find`."""
    try:
        if path.suffix.lower() == ".toml":
            table = read_toml(path)
            if not formats.claimant(table):
                return _of_table(table), ()
        imported = formats.read(f"{path}#{entry}" if entry else str(path))
        color = dict(imported.table.get("color", {}))
        table = color.pop("palette", None)
        if not isinstance(table, Mapping):
            raise InputError("the file has no palette")
        lost = *(f"color.{key}: {shown(value)}" for key, value in color.items()), *imported.lost
        return palette.parse({"source": path.name, **table}), lost
    except InputError as error:
        text, label = str(error), shown(path, PATH_SHOWN)
        raise InputError(text if text.startswith(label) else f"{label}: {text}") from None


def _of_table(table: Mapping[str, Any]) -> Palette:
    """Return the palette of a TOML file: its keys alone, or the table ``[color.palette]``."""
    color = table.get("color")
    if not isinstance(color, Mapping) or "palette" not in color:
        return palette.parse(dict(table))
    given = color["palette"]
    if isinstance(given, str):
        return palette.load(given)
    return palette.parse(dict(given) if isinstance(given, Mapping) else {"stops": given})


def from_cmap(name: str) -> Palette | None:
    """Return a color map of the package cmap, or None for an unknown name.

    `OptionError`: the package is not installed.
    """
    if not cmap_installed():
        raise OptionError(
            f"the palette '{CMAP}{shown(name, 80)}' requires the package cmap: "
            f"{to_install('palettes')}"
        )
    import cmap

    from fractals.color.gradient import of_cmap

    try:
        return of_cmap(cmap.Colormap(name), name)
    except (ValueError, TypeError):
        return None


def cmap_installed() -> bool:
    """Tell whether the package cmap can be imported."""
    return importlib.util.find_spec("cmap") is not None


def _suffixes() -> tuple[str, ...]:
    """Return the suffixes of files that may hold a palette, without importing the formats."""
    more = (catalog.load("format", name)().suffixes for name in catalog.installed("format"))
    ends = {".toml", *(f".{name}" for name in catalog.names("format"))}
    return tuple(sorted(ends.union(*more)))
