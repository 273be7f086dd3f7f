"""Fractals: Mandelbrot, Julia and their kin, on the CPU and on CUDA GPUs.

>>> import fractals
>>> image = fractals.render("mandelbrot", {"image": {"size": [16, 9]}}, device="cpu")
>>> image.pixels.shape
(9, 16, 3)
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from fractals.backends import Device, devices
    from fractals.coloring import Coloring
    from fractals.computing import compute_to
    from fractals.errors import (
        DeviceError,
        DifferenceError,
        FractalsError,
        OptionError,
        SceneError,
    )
    from fractals.finding import Minibrot, find_nucleus, find_period
    from fractals.formula import Formula
    from fractals.image import Image
    from fractals.palette import Palette
    from fractals.pipeline import color, compute, render
    from fractals.planning import Plan, plan
    from fractals.raw import EscapeData
    from fractals.scene import Scene, View
    from fractals.streaming import color_to, render_to

_HOMES = {
    "Coloring": "coloring",
    "Device": "backends",
    "DeviceError": "errors",
    "DifferenceError": "errors",
    "EscapeData": "raw",
    "Formula": "formula",
    "FractalsError": "errors",
    "Image": "image",
    "Minibrot": "finding",
    "OptionError": "errors",
    "Palette": "palette",
    "Plan": "planning",
    "Scene": "scene",
    "SceneError": "errors",
    "View": "scene",
    "color": "pipeline",
    "color_to": "streaming",
    "compute": "pipeline",
    "compute_to": "computing",
    "devices": "backends",
    "find_nucleus": "finding",
    "find_period": "finding",
    "plan": "planning",
    "render": "pipeline",
    "render_to": "streaming",
}

__all__ = [
    "Coloring",
    "Device",
    "DeviceError",
    "DifferenceError",
    "EscapeData",
    "Formula",
    "FractalsError",
    "Image",
    "Minibrot",
    "OptionError",
    "Palette",
    "Plan",
    "Scene",
    "SceneError",
    "View",
    "__version__",
    "color",
    "color_to",
    "compute",
    "compute_to",
    "devices",
    "find_nucleus",
    "find_period",
    "plan",
    "render",
    "render_to",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``import fractals`` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'fractals' has no attribute '{name}'")
    import importlib

    value = getattr(importlib.import_module(f"fractals.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
