"""Reliefs: escape time as a landscape, lit and shadowed as solids are."""

from pathlib import Path
from typing import Any

from fractals.backends.devices import choose
from fractals.io.escape_data import SUFFIXES, EscapeData
from fractals.io.image import Image
from fractals.rendering.compute_store import Computed
from fractals.rendering.families import Plain
from fractals.rendering.families.escape import Escape
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.relief import ReliefPlan, draw_relief, make_relief_plan
from fractals.scene.model import Scene


class Reliefs(Plain):
    """The family of reliefs; its raw numbers are those of escape time."""

    title = "Reliefs: escape time as a landscape, lit by sun and sky"
    suffixes = SUFFIXES

    def plan(self, scene: Scene, options: RenderOptions, keeps: Any) -> ReliefPlan:
        """Return how a scene is drawn."""
        device, note = choose(options.device)
        if note:
            options.on_message(note)
        threads = options.threads or device.cores or 1
        return make_relief_plan(scene, device.kind, options.interior_shortcuts, threads)

    def program(self, scene: Scene) -> str:
        """Return what a compiled program of a scene is for."""
        return f"{Escape().program(scene)}, relief"

    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""
        return draw_relief(scene, options)

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


def make() -> Reliefs:
    """Return the family."""
    return Reliefs()
