"""Samples iterated on a backend: what is found first, their grid, and direct iteration."""

import contextlib
import copy
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Run
from fractals.backends.devices import limits_of, open_one_core
from fractals.kernels import escape
from fractals.kernels.escape import EscapeOptions
from fractals.kernels.formula import Formula
from fractals.kernels.layout import EscapeTile, SampleGrid
from fractals.kernels.orbit import first_size, state_size
from fractals.rendering.plan import Plan, Tile
from fractals.rendering.sampling import Index, Samples, coordinates, indices
from fractals.scene.model import MAX_ITERATIONS
from fractals.threads import apart, share

if TYPE_CHECKING:
    from fractals.deep.reference import Reference
    from fractals.rendering.resume_data import ResumeData

# What is found for a scene from a few samples of its view: the limit of iterations, the offset.
#
# Both depend on the view alone. The size of the picture, its supersampling, the device and the
# method do not change them, so a small and a large picture of a scene have equal colors. The offset
# is continuous along a zoom, so that the colors of a film do not jump.


Counts = NDArray[np.int32]
Floats = NDArray[np.float64]

# Samples across and down that are iterated before the picture: of a view's probe, and of the probe
# that finds the limit of a view that is not deep.
PROBE_SIZE = (32, 18)
LIMIT_SIZE = (48, 27)
# Share of a deep view's samples: the limit is high enough if fewer escape by one 4 times as high.
CHANGED = 1 / 256
# Share of the samples of other views. On the border about as many samples escape in 2n to 4n steps
# as later, or fewer. So a limit of 4 times what this share exceeds leaves a quarter of it inside.
LATE = 1 / 200
# Share of the samples. If at most this share escapes beyond the limit that the zoom suggests, the
# plan keeps that limit.
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
# Steps of a probe, by its limit, from which another thread takes them: the main one hears Ctrl-C.
MANY_STEPS = 2**24
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
    start, scale = formula.fraction_constants(radius)
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

    `found` has for each of `SCALES` what `lowest_and_median` returns for the samples that escaped
    in a view of that width. At a depth of 0 nothing is subtracted, at 1 somewhat less than the
    lowest counts. Between them, the logarithm of what remains of the median is linear in the depth,
    so a zoom changes colors at an even rate.
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


class TileGrid:
    """The grid of a plan's samples on a device: columns and rows, or explicit positions.

    From a step of 2 on, the grid has only the sample in the middle of each step x step samples;
    tiles then count these.
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

    def of_tile(self, tile: Tile) -> tuple[tuple[int, int], Any, Any]:
        """Return shape, columns and rows of a tile's samples, on the device."""
        n = self.plan.supersampling
        rows, columns = tile.window(n)
        shape = tile.height * n, tile.width * n
        if self.plan.explicit_positions:
            return shape, *self._explicit(rows, columns, shape)
        across = self._all_columns  # strips are as wide as the picture
        if self._all_rows is not None:
            across, down = across.from_column(columns.start), self._all_rows.from_column(rows.start)
            return shape, across, down
        if tile.width * n < self.columns.shape[1]:
            across = self.backend.to_device(np.ascontiguousarray(self.columns[:, columns]))
        down = self.backend.to_device(np.ascontiguousarray(self.rows[:, rows]))
        return shape, across, down

    def _explicit(self, rows: slice, columns: slice, shape: tuple[int, int]) -> tuple[Any, Any]:
        """Return the explicit positions of a window of samples, on the device."""
        i, j = indices((rows, columns))
        if self.step > 1:
            i, j = self._picked(i, 0), self._picked(j, 1)
        return self.of_samples(i, j, shape)

    def of_samples(self, i: Index, j: Index, shape: tuple[int, int]) -> tuple[Any, Any]:
        """Return the explicit positions of samples in columns `i` and rows `j`, on the device."""
        return self.samples.on_device(self.backend, i, j, shape)

    def _picked(self, index: Index, axis: int) -> Index:
        """Return the columns (axis 0) or rows (axis 1) of the grid that samples stand for."""
        last = self.plan.size[axis] * self.plan.supersampling - 1
        return np.minimum(self.step * index + self.step // 2, last)


Pairs = Sequence[tuple[Any, NDArray[Any]]]  # arrays on the device, and where they are copied to


class Begun:
    """Samples whose first launch is made: a GPU may not have done it yet.

    With `tile`, the escape data on the device, the caller copies `flags`, and then calls `finish`.
    """

    def __init__(
        self,
        backend: Backend,
        tile: EscapeTile,
        launches: Iterator[tuple[Any, NDArray[Any]]] | None = None,
    ) -> None:
        """Make the first of `launches`; each yields its flags, and reads them when it goes on."""
        self.tile, self._backend, self._launches = tile, backend, launches or iter(())
        self.flags: Pairs = list(itertools.islice(self._launches, 1))

    def finish(self) -> bool:
        """Make the launches that are left, and tell whether there were any.

        Then what was copied with the flags is copied once more.
        """
        again = False
        for flags in self._launches:
            self._backend.to_host(*flags)
            again = True
        return again


Positions = NDArray[np.float64]


@dataclass
class ViewProbe:
    """Iterates some samples of a plan's view: PROBE_SIZE, or LIMIT_SIZE."""

    backend: Backend  # where the samples are iterated
    plan: Plan
    # ``begin(shape, columns, rows, max_iterations)`` returns samples that are `Begun`
    begin: Callable[..., Begun]
    # Probes of several widths at once; 0: one after the other, in the calling thread
    threads: int = 0
    seconds: float = field(default=0.0, init=False)  # that iterating took, without compiling
    # The smooth counts of the view, where all samples escaped: the limit does not change these.
    _escaped: Floats | None = field(default=None, init=False)
    # What `_grid` has returned: a limit that is raised is probed at the same samples.
    _grids: dict[tuple[Fraction, tuple[int, int]], tuple[Positions, Positions]] = field(
        default_factory=dict, init=False
    )

    def compile(self) -> None:
        """Compile the program, which is done when it is first called: for one sample."""
        self._begun(1, size=(1, 1))

    def counts(self, limit: int) -> tuple[Counts, Floats]:
        """Return all counts, and the smooth counts of the samples that escaped."""
        with self._timed():
            counts, (smooth,) = self._results([self._begun(limit)], limit)
        return counts[0], smooth

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        """Add the time of what is done to `seconds`."""
        begun = perf_counter()
        yield
        self.seconds += perf_counter() - begun

    def _begun(
        self, limit: int, scale: Fraction = Fraction(1), size: tuple[int, int] = PROBE_SIZE
    ) -> Begun:
        """Return samples that are iterated; `scale` multiplies the width of the view."""
        backend = self.backend
        if self.plan.explicit_positions:
            places = indices((slice(0, size[1]), slice(0, size[0])))
            samples = Samples(self._sized(scale, size), size)
            positions = samples.on_device(backend, *places, size[::-1])
        else:
            grid = (part.astype(backend.real) for part in self._grid(scale, size))
            positions = tuple(map(backend.to_device, grid))
        begin = functools.partial(self.begin, size[::-1], *positions, limit)
        long = backend.kind == "cpu" and limit * math.prod(size) > MANY_STEPS
        return apart(begin) if long else begin()

    def _copy(self, begun: Sequence[Begun], pairs: Pairs) -> None:
        """Copy arrays of samples to the host, with one wait where one launch has iterated all."""
        self.backend.all_to_host([*pairs, *(flags for each in begun for flags in each.flags)])
        if sum(each.finish() for each in begun):
            self.backend.all_to_host(pairs)

    def _results(self, begun: Sequence[Begun], limit: int) -> tuple[Counts, list[Floats]]:
        """Return the counts of each tile, and the smooth counts of its samples that escaped."""
        shape = len(begun), *PROBE_SIZE[::-1]
        counts = np.empty(shape, np.int32)
        x, y = (np.empty(shape, self.backend.real) for _ in range(2))
        found = (array for each in begun for array in (each.tile.count, each.tile.x, each.tile.y))
        into = itertools.chain(*zip(counts, x, y, strict=True))
        self._copy(begun, list(zip(found, into, strict=True)))
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
        if self.plan.deep and size == PROBE_SIZE and scale != 1:
            # They are distances from the center, which a power of two scales without rounding.
            columns, rows = self._grid(Fraction(1), size)
            return float(scale) * columns, float(scale) * rows
        if (scale, size) not in self._grids:
            self._grids[scale, size] = coordinates(self._sized(scale, size))
        return self._grids[scale, size]

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
            begun = self._begun(limit, size=LIMIT_SIZE)
            self._copy([begun], [(begun.tile.count, counts)])
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
        """Return the count offset of a view that has a depth, from probes of several widths."""
        own = self._escaped
        # Only the iteration is done in threads, which would wait for each other in the rest.
        begun: dict[int, Begun] = {}

        def probe(power: int) -> None:
            begun[power] = self._begun(limit, Fraction(2) ** power)

        with self._timed():
            share([power for power in SCALES if power or own is None], probe, self.threads)
            _, smooth = self._results(list(begun.values()), limit)
        found = dict(zip(begun, smooth, strict=True))
        if own is not None:
            found[0] = own
        return count_offset(
            {k: lowest_and_median(part) for k, part in found.items()}, self.plan.depth
        )


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
        self.nothing, self.no_planes = (unused_array(backend, k) for k in (2, 3))
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
        """Return how many iterations of a tile one launch may take."""
        if not self.backend.steps:
            return MAX_ITERATIONS
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
        across, down = self.grid.of_samples(i, j, shape)
        return self._finished(self._begin(shape, across, down, self.max_iterations, stop))

    def _begin(
        self,
        shape: tuple[int, int],
        across: Any,
        down: Any,
        max_iterations: int,
        stop: Stop = never,
        probing: bool = False,
    ) -> Begun:
        """Begin to iterate samples; `probing`: on the prober, without statistics."""
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
        return ViewProbe(self.prober, self.plan, begin, self._threads)

    @property
    def _threads(self) -> int:
        """Return how many threads may share work before the first tile; 0: the calling one."""
        return self.backend.threads if self.backend.threads > 1 else 0

    def _outputs(self, shape: tuple[int, int], backend: Backend) -> EscapeTile:
        """Return uninitialised arrays of this shape on the device."""
        x, y = (backend.empty(shape, backend.real) for _ in range(2))
        nothing, no_planes = self.nothing, self.no_planes
        if backend is not self.backend:
            nothing, no_planes = (unused_array(backend, k) for k in (2, 3))
        dx, dy = nothing, nothing
        if self.derivative:
            dx, dy = (backend.empty(shape, backend.real) for _ in range(2))
        planes = self.statistics.planes
        statistics = backend.empty((planes, *shape), backend.real) if planes else no_planes
        return EscapeTile(backend.empty(shape, np.int32), x, y, dx, dy, statistics)


FEW = 1500  # a limit to which plain Python iterates a probe in a second; most wide views have it
# Users write larger limits to mean "no limit". A probe must not follow them: it would take minutes.
LONG = 2**22


class Direct(GridMethod):
    """Iterates each sample by itself."""

    bodies: Any = escape  # the module of the programs' bodies

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
        limit = self.max_iterations
        if limit > LONG and plan.depth and not plan.probed:
            limit = min(limit, probe.shallow_limit())
        if plan.depth:
            self.count_offset = probe.count_offset(limit)
        self.probing = probe.seconds
        if self.part or self.max_iterations != before:
            self._compile()

    def _look_where_slow(self) -> None:
        """Set the same where a probe would take minutes: from one on the CPU, unless it is short.

        The counts of the CPU are the same.
        """
        plan = self.plan
        if self.backend.kind == "python" and not plan.depth and plan.least_limit <= FEW:
            probe = self._probe()
            if found := probe.limit_under(plan.least_limit):
                self.max_iterations, self.probing = found, probe.seconds
                return
        cpu = open_one_core(self.plan.number)
        # With the program that pictures of the CPU have
        steps = limits_of("cpu").steps_per_check
        other = type(self)(cpu, replace(self.plan, steps_per_check=steps))
        self.max_iterations, self.count_offset = other.max_iterations, other.count_offset
        self.probing = other.probing
        self._compile()

    def _compile(self, limit: int = 0) -> None:
        """Compile the program, and bring its inputs to the device.

        `limit`: to which samples are iterated, where that is more than the picture's.
        """
        backend, scene, plan = self.backend, self.scene, self.plan
        julia = scene.julia is not None
        options = EscapeOptions(
            formula=self.formula.compiled(),
            julia=julia,
            derivative=self.derivative,
            interior_shortcuts=plan.interior_shortcuts,
            steps_per_check=plan.steps_per_check,
            check_every_step=plan.check_every_step,
            statistics=self.statistics.compiled(),
            explicit_positions=plan.explicit_positions,
        )
        most, last = self._steps_a_launch(), max(limit, self.max_iterations)
        self.part = most if most < last else 0
        self.run = backend.compile(
            self.bodies.make_part_body if self.part else self.bodies.make_body, options
        )
        self.point = backend.to_device(np.array(self._point(), backend.real))

    def _point(self) -> list[float]:
        """Return c of a Julia set, the square of the escape radius, options, constants."""
        x, y = (float(Decimal(text)) for text in self.scene.julia or ("0", "0"))
        numbers = *self.formula.options, *self.statistics.constants()
        return [x, y, self.scene.iteration.escape_radius**2, *numbers]

    def _kept(self) -> int:
        """Return how many numbers of an orbit under way are kept between launches."""
        return int(state_size(self.formula, self.derivative) - first_size(self.derivative))

    def _begin(
        self,
        shape: tuple[int, int],
        across: Any,
        down: Any,
        max_iterations: int,
        stop: Stop = never,
        probing: bool = False,
    ) -> Begun:
        backend = self.backend
        more = probing and max_iterations > self.max_iterations
        if more and backend.steps and not self.part:
            self._compile(max_iterations)
        tile, grid, last = self._outputs(shape, backend), SampleGrid(across, down), max_iterations
        if not self.part:
            self.run(tile, grid, self.point, np.int32(last))
        else:
            self._run_parts(tile, shape, grid, last, stop)
        return Begun(backend, tile)

    def _run_parts(
        self, tile: EscapeTile, shape: tuple[int, int], grid: SampleGrid, last: int, stop: Stop
    ) -> None:
        """Iterate samples in several launches, between which the work may end."""
        backend = self.backend
        more = self._kept()
        rest = backend.empty((more, *shape), backend.real) if more else self.no_planes
        for begin in range(0, last, self.part):
            if stop():
                break
            until = min(last, begin + self.part)
            steps = np.int32(begin), np.int32(until), np.int32(last)
            self.run(tile, rest, grid, self.point, *steps)
            backend.synchronize()
