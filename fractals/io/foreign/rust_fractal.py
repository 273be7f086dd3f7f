"""Locations of rust-fractal (`.toml`): real, imag, zoom, iterations, rotate.

The view is 4 / zoom high. They name no formula. The imaginary axis points down there; the center is
kept as it is, so that it is right for every formula, and the picture is mirrored.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from fractals.io.foreign import Format, Imported
from fractals.io.foreign._text import limit, number, only_one, positive, real, toml_of, whole
from fractals.io.foreign._view import EXACT, FormulaMatch, Place, placed

PLACE = {"real", "imag", "zoom", "iterations", "rotate", "image_width", "image_height"}


def read(data: bytes, entry: str) -> Imported:
    """Return the scene of a location."""
    only_one(entry)
    table = toml_of(data)
    size = None
    if {"image_width", "image_height"} <= table.keys():
        across, down = (whole(table[key], key) for key in ("image_width", "image_height"))
        size = (across, down) if across > 0 and down > 0 else None
    place = Place(
        center=(number(table.get("real", 0), "real"), number(table.get("imag", 0), "imag")),
        height=EXACT.divide(Decimal(4), positive(table.get("zoom", 1), "zoom")),
        up=False,
        angle=real(table.get("rotate", 0), "rotate"),
        size=size,
    )
    scene, lost = placed(FormulaMatch("mandelbrot"), place), list[str]()
    if "iterations" in table:
        scene["iteration"] = {"max_iterations": limit(table["iterations"], "iterations", lost)}
    lost.append("the formula, which the file doesn't name: the Mandelbrot set is drawn")
    lost += [f"'{key[:80]}'" for key in table if key not in PLACE]
    return Imported(scene, tuple(lost))


def claims(table: Mapping[str, Any]) -> bool:
    """Return whether a TOML file is one of rust-fractal's."""
    return {"real", "imag"} <= table.keys()


def make() -> Format:
    """Return the format."""
    return Format("rust_fractal", "rust-fractal, a location", (".toml",), read, claims=claims)
