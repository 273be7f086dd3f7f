"""Numbers and directions of samples, in two bytes each: what a strip of values holds.

Of a block of neighboring samples in a row the least number and the span are kept. A number is the
least one plus the span times t to the fourth, where t has 16 bits. So it is precise to a thousandth
of its distance from the least one, however far a single number of the block is off.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.strip import EMPTY, TOP

BLOCK = 32  # samples of a block, at most
MOST = 1e12  # numbers beyond it are kept as it
QUARTERS = 16383  # codes of directions in two quarters of the square |x| + |y| = 1, less 1
NOWHERE = 65534  # code of a direction that is unknown

Codes = NDArray[np.uint16]
Scales = NDArray[np.float32]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Kept:
    """Samples of some rows of a level.

    Attributes
    ----------
    codes : ndarray of uint16, shape (planes, rows, columns)
        Of numbers, then of directions.
    scales : ndarray of float32, shape (numbers, rows, blocks, 2)
        Least number and span of each block.
    """

    codes: Codes
    scales: Scales

    def taken(self, rows: slice, start: int = 0, step: int = 1) -> "Kept":
        """Return the samples of some rows, and of columns from `start` on, as views.

        `step` is a power of two above `start`. Codes and their numbers stay the same.
        """
        block = self.codes.shape[2] // max(1, self.scales.shape[2])
        codes = self.codes[:, rows, start::step]
        if step <= block:
            return Kept(codes, self.scales[:, rows])
        return Kept(codes, self.scales[:, rows, start // block :: step // block])

    def fill(self, first: int, other: "Kept") -> None:
        """Copy samples to rows from one on."""
        rows = slice(first, first + other.codes.shape[1])
        self.codes[:, rows] = other.codes
        self.scales[:, rows] = other.scales

    @property
    def size(self) -> int:
        """Return the bytes."""
        return self.codes.nbytes + self.scales.nbytes

    def flat(self) -> NDArray[np.uint16]:
        """Return everything as one array, for a file."""
        scales = np.ascontiguousarray(self.scales).view(np.uint16)
        return np.concatenate([self.codes.ravel(), scales.ravel()])


def room(numbers: int, directions: int, rows: int, columns: int, block: int) -> Kept:
    """Return room for samples whose blocks have a length."""
    planes = numbers + directions
    return Kept(
        np.empty((planes, rows, columns), np.uint16),
        np.empty((numbers, rows, columns // block, 2), np.float32),
    )


def from_flat(flat: NDArray[np.uint16], like: Kept) -> Kept:
    """Return what `Kept.flat` made of samples with the shapes of others."""
    codes, scales = np.split(flat, [like.codes.size])
    return Kept(
        codes.reshape(like.codes.shape),
        scales.view(np.float32).reshape(like.scales.shape),
    )


def block_of(columns: int) -> int:
    """Return the length of blocks of rows: a power of two that divides their columns."""
    return min(BLOCK, columns & -columns)


def keep_numbers(values: Numbers, codes: Codes, scales: Scales) -> None:
    """Fill codes and scales of numbers, shape (rows, columns); NaN stands for no number.

    Square roots are rounded alike on all processors.
    """
    rows, blocks, _ = scales.shape
    with np.errstate(invalid="ignore"):
        v = np.clip(values, -MOST, MOST).reshape(rows, blocks, -1)
        least, most = np.fmin.reduce(v, 2), np.fmax.reduce(v, 2)
        lacking = np.isnan(least)
        least, most = np.where(lacking, 0, least), np.where(lacking, 0, most)
        below = least.astype(np.float32)
        below = np.where(below > least, np.nextafter(below, np.float32(-np.inf)), below)
        spans = (most - below).astype(np.float32)
        spans = np.where(spans < most - below, np.nextafter(spans, np.float32(np.inf)), spans)
        scales[..., 0], scales[..., 1] = below, spans
        v -= below[..., None]
        v /= np.where(spans > 0, spans, 1)[..., None]
        t = np.rint(np.sqrt(np.sqrt(v)) * TOP)
    t[np.isnan(t)] = EMPTY
    codes[...] = t.reshape(codes.shape)


def numbers_of(codes: Codes, least: Any, spans: Any) -> Numbers:
    """Return the numbers of codes; the scales are those of each code."""
    t = codes * (1 / TOP)
    t *= t
    t *= t
    found = np.asarray(t * spans + least)
    found[codes == EMPTY] = np.nan
    return found


def keep_directions(x: Numbers, y: Numbers, codes: Codes) -> None:
    """Fill the codes of the directions of vectors: places on the square |x| + |y| = 1."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        largest = np.maximum(abs(x), abs(y))
        x, y = x / largest, y / largest
        place = x / (abs(x) + abs(y))
        place = np.where(y >= 0, 1 - place, 3 + place) * QUARTERS
    known = np.isfinite(place)
    codes[...] = np.where(known, np.minimum(np.where(known, place, 0), 4 * QUARTERS - 1), NOWHERE)


def directions(cos: float, sin: float) -> NDArray[np.float64]:
    """Return the unit vectors of all codes, turned: shape (65536, 2); 0 where unknown."""
    place = (np.arange(4 * QUARTERS) + 0.5) / QUARTERS
    x = np.where(place < 2, 1 - place, place - 3)
    y = np.where(place < 2, 1 - abs(x), abs(x) - 1)
    size = np.sqrt(x * x + y * y)
    x, y = x / size, y / size
    found = np.zeros((2**16, 2))
    found[: len(x), 0], found[: len(x), 1] = x * cos - y * sin, x * sin + y * cos
    return found
