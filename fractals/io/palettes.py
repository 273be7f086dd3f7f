"""Finds palettes: built-in ones, those of files and pictures, and color maps of other packages."""

import contextlib
import importlib.util
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fractals import catalog
from fractals.color import palette
from fractals.color.gradient import MAX_TITLE
from fractals.color.palette import Palette
from fractals.errors import InputError, OptionError, shown, to_install
from fractals.io.beside import HERE, Place
from fractals.io.facts import RESOLVED, checked
from fractals.io.files import PATH_SHOWN, NoSceneError, read_toml
from fractals.io.tables import read_any, read_resolved, split_source
from fractals.scene.model import Scene

CMAP = "cmap:"
MAX_NAME = 4096  # characters; longer names are no files


def find_palette(name: str, place: Place = HERE) -> tuple[Palette | None, tuple[str, ...]]:
    """Return the palette of a name, and what of its file was lost, a line each.

    A name is a built-in palette; a file, see `Place.find`, and ``#entry`` after it names one of
    several palettes; a picture, whose scene has one, or whose colors are taken, ``#12`` of them; or
    a color map of the package cmap, or else of matplotlib. ``cmap:`` before a name selects cmap's
    where a built-in palette has the same name. An unknown name returns None.

    Where a file contains the name, messages quote nothing of the palette's file. `OptionError`: a
    name after ``cmap:`` is unknown, or the package is not installed. `InputError`: the file can't
    be read, or is invalid; names the file, and the line where that is known.
    """
    if catalog.has("palette", name.lower()):  # never cmap's map whose name differs by case
        return palette.load(name.lower()), ()
    if len(name) > MAX_NAME:
        return None, ()
    picture = split_picture(name)
    if parts := picture or split_entry(name, place):
        whole = not (picture and picture[1])  # else only the colors of pixels are read
        read = _read_beside if place.from_file and whole else read_palette
        return read(place.find(parts[0]), parts[1])
    if name.startswith(CMAP) or cmap_installed():
        if found := from_cmap(name.removeprefix(CMAP)):
            return found, ()
        if name.startswith(CMAP):
            raise OptionError(f"cmap has no color map '{shown(name.removeprefix(CMAP), 80)}'")
    return from_matplotlib(name), ()


def split_picture(name: str) -> tuple[Path, str] | None:
    """Return the file and the number of colors that ``photo.jpg#12`` names; None: it is no picture.

    >>> split_picture("photo.jpg#12"), split_picture("ember")
    ((PosixPath('photo.jpg'), '12'), None)
    """
    from fractals.io.foreign.formats import PICTURES

    path, _, number = name.rpartition("#")
    path, number = (path, number) if path and number.isdecimal() else (name, "")
    if name.startswith(CMAP) or not path.lower().endswith(PICTURES):
        return None
    return Path(path), number


def _of_picture(path: Path, number: str) -> Palette:
    """Return the palette of the scene that a picture carries, or one of its colors."""
    label = shown(path, PATH_SHOWN)
    if not os.path.isfile(path):
        raise InputError(f"{label}: no such file")
    with contextlib.suppress(NoSceneError):
        if not number:
            return _of_table({RESOLVED: read_resolved(path), **read_any(path, None, (), False)})
    from fractals.color import photo
    from fractals.io.image import read_small

    number = number or str(photo.COLORS)
    colors = int(number[:9]) if number.isdecimal() else 0
    if not photo.FEWEST <= colors <= photo.MOST:
        raise InputError(
            f"{label}: a palette of a picture has {photo.FEWEST} to {photo.MOST} colors"
        )
    return photo.palette_of(read_small(path), colors, shown(path.stem, MAX_TITLE))


def _read_beside(path: Path, entry: str) -> tuple[Palette, tuple[str, ...]]:
    try:
        return read_palette(path, entry)
    except (InputError, OptionError):  # the second one names a palette that the file names
        label = shown(path)
        if not os.path.isfile(path):
            raise InputError(f"{label}: no such file") from None
        raise InputError(
            f"{label}: not a palette that can be read; fractals show {label} says why"
        ) from None


def split_entry(name: str, place: Place = HERE) -> tuple[Path, str] | None:
    """Return the file and the entry that ``file.ugr#entry`` names; None where it is no file.

    >>> split_entry("a/b.ugr#Dusk 3"), split_entry("ember")
    ((PosixPath('a/b.ugr'), 'Dusk 3'), None)
    """

    def exists(path: str) -> bool:
        return os.path.isfile(place.folder / path) or (not place.from_file and os.path.isfile(path))

    path, entry = split_source(name, exists)
    return (path, entry) if path.name.lower().endswith(_suffixes()) else None


def read_palette(path: Path, entry: str = "") -> tuple[Palette, tuple[str, ...]]:
    """Return the palette in a file, and what was lost; see `find_palette`."""
    from fractals.io.foreign import formats

    try:
        if path.suffix.lower() == ".toml":
            table = read_toml(path)
            if not formats.claimant(table):
                return _of_table(table), ()
        elif path.suffix.lower() in formats.PICTURES:
            return _of_picture(path, entry), ()
        elif not entry and path.suffix.lower() in formats.OWN:
            return _of_table(read_any(path, None, (), False)), ()
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
    """Return the palette of a table: its keys alone, or those of a scene's ``[color.palette]``."""
    color = table.get("color")
    given = color.get("palette") if isinstance(color, Mapping) else None
    if given in (None, "auto"):
        given = checked(table.get(RESOLVED)).get("palette")  # what "auto" was in a picture
    if isinstance(given, str):
        return palette.load(given)
    if given is not None:
        return palette.parse(dict(given) if isinstance(given, Mapping) else {"stops": given})
    if table.keys() & Scene.model_fields.keys() - {"title"}:
        raise InputError("the scene in this file names no palette")
    return palette.parse(dict(table))


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

    logger = logging.getLogger("cmap")  # warns in two lines that a name has several maps
    was, logger.disabled = logger.disabled, True
    try:
        return of_cmap(cmap.Colormap(name), name)
    except (ValueError, TypeError):
        return None
    finally:
        logger.disabled = was


def from_matplotlib(name: str) -> Palette | None:
    """Return a color map of matplotlib, or None for an unknown name, or if it is not installed."""
    if not name.isidentifier() or importlib.util.find_spec("matplotlib") is None:
        return None
    import matplotlib

    from fractals.color.gradient import of_matplotlib

    found = name in matplotlib.colormaps
    return of_matplotlib(matplotlib.colormaps[name]) if found else None


def cmap_installed() -> bool:
    """Tell whether the package cmap can be imported."""
    return importlib.util.find_spec("cmap") is not None


def _suffixes() -> tuple[str, ...]:
    """Return the suffixes of files that may hold a palette, without importing the formats."""
    from fractals.io.foreign.formats import OWN

    more = (catalog.load("format", name)().suffixes for name in catalog.installed("format"))
    ends = {*OWN, *(f".{name}" for name in catalog.names("format"))}
    return tuple(sorted(ends.union(*more)))
