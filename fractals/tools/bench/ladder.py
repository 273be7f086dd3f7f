"""The ladder: the same counts by plain Python, NumPy, a naive ``@jit``, our loops and the GPU."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.rendering.drawing import Drawing, compute_all
from fractals.rendering.sampling import coordinates

PYTHON_SHARE = 10  # a quick ladder runs every tenth row in plain Python
NUMPY = "NumPy"
NAIVE = "naive @jit"

Counts = NDArray[Any]
Step = Callable[[], tuple[float, Counts]]


@dataclass(frozen=True)
class Spread:
    """What several runs took, in seconds."""

    median: float
    min: float
    max: float


def spread(seconds: Sequence[float]) -> Spread:
    """Return median, least and most.

    Examples
    --------
    >>> spread([3.0, 1.0, 2.0])
    Spread(median=2.0, min=1.0, max=3.0)
    """
    return Spread(statistics.median(seconds), min(seconds), max(seconds))


@dataclass(frozen=True)
class Rung:
    """One step of the ladder: the counts in host memory, and nothing else.

    Attributes
    ----------
    ours : bool
        Whether it is a backend of this program.
    compile : float
        Seconds, apart from `seconds`; a backend may have found its code on disk.
    differing_counts : int
        Differences from the first rung of `fractals`, whose rungs must agree. The naive loop rounds
        each product by itself where `fma` rounds once, so a few chaotic samples differ there.
    share : float
        Of the rows that were computed; below 1, `seconds` is extrapolated from them.
    """

    name: str
    ours: bool
    compile: float
    seconds: Spread
    differing_counts: int
    share: float = 1.0


def count(drawing: Drawing) -> tuple[float, Counts]:
    """Return the seconds that a drawing's counts took, and the counts."""
    n, (width, height) = drawing.plan.supersampling, drawing.plan.size
    counts = np.empty((height * n, width * n), np.int32)
    begun = perf_counter()
    compute_all(drawing, {"count": counts})
    return perf_counter() - begun, counts


def climb(
    drawings: Mapping[str, Drawing], steps: Sequence[str], runs: int, quick: bool = False
) -> tuple[Rung, ...]:
    """Time every rung, in turns; plain Python only once.

    Parameters
    ----------
    drawings : mapping of str to Drawing
        The rungs that are drawn by this program.
    steps : sequence of str
        The rungs below: "python", "numpy", "jit".
    quick : bool
        Extrapolate plain Python from a tenth of the rows.
    """
    from fractals.backends.cpu import naive

    first = next(iter(drawings.values()))
    _, expected = count(first)
    small = first.source.max_iterations <= np.iinfo(np.uint8).max
    dtype = np.uint8 if small else np.int32
    rungs = []
    if "python" in steps:
        stride = PYTHON_SHARE if quick else 1
        seconds, counts = _naive(first, naive.plain(), dtype, stride)
        rows = expected[::stride]
        share = len(rows) / len(expected)
        differing = int(np.count_nonzero(counts != rows))
        rungs.append(Rung("plain Python", False, 0.0, spread([seconds / share]), differing, share))

    work: dict[str, tuple[float, Step]] = {}
    if "numpy" in steps:
        work[NUMPY] = 0.0, lambda: _naive(first, fill_numpy, dtype)
    if "jit" in steps:
        fill, compiling = naive.compiled(dtype)
        work[NAIVE] = compiling, lambda: _naive(first, fill, dtype)
    for name, drawing in drawings.items():
        work[name] = drawing.timings["compile"], lambda drawing=drawing: count(drawing)  # type: ignore[misc]
    laps: dict[str, list[float]] = {name: [] for name in work}
    wrong = dict.fromkeys(work, 0)
    for _ in range(runs):
        for name, (_, step) in work.items():
            seconds, counts = step()
            laps[name].append(seconds)
            wrong[name] = max(wrong[name], int(np.count_nonzero(counts != expected)))
    for name, (compiling, _) in work.items():
        rungs.append(Rung(name, name in drawings, compiling, spread(laps[name]), wrong[name]))
    return tuple(rungs)


def fill_numpy(
    counts: Counts,
    xs: NDArray[np.float64],
    ys: NDArray[np.float64],
    julia: bool,
    point: complex,
    max_iterations: int,
    radius2: float,
) -> None:
    """Count as `naive_jit` does, in whole arrays: a step for all that have not escaped yet."""
    here = (xs + 1j * ys[:, None]).ravel()
    z = here if julia else np.zeros_like(here)
    c = np.full_like(here, point) if julia else here
    whole = counts.reshape(-1)
    whole[:] = max_iterations
    stays = np.arange(len(here))
    for n in range(max_iterations):
        z = z * z + c
        escaped = z.real * z.real + z.imag * z.imag >= radius2
        whole[stays[escaped]] = n
        z, c, stays = z[~escaped], c[~escaped], stays[~escaped]
        if not len(stays):
            break


def _naive(drawing: Drawing, fill: Any, dtype: Any, stride: int = 1) -> tuple[float, Counts]:
    """Return the seconds that the naive loop took for a drawing's samples, and the counts.

    The naive count is the number of steps before the escape, and ours includes it: 1 is added.
    Where an orbit stays, both are the limit.
    """
    scene = drawing.plan.scene
    columns, rows = coordinates(drawing.plan)
    xs, ys = columns[0], rows[1, ::stride]
    x, y = (float(Decimal(text)) for text in scene.julia or ("0", "0"))
    radius2 = scene.iteration.escape_radius**2
    limit = drawing.source.max_iterations
    begun = perf_counter()
    counts = np.empty((len(ys), len(xs)), dtype)
    fill(counts, xs, ys, scene.julia is not None, complex(x, y), limit, radius2)
    seconds = perf_counter() - begun
    return seconds, np.minimum(counts.astype(np.int32) + 1, limit)
