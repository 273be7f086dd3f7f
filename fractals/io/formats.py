"""Files of other programs: their format found by the suffix, read within bounds, and written."""

import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fractals import catalog
from fractals.errors import InputError, SceneError, listed, shown
from fractals.io.files import PATH_SHOWN, printable, read_bytes, read_toml
from fractals.io.foreign import MAX_BYTES, Format, Imported

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff")  # drawn here, with a scene inside
OWN = (".toml", ".json", *PICTURES, ".fz")
# Files of other programs that hold something else, or in a language that is not read.
OTHERS = {
    **dict.fromkeys((".flame", ".flam3"), "flames are not drawn here"),
    ".fct": "parameters of Gnofract 4D are not read",
    ".cfrm": "colorings of Gnofract 4D are not read: 'fractals list colorings' shows those here",
    ".uxf": "transforms of Gnofract 4D are not read",
    ".cs": "color schemes of this kind are not read: save the colors as .gpl, .ggr or .map",
    ".ase": "palettes of Adobe's programs are not read: save the colors as .gpl",
    ".fparm": "parameters of GAPFixFractal are not read",
    ".frm": "files of formulas are not read: write one as an expression, as in --formula 'z^3 + c'",
    **dict.fromkeys((".ufm", ".ucl"), "formulas and classes of Ultra Fractal are not read"),
    **dict.fromkeys((".upr", ".upx"), "parameters of Ultra Fractal are not read; its .ugr is"),
    ".l": "L-systems are not drawn here",
    ".ifs": "iterated function systems are not drawn here",
    ".kfs": "settings of Kalles Fraktaler hold no place and no colors: name its .kfr or .kfp",
    ".xaf": "animations of XaoS are not read; its .xpf is",
    ".gif": "a GIF carries no scene that is read",
}
MAX_MESSAGE = 2000  # characters; the longest messages name the entries of a file
MAX_LOST = 50  # lines; a location of Kalles Fraktaler has 100 keys at most


@functools.cache
def formats() -> tuple[Format, ...]:
    """Return every format."""
    return tuple(catalog.load("format", name)() for name in catalog.names("format"))


def suffixes(writing: bool = False) -> str:
    """Return what the name of a file may end in, that is read or written, as text."""
    own = OWN[:2] if writing else OWN
    found = {suffix for each in formats() if each.write or not writing for suffix in each.suffixes}
    return " ".join([*own, *sorted(found - set(own))])


def find(name: str, writing: bool = False) -> Format | None:
    """Return the format with the longest suffix that ends a name, or None.

    Examples
    --------
    >>> find("place.KFR").name, find("place.f3.toml").name, find("sea.toml"), find("a.txt")
    ('kfr', 'fraktaler3', None, None)
    """
    if name.lower().endswith(OWN[1:]):
        return None
    ends = [
        (len(suffix), each)
        for each in _candidates(name)
        if each.write or not writing
        for suffix in each.suffixes
        if name.lower().endswith(suffix) and suffix not in OWN
    ]
    return max(ends, key=lambda end: end[0])[1] if ends else None


def _candidates(name: str) -> tuple[Format, ...]:
    """Return the formats that may have a suffix of this file; importing all takes milliseconds."""
    end = name.lower().rpartition(".")[2]
    if end in catalog.names("format"):  # by convention: a format's file is named by its suffix
        others = [other for other in catalog.installed("format") if other != end]
        return tuple(catalog.load("format", each)() for each in (end, *others))
    return formats()


def read(source: str) -> Imported:
    """Return what a file says, such as ``"place.kfr"`` or, of many things, ``"many.par#name"``.

    Raises
    ------
    SceneError
        No format is known by the suffix, the file can't be read, or it is invalid.
    """
    path, entry = split(source)
    if path.suffix.lower() == ".toml" and find(path.name) is None:
        form = claimant(read_toml(path))
    else:
        form = find(path.name)
    if form is None:
        if other := OTHERS.get(path.suffix.lower()):
            raise SceneError(f"{shown(source, 300)}: {other}")
        raise SceneError(
            f"{shown(source, 300)}: not a scene: name a gallery scene, or a file that ends in "
            f"{suffixes()}"
        )
    data = read_bytes(path, MAX_BYTES)
    try:
        found = form.read(data, entry)
    except InputError as error:
        text = shown(printable(str(error)), MAX_MESSAGE)
        raise SceneError(f"{shown(path, PATH_SHOWN)}: {text}") from None
    lost = [shown(printable(line), MAX_MESSAGE) for line in listed(found.lost, MAX_LOST)]
    if _is_one_color(found.table):
        lost.append("all colors of the palette are the same")
    return Imported(found.table, tuple(lost))


def _is_one_color(table: Mapping[str, Any]) -> bool:
    palette = table.get("color", {}).get("palette")
    stops = palette.get("stops", ()) if isinstance(palette, Mapping) else ()
    return len({stop if isinstance(stop, str) else str(stop[-1]) for stop in stops}) == 1


def entries(source: str) -> list[tuple[str, str]]:
    """Return the names in a file of many things, each with words about it; [] of other files.

    Raises
    ------
    SceneError
        The file can't be read, or is invalid.
    """
    path, entry = split(source)
    form = find(path.name)
    if entry or form is None or form.entries is None:
        return []
    try:
        found = form.entries(read_bytes(path, MAX_BYTES))
    except InputError as error:
        text = shown(printable(str(error)), MAX_MESSAGE)
        raise SceneError(f"{shown(path, PATH_SHOWN)}: {text}") from None
    return [(printable(name), shown(printable(about), MAX_MESSAGE)) for name, about in found]


def split(source: str) -> tuple[Path, str]:
    """Return the path and the entry of ``"many.par#name"``; a file of this whole name comes first.

    Examples
    --------
    >>> split("many.par#name") == (Path("many.par"), "name")
    True
    """
    path, mark, entry = source.rpartition("#")
    if not mark or os.path.exists(source):
        return Path(source), ""
    return Path(path), entry


def claimant(table: Mapping[str, Any]) -> Format | None:
    """Return the other program's format that claims a TOML table, or None."""
    return next((each for each in formats() if each.claims and each.claims(table)), None)
