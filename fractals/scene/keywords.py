"""SceneKeywords: the keys of a scene as flat keywords, for signatures and type checkers."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, Protocol, TypedDict

from numpy.typing import NDArray

from fractals.color.palette import Palette
from fractals.kernels.formula import Formula

Real = str | int | float | Decimal  # text keeps all digits; a float has 17
PointLike = complex | tuple[Real, Real] | list[Real]


class ColorMap(Protocol):
    """A color map of matplotlib or cmap."""

    @property
    def name(self) -> str:
        """Return the color map's name."""


class SceneKeywords(TypedDict, total=False):
    """Every key of a scene, named without its table; the values are described in `Scene`."""

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
