"""Iterates tiles by perturbation: the difference from a reference orbit."""

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, HostMemory, Run
from fractals.backends.devices import open_one_core
from fractals.backends.probe import memory_size
from fractals.deep import orbit_cache
from fractals.deep.reference import OrbitRequest, Reference
from fractals.errors import FractalsError, OptionError
from fractals.kernels import bla, bla_tree, perturb, perturb_statistics
from fractals.kernels.formula import Formula
from fractals.kernels.layout import (
    BLA_SIZE,
    FLOATEXP_SIZE,
    LA_SIZE,
    MATRIX_SIZE,
    STATE_SIZE,
    TINY_INDEX,
    TINY_SIZE,
    EscapeTile,
    PerturbTables,
    PerturbView,
    PerturbWork,
    SampleGrid,
)
from fractals.kernels.perturb import PerturbOptions
from fractals.rendering import forecast
from fractals.rendering.iteration import WITHOUT_END, FindOrbit, GridMethod, Shape, Stop, never
from fractals.rendering.plan import BYTES_A_POINT, Plan
from fractals.rendering.probing import Begun, ViewProbe
from fractals.rendering.resume_data import ResumeData
from fractals.scene.geometry import matrix
from fractals.scene.numbers import log2
from fractals.threads import share

# The tables that samples of a deep view read: orbits, stages of LA, and trees of BLA.


Points = NDArray[np.float64]
Indices = NDArray[np.int64]

# Entries of the lowest level of a tree that a thread fills with all levels above them; and these
# levels. They take longer than waking a thread.
BLOCK_LEVELS = 12
BLOCK = 1 << (BLOCK_LEVELS - 1)
MEMORY = HostMemory()
MAX_KEPT = 2**23  # bytes of a table, up to which another orbit's table reuses its memory
# Bytes of tables that are kept for the next picture of the same orbits.
MAX_LAST_TABLES = 2**26


class Tables(NamedTuple):
    """What samples read of the reference orbits, in the order of `PerturbTables`."""

    arrays: tuple[Any, ...]
    ends: Indices
    stage_count: int
    level_count: int
    rebase_bottom: int
    rebase_top: int


@dataclass(frozen=True)
class TableMaker:
    """Makes tables on the CPU, in well under a second.

    A table that a view has no use for has one row, because arrays on a GPU can't be empty.
    """

    # Compiles and runs the programs that fill tables; it changes no number
    cpu: Backend = field(compare=False)
    threads: int = field(compare=False)  # how many threads fill them; 0 or 1: the calling one
    formula: Formula
    julia: bool  # whether the second orbit is the orbit of 0
    extended: bool  # whether each difference has an exponent of its own
    escape_radius: float
    exponent: int  # exponent of two by which differences are divided
    # Upper bound of the parts of samples' distances from the reference; 0 leaves out the terms of
    # second order in c
    largest_c: float
    moves: bool = False  # whether samples read the differences of consecutive points

    def tables(self, references: list[Reference], near_radius: bool) -> Tables:
        """Return the tables of orbits: those of the last picture, if it had the same.

        `near_radius`: whether samples read the distances of points from the escape radius.
        """
        for made, orbits, maker in last_tables:
            same = len(orbits) == len(references) and all(map(operator.is_, orbits, references))
            if same and maker == self:
                return made
        made = self._make(references, near_radius)
        size = sum(table.nbytes for table in made.arrays)
        last_tables[:] = [(made, references, self)] if size <= MAX_LAST_TABLES else []
        return made

    def _make(self, references: list[Reference], near_radius: bool) -> Tables:
        orbits = []
        for reference in references:
            columns = [reference.orbit]
            if self.formula.kinks:
                columns.append(reference.kinks(self.formula, self.extended))
            if near_radius:
                columns.append(reference.radius_margins(self.escape_radius, self.extended))
            if self.moves:
                columns.append(reference.all_moves(self.extended))
            orbits.append(_joined(columns, axis=1))
        orbit, tiny = _joined(orbits), _joined([reference.tiny for reference in references])
        ends = np.cumsum([len(reference.orbit) for reference in references]) - 1
        if self.julia:
            tiny[len(references[0].tiny) :, TINY_INDEX] += int(ends[0]) + 1
        if not len(tiny):
            tiny = np.zeros((1, TINY_SIZE))
            tiny[0, TINY_INDEX] = -1  # of no point
        levels, bla_tree, fill = self._bla_tree(orbit, ends)
        cut, cuts = self._stages(orbit, tiny, ends), []

        def work(block: int | None) -> None:
            if block is None:
                cuts.append(cut())
            else:
                fill(0, min(BLOCK_LEVELS, len(levels)), block * BLOCK, (block + 1) * BLOCK)

        blocks = -(-len(orbit) // (BLOCK << bla.LOWEST_LEVEL))
        share([None, *range(blocks)], work, self.threads if blocks > 1 else 0)
        fill(BLOCK_LEVELS, len(levels), 0, len(orbit))
        ((stages, la_entries, first_stages),) = cuts
        floatexp_tree = self._floatexp_tree(orbit, tiny, ends, levels)
        bottom = first_stages if self.julia else 0
        counts = first_stages, len(levels), bottom, len(stages) - 1
        stages = stages if len(stages) else np.zeros((1, 2), np.int64)
        levels = levels if len(levels) else np.zeros(1, np.int64)
        arrays = orbit, tiny, stages, la_entries, levels, bla_tree, floatexp_tree
        return Tables(tuple(map(np.ascontiguousarray, arrays)), ends, *counts)

    def _bla_tree(
        self, orbit: Points, ends: Indices
    ) -> tuple[Indices, Points, Callable[[int, int, int, int], None]]:
        """Return the first rows of the tree's levels, the tree, and what fills a part of it."""
        sizes = bla.level_sizes(len(orbit))
        begins = np.cumsum([0, *sizes])
        levels = begins[:-1].astype(np.int64)
        columns = BLA_SIZE if self.formula.holomorphic else MATRIX_SIZE
        tree = _empty(begins[-1], columns) if sizes else np.zeros((1, columns))
        tree[begins[1:] - 1] = 0  # the entries that are never valid
        curved = self.largest_c > 0 and self.formula.holomorphic
        run = self.cpu.compile(bla_tree.make_tree_body, self.formula, curved)
        facts = ends, self.exponent, self.largest_c, float(self.escape_radius**2)

        def fill(*part: int) -> None:
            run(tree, orbit, levels, *facts, part)

        fill(0, 0, 0, 0)  # compiled here, as other threads hear no Ctrl-C
        return levels, tree, fill

    def _stages(
        self, orbit: Points, tiny: Points, ends: Indices
    ) -> Callable[[], tuple[Indices, Points, int]]:
        """Return what cuts the stages, and returns them, their entries, and how many come first.

        First come those along the first orbit. Where a rebased sample may be too small for the tree
        of BLA, those along the second follow.
        """
        if not self.formula.holomorphic:
            return lambda: (np.zeros((0, 2), np.int64), np.zeros((1, LA_SIZE)), 0)
        stages, found = np.zeros((bla.MAX_STAGES, 2), np.int64), np.zeros(2, np.int64)
        entries = _empty(len(orbit) // 2 + 64, LA_SIZE)
        run = self.cpu.compile(bla.make_stages_body, self.formula, self.extended)
        within_squared = (self.escape_radius * bla_tree.WITHIN) ** 2

        def cut() -> tuple[Indices, Points, int]:
            run(entries, stages, found, orbit, tiny, 0, int(ends[0]), within_squared)
            first_stages = int(found[0])
            if self.julia and self.extended:
                begin, last = int(ends[0]) + 1, int(ends[1])
                run(entries, stages, found, orbit, tiny, begin, last, within_squared)
            return stages[: found[0]], entries[: found[1] + 1].copy(), first_stages

        run(entries, stages, found, orbit, tiny, 0, 0, within_squared)  # compiled here, as above
        return cut

    def _floatexp_tree(self, orbit: Points, tiny: Points, ends: Indices, levels: Indices) -> Points:
        """Return the tree of matrices with exponents."""
        if self.formula.holomorphic or not self.extended:
            return np.zeros((1, FLOATEXP_SIZE))
        sizes = bla.level_sizes(len(orbit))
        tree = np.zeros((max(1, sum(sizes)), FLOATEXP_SIZE))
        fill = self.cpu.compile(bla_tree.make_floatexp_tree_body, self.formula)
        fill(tree, orbit, tiny, levels, ends, float(self.escape_radius**2))
        return tree


def _empty(rows: int, columns: int) -> Points:
    """Return an uninitialised table, in memory of earlier ones if it is small enough to be kept."""
    keeps = 8 * rows * columns <= MAX_KEPT
    table: Points = (MEMORY.empty if keeps else np.empty)((rows, columns), np.float64)
    return table


def _joined(parts: list[Points], axis: int = 0) -> Points:
    """Return the parts one after the other; a single one as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis)


# The tables of the last picture, the orbits that they were made of, and what made them. A zoom at
# 3 % a step has the same tables for some twenty pictures.
last_tables: list[tuple[Tables, list[Reference], TableMaker]] = []


# Iterations of a reference orbit that is expected to end by itself, at its period. A longer one
# would take minutes before the picture begins.
FIRST_LIMIT = 2**22
# Iterations of a reference orbit that ends only if it escapes. More of it is computed if samples of
# the probe turn out to need it.
MIN_LIMIT = 2**14
# If users ask for no limit and no sample of the probe escapes, the probe and a reference orbit that
# ends only by escape stop after this many iterations.
PATIENCE = 2**20


class InLaunches(Begun):
    """Samples whose first launch is made; more follow until their flags say that all are done."""

    def __init__(
        self, backend: Backend, tile: EscapeTile, launches: Iterator[tuple[Any, NDArray[Any]]]
    ) -> None:
        """Make the first of `launches`; each yields its flags, and reads them when it goes on."""
        super().__init__(tile)
        self._backend, self._launches = backend, launches
        self.flags = list(itertools.islice(launches, 1))

    def finish(self) -> bool:
        """Make the launches that are left, and tell whether there were any."""
        again = False
        for flags in self._launches:
            self._backend.to_host(*flags)
            again = True
        return again


class Perturbation(GridMethod):
    """Iterates the difference from a reference orbit: see `fractals.kernels.perturb`.

    `find_orbit` has the parameters of `fractals.deep.orbit_cache.find`. `known`: the limit, the
    count offset and the orbits, if another process has found them.
    """

    def __init__(
        self,
        backend: Backend,
        plan: Plan,
        find_orbit: FindOrbit | None = None,
        known: ResumeData | None = None,
    ) -> None:
        super().__init__(backend, plan)
        self.julia = plan.scene.julia is not None
        self.cpu = open_one_core()
        if backend.kind in ("python", "simulator"):  # the probe would take minutes there
            self.prober = self.cpu
        self._find_orbit = find_orbit or orbit_cache.find
        self._programs: dict[bool, tuple[Run, Run, tuple[Any, ...]]] = {}  # by `near_radius`
        if known:
            self.max_iterations, self.count_offset = known.max_iterations, known.count_offset
            self._use(list(known.references))
            return
        probe = self._probe()
        if plan.probed or self.max_iterations > FIRST_LIMIT:  # beyond it, it says "no limit"
            last = self._raise_limit(probe)
        else:
            last = self.max_iterations
            self._use(self._orbits(last))
            self._compile_probe(probe)
        if plan.probed:
            self.max_iterations = last
        if self.statistics.planes:
            counts, _ = probe.counts(last)
            self.note = self._slow_note(float(counts.mean()))
        if plan.depth:
            self.count_offset = probe.count_offset(last)
        self.probing = probe.seconds
        # Its progress may hold this source, whose arrays would stay in memory.
        self._find_orbit = orbit_cache.find

    def _use(self, references: list[Reference]) -> None:
        """Iterate along these orbits from now on: sets all that `_iterate` reads."""
        near_radius = any(len(reference.margins) for reference in references)
        self.references = references
        if near_radius not in self._programs:
            self._programs[near_radius] = self._compile(near_radius)
        self.run, self.run_probe, self.point = self._programs[near_radius]
        self._bound: dict[tuple[int, bool, bool], Callable[..., None]] = {}  # of `_launch_of`
        tables = self._tables(references, near_radius)
        self.view = self._view(tables)
        self.tables = PerturbTables(*map(self.backend.to_device, tables.arrays))
        self.probe_tables = self.tables
        if self.prober is not self.backend:
            self.probe_tables = PerturbTables(*map(self.prober.to_device, tables.arrays))

    def _compile(self, near_radius: bool) -> tuple[Run, Run, tuple[Any, ...]]:
        """Return the programs for samples and for a probe, and more arguments of the former.

        `near_radius`: whether samples read the distances of points from the escape radius.
        """
        backend, plan = self.backend, self.plan
        options = PerturbOptions(
            self.formula,
            self.julia,
            self.derivative,
            floatexp=plan.extended,
            explicit_positions=plan.explicit_positions,
            per_sample_exponent=self._exponent_of_each,
            near_radius=near_radius,
        )
        run = run_probe = backend.compile(perturb.make_body, options)
        if self.prober is not backend:
            run_probe = self.prober.compile(perturb.make_body, options)
        if not self.statistics.planes:
            return run, run_probe, ()
        options = replace(options, statistics=self.statistics.compiled())
        run = backend.compile(perturb_statistics.make_statistics_body, options)
        c = map(Decimal, self.scene.julia) if self.scene.julia else plan.center
        point = [*map(float, c), 0.0, *self.statistics.constants()]
        return run, run_probe, (backend.to_device(np.array(point, backend.real)),)

    def _compile_probe(self, probe: ViewProbe) -> None:
        if self.run_probe.loop != "packets":  # loops over packets are compiled already
            probe.compile()

    def _tables(self, references: list[Reference], near_radius: bool) -> Tables:
        plan, escape_radius = self.plan, self.scene.iteration.escape_radius
        largest_c = 0.0 if self.julia else _largest_c(plan)
        options = self.formula, self.julia, plan.extended, escape_radius, self._exponent, largest_c
        maker = TableMaker(self.cpu, self.backend.threads, *options, self.statistics.moves)
        return maker.tables(references, near_radius)

    def _view(self, tables: Tables) -> PerturbView:
        plan, ends, budget, width = self.plan, tables.ends, WITHOUT_END, 1.0
        if self.backend.steps:
            budget = max(256, self._steps_a_launch() // forecast.PERTURBED_STEP_COST)
        if plan.view.projection == "plane":
            width = float(plan.width / Fraction(2) ** self._exponent)
        return PerturbView(
            escape_radius_squared=float(self.scene.iteration.escape_radius**2),
            exponent=self._exponent,
            width=width,
            first_end=int(ends[0]),
            rebase_start=int(ends[0]) + 1 if self.julia else 0,
            rebase_end=int(ends[-1]),
            first_launch=True,
            step_budget=int(budget),
            stage_count=tables.stage_count,
            level_count=tables.level_count,
            rebase_bottom=tables.rebase_bottom,
            rebase_top=tables.rebase_top,
        )

    @property
    def _exponent_of_each(self) -> bool:
        """Tell whether each position has an exponent of its own."""
        return self.plan.explicit_positions and self.grid.samples.scaled

    @property
    def _exponent(self) -> int:
        """Return the exponent of two by which all differences are divided."""
        return 0 if self._exponent_of_each else self.plan.exponent

    def _slow_note(self, mean_count: float) -> str:
        """Return the message for the user if no step can be skipped."""
        plan, backend, planes = self.plan, self.backend, self.statistics.planes
        steps = mean_count * math.prod(plan.size) * plan.supersampling**2
        steps *= forecast.statistics_cost(planes)
        seconds = forecast.statistics_seconds(backend.kind, steps, plan.extended)
        seconds /= backend.threads if backend.kind == "cpu" else 1
        return (
            "with orbit statistics no step can be skipped in a deep view: "
            f"expect about {max(1.0, seconds):.2g} s"
        )

    def _begin(
        self, shape: Shape, grid: SampleGrid, last: int, stop: Stop = never, probing: bool = False
    ) -> Begun:
        backend = self.prober if probing else self.backend
        tile = self._outputs(shape, backend)
        launches = self._launches(tile, grid, last, stop, probing)
        return InLaunches(backend, tile, launches)

    def _launches(
        self,
        tile: EscapeTile,
        grid: SampleGrid,
        max_iterations: int,
        stop: Stop,
        probing: bool = False,
    ) -> Iterator[tuple[Any, NDArray[np.int32]]]:
        """Launch the program until all samples of a tile are done; yield the flags of each launch.

        They are on the device. The caller copies them into the array beside them before it asks for
        the next launch.
        """
        backend = self.prober if probing else self.backend
        launch, under_way = self._launch_of(max_iterations, probing), True
        state = backend.empty((STATE_SIZE, *tile.count.shape), np.float64)
        while under_way:
            flags = np.zeros((1, 2), np.int32)
            work = PerturbWork(state, backend.to_device(flags))
            launch(tile, work, grid)
            yield work.under_way, flags
            if flags[0, 1]:
                raise FractalsError(
                    "some samples became NaN (not a number), which is a fault of this program: "
                    "please report the scene; another width, or a center beside this one, may help"
                )
            under_way = bool(flags[0, 0] and backend.steps) and not stop()
            if under_way:
                launch = self._launch_of(max_iterations, probing, first=False)

    def _launch_of(
        self, max_iterations: int, probing: bool, first: bool = True
    ) -> Callable[..., None]:
        """Return ``launch(tile, work, grid)``, which tiles have in common."""
        key = max_iterations, probing, first
        if key not in self._bound:
            run, tables, point, view = self.run, self.tables, self.point, self.view
            if probing:
                run, tables, point = self.run_probe, self.probe_tables, ()
                if not self.prober.steps:
                    view = view._replace(step_budget=int(WITHOUT_END))
            view = view._replace(first_launch=first)
            self._bound[key] = run.bound(tables, *point, view, np.int32(max_iterations))
        return self._bound[key]

    def _orbits(self, max_iterations: int) -> list[Reference]:
        """Return the orbits of `find_orbits`, all of which fit into the memory."""
        begun = perf_counter()
        free = memory_size() or 2**62
        fitting = free // 2 // BYTES_A_POINT
        most = min(max_iterations, fitting)
        found = find_orbits(self.plan, most, self._find_orbit)
        self.reference += perf_counter() - begun
        if max_iterations > fitting and any(
            len(part.orbit) > fitting and not part.complete for part in found
        ):
            raise OptionError(
                f"the reference orbit is longer than {fitting} points, and more do not fit into "
                f"memory ({free / 2**30:.1f} GiB are free): give a lower max_iterations="
            )
        return found

    def _raise_limit(self, probe: ViewProbe) -> int:
        """Return a limit of iterations, and use orbits that are long enough for it.

        The limit is raised until few more samples of the probe escape.
        """
        ends_at_period = self.formula.holomorphic and not self.julia
        references = self._orbits(FIRST_LIMIT if ends_at_period else MIN_LIMIT)
        # A cycle attracts a reference that repeats. Such a reference never escapes, so it does not
        # tell how long the orbits of other samples are.
        if references[0].repeats:
            references = self._orbits(MIN_LIMIT)
        self._use(references)
        self._compile_probe(probe)
        length = max(len(reference.orbit) for reference in references)
        limit = max(1024, 4 * length if references[0].complete else length)

        def prepare(limit: int) -> None:
            nonlocal references
            if not all(reference.complete for reference in references):
                references = self._orbits(limit)
                self._use(references)

        if not self.plan.probed:
            limit = min(probe.settled_limit(limit, prepare, PATIENCE), self.max_iterations)
            prepare(limit)
            return limit
        if self.plan.depth == 1:
            return probe.settled_limit(limit, prepare)
        prepare(self.plan.least_limit)  # as for direct iteration
        return probe.shallow_limit(prepare)


def find_orbits(plan: Plan, most: int, find: FindOrbit) -> list[Reference]:
    """Return the orbit of a plan's center; for a Julia set, also of 0. They end after `most`."""
    scene, formula = plan.scene, plan.formula
    zero = Fraction(0), Fraction(0)
    own = plan.bits, most, scene.iteration.escape_radius
    if plan.layers.statistics.moves:
        find = functools.partial(find, with_moves=True)
    if scene.julia is None:
        view_radius = plan.width * max(plan.size) / plan.size[0] / 2
        if plan.view.projection == "exponential":  # the orbit serves the deepest row, too
            view_radius = plan.finest / 8
        wanted = [OrbitRequest(formula, zero, plan.center, *own, view_radius)]
    else:
        x, y = (Fraction(Decimal(text)) for text in scene.julia)
        wanted = [OrbitRequest(formula, start, (x, y), *own) for start in (plan.center, zero)]
    return [find(each).until(most) for each in wanted]


def _largest_c(plan: Plan) -> float:
    """Return an upper bound of the parts of samples' distances from the reference, in plane units.

    It is a power of two, so that the steps of a zoom share their tables; or 0, which leaves out the
    terms of second order in c.
    """
    if plan.reach:
        return _power_above(plan.reach)
    if plan.view.projection != "plane":
        return 0.0
    a, b, c, d = (abs(part) for part in matrix(plan.view))
    width, height = plan.width + plan.pixel, plan.pixel * (plan.size[1] + 1)
    return _power_above(max(a * width + b * height, c * width + d * height) / 2)


def _power_above(reach: Fraction) -> float:
    """Return the next power of two; 0 where it is too small for terms of second order in c."""
    exponent = math.ceil(log2(Fraction(reach)))
    return 2.0**exponent if exponent >= bla_tree.MIN_CURVED_EXPONENT else 0.0
