"""What is found for a scene from a few samples of its view: the limit of iterations, the offset.

Both depend on the view alone. The size of the picture, its supersampling, the device and the
method do not change them, so a small and a large picture of a scene have equal colors. The offset
is continuous along a zoom, so that the colors of a film do not jump.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.coloring_math import fraction_constants
from fractals.kernels.formula import Formula
from fractals.scene.model import MAX_ITERATIONS

Counts = NDArray[np.int32]
Floats = NDArray[np.float64]

# Samples of the view, across and down, that are iterated before the picture; and those that tell
# the limit of a view that is not deep.
PROBE_SIZE = (32, 18)
LIMIT_SIZE = (48, 27)
# Share of a deep view's samples: the limit is high enough if fewer escape by one 4 times as high.
CHANGED = 1 / 256
MIN_LIMIT = 1024
# Share of the samples of other views. On the border about as many samples escape in 2n to 4n steps
# as later, or fewer. So a limit of 4 times what this share exceeds leaves a quarter of it inside.
LATE = 1 / 200
# Share of the samples: the limit by the zoom is kept if no more escape beyond it.
KEPT = 1 / 500
# Shares of the sorted smooth counts whose means stand for the lowest and for the median. Means of
# many samples change smoothly along a zoom; the least count jumps.
LOWEST, MEDIAN = (0.0, 1 / 8), (3 / 8, 5 / 8)
# Room below the lowest counts, as a share of their distance from the median: keeps the steep
# beginning of the logarithm, where bands are narrow, out of the picture.
ROOM = 0.2
# log2 of the widths that are probed, in widths of the view, and their weights, a raised cosine.
# A zoom into a lake of nearly equal counts makes their spread small, which turns the palette. Over
# these 6 octaves it turns by 0.30 per doubling of the zoom (median of 8 places, zooms of 2^28 to
# 2^70; at most 1.3); over the 3 octaves from 2 to -1 by 0.43 (at most 1.7). Contrast is the price:
# the counts of a view span 1.25 turns instead of 1.92.
SCALES = {5: 1, 4: 3, 3: 5, 2: 6, 1: 5, 0: 3, -1: 1}
STEPS = 256  # per count, to which the offset is rounded, because logarithms differ between CPUs


def is_settled(before: int | None, inside: int, samples: int) -> bool:
    """Tell whether a limit 4 times as high let few more samples of the probe escape."""
    return before is not None and before - inside <= CHANGED * samples


def shallow_limit(counts: Counts, limit: int, least: int) -> int | None:
    """Return the limit of a view that is not deep, from the probe's counts under a limit.

    `least` is the limit by the zoom. None: the counts under 4 times the limit are needed.
    """
    escaped = np.sort(counts[counts < limit], axis=None)[::-1]
    late = int(LATE * counts.size)
    found = 4 * int(escaped[late]) if escaped.size > late else 0
    if found > limit and 4 * limit <= MAX_ITERATIONS:
        return None
    beyond = np.count_nonzero(escaped >= least)
    if found <= least or (limit > least and beyond <= KEPT * counts.size):
        return least
    return min(found, MAX_ITERATIONS)


def limit_from(counts: Counts, limit: int, least: int) -> int:
    """Return the limit of a deep picture from the probe's counts under a limit.

    Samples between those of the probe may take longer to escape.
    """
    escaped = counts[counts < limit]
    if escaped.size:
        limit = 4 * int(escaped.max())
    return min(max(limit, least), MAX_ITERATIONS)


def smooth_counts(counts: Counts, x: Floats, y: Floats, formula: Formula, radius: float) -> Floats:
    """Return the smooth counts of samples that escaped at z = x + iy."""
    start, scale = fraction_constants(formula, radius)
    with np.errstate(all="ignore"):
        beyond = np.log2(np.log2(x * x + y * y)) - start
        rest = np.where(np.isfinite(beyond), 1 - scale * beyond, 0)
    smooth: Floats = counts + np.clip(rest, 0, 1)
    return smooth


def lowest_and_median(smooth: Floats) -> tuple[float, float] | None:
    """Return means of the lowest smooth counts of a view, and of those about the median."""
    if not smooth.size:
        return None
    ordered = np.sort(smooth)
    return _mean(ordered, *LOWEST), _mean(ordered, *MEDIAN)


def count_offset(found: Mapping[int, tuple[float, float] | None], depth: float) -> float:
    """Return what is subtracted from the smooth counts of a view.

    Parameters
    ----------
    found : mapping of int to tuple of float
        For each of `SCALES`, what `lowest_and_median` returns for the samples that escaped in a
        view of that width.
    depth : float
        From 0 at a zoom of 2^24 to 1 at 2^44. At 0 nothing is subtracted, at 1 somewhat less than
        the lowest counts. Between them, the logarithm of what remains of the median is linear in
        the depth, so a zoom changes colors at an even rate.
    """
    known = [(means, weight) for power, weight in SCALES.items() if (means := found[power])]
    if not known:
        return 0.0
    weights = [weight for _, weight in known]
    lowest, median = (
        float(np.average([means[k] for means, _ in known], weights=weights)) for k in range(2)
    )
    most = max(0.0, lowest - 1 - ROOM * (median - lowest))
    offset: float = 1 + median - (1 + median) ** (1 - depth) * (1 + median - most) ** depth
    return round(STEPS * max(0.0, offset)) / STEPS


def _mean(ordered: Floats, first: float, last: float) -> float:
    """Return the mean of the values between two shares of their number, at least one value."""
    begin = int(first * len(ordered))
    part = ordered[begin : max(begin + 1, round(last * len(ordered)))]
    return float(part.sum()) / len(part)  # `mean` takes twice as long
