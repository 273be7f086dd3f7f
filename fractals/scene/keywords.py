"""The keywords of public functions, for signatures and type checkers.

Made by scripts/keywords.py from the model of scenes and from classes of options.
"""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypedDict

from numpy.typing import NDArray

from fractals.color.gradient import ColorMap
from fractals.color.palette import Palette
from fractals.kernels.formula import Formula
from fractals.scene.numbers import PointLike, Real


class SceneTables(TypedDict, total=False):
    """What `Scene` is made of."""

    title: str
    author: str
    rights: str
    note: str
    formula: str | PathLike[str] | Mapping[str, Any] | Formula
    julia: PointLike | None
    view: Mapping[str, Any]
    image: Mapping[str, Any]
    iteration: Mapping[str, Any]
    color: Mapping[str, Any]
    scatter: Mapping[str, Any]
    display: Mapping[str, Any]
    relief: Mapping[str, Any]
    camera: Mapping[str, Any]
    light: Mapping[str, Any]
    develop: Mapping[str, Any]
    film: Mapping[str, Any] | None


class SceneKeywords(SceneTables, total=False):
    """Every key of a scene, without its table."""

    center: PointLike | None
    width: Real | None
    zoom: Real | None
    frame: PointLike | None
    rotation: SupportsFloat
    mirror: bool
    stretch: SupportsFloat
    stretch_angle: SupportsFloat
    projection: Literal["plane", "exponential"]
    size: Sequence[SupportsIndex] | NDArray[Any] | str
    supersampling: SupportsIndex
    antialias: Literal["grid", "jittered", "adaptive"]
    bits: Literal[8, 16]
    gamut: Literal["srgb", "p3", "adobe"]
    hdr: bool
    dpi: SupportsFloat | None
    compression: Literal["fast", "small"]
    max_iterations: SupportsIndex | Literal["auto"]
    escape_radius: SupportsFloat
    precision: Literal["auto", "float64", "float32", "double-double"] | None
    coloring: str | Mapping[str, Any]
    palette: str | Mapping[str, Any] | Sequence[Any] | NDArray[Any] | ColorMap | Palette
    transfer: Literal["auto", "linear", "sqrt", "cbrt", "log", "atan"]
    density: SupportsFloat
    offset: SupportsFloat
    mask: Literal["auto", "escaped", "inside", "all"]
    range: tuple[SupportsFloat, SupportsFloat] | None
    inside: str
    layers: Sequence[Any]
    quality: SupportsFloat | Literal["draft", "good", "best"]
    seed: SupportsIndex
    steps: SupportsIndex
    fuse: SupportsIndex
    brightness: SupportsFloat
    gamma: SupportsFloat | Literal["auto"]
    gamma_threshold: SupportsFloat
    vibrancy: SupportsFloat
    highlight_power: SupportsFloat
    background: str
    estimator_radius: SupportsFloat
    estimator_minimum: SupportsFloat
    estimator_curve: SupportsFloat
    filter: str
    filter_radius: SupportsFloat
    heights: Literal["none", "smooth", "distance"]
    rise: SupportsFloat
    tilt: SupportsFloat
    position: str | Sequence[SupportsFloat] | NDArray[Any] | None
    target: str | Sequence[SupportsFloat] | NDArray[Any] | None
    up: str | Sequence[SupportsFloat] | NDArray[Any] | None
    field: SupportsFloat
    panorama: bool
    stereo: SupportsFloat
    eye: Literal["both", "left", "right"]
    whole: str | None
    roll: SupportsFloat
    lens: SupportsFloat
    focus: SupportsFloat | None
    ray_step: SupportsFloat
    sun: str | Sequence[SupportsFloat] | NDArray[Any]
    sun_color: str
    sun_power: SupportsFloat
    sun_size: SupportsFloat
    sky: str | Sequence[str]
    haze: SupportsFloat
    gloss: SupportsFloat
    emission: SupportsFloat
    emission_color: str
    emission_at: SupportsFloat
    emission_width: SupportsFloat
    bounces: SupportsIndex
    samples: SupportsIndex | Literal["auto"]
    relight: bool
    exposure: SupportsFloat | Literal["auto"]
    curve: Literal["auto", "clip", "filmic"]
    bloom: SupportsFloat
    bloom_threshold: SupportsFloat
    bloom_radius: SupportsFloat
    vignette: SupportsFloat
    denoise: bool
    grain: SupportsFloat
    dither: bool


class RecolorKeywords(SceneKeywords, total=False):
    """Keywords of `fractals.recolor`."""

    formulas: tuple[str, ...]
    lossy: bool
    device: str
    threads: SupportsIndex | None
    on_message: Callable[[str], None]
    progress: Callable[[int, int], None] | bool | None


class RecolorFileKeywords(RecolorKeywords, total=False):
    """Keywords of `fractals.recolor_to`."""

    overwrite: bool


class RenderKeywords(RecolorKeywords, total=False):
    """Keywords of `fractals.compute`."""

    interior_shortcuts: bool
    cache: bool
    force: bool


class PictureKeywords(RenderKeywords, total=False):
    """Keywords of `fractals.render`."""

    preview: Any


class RenderFileKeywords(PictureKeywords, total=False):
    """Keywords of `fractals.render_to`."""

    overwrite: bool
    cluster: Any
    keep: bool


class StoreKeywords(RenderKeywords, total=False):
    """Keywords of `fractals.compute_to`."""

    overwrite: bool
    cluster: Any
    part: tuple[SupportsIndex, SupportsIndex] | None
