"""Samples iterated on a backend: what is found first, their grid, and direct iteration."""

import copy
import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Run
from fractals.backends.devices import limits_of, open_one_core
from fractals.deep.reference import Reference
from fractals.errors import FractalsError
from fractals.io.parts import StorePart, StoreParts
from fractals.kernels import escape
from fractals.kernels.escape import EscapeOptions
from fractals.kernels.layout import EscapeTile, SampleGrid
from fractals.kernels.orbit import first_size, state_size
from fractals.rendering.plan import Plan, Tile
from fractals.rendering.sampling import (
    Begun,
    Index,
    Pairs,
    Samples,
    coordinates,
    explicit_positions,
    indices,
)
from fractals.rendering.view_probe import ViewProbe
from fractals.scene.model import MAX_ITERATIONS

# ResumeData: what a probe and a reference orbit give, passed on to other processes.
#
# One process finds the limit of iterations, the count offset and the reference orbits. The others
# read them from parts, so all of them compute tiles with the same bits. A file of an orbit is named
# by its digest, and is mapped into memory.


BEGUN = "begun"  # the part that names the others
ARRAYS = ("orbit", "tiny", "near_kinks", "margins", "moves")
NUMBERS = ("period", "escaped", "bits", "repeats")


@dataclass(frozen=True)
class ResumeData:
    """What a source need not find again."""

    max_iterations: int
    count_offset: float  # as of `SampleSource`
    # The orbits that samples are compared with; none for direct iteration
    references: Sequence[Reference] = ()


def known_of(source: Any) -> ResumeData:
    """Return what a source of tiles (a `SampleSource`) has found."""
    references = tuple(getattr(source, "references", ()))
    return ResumeData(int(source.max_iterations), float(source.count_offset), references)


def save_known(known: ResumeData, parts: StoreParts) -> None:
    """Write what is known as parts; the part that names the others is the last."""
    names = []
    for reference in known.references:
        arrays = {name: getattr(reference, name) for name in ARRAYS}
        facts: dict[str, Any] = {name: int(getattr(reference, name)) for name in NUMBERS}
        radius = reference.least_radius
        facts["least_radius"] = f"{radius.numerator:x}/{radius.denominator:x}"
        digest = hashlib.sha256(repr(facts).encode())
        for array in arrays.values():
            digest.update(repr(array.shape).encode())
            digest.update(array.tobytes())
        names.append(f"{digest.hexdigest()[:32]}.orbit")
        parts.put(names[-1], arrays, facts)
    facts = {"max_iterations": known.max_iterations, "count_offset": known.count_offset}
    parts.put(BEGUN, {}, facts | {"orbits": names})


def load_known(parts: StoreParts) -> ResumeData | None:
    """Return what another process has found; None where a part of it is missing."""
    begun = parts.read(BEGUN)
    orbits = [parts.read(name) for name in begun.facts["orbits"]] if begun else []
    if begun is None or None in orbits:
        return None
    facts = begun.facts
    try:
        references = tuple(_reference(orbit) for orbit in orbits if orbit)
        return ResumeData(int(facts["max_iterations"]), float(facts["count_offset"]), references)
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise FractalsError(f"'{parts.folder}/{BEGUN}' is damaged: remove it") from None


def _reference(part: StorePart) -> Reference:
    facts = part.facts
    arrays = {name: part.arrays[name] for name in ARRAYS}
    radius = Fraction(*(int(piece, 16) for piece in facts["least_radius"].split("/")))
    return Reference(
        **arrays,
        period=int(facts["period"]),
        escaped=bool(facts["escaped"]),
        bits=int(facts["bits"]),
        repeats=int(facts["repeats"]),
        least_radius=radius,
    )


# TileGrid: the positions of a tile's samples, as arrays on a device.


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
            columns, rows = (
                np.ascontiguousarray(part[:, self._picked(np.arange(-(-part.shape[1] // step)), k)])
                for k, part in enumerate((columns, rows))
            )
        self.columns, self.rows = columns, rows
        self._all_columns = backend.to_device(columns)

    def of_tile(self, tile: Tile) -> tuple[tuple[int, int], Any, Any]:
        """Return shape, columns and rows of a tile's samples, on the device."""
        n = self.plan.supersampling
        rows, columns = tile.window(n)
        shape = tile.height * n, tile.width * n
        if self.plan.explicit_positions:
            i, j = indices((rows, columns))
            if self.step > 1:
                i, j = self._picked(i, 0), self._picked(j, 1)
            return shape, *self.of_samples(i, j, shape)
        across = self._all_columns  # strips are as wide as the picture
        if tile.width * n < self.columns.shape[1]:
            across = self.backend.to_device(np.ascontiguousarray(self.columns[:, columns]))
        down = self.backend.to_device(np.ascontiguousarray(self.rows[:, rows]))
        return shape, across, down

    def of_samples(self, i: Index, j: Index, shape: tuple[int, int]) -> tuple[Any, Any]:
        """Return the explicit positions of samples in columns `i` and rows `j`, on the device."""
        return explicit_positions(self.backend, self.samples, i, j, shape)

    def _picked(self, index: Index, axis: int) -> Index:
        """Return the columns (axis 0) or rows (axis 1) of the grid that samples stand for."""
        last = self.plan.size[axis] * self.plan.supersampling - 1
        return np.minimum(self.step * index + self.step // 2, last)


FULL = 2**18  # samples that occupy a GPU: a launch of fewer takes as long
WITHOUT_END = 2.0**52  # steps of a launch that need not be bounded

FindOrbit = Callable[..., Reference]  # one of those in `fractals.deep.orbit_cache`
Stop = Callable[[], bool]  # True: whoever asked for a tile no longer needs it
# ``use(raw, flags)`` takes the escape data of a tile, and copies `flags` with what it makes of them
Use = Callable[[EscapeTile, Pairs], None]


def never() -> bool:
    """Return False: the `Stop` of a tile that is always needed."""
    return False


class SampleSource(Protocol):
    """Computes raw numbers of tiles: ready when it is made, and changed by no tile."""

    max_iterations: int  # most steps; where the plan is probed, those that were found
    count_offset: float  # as of `fractals.io.escape_data.EscapeData`
    reference: float  # seconds that the reference orbit took
    probing: float  # seconds that probing the view took
    note: str  # one line for the user, or nothing
    stage: str  # the stage to which the time of `iterate` is added, "iterate" or "copy"
    halt: NDArray[Any]  # one number; where it is not 0, direct loops of the CPU return early

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

    stage, halt = "iterate", np.zeros(1)
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


# Direct iteration of tiles: each sample by itself.


FEW = 1500  # a limit to which plain Python iterates a probe in a second; most wide views have it
LONG = 2**22  # a limit beyond it says "no limit": no sample of a probe is iterated so far
PLAIN_PART = 2**16  # steps of a sample in the CPU's plain loop between two calls of `stop`


class Direct(GridMethod):
    """Iterates each sample by itself."""

    def __init__(self, backend: Backend, plan: Plan, known: ResumeData | None = None) -> None:
        super().__init__(backend, plan)
        if known:
            self.max_iterations, self.count_offset = known.max_iterations, known.count_offset
        self._compile()
        if not known and (plan.probed or plan.depth):
            self._look()

    def _look(self) -> None:
        """Set the limit of iterations and the count offset from a probe of the view."""
        plan, backend = self.plan, self.backend
        if backend.kind == "python" and not plan.depth and plan.least_limit <= FEW:
            probe = self._probe()
            if found := probe.limit_under(plan.least_limit):
                self.max_iterations, self.probing = found, probe.seconds
                return
        if backend.kind in ("python", "simulator"):  # the probe would take minutes there
            cpu = open_one_core(plan.precision)
            # With the program that pictures of the CPU have; the counts are the same.
            steps = limits_of("cpu").steps_per_check
            other = Direct(cpu, replace(plan, steps_per_check=steps))
            self.max_iterations, self.count_offset = other.max_iterations, other.count_offset
            self.probing = other.probing
        else:
            probe = self._probe()
            probe.compile()
            if plan.probed:
                self.max_iterations = probe.shallow_limit()
            limit = self.max_iterations
            if limit > LONG and plan.depth and not plan.probed:
                limit = min(limit, probe.shallow_limit())
            self.count_offset = probe.count_offset(limit)
            self.probing = probe.seconds
        self._compile()

    def _compile(self, limit: int = 0) -> None:
        """Compile the program, and bring its inputs to the device.

        `limit`: to which samples are iterated, where that is more than the picture's.
        """
        backend, scene, plan = self.backend, self.scene, self.plan
        julia = scene.julia is not None
        options = EscapeOptions(
            formula=self.formula,
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
            escape.make_part_body if self.part else escape.make_body, options
        )
        if self.run.loop == "plain" and last > LONG:  # it does not see `halt`
            parts = backend.compile(escape.make_part_body, options)
            self.part, self.run = PLAIN_PART, Run(parts, "plain", self.run.reason)
        x, y = (float(Decimal(text)) for text in scene.julia or ("0", "0"))
        escape_radius_squared = scene.iteration.escape_radius**2
        point = [x, y, escape_radius_squared, *self.statistics.constants(), 0]
        made = np.array(point, backend.real)
        self.point, self.halt = backend.to_device(made), made[-1:]  # on the CPU the same memory

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
        if probing and not self.part and max_iterations > self.max_iterations:
            self._compile(max_iterations)  # launches of a GPU must be short
        tile, grid, last = self._outputs(shape, backend), SampleGrid(across, down), max_iterations
        if not self.part:
            self.run(tile, grid, self.point, np.int32(last))
            return Begun(backend, tile)
        more = state_size(self.formula, self.derivative) - first_size(self.derivative)
        rest = backend.empty((more, *shape), backend.real) if more else self.no_planes
        for begin in range(0, last, self.part):
            if stop():
                break
            until = min(last, begin + self.part)
            steps = np.int32(begin), np.int32(until), np.int32(last)
            self.run(tile, rest, grid, self.point, *steps)
            backend.synchronize()
            if backend.kind == "cpu" and not (tile.count == until).any():
                break
        return Begun(backend, tile)
