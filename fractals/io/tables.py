"""Reads the table of one scene: of a gallery name, a file of any kind, or a text in JSON."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fractals import catalog
from fractals.errors import MAX_LINES, SceneError, shown
from fractals.io.escape_data import SUFFIXES, EscapePlanes
from fractals.io.facts import RESOLVED, checked
from fractals.io.files import (
    PAGES,
    NoSceneError,
    parse_json,
    parsed,
    read_embedded,
    read_json,
    read_store_header,
    read_toml,
)
from fractals.scene.model import Scene

if TYPE_CHECKING:
    from fractals.io.foreign import Imported

GALLERY = "gallery:"


def split_source(source: str, exists: Callable[[str], bool] = os.path.exists) -> tuple[Path, str]:
    """Return the path and the entry of ``"many.par#name"``; see `formats.split`."""
    if "#" not in source:
        return Path(source), ""
    from fractals.io.foreign import formats

    return formats.split(source, exists)


def is_json(source: str | Path) -> bool:
    """Tell whether a source is a scene in JSON, and no name and no path."""
    return isinstance(source, str) and source.lstrip().startswith("{")


def gallery_table(source: str | Path) -> dict[str, Any] | None:
    """Return the table of a scene of the gallery; None where a source names none."""
    if isinstance(source, Path) or not (
        source.startswith(GALLERY) or catalog.has("gallery", source)
    ):
        return None
    return catalog.read("gallery", source.removeprefix(GALLERY))


def read_table(
    source: str | Path,
    lost: list[str] | None = None,
    folders: Sequence[Path] = (),
    lossy: bool = False,
) -> dict[str, Any]:
    """Return the table of a gallery scene's name, or of a file; see `fractals.load_scene`.

    `folders`: where files that it names are looked for, too.
    """
    table = read_any(source, lost, folders, lossy)
    table.pop(RESOLVED, None)  # what "auto" was in a picture; it is found again
    return table


def read_resolved(path: Path) -> dict[str, Any]:
    """Return what the values "auto" of a picture's scene were, as a table; {} if not known."""
    try:
        return checked(read_embedded(path).get(RESOLVED))
    except NoSceneError:  # a picture of another program
        return {}


def read_any(
    source: str | Path, lost: list[str] | None, folders: Sequence[Path], lossy: bool
) -> dict[str, Any]:
    """Return the table of a source as `read_table` does, with what "auto" was in a picture."""
    name = str(source)
    if is_json(source):
        return parsed("the JSON of a scene", lambda: parse_json(name))
    if (table := gallery_table(source)) is not None:
        return table
    if isinstance(source, str):
        if "://" in name:
            raise SceneError(f"{shown(name)}: addresses of the web are not opened: save the file")
        path, _ = split_source(name)
        if not (path.suffix or os.path.exists(path)):
            known = catalog.has("solid", name)
            return {"formula": name} if known else catalog.read("gallery", name)
    return _read_file(name, lost, folders, lossy)


def _read_file(
    name: str, lost: list[str] | None, folders: Sequence[Path], lossy: bool
) -> dict[str, Any]:
    """Return the table of a file, or of an entry that follows its name; see `read_any`."""
    path, entry = split_source(name)
    suffix = "" if entry else path.suffix.lower()
    if suffix == ".json":
        return read_json(path)
    from fractals.io.foreign import formats  # imported for files: most scenes have a name

    if suffix in formats.PICTURES:
        return _read_picture(name, lost)
    if suffix in PAGES:
        return read_embedded(path)
    if suffix == ".fz":
        return dict(read_store_header(path)["scene"])
    if suffix in SUFFIXES:
        return EscapePlanes.load(path).scene.to_values()
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
        from fractals.io.foreign import formats

        if (imported := formats.read_picture(Path(name))) is None:
            raise
    return _told(name, imported, lost)


def _told(name: str, imported: "Imported", lost: list[str] | None) -> dict[str, Any]:
    """Return what a file says, and add what was lost to a list."""
    if lost is not None:
        lost += [f"{name}: {line}" for line in imported.lost]
    return dict(imported.table)


def tell_lost(lost: Sequence[str], tell: Callable[[str], None]) -> None:
    """Call `tell` with each line about what sources lost, as the command line prints them."""
    if lost:
        from fractals.io.foreign import lines_of_lost

        for line in lines_of_lost(lost)[:MAX_LINES]:
            tell(line)
        if (more := len(lost) - MAX_LINES) > 0:
            tell(f"lost: {more} more, which load_scene(..., lost=lines) adds to a list")
