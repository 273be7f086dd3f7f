"""Positions of samples as double-double numbers: rounded once from their exact values."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.doubled.arithmetic import total, total_single
from fractals.scene.geometry import Matrix, middles_of

Floats = NDArray[np.float64]


def parts_of(text: str) -> tuple[float, float]:
    """Return a decimal number as the sum of two float64.

    >>> parts_of("0.1")
    (0.1, -5.551115123125783e-18)
    """
    exact = Fraction(Decimal(text))
    high = float(exact)
    return high, float(exact - Fraction(high))


def places(middle: Fraction, half: Fraction, count: int) -> tuple[Floats, Floats]:
    """Return both parts of `count` positions about `middle`, ``2 * half`` apart."""
    below = math.lcm(middle.denominator, half.denominator)
    begin, step = int((middle - (count - 1) * half) * below), int(2 * half * below)
    highs, lows = np.empty(count), np.empty(count)
    for k in range(count):
        exact = begin + k * step
        highs[k] = exact / below  # rounded once, as a quotient of integers is
        above, under = float(highs[k]).as_integer_ratio()
        lows[k] = (exact * under - above * below) / (under * below)
    return highs, lows


def grid_places(
    center: tuple[Fraction, Fraction],
    half: Fraction,
    axes: Matrix,
    across: int,
    down: int,
) -> tuple[Floats, Floats]:
    """Return columns (4, across) and rows (4, down) of a grid: x, y, and the low parts of both.

    `half` is half the distance of samples; `axes` is the matrix of the view.
    """
    a, b, c, d = axes
    steps, counts = ((a * half, c * half), (-b * half, -d * half)), (across, down)
    found = []
    for middle, step, count in zip(middles_of(center, axes), steps, counts, strict=True):
        (u, low_u), (v, low_v) = (places(*own, count) for own in zip(middle, step, strict=True))
        found.append(np.stack([u, v, low_u, low_v]))
    return found[0], found[1]


def sums(columns: Floats, rows: Floats) -> list[Floats]:
    """Return x, y and their low parts of samples, from those of their columns and rows."""
    (x, low_x), (y, low_y) = (
        total(columns[k], columns[k + 2], rows[k], rows[k + 2]) for k in range(2)
    )
    return [x, y, low_x, low_y]


def moved(places: list[Floats], moves: tuple[Floats, Floats]) -> list[Floats]:
    """Return places that are moved by float64 numbers."""
    (x, low_x), (y, low_y) = (total_single(places[k], places[k + 2], moves[k]) for k in range(2))
    return [x, y, low_x, low_y]
