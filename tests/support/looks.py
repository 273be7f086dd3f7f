"""Views at the boundary of the Mandelbrot set, and what is compared of their pictures."""

import random
from decimal import Decimal

import numpy as np

import fractals
from fractals.color import palette

BLOCKS = (16, 10)  # across and down: means of so many samples hardly depend on which were taken


def view(seed, width):
    """Return center and width of a view where counts differ: a zoom to random details."""
    dice = random.Random(seed)
    x, y, w = Decimal("-0.75"), Decimal(0), Decimal(3)
    count = _counts(x, y, w)
    while w > width:
        # The highest counts lead to places that are nearly black.
        j, i = dice.choice(np.argwhere(count >= np.quantile(count, 0.7)).tolist())
        a = x + (Decimal(i) + Decimal("0.5") - 16) * w / 32
        b = y - (Decimal(j) + Decimal("0.5") - 10) * w / 32
        nearer = max(w / 8, width)
        found = _counts(a, b, nearer)
        if np.ptp(np.quantile(found, [0.1, 0.9])) > 4:
            x, y, w, count = a, b, nearer, found
    return {"center": (str(x), str(y)), "width": str(w)}


def _counts(x, y, width):
    raw = fractals.compute(
        center=(str(x), str(y)),
        width=str(width),
        size=(32, 20),
        supersampling=1,
        device="cpu",
        on_message=str,
    )
    return np.where(raw.count < raw.max_iterations, raw.count, 0)


def means(image):
    """Return the mean colors of the blocks of a picture, in linear light, as sRGB from 0 to 255."""
    height, width = image.pixels.shape[:2]
    linear = palette.linear_from_srgb(image.pixels / 255)
    rows, columns = height // BLOCKS[1], width // BLOCKS[0]
    blocks = linear.reshape(BLOCKS[1], rows, BLOCKS[0], columns, 3).mean(axis=(1, 3))
    return 255 * palette.srgb_from_linear(blocks)


def difference(one, other):
    """Return the mean difference of two pictures of any sizes, in levels of 255."""
    return float(np.abs(means(one) - means(other)).mean())


def excess(colors):
    """Return how much farther each frame's mean color moves than its neighbors', in levels.

    Parameters
    ----------
    colors : ndarray, shape (frames, 3)
    """
    moved = np.abs(np.diff(colors, axis=0)).max(axis=1)
    before, after = np.r_[moved[1], moved[:-1]], np.r_[moved[1:], moved[-2]]
    return moved - np.maximum(before, after)
