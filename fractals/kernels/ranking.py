"""Ranks of values: the lookup table of the histogram and rank colorings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.primitives import fma, select, split

# Ranks are told in cells of values: so many for each doubling of their distance from the lowest.
CELLS, DOUBLINGS = 128, 32
KNOTS = CELLS * DOUBLINGS + 1
WIDEST = 2**22  # range of counts that are counted one by one


def make_rank(target: Any) -> Any:
    """Return ``rank(v, table)``: the place of a value among those of the whole picture.

    The table is the lowest value, and the places at the KNOTS edges of the cells above it. Which
    cell a value is in is seen from its bits.
    """
    real, int32 = target.real, target.int32
    one, cells, last = real(1), real(CELLS), int32(KNOTS - 2)

    def rank(v: Any, table: Any) -> Any:
        u = v - table[0] + one
        m, e = split(select(u > one, u, one))
        place = (m - one) * cells
        k = int32(place)
        cell = int32(int32(e) * CELLS + k)
        cell = int32(select(cell < last, cell, last))
        start, end = table[1 + cell], table[2 + cell]
        return fma(place - real(k), end - start, start)

    return target.jit(rank)


def _edges(lowest: float) -> NDArray[np.float64]:
    """Return the values between the cells of `make_rank`."""
    j = np.arange(KNOTS)
    return lowest - 1 + np.ldexp(1 + (j % CELLS) / CELLS, j // CELLS)


def rank_knots(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the lowest value, and the share of the values below each edge of a cell."""
    lowest = float(values.min()) if values.size else 1.0
    u = np.maximum(values.astype(np.float64) - lowest + 1, 1)
    cells = (u.view(np.int64) >> (52 - CELLS.bit_length() + 1)) - 1023 * CELLS  # by its bits
    counts = np.bincount(np.minimum(cells, KNOTS - 2), minlength=KNOTS - 1)
    shares = np.concatenate([[0], np.cumsum(counts)]) / max(1, values.size)
    return np.concatenate([[lowest], shares])


def histogram_knots(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the same as if values were evenly spread between whole numbers, in each band."""
    if not values.size:
        return rank_knots(values)
    bands = np.ceil(values).astype(np.int64)  # each named after its upper end
    first, last = int(bands.min()), int(bands.max())
    if last - first < WIDEST:
        counts = np.bincount(bands - first)
        bands = np.flatnonzero(counts)
        counts, bands = counts[bands], bands + first
    else:
        bands, counts = np.unique(bands, return_counts=True)
    ends = np.unique(np.concatenate([bands - 1, bands]))
    cells = np.zeros(len(ends))
    cells[np.searchsorted(ends, bands)] = counts
    shares = np.cumsum(cells) / values.size
    return np.concatenate([[first - 1], np.interp(_edges(first - 1), ends, shares)])
