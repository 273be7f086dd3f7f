"""A picture of a solid that becomes ever finer: a fast look, then more and more samples.

The first picture is small, and lit without bounces: by the sun, and by the sky as far as the
surroundings leave a surface open. The next one is as large as the image. Then the samples of the
image itself are added up, and shown each time that there are twice as many.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.errors import OptionError
from fractals.rendering.families import Refined
from fractals.rendering.options import RenderOptions
from fractals.rendering.solid.plan import make_solid_plan
from fractals.rendering.solid.trace import Tracing
from fractals.scene.model import Scene

FIRST_STEP = 4  # pixels that one of a small picture covers, along each side
FIRST_SIDE = 128  # pixels: a smaller image is drawn at its own size at once
ROWS = 64  # of the image, that are traced in a step
MOST_BYTES = 2**31  # of the sums


class SolidRefinement:
    """A picture of a solid that becomes ever finer: `fractals.rendering.families.Refinement`."""

    def __init__(
        self, scene: Scene, options: RenderOptions, backend_of: Callable[[str], Backend]
    ) -> None:
        self._scene, self._options, self._backend_of = scene, options, backend_of
        self._tracing: Tracing | None = None
        self._sums: NDArray[np.int64] | None = None
        self._done = 0  # samples in the sums

    @property
    def kept(self) -> int:
        """Return the bytes of the sums."""
        return 0 if self._sums is None else self._sums.nbytes

    def free(self) -> None:
        """Free the sums."""
        self._sums, self._done = None, 0

    def prepare(self) -> None:
        """Compile what traces and shows."""
        if self._tracing is None:
            self._tracing = self._traced(self._scene)
            small = self._traced(self._scene.replace(size=(16, 16), bounces=0))
            self._whole(small, 1)

    def _traced(self, scene: Scene) -> Tracing:
        plan = make_solid_plan(scene, "cpu", 1)
        if plan.memory > MOST_BYTES:
            raise OptionError("this image takes too much memory: choose a smaller window")
        backend = self._backend_of(plan.precision)
        return Tracing(replace(plan, device=backend.kind, threads=backend.threads or 1), backend)

    def _whole(self, tracing: Tracing, samples: int) -> NDArray[Any]:
        """Return the picture of some samples."""
        width, height = tracing.plan.scene.image.size
        sums = np.zeros((height, width, 3), np.int64)
        tracing.add(sums, range(height), 0, samples, self._options.on_progress)
        return tracing.pixels(sums, samples)

    def pictures(self) -> Iterator[Refined | None]:
        """Yield pictures, the last one exact, and None after each step of a fraction of a second."""
        self.prepare()
        tracing = self._tracing
        assert tracing
        scene, (width, height) = self._scene, self._scene.image.size
        whole = tracing.plan.samples_per_pixel
        if self._sums is None:
            if max(width, height) > FIRST_SIDE:
                size = -(-width // FIRST_STEP), -(-height // FIRST_STEP)
                small = self._traced(scene.replace(size=size, bounces=0))
                yield Refined(self._whole(small, 1), FIRST_STEP, "a first look", False)
            look = self._traced(scene.replace(bounces=0))
            yield Refined(self._whole(look, 1), 1, "a fast look", False)
            self._sums = np.zeros((height, width, 3), np.int64)
        sums, shown, spent, took = self._sums, self._done, 0.0, 0.0
        while self._done < whole:
            last = min(whole, max(self._done + 1, min(2 * self._done, self._done + 4)))
            for top in range(0, height, ROWS):
                rows = range(top, min(height, top + ROWS))
                begun, own = perf_counter(), sums[top : rows.stop]
                fresh = np.zeros_like(own)  # an error ends a step early, which leaves no half of it
                tracing.add(fresh, rows, self._done, last, self._options.on_progress)
                own += fresh
                spent += perf_counter() - begun
                yield None
            self._done = last
            if last < whole and (last < 2 * shown or spent < took):
                continue
            begun, shown = perf_counter(), last
            pixels = tracing.pixels(sums, last)
            spent, took = 0.0, perf_counter() - begun
            yield Refined(pixels, 1, f"{last} of {whole} samples", last == whole)
        if shown < whole or self._done == shown == whole:
            return
