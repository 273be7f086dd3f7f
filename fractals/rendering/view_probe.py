"""ViewProbe: iterates a few samples of a view, for the limit of iterations and the count offset.

`fractals.rendering.probe` computes both from the counts.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.kernels.layout import EscapeTile
from fractals.rendering.grid import explicit_positions
from fractals.rendering.plan import Plan
from fractals.rendering.probe import (
    LIMIT_SIZE,
    PROBE_SIZE,
    SCALES,
    Counts,
    Floats,
    count_offset,
    is_settled,
    limit_from,
    lowest_and_median,
    shallow_limit,
    smooth_counts,
)
from fractals.rendering.sampling import Samples, coordinates, indices
from fractals.scene.model import MAX_ITERATIONS
from fractals.threads import share

Positions = NDArray[np.float64]


@dataclass
class ViewProbe:
    """Iterates some samples of a plan's view: PROBE_SIZE, or LIMIT_SIZE.

    Attributes
    ----------
    backend : Backend
        Where the samples are iterated.
    plan : Plan
    iterate : callable
        ``iterate(shape, columns, rows, max_iterations)`` returns an `EscapeTile` on the device.
    threads : int
        Probes of several widths at once; 0: one after the other, in the calling thread.
    """

    backend: Backend
    plan: Plan
    iterate: Callable[..., EscapeTile]
    threads: int = 0
    seconds: float = field(default=0.0, init=False)  # that iterating took, without compiling
    # The smooth counts of the view, where all samples escaped: the limit does not change these.
    _escaped: Floats | None = field(default=None, init=False)

    def compile(self) -> None:
        """Compile the program, which is done when it is first called."""
        self._iterated(1)
        self.backend.synchronize()

    def counts(self, limit: int) -> tuple[Counts, Floats]:
        """Return all counts, and the smooth counts of the samples that escaped."""
        with self._timed():
            counts, (smooth,) = self._results([self._iterated(limit)], limit)
        return counts[0], smooth

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        """Add the time of what is done to `seconds`."""
        begun = perf_counter()
        yield
        self.seconds += perf_counter() - begun

    def _iterated(
        self, limit: int, scale: Fraction = Fraction(1), size: tuple[int, int] = PROBE_SIZE
    ) -> EscapeTile:
        """Return the escape data, on the device; `scale` multiplies the width of the view."""
        backend = self.backend
        if self.plan.explicit_positions:
            places = indices((slice(0, size[1]), slice(0, size[0])))
            samples = Samples(self._sized(scale, size), size)
            positions = explicit_positions(backend, samples, *places, size[::-1])
        else:
            grid = (part.astype(backend.real) for part in self._grid(scale, size))
            positions = tuple(map(backend.to_device, grid))
        return self.iterate(size[::-1], *positions, limit)

    def _results(self, tiles: Sequence[EscapeTile], limit: int) -> tuple[Counts, list[Floats]]:
        """Return the counts of each tile, and the smooth counts of its samples that escaped."""
        backend, shape = self.backend, (len(tiles), *PROBE_SIZE[::-1])
        counts = np.empty(shape, np.int32)
        x, y = (np.empty(shape, backend.real) for _ in range(2))
        for tile, *parts in zip(tiles, counts, x, y, strict=True):
            for on_device, part in zip((tile.count, tile.x, tile.y), parts, strict=True):
                backend.to_host(on_device, part)
        escaped = counts < limit
        z = x[escaped].astype(np.float64), y[escaped].astype(np.float64)
        radius = self.plan.scene.iteration.escape_radius
        smooth = smooth_counts(counts[escaped], *z, self.plan.formula, radius)
        ends = np.cumsum(np.count_nonzero(escaped, axis=(1, 2)))
        return counts, np.split(smooth, ends[:-1])

    def _sized(self, scale: Fraction, size: tuple[int, int]) -> Plan:
        """Return the plan of the samples, in a view of `scale` times the width."""
        plan = replace(self.plan, width=scale * self.plan.width)
        if plan.view.projection == "plane":
            plan = replace(plan, size=size, supersampling=1, antialias="grid")
        return plan

    def _grid(self, scale: Fraction, size: tuple[int, int]) -> tuple[Positions, Positions]:
        """Return columns and rows as of `coordinates`; `scale` is a power of two."""
        if not self.plan.deep or size != PROBE_SIZE:
            return coordinates(self._sized(scale, size))
        # They are distances from the center, which a power of two scales without rounding.
        columns, rows = self._own_grid
        return float(scale) * columns, float(scale) * rows

    @cached_property
    def _own_grid(self) -> tuple[Positions, Positions]:
        return coordinates(self._sized(Fraction(1), PROBE_SIZE))

    def shallow_limit(self, prepare: Callable[[int], None] | None = None) -> int:
        """Return a limit of iterations beyond which few more samples escape, of a view not deep.

        It is raised from that by the zoom; ``prepare(limit)`` is called before each higher one is
        probed.
        """
        limit = self.plan.least_limit
        while (found := self.limit_under(limit)) is None:
            limit *= 4
            if prepare:
                prepare(limit)
        return found

    def limit_under(self, limit: int) -> int | None:
        """Return what `shallow_limit` does, if samples iterated up to `limit` tell it."""
        counts = np.empty(LIMIT_SIZE[::-1], np.int32)
        with self._timed():
            self.backend.to_host(self._iterated(limit, size=LIMIT_SIZE).count, counts)
        return shallow_limit(counts, limit, self.plan.least_limit)

    def settled_limit(
        self, limit: int, prepare: Callable[[int], None] | None = None, patience: int = 0
    ) -> int:
        """Return what `shallow_limit` does, for a deep view; it is raised from `limit`.

        While no sample escapes, it is raised to `patience` at least.
        """
        before = None  # samples that had not escaped at the limit before
        while True:
            counts, smooth = self.counts(limit)
            inside = int((counts == limit).sum())
            self._escaped = None if inside else smooth
            settled = is_settled(before, inside, counts.size)
            settled = settled and (inside < counts.size or limit >= patience)
            if inside == 0 or settled or 4 * limit > MAX_ITERATIONS:
                return limit_from(counts, limit, self.plan.least_limit)
            before, limit = inside, 4 * limit
            if prepare:
                prepare(limit)

    def count_offset(self, limit: int) -> float:
        """Return the count offset of the view, from probes of several widths."""
        plan = self.plan
        if not plan.depth:
            return 0.0
        own = self._escaped
        if own is None:
            _, own = self.counts(limit)
        # Only the iteration is done in threads, which would wait for each other in the rest.
        tiles: dict[int, EscapeTile] = {}

        def probe(power: int) -> None:
            tiles[power] = self._iterated(limit, Fraction(2) ** power)

        with self._timed():
            share([power for power in SCALES if power], probe, self.threads)
            _, smooth = self._results(list(tiles.values()), limit)
        found = {0: own, **dict(zip(tiles, smooth, strict=True))}
        return count_offset({k: lowest_and_median(part) for k, part in found.items()}, plan.depth)
