"""Fractals: Mandelbrot, Julia and their kin, on the CPU and on CUDA GPUs.

>>> import fractals
>>> image = fractals.render("mandelbrot", {"image": {"size": [16, 9]}}, device="cpu")
>>> image.pixels.shape
(9, 16, 3)
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from fractals.backends.devices import devices
    from fractals.backends.probe import Device
    from fractals.color.palette import Palette
    from fractals.deep.nucleus import Minibrot, find_nucleus, find_period
    from fractals.errors import DeviceError, DifferenceError, FractalsError, OptionError, SceneError
    from fractals.io.escape_data import EscapeData
    from fractals.io.image import Image
    from fractals.io.load import load_scene
    from fractals.kernels.coloring import Coloring
    from fractals.kernels.formula import Formula
    from fractals.rendering.compute_store import compute_to
    from fractals.rendering.plan import Plan, plan
    from fractals.rendering.render import compute, recolor, render
    from fractals.rendering.stream import recolor_to, render_to
    from fractals.scene.model import Scene, View

_HOMES = {
    "Coloring": "kernels.coloring",
    "Device": "backends.probe",
    "DeviceError": "errors",
    "DifferenceError": "errors",
    "EscapeData": "io.escape_data",
    "Formula": "kernels.formula",
    "FractalsError": "errors",
    "Image": "io.image",
    "Minibrot": "deep.nucleus",
    "OptionError": "errors",
    "Palette": "color.palette",
    "Plan": "rendering.plan",
    "Scene": "scene.model",
    "SceneError": "errors",
    "View": "scene.model",
    "compute": "rendering.render",
    "compute_to": "rendering.compute_store",
    "devices": "backends.devices",
    "find_nucleus": "deep.nucleus",
    "find_period": "deep.nucleus",
    "load_scene": "io.load",
    "plan": "rendering.plan",
    "recolor": "rendering.render",
    "recolor_to": "rendering.stream",
    "render": "rendering.render",
    "render_to": "rendering.stream",
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
    "compute",
    "compute_to",
    "devices",
    "find_nucleus",
    "find_period",
    "load_scene",
    "plan",
    "recolor",
    "recolor_to",
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
