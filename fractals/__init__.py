"""Fractals: draws Mandelbrot, Julia and related sets, on CPUs and on CUDA GPUs.

    load_scene            reads a scene: a gallery name, a file, a table, or several
    save_scene            writes a scene to a .toml or .json file
    render, render_to     draw a scene: an Image, or a file of any size
    compute, compute_to   compute raw numbers: RawData, or a store that can be resumed
    recolor, recolor_to   draw raw numbers in other colors, without iterating
    plan                  returns how a scene would be drawn: method, seconds, bytes
    compute_points        computes numbers of points of one's own: counts, periods, angles
    find_nucleus, find_period   find the minibrot in a view
    nuclei                      finds all nuclei of a period
    find_misiurewicz            find the eye of a spiral in a view
    find_interesting            suggest interesting views inside a view
    film                  returns the film of a scene: its frames, or a file
    explore               shows a scene in the browser, to move about in
    trace                 draws a scene in lines, for plotters
    verify                recomputes pixels of a picture, and compares them
    devices               lists what can draw here
    load_formula          loads a formula from a Python file of yours
    names                 lists formulas, colorings, palettes or scenes by name

Scenes are given by name, file, table or `Scene`, and by keywords:

>>> import fractals
>>> image = fractals.render("seahorse", size=(16, 9), palette="ember", device="cpu")
>>> image.pixels.shape
(9, 16, 3)
"""

from time import time as _now

_BEGAN = _now()  # when this process imported the package: files that change later are not what runs

TYPE_CHECKING = False  # that of `typing`, whose import takes most of the time before `cli.run`

__version__ = "0.1.0"

if TYPE_CHECKING:  # "as": these are public names
    from typing import Any

    from fractals.backends.devices import devices as devices
    from fractals.backends.probe import Device as Device
    from fractals.catalog import names as names
    from fractals.color.palette import Palette as Palette
    from fractals.errors import DeviceError as DeviceError
    from fractals.errors import DifferenceError as DifferenceError
    from fractals.errors import FractalsError as FractalsError
    from fractals.errors import FractalsWarning as FractalsWarning
    from fractals.errors import InputError as InputError
    from fractals.errors import OptionError as OptionError
    from fractals.errors import SceneError as SceneError
    from fractals.explorer.server import Running as Running
    from fractals.explorer.server import explore as explore
    from fractals.films.film import Film as Film
    from fractals.films.film import film as film
    from fractals.io.formula_file import load_formula as load_formula
    from fractals.io.image import Image as Image
    from fractals.io.load import load_scene as load_scene
    from fractals.io.load import save_scene as save_scene
    from fractals.io.raw_data import RawData as RawData
    from fractals.kernels.coloring import Coloring as Coloring
    from fractals.kernels.formula import Formula as Formula
    from fractals.rendering.families import Rendered as Rendered
    from fractals.rendering.fit import fit_colors as fit_colors
    from fractals.rendering.moves import Suggestion as Suggestion
    from fractals.rendering.plan import Plan as Plan
    from fractals.rendering.plan import plan as plan
    from fractals.rendering.raw_numbers import EscapeData as EscapeData
    from fractals.rendering.render import compute as compute
    from fractals.rendering.render import recolor as recolor
    from fractals.rendering.render import recolor_to as recolor_to
    from fractals.rendering.render import render as render
    from fractals.rendering.render import render_to as render_to
    from fractals.rendering.stores.compute_store import Computed as Computed
    from fractals.rendering.stores.compute_store import compute_to as compute_to
    from fractals.rendering.stores.sums import PictureSums as PictureSums
    from fractals.rendering.tiles import Tile as Tile
    from fractals.scene.keywords import RenderKeywords as RenderKeywords
    from fractals.scene.model import Scene as Scene
    from fractals.scene.picture import View as View
    from fractals.search.find import find_misiurewicz as find_misiurewicz
    from fractals.search.find import find_nucleus as find_nucleus
    from fractals.search.find import find_period as find_period
    from fractals.search.misiurewicz import Misiurewicz as Misiurewicz
    from fractals.search.nuclei import nuclei as nuclei
    from fractals.search.nucleus import Minibrot as Minibrot
    from fractals.tools.interesting import find_interesting as find_interesting
    from fractals.tools.points import PointData as PointData
    from fractals.tools.points import compute_points as compute_points
    from fractals.tools.trace import LineDrawing as LineDrawing
    from fractals.tools.trace import trace as trace
    from fractals.tools.verify import Pixel as Pixel
    from fractals.tools.verify import verify as verify

_HOMES = {  # the module of each public name
    name: module
    for module, names in {
        "backends.devices": "devices",
        "backends.probe": "Device",
        "catalog": "names",
        "color.palette": "Palette",
        "search.misiurewicz": "Misiurewicz",
        "search.nuclei": "nuclei",
        "search.nucleus": "Minibrot",
        "errors": "DeviceError DifferenceError FractalsError FractalsWarning InputError OptionError"
        " SceneError",
        "explorer.server": "Running explore",
        "films.film": "Film film",
        "io.formula_file": "load_formula",
        "io.image": "Image",
        "io.load": "load_scene save_scene",
        "io.raw_data": "RawData",
        "kernels.coloring": "Coloring",
        "kernels.formula": "Formula",
        "rendering.stores.compute_store": "Computed compute_to",
        "search.find": "find_misiurewicz find_nucleus find_period",
        "rendering.fit": "fit_colors",
        "rendering.moves": "Suggestion",
        "rendering.plan": "Plan plan",
        "rendering.families": "Rendered",
        "rendering.stores.sums": "PictureSums",
        "rendering.raw_numbers": "EscapeData",
        "rendering.render": "compute recolor recolor_to render render_to",
        "rendering.tiles": "Tile",
        "scene.keywords": "RenderKeywords",
        "scene.model": "Scene",
        "scene.picture": "View",
        "tools.interesting": "find_interesting",
        "tools.points": "PointData compute_points",
        "tools.trace": "LineDrawing trace",
        "tools.verify": "Pixel verify",
    }.items()
    for name in names.split()
}

__all__ = sorted([*_HOMES, "__version__"])


def _imported(name: str) -> "Any":
    """Import a public name on first use, because importing all of them takes 0.2 s."""
    if name not in _HOMES:
        from fractals.meant import no_attribute

        raise no_attribute("fractals", "module 'fractals'", name, _HOMES)
    import importlib

    value = getattr(importlib.import_module(f"fractals.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # a checker would take each unknown name for one of these
    __getattr__ = _imported


def __dir__() -> list[str]:
    """Return the public names, for completion."""
    return list(__all__)
