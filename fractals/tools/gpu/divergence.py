"""Divergence of warps, computed from the counts of a picture alone.

A warp is 32 threads that take every step together. A thread that has finished waits for the warp's
last one, so a warp takes as many steps as its longest orbit.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fractals.errors import OptionError
from fractals.io.png import Pixels
from fractals.tools import sheet

WARP = 32  # threads, on every CUDA GPU so far
MAX_THREADS = 1024  # of a block, on every CUDA GPU so far
BLOCKS = ((32, 1), (8, 4), (16, 16))  # threads in x and y
PALETTE = "ink"  # black where lanes wait, white where all are busy


class Divergence(NamedTuple):
    """How busy a picture keeps the lanes of warps, for one shape of block.

    Attributes
    ----------
    block : tuple of int
        Threads in x and y.
    lanes_busy : float
        Iterations of all samples, by the lanes' steps of all warps: 1 without divergence.
    slots_busy : float
        The same for blocks, because a block keeps its place until its last thread ends.
    warp_steps : int
        Steps of all warps together: what the GPU has to issue.
    of_sample : ndarray of float, shape (height, width)
        `lanes_busy` of the warp of each sample.
    """

    block: tuple[int, int]
    lanes_busy: float
    slots_busy: float
    warp_steps: int
    of_sample: NDArray[np.float64]

    def to_table(self) -> dict[str, Any]:
        """Return the facts without the map, for JSON."""
        return {
            "block": list(self.block),
            "lanes_busy": self.lanes_busy,
            "slots_busy": self.slots_busy,
            "warp_steps": self.warp_steps,
        }


def measure(count: ArrayLike, block: tuple[int, int]) -> Divergence:
    """Return the divergence of a kernel that computes one sample per thread.

    Parameters
    ----------
    count : array_like of int, shape (height, width)
        Steps of each sample. Threads outside the picture take none.
    block : tuple of int
        Threads in x and y. Threads are numbered row by row, and each 32 of them are a warp.

    Returns
    -------
    Divergence

    Raises
    ------
    OptionError
        The block is empty or larger than 1024 threads, or `count` has not two dimensions.

    Examples
    --------
    >>> count = [[10] * 31 + [1000]]        # one long orbit beside 31 short ones
    >>> round(measure(count, (32, 1)).lanes_busy, 3)
    0.041
    """
    counts = np.asarray(count, np.int64)
    across, down = block
    if not (across >= 1 <= down and across * down <= MAX_THREADS):
        raise OptionError(f"block {across}x{down}: a block has 1 to {MAX_THREADS} threads")
    if counts.ndim != 2 or not counts.size:
        raise OptionError("counts are an array of two dimensions, with one element at least")
    height, width = counts.shape
    rows, columns, spare = -(-height // down), -(-width // across), -(across * down) % WARP
    whole = np.zeros((rows * down, columns * across), np.int64)
    whole[:height, :width] = counts
    blocks = whole.reshape(rows, down, columns, across).swapaxes(1, 2).reshape(rows, columns, -1)
    lanes = np.pad(blocks, ((0, 0), (0, 0), (0, spare))).reshape(rows, columns, -1, WARP)
    longest = lanes.max(axis=-1)
    taken, issued = lanes.sum(), longest.sum()
    busy = lanes.sum(axis=-1) / np.maximum(WARP * longest, 1)
    of_lane = np.repeat(busy, WARP, axis=-1)[..., : across * down]
    of_sample = of_lane.reshape(rows, columns, down, across).swapaxes(1, 2).reshape(whole.shape)
    held = blocks.max(axis=-1).sum() * lanes.shape[2] * WARP
    return Divergence(
        (across, down),
        float(taken / max(WARP * issued, 1)),
        float(taken / max(held, 1)),
        int(issued),
        of_sample[:height, :width],
    )


def draw(found: Sequence[Divergence]) -> Pixels:
    """Return a picture of the maps side by side, each with its label.

    All lanes of a white warp are busy; those of a dark one wait for its longest orbit.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
    """
    colors = sheet.turn(PALETTE, 256)
    cells = [
        sheet.Cell(
            f"{each.block[0]}x{each.block[1]}: {each.lanes_busy:.0%} of lanes busy",
            _fitted(colors[np.rint(255 * each.of_sample).astype(int)]),
        )
        for each in found
    ]
    return sheet.assemble(cells, columns=min(len(cells), 3))


def _fitted(pixels: Pixels) -> Pixels:
    """Return a picture as wide as a cell of a sheet; warps keep their sharp edges."""
    import PIL.Image

    height, width = pixels.shape[:2]
    size = sheet.WIDTH, max(1, round(height * sheet.WIDTH / width))
    return np.asarray(PIL.Image.fromarray(pixels).resize(size, PIL.Image.Resampling.NEAREST))
