"""The keywords of public functions, for signatures and type checkers.

Made by scripts/keywords.py from the model of scenes and from classes of options.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, TypedDict

from numpy.typing import NDArray

from fractals.color.gradient import ColorMap
from fractals.color.palette import Palette
from fractals.kernels.formula import Formula
from fractals.scene.numbers import PointLike, Real


class SceneKeywords(TypedDict, total=False):
    """Every key of a scene, without its table."""

    title: str
    author: str
    note: str
    formula: str | Mapping[str, Any] | Formula
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
    center: PointLike | None
    width: Real | None
    zoom: Real | None
    frame: PointLike | None
    rotation: float
    mirror: bool
    stretch: float
    stretch_angle: float
    projection: Literal["plane", "exponential"]
    size: Sequence[int] | str
    supersampling: int
    antialias: Literal["grid", "jittered", "adaptive"]
    bits: Literal[8, 16]
    gamut: Literal["srgb", "p3"]
    hdr: bool
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
    quality: float
    seed: int
    steps: int
    fuse: int
    brightness: float
    gamma: float
    gamma_threshold: float
    vibrancy: float
    highlight_power: float
    background: str
    estimator_radius: float
    estimator_minimum: float
    estimator_curve: float
    filter: str
    filter_radius: float
    heights: Literal["none", "smooth", "distance"]
    rise: float
    tilt: float
    position: str | Sequence[float] | None
    target: str | Sequence[float] | None
    up: str | Sequence[float] | None
    field: float
    panorama: bool
    stereo: float
    roll: float
    lens: float
    focus: float | None
    sun: str | Sequence[float]
    sun_color: str
    sun_power: float
    sun_size: float
    sky: str | Sequence[str]
    haze: float
    gloss: float
    emission: float
    emission_color: str
    emission_at: float
    emission_width: float
    bounces: int
    samples: int | Literal["auto"]
    relight: bool
    exposure: float | Literal["auto"]
    curve: Literal["auto", "clip", "filmic"]
    bloom: float
    bloom_threshold: float
    bloom_radius: float
    vignette: float
    denoise: bool
    grain: float


class RecolorKeywords(SceneKeywords, total=False):
    """Keywords of `fractals.recolor`."""

    device: str
    threads: int | None
    on_message: Callable[[str], None]
    progress: Callable[[int, int], None] | bool | None


class RecolorFileKeywords(RecolorKeywords, total=False):
    """Keywords of `fractals.recolor_to`."""

    overwrite: bool


class RenderKeywords(RecolorKeywords, total=False):
    """Keywords of `fractals.render`."""

    interior_shortcuts: bool
    cache: bool
    force: bool


class RenderFileKeywords(RenderKeywords, total=False):
    """Keywords of `fractals.render_to`."""

    overwrite: bool
    cluster: Any


class StoreKeywords(RenderFileKeywords, total=False):
    """Keywords of `fractals.compute_to`."""

    part: tuple[int, int] | None


class FilmKeywords(RenderKeywords, total=False):
    """Keywords of `fractals.film`."""

    to: str | int | float | Decimal | None
    cycle: float | None
    turn: float | None
    seconds: float | None
    fps: float | None
    preview: bool


class SaveKeywords(TypedDict, total=False):
    """Keywords of `Film.save`."""

    overwrite: bool
    cluster: Any
    frames: tuple[int, int] | None
    sound: str | None
    codec: str | None
    bits: int | None
    lossless: bool
    keep_strip: bool


class SearchKeywords(SceneKeywords, total=False):
    """Keywords of `fractals.find_nucleus`."""

    max_period: int | None
    progress: Callable[[str, int, int], None] | None


class SpiralKeywords(SearchKeywords, total=False):
    """Keywords of `fractals.find_misiurewicz`."""

    digits: int | None


class SuggestKeywords(SceneKeywords, total=False):
    """Keywords of `fractals.find_interesting`."""

    device: str
    threads: int | None
    on_message: Callable[[str], None]
    count: int
    centers: bool
    progress: Callable[[int, int], None] | None


class ExploreKeywords(SceneKeywords, total=False):
    """Keywords of `fractals.explore`."""

    device: str
    threads: int | None
    on_message: Callable[[str], None]
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
