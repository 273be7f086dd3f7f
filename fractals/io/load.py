"""Reads and writes scenes: `load_scene` merges gallery names, files and tables, left to right."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from fractals import catalog
from fractals.color import trap_image
from fractals.errors import InputError, OptionError, SceneError, shown, typed, warn
from fractals.io.beside import HERE, Place, folders_of
from fractals.io.files import (
    PATH_SHOWN,
    as_path,
    check_output,
    written,
)
from fractals.io.palettes import find_palette
from fractals.io.tables import gallery_table, is_json, read_table, split_source, tell_lost
from fractals.meant import writer_of
from fractals.scene.credits import claims_another
from fractals.scene.keywords import SceneKeywords
from fractals.scene.model import Scene, merge, nest, no_scene, validate
from fractals.scene.paint import MAX_NESTING, nested_deeper
from fractals.scene.picture import check_scales
from fractals.scene.space import SOURCES

PICTURE_SUFFIXES = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
}  # of trap pictures and masks


def embed_files(
    table: Mapping[str, Any], place: Place, lost: list[str] | None, source: str = ""
) -> Mapping[str, Any]:
    """Return a scene's table with palettes, trap pictures and tracks as values.

    `lost`: receives a line for each part of a palette file that has no equivalent. `source`: begins
    messages. `SceneError`: a file can't be read, or is invalid.
    """
    if isinstance(table.get("film"), Mapping):
        from fractals.io.film_files import embed_film

        try:
            table = {**table, "film": embed_film(table["film"], place)}
        except InputError as error:
            if not source:
                raise
            raise SceneError(f"{source}film: {error}", **error.about) from None
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
    if isinstance(name, str) and not (name == "auto" or catalog.has("palette", name)):
        try:
            found, lines = find_palette(name, place)
        except InputError as error:
            if not place.from_file:
                raise
            raise SceneError(f"{where}.palette: {error}", **error.about) from None
        if lost is not None:
            lost += [f"{shown(name)}: {line}" for line in lines]
        embedded["palette"] = found or name
    if isinstance(coloring := paint.get("coloring"), Mapping):
        embedded["coloring"] = _with_picture(coloring, place, f"{where}.coloring.picture")
    mask = paint.get("picture_mask")
    mask = {"picture": mask} if isinstance(mask, str) else mask
    if isinstance(mask, Mapping):
        encode = trap_image.encode_mask
        embedded["picture_mask"] = _with_picture(mask, place, f"{where}.picture_mask", encode)
    if isinstance(paint.get("layers"), list | tuple):
        embedded["layers"] = [
            _embed_paint(layer, place, lost, f"{where}.layers.{k}")
            if isinstance(layer, Mapping)
            else layer
            for k, layer in enumerate(paint["layers"])
        ]
    return embedded


def _with_picture(
    table: Mapping[str, Any],
    place: Place,
    where: str,
    encode: Callable[[trap_image.Pixels], str] = trap_image.encode,
) -> Mapping[str, Any]:
    """Return a table whose picture is a value; errors of the picture begin with `where`."""
    if not isinstance(table.get("picture"), str):
        return table
    try:
        return {**table, "picture": read_trap_image(table["picture"], place, encode)}
    except InputError as error:
        raise SceneError(f"{where}: {error}", **error.about) from None


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
        The suffix names no format of scenes, or `scene` is no Scene.
    SceneError
        The formula is a `Formula` object, which has no name to write.
    FractalsError
        The file exists, or can't be written; an existing file is unchanged.
    """
    suffix = check_suffix(path)
    if not isinstance(scene, Scene):
        raise no_scene(scene)
    text = scene.to_toml() if suffix == ".toml" else scene.to_json() + "\n"
    check_output(path, overwrite)
    with written(path, overwrite) as file:
        file.write(text.encode())


def check_suffix(path: str | Path) -> str:
    """Return the suffix of a scene's file.

    `OptionError`: it names no format of scenes.
    """
    suffix = as_path(path).suffix.lower()
    if suffix not in SCENE_SUFFIXES:
        other = writer_of(suffix)
        raise OptionError(f"'{path}': a scene is written to a .toml or .json file{other}")
    return suffix


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
        Receives a line for each setting of another program's file that has no equivalent. Without
        it, each line is a `FractalsWarning`.
    formulas : path or sequence of paths
        Folders with formulas, maps, palettes and pictures that files name.
    lossy : bool
        True: a flame is read without the variations that are not drawn here. `lost` and the
        formula's key `without` name them, and their share of the flame's weight.
    **keys
        Keys of the scene without their table, such as ``size`` or ``palette``; they are merged
        last. A ``supersampling`` replaces a source's quality in words, of an image of escape time.
        A ``formula`` that ends in ``.py`` is a Python file, which is run: see
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
                f"{typed(source, 60)} is no scene: give a name, a path, a table or a Scene; "
                "keys of the scene are keywords, as in size=(800, 600) and center=(-0.75, 0.1)"
            )
    if len(sources) == 1 and isinstance(sources[0], Scene) and not keys:
        return sources[0]
    check_scales(keys)
    found: list[str] = [] if lost is None else lost
    merged, signed = _merged(sources, found, folders_of(formulas), lossy)
    for key, value in keys.items():
        own = _from_file(value) if key == "formula" else value
        merged = merge(merged, embed_files(nest(key, own), HERE, found))
    scene = _validated(merged, None if "author" in keys else signed, sources)
    if lost is None:
        tell_lost(found, warn)
    if "supersampling" in keys and "quality" not in keys and scene.in_samples() is not scene:
        # A source's quality in words would set the samples; the keyword wins, as in `replace`.
        return scene.replace(supersampling=scene.image.supersampling)
    return scene


def scene_of(
    sources: Sequence[Source], lost: list[str], formulas: Sequence[Path], lossy: bool
) -> Scene:
    """Return the scene of sources, as `load_scene` does without keywords."""
    return _validated(*_merged(sources, lost, formulas, lossy), sources)


def _merged(
    sources: Sequence[Source], lost: list[str] | None, folders: Sequence[Path], lossy: bool
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Return the table that sources describe, and that of the last one that names an author."""
    merged: dict[str, Any] = {}
    signed: Mapping[str, Any] = {}
    for source in sources:
        table = _table_of(source, lost, folders, lossy)
        signed = table if table.get("author") else signed
        merged = merge(merged, table)
    return merged, signed


def _table_of(
    source: Source, lost: list[str] | None, folders: Sequence[Path], lossy: bool
) -> Mapping[str, Any]:
    """Return the table of a source, with what it names in files as values."""
    if isinstance(source, Scene):
        return source.to_values()
    if isinstance(source, Mapping):
        return embed_files(source, HERE, lost)
    if (table := gallery_table(source)) is not None:
        return table  # it names no files
    return table_of_file(source, lost, folders, lossy)


def table_of_file(
    source: str | Path, lost: list[str] | None, folders: Sequence[Path], lossy: bool
) -> Mapping[str, Any]:
    """Return the table of a file, or of a text in JSON, with what it names in files as values."""
    folder, name = Path(), ""
    if not is_json(source):
        folder, name = split_source(str(source))[0].parent, f"{shown(source, PATH_SHOWN)}: "
    table = read_table(source, lost, folders, lossy)
    return embed_files(table, Place(folder, True, tuple(folders)), lost, name)


def _validated(
    merged: dict[str, Any], signed: Mapping[str, Any] | None, sources: Sequence[Source]
) -> Scene:
    """Return the scene of a table; the gallery's author stays with the picture of `signed`."""
    if signed is not None and claims_another(signed, merged):
        merged["author"] = ""
    return validate(merged, *(s for s in sources if isinstance(s, str | Path) and not is_json(s)))


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
