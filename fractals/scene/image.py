"""ImageSettings: the keys of a scene about pixels, and how a file keeps them."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from fractals.errors import shown
from fractals.scene.numbers import MAX_SIDE, size_of
from fractals.scene.table import CommandHelp, Table
from fractals.scene.view import Finite

Side = Annotated[int, Field(ge=1, le=MAX_SIDE)]


def _bits(given: Any) -> int:
    if str(given) not in ("8", "16"):
        raise ValueError(f"'{shown(given, 40)}' is not 8 or 16")
    return int(given)


class ImageSettings(Table):
    """Pixels of the picture, samples of a pixel, and how a file keeps them."""

    size: Annotated[
        tuple[Side, Side],
        BeforeValidator(size_of),
        CommandHelp("pixels: 1920x1080, 640x, 4k, 300%, A3, 100x70cm@300dpi"),
    ] = Field(default=(1920, 1080), description="(width, height) in pixels, or text such as 4k")
    supersampling: int = Field(
        default=2, ge=1, le=16, description="N x N samples per pixel, 1 to 16"
    )
    antialias: Literal["grid", "jittered", "adaptive"] = Field(
        default="grid", description="pattern of the samples: grid, jittered or adaptive"
    )
    bits: Annotated[Literal[8, 16], BeforeValidator(_bits)] = Field(
        default=8, description="bits per channel: 8, or 16 (PNG or TIFF)"
    )
    gamut: Literal["srgb", "p3"] = Field(
        default="srgb", description="colors that the file can hold: srgb, or p3 (Display P3)"
    )
    hdr: bool = Field(
        default=False,
        description="a PNG of high dynamic range: PQ, the gamut of BT.2020, and 16 bits",
    )
    dpi: Finite | None = Field(
        default=None, ge=1, le=65_535, description="pixels per inch, for printing (PNG, JPEG, TIFF)"
    )
    compression: Literal["fast", "small"] = Field(
        default="fast",
        description="PNG compression: fast, or small (10 to 30 % smaller files, much slower)",
    )

    @model_validator(mode="after")
    def _dynamic(self) -> "ImageSettings":
        if self.hdr and self.gamut != "srgb":
            raise ValueError("hdr has the gamut of BT.2020: leave gamut out")
        if self.hdr:
            object.__setattr__(self, "bits", 16)
        return self

    @property
    def primaries(self) -> str:
        """Return the gamut in which colors are mixed and written: "srgb", "p3" or "bt2020"."""
        return "bt2020" if self.hdr else self.gamut

    def as_srgb(self) -> "ImageSettings":
        """Return the same for a screen or a file that shows sRGB alone."""
        return self.model_copy(update={"gamut": "srgb", "hdr": False})
