"""Reads scenes: gallery names, files and tables, merged from left to right."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from fractals import catalog
from fractals.errors import OptionError, shown
from fractals.io import formats
from fractals.io.embed import embed_files
from fractals.io.files import (
    NoSceneError,
    read_embedded,
    read_json,
    read_store_header,
    read_toml,
)
from fractals.io.foreign import Imported
from fractals.io.summary import RESOLVED, checked
from fractals.scene.keywords import SceneKeywords
from fractals.scene.model import Scene, merge, nest, validate

GALLERY = "gallery:"
Source = str | Path | Mapping[str, Any] | Scene


def load_scene(
    *sources: Source, lost: list[str] | None = None, **keys: Unpack[SceneKeywords]
) -> Scene:
    """Return the scene that `sources` describe, merged from left to right.

    A palette or a picture that a file names is read only from the file's own folder, because the
    file may be a stranger's. Names in tables and keywords are the caller's, and unrestricted.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        Gallery names, TOML or JSON files, pictures drawn by this program, stores of raw numbers,
        files of other programs, tables and scenes. None: the Mandelbrot set. ``"gallery:NAME"`` is
        always the gallery's scene, even where a file has the same name.
    lost : list of str, optional
        Receives a line for each setting of another program's file that has no equivalent.
    **keys
        Keys of the scene without their table, such as ``size`` or ``palette``; they are merged
        last.

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
                "keys of the scene are keywords, as in size=(800, 600)"
            )
    if len(sources) == 1 and isinstance(sources[0], Scene) and not keys:
        return sources[0]
    merged: dict[str, Any] = {}
    for source in sources:
        folder = Path(source).parent if isinstance(source, str | Path) else Path()
        table = read_table(source, lost) if isinstance(source, str | Path) else source
        if isinstance(table, Scene):
            table = table.to_values()
        else:
            table = embed_files(table, folder, lost, from_file=isinstance(source, str | Path))
        merged = merge(merged, table)
    for key, value in keys.items():
        merged = merge(merged, embed_files(nest(key, value), Path(), lost))
    return validate(merged, ", ".join(shown(s, 300) for s in sources if isinstance(s, str | Path)))


def read_table(source: str | Path, lost: list[str] | None = None) -> dict[str, Any]:
    """Return the table of a gallery scene's name, or of a file; see `load_scene`."""
    table = _read_any(source, lost)
    table.pop(RESOLVED, None)  # what "auto" was in a picture; it is found again
    return table


def read_resolved(path: Path) -> dict[str, Any]:
    """Return what the values "auto" of a picture's scene were, as a table; {} if not known."""
    try:
        return checked(read_embedded(path).get(RESOLVED))
    except NoSceneError:  # a picture of another program
        return {}


def _read_any(source: str | Path, lost: list[str] | None) -> dict[str, Any]:
    name, path = str(source), Path(source)
    suffix = path.suffix.lower()
    if isinstance(source, str):
        named = name in catalog.names("gallery") or (not suffix and not os.path.exists(name))
        if named or name.startswith(GALLERY):
            return catalog.read("gallery", name.removeprefix(GALLERY))
    if suffix == ".json":
        return read_json(path)
    if suffix in formats.PICTURES:
        return _read_picture(name, lost)
    if suffix == ".fz":
        return dict(read_store_header(path)["scene"])
    if suffix == ".toml" and not name.lower().endswith(".f3.toml"):
        table = read_toml(path)
        if table.keys() <= {*Scene.model_fields, RESOLVED} or not formats.claimant(table):
            return table
    return _told(name, formats.read(name), lost)


def _read_picture(name: str, lost: list[str] | None) -> dict[str, Any]:
    """Return the scene in a picture of this program, or of another one."""
    try:
        return read_embedded(Path(name))
    except NoSceneError:
        if (imported := formats.read_picture(Path(name))) is None:
            raise
    return _told(name, imported, lost)


def _told(name: str, imported: Imported, lost: list[str] | None) -> dict[str, Any]:
    """Return what a file says, and add what was lost to a list."""
    if lost is not None:
        lost += [f"{name}: {line}" for line in imported.lost]
    return dict(imported.table)
