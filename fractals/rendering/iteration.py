"""Samples iterated on a backend: their grid, what both methods share, and direct iteration."""

import copy
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Run, Work
from fractals.backends.devices import LIMITS, open_one_core
from fractals.kernels import escape
from fractals.kernels.escape import EscapeOptions
from fractals.kernels.layout import EscapeTile, SampleGrid
from fractals.kernels.orbit import first_size, state_size
from fractals.rendering.plan import Plan
from fractals.rendering.probing import Begun, Floats, Pairs, ViewProbe
from fractals.rendering.sampling import Index, Samples, coordinates, indices
from fractals.rendering.tiles import Tile

if TYPE_CHECKING:
    from fractals.deep.reference import Reference
    from fractals.rendering.resume_data import ResumeData


class TileGrid:
    """The grid of a plan's samples on a device: columns and rows, or explicit positions.

    With a step of 2 or more, the grid has only the sample in the middle of each step x step
    samples, and positions of tiles count these samples.
    """

    def __init__(self, backend: Backend, plan: Plan, step: int = 1) -> None:
        self.backend, self.plan, self.step = backend, plan, step
        if plan.explicit_positions:  # otherwise columns and rows, as of `coordinates`
            self.samples = Samples(plan)
            return
        columns, rows = (part.astype(backend.real) for part in coordinates(plan))
        if step > 1:
            columns, rows = self._thinned(columns, 0), self._thinned(rows, 1)
        self._take(columns, rows)

    def _take(self, columns: Floats, rows: Floats) -> None:
        self.columns, self.rows = columns, rows
        self._all_columns = self.backend.to_device(columns)
        self._all_rows = self.backend.to_device(rows) if self.backend.cuts else None

    def _thinned(self, positions: NDArray[Any], axis: int) -> NDArray[Any]:
        """Return the columns (axis 0) or rows (axis 1) of the samples that a step leaves."""
        count = -(-positions.shape[1] // self.step)
        return np.ascontiguousarray(positions[:, self._picked(np.arange(count), axis)])

    def at(self, columns: Floats, rows: Floats) -> "TileGrid":
        """Return a grid of other columns and rows of the same plane, as of `coordinates`."""
        other, real = copy.copy(self), self.backend.real
        other._take(columns.astype(real), rows.astype(real))
        return other

    def of_tile(self, tile: Tile) -> tuple[tuple[int, int], SampleGrid]:
        """Return the shape of a tile's samples, and their grid on the device."""
        n = self.plan.supersampling
        rows, columns = tile.window(n)
        shape = tile.height * n, tile.width * n
        if self.plan.explicit_positions:
            return shape, self._explicit(rows, columns, shape)
        across = self._all_columns  # strips are as wide as the picture
        if self._all_rows is not None:
            first, top = columns.start, rows.start
            return shape, SampleGrid(across.from_column(first), self._all_rows.from_column(top))
        if tile.width * n < self.columns.shape[1]:
            across = self.backend.to_device(np.ascontiguousarray(self.columns[:, columns]))
        down = self.backend.to_device(np.ascontiguousarray(self.rows[:, rows]))
        return shape, SampleGrid(across, down)

    def _explicit(self, rows: slice, columns: slice, shape: tuple[int, int]) -> SampleGrid:
        """Return the explicit positions of a window of samples, on the device."""
        i, j = indices((rows, columns))
        if self.step > 1:
            i, j = self._picked(i, 0), self._picked(j, 1)
        return self.of_samples(i, j, shape)

    def of_samples(self, i: Index, j: Index, shape: tuple[int, int]) -> SampleGrid:
        """Return the explicit positions of samples in columns `i` and rows `j`, on the device."""
        return self.samples.on_device(self.backend, i, j, shape)

    def _picked(self, index: Index, axis: int) -> Index:
        """Return the columns (axis 0) or rows (axis 1) of the grid that samples stand for."""
        last = self.plan.size[axis] * self.plan.supersampling - 1
        return np.minimum(self.step * index + self.step // 2, last)


Shape = tuple[int, int]  # of samples: rows and columns

FULL = 2**18  # samples that occupy a GPU: a launch of fewer takes as long
WITHOUT_END = 2.0**52  # steps of a launch that need not be bounded

FindOrbit = Callable[..., "Reference"]  # a function of `fractals.deep.orbit_cache`
Stop = Callable[[], bool]  # True: whoever asked for a tile no longer needs it
# ``use(raw, flags)`` takes the escape data of a tile, and copies `flags` with what it makes of them
Use = Callable[[EscapeTile, Pairs], None]


def never() -> bool:
    """Return False: the `Stop` of a tile that is always needed."""
    return False


class SampleSource(Protocol):
    """Computes raw numbers of tiles: ready when it is made, and changed by no tile."""

    max_iterations: int  # most steps; for a limit "auto" the limit that the probe found
    count_offset: float  # as of `fractals.io.escape_data.EscapePlanes`
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

    def iterate_for(self, tile: Tile, use: Use, stop: Stop = never) -> None:
        """Have the escape data of a tile's samples used.

        A GPU is then not waited for between the iteration and the use. So the flags, which are
        copied with the results, may say that samples need more launches. These samples count as
        inside, and `use` is called again when all are done.
        """

    def iterate_some(
        self, i: Index, j: Index, shape: tuple[int, int], stop: Stop = never
    ) -> EscapeTile:
        """Return the escape data, of this shape, of samples in columns `i` and rows `j`."""

    def work(self, plan: Plan, tiles: Sequence[Tile]) -> Work | None:
        """Return the work of compiled code that computes tiles, without colors.

        None: Python has more to do for each tile.
        """

    def check_counts(self) -> None:
        """Raise an `OptionError` for counts beyond the limit, which compiled code has met."""


@functools.cache
def _one_zero(dimensions: int, number: str) -> NDArray[Any]:
    return np.zeros((1,) * dimensions, number)


def unused_array(backend: Backend, dimensions: int) -> Any:
    """Return an array of one element on the device, in place of one that no program reads."""
    return backend.to_device(_one_zero(dimensions, np.dtype(backend.real).name), kept=True)


class GridMethod:
    """What both methods share: a grid of samples, a probe, and arrays for escape data."""

    stage = "iterate"
    run: Run  # the program that iterates

    @property
    def loop(self) -> str:
        """Return the loop of the program that iterates, and why it is not a faster one."""
        return self.run.label

    def __init__(self, backend: Backend, plan: Plan) -> None:
        self.backend, self.scene, self.plan = backend, plan.scene, plan
        self.prober = backend  # runs the probe
        self.derivative, self.statistics = plan.layers.derivative, plan.layers.statistics
        self.formula = plan.formula
        self.max_iterations = plan.max_iterations
        self.count_offset = 0.0
        self.reference, self.probing, self.note = 0.0, 0.0, ""
        self.grid = TileGrid(backend, plan)

    def sampled(self, plan: Plan, step: int = 1) -> Self:
        """Return a copy that iterates another grid of the same view.

        Programs, reference orbit, limit of iterations and count offset are shared, so nothing is
        computed again. The plan is the method's own with another supersampling.
        """
        other = copy.copy(self)
        other.plan, other.grid = plan, TileGrid(self.backend, plan, step)
        return other

    def at(self, columns: Floats, rows: Floats) -> Self:
        """Return a copy that iterates other columns and rows, as of `coordinates`."""
        other = copy.copy(self)
        other.grid = self.grid.at(columns, rows)
        return other

    def _steps_a_launch(self) -> int:
        """Return how many iterations of a tile one launch may take, where these are bounded."""
        at_once = self.plan.largest_tile
        if self.backend.kind in ("cuda", "opencl"):
            at_once = max(at_once, FULL)
        return max(1, self.backend.steps // at_once)

    def iterate(
        self, tile: Tile, max_iterations: int | None = None, stop: Stop = never
    ) -> EscapeTile:
        """Return the escape data of a tile's samples: see `SampleSource.iterate`."""
        limit = max_iterations or self.max_iterations
        return self._finished(self._begin(*self.grid.of_tile(tile), limit, stop))

    def iterate_for(self, tile: Tile, use: Use, stop: Stop = never) -> None:
        """Have the escape data of a tile's samples used: see `SampleSource.iterate_for`."""
        begun = self._begin(*self.grid.of_tile(tile), self.max_iterations, stop)
        use(begun.tile, begun.flags)
        if begun.finish():
            use(begun.tile, ())

    def iterate_some(
        self, i: Index, j: Index, shape: tuple[int, int], stop: Stop = never
    ) -> EscapeTile:
        """Return the escape data of listed samples: see `SampleSource.iterate_some`."""
        grid = self.grid.of_samples(i, j, shape)
        return self._finished(self._begin(shape, grid, self.max_iterations, stop))

    def work(self, plan: Plan, tiles: Sequence[Tile]) -> Work | None:
        """Return None: Python has more to do for each tile."""
        return None

    def check_counts(self) -> None:
        """Do nothing: iterated counts keep to the limit."""

    def _begin(
        self, shape: Shape, grid: SampleGrid, last: int, stop: Stop = never, probing: bool = False
    ) -> Begun:
        """Begin to iterate samples, `last` steps; `probing`: on the prober, without statistics."""
        raise NotImplementedError

    def _finished(self, begun: Begun) -> EscapeTile:
        """Return the escape data of samples when they are iterated."""
        for flags in begun.flags:
            self.backend.to_host(*flags)
        begun.finish()
        return begun.tile

    def _probe(self) -> ViewProbe:
        """Return a probe of the view; it is not kept, because it refers to this object."""
        begin = functools.partial(self._begin, probing=True)
        return ViewProbe(self.prober, self.plan, begin, self.backend.threads)

    def _outputs(self, shape: tuple[int, int], backend: Backend) -> EscapeTile:
        """Return uninitialised arrays of this shape on the device."""
        x, y = (backend.empty(shape, backend.real) for _ in range(2))
        dx = dy = unused_array(backend, 2)
        if self.derivative:
            dx, dy = (backend.empty(shape, backend.real) for _ in range(2))
        statistics = unused_array(backend, 3)
        if planes := self.statistics.planes:
            statistics = backend.empty((planes, *shape), backend.real)
        return EscapeTile(backend.empty(shape, np.int32), x, y, dx, dy, statistics)


FEW = 1500  # a limit to which plain Python iterates a probe in a second; most wide views have it
# Users write larger limits to mean "no limit". A probe must not follow them: it would take minutes.
LONG = 2**22


class Direct(GridMethod):
    """Iterates each sample by itself."""

    bodies: Any = escape  # the module that makes the bodies of programs
    part: int  # steps of one launch; 0: a launch takes all steps

    def __init__(self, backend: Backend, plan: Plan, known: "ResumeData | None" = None) -> None:
        super().__init__(backend, plan)
        if known:
            self.max_iterations, self.count_offset = known.max_iterations, known.count_offset
        self._compile()
        if not known and (plan.probed or plan.depth):
            self._look()

    def _look(self) -> None:
        """Set the limit of iterations and the count offset from a probe of the view."""
        plan = self.plan
        if self.backend.kind in ("python", "simulator"):
            self._look_where_slow()
            return
        probe, before = self._probe(), self.max_iterations
        if not self.run.called:
            probe.compile()
        if plan.probed:
            self.max_iterations = probe.shallow_limit()
        if plan.depth:
            self.count_offset = self._found_offset(probe)
        self.probing = probe.seconds
        if self.part or self.max_iterations != before:
            self._compile()

    def _found_offset(self, probe: ViewProbe) -> float:
        """Return the count offset of a view that has a depth."""
        limit = self.max_iterations
        if limit > LONG and not self.plan.probed:
            limit = min(limit, probe.shallow_limit())
        return probe.count_offset(limit)

    def _look_where_slow(self) -> None:
        """Set limit and offset on a device on which a probe would take minutes.

        The view is probed on the CPU, whose counts are the same. Plain Python probes a wide view
        itself, because a short probe takes less time than compiling a program.
        """
        plan = self.plan
        if self.backend.kind == "python" and not plan.depth and plan.least_limit <= FEW:
            probe = self._probe()
            if found := probe.limit_under(plan.least_limit):
                self.max_iterations, self.probing = found, probe.seconds
                return
        cpu = open_one_core(self.plan.number)
        # The probe has the block length of pictures on the CPU, so both need one program.
        steps = LIMITS["cpu"].steps_per_check
        other = type(self)(cpu, replace(self.plan, steps_per_check=steps))
        self.max_iterations, self.count_offset = other.max_iterations, other.count_offset
        self.probing = other.probing
        self._compile()

    def _compile(self, limit: int = 0) -> None:
        """Compile the program, and bring its inputs to the device.

        `limit`: the steps of a probe that goes beyond the picture's limit.
        """
        backend, plan = self.backend, self.plan
        options = EscapeOptions(
            formula=self.formula.compiled(),
            julia=self.scene.julia is not None,
            derivative=self.derivative,
            interior_shortcuts=plan.interior_shortcuts,
            steps_per_check=plan.steps_per_check,
            check_every_step=plan.check_every_step,
            statistics=self.statistics.compiled(),
            explicit_positions=plan.explicit_positions,
        )
        self.part, body, last = 0, self.bodies.make_body, max(limit, self.max_iterations)
        if backend.steps and (most := self._steps_a_launch()) < last:
            self.part, body = most, self.bodies.make_part_body
        self.run = backend.compile(body, options)
        self.point = backend.to_device(np.array(self._point(), backend.real))

    def work(self, plan: Plan, tiles: Sequence[Tile]) -> Work | None:
        """Return the work of iterating tiles, where samples are in columns and rows."""
        if self.part or plan.explicit_positions or plan.doubled:
            return None
        return Work(
            tiles=np.array(tiles, np.int64),
            n=plan.supersampling,
            derivative=self.derivative,
            planes=self.statistics.planes,
            iterate=self.run,
            inputs=(
                SampleGrid(self.grid.columns, self.grid.rows),
                self.point,
                np.int32(self.max_iterations),
            ),
        )

    def _point(self) -> list[float]:
        """Return c of a Julia set, the square of the escape radius, options, constants."""
        x, y = (float(Decimal(text)) for text in self.scene.julia or ("0", "0"))
        numbers = *self.formula.options, *self.statistics.constants()
        return [x, y, self.scene.iteration.escape_radius**2, *numbers]

    def _kept(self) -> int:
        """Return how many numbers of an orbit under way are kept between launches."""
        return int(state_size(self.formula, self.derivative) - first_size(self.derivative))

    def _begin(
        self, shape: Shape, grid: SampleGrid, last: int, stop: Stop = never, probing: bool = False
    ) -> Begun:
        backend = self.backend
        if probing and backend.steps and not self.part and last > self.max_iterations:
            self._compile(last)
        tile = self._outputs(shape, backend)
        if not self.part:
            self.run(tile, grid, self.point, np.int32(last))
        else:
            self._run_parts(tile, shape, grid, last, stop)
        return Begun(tile)

    def _run_parts(
        self, tile: EscapeTile, shape: tuple[int, int], grid: SampleGrid, last: int, stop: Stop
    ) -> None:
        """Iterate samples in several launches, between which the work may end."""
        backend = self.backend
        more = self._kept()
        rest = backend.empty((more, *shape), backend.real) if more else unused_array(backend, 3)
        for begin in range(0, last, self.part):
            if stop():
                break
            until = min(last, begin + self.part)
            steps = np.int32(begin), np.int32(until), np.int32(last)
            self.run(tile, rest, grid, self.point, *steps)
            backend.synchronize()
