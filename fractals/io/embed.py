"""Replaces names of palette, picture and track files in a scene's table by their contents."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fractals import catalog
from fractals.color import trap_image
from fractals.errors import SceneError, shown
from fractals.io import film_files, palettes

PICTURE_SUFFIXES = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
}  # of trap pictures


def embed_files(
    table: Mapping[str, Any], folder: Path, lost: list[str] | None, from_file: bool = False
) -> Mapping[str, Any]:
    """Return a scene's table with palettes, trap pictures and tracks as values.

    Files are searched for in `folder`, which holds the scene's file, then in the current folder.

    Parameters
    ----------
    lost : list of str or None
        Receives a line for each part of a palette file that has no equivalent.
    from_file : bool
        Whether the table was read from a file, which may be a stranger's: then only files in
        `folder`, and in folders inside it, are opened.

    Raises
    ------
    SceneError
        A file can't be read, or is invalid.
    """
    if isinstance(table.get("film"), Mapping):
        table = {**table, "film": film_files.embed(table["film"], folder, from_file)}
    color = table.get("color")
    if not isinstance(color, Mapping):
        return table
    embedded = _embed_paint(color, folder, lost, from_file)
    if isinstance(color.get("layers"), list | tuple):
        embedded["layers"] = [
            _embed_paint(layer, folder, lost, from_file) if isinstance(layer, Mapping) else layer
            for layer in color["layers"]
        ]
    return {**table, "color": embedded}


def _embed_paint(
    paint: Mapping[str, Any], folder: Path, lost: list[str] | None, from_file: bool
) -> dict[str, Any]:
    embedded = dict(paint)
    name = paint.get("palette")
    if isinstance(name, str) and name not in ("auto", *catalog.names("palette")):
        found, lines = palettes.find(name, folder, from_file)
        if lost is not None:
            lost += [f"{shown(name)}: {line}" for line in lines]
        embedded["palette"] = found or name
    coloring = paint.get("coloring")
    if isinstance(coloring, Mapping) and isinstance(coloring.get("picture"), str):
        picture = read_trap_image(coloring["picture"], folder, from_file)
        embedded["coloring"] = {**coloring, "picture": picture}
    return embedded


def read_trap_image(name: str, folder: Path = Path(), from_file: bool = False) -> str:
    """Return a trap picture as a scene keeps it: a built-in name, or its PNG as text.

    Raises
    ------
    SceneError
        The picture is missing, too large, damaged, or of another type.
    """
    if name == trap_image.BUILT_IN or name.startswith(trap_image.KEPT):
        trap_image.decode(name)
        return name
    path = Path(name)
    if from_file:
        path = palettes.beside(folder, path)
    elif os.path.isfile(folder / name):
        path = folder / name
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
    return trap_image.encode(trap_image.opened(data, PICTURE_SUFFIXES[path.suffix.lower()], label))
