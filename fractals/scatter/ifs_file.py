"""Fractint's iterated function systems (`.ifs`): entries ``name { a b c d e f p ... }``.

Each row is an affine map, x' = a x + b y + e and y' = c x + d y + f, and its probability. An entry
becomes a flame of linear transforms, and its view is found by a short game. Systems in space, whose
rows have 13 numbers, are refused.
"""

import math
import random
import re
from typing import Any

from fractals import catalog
from fractals.errors import SceneError, counted, shown
from fractals.io.files import text_of
from fractals.io.foreign import Format, Imported, first_of

COMMENT = re.compile(r";[^\n]*")
NUMBERS = 7  # of a row
MAX_ENTRIES, MAX_ROWS = 10_000, 100
POINTS, FIRST = 2000, 50  # of the game that finds a view, and how many are left out
EDGE = 1.1  # the width of a view, in widths of the points


def read_ifs(data: bytes, entry: str) -> Imported:
    """Return the scene of a system: the first one, or that of a name."""
    found = _systems(data)
    name = entry or next(iter(found))
    if name not in found:
        hint = catalog.did_you_mean(name, found)
        raise SceneError(f"no system '{shown(name, 80)}' in it{hint}")
    rows = _rows(name, found[name])
    last = max(1, len(rows) - 1)
    transforms = [
        {"weight": p, "affine": [a, b, e, c, d, f], "color": k / last}
        for k, (a, b, c, d, e, f, p) in enumerate(rows)
    ]
    formula = {"name": "flame", "transforms": transforms}
    table: dict[str, Any] = {"title": name[:1000], "formula": formula}
    if view := _view(rows):
        table["view"] = view
    lost = [first_of(len(found))] if not entry and len(found) > 1 else []
    return Imported(table, tuple(lost))


def entries_of_ifs(data: bytes) -> list[tuple[str, str]]:
    """Return the names of the systems, each with words about it."""
    maps = {
        name: counted(len(text.split()) // NUMBERS, "map") for name, text in _systems(data).items()
    }
    return [(name, "in space" if "(3d)" in name.lower() else own) for name, own in maps.items()]


def _systems(data: bytes) -> dict[str, str]:
    text = text_of(data, old=True).partition("\x1a")[0].replace("\r", "\n")
    text = COMMENT.sub("", text)
    found: dict[str, str] = {}
    for number, part in enumerate(text.split("}"), 1):
        head, brace, body = part.partition("{")
        if number > MAX_ENTRIES:
            raise SceneError(f"more than {MAX_ENTRIES} systems")
        if brace:
            name = head.strip().rpartition("\n")[2].strip()
            # Fractint up to version 19 takes commas between numbers, too.
            found.setdefault(name or f"ifs-{number}", body.replace(",", " "))
    if not found:
        raise SceneError("no system is in it: an entry is 'name { a b c d e f p ... }'")
    return found


def _rows(name: str, text: str) -> list[tuple[float, ...]]:
    words = text.split()
    if "(3d)" in name.lower():
        raise SceneError(
            f"'{shown(name, 40)}' is a system in space: only those of the plane are read"
        )
    if not words or len(words) % NUMBERS:
        raise SceneError(
            f"'{shown(name, 40)}' has {counted(len(words), 'number')}: each map has {NUMBERS}, "
            "a to f and its probability"
        )
    if len(words) > MAX_ROWS * NUMBERS:
        raise SceneError(f"'{shown(name, 40)}' has more than {MAX_ROWS} maps")
    values = [_number_of_row(word) for word in words]
    rows = [tuple(values[k : k + NUMBERS]) for k in range(0, len(values), NUMBERS)]
    if any(row[-1] < 0 for row in rows) or not any(row[-1] for row in rows):
        raise SceneError(f"'{shown(name, 40)}': a probability is 0 or more, and one of them more")
    return rows


def _number_of_row(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise SceneError(f"'{shown(word, 40)}' is not a number") from None
    if not abs(value) <= 1e9:
        raise SceneError(f"'{shown(word, 40)}' is not from -1e9 to 1e9")
    return value


def _view(rows: list[tuple[float, ...]]) -> dict[str, Any]:
    """Return a view that shows the points of a short game, in a picture of 16:9."""
    dice, x, y, points = random.Random(1), 0.0, 0.0, []
    weights = [row[-1] for row in rows]
    for a, b, c, d, e, f, _ in dice.choices(rows, weights, k=POINTS):
        x, y = a * x + b * y + e, c * x + d * y + f
        if not (math.isfinite(x) and math.isfinite(y) and abs(x) + abs(y) < 1e9):
            return {}
        points.append((x, y))
    across, down = zip(*points[FIRST:], strict=True)
    wide, high = max(across) - min(across), max(down) - min(down)
    width = EDGE * max(wide, high * 16 / 9)
    if not width > 1e-9:
        return {}
    middle = (max(across) + min(across)) / 2, (max(down) + min(down)) / 2
    return {"center": [f"{v:.6g}" for v in middle], "width": f"{width:.6g}"}


def make_ifs() -> Format:
    """Return the format."""
    return Format(
        "ifs", "iterated function systems of Fractint", (".ifs",), read_ifs, entries=entries_of_ifs
    )
