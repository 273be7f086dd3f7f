"""The tables of scatter images: how many points they have, and how hits become light."""

import math
from typing import Annotated, Any, Literal

from fractals import catalog
from fractals.errors import shown
from fractals.scene.checks import After, Before, entry
from fractals.scene.picture import ColorText, auto_or
from fractals.scene.table import Table

Quality = Literal["draft", "good", "best"]
QUALITIES: tuple[Quality, ...] = ("draft", "good", "best")
MOST_POINTS = 1e9  # of a scatter image, for each pixel


def _quality(given: Any) -> Any:
    if isinstance(given, str) and given in QUALITIES:
        return given
    try:
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(given, bool) or not 0 < number <= MOST_POINTS:
        words = ", ".join(QUALITIES)
        raise ValueError(
            f"'{shown(given, 40)}' is not {words}, or a number more than 0, at most {MOST_POINTS:g}"
        )
    return number


class Scatter(Table):
    """How many points a scatter image has, and which."""

    quality: Annotated[float | Quality, Before(_quality)] = entry(
        default="good",
        description="draft to look at, good for a screen, or best for print: how fine an image of "
        "any family is; a number: points of a scatter image, for each pixel",
    )
    seed: int = entry(
        default=0,
        ge=0,
        lt=2**63,
        description="number that the random points of a scatter image follow",
    )
    steps: int = entry(
        default=1000, ge=1, le=1_000_000, description="points of each trajectory of a scatter image"
    )
    fuse: int = entry(
        default=15, ge=0, le=10_000, description="steps of a trajectory before its points are drawn"
    )


# flam3's filters from buckets to pixels.
FILTERS = (
    "gaussian",
    "hermite",
    "box",
    "triangle",
    "bell",
    "b_spline",
    "lanczos3",
    "lanczos2",
    "mitchell",
    "blackman",
    "catrom",
    "hamming",
    "hanning",
    "quadratic",
)


def _filter(name: str) -> str:
    if name not in FILTERS:
        hint = catalog.did_you_mean(name, FILTERS) or f"; choose one of {', '.join(FILTERS)}"
        raise ValueError(f"unknown filter '{shown(name, 40)}'{hint}")
    return name


# What gamma "auto" means, by the method of a formula. That of flames is flam3's: it would turn the
# haze around a Buddhabrot brown, and make its noise visible.
GAMMAS = {"orbits": 2.0}
FLAME_GAMMA = 4.0
Gamma = auto_or(lambda x: 0.01 <= x <= 100, "a number from 0.01 to 100")


class Display(Table):
    """How the hits of a scatter image become light: as flam3 shows flames."""

    brightness: float = entry(
        default=4.0, ge=0, le=1e6, description="brightness of a scatter image"
    )
    gamma: Annotated[float | Literal["auto"], Gamma] = entry(
        default="auto", description="gamma of a scatter image; auto: 2 for Buddhabrots, else 4"
    )
    gamma_threshold: float = entry(
        default=0.01, ge=0, le=1, description="density below which gamma is straight"
    )
    vibrancy: float = entry(
        default=1.0,
        ge=0,
        le=10,
        description="1: gamma of the density; 0: gamma of each color channel",
    )
    highlight_power: float = entry(
        default=-1.0, ge=-1, le=100, description="how much colors that are too bright turn to white"
    )
    background: ColorText = entry(
        default="#000000", description="color behind a scatter image, such as '#rrggbb' or navy"
    )
    estimator_radius: float = entry(
        default=9.0, ge=0, le=40, description="pixels over which lone points are spread; 0: none"
    )
    estimator_minimum: float = entry(
        default=0.0, ge=0, le=40, description="pixels over which all points are spread at least"
    )
    estimator_curve: float = entry(
        default=0.4,
        ge=0.01,
        le=10,
        description="how fast the spread falls with the number of points",
    )
    filter: Annotated[str, After(_filter)] = entry(
        default="gaussian", description="filter from buckets to the pixels of a scatter image"
    )
    filter_radius: float = entry(
        default=0.5, ge=0, le=10, description="width of that filter, in pixels"
    )

    def usual_gamma(self, method: str) -> float:
        """Return the gamma of an image of a formula of a method."""
        return GAMMAS.get(method, FLAME_GAMMA) if self.gamma == "auto" else self.gamma
