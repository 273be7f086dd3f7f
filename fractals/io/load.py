"""Reads scenes: gallery names, files and tables, merged from left to right."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fractals import catalog
from fractals.io import formats
from fractals.io.embed import embed_files
from fractals.io.files import read_embedded, read_json, read_store_header, read_toml
from fractals.scene.model import Scene, merge, nest, validate

GALLERY = "gallery:"  # before the name of a gallery scene
Source = str | Path | Mapping[str, Any] | Scene


def load_scene(*sources: Source, lost: list[str] | None = None, **keys: Any) -> Scene:
    """Return the scene that `sources` describe, merged from left to right.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        Gallery names (``gallery:NAME`` where a file has that name), TOML or JSON files, PNGs drawn
        by this program, stores of raw numbers, files of other programs, tables and scenes. None:
        the Mandelbrot set.
    lost : list of str, optional
        Receives a line for each setting of another program's file that has no equivalent.
    **keys
        Keys of the scene, named without their table, such as ``size`` or ``palette``. They are
        merged last.

    Raises
    ------
    SceneError
        A source can't be read, or describes no valid scene; all errors are reported at once.
    OptionError
        No key has this name.

    Examples
    --------
    >>> load_scene("seahorse", size=(64, 48)).image.size
    (64, 48)
    """
    if len(sources) == 1 and isinstance(sources[0], Scene) and not keys:
        return sources[0]
    merged: dict[str, Any] = {}
    for source in sources:
        folder = Path(source).parent if isinstance(source, str | Path) else Path()
        table = read_table(source, lost) if isinstance(source, str | Path) else source
        table = table.to_values() if isinstance(table, Scene) else embed_files(table, folder, lost)
        merged = merge(merged, table)
    for key, value in keys.items():
        merged = merge(merged, embed_files(nest(key, value), Path(), lost))
    return validate(merged, ", ".join(str(s)[:300] for s in sources if isinstance(s, str | Path)))


def read_table(source: str | Path, lost: list[str] | None = None) -> dict[str, Any]:
    """Return the table of a gallery scene's name, or of a file; see `load_scene`."""
    if isinstance(source, str):
        name = source.removeprefix(GALLERY)
        known = name in catalog.names("gallery")  # a file without a suffix is no scene
        if name != source or known or not (Path(name).suffix or os.path.exists(name)):
            return catalog.read("gallery", name)
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix == ".json":
        return read_json(path)
    if suffix == ".png":
        return read_embedded(path)
    if suffix == ".fz":
        return dict(read_store_header(path)["scene"])
    if suffix == ".toml" and formats.find(path.name) is None:
        table = read_toml(path)
        if not formats.claimant(table):
            return table
    imported = formats.read(str(source))
    if lost is not None:
        lost += [f"{source}: {line}" for line in imported.lost]
    return dict(imported.table)
