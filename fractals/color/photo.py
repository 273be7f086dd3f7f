"""Palettes of pictures: few colors that stand for all, rare and vivid ones too, in a round."""

import itertools

import numpy as np
from numpy.typing import NDArray

from fractals.color.palette import (
    Floats,
    Palette,
    hexadecimal,
    linear_from_oklab,
    linear_from_srgb,
    oklab_from_linear,
    srgb_from_linear,
)

COLORS, FEWEST, MOST = 8, 2, 32  # of a palette of a picture
CELL = 0.02  # of OKLab, in which colors are counted as one
LEAST = 2e-4  # share of a picture below which a color is noise
# Weights of colors are shares to the power RARE, times 1 + VIVID times the chroma: so a red boat of
# a thousandth of the picture weighs as much as a tenth of a gray sea.
RARE, VIVID = 0.5, 12.0
EVEN = 0.4  # of the palette, which all colors share alike; the rest follows their shares
ROUNDS = 30  # of moving colors to the middle of what they stand for
EXACT = 8  # colors of which all rounds are compared


def palette_of(pixels: NDArray[np.uint8], colors: int = COLORS, title: str = "") -> Palette:
    """Return a palette of the colors of a picture: a round from its darkest color and back.

    Colors are grouped in OKLab, where distances are those that people see, by k-means (Lloyd, 1982)
    of weights that keep accents. Each group begins with the color farthest from the others
    (Gonzalez, 1985). The round is a short one through all of them. What fills much of the picture
    fills more of the palette.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (height, width, 3)
        Values of sRGB.
    colors : int
        How many at most; of a picture of fewer, these.
    title : str
        Of the palette.
    """
    lab, shares = _counted(pixels)
    weights = shares**RARE * (1 + VIVID * np.hypot(lab[:, 1], lab[:, 2]))
    found = _grouped(lab, weights, colors)
    order = in_round(found)
    own = np.bincount(_squares(lab, found).argmin(axis=1), shares, len(found)) ** RARE
    widths = (EVEN / len(own) + (1 - EVEN) * own / own.sum())[order]
    places = np.cumsum((widths + np.roll(widths, 1)) / 2) - (widths[0] + widths[-1]) / 2
    srgb = srgb_from_linear(np.clip(linear_from_oklab(found[order]), 0, 1))
    stops = [[float(f"{at:.4g}"), hexadecimal(each)] for at, each in zip(places, srgb, strict=True)]
    return Palette(stops, title=title)


def _counted(pixels: NDArray[np.uint8]) -> tuple[Floats, Floats]:
    """Return the mean color of each cell of OKLab that is not noise, and its share."""
    flat = pixels.reshape(-1, 3)
    lab = oklab_from_linear(linear_from_srgb(flat / 255))
    cells = np.floor(lab / CELL).astype(np.int64)
    _, where, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    sums = np.stack([np.bincount(where.reshape(-1), channel) for channel in lab.T], axis=1)
    kept = counts >= min(LEAST * len(flat), counts.max())
    return sums[kept] / counts[kept, None], counts[kept] / len(flat)


def _grouped(lab: Floats, weights: Floats, colors: int) -> Floats:
    """Return the means of groups of colors, of at most `colors` groups."""
    centers = lab[[int(np.argmax(weights))]]
    while len(centers) < min(colors, len(lab)):
        away = _squares(lab, centers).min(axis=1)
        centers = np.vstack([centers, lab[int(np.argmax(weights * away))]])
    for _ in range(ROUNDS):
        nearest = _squares(lab, centers).argmin(axis=1)
        sums = np.bincount(nearest, weights, len(centers))
        moved = [np.bincount(nearest, weights * part, len(centers)) for part in lab.T]
        after = np.stack(moved, axis=1) / np.maximum(sums, 1e-300)[:, None]
        after = np.where(sums[:, None] > 0, after, centers)
        if np.allclose(after, centers, atol=1e-5):
            break
        centers = after
    return np.asarray(centers)


def _squares(one: Floats, other: Floats) -> Floats:
    """Return the squares of the distances of colors, shape (colors of one, of other)."""
    return np.asarray(((one[:, None] - other[None]) ** 2).sum(axis=2))


def in_round(lab: Floats) -> list[int]:
    """Return the numbers of colors in a short round, from the darkest on; of few, the shortest.

    >>> in_round(np.array([[1, 0, 0], [0, 0, 0], [0.6, 0, 0], [0.4, 0.1, 0]]))
    [1, 2, 0, 3]
    """
    away = np.sqrt(_squares(lab, lab))
    first = int(np.argmin(lab[:, 0]))
    others = [k for k in range(len(lab)) if k != first]
    if len(lab) <= EXACT:
        rounds = ([first, *order] for order in itertools.permutations(others))
        return min(rounds, key=lambda order: _length(away, order))
    order = [first]
    while others:  # to the nearest each time, then without crossings
        order.append(min(others, key=lambda k: away[order[-1], k]))
        others.remove(order[-1])
    return _uncrossed(away, order)


def _length(away: Floats, order: list[int]) -> float:
    return float(away[order, [*order[1:], order[0]]].sum())


def _uncrossed(away: Floats, order: list[int]) -> list[int]:
    """Return a round in which no part is shorter the other way (2-opt; Croes, 1958)."""
    better = True
    while better:
        better = False
        for i, j in itertools.combinations(range(1, len(order) + 1), 2):
            turned = [*order[:i], *order[i:j][::-1], *order[j:]]
            if _length(away, turned) < _length(away, order) - 1e-12:
                order, better = turned, True
    return order
