"""Files of rust-fractal (`.toml`): a location, settings or a palette, which it merges.

A location has real, imag, zoom, iterations, rotate: the view is 4 / zoom high, and no formula is
named. The imaginary axis points down there; the center is kept as it is, so that it is right for
every formula, and the picture is mirrored. A palette is a list of red, green and blue, in turn.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from fractals.color.gradient import evenly
from fractals.errors import SceneError
from fractals.io.foreign import Format, Imported
from fractals.io.foreign._text import limit, number, only_one, positive, real, toml_of, whole
from fractals.io.foreign._view import EXACT, ForeignView, FormulaMatch, placed

PLACE = {"real", "imag", "zoom", "iterations", "rotate", "image_width", "image_height"}
SETTINGS = {"approximation_order", "glitch_percentage", "display_glitches", "frame_offset"}
MAX_COLORS = 4096


def read(data: bytes, entry: str) -> Imported:
    """Return the scene of a location, or of settings; a palette alone where there is one."""
    only_one(entry)
    table = toml_of(data)
    size, scene, lost = None, dict[str, Any](), list[str]()
    if {"image_width", "image_height"} <= table.keys():
        across, down = (whole(table[key], key) for key in ("image_width", "image_height"))
        size = (across, down) if across > 0 and down > 0 else None
    if {"real", "imag"} <= table.keys():
        place = ForeignView(
            center=(number(table["real"], "real"), number(table["imag"], "imag")),
            height=EXACT.divide(Decimal(4), positive(table.get("zoom", 1), "zoom")),
            up=False,
            angle=real(table.get("rotate", 0), "rotate"),
            size=size,
        )
        scene = placed(FormulaMatch("mandelbrot"), place)
        lost.append("the formula, which the file doesn't name: the Mandelbrot set is drawn")
        known = PLACE
    else:  # merged with a location's file, which says the rest
        scene = {"image": {"size": list(size)}} if size else {}
        known = {"iterations", "image_width", "image_height"}
    if "iterations" in table:
        scene["iteration"] = {"max_iterations": limit(table["iterations"], "iterations", lost)}
    if "palette" in table:
        scene["color"] = {"palette": evenly(_colors(table["palette"]))}
        known = known | {"palette"}
    lost += [f"'{key[:80]}'" for key in table if key not in known]
    return Imported(scene, tuple(lost))


def _colors(given: Any) -> list[str]:
    """Return colors as ``"#rrggbb"``; the list may end with the first color once more."""
    values = [whole(part, "palette") for part in given] if isinstance(given, list) else []
    if not 3 <= len(values) <= 3 * MAX_COLORS or len(values) % 3:
        raise SceneError(
            f"palette: a list of red, green and blue of 1 to {MAX_COLORS} colors was expected"
        )
    if not all(0 <= value <= 255 for value in values):
        raise SceneError("palette: numbers are from 0 to 255")
    rows = list(zip(values[::3], values[1::3], values[2::3], strict=True))
    rows = rows[:-1] if len(rows) > 1 and rows[0] == rows[-1] else rows
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in rows]


def claims(table: Mapping[str, Any]) -> bool:
    """Return whether a TOML file is one of rust-fractal's."""
    palette = table.get("palette")
    flat = isinstance(palette, list) and all(type(part) is int for part in palette)
    return {"real", "imag"} <= table.keys() or flat or len(SETTINGS & table.keys()) > 1


def make() -> Format:
    """Return the format."""
    return Format(
        "rust_fractal",
        "rust-fractal, a location, settings or a palette",
        (".toml",),
        read,
        claims=claims,
    )
