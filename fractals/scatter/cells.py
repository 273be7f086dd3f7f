"""The cells of a Buddhabrot: the plane of c, divided where orbits add much to the view.

A pilot throws samples into cells, and cells are divided in rounds, by whole numbers that any device
finds. What a cell's own samples show is mixed with what the cells around it showed, because a few
samples miss much. A share of all samples lies wherever orbits are drawn, in view or not. It bounds
the weights (a defensive mixture, Hesterberg 1995): otherwise single points would be too bright.

The noise of an orbit grows with the number of its points, and with the square of that number if
several points fall into one pixel. A cell is best given samples by its area times the square root
of mean noise over mean time. The pilot looks at the
view alone, so pictures of any size and quality have the same samples.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, moved, run_pieces
from fractals.scatter import buddhabrot
from fractals.scatter import game as games
from fractals.scatter.buddhabrot import (
    LEVELS,
    LOOKED,
    START_BITS,
    Buddhabrot,
    Orbits,
)
from fractals.threads import Progress

FIRST = 5  # the level at which dividing begins: 32 x 32 cells, or the most that a scene allows
SAMPLES = 24  # of a cell, in the pilot
FIRST_SAMPLES = 128  # of each of the first cells
FOUND = 16  # of the first cells: fewer that show a point in view have four times the samples again
MOST_SAMPLES = 16 * FIRST_SAMPLES
PRIOR = 16  # samples that count as much as what the cell around shows
APART = 256  # points of an orbit that fall into each other's pixels: then they add to the noise
OPENING = 100  # steps in whose time a sample is thrown
CYCLE = 300  # steps after which most orbits that stay are known to, because they repeat
PER_CELL = 16  # samples of a pass, on average
MOST = 2**16  # of a cell
DIVIDED = 4  # at most this part of the cells is divided in a round
FEW = 0.01  # of the mean of steps drawn: cells with fewer are not looked at again
EMPTY = 1 / 64  # the part of even samples that lie where no orbit is drawn
COLUMNS = 64  # samples that a row of the pilot's output has
AT_ONCE = 32  # rows that a thread looks at
BITS = 24  # of a sample's place within its cell
GOLDEN = (math.sqrt(5) - 1) / 2
Numbers = NDArray[Any]


class Cells:
    """Finds the cells of a Buddhabrot for a view, and how many samples each has."""

    def __init__(
        self,
        formula: Buddhabrot,
        backend: Backend,
        numbers: dict[str, Any],
        window: games.Window,
        game: games.Game,
        progress: Progress | None = None,
    ) -> None:
        """Prepare the pilot. `numbers`: the limit, the escape radius and the c of a Julia set.

        `progress` is called within each look; what it raises ends the pilot.
        """
        self._formula, self._backend, self._numbers = formula, backend, numbers
        self._window, self._game, self._progress = window, game, progress
        self._kernel = formula.kernel_of(numbers["julia"] is not None)

    def orbits(self) -> Orbits:
        """Return the numbers of the Buddhabrot."""
        first = min(FIRST, int(math.log2(self._formula.cells)) // 2)
        side = 1 << first
        rows, columns = np.divmod(np.arange(side * side), side)
        cells = np.stack([np.full(side * side, first), rows, columns], axis=1)
        samples = FIRST_SAMPLES
        seen = self._look(cells, np.arange(len(cells)), 0, samples)
        found = seen.first_means(side)
        # Where the view is small, few orbits come by.
        while len(np.unique(seen.cell[seen.facts[:, 0] > 0])) < FOUND and samples < MOST_SAMPLES:
            drawing = np.flatnonzero(found[:, 3] > FEW * found[:, 3].mean())
            seen = seen.joined(self._look(cells, drawing, samples, 3 * samples))
            found = seen.first_means(side)
            samples *= 4
        while len(cells) < self._formula.cells:
            worth = _share(cells) * _density(found)
            worth[cells[:, 0] >= LEVELS - 1] = 0
            room = (self._formula.cells - len(cells) + 2) // 3
            large = int((worth > worth.sum() / (2 * self._formula.cells)).sum())
            some = min(len(cells) // DIVIDED, large, room)
            if some == 0:
                break
            taken = np.argsort(-worth, kind="stable")[:some]
            children = _divided(cells[taken])
            seen = seen.divided(cells, taken)
            left = np.ones(len(cells), bool)
            left[taken] = False
            cells = np.concatenate([cells[left], children])
            new = np.arange(len(cells) - len(children), len(cells))
            seen = seen.joined(self._look(cells, new, 0, SAMPLES))
            parents = np.concatenate([found[taken]] * 4)
            found = np.concatenate([found[left], seen.means(new, parents)])
        return self._made(cells, *self._counts(cells, found))

    def _counts(self, cells: Numbers, found: Numbers) -> tuple[Numbers, Numbers]:
        """Return the samples of each cell in a pass, and the weight of each."""
        worth = _share(cells) * _density(found)
        even = self._formula.even if worth.sum() > 0 else 1.0
        drawn = worth / worth.sum() if worth.sum() > 0 else worth
        area = _share(cells) * np.sqrt(found[:, 3] / found[:, 2]).clip(EMPTY)
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
        ends = np.cumsum(counts)
        starts = np.searchsorted(ends, np.arange(0, samples, 1 << START_BITS), side="right")
        return Orbits(
            np.array([*(c or (0.0, 0.0)), radius**2, *formula.formula.options], real),
            np.array([x - side / 2, y - side / 2, *sides], real),
            np.ascontiguousarray(cells, np.int32),
            ends,
            counts,
            weights,
            formula.bounds(limit),
            np.array([formula.least, limit], np.int32),
            starts.astype(np.int32),
            samples,
            stride,
        )

    def _look(self, cells: Numbers, some: Numbers, first: int, samples: int) -> "PilotSamples":
        """Return what samples of the cells of some numbers show, from sample `first` on."""
        backend = self._backend
        one = np.ones(len(cells), np.int64)
        orbits = moved(backend, self._made(cells, one, one))
        each = np.tile(np.arange(first, first + samples), len(some))
        asked = np.stack([np.repeat(some, samples), each], axis=1).astype(np.int32)
        numbers = backend.to_device(asked)
        window = moved(backend, self._window)
        run = backend.compile(buddhabrot.make_look_body, *self._kernel[1:])
        found = np.zeros((-(-len(asked) // COLUMNS), COLUMNS, LOOKED), np.int64)
        sums = backend.to_device(np.zeros(4, np.int64))
        rows = AT_ONCE if backend.threads else max(len(found), 1)

        def work(top: int) -> None:
            out = found[top : top + rows]
            on_device, game = backend.to_device(out), self._game._replace(first=top * COLUMNS)
            run(on_device, orbits, numbers, game, window, sums)
            backend.to_host(on_device, out)

        run_pieces(backend, range(0, len(found), rows), work, self._progress)
        right, down, points, steps, drawn = found.reshape(-1, LOOKED)[: len(asked)].T
        levels, rows_of, columns_of = cells[asked[:, 0]].T
        up = LEVELS - levels
        noise = points + points.astype(np.float64) ** 2 / APART
        time = np.where(drawn > 0, steps + drawn, steps.clip(max=CYCLE)) + OPENING
        return PilotSamples(
            asked[:, 0].astype(np.int64),
            ((columns_of << BITS) + right) << up,
            ((rows_of << BITS) + down) << up,
            np.stack([points, noise, time, drawn], axis=1),
        )


class PilotSamples(NamedTuple):
    """What samples of a pilot show: an array of each."""

    cell: Numbers
    right: Numbers  # in parts of the whole plane of cells, 2**(BITS + LEVELS) of them
    down: Numbers
    facts: Numbers  # points in view, noise, time and steps drawn; shape (samples, 4)

    def joined(self, other: "PilotSamples") -> "PilotSamples":
        """Return these and others."""
        return PilotSamples._make(np.concatenate(pair) for pair in zip(self, other, strict=True))

    def first_means(self, side: int) -> Numbers:
        """Return the mean facts of the first cells, mixed with those around each, from far away."""
        count, sums = _sums(self.cell, self.facts, side * side)
        counts, means = count.reshape(side, side, 1), sums / count[:, None]
        levels = [(counts, means.reshape(side, side, -1))]
        while len(counts) > 1:
            counts, means = (_fours(each) for each in levels[-1])
            levels.append((counts, means / 4))
        found = levels.pop()[1]
        for counts, means in reversed(levels):
            prior = found.repeat(2, axis=0).repeat(2, axis=1)
            found = (counts * means + PRIOR * prior) / (counts + PRIOR)
        return found.reshape(side * side, -1)

    def means(self, cells: Numbers, prior: Numbers) -> Numbers:
        """Return the mean facts of the cells from one on; `prior`: of the cells around."""
        mine = self.cell >= cells[0]
        count, sums = _sums(self.cell[mine] - cells[0], self.facts[mine], len(cells))
        found: Numbers = (sums + PRIOR * prior) / (count + PRIOR)[:, None]
        return found

    def divided(self, cells: Numbers, taken: Numbers) -> "PilotSamples":
        """Return the same samples where cells were taken away, and their parts put at the end."""
        left = np.ones(len(cells), bool)
        left[taken] = False
        place = np.cumsum(left) - 1
        place[taken] = left.sum() + np.arange(len(taken))
        cell = place[self.cell]
        moved = np.flatnonzero(~left[self.cell])
        down = BITS + LEVELS - 1 - cells[self.cell[moved], 0]
        part = 2 * (self.down[moved] >> down & 1) + (self.right[moved] >> down & 1)
        cell[moved] += part * len(taken)
        return self._replace(cell=cell)


def _sums(cell: Numbers, facts: Numbers, cells: int) -> tuple[Numbers, Numbers]:
    """Return how many samples each cell has, and the sums of their facts."""
    sums = np.stack([np.bincount(cell, each, cells) for each in facts.T], axis=1)
    return np.bincount(cell, minlength=cells), sums


def _fours(grid: Numbers) -> Numbers:
    """Return the sums of the four elements in each square of a grid, always in the same order."""
    above, below = grid[::2], grid[1::2]
    sums: Numbers = (above[:, ::2] + above[:, 1::2]) + (below[:, ::2] + below[:, 1::2])
    return sums


def _share(cells: Numbers) -> Numbers:
    """Return the area of each cell, as a share of the whole."""
    return np.exp2(-2.0 * cells[:, 0])


def _density(found: Numbers) -> Numbers:
    """Return how many samples a unit of a cell's area deserves, in proportion."""
    density: Numbers = np.sqrt(found[:, 1] / found[:, 2])
    return density


def _divided(cells: Numbers) -> Numbers:
    level, row, column = cells.T
    parts = [
        np.stack([level + 1, 2 * row + down, 2 * column + right], axis=1)
        for down in (0, 1)
        for right in (0, 1)
    ]
    return np.concatenate(parts)
