"""Palettes of gradients, arrays and color maps: stops whose straight lines are near the curves."""

import functools
from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from fractals.color.palette import (
    ENTRIES,
    MAX_STOPS,
    Floats,
    Palette,
    hexadecimal,
    linear_from_oklab,
    oklab_from_linear,
    parse,
    srgb_from_linear,
)
from fractals.errors import InputError

Srgb = tuple[float, float, float]  # from 0 to 1
# (start, end, color): from 0 to 1 in the palette, and the color at a share of the way
Piece = tuple[float, float, Callable[[float], Srgb]]
TOLERANCE = 0.4 / 255  # of straight pieces; rounding colors to bytes adds 0.5
# Further tolerances, for a gradient whose stops are too many. A wider one never takes more stops.
WIDER = tuple(TOLERANCE * 2**k for k in range(1, 10))
STEPS = 256  # of a turn, of a palette between two others
DEEPEST = 18  # halvings of a piece; a sphere's edge needs 16
MAX_TITLE = 200  # characters; the rest is cut off
DROPPED = 512  # more points than `_rising` drops of a gradient that narrows towards its end
GAP = 1e-6  # between two stops where a gradient jumps
PROBES = tuple(k / 8 for k in range(1, 8))


def between(one: Palette, other: Palette, share: float) -> Palette:
    """Return the palette a share of the way from one to another, place by place, in OKLab."""
    if share <= 0 or one == other:
        return one
    if share >= 1:
        return other
    given = {place for each in (one, other) for place, _ in each.stops}
    places = sorted({*(k / STEPS for k in range(STEPS + (not one.cyclic))), *given})
    first, second = (oklab_from_linear(each.linear(np.array(places))) for each in (one, other))
    light = linear_from_oklab(first + share * (second - first))
    colors = map(hexadecimal, srgb_from_linear(np.clip(light, 0, 1)))
    stops = [[place, color] for place, color in zip(places, colors, strict=True)]
    return Palette(stops, cyclic=one.cyclic)


def evenly(colors: list[str], title: str = "") -> dict[str, Any]:
    """Return the palette, as a table, of colors in equal steps round, mixed in sRGB."""
    if not colors:
        raise InputError("the palette has no color")
    table = {"stops": colors, "space": "srgb", "title": title[:MAX_TITLE]}
    return {key: value for key, value in table.items() if value}


def stops_of(pieces: Iterable[Piece]) -> tuple[list[list[float | str]], tuple[str, ...]]:
    """Return stops between which straight lines in sRGB are within 1/255 of every piece.

    Where that takes too many stops, they are further off, and what is lost says so. Raises
    `InputError` if it takes more than MAX_STOPS stops even then.
    """
    # Halves share probes, and all tolerances do.
    given = [(start, end, functools.cache(color)) for start, end, color in pieces]

    @functools.cache
    def stops_within(tolerance: float) -> list[list[float | str]] | None:
        points: list[tuple[float, Srgb]] = []
        for start, end, color in given:
            if len(points) > MAX_STOPS + DROPPED:
                return None
            first = (start, color(0.0))
            if not points or points[-1][1] != first[1]:
                points.append(first)
            width = end - start
            bends = _bends(color, 0.0, 1.0, first[1], color(1.0), tolerance, DEEPEST)
            points += [(start + share * width, value) for share, value in bends]
        stops = _rising(points)
        return stops if len(stops) <= MAX_STOPS else None

    stops = stops_within(TOLERANCE)
    if stops is not None:
        return stops, ()
    found = bisect_left(WIDER, True, key=lambda tolerance: stops_within(tolerance) is not None)
    stops = stops_within(WIDER[found]) if found < len(WIDER) else None
    if stops is None:
        raise InputError(
            f"the gradient has more than the {MAX_STOPS} colors that a palette can have"
        )
    off = 255 * WIDER[found] + 0.5
    return stops, (f"detail: {MAX_STOPS} stops are off by up to {off:.1f}/255",)


def _bends(
    color: Callable[[float], Srgb],
    start: float,
    end: float,
    first: Srgb,
    last: Srgb,
    tolerance: float,
    depth: int,
) -> list[tuple[float, Srgb]]:
    """Return where straight lines from `start` to `end` bend, the end included."""

    def straight(probe: float) -> bool:
        pairs = zip(color(start + probe * (end - start)), first, last, strict=True)
        return all(abs(v - (a + probe * (b - a))) <= tolerance for v, a, b in pairs)

    if depth == 0 or all(map(straight, PROBES)):
        return [(end, last)]
    middle = (start + end) / 2
    value = color(middle)
    return _bends(color, start, middle, first, value, tolerance, depth - 1) + _bends(
        color, middle, end, value, last, tolerance, depth - 1
    )


def _rising(points: list[tuple[float, Srgb]]) -> list[list[float | str]]:
    """Return stops of points, of which those at one place are moved apart."""
    stops: list[list[float | str]] = []
    before = -GAP
    for place, color in points:
        before = max(place, before + GAP)
        stops.append([round(before, 7), hexadecimal(color)])
    while stops and float(stops[-1][0]) > 1:  # a jump at the end pushed them out
        stops.pop()
    return stops


def sampled(palette: Palette, count: int) -> Floats:
    """Return the sRGB colors, from 0 to 1, of `count` equal steps along a palette."""
    at = np.arange(count) / (count if palette.cyclic else max(count - 1, 1))
    return np.clip(srgb_from_linear(palette.linear(at)), 0, 1)


def pieces_of(colors: Floats) -> list[Piece]:
    """Return the one piece that goes in equal straight steps through colors, shape (n, 3)."""
    last = len(colors) - 1
    rows = [tuple(map(float, row)) for row in colors]

    def color(share: float) -> Srgb:
        k = min(int(share * last), last - 1)
        part = share * last - k
        red, green, blue = (a + part * (b - a) for a, b in zip(rows[k], rows[k + 1], strict=True))
        return red, green, blue

    return [(0.0, 1.0, color)]


def straight(palette: Palette) -> list[tuple[tuple[float, Srgb], tuple[float, Srgb]]]:
    """Return the straight pieces in sRGB, each with both ends, that a palette is from 0 to 1."""
    colors = np.clip(srgb_from_linear(palette.linear(np.arange(ENTRIES + 1) / ENTRIES)), 0, 1)
    (whole,) = pieces_of(colors)
    color = whole[2]
    first = color(0.0)
    bends = _bends(color, 0.0, 1.0, first, color(1.0), TOLERANCE, DEEPEST)
    return list(pairwise([(0.0, first), *bends]))


# Palettes of other packages' values: NumPy arrays, lists of RGB colors, matplotlib and cmap.
#
# Neither matplotlib nor cmap is imported: a color map is recognized by its attributes.


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
    are not cyclic are mirrored, so that the palette has no seam. Raises `InputError` for an array
    of another shape, or values outside 0 to 1 (0 to 255 for integers).
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
    """Return the palette of colors (n, 3) at equal steps: bands, or straight lines between them.

    With `once` the colors are not mirrored; `table` are other keys of the palette.
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
