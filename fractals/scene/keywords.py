"""The keywords of public functions, for signatures and type checkers.

Made by scripts/keywords.py from the model of scenes and from classes of options.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from numpy.typing import NDArray

from fractals.color.gradient import ColorMap
from fractals.color.palette import Palette
from fractals.kernels.formula import Formula
from fractals.scene.numbers import PointLike, Real


class SceneKeywords(TypedDict, total=False):
    """Every key of a scene, named without its table."""

    title: str
    author: str
    note: str
    formula: str | Mapping[str, Any] | Formula
    julia: PointLike | None
    view: Mapping[str, Any]
    image: Mapping[str, Any]
    iteration: Mapping[str, Any]
    color: Mapping[str, Any]
    film: Mapping[str, Any] | None
    center: PointLike | None
    width: Real | None
    zoom: Real | None
    frame: PointLike | None
    rotation: float
    mirror: bool
    stretch: float
    stretch_angle: float
    projection: Literal["plane", "exponential"]
    size: tuple[int, int] | str
    supersampling: int
    antialias: Literal["grid", "jittered", "adaptive"]
    bits: Literal[8, 16]
    dpi: float | None
    compression: Literal["fast", "small"]
    max_iterations: int | Literal["auto"]
    escape_radius: float
    precision: Literal["auto", "float64", "float32"] | None
    coloring: str | Mapping[str, Any]
    palette: str | Mapping[str, Any] | Sequence[Any] | NDArray[Any] | ColorMap | Palette
    transfer: Literal["auto", "linear", "sqrt", "cbrt", "log", "atan"]
    density: float
    offset: float
    mask: Literal["auto", "escaped", "inside", "all"]
    range: tuple[float, float] | None
    inside: str
    layers: Sequence[Any]


class DeviceOptions(TypedDict, total=False):
    """The options of everything that draws."""

    device: str
    threads: int | None
    progress: Callable[[int, int], None] | None
    on_message: Callable[[str], None]


class IterationOptions(DeviceOptions, total=False):
    """All fields of `RenderOptions`."""

    interior_shortcuts: bool
    cache: bool
    force: bool


class RecolorKeywords(DeviceOptions, SceneKeywords, total=False):
    """Keywords of `fractals.recolor`."""


class RenderKeywords(IterationOptions, SceneKeywords, total=False):
    """Keywords of `fractals.render`."""


class ExploreKeywords(SceneKeywords, total=False):
    """Keywords of `fractals.explore`."""

    device: str
    threads: int | None
    host: str
    port: int
    browser: bool
    block: bool
    uds: str | None
    cert: str | None
    key: str | None
    allow_hosts: tuple[str, ...]
    read_only: bool
    memory: int
    clients: int
    gallery: bool | None
    on_message: Callable[[str], None]


class SaveKeywords(TypedDict, total=False):
    """Keywords of `Film.save`."""

    overwrite: bool
    codec: str | None
    bits: int | None
    lossless: bool
    frames: tuple[int, int] | None
    sound: str | None
    keep_strip: bool
    cluster: Any
