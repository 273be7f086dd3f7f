"""Develop: the keys of a scene that turn its light into a picture, as a film is developed."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fractals.errors import shown
from fractals.scene.table import Table
from fractals.scene.view import Finite

BRIGHTEST = 1e6
# What "auto" means, by family: exposure and curve. A solid's light has no greatest value.
USUAL: dict[str, tuple[float, Literal["clip", "filmic"]]] = {"solid": (0.7, "filmic")}
PLAIN: tuple[float, Literal["clip", "filmic"]] = (1.0, "clip")


def _exposure(given: Any) -> Any:
    if given == "auto":
        return given
    try:
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        number = 0.0
    if isinstance(given, bool) or not 0 < number <= BRIGHTEST:
        raise ValueError(
            f"'{shown(given, 40)}' is not 'auto' or a number more than 0, at most {BRIGHTEST:g}"
        )
    return number


class Develop(Table):
    """How linear light becomes a picture."""

    exposure: Annotated[float | Literal["auto"], BeforeValidator(_exposure)] = Field(
        default="auto", description="factor of all light; auto: 0.7 for solids, 1 for other images"
    )
    curve: Literal["auto", "clip", "filmic"] = Field(
        default="auto",
        description="what becomes of light brighter than white: clip cuts it off, filmic bends "
        "all light towards white as film does; auto: filmic for solids, clip for other images",
    )
    bloom: Finite = Field(
        default=0.0, ge=0, le=100, description="strength of the glow around what is bright; 0: none"
    )
    bloom_threshold: Finite = Field(
        default=0.6, ge=0, le=BRIGHTEST, description="light from which on it glows; white is 1"
    )
    bloom_radius: Finite = Field(
        default=0.06, gt=0, le=0.5, description="how far it glows, in heights of the picture"
    )
    vignette: Finite = Field(
        default=0.0, ge=0, le=1, description="how much darker the corners are, 0 to 1"
    )
    denoise: bool = Field(
        default=False,
        description="remove the noise of a solid's light by Open Image Denoise, an optional extra; "
        "other machines may round otherwise",
    )
    grain: Finite = Field(
        default=0.0, ge=0, le=1, description="strength of film grain, 0 to 1, such as 0.03"
    )

    @property
    def whole(self) -> bool:
        """Tell whether pixels depend on the light of the whole picture."""
        return self.bloom > 0 or self.denoise

    def usual(self, family: str) -> tuple[float, Literal["clip", "filmic"]]:
        """Return exposure and curve of an image of a family."""
        exposure, curve = USUAL.get(family, PLAIN)
        return (
            exposure if self.exposure == "auto" else self.exposure,
            curve if self.curve == "auto" else self.curve,
        )

    def changes(self, family: str) -> bool:
        """Tell whether a picture differs from its light, cut off at white."""
        return self.usual(family) != PLAIN or any((self.bloom, self.vignette, self.grain))


def exposed_as_before(table: Any) -> Any:
    """Return a scene's table with the exposure of a solid where it belongs, out of [light]."""
    light = table.get("light") if isinstance(table, Mapping) else None
    if not isinstance(light, Mapping) or "exposure" not in light:
        return table
    own, rest = table.get("develop", {}), dict(light)
    exposure = rest.pop("exposure")
    if isinstance(own, Mapping) and "exposure" not in own and exposure != USUAL["solid"][0]:
        own = {**own, "exposure": exposure}
    return {**table, "light": rest, "develop": own}
