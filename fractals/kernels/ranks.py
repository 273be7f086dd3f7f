"""Ranks of values: the look-up table of the colorings histogram and rank."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.primitives import fma, select, split

# The table divides values into cells: CELLS for each doubling of their distance from the lowest
# value, so a cell is less than 1 % of that distance wide. More cells cost memory only.
CELLS = 128  # a power of two: a value's cell is read from its bits
DOUBLINGS = 32  # more than counts have, which are below 2**31
EDGE_COUNT = CELLS * DOUBLINGS + 1
MAX_BINS = 2**22  # widest range of counts that takes a bin each (32 MiB); others are sorted


def make_rank(target: Any) -> Any:
    """Return ``rank(v, table)``: the share of values below v.

    The table holds the lowest value, then the shares at the EDGE_COUNT edges of the cells above it.
    `rank` is from 0 to 1. A value's cell is read from its bits; within a cell the share rises
    linearly.
    """
    real, int32 = target.real, target.int32
    one, cells, last = real(1), real(CELLS), int32(EDGE_COUNT - 2)

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


def edges(lowest: float) -> NDArray[np.float64]:
    """Return the values at the edges of the cells of `make_rank`."""
    j = np.arange(EDGE_COUNT)
    return lowest - 1 + np.ldexp(1 + (j % CELLS) / CELLS, j // CELLS)


def make_rank_table(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the table of `make_rank`, shape (EDGE_COUNT + 1,): each value counts once.

    The values are finite; there may be none.
    """
    lowest = float(values.min()) if values.size else 1.0
    u = np.maximum(values.astype(np.float64) - lowest + 1, 1)
    cells = (u.view(np.int64) >> (52 - CELLS.bit_length() + 1)) - 1023 * CELLS  # by its bits
    counts = np.bincount(np.minimum(cells, EDGE_COUNT - 2), minlength=EDGE_COUNT - 1)
    shares = np.concatenate([[0], np.cumsum(counts)]) / max(1, values.size)
    return np.concatenate([[lowest], shares])


def make_histogram_table(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the table of `make_rank`, with bands of counts spread evenly.

    A band holds the values above a whole number up to the next. Parameters and result are those of
    `make_rank_table`.
    """
    if not values.size:
        return make_rank_table(values)
    bands = np.ceil(values).astype(np.int64)  # each named after its upper end
    first, last = int(bands.min()), int(bands.max())
    if last - first < MAX_BINS:
        counts = np.bincount(bands - first)
        bands = np.flatnonzero(counts)
        counts, bands = counts[bands], bands + first
    else:
        bands, counts = np.unique(bands, return_counts=True)
    ends = np.unique(np.concatenate([bands - 1, bands]))
    cells = np.zeros(len(ends))
    cells[np.searchsorted(ends, bands)] = counts
    shares = np.cumsum(cells) / values.size
    return np.concatenate([[first - 1], np.interp(edges(first - 1), ends, shares)])
