"""The files that a film names: tracks from CSV become points, and sound keeps its path."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fractals import catalog
from fractals.errors import InputError, SceneError, shown
from fractals.io.beside import Place
from fractals.io.files import NO_TEXT, read_bytes, text_of
from fractals.io.palettes import find_palette
from fractals.scene.film import MAX_POINTS, PALETTES, flattened
from fractals.scene.numbers import plain_minus

TABLE_SUFFIXES = (".csv", ".tsv", ".txt")
MAX_BYTES = 16 * 2**20  # of a file
MAX_COLUMNS = 20  # of a row: seconds and values


def embed_film(film: Mapping[str, Any], place: Place) -> dict[str, Any]:
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
        raise SceneError(f"{name}: {NO_TEXT}") from None
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
