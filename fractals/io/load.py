"""Reads scenes, merged from left to right of gallery names, files and tables, and palettes."""

import contextlib
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from fractals import catalog
from fractals.color import palette, trap_image
from fractals.color.gradient import MAX_TITLE
from fractals.color.palette import Palette
from fractals.errors import InputError, OptionError, SceneError, shown, to_install
from fractals.io.beside import HERE, Place, folders_of
from fractals.io.escape_data import RESOLVED, SUFFIXES, EscapeData, checked
from fractals.io.files import (
    PAGES,
    PATH_SHOWN,
    NoSceneError,
    check_output,
    parse_json,
    parsed,
    read_bytes,
    read_embedded,
    read_json,
    read_store_header,
    read_toml,
    text_of,
    written,
)
from fractals.scene.credits import claims_another
from fractals.scene.film import MAX_POINTS, PALETTES, flattened
from fractals.scene.keywords import SceneKeywords
from fractals.scene.model import Scene, merge, nest, nested_deeper, validate
from fractals.scene.numbers import plain_minus
from fractals.scene.paint import MAX_NESTING
from fractals.scene.space import SOURCES

if TYPE_CHECKING:
    from fractals.io.foreign import Imported

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
    if name.lower() in catalog.names("palettes"):  # never cmap's map whose name differs by case
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
    from fractals.io.formats import PICTURES

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
            return _of_table({RESOLVED: read_resolved(path), **_read_any(path, None, (), False)})
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

    path, entry = _split(name, exists)
    return (path, entry) if path.name.lower().endswith(_suffixes()) else None


def _split(source: str, exists: Callable[[str], bool] = os.path.exists) -> tuple[Path, str]:
    """Return the path and the entry of ``"many.par#name"``; see `formats.split`."""
    if "#" not in source:
        return Path(source), ""
    from fractals.io import formats

    return formats.split(source, exists)


def read_palette(path: Path, entry: str = "") -> tuple[Palette, tuple[str, ...]]:
    """Return the palette in a file, and what was lost; see `find_palette`."""
    from fractals.io import formats

    try:
        if path.suffix.lower() == ".toml":
            table = read_toml(path)
            if not formats.claimant(table):
                return _of_table(table), ()
        elif path.suffix.lower() in formats.PICTURES:
            return _of_picture(path, entry), ()
        elif not entry and path.suffix.lower() in formats.OWN:
            return _of_table(_read_any(path, None, (), False)), ()
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

    try:
        return of_cmap(cmap.Colormap(name), name)
    except (ValueError, TypeError):
        return None


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
    from fractals.io.formats import OWN

    more = (catalog.load("format", name)().suffixes for name in catalog.installed("format"))
    ends = {*OWN, *(f".{name}" for name in catalog.names("format"))}
    return tuple(sorted(ends.union(*more)))


# --- Scenes

# Reads the files that a film names: tracks from CSV become points; sound keeps its path.


TABLE_SUFFIXES = (".csv", ".tsv", ".txt")
MAX_BYTES = 16 * 2**20
MAX_COLUMNS = 20


def embed(film: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """Return a film's table with tracks as points, and with the path of its sound.

    `SceneError`: a file is missing, lies elsewhere, or holds no points.
    """
    embedded = dict(film)
    tracks = flattened(film.get("tracks"))
    if isinstance(tracks, Mapping):
        embedded["tracks"] = {
            name: read_points(_found(points, place))
            if isinstance(points, str) and points.lower().endswith(TABLE_SUFFIXES)
            else _with_palettes(points, place)
            if PALETTES.fullmatch(name)
            else points
            for name, points in tracks.items()
        }
    sound = film.get("sound")
    if isinstance(sound, Mapping) and isinstance(sound.get("file"), str):
        embedded["sound"] = {**sound, "file": str(_found(sound["file"], place))}
    return embedded


def _found(name: str, place: Place) -> Path:
    try:
        return place.find(name, "sound=")
    except InputError as error:
        raise SceneError(str(error)) from None


def _with_palettes(points: Any, place: Place) -> Any:
    """Return the points of a track of palettes, with the palettes of files as values."""

    def found(value: Any) -> Any:
        if not isinstance(value, str) or value in ("auto", *catalog.names("palette")):
            return value
        return find_palette(value, place)[0] or value

    if not isinstance(points, list | tuple):
        return points
    return [
        [point[0], found(point[1]), *point[2:]]
        if isinstance(point, list | tuple) and len(point) > 1
        else point
        for point in points
    ]


def read_points(path: Path) -> list[list[Any]]:
    """Return the rows of a CSV file: seconds, then one value or several.

    Columns are parted by commas, semicolons, tabs or blanks. A first row without numbers, empty
    rows and rows that begin with # are passed over.

    `SceneError`: the file is missing, too large, or a row is no point; the message has its line.
    """
    import csv

    name = shown(path)
    try:
        text = text_of(read_bytes(path, MAX_BYTES))
    except UnicodeDecodeError:
        raise SceneError(f"{name}: neither UTF-8 nor UTF-16 text") from None
    points: list[list[Any]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        mark = next((mark for mark in ",;\t" if mark in line), None)
        try:
            cells = next(csv.reader([line], delimiter=mark)) if mark else line.split()
            cells = [plain_minus(cell.strip()) for cell in cells]
            values = [float(cell) for cell in cells]
        except (ValueError, csv.Error):  # a cell may be too long for csv
            if not points and number == 1:
                continue
            raise SceneError(f"{name}: line {number}: '{shown(line, 40)}' is no point") from None
        if not 2 <= len(values) <= MAX_COLUMNS:
            raise SceneError(f"{name}: line {number}: a point is seconds and a value")
        if len(points) == MAX_POINTS:
            raise SceneError(f"{name}: more than {MAX_POINTS} points")
        points.append([values[0], cells[1] if len(cells) == 2 else cells[1:]])
    if not points:
        raise SceneError(f"{name}: no points: a row is seconds and a value")
    return points


# Replaces names of palette, picture and track files in a scene's table by their contents.


PICTURE_SUFFIXES = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
}  # of trap pictures


def embed_files(
    table: Mapping[str, Any], place: Place, lost: list[str] | None, source: str = ""
) -> Mapping[str, Any]:
    """Return a scene's table with palettes, trap pictures and tracks as values.

    `lost`: receives a line for each part of a palette file that has no equivalent. `source`: begins
    messages about pictures. `SceneError`: a file can't be read, or is invalid.
    """
    if isinstance(table.get("film"), Mapping):
        table = {**table, "film": embed(table["film"], place)}
    color = table.get("color")
    if not isinstance(color, Mapping) or nested_deeper(color, MAX_NESTING + 1):  # an error later
        return table
    return {**table, "color": _embed_paint(color, place, lost, f"{source}color")}


def _embed_paint(
    paint: Mapping[str, Any], place: Place, lost: list[str] | None, where: str
) -> dict[str, Any]:
    """Return the table of a paint with its files as values; `where`: its place in the scene."""
    embedded = dict(paint)
    name = paint.get("palette")
    if isinstance(name, str) and name not in ("auto", *catalog.names("palette")):
        found, lines = find_palette(name, place)
        if lost is not None:
            lost += [f"{shown(name)}: {line}" for line in lines]
        embedded["palette"] = found or name
    coloring = paint.get("coloring")
    if isinstance(coloring, Mapping) and isinstance(coloring.get("picture"), str):
        with _within(f"{where}.coloring.picture"):
            picture = read_trap_image(coloring["picture"], place)
        embedded["coloring"] = {**coloring, "picture": picture}
    mask = paint.get("picture_mask")
    mask = {"picture": mask} if isinstance(mask, str) else mask
    if isinstance(mask, Mapping) and isinstance(mask.get("picture"), str):
        with _within(f"{where}.picture_mask"):
            picture = read_trap_image(mask["picture"], place, trap_image.encode_mask)
        embedded["picture_mask"] = {**mask, "picture": picture}
    if isinstance(paint.get("layers"), list | tuple):
        embedded["layers"] = [
            _embed_paint(layer, place, lost, f"{where}.layers.{k}")
            if isinstance(layer, Mapping)
            else layer
            for k, layer in enumerate(paint["layers"])
        ]
    return embedded


@contextlib.contextmanager
def _within(where: str) -> Iterator[None]:
    """Begin errors of a picture with its place in the scene."""
    try:
        yield
    except InputError as error:
        raise SceneError(f"{where}: {error}") from None


def read_trap_image(
    name: str,
    place: Place = HERE,
    encode: Callable[[trap_image.Pixels], str] = trap_image.encode,
) -> str:
    """Return a picture as a scene keeps it: a built-in name, or the text that `encode` returns.

    A mask that is larger than a scene keeps is made smaller.

    `SceneError`: the picture is missing, too large, damaged, or of another type.
    """
    if name == trap_image.BUILT_IN or name.startswith(trap_image.KEPT):
        trap_image.decode(name)
        return name
    path = place.find(name)
    label = shown(path)
    if path.suffix.lower() not in PICTURE_SUFFIXES:
        ends = " ".join(PICTURE_SUFFIXES)
        raise SceneError(
            f"'{shown(name, 80)}' is no picture: name a file ({ends}), or {trap_image.BUILT_IN}"
        )
    try:
        if not os.path.isfile(path):
            raise SceneError(f"{label}: no such file")
        if path.stat().st_size > trap_image.MAX_BYTES:
            limit = trap_image.MAX_BYTES // 2**20
            raise SceneError(f"{label}: a picture's file has at most {limit} MiB")
        data = path.read_bytes()
    except OSError as error:
        raise SceneError(f"{label}: {error.strerror or error}") from None
    smaller = encode is trap_image.encode_mask
    return encode(trap_image.opened(data, PICTURE_SUFFIXES[path.suffix.lower()], label, smaller))


# Writes scenes.


SCENE_SUFFIXES = (".toml", ".json")


def save_scene(scene: Scene, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a scene to a file, which `fractals.load_scene` reads.

    Parameters
    ----------
    scene : Scene
    path : str or Path
        The suffix is .toml or .json.
    overwrite : bool
        True: an existing file is replaced.

    Raises
    ------
    OptionError
        The suffix names no format of scenes.
    SceneError
        The formula is a `Formula` object, which has no name to write.
    FractalsError
        The file exists, or can't be written; an existing file is unchanged.
    """
    suffix = check_suffix(path)
    text = scene.to_toml() if suffix == ".toml" else scene.to_json() + "\n"
    check_output(path, overwrite)
    with written(path, overwrite) as file:
        file.write(text.encode())


def check_suffix(path: str | Path) -> str:
    """Return the suffix of a scene's file.

    `OptionError`: it names no format of scenes.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SCENE_SUFFIXES:
        raise OptionError(f"'{path}': a scene is written to a .toml or .json file")
    return suffix


GALLERY = "gallery:"
Source = str | Path | Mapping[str, Any] | Scene
Folders = str | Path | Sequence[str | Path]


def load_scene(
    *sources: Source,
    lost: list[str] | None = None,
    formulas: Folders = (),
    lossy: bool = False,
    **keys: Unpack[SceneKeywords],
) -> Scene:
    """Return the scene that `sources` describe, merged from left to right.

    The author of a scene of the gallery is left out where other keys make another picture of it.

    A palette or a picture that a file names is read only from the file's own folder and from
    `formulas`, because the file may be a stranger's. A formula or a map that parameters of another
    program name is also looked for in folders such as ``../formula`` beside theirs. Names in tables
    and keywords are the caller's, and unrestricted.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        Gallery names, TOML or JSON files, pictures drawn by this program, stores of raw numbers,
        files of other programs, tables and scenes. None: the Mandelbrot set. ``"gallery:NAME"`` is
        always the gallery's scene, even where a file has the same name. A text that begins with
        ``{`` is a scene in JSON, as ``Scene.to_json`` writes it.
    lost : list of str, optional
        Receives a line for each setting of another program's file that has no equivalent.
    formulas : path or sequence of paths
        Folders with formulas, maps, palettes and pictures that files name.
    lossy : bool
        True: a flame is read without the variations that are not drawn here. `lost` and the
        formula's key `without` name them, and their share of the flame's weight.
    **keys
        Keys of the scene without their table, such as ``size`` or ``palette``; they are merged
        last. A ``formula`` that ends in ``.py`` is a Python file, which is run: see
        `fractals.load_formula`.

    Returns
    -------
    Scene

    Raises
    ------
    SceneError
        A source can't be read, or describes no valid scene; all errors are reported at once.
    OptionError
        No key has this name, or a source is of another type.

    Examples
    --------
    >>> load_scene("seahorse", size=(64, 48)).image.size
    (64, 48)
    """
    for source in sources:
        if not isinstance(source, str | Path | Mapping | Scene):
            raise OptionError(
                f"{shown(repr(source), 60)} is no scene: give a name, a path, a table or a Scene; "
                "keys of the scene are keywords, as in size=(800, 600) and center=(-0.75, 0.1)"
            )
    if len(sources) == 1 and isinstance(sources[0], Scene) and not keys:
        return sources[0]
    merged: dict[str, Any] = {}
    signed: Mapping[str, Any] = {}  # the last source that names an author
    more = folders_of(formulas)
    for source in sources:
        place, name = HERE, ""
        if isinstance(source, str | Path):
            folder = Path() if is_json(source) else _split(str(source))[0].parent
            place = Place(folder, True, more)
            name = "" if is_json(source) else f"{shown(source, PATH_SHOWN)}: "
            source = read_table(source, lost, more, lossy)
        if isinstance(source, Scene):
            table: Mapping[str, Any] = source.to_values()
        else:
            table = embed_files(source, place, lost, name)
        signed = table if table.get("author") else signed
        merged = merge(merged, table)
    for key, value in keys.items():
        own = _from_file(value) if key == "formula" else value
        merged = merge(merged, embed_files(nest(key, own), HERE, lost))
    if "author" not in keys and claims_another(signed, merged):
        merged["author"] = ""
    named = (s for s in sources if isinstance(s, str | Path) and not is_json(s))
    return validate(merged, *named)


def _from_file(formula: Any) -> Any:
    """Return the formula of a Python file that a keyword names; other values as they are."""
    named = formula.strip() if isinstance(formula, str) else formula
    if not (isinstance(named, os.PathLike) or (isinstance(named, str) and named.endswith(".py"))):
        return formula
    from fractals.io.formula_file import load_formula

    return load_formula(os.fspath(named))


def with_colors(
    scene: Scene,
    names: Iterable[str],
    *sources: Source,
    lost: list[str] | None = None,
    formulas: Folders = (),
    lossy: bool = False,
) -> Scene:
    """Return a scene with the looks of `sources`, merged over its own.

    names: the tables that are looks, as the scene's family says. Of a light that is no look, the
    sun's, the sky's and the emission's are.

    A `Scene` has every color, so the colors before it are replaced.
    """
    if not sources:
        return scene
    parts = (scene, *sources)
    last = max(k for k, part in enumerate(parts) if isinstance(part, Scene))
    merged = load_scene(*parts[last:], lost=lost, formulas=formulas, lossy=lossy)
    table, own = merged.to_values(), scene.to_values()
    looks = {key: table.get(key, {}) for key in names}
    if "light" not in looks:
        light = {key: value for key, value in own.get("light", {}).items() if key not in SOURCES}
        given = table.get("light", {})
        looks["light"] = light | {key: given[key] for key in SOURCES if key in given}
    after = {**own, **looks}
    if claims_another(own, after):
        after["author"] = ""
    return validate(after, "")


def is_json(source: str | Path) -> bool:
    """Tell whether a source is a scene in JSON, and no name and no path."""
    return isinstance(source, str) and source.lstrip().startswith("{")


def read_table(
    source: str | Path,
    lost: list[str] | None = None,
    folders: Sequence[Path] = (),
    lossy: bool = False,
) -> dict[str, Any]:
    """Return the table of a gallery scene's name, or of a file; see `load_scene`.

    `folders`: where files that it names are looked for, too.
    """
    table = _read_any(source, lost, folders, lossy)
    table.pop(RESOLVED, None)  # what "auto" was in a picture; it is found again
    return table


def read_resolved(path: Path) -> dict[str, Any]:
    """Return what the values "auto" of a picture's scene were, as a table; {} if not known."""
    try:
        return checked(read_embedded(path).get(RESOLVED))
    except NoSceneError:  # a picture of another program
        return {}


def _read_any(
    source: str | Path, lost: list[str] | None, folders: Sequence[Path], lossy: bool
) -> dict[str, Any]:
    name = str(source)
    if is_json(source):
        return parsed("the JSON of a scene", lambda: parse_json(name))
    path, entry = _split(name)
    suffix = "" if entry else path.suffix.lower()
    if isinstance(source, str):
        if name.startswith(GALLERY) or name in catalog.names("gallery"):
            return catalog.read("gallery", name.removeprefix(GALLERY))
        if not (path.suffix or os.path.exists(path)):
            known = catalog.has("solid", name)
            return {"formula": name} if known else catalog.read("gallery", name)
    if suffix == ".json":
        return read_json(path)
    from fractals.io import formats  # imported for files: most scenes have a name

    if suffix in formats.PICTURES:
        return _read_picture(name, lost)
    if suffix in PAGES:
        return read_embedded(path)
    if suffix == ".fz":
        return dict(read_store_header(path)["scene"])
    if suffix in SUFFIXES:
        return EscapeData.load(path).scene.to_values()
    if suffix == ".toml" and not name.lower().endswith(".f3.toml"):
        table = read_toml(path)
        if table.keys() <= {*Scene.model_fields, RESOLVED} or not formats.claimant(table):
            return table
    return _told(name, formats.read(name, folders, lossy), lost)


def _read_picture(name: str, lost: list[str] | None) -> dict[str, Any]:
    """Return the scene in a picture of this program, or of another one."""
    try:
        return read_embedded(Path(name))
    except NoSceneError:
        from fractals.io import formats

        if (imported := formats.read_picture(Path(name))) is None:
            raise
    return _told(name, imported, lost)


def _told(name: str, imported: "Imported", lost: list[str] | None) -> dict[str, Any]:
    """Return what a file says, and add what was lost to a list."""
    if lost is not None:
        lost += [f"{name}: {line}" for line in imported.lost]
    return dict(imported.table)
