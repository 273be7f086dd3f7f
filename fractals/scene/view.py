"""View: where a picture lies in the plane. Coordinates are decimal text of any length."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from fractals.errors import shown
from fractals.scene.numbers import decimal_text, is_real, point_text, width_in
from fractals.scene.table import CommandHelp, Table

SCALES = ("width", "zoom", "frame")  # keys of a view that say how much of the plane it shows
Finite = Annotated[float, Field(allow_inf_nan=False)]


def _positive(text: str) -> str:
    if not Decimal(text) > 0:
        raise ValueError(f"'{shown(text, 40)}' is not greater than 0")
    return text


def _frame(sides: tuple[str, str]) -> tuple[str, str]:
    for text in sides:
        if Decimal(text) < 0:
            raise ValueError(f"'{shown(text, 40)}' is less than 0")
    if not any(Decimal(text) for text in sides):
        raise ValueError("one of the sides is greater than 0")
    return sides


def _point(given: Any) -> Any:
    if isinstance(given, str) and (found := point_text(given)):
        return found
    if getattr(given, "shape", None) == ():  # a number of NumPy, or an array of one
        given = given.item()
    if isinstance(given, Sequence) and not isinstance(given, str):
        return tuple(given)
    if getattr(given, "shape", None) == (2,):
        return tuple(given.tolist())
    if hasattr(given, "imag") and not hasattr(given, "shape") and not is_real(given):
        return given.real, given.imag  # of Python, gmpy2 or mpmath
    raise ValueError(
        f"'{shown(given, 40)}' is not a point: give two numbers such as ('-0.75', '0.1'), "
        "or a complex number"
    )


Coordinate = Annotated[str, BeforeValidator(decimal_text)]
Length = Annotated[Coordinate, AfterValidator(_positive)]
Point = Annotated[tuple[Coordinate, Coordinate], BeforeValidator(_point)]


class View(Table):
    """Where the picture lies in the plane."""

    center: Annotated[Point | None, CommandHelp("center of the view; decimals of any length")] = (
        Field(default=None, description="decimal text; default: the formula's home")
    )
    width: Annotated[
        Length | None,
        CommandHelp("width of the view in the plane, or relative to the scene: 50%"),
    ] = Field(default=None, description="full width of the picture in the plane")
    zoom: Annotated[
        Length | None,
        CommandHelp("zoom, counted from the formula's whole view, or relative to the scene: x10"),
    ] = Field(default=None, description="instead of width: the home width divided by it")
    frame: Annotated[Point, AfterValidator(_frame)] | None = Field(
        default=None,
        description="width and height that a picture of any shape shows in full; the width follows",
    )
    rotation: Finite = Field(
        default=0.0, ge=-360, le=360, description="turn the view counter-clockwise, in degrees"
    )
    mirror: bool = Field(default=False, description="point the imaginary axis downwards")
    stretch: Finite = Field(
        default=1.0,
        ge=1e-3,
        le=1e3,
        description="stretch the view by this factor along the stretch angle",
    )
    stretch_angle: Finite = Field(
        default=0.0,
        ge=-360,
        le=360,
        description="direction of the stretch, in degrees counter-clockwise from the right",
    )
    projection: Literal["plane", "exponential"] = Field(
        default="plane",
        description="projection: plane, or exponential (x is the angle, y the logarithm of the "
        "radius)",
    )

    @model_validator(mode="after")
    def _one_scale(self) -> "View":
        given = [key for key in SCALES if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are both given: give one of them")
        return self

    def fitted(self, size: tuple[int, int]) -> "View":
        """Return the view of a picture of this size: a frame decides the width."""
        if self.frame is None:
            return self
        return self.model_copy(update={"width": width_in(self.frame, size)})
