"""Sums of more than one palette: another one is shown before its points are thrown again.

A hit of the CPU's machine adds four whole numbers. Each has room for a second one in its upper
bits: the color in four functions of the place along the palette. Together with the palette's own
red, green and blue and the count these are eight sums a bucket, and another palette is, nearly, a
weighted sum of them. The functions are those that fit the palettes of the catalog best, and this
palette at other offsets.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from fractals import catalog
from fractals.color import palette as palettes
from fractals.color.palette import srgb_from_linear
from fractals.kernels.scatter import HIT, SHADES
from fractals.rendering.scatter.plan import ScatterPlan

SHIFT = 38  # the first of the upper bits: below is room for 2^30 hits
ROOM = 2 ** (64 - SHIFT)
MOST = 63  # of a function
FUNCTIONS = 4
OFFSETS = 8
ROUNDS = 12  # of the iteration, after which it agrees with a decomposition to 14 digits
Numbers = NDArray[np.float64]


class Spectrum:
    """What a hit adds, and how sums of it show another palette."""

    def __init__(self, plan: ScatterPlan) -> None:
        own = plan.formula.colors(plan.shades()).astype(np.int64)
        functions = _functions(plan.shades())
        opacity = own[:, 3:] / HIT
        upper = np.rint(np.tile(functions, (len(own) // SHADES, 1)) * opacity).astype(np.int64)
        self.colors = np.ascontiguousarray(own | upper << SHIFT)
        self._basis = np.column_stack([plan.shades() * HIT, np.full(SHADES, HIT), functions])

    def divided(self, sums: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the sums of the palette, and those of the functions, of hits of `colors`."""
        lower = sums & (2**SHIFT - 1)
        upper = (sums >> SHIFT & (ROOM - 1)).astype(np.float32)
        hits = lower[..., 3:] // HIT
        return lower, np.where(hits * MOST < ROOM, upper, np.float32(MOST / 2) * hits)

    def mixed(
        self, sums: NDArray[np.int64], upper: NDArray[np.float32], plan: ScatterPlan
    ) -> NDArray[np.int64]:
        """Return about what the hits add up to with the palette of a plan."""
        weights, *_ = np.linalg.lstsq(self._basis, plan.shades() * HIT, rcond=None)
        found = sums.copy()
        eight = np.concatenate([sums.astype(np.float32), upper], axis=-1)
        found[..., :3] = (eight @ weights.astype(np.float32)).clip(0)
        return found


def _functions(shades: Numbers) -> Numbers:
    """Return the functions: whole numbers up to MOST, an array of shape (SHADES, FUNCTIONS)."""
    turned = [np.roll(shades, SHADES * k // OFFSETS, axis=0) for k in range(1, OFFSETS)]
    wanted = np.concatenate([_catalog(), *turned], axis=1)
    known, _ = np.linalg.qr(np.column_stack([np.ones(SHADES), shades]))
    best = _largest(wanted - known @ (known.T @ wanted))
    low, high = best.min(axis=0), best.max(axis=0)
    whole: Numbers = np.rint((best - low) / np.maximum(high - low, 1e-9) * MOST)
    return whole


def _largest(columns: Numbers) -> Numbers:
    """Return the FUNCTIONS singular vectors of the largest values, by subspace iteration.

    `np.linalg.svd` finds all of them, in 0.1 s and more: the first picture would wait for it.
    """
    found = np.cos(np.pi * np.outer(np.arange(SHADES) + 0.5, np.arange(1, 3 * FUNCTIONS)) / SHADES)
    for _ in range(ROUNDS):
        found, _ = np.linalg.qr(columns @ (columns.T @ found))
    seen = columns.T @ found
    _, turn = np.linalg.eigh(seen.T @ seen)
    largest: Numbers = found @ turn[:, : -FUNCTIONS - 1 : -1]
    return largest


@functools.cache
def _catalog() -> Numbers:
    """Return the palettes of the catalog: a column for each channel."""
    places = np.arange(SHADES) / (SHADES - 1)
    loaded = [palettes.load(name) for name in catalog.names("palette")]
    columns = [
        srgb_from_linear(each.linear(places % 1 if each.cyclic else places)) for each in loaded
    ]
    return np.concatenate(columns, axis=1)
