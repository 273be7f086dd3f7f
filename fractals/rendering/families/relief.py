"""Reliefs: escape time as a landscape, lit and shadowed as solids are."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fractals.backends.base import Backend
from fractals.errors import OptionError
from fractals.io.escape_data import SUFFIXES, EscapeData
from fractals.io.image import Image
from fractals.rendering.compute_store import Computed
from fractals.rendering.families import AtOnce, Family, Refined, chosen_device
from fractals.rendering.families.escape import Escape
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.relief import ReliefPlan, draw_relief, light_ground, make_relief_plan
from fractals.rendering.solid.plan import samples_of
from fractals.scene.model import Scene

FIRST_STEP = 4  # pixels that one of a first look covers, along each side
FIRST_SAMPLES = 4
ROWS = 64  # of the picture, that are lit in a step
MOST_BYTES = 2**31


class ReliefRefinement(AtOnce):
    """A relief that becomes ever finer: a small one, then ever more samples of its light."""

    def prepare(self) -> None:
        """Compile what draws."""
        draw_relief(self._small((8, 6)), self._options.replace(progress=None))

    def _small(self, size: tuple[int, int]) -> Scene:
        return self._scene.replace(size=size, supersampling=1, samples=FIRST_SAMPLES, bounces=1)

    def pictures(self) -> Iterator[Refined | None]:
        """Yield pictures, the last one exact, and None after each step."""
        scene, (width, height) = self._scene, self._scene.image.size
        size = -(-width // FIRST_STEP), -(-height // FIRST_STEP)
        small = draw_relief(self._small(size), self._options)
        yield Refined(small.pixels, FIRST_STEP, "a first look", False)
        lighting, _ = light_ground(scene, self._options)
        yield None
        sums, done, whole = np.zeros((height, width, 3), np.int64), 0, samples_of(scene)
        while done < whole:
            last = min(whole, max(1, 2 * done))
            for top in range(0, height, ROWS):
                rows = range(top, min(height, top + ROWS))
                lighting.add(sums[top : rows.stop], rows, done, last, self._options.on_progress)
                yield None
            done = last
            said = f"{done} of {whole} samples"
            yield Refined(lighting.pixels(sums, done), 1, said, done == whole)


class Reliefs(Family):
    """The family of reliefs; its raw numbers are those of escape time."""

    title = "Reliefs: escape time as a landscape, lit by sun and sky"
    tables = ("relief", "camera", "light")
    suffixes = SUFFIXES

    def plan(self, scene: Scene, options: RenderOptions, keeps: Any) -> ReliefPlan:
        """Return how a scene is drawn."""
        device, threads = chosen_device(options)
        return make_relief_plan(scene, device.kind, options.interior_shortcuts, threads)

    def program(self, scene: Scene) -> str:
        """Return what a compiled program of a scene is for."""
        return f"{Escape().program(scene)}, relief"

    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""
        return draw_relief(scene, options)

    def refine(
        self,
        scene: Scene,
        options: RenderOptions,
        backend_of: Callable[[str], Backend],
        before: Any = None,
    ) -> ReliefRefinement:
        """Return a picture that becomes ever finer: samples are added up."""
        if make_relief_plan(scene, options.device).memory > MOST_BYTES:
            raise OptionError("this image takes too much memory: choose a smaller window")
        return ReliefRefinement(self, scene, options)

    def compute(self, scene: Scene, options: RenderOptions) -> EscapeData:
        """Compute the raw numbers of a picture."""
        return Escape().compute(scene, options)

    def compute_to(
        self, path: Path, scene: Scene, options: RenderOptions, store_options: StoreOptions
    ) -> Computed:
        """Compute the raw numbers of a picture into a store, or resume one."""
        return Escape().compute_to(path, scene, options, store_options)

    def load(self, path: Path) -> EscapeData:
        """Return the raw numbers of a store."""
        return Escape().load(path)

    def recolor(self, raw: EscapeData, scene: Scene, options: RenderOptions) -> Image:
        """Draw the picture of raw numbers."""
        return draw_relief(scene, options, raw)


make = Reliefs  # as the catalog finds it
