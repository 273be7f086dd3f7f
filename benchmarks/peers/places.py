"""The places that are compared: of a file of locations, or of our gallery."""

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from exact import COUNTS

from fractals import Scene, catalog
from fractals.errors import OptionError, SceneError
from fractals.io.load import load_scene

SIZE = (800, 450)
ESCAPE_RADIUS = 1000.0
SHALLOW = Decimal("1e-5")  # the width above which Fractalshades skips nothing
BARE = {  # one sample a pixel, and its count alone
    "view": {"rotation": 0.0},
    "image": {"size": SIZE, "supersampling": 1},
    "iteration": {"escape_radius": ESCAPE_RADIUS, "precision": "float64"},
    "color": {"coloring": "count"},
}
FORMULAS = {  # as they are named in files of locations
    "mandelbrot z^2+c": "mandelbrot",
    "mandelbrot z^3+c": {"name": "multibrot", "power": 3},
}


def read_locations(path: str | Path) -> dict[str, Any]:
    """Return the places of a JSON list of name, formula, re, im, height and max_iter.

    Those of formulas that are not compared are left out.

    Raises
    ------
    SceneError
        The file is missing, or holds something else.
    """
    try:
        table = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise SceneError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise SceneError(f"{path}: {error}") from None
    places = {}
    try:
        for row in table:
            formula = FORMULAS.get(row["formula"], row["formula"])
            if not isinstance(formula, dict) and formula not in COUNTS:
                continue
            places[row["name"]] = {
                "formula": formula,
                "view": {
                    "center": [row["re"], row["im"]],
                    "width": str(Decimal(row["height"]) * SIZE[0] / SIZE[1]),
                },
                "iteration": {"max_iterations": row["max_iter"]},
            }
    except (KeyError, TypeError, ArithmeticError) as error:
        raise SceneError(
            f"{path}: {error!r}: give a list of tables with name, formula, re, im, height, max_iter"
        ) from None
    return places


def read_gallery() -> dict[str, Any]:
    """Return the deep views of our gallery that both can draw."""
    scenes = {name: load_scene(name) for name in catalog.names("gallery")}
    return {
        name: scene
        for name, scene in scenes.items()
        if scene.julia is None
        and scene.make_any_formula().name in COUNTS
        and scene.view.width
        and Decimal(scene.view.width) < SHALLOW
    }


def choose(places: Mapping[str, Any], only: str | None) -> dict[str, Scene]:
    """Return the scenes of some places, or of all, as they are compared: bare counts.

    Raises
    ------
    OptionError
        There is no place of that name, or none at all.
    """
    names = list(places) if only is None else only.split(",")
    if not names:
        raise OptionError("the gallery has no deep view that both can draw: give --locations")
    missing = [name for name in names if name not in places]
    if missing:
        raise OptionError(f"unknown place '{missing[0]}': choose of {', '.join(places) or 'none'}")
    return {name: load_scene(places[name], BARE) for name in names}
