"""Pictures as HTML: a page of one file, which draws other places by itself, and in notebooks."""

import base64
import html
import math
import re
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from fractals.errors import OptionError, escaped, to_install
from fractals.scene.geometry import matrix, place_of
from fractals.scene.model import Scene
from fractals.scene.numbers import log2

FOLDER = Path(__file__).parent / "page"
STILL = "This page magnifies one picture: {}."
LIVE = "This page draws every place that you go to by itself, without a server."
# What modules say to each other, and to their readers: in the page they are one text
_BETWEEN = re.compile(r"^import [^\n]*\n|^export (?=\w)|/\*.*?\*/ *\n?", re.MULTILINE | re.DOTALL)


def page_of(scene: Scene, picture: bytes, live: bytes | None = None, reason: str = "") -> bytes:
    """Return a page that shows a picture, and has its scene.

    `picture`: a WebP. `live`: what it draws other places with (`fractals.rendering.live`). Without
    it the page magnifies the picture; `reason` says in words why.
    """
    toml = scene.to_toml()
    by = f"by {scene.author}. " if scene.author else ""
    by += f"{scene.rights}. " if scene.rights else ""
    width, height = scene.image.size
    template = (FOLDER / "page.html").read_text(encoding="utf-8")
    page = Template(template).substitute(
        title=html.escape(escaped(scene.title or scene.make_any_formula().title)),
        about=html.escape("\n".join(map(escaped, (by + scene.note).split("\n")))),
        how=html.escape(LIVE if live else STILL.format(reason)),
        width=width,
        height=height,
        picture=_text_of(picture),
        scene=_text_of(toml.encode()),
        toml=html.escape(toml),
        live=_text_of(live or b""),
        tiles=_script("tiles.js"),
        script=_script("decimals.js", "view.js", "main.js"),
    )
    return page.encode()


def _text_of(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _script(*names: str) -> str:
    """Return modules as one script."""
    texts = [(FOLDER / name).read_text(encoding="utf-8") for name in names]
    return '"use strict";\n' + _BETWEEN.sub("", "".join(texts))


# --- What notebooks show, and xarray Datasets of raw numbers

Axes = tuple[tuple[str, str], dict[str, Any]]
RESOLVED = 49  # bits: neighboring samples then differ by 8 units in the last place of float64
LARGEST_EXPONENT = 900  # of two, of a width whose samples' distances are normal float64


def timings_html(timings: Mapping[str, float]) -> str:
    """Return a table of the seconds of each stage that took any."""
    spent = {stage: seconds for stage, seconds in timings.items() if seconds > 0}
    if not spent:
        return ""
    heads = "".join(f"<th>{html.escape(stage)}</th>" for stage in spent)
    cells = "".join(f"<td>{seconds:.3g} s</td>" for seconds in spent.values())
    return f"<table><tr>{heads}</tr><tr>{cells}</tr></table>"


def picture_html(data: bytes, facts: str) -> str:
    """Return a PNG, and a line of facts under it."""
    source = base64.b64encode(data).decode()
    return (
        f'<figure><img src="data:image/png;base64,{source}">'
        f"<figcaption>{html.escape(facts)}</figcaption></figure>"
    )


def dataset(planes: Mapping[str, Any], facts: Mapping[str, Any], axes: Axes) -> Any:
    """Return an xarray Dataset of arrays of shape (height, width), which are not copied.

    `axes` are the dimensions and coordinates that `axes_of` returns.

    `OptionError`: the package xarray is not installed.
    """
    try:
        import xarray
    except ImportError:
        raise OptionError(f"xarray is not installed: {to_install('notebook')}") from None
    dimensions, coordinates = axes
    variables = {name: (dimensions, plane) for name, plane in planes.items()}
    return xarray.Dataset(variables, coords=coordinates, attrs=dict(facts))


def axes_of(scene: Scene, shape: tuple[int, int]) -> Axes:
    """Return the dimensions of a scene's samples, and their coordinates in the plane.

    In a view along the axes the dimensions are im and re. In a rotated or stretched view they are
    row and column, and the coordinates are arrays of both. Where float64 can't tell samples apart,
    coordinates are offsets from the center, in widths of the view. An exponential map has none.

    `shape` has the rows and columns of samples. Each coordinate has its dimensions, values and
    attributes, for `xarray.Dataset`.
    """
    if scene.view.projection != "plane":
        return ("row", "column"), {}
    rows, columns = shape
    width, center = place_of(scene, scene.make_formula())
    a, b, c, d = map(float, matrix(scene.view))
    right = (np.arange(columns) + 0.5) / columns - 0.5  # in widths of the view
    up = (rows / 2 - 0.5 - np.arange(rows)) / columns
    largest = max(map(abs, (*center, width)))
    near = log2(width) - log2(largest) > math.log2(columns) - RESOLVED
    fits = near and abs(log2(width)) < LARGEST_EXPONENT
    unit, x, y = (float(width), *map(float, center)) if fits else (1.0, 0.0, 0.0)
    texts = {"re": "re", "im": "im"}
    if not fits:
        texts = {n: f"offset of {n} from the center, in widths of the view" for n in texts}
    notes = {name: {"long_name": text} for name, text in texts.items()}
    if not b and not c:
        return ("im", "re"), {
            "re": ("re", x + unit * a * right, notes["re"]),
            "im": ("im", y + unit * d * up, notes["im"]),
        }
    across, down = right[None, :], up[:, None]
    both = ("row", "column")
    return both, {
        "re": (both, x + unit * (a * across + b * down), notes["re"]),
        "im": (both, y + unit * (c * across + d * down), notes["im"]),
    }
