"""The cells of a Buddhabrot: the plane of c, divided where orbits add much to the view.

Cells are divided in rounds, by whole numbers that a pilot found on any device: how many points of
a cell's samples are in view, their squares, and the steps they took. The best number of samples of
a cell is its area times the root of mean square over mean steps. A share of all samples lies evenly
whatever the pilot found, which bounds the weights: otherwise single points would be too bright.
The pilot looks at the view alone, so pictures of any size and quality have the same samples.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.kernels import buddhabrot, scatter
from fractals.kernels.buddhabrot import LEVELS, LOOKED, Buddhabrot, Orbits
from fractals.threads import run_tiles

FIRST = 5  # the level at which dividing begins: 32 x 32 cells, or the most that a scene allows
SAMPLES = 24  # of a cell, in the pilot; the first cells have four times as many
FOUND = 16  # of the first cells: fewer that show a point in view have four times the samples again
MOST_SAMPLES = 64 * SAMPLES
PER_CELL = 16  # samples of a pass, on average
MOST = 2**16  # of a cell
DIVIDED = 4  # at most this part of the cells is divided in a round
COLUMNS = 64  # cells that a row of the pilot's output has
GOLDEN = (math.sqrt(5) - 1) / 2
Numbers = NDArray[Any]


class Cells:
    """Finds the cells of a Buddhabrot for a view, and how many samples each has."""

    def __init__(
        self,
        formula: Buddhabrot,
        backend: Backend,
        numbers: dict[str, Any],
        window: scatter.Window,
        game: scatter.Game,
    ) -> None:
        """Prepare the pilot. `numbers`: the limit, the escape radius and the c of a Julia set."""
        self._formula, self._backend, self._numbers = formula, backend, numbers
        self._window, self._game = window, game
        self._kernel = formula.kernel_of(numbers["julia"] is not None)

    def orbits(self) -> Orbits:
        """Return the numbers of the Buddhabrot."""
        first = min(FIRST, int(math.log2(self._formula.cells)) // 2)
        side = 1 << first
        rows, columns = np.divmod(np.arange(side * side), side)
        cells = np.stack([np.full(side * side, first), rows, columns], axis=1)
        samples = 4 * SAMPLES
        found = self._look(cells, samples)
        # Where the view is small, few orbits come by.
        while (found[:, 0] > 0).sum() < FOUND and samples < MOST_SAMPLES:
            samples *= 4
            found = self._look(cells, samples)
        while len(cells) < self._formula.cells:
            worth = _share(cells) * _density(found)
            worth[cells[:, 0] >= LEVELS - 1] = 0
            room = (self._formula.cells - len(cells) + 2) // 3
            some = min(len(cells) // DIVIDED, int((worth > 0).sum()), room)
            if some == 0:
                break
            taken = np.argsort(-worth, kind="stable")[:some]
            children = _divided(cells[taken])
            new = self._look(children, SAMPLES)
            # Few samples miss much: what they show counts half, and their parent's other half.
            new = 0.5 * new + 0.5 * np.concatenate([found[taken]] * 4)
            left = np.ones(len(cells), bool)
            left[taken] = False
            cells = np.concatenate([cells[left], children])
            found = np.concatenate([found[left], new])
        return self._made(cells, *self._counts(cells, found))

    def _counts(self, cells: Numbers, found: Numbers) -> tuple[Numbers, Numbers]:
        """Return the samples of each cell in a pass, and the weight of each."""
        area = _share(cells)
        worth = area * _density(found)
        even = self._formula.even if worth.sum() > 0 else 1.0
        drawn = worth / worth.sum() if worth.sum() > 0 else worth
        budget = PER_CELL * len(cells) * ((1 - even) * drawn + even * area / area.sum())
        counts = np.exp2(np.ceil(np.log2(budget.clip(1, MOST)))).astype(np.int64)
        deepest = int(cells[:, 0].max())
        # Shares of the area and of samples are powers of two, and so are the weights.
        exponents = 2 * (deepest - cells[:, 0]) - np.rint(np.log2(counts)).astype(np.int64)
        return counts, 1 << (exponents - exponents.min()).astype(np.int64)

    def _made(self, cells: Numbers, counts: Numbers, weights: Numbers) -> Orbits:
        real, formula = self._backend.real, self._formula
        x, y = map(float, formula.center)
        side = float(formula.width)
        limit, radius, c = (self._numbers[key] for key in ("limit", "escape_radius", "julia"))
        sides = [side / 2**level for level in range(LEVELS)]
        samples = int(counts.sum())
        stride = max(1, round(samples * GOLDEN))
        while math.gcd(stride, samples) > 1:
            stride += 1
        return Orbits(
            np.array([*(c or (0.0, 0.0)), radius**2], real),
            np.array([x - side / 2, y - side / 2, *sides], real),
            np.ascontiguousarray(cells, np.int32),
            np.cumsum(counts),
            counts,
            weights,
            formula.bounds(limit),
            np.array([formula.least, limit], np.int32),
            samples,
            stride,
        )

    def _look(self, cells: Numbers, samples: int) -> Numbers:
        """Return the means of the pilot's sums for each cell."""
        backend = self._backend
        one = np.ones(len(cells), np.int64)
        orbits = moved(backend, self._made(cells, one, one))
        window, game = moved(backend, self._window), self._game._replace(steps=samples)
        run = backend.compile(buddhabrot.make_look_body, *self._kernel[1:])
        found = np.zeros((-(-len(cells) // COLUMNS), COLUMNS, LOOKED), np.int64)
        sums = backend.to_device(np.zeros(4, np.int64))
        rows = 4 if backend.threads else len(found)

        def work(top: int) -> Mapping[str, float]:
            out = found[top : top + rows]
            on_device = backend.to_device(out)
            run(on_device, orbits, top * COLUMNS, game, window, sums)
            backend.to_host(on_device, out)
            return {}

        threads = backend.threads if backend.kind == "cpu" else 0
        run_tiles(range(0, len(found), rows), work, threads)
        means: Numbers = found.reshape(-1, LOOKED)[: len(cells)] / samples
        return means


def _share(cells: Numbers) -> Numbers:
    """Return the area of each cell, as a share of the whole."""
    return np.exp2(-2.0 * cells[:, 0])


def _density(found: Numbers) -> Numbers:
    """Return how many samples a unit of a cell's area deserves, in proportion."""
    density: Numbers = np.sqrt(found[:, 1] / np.maximum(found[:, 2], 1))
    return density


def _divided(cells: Numbers) -> Numbers:
    level, row, column = cells.T
    parts = [
        np.stack([level + 1, 2 * row + down, 2 * column + right], axis=1)
        for down in (0, 1)
        for right in (0, 1)
    ]
    return np.concatenate(parts)


def moved(backend: Backend, part: Any) -> Any:
    """Return a named tuple with its arrays on the device."""
    if isinstance(part, tuple):
        return part._make(moved(backend, value) for value in part)  # type: ignore[attr-defined]
    return backend.to_device(part) if isinstance(part, np.ndarray) else part
