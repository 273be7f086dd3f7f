"""Files of other programs: their format found by the suffix, read within bounds, and written."""

import contextlib
import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from fractals import catalog
from fractals.errors import InputError, SceneError, escaped, listed, shown
from fractals.io import png
from fractals.io.escape_data import SUFFIXES
from fractals.io.files import (
    PAGES,
    PATH_SHOWN,
    lifted_limit,
    open_to_read,
    read_bytes,
    read_toml,
)
from fractals.io.foreign import MAX_BYTES, Beside, Format, Imported, unset

FILMS = (".mp4", ".mkv", ".mov", ".webm")
# Drawn here, with a scene inside
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".tif", ".tiff")
OWN = (".toml", ".json", *PICTURES, *PAGES, *SUFFIXES)
# By which a text in a picture is known as another program's.
SIGNS = {
    "kfr": re.compile(rb"^(Re|Im|Zoom|FractalType|HybridFormula):", re.MULTILINE),
    "xpf": re.compile(rb"^\s*\((initstate|formula|view)\b", re.MULTILINE),
}
# Files of other programs that hold something else, or in a language that is not read.
OTHERS = {
    ".fct": "parameters of Gnofract 4D are not read",
    ".cfrm": "colorings of Gnofract 4D are not read: fractals.names('colorings') shows those here",
    ".uxf": "transformations hold no scene: name the .upr that uses them, which reads this file",
    ".cs": "color schemes of this kind are not read: save the colors as .gpl, .ggr or .map",
    ".fparm": "parameters of GAPFixFractal are not read",
    ".gif": "the parameters inside GIFs of Fractint are not read: save them there as an entry of a "
    ".par file (key b)",
    ".ucl": "colorings of Ultra Fractal are not read; its .ufm, .upr and .ugr are",
    ".ulb": "classes of Ultra Fractal are not read; its .ufm, .upr and .ugr are",
    **dict.fromkeys(
        (".upx", ".ufr"), "of Ultra Fractal's files .upr is read: save the parameters there in one"
    ),
    ".l": "L-systems are not drawn here",
    ".fract": "settings of Mandelbulber are not read: fractals.names('solids') shows those here",
    **dict.fromkeys(
        (".m3p", ".m3i", ".m3a"),
        "files of Mandelbulb 3D are not read: fractals.names('solids') shows those here",
    ),
    ".frag": "shaders of Fragmentarium are not read",
    ".kfb": "maps of Kalles Fraktaler are not read: save an .exr there, or name its .kfr",
    **dict.fromkeys((".im", ".imt"), "files of Imagina are not read: save the place there as .kfr"),
    ".chaos": "worlds of Chaotica are not read: export a .flame there",
    ".grd": "gradients of Photoshop are not read: save the colors as .act or .ase",
    **dict.fromkeys(
        (".aco", ".kpl"), "palettes of this kind are not read: save the colors as .gpl or .act"
    ),
    ".ppm": "pictures of this type carry no scene: draw a .png, or keep a .toml",
    **dict.fromkeys(FILMS, "films carry no scene: name the file that it was made of"),
    ".kfs": "settings of Kalles Fraktaler hold no place and no colors: name its .kfr or .kfp",
    ".xaf": "animations of XaoS are not read; its .xpf is",
    **dict.fromkeys(
        (".7z", ".bz2", ".gz", ".rar", ".tar", ".tgz", ".xz", ".zip", ".zst"),
        "it is compressed: unpack it first",
    ),
}
UNTOLD = (".jpeg", ".tiff", ".flam3", ".act", ".ase", ".cpt", ".pal")
WORDS = re.compile(r"(?:(?:^|\s+)@?\w+=\S*)+$")  # that set what an entry asks for
PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
MAX_MESSAGE = 2000  # characters; the longest messages name the entries of a file
MAX_LOST = 50  # lines; a location of Kalles Fraktaler has 100 keys at most


@functools.cache
def formats() -> tuple[Format, ...]:
    """Return every format."""
    return tuple(catalog.load("format", name)() for name in catalog.names("format"))


def suffixes(writing: bool = False) -> str:
    """Return what the name of a file may end in, that is read or written, as text.

    .jpeg, .tiff and .flam3, which go without saying, and palettes of programs that draw no fractals
    are left out, so that the line fits.
    """
    known = [each for each in formats() if each.write or not writing]
    others = {suffix for each in known for suffix in each.suffixes} - {*OWN}
    suffixes = [*(OWN[:2] if writing else OWN), *sorted(others)]
    return " ".join(suffix for suffix in suffixes if suffix not in UNTOLD)


def find(name: str, writing: bool = False) -> Format | None:
    """Return the format with the longest suffix that ends a name, or None.

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


def in_picture(file: BinaryIO, suffix: str) -> Imported | None:
    """Return what another program says in a picture that it drew, or None.

    The file is at its beginning; `suffix` is that of its name, in lower case. `SceneError`: the
    text of another program is there, and is invalid.
    """
    for name, data in _texts(file, suffix):
        if SIGNS[name].search(data):
            found: Imported = catalog.load("format", name)().read(data, "")
            with contextlib.suppress(Exception):  # Pillow raises many types for damaged data
                return Imported({**_sized(file), **found.table}, found.lost)
            return found
    return None


def _texts(file: BinaryIO, suffix: str) -> Iterator[tuple[str, bytes]]:
    """Yield the format and the text of the places where other programs keep theirs."""
    if suffix in (".jpg", ".jpeg"):
        yield "kfr", _jpeg_comment(file)
    for keyword, name in (("Comment", "kfr"), ("Metadata", "xpf")) if suffix == ".png" else ():
        file.seek(0)
        if png.begins(file):
            yield name, (png.read_text(file, keyword, MAX_BYTES) or "").encode()


def _jpeg_comment(file: BinaryIO) -> bytes:
    """Return the plain comment of an open JPEG, as other programs write it; b"" if it has none."""
    import PIL.Image

    try:
        with PIL.Image.open(file, formats=("JPEG",)) as picture:
            comment = picture.info.get("comment", b"")
    except Exception:  # another type, or one of the many errors of Pillow for damaged data
        return b""
    return comment if isinstance(comment, bytes) else b""


def _sized(file: BinaryIO) -> dict[str, Any]:
    """Return the size of a picture as a scene's table, for texts that name none."""
    import PIL.Image

    file.seek(0)
    with lifted_limit(), PIL.Image.open(file, formats=("JPEG", "PNG")) as picture:
        return {"image": {"size": list(picture.size)}}


def read(source: str, folders: Sequence[Path] = (), lossy: bool = False) -> Imported:
    """Return what a file says, such as ``"place.kfr"`` or, of many things, ``"many.par#name"``.

    `folders`: where files that it names are looked for, too; see `Beside`. `lossy`: a file is read
    without what can't be drawn, and `lost` tells that.

    `SceneError`: no format is known by the suffix, the file can't be read, or it is invalid.
    """
    path, entry = split(source)
    if path.suffix.lower() == ".toml" and find(path.name) is None:
        form = claimant(read_toml(path))
    else:
        form = find(path.name)
    if form is None:
        if other := OTHERS.get(path.suffix.lower()):
            raise SceneError(f"{shown(source, 300)}: {other}")
        if path.is_file() and (find(path.stem) or Path(path.stem).suffix.lower() in OWN):
            meant = shown(path.stem, 80)  # as some systems and forums add .txt
            raise SceneError(
                f"{shown(source, 300)}: rename it to {meant}: its end tells the format"
            )
        name = shown(source, 300) or "''"
        raise SceneError(f"{name}: no scene of the gallery, and no file that ends in {suffixes()}")
    data = read_bytes(path, MAX_BYTES)
    more = (Beside(path.parent, folders),) if form.reads_beside else ()
    with _named(path):
        try:
            found = form.read(data, entry, *more)
        except ValueError:  # not before: any bytes may be colors
            kinds = [kind for start, kind in PACKED.items() if data.startswith(start)]
            if kinds:
                raise SceneError(f"it is compressed ({kinds[0]}): unpack it first") from None
            raise
        if found.refused and not lossy:
            raise SceneError(found.refused)
    return _shown(found)


def read_picture(path: Path) -> Imported | None:
    """Return what another program says in a picture that it drew, or None.

    `SceneError`: the file can't be read, or the text of another program is invalid.
    """
    with _named(path), open_to_read(path) as file:
        found = in_picture(file, path.suffix.lower())
    return found and _shown(found)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Begin errors with the path."""
    try:
        yield
    except (InputError, OSError, ValueError) as error:
        text = shown(str(error), MAX_MESSAGE)
        about = error.about if isinstance(error, InputError) else {}
        raise SceneError(f"{shown(path, PATH_SHOWN)}: {text}", **about) from None


def _shown(found: Imported) -> Imported:
    """Return the same with lines that fit on a terminal."""
    lines = (*unset(found.asked), *found.lost)
    lost = [shown(line, MAX_MESSAGE) for line in listed(lines, MAX_LOST)]
    if _is_one_color(found.table):
        lost.append("all colors of the palette are the same")
    return Imported(found.table, tuple(lost))


def _is_one_color(table: Mapping[str, Any]) -> bool:
    palette = table.get("color", {}).get("palette")
    stops = palette.get("stops", ()) if isinstance(palette, Mapping) else ()
    return len({stop if isinstance(stop, str) else str(stop[-1]) for stop in stops}) == 1


def entries(source: str, folders: Sequence[Path] = ()) -> list[tuple[str, str]]:
    """Return the names in a file of many things, each with words about it; [] of other files.

    `SceneError`: the file can't be read, or is invalid.
    """
    path, entry = split(source)
    form = find(path.name)
    if entry or form is None or form.entries is None:
        return []
    more = (Beside(path.parent, folders),) if form.reads_beside else ()
    data = read_bytes(path, MAX_BYTES)
    with _named(path):
        found = form.entries(data, *more)
    return [(escaped(name), shown(about, MAX_MESSAGE)) for name, about in found]


def has_entry(path: Path, entry: str) -> bool:
    """Tell whether a file has an entry of this name, without words such as ``p1=2`` after it."""
    names = {name.lower() for name, _ in entries(str(path))}
    wanted = escaped(entry).lower()
    return bool({wanted, WORDS.sub("", wanted)} & {*names, ""})


def split(source: str, exists: Callable[[str], bool] = os.path.exists) -> tuple[Path, str]:
    """Return the path and the entry of ``"many.par#name"``.

    The path is the longest one that exists, up to the end or to a #, because folders, files and
    entries may have # in their names. If none does, it ends at the first # behind a known suffix.

    >>> split("many.par#name") == (Path("many.par"), "name")
    True
    >>> split("#1/many.par#name#3") == (Path("#1/many.par"), "name#3")
    True
    """
    marks = [match.start() for match in re.finditer("#", source)]
    if not marks or exists(source):
        return Path(source), ""
    for at in reversed(marks):
        if exists(source[:at]) and not os.path.isdir(source[:at]):
            return Path(source[:at]), source[at + 1 :]
    at = next((at for at in marks if find(source[:at]) is not None), marks[-1])
    return Path(source[:at]), source[at + 1 :]


def claimant(table: Mapping[str, Any]) -> Format | None:
    """Return the other program's format that claims a TOML table, or None."""
    return next((each for each in formats() if each.claims and each.claims(table)), None)
