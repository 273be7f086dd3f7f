"""Iterates tiles by perturbation: the difference from a reference orbit."""

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Run
from fractals.backends.devices import choose, open_backend
from fractals.backends.probe import memory_size
from fractals.deep import orbit_cache
from fractals.deep.reference import Reference
from fractals.errors import OptionError
from fractals.kernels import bla, bla_floatexp, la, perturb, perturb_statistics
from fractals.rendering import forecast
from fractals.rendering.iteration import HEAVY, WITHOUT_END, FindOrbit, _Method
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import Samples, coordinates, indices
from fractals.scene.layers import Layers
from fractals.scene.model import MOST_ITERATIONS, Scene

PROBE = (32, 18)  # samples by which the limit of a deep view is found
FIRST_LIMIT = 2**22  # of a reference orbit whose length is not known yet
LEAST_LIMIT = 2**14  # of one that nothing but an escape ends
WITHIN = 1 - 2.0**-20  # of the escape radius: skips along the stages stay within, samples and all
CHANGED = 1 / 256  # share of the probe: where fewer escape by a limit 4 times as high, it is enough


def _filled(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a table that has something in it, as an array on a GPU must."""
    return table if table.size else np.zeros((1, *table.shape[1:]), np.int64)


class Perturbation(_Method):
    """The difference from a reference orbit is iterated: see `fractals.kernels.perturb`."""

    def __init__(
        self,
        backend: Backend,
        scene: Scene,
        plan: Plan,
        layers: Layers,
        find: FindOrbit = orbit_cache.find,
        watch: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__(backend, scene, plan, layers)
        self.julia = scene.julia is not None
        self.find, self.watch = find, watch

    def start(self) -> None:  # noqa: D102
        plan, backend = self.plan, self.backend
        self.steps = WITHOUT_END
        if backend.steps:
            self.steps = max(256, self._steps_a_launch() // HEAVY)
        options = self.formula, self.julia, self.derivative, plan.extended
        if plan.listed:
            options = *options, "scaled" if self.samples.scaled else "list"  # type: ignore[assignment]
        self.run = self.run_probe = backend.compile(perturb.make_body, *options)
        self.cpu = open_backend(choose("cpu").device, "float64", 1)
        if backend.kind == "python":  # plain loops are for few samples
            self.run_probe = self.cpu.compile(perturb.make_body, *options)
        if self.watching.planes:
            seen = *options[:4], self.watching.compiled(), *options[4:]
            self.run = backend.compile(perturb_statistics.make_body, *seen)
            c = map(Decimal, self.scene.julia) if self.scene.julia else plan.center
            point = [*map(float, c), 0.0, *self.watching.constants()]
            self.point = backend.to_device(np.array(point, backend.real))
        if self.scene.iteration.max_iterations == "auto":
            counts = self._find_limit()
        else:
            self._use(self._orbits(self.max_iterations))
            counts = self._probe(self.max_iterations)
        if self.watching.planes:
            steps = float(counts.mean()) * math.prod(plan.size) * plan.supersampling**2
            steps *= forecast.watching(self.watching.planes)
            seconds = forecast.watched_seconds(backend.kind, steps, plan.extended)
            seconds /= backend.threads if backend.kind == "cpu" else 1
            self.note = (
                "what watches every step of an orbit keeps steps from being skipped in a view so "
                f"deep: expect about {max(1.0, seconds):.2g} s"
            )
        escaped = counts[counts < self.max_iterations]
        if escaped.size:
            lowest, middle = int(escaped.min()), int(np.median(escaped))
            self.count_offset = max(0, lowest - 1 - (middle - lowest) // 4)

    def _iterate(
        self,
        shape: tuple[int, int],
        across: Any,
        down: Any,
        max_iterations: int,
        run: Run | None = None,
    ) -> tuple[Any, ...]:
        watching, backend = run is None and self.watching.planes > 0, self.backend
        run = run or self.run
        raw = self._outputs(shape)
        state = backend.empty((perturb.STATE, *shape), np.float64)
        seen, tables = raw[:5], (across, down, *self.tables)
        if watching:  # no table skips steps
            seen, tables = raw, (across, down, *self.tables[:2], self.point)
        view = self.view.copy()
        waiting = np.ones((1, 1), np.int32)
        while waiting[0, 0] and not self.stopped:
            waiting[0, 0] = 0
            under_way = backend.to_device(waiting)
            run(*seen, state, under_way, *tables, backend.to_device(view), np.int32(max_iterations))
            if not backend.steps:
                break
            backend.to_host(under_way, waiting)
            view[perturb.FRESH] = 0
        return raw

    def _orbits(self, max_iterations: int) -> list[Reference]:
        """Return the orbit of the center, and for a Julia set that of 0."""
        begun = perf_counter()
        scene, plan = self.scene, self.plan
        zero = Fraction(0), Fraction(0)
        radius = scene.iteration.escape_radius
        find = self.find
        free = memory_size() or 2**62
        fitting = free // 2 // forecast.BYTES_A_POINT
        options = plan.bits, min(max_iterations, fitting), radius
        if scene.julia is None:
            reach = plan.width * max(plan.size) / plan.size[0] / 2
            if plan.view.projection == "exponential":  # what is seen deepest must not end it
                reach = plan.finest / 8
            found = [find(self.formula, zero, plan.center, *options, reach, self.watch)]
        else:
            x, y = (Fraction(Decimal(text)) for text in scene.julia)
            found = [
                find(self.formula, start, (x, y), *options, None, self.watch)
                for start in (plan.center, zero)
            ]
        found = [part.until(options[1]) for part in found]
        self.reference += perf_counter() - begun
        if max_iterations > fitting and any(
            len(part.orbit) > fitting and not part.complete for part in found
        ):
            raise OptionError(
                f"the reference orbit is longer than {fitting} points, and more do not fit into "
                f"memory ({free / 2**30:.1f} GiB are free): give a lower --max-iterations"
            )
        return found

    def _use(self, references: list[Reference]) -> None:
        """Make the tables of these orbits, and bring all to the device."""
        plan, to_device = self.plan, self.backend.to_device
        orbit = np.concatenate([reference.orbit for reference in references])
        tiny = np.concatenate([reference.tiny for reference in references])
        ends = np.cumsum([len(reference.orbit) for reference in references]) - 1
        home = 0
        if self.julia:
            home = int(ends[0]) + 1
            tiny[len(references[0].tiny) :, 0] += home
        if not len(tiny):
            tiny = np.array([[-1.0, 0, 0, 0]])
        exponent, width = plan.exponent, 1.0
        if plan.view.projection == "exponential":  # each sample has its own
            exponent = 0
        else:
            width = float(plan.width / Fraction(2) ** exponent)
        radius2 = self.scene.iteration.escape_radius**2
        self.view = np.array(
            [radius2, exponent, width, ends[0], home, ends[-1], 1, self.steps, 0, 0],
            np.float64,
        )
        levels, tree, stages, entries = self._tables(orbit, tiny, ends)
        self.view[perturb.STAGES], self.view[perturb.LEVELS] = len(stages), len(levels)
        tables = orbit, tiny, _filled(stages), entries, _filled(levels), tree
        self.tables = [to_device(np.ascontiguousarray(table)) for table in tables]

    def _tables(
        self, orbit: NDArray[np.float64], tiny: NDArray[np.float64], ends: NDArray[np.int64]
    ) -> tuple[Any, Any, Any, Any]:
        """Return the tables that skip steps. They are made on the CPU, in well under a second."""
        cpu, formula, extended = self.cpu, self.formula, self.plan.extended
        sizes = bla.level_sizes(len(orbit))
        levels = np.cumsum([0, *sizes])
        tree = np.zeros((max(1, levels[-1]), 8 if formula.holomorphic else 10))
        levels = levels[:-1].astype(np.int64)
        cpu.compile(bla.make_tree_body, formula)(tree, orbit, levels, ends, self.view)
        if self.plan.extended and not formula.holomorphic:
            entries = np.zeros((len(tree), perturb.ENTRY))
            fill = cpu.compile(bla_floatexp.make_folded_body, formula)
            fill(entries, orbit, tiny, levels, ends)
            return levels, tree, np.zeros((0, 2), np.int64), entries
        stages = np.zeros((la.MOST_STAGES, 2), np.int64)
        entries = np.zeros((len(orbit) // 2 + 64, perturb.ENTRY))
        found = np.zeros(2, np.int64)
        if formula.holomorphic:
            cut = cpu.compile(la.make_stages_body, formula, extended)
            last = self._last_within(orbit[: ends[0] + 1])
            cut(entries, stages, found, orbit, tiny, last, int(last < ends[0]))
        return levels, tree, stages[: found[0]], entries[: found[1] + 1]

    def _last_within(self, orbit: NDArray[np.float64]) -> int:
        """Return the last index up to which no sample near the reference has escaped.

        A skip tests for escape only where it ends, so none may lead to or over the step at which
        the reference, and with it every sample near it, escapes.
        """
        beyond = np.hypot(orbit[:, 0], orbit[:, 1]) > self.scene.iteration.escape_radius * WITHIN
        return int(beyond.argmax()) - 1 if beyond.any() else len(orbit) - 1

    def _probe(self, max_iterations: int) -> NDArray[np.int32]:
        """Return the counts of the view at a low resolution, the same for every device and size."""
        counts, plan = np.empty(PROBE[::-1], np.int32), self.plan
        if plan.view.projection == "plane":
            plan = replace(plan, size=PROBE, supersampling=1, antialias="grid")
            across, down = (
                self.backend.to_device(part.astype(self.backend.real)) for part in coordinates(plan)
            )
        if self.plan.listed:
            places = indices((slice(0, PROBE[1]), slice(0, PROBE[0])))
            across, down = self._listed(Samples(plan, PROBE), *places, counts.shape)
        raw = self._iterate(counts.shape, across, down, max_iterations, self.run_probe)
        self.backend.to_host(raw[0], counts)
        return counts

    def _find_limit(self) -> NDArray[np.int32]:
        """Raise the limit until next to no sample of a probe escapes; return its counts."""
        seeking = self.formula.holomorphic and not self.julia  # an orbit that ends at its period
        references = self._orbits(FIRST_LIMIT if seeking else LEAST_LIMIT)
        if references[0].repeats:  # its length says nothing of the others'
            references = self._orbits(LEAST_LIMIT)
        self._use(references)
        length = max(len(reference.orbit) for reference in references)
        limit = max(1024, 4 * length if references[0].complete else length)
        before = None  # how many were inside with the limit tried last
        while True:
            counts = self._probe(limit)
            inside = int((counts == limit).sum())
            settled = before is not None and before - inside <= CHANGED * counts.size
            if inside == 0 or settled or 4 * limit > MOST_ITERATIONS:
                break
            before, limit = inside, 4 * limit
            if not all(reference.complete for reference in references):
                references = self._orbits(limit)
                self._use(references)
        escaped = counts[counts < limit]
        if escaped.size:  # room for what is seen only at a higher resolution
            limit = 4 * int(escaped.max())
        self.max_iterations = min(max(limit, 1024), MOST_ITERATIONS)
        return counts
