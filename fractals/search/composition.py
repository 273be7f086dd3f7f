"""How a picture is composed: where detail weighs, how symmetric it is, how deep its tones are.

Painters put what matters off the center, near a third of the picture, and let dark tones carry a
few light ones. The measures are about pictures of any size: they look at a grid of `CELLS`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.color.palette import Floats

CELLS = 24  # along the longer side
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of sRGB values, for people's eyes near enough
DARK_TONE, LIGHT_TONE = 0.3, 0.75  # of luminance, from 0 to 1
THIRD = 1 / 3  # of half a side: where the weight of a subject on the lines of thirds lies
# Shares of dark and light from which on there is enough, and of light from which on there is more
# than a deep picture has.
ENOUGH_DARK, ENOUGH_LIGHT, MUCH_LIGHT = 0.35, 0.02, 0.4
MOST_DARK = 0.92  # a share of dark beyond which little is seen


@dataclass(frozen=True)
class Composition:
    """Measures of a picture, each from 0 to 1."""

    away: float  # how far the weight of the detail is from the center; 1 from a third on
    asymmetry: float  # 0 where the picture is its own mirror image, or turned by half a turn
    dark: float  # the share of dark tones
    light: float  # and of light ones

    @property
    def deep(self) -> float:
        """Return how deep the tones are: dark, with some light."""
        dark, light = min(1.0, self.dark / ENOUGH_DARK), min(1.0, self.light / ENOUGH_LIGHT)
        faint = max(0.0, self.light - MUCH_LIGHT) / (1 - MUCH_LIGHT)
        lost = max(0.0, self.dark - MOST_DARK) / (1 - MOST_DARK)
        return dark * (0.5 + 0.5 * light) * (1 - faint) * (1 - lost)

    @property
    def score(self) -> float:
        """Return how well the picture is composed."""
        return (self.away + self.asymmetry + self.deep) / 3


def composition_of(pixels: NDArray[Any]) -> Composition:
    """Return the composition of a picture of sRGB values, shape (rows, columns, 3)."""
    most = 255 if pixels.dtype == np.uint8 else 65535
    tones = pixels @ LUMINANCE / most
    grid = means_of(tones)
    edges = means_of(_edges(tones))
    return Composition(
        _away(edges),
        1 - max(0.0, *(_likeness(grid, turned) for turned in _turned_images(grid))),
        float((tones < DARK_TONE).mean()),
        float((tones > LIGHT_TONE).mean()),
    )


def means_of(values: Floats) -> Floats:
    """Return means over the cells of a grid."""
    for axis, side in enumerate(values.shape):
        cells = max(1, min(side, round(CELLS * side / max(values.shape))))
        begins = np.arange(cells) * side // cells
        sizes = np.diff([*begins, side])
        sums = np.add.reduceat(values, begins, axis)
        values = sums / np.expand_dims(sizes, 1 - axis)
    return values


def _edges(tones: Floats) -> Floats:
    """Return how much each pixel differs from those to the right and below."""
    found = np.zeros_like(tones)
    found[:, :-1] += np.abs(np.diff(tones, axis=1))
    found[:-1] += np.abs(np.diff(tones, axis=0))
    return found


def _away(weights: Floats) -> float:
    """Return how far the center of weights is from the middle; 1 from a third on."""
    whole = weights.sum()
    if whole <= 0:
        return 0.0
    offsets = []
    for axis, cells in enumerate(weights.shape):
        at = (np.arange(cells) + 0.5) / cells * 2 - 1
        offsets.append(float((weights.sum(1 - axis) * at).sum() / whole))
    return min(1.0, math.hypot(*offsets) / THIRD)


def _turned_images(grid: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mirror images of a grid, and the grid turned by half a turn."""
    return grid[::-1], grid[:, ::-1], grid[::-1, ::-1]


def _likeness(one: Floats, other: Floats) -> float:
    """Return the correlation of two grids; of grids without detail 1."""
    a, b = one - one.mean(), other - other.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size > 1e-9 else 1.0
