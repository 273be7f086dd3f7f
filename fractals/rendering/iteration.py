"""What the methods that compute escape data on a backend share."""

import copy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np

from fractals.backends.base import Backend, Run
from fractals.deep.reference import Reference
from fractals.kernels.layout import EscapeTile
from fractals.rendering.plan import Plan
from fractals.rendering.probe import (
    PROBE_SIZE,
    Counts,
    Floats,
    count_offset,
    is_settled,
    limit_from,
    smooth_counts,
)
from fractals.rendering.sampling import Index, Samples, coordinates, indices
from fractals.rendering.tiles import Tile
from fractals.scene.layers import Layers
from fractals.scene.model import MAX_ITERATIONS, Scene

FULL = 2**18  # samples that occupy a GPU: a launch of fewer takes as long
WITHOUT_END = 2.0**52  # steps of a launch that need not be bounded

FindOrbit = Callable[..., Reference]  # one of those in `fractals.deep.orbit_cache`
Stop = Callable[[], bool]  # True: whoever asked for a tile no longer needs it


def never() -> bool:
    """Return False: the `Stop` of a tile that is always needed."""
    return False


class Method(Protocol):
    """Computes raw numbers of tiles: ready when it is made, and changed by no tile."""

    max_iterations: int  # most steps; where the plan is probed, those that were found
    count_offset: float  # as of `fractals.io.escape_data.EscapeData`
    reference: float  # seconds that the reference orbit took
    note: str  # one line for the user, or nothing
    stage: str  # the stage to which the time of `iterate` is added, "iterate" or "copy"

    @property
    def loop(self) -> str:
        """Return the loop of the program that iterates (`Run.label`); "" where none does."""

    def iterate(
        self, tile: Tile, max_iterations: int | None = None, stop: Stop = never
    ) -> EscapeTile:
        """Return count, the parts of z and dz, and what was watched, of a tile's samples.

        `stop` is called between launches. After True the call returns early, with numbers that are
        not to be used.
        """

    def iterate_some(
        self, i: Index, j: Index, shape: tuple[int, int], stop: Stop = never
    ) -> EscapeTile:
        """Return the escape data of samples in columns `i` and rows `j`.

        Parameters
        ----------
        i, j : ndarray of int
            Of shapes that NumPy broadcasts.
        shape : tuple of int
            Shape of the arrays that are returned.
        stop : callable
            As of `iterate`.
        """


class GridMethod:
    """What both methods share: positions of samples, and arrays for their escape data."""

    stage = "iterate"
    step = 1  # samples of the grid from one sample that is iterated to the next
    run: Run  # the program that iterates

    @property
    def loop(self) -> str:
        """Return the loop of the program that iterates, and why it is not a faster one."""
        return self.run.label

    def __init__(self, backend: Backend, scene: Scene, plan: Plan, layers: Layers) -> None:
        self.backend, self.scene, self.plan = backend, scene, plan
        self.prober = backend  # runs the probe
        self.derivative, self.statistics = layers.derivative, layers.statistics
        self.formula = plan.formula
        self.max_iterations = plan.max_iterations
        self.count_offset = 0.0
        self.reference, self.note = 0.0, ""
        self.nothing = backend.to_device(np.zeros((1, 1), backend.real))
        self.no_planes = backend.to_device(np.zeros((1, 1, 1), backend.real))
        self._place(plan)

    def sampled(self, plan: Plan, step: int = 1) -> Self:
        """Return a copy that iterates another grid of the same view.

        Programs, reference orbit, limit of iterations and count offset are shared, so nothing is
        computed again.

        Parameters
        ----------
        plan : Plan
            The method's own plan with another supersampling.
        step : int
            From 2 on, only the sample in the middle of each step x step samples is iterated; tiles
            then count these.
        """
        other = copy.copy(self)
        other.plan, other.step = plan, step
        other._place(plan)
        if step > 1 and not plan.explicit_positions:
            other.columns, other.rows = (
                np.ascontiguousarray(
                    part[:, other._picked(np.arange(-(-part.shape[1] // step)), k)]
                )
                for k, part in enumerate((other.columns, other.rows))
            )
            other.all_columns = self.backend.to_device(other.columns)
        return other

    def _picked(self, index: Index, axis: int) -> Index:
        """Return the columns (axis 0) or rows (axis 1) of the grid that samples stand for."""
        last = self.plan.size[axis] * self.plan.supersampling - 1
        return np.minimum(self.step * index + self.step // 2, last)

    def _steps_a_launch(self) -> int:
        """Return how many iterations of a tile one launch may take."""
        if not self.backend.steps:
            return MAX_ITERATIONS
        at_once = self.plan.largest_tile
        if self.backend.kind == "cuda":
            at_once = max(at_once, FULL)
        return max(1, self.backend.steps // at_once)

    def _place(self, plan: Plan) -> None:
        if plan.explicit_positions:
            self.samples = Samples(plan)
            return
        self.columns, self.rows = (part.astype(self.backend.real) for part in coordinates(plan))
        self.all_columns = self.backend.to_device(self.columns)

    def _inputs(self, tile: Tile, n: int) -> tuple[tuple[int, int], Any, Any]:
        """Return shape, columns and rows of a tile's samples, on the device."""
        rows, columns = tile.window(n)
        shape = tile.height * n, tile.width * n
        if self.plan.explicit_positions:
            i, j = indices((rows, columns))
            if self.step > 1:
                i, j = self._picked(i, 0), self._picked(j, 1)
            return shape, *self._listed(self.samples, i, j, shape)
        across = self.all_columns  # strips are as wide as the picture
        if tile.width * n < self.columns.shape[1]:
            across = self.backend.to_device(np.ascontiguousarray(self.columns[:, columns]))
        down = self.backend.to_device(np.ascontiguousarray(self.rows[:, rows]))
        return shape, across, down

    def _listed(
        self,
        samples: Samples,
        i: Index,
        j: Index,
        shape: tuple[int, int],
        backend: Backend | None = None,
    ) -> tuple[Any, Any]:
        """Return explicit positions in place of columns and rows, on the device."""
        backend = backend or self.backend
        places = samples.at(i, j).astype(backend.real)
        empty = np.zeros((2, shape[0]), backend.real)
        return backend.to_device(places), backend.to_device(empty)

    def iterate(
        self, tile: Tile, max_iterations: int | None = None, stop: Stop = never
    ) -> EscapeTile:
        """Return the escape data of a tile's samples: see `Method.iterate`."""
        shape, across, down = self._inputs(tile, self.plan.supersampling)
        return self._iterate(shape, across, down, max_iterations or self.max_iterations, stop)

    def iterate_some(
        self, i: Index, j: Index, shape: tuple[int, int], stop: Stop = never
    ) -> EscapeTile:
        """Return the escape data of listed samples: see `Method.iterate_some`."""
        across, down = self._listed(self.samples, i, j, shape)
        return self._iterate(shape, across, down, self.max_iterations, stop)

    def _iterate(
        self,
        shape: tuple[int, int],
        across: Any,
        down: Any,
        max_iterations: int,
        stop: Stop = never,
        probing: bool = False,
    ) -> EscapeTile:
        """Return the escape data of samples; `probing`: on the prober, without statistics."""
        raise NotImplementedError

    def _probe(self, limit: int, scale: Fraction = Fraction(1)) -> tuple[Counts, Floats]:
        """Return counts at PROBE_SIZE, and the smooth counts of the samples that escaped.

        `scale` multiplies the width of the view.
        """
        backend, plan = self.prober, replace(self.plan, width=scale * self.plan.width)
        counts = np.empty(PROBE_SIZE[::-1], np.int32)
        if plan.view.projection == "plane":
            plan = replace(plan, size=PROBE_SIZE, supersampling=1, antialias="grid")
            across, down = (
                backend.to_device(part.astype(backend.real)) for part in coordinates(plan)
            )
        if self.plan.explicit_positions:
            places = indices((slice(0, PROBE_SIZE[1]), slice(0, PROBE_SIZE[0])))
            across, down = self._listed(Samples(plan, PROBE_SIZE), *places, counts.shape, backend)
        raw = self._iterate(counts.shape, across, down, limit, never, probing=True)
        x, y = (np.empty(counts.shape, backend.real) for _ in range(2))
        for on_device, part in ((raw.count, counts), (raw.x, x), (raw.y, y)):
            backend.to_host(on_device, part)
        escaped = counts < limit
        z = x[escaped].astype(np.float64), y[escaped].astype(np.float64)
        radius = self.scene.iteration.escape_radius
        return counts, smooth_counts(counts[escaped], *z, self.formula, radius)

    def _settled_limit(self, limit: int, prepare: Callable[[int], None] | None = None) -> int:
        """Return a limit of iterations beyond which few more samples of the probe escape.

        It is raised from `limit`; ``prepare(limit)`` is called before each higher one is probed.
        """
        before = None  # samples that had not escaped at the limit before
        while True:
            counts, _ = self._probe(limit)
            inside = int((counts == limit).sum())
            settled = is_settled(before, inside, counts.size)
            if inside == 0 or settled or 4 * limit > MAX_ITERATIONS:
                return limit_from(counts, limit, self.plan.least_limit)
            before, limit = inside, 4 * limit
            if prepare:
                prepare(limit)

    def _offset(self, limit: int) -> float:
        """Return the count offset of the view, from probes of several widths."""
        if not self.plan.depth:
            return 0.0
        return count_offset(lambda scale: self._probe(limit, scale)[1], self.plan.depth)

    def _outputs(self, shape: tuple[int, int], backend: Backend) -> EscapeTile:
        """Return uninitialised arrays of this shape on the device."""
        x, y = (backend.empty(shape, backend.real) for _ in range(2))
        nothing, no_planes = self.nothing, self.no_planes
        if backend is not self.backend:
            nothing, no_planes = (backend.to_device(np.zeros((1,) * k)) for k in (2, 3))
        dx, dy = nothing, nothing
        if self.derivative:
            dx, dy = (backend.empty(shape, backend.real) for _ in range(2))
        planes = self.statistics.planes
        statistics = backend.empty((planes, *shape), backend.real) if planes else no_planes
        return EscapeTile(backend.empty(shape, np.int32), x, y, dx, dy, statistics)
