"""Palettes of other packages' values: NumPy arrays, lists of RGB colors, matplotlib and cmap.

Neither matplotlib nor cmap is imported: a color map is recognized by its attributes.
"""

from typing import Any, Protocol

import numpy as np

from fractals.color.gradient import MAX_TITLE, Piece, Srgb, pieces_of, stops_of
from fractals.color.palette import MAX_STOPS, Floats, Palette, hexadecimal, parse
from fractals.errors import InputError

SAMPLES = 256  # colors that are read of a continuous color map
SAME = 4 / 255  # sRGB difference of the ends below which a color map is cyclic


class ColorMap(Protocol):
    """A color map of matplotlib or cmap."""

    @property
    def name(self) -> str:
        """Return the color map's name."""


def palette_of(given: Any) -> Palette | None:
    """Return the palette of an array, of RGB tuples or of a color map; None of another value.

    Rows of an array are stops at equal steps of a cyclic palette; alpha is ignored. Color maps that
    are not cyclic are mirrored, so that the palette has no seam.

    Raises
    ------
    InputError
        The array has another shape, or values outside 0 to 1 (0 to 255 for integers).
    """
    if hasattr(given, "lut") and hasattr(given, "num_colors"):
        return of_cmap(given)
    if callable(given) and hasattr(given, "N") and hasattr(given, "name"):
        return of_matplotlib(given)
    if isinstance(given, np.ndarray) or _are_colors(given):
        return of_array(np.asarray(given))
    return None


def _are_colors(given: Any) -> bool:
    """Return whether a value is a list of colors, each of 3 or 4 numbers."""
    return (
        isinstance(given, list | tuple)
        and bool(given)
        and all(
            isinstance(row, list | tuple)
            and len(row) in (3, 4)
            and all(isinstance(part, int | float | np.number) for part in row)
            for row in given
        )
    )


def of_array(colors: Any) -> Palette:
    """Return the palette whose stops are the rows of an array of shape (n, 3) or (n, 4)."""
    if colors.ndim != 2 or colors.shape[1] not in (3, 4) or not 1 <= len(colors) <= MAX_STOPS:
        raise InputError(
            f"a palette is an array of shape (n, 3) or (n, 4), of at most {MAX_STOPS} colors, not "
            f"of shape {colors.shape}"
        )
    if colors.dtype.kind not in "iuf":
        raise InputError(f"a palette is an array of numbers, not of {colors.dtype}")
    rows = colors[:, :3].astype(np.float64)
    if colors.dtype.kind != "f":
        rows /= 255
    if not (np.all(rows >= 0) and np.all(rows <= 1)):
        raise InputError("colors of an array are from 0 to 1, or integers from 0 to 255")
    return parse({"stops": [hexadecimal(_srgb(row)) for row in rows], "space": "srgb"})


def of_matplotlib(colors: Any) -> Palette:
    """Return the palette of a matplotlib color map; a short list of colors becomes bands."""
    bands = hasattr(colors, "colors") and colors.N < SAMPLES
    count = colors.N if bands else SAMPLES
    rows = np.asarray(colors(np.arange(count) if bands else np.linspace(0, 1, count)), np.float64)
    rows = rows[:, :3]
    cyclic = bool(np.abs(rows[0] - rows[-1]).max() <= SAME)
    table = {"title": str(colors.name), "source": f"matplotlib: {colors.name}"}
    return _of_rows(rows, bands, cyclic or bands, table)


def of_cmap(colors: Any, title: str = "") -> Palette:
    """Return the palette of a color map of the package cmap.

    Cyclic and qualitative color maps are used as they are.
    """
    once = colors.category in ("cyclic", "qualitative")
    bands = colors.interpolation == "nearest"
    rows = np.asarray(colors.lut(colors.num_colors if bands else SAMPLES), np.float64)[:, :3]
    licence = str(getattr(getattr(colors, "info", None), "license", None) or "")
    table = {"title": title or colors.name, "source": f"cmap: {colors.name}"}
    table["licence"] = "" if licence == "UNKNOWN" else licence
    return _of_rows(rows, bands, once, table)


def _of_rows(rows: Floats, bands: bool, once: bool, table: dict[str, str]) -> Palette:
    """Return the palette of colors at equal steps: bands, or straight lines between them.

    Parameters
    ----------
    rows : ndarray, shape (n, 3)
    bands, once : bool
        Whether each color is constant; whether the colors are not mirrored.
    table : dict
        Texts of the palette.
    """
    pieces: list[Piece]
    if bands:
        rows = rows if once else np.concatenate([rows, rows[-2:0:-1]])
        count = len(rows)
        pieces = [(k / count, (k + 1) / count, _constant(row)) for k, row in enumerate(rows)]
    else:
        pieces = pieces_of(rows if once else np.concatenate([rows, rows[-2::-1]]))
    texts = {key: text[:MAX_TITLE] for key, text in table.items()}
    return parse({"stops": stops_of(pieces)[0], "space": "srgb", **texts})


def _constant(row: Any) -> Any:
    color = _srgb(row)
    return lambda _: color


def _srgb(row: Any) -> Srgb:
    red, green, blue = map(float, row)
    return red, green, blue
