"""Reads the files that a film names: tracks from CSV become points; sound keeps its path."""

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fractals.errors import InputError, SceneError, shown
from fractals.io import palettes
from fractals.io.files import read_bytes, text_of
from fractals.scene.film import MAX_POINTS, flattened
from fractals.scene.numbers import plain_minus

TABLE_SUFFIXES = (".csv", ".tsv", ".txt")
MAX_BYTES = 16 * 2**20
MAX_COLUMNS = 20


def embed(film: Mapping[str, Any], folder: Path, from_file: bool) -> dict[str, Any]:
    """Return a film's table with tracks as points, and with the path of its sound.

    Parameters
    ----------
    folder : Path
        That of the scene's file.
    from_file : bool
        Whether the table was read from a file: then only files in `folder` are opened.

    Raises
    ------
    SceneError
        A file is missing, lies elsewhere, or holds no points.
    """
    embedded = dict(film)
    tracks = flattened(film.get("tracks"))
    if isinstance(tracks, Mapping):
        embedded["tracks"] = {
            name: read_points(_found(points, folder, from_file))
            if isinstance(points, str) and points.lower().endswith(TABLE_SUFFIXES)
            else points
            for name, points in tracks.items()
        }
    sound = film.get("sound")
    if isinstance(sound, Mapping) and isinstance(sound.get("file"), str):
        embedded["sound"] = {**sound, "file": str(_found(sound["file"], folder, from_file))}
    return embedded


def _found(name: str, folder: Path, from_file: bool) -> Path:
    if from_file:
        try:
            return palettes.beside(folder, Path(name))
        except InputError as error:
            raise SceneError(str(error).replace("--palette, --coloring", "--audio")) from None
    return folder / name if os.path.isfile(folder / name) else Path(name)


def read_points(path: Path) -> list[list[Any]]:
    """Return the rows of a CSV file: seconds, then one value or several.

    Columns are parted by commas, semicolons, tabs or blanks. A first row without numbers, empty
    rows and rows that begin with # are passed over.

    Raises
    ------
    SceneError
        The file is missing, too large, or a row is no point; the message has its line.
    """
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
