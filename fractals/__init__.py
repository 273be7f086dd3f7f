"""Fractals: draws Mandelbrot, Julia and related sets, on CPUs and on CUDA GPUs.

    load_scene            reads a scene: a gallery name, a file, a table, or several
    save_scene            writes a scene to a .toml or .json file
    render, render_to     draw a scene: an Image, or a file of any size
    compute, compute_to   compute raw numbers: EscapeData, or a store that can be resumed
    recolor, recolor_to   draw raw numbers in other colors, without iterating
    plan                  returns how a scene would be drawn: method, seconds, bytes
    find_nucleus, find_period   find the minibrot in a view
    find_misiurewicz            find the eye of a spiral in a view
    find_interesting            suggest interesting views inside a view
    film                  returns the film of a scene: its frames, or a file
    explore               shows a scene in the browser, to move about in
    devices               lists what can draw here
    load_formula          loads a formula from a Python file of yours
    names                 lists formulas, colorings, palettes or scenes by name

Scenes are given by name, file, table or `Scene`, and by keywords:

>>> import fractals
>>> image = fractals.render("seahorse", size=(16, 9), palette="ember", device="cpu")
>>> image.pixels.shape
(9, 16, 3)
"""

TYPE_CHECKING = False  # that of `typing`, whose import takes most of the time before `cli.run`

__version__ = "0.1.0"

if TYPE_CHECKING:
    from typing import Any

    from fractals.backends.devices import devices
    from fractals.backends.probe import Device
    from fractals.catalog import names
    from fractals.color.palette import Palette
    from fractals.deep.misiurewicz import Misiurewicz
    from fractals.deep.nucleus import Minibrot
    from fractals.errors import (
        DeviceError,
        DifferenceError,
        FractalsError,
        FractalsWarning,
        InputError,
        OptionError,
        SceneError,
    )
    from fractals.explorer.server import Running, explore
    from fractals.films.film import Film, film
    from fractals.io.escape_data import EscapeData
    from fractals.io.formula_file import load_formula
    from fractals.io.image import Image
    from fractals.io.load import load_scene, save_scene
    from fractals.kernels.coloring import Coloring
    from fractals.kernels.formula import Formula
    from fractals.rendering.compute_store import Computed, compute_to
    from fractals.rendering.find import find_misiurewicz, find_nucleus, find_period
    from fractals.rendering.fit import fit_colors
    from fractals.rendering.plan import Plan, Tile, plan
    from fractals.rendering.render import Rendered, compute, recolor, recolor_to, render, render_to
    from fractals.scene.model import Scene, View
    from fractals.tools.interesting import Suggestion, find_interesting

_HOMES = {  # the module of each public name
    name: module
    for module, names in {
        "backends.devices": "devices",
        "backends.probe": "Device",
        "catalog": "names",
        "color.palette": "Palette",
        "deep.misiurewicz": "Misiurewicz",
        "deep.nucleus": "Minibrot",
        "errors": "DeviceError DifferenceError FractalsError FractalsWarning InputError OptionError"
        " SceneError",
        "explorer.server": "Running explore",
        "films.film": "Film film",
        "io.escape_data": "EscapeData",
        "io.formula_file": "load_formula",
        "io.image": "Image",
        "io.load": "load_scene save_scene",
        "kernels.coloring": "Coloring",
        "kernels.formula": "Formula",
        "rendering.compute_store": "Computed compute_to",
        "rendering.find": "find_misiurewicz find_nucleus find_period",
        "rendering.fit": "fit_colors",
        "rendering.plan": "Plan Tile plan",
        "rendering.render": "Rendered compute recolor recolor_to render render_to",
        "scene.model": "Scene View",
        "tools.interesting": "Suggestion find_interesting",
    }.items()
    for name in names.split()
}

_MEANT = {  # what people type first
    "colorings": "fractals.names('colorings') lists them",
    "load": "fractals.load_scene reads a scene",
    "open": "fractals.load_scene reads a scene",
    "palettes": "fractals.names('palettes') lists them",
    "save": "fractals.save_scene writes a scene, and image.save(path) a picture",
    "scenes": "fractals.names('scenes') lists them",
}

__all__ = [
    "Coloring",
    "Computed",
    "Device",
    "DeviceError",
    "DifferenceError",
    "EscapeData",
    "Film",
    "Formula",
    "FractalsError",
    "FractalsWarning",
    "Image",
    "InputError",
    "Minibrot",
    "Misiurewicz",
    "OptionError",
    "Palette",
    "Plan",
    "Rendered",
    "Running",
    "Scene",
    "SceneError",
    "Suggestion",
    "Tile",
    "View",
    "__version__",
    "compute",
    "compute_to",
    "devices",
    "explore",
    "film",
    "find_interesting",
    "find_misiurewicz",
    "find_nucleus",
    "find_period",
    "fit_colors",
    "load_formula",
    "load_scene",
    "names",
    "plan",
    "recolor",
    "recolor_to",
    "render",
    "render_to",
    "save_scene",
]


def _imported(name: str) -> "Any":
    """Import a public name on first use, because importing all of them takes 0.2 s."""
    if name not in _HOMES:
        hint = f": {_MEANT[name]}" if name in _MEANT else ""
        raise AttributeError(f"module 'fractals' has no attribute '{name}'{hint}")
    import importlib

    value = getattr(importlib.import_module(f"fractals.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # a checker would take each unknown name for one of these
    __getattr__ = _imported


def __dir__() -> list[str]:
    """Return the public names, for completion."""
    return list(__all__)
