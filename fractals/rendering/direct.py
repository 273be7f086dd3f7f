"""Direct iteration of tiles: each sample by itself."""

from decimal import Decimal
from typing import Any

import numpy as np

from fractals.backends.base import Backend
from fractals.backends.devices import open_one_core
from fractals.kernels import escape
from fractals.kernels.escape import EscapeOptions
from fractals.kernels.layout import EscapeTile, SampleGrid
from fractals.kernels.orbit import first_size, state_size
from fractals.rendering.iteration import GridMethod, Stop, never
from fractals.rendering.known import Known
from fractals.rendering.plan import Plan
from fractals.scene.layers import Layers
from fractals.scene.model import Scene

FEW = 1500  # a limit to which plain Python iterates a probe in a second; most wide views have it
LONG = 2**22  # a limit beyond it says "no limit": no sample of a probe is iterated so far


class Direct(GridMethod):
    """Iterates each sample by itself."""

    def __init__(
        self,
        backend: Backend,
        scene: Scene,
        plan: Plan,
        layers: Layers,
        known: Known | None = None,
    ) -> None:
        super().__init__(backend, scene, plan, layers)
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
            other = Direct(cpu, self.scene, plan, plan.layers)
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
        most = self._steps_a_launch()
        self.part = most if most < max(limit, self.max_iterations) else 0
        self.run = backend.compile(
            escape.make_part_body if self.part else escape.make_body, options
        )
        x, y = (float(Decimal(text)) for text in scene.julia or ("0", "0"))
        escape_radius_squared = scene.iteration.escape_radius**2
        point = [x, y, escape_radius_squared, *self.statistics.constants()]
        self.point = backend.to_device(np.array(point, backend.real))

    def _iterate(
        self,
        shape: tuple[int, int],
        across: Any,
        down: Any,
        max_iterations: int,
        stop: Stop = never,
        probing: bool = False,
    ) -> EscapeTile:
        backend = self.backend
        if probing and not self.part and max_iterations > self.max_iterations:
            self._compile(max_iterations)  # launches of a GPU must be short
        tile, grid, last = self._outputs(shape, backend), SampleGrid(across, down), max_iterations
        if not self.part:
            self.run(tile, grid, self.point, np.int32(last))
            return tile
        more = state_size(self.formula, self.derivative) - first_size(self.derivative)
        rest = backend.empty((more, *shape), backend.real) if more else self.no_planes
        for begin in range(0, last, self.part):
            if stop():
                break
            until = min(last, begin + self.part)
            steps = np.int32(begin), np.int32(until), np.int32(last)
            self.run(tile, rest, grid, self.point, *steps)
            backend.synchronize()
        return tile
