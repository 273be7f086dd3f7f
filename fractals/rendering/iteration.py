"""What the methods that compute escape data on a backend share."""

import copy
import functools
from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np

from fractals.backends.base import Backend, Run
from fractals.deep.reference import Reference
from fractals.kernels.layout import EscapeTile
from fractals.rendering.grid import TileGrid
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import Index
from fractals.rendering.tiles import Tile
from fractals.rendering.view_probe import ViewProbe
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
    probing: float  # seconds that probing the view took
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
    """What both methods share: a grid of samples, a probe, and arrays for escape data."""

    stage = "iterate"
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
        self.reference, self.probing, self.note = 0.0, 0.0, ""
        self.nothing = backend.to_device(np.zeros((1, 1), backend.real))
        self.no_planes = backend.to_device(np.zeros((1, 1, 1), backend.real))
        self.grid = TileGrid(backend, plan)

    def sampled(self, plan: Plan, step: int = 1) -> Self:
        """Return a copy that iterates another grid of the same view.

        Programs, reference orbit, limit of iterations and count offset are shared, so nothing is
        computed again.

        Parameters
        ----------
        plan : Plan
            The method's own plan with another supersampling.
        step : int
            As of `TileGrid`.
        """
        other = copy.copy(self)
        other.plan, other.grid = plan, TileGrid(self.backend, plan, step)
        return other

    def _steps_a_launch(self) -> int:
        """Return how many iterations of a tile one launch may take."""
        if not self.backend.steps:
            return MAX_ITERATIONS
        at_once = self.plan.largest_tile
        if self.backend.kind == "cuda":
            at_once = max(at_once, FULL)
        return max(1, self.backend.steps // at_once)

    def iterate(
        self, tile: Tile, max_iterations: int | None = None, stop: Stop = never
    ) -> EscapeTile:
        """Return the escape data of a tile's samples: see `Method.iterate`."""
        shape, across, down = self.grid.of_tile(tile)
        return self._iterate(shape, across, down, max_iterations or self.max_iterations, stop)

    def iterate_some(
        self, i: Index, j: Index, shape: tuple[int, int], stop: Stop = never
    ) -> EscapeTile:
        """Return the escape data of listed samples: see `Method.iterate_some`."""
        across, down = self.grid.of_samples(i, j, shape)
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

    def _probe(self) -> ViewProbe:
        """Return a probe of the view; it is not kept, because it refers to this object."""
        iterate = functools.partial(self._iterate, probing=True)
        return ViewProbe(self.prober, self.plan, iterate, self._threads)

    @property
    def _threads(self) -> int:
        """Return how many threads may share work before the first tile; 0: the calling one."""
        return self.backend.threads if self.backend.threads > 1 else 0

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
