"""Iterates tiles directly: each sample by itself."""

from decimal import Decimal
from typing import Any

import numpy as np

from fractals.backends.base import Backend
from fractals.kernels import escape
from fractals.kernels.orbit import first_size, state_size
from fractals.rendering.iteration import Stop, _Method
from fractals.rendering.plan import Plan
from fractals.scene.layers import Layers
from fractals.scene.model import Scene


class Direct(_Method):
    """Each sample is iterated by itself."""

    def __init__(self, backend: Backend, scene: Scene, plan: Plan, layers: Layers) -> None:
        super().__init__(backend, scene, plan, layers)
        self._compile()

    def _compile(self) -> None:
        """Compile the program, and bring its inputs to the device."""
        backend, scene, plan = self.backend, self.scene, self.plan
        julia = scene.julia is not None
        options = (
            self.formula,
            julia,
            self.derivative,
            plan.interior_shortcuts,
            plan.steps_per_check,
            plan.check_every_step,
        )
        if self.watching.planes or plan.explicit_positions:
            options = *options, self.watching.compiled()  # type: ignore[assignment]
        if plan.explicit_positions:
            options = *options, True  # type: ignore[assignment]
        most = self._steps_a_launch()
        self.part = most if most < self.max_iterations else 0
        self.run = backend.compile(
            escape.make_part_body if self.part else escape.make_body, *options
        )
        x, y = (float(Decimal(text)) for text in scene.julia or ("0", "0"))
        radius2 = scene.iteration.escape_radius**2
        point = [x, y, radius2, *self.watching.constants()]
        self.point = backend.to_device(np.array(point, backend.real))

    def _iterate(
        self, shape: tuple[int, int], across: Any, down: Any, max_iterations: int, stop: Stop
    ) -> tuple[Any, ...]:
        backend = self.backend
        raw = self._outputs(shape)
        place, last = (across, down, self.point), max_iterations
        if not self.part:
            self.run(*raw, *place, np.int32(last))
            return raw
        more = state_size(self.formula, self.derivative) - first_size(self.derivative)
        rest = backend.empty((more, *shape), backend.real) if more else self.no_planes
        for begin in range(0, last, self.part):
            if stop():
                break
            until = min(last, begin + self.part)
            self.run(*raw, rest, *place, np.int32(begin), np.int32(until), np.int32(last))
            backend.synchronize()
        return raw
