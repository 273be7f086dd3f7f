"""Escape time: each sample's orbit is iterated until it leaves, and its count is colored."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from fractals.backends.base import Backend, Stages
from fractals.io.escape_data import SUFFIXES, planes_for
from fractals.io.image import Image, PictureFile
from fractals.rendering.drawing import (
    draw_tile,
    open_drawing,
    open_plan,
)
from fractals.rendering.families import Family, Rendered, chosen_device, written_to
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.plan import Keeps, Plan, make_plan
from fractals.rendering.raw_numbers import EscapeData, compute_data
from fractals.rendering.render import draw_image, finish, measure, stream
from fractals.scene.model import Scene

if TYPE_CHECKING:
    from fractals.rendering.stores.compute_store import Computed

LIMIT = 1000  # iterations of kernels that are shown, where a scene leaves them to a probe


class Escape(Family):
    """The family of images that iterate; see `fractals.rendering.families.Family`."""

    title = "Escape time: orbits are iterated, and their counts are colored"
    has_inside = True
    suffixes = SUFFIXES
    looks = (*Family.looks, "relief", "camera", "light")
    single_pixels = True
    uses_colorings = True

    def plan(self, scene: Scene, options: RenderOptions, keeps: Keeps) -> Plan:
        """Return how a scene is drawn."""
        device, threads = chosen_device(options)
        return make_plan(scene, device.kind, options.interior_shortcuts, threads, keeps)

    def plan_table(
        self, scene: Scene, options: RenderOptions, keeps: Keeps, measures: bool
    ) -> dict[str, Any]:
        """Return the plan as plain values.

        With `measures` the seconds on a CPU are measured on some samples, and the limit "auto" is
        found, which compiles programs.
        """
        from fractals.rendering.measured import is_measurable, is_soon_open

        planned = self.plan(scene, options, keeps)
        table = planned.to_table()
        table["measured"] = measures and is_measurable(planned)
        if table["measured"] or (measures and planned.probed and is_soon_open(planned)):
            quiet = options.replace(on_message=lambda line: None)
            if found := measure(scene, quiet, planned):
                table["seconds"] = float(f"{found.seconds:.2g}")
                table["max_iterations"] = found.max_iterations
            else:
                table["measured"] = False
                options.on_message("the reference orbit alone takes longer than the forecast says")
        if keeps in ("store", "raw"):
            pair = np.result_type(planned.number, np.complex64)
            kept = planes_for(planned.layers, pair).values()
            table["file"] = planned.samples * sum(kind.itemsize for kind in kept)
        return table

    def program(self, scene: Scene) -> str:
        """Return what a compiled program of a scene is for: formula and colorings."""
        formula = scene.make_formula().name + (" (Julia set)" if scene.julia else "")
        colorings = (paint.coloring.name for paint in scene.color.paints)
        return ", ".join(dict.fromkeys([formula, *colorings]))

    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""
        stages = Stages()
        return draw_image(*open_plan(scene, options), options, stages)

    def run_kernels(self, scene: Scene, backend_of: Callable[[str], Backend]) -> int:
        """Draw some pixels; the first kernel iterates."""
        if scene.iteration.max_iterations == "auto":
            scene = scene.replace(max_iterations=LIMIT)
        plan = make_plan(scene.replace(size=(8, 6)), "opencl", keeps="pixels")
        options = RenderOptions(device="simulator", on_message=lambda line: None)
        opened = open_drawing(plan, backend_of(plan.number), options)
        draw_tile(opened, plan.tiles[0], np.zeros((6, 8, 3), opened.dtype))
        return 0

    def compared(self, scene: Scene, options: RenderOptions) -> tuple[int, str]:
        """Return the checksum of some raw numbers, and the kind of the device."""
        from fractals.rendering.cluster.worker import known_sum

        plan, backend = open_plan(scene, options, "nothing")
        drawing = open_drawing(plan, backend, options)
        return known_sum(drawing), drawing.plan.device

    def render_to(
        self,
        path: str | Path | BinaryIO,
        scene: Scene,
        options: RenderOptions,
        overwrite: bool,
        cluster: Any,
    ) -> Rendered:
        """Draw a picture into a file, band by band."""
        stages, target = Stages(), PictureFile(path, scene.image, overwrite)
        plan, backend = open_plan(scene, options, "bands" if target.streams else "pixels")
        if cluster is not None:
            from fractals.rendering.cluster.job import draw_poster

            return draw_poster(path, target, plan, backend, options, stages, cluster)
        if not target.streams or plan.layers.whole or scene.develop.bloom:
            return written_to(target, draw_image(plan, backend, options, stages), options)
        drawing = open_drawing(plan, backend, options, stages=stages)
        with target.open() as file:
            return stream(file, drawing, options)

    def live(self, image: Image) -> bytes:
        """Return what a web page of a picture draws other places with."""
        from fractals.rendering import live

        return live.asked(image)

    def compute(self, scene: Scene, options: RenderOptions) -> EscapeData:
        """Compute the raw numbers of a picture."""
        stages = Stages()
        return compute_data(*open_plan(scene, options, "raw"), options, stages)

    def compute_to(
        self, path: Path, scene: Scene, options: RenderOptions, store_options: StoreOptions
    ) -> "Computed":
        """Compute the raw numbers of a picture into a store, or resume one."""
        from fractals.rendering.stores.compute_store import compute_data_to

        return compute_data_to(path, scene, options, store_options)

    def load(self, path: Path) -> EscapeData:
        """Return the raw numbers of a store."""
        return EscapeData.load(path)

    def recolor(self, raw: EscapeData, scene: Scene, options: RenderOptions) -> Image:
        """Draw the picture of raw numbers."""
        from fractals.rendering.recoloring import open_recoloring

        return finish(open_recoloring(scene, raw, options), options)

    def recolor_to(
        self,
        path: str | Path | BinaryIO,
        raw: EscapeData,
        scene: Scene,
        options: RenderOptions,
        overwrite: bool,
    ) -> Rendered:
        """Draw the picture of raw numbers into a file, band by band."""
        from fractals.rendering.recoloring import open_recoloring

        target = PictureFile(path, scene.image, overwrite)
        drawing = open_recoloring(scene, raw, options, "bands" if target.streams else "pixels")
        if not target.streams or drawing.glows:
            return written_to(target, finish(drawing, options), options)
        with target.open() as file:
            return stream(file, drawing, options)


make = Escape  # as the catalog finds it
