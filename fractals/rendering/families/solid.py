"""Solids: rays walk to a surface in space, and paths of light are traced from there."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.backends.devices import choose
from fractals.errors import OptionError
from fractals.io import png
from fractals.io.image import Image, PictureFile, png_beginning
from fractals.rendering.families import Plain, Rendered, written_to
from fractals.rendering.options import RenderOptions
from fractals.rendering.solid.plan import SolidPlan, make_solid_plan
from fractals.rendering.solid.refine import SolidRefinement
from fractals.rendering.solid.trace import Tracing, open_tracing
from fractals.scene.model import Scene
from fractals.threads import core_count

LOOPS = {"cpu": "packs", "python": "python"}


class Solids(Plain):
    """The family of solids; see `fractals.rendering.families.Family`."""

    title = "Solids: rays walk to a surface in space, lit by sun and sky"

    def plan(self, scene: Scene, options: RenderOptions, keeps: Any) -> SolidPlan:
        """Return how a scene is drawn."""
        device, note = choose(options.device)
        if note:
            options.on_message(note)
        return make_solid_plan(scene, device.kind, options.threads or device.cores or 1, keeps)

    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""
        tracing, timings = open_tracing(scene, options), {"iterate": 0.0, "color": 0.0}
        width, height = scene.image.size
        pixels = np.empty((height, width, 3), np.uint16 if scene.image.bits == 16 else np.uint8)
        for rows, part in bands(tracing, options, timings):
            pixels[rows.start : rows.stop] = part
        return Image(pixels, **facts_of(tracing, timings))

    def render_to(
        self,
        path: str | Path | BinaryIO,
        scene: Scene,
        options: RenderOptions,
        overwrite: bool,
        cluster: Any,
    ) -> Rendered:
        """Draw a picture into a file, whose rows are written while others are drawn."""
        target = PictureFile(path, scene.image, overwrite)
        if cluster is not None:
            raise OptionError(f"{self._of(scene)} is drawn by one machine: leave cluster= out")
        if not target.streams:
            return written_to(target, self.render(scene, options))
        tracing, timings = open_tracing(scene, options, "bands"), {"iterate": 0.0, "color": 0.0}
        picture, number, encoding = scene.image, 0, 0.0
        tall, threads = png.strip_rows(picture.size, picture.bits), options.threads or core_count()
        with target.open() as file:
            writer = png.PngWriter(file, png_beginning(scene, picture.size, picture.bits))
            for _, part in bands(tracing, options, timings, tall):
                begun = perf_counter()
                number = png.put_rows(writer, number, part, tall, picture.compression, threads)
                encoding += perf_counter() - begun
            writer.end()
        return Rendered(**facts_of(tracing, timings | {"encode": encoding}))

    def refine(
        self,
        scene: Scene,
        options: RenderOptions,
        backend_of: Callable[[str], Backend],
        before: Any = None,
    ) -> SolidRefinement:
        """Return a picture that becomes ever finer: samples are added up."""
        return SolidRefinement(scene, options, backend_of)

    def redraw(self, scene: Scene, options: RenderOptions, seed: int) -> Image:
        """Draw a picture again, and compare the light of some pixels with plain Python's."""
        open_tracing(scene, options).check(seed)
        return self.render(scene, options)


def bands(
    tracing: Tracing, options: RenderOptions, timings: dict[str, float], tall: int = 1
) -> Iterator[tuple[range, NDArray[Any]]]:
    """Yield rows and pixels of a picture, band by band; `tall`: rows of which bands are multiples."""
    plan = tracing.plan
    (width, height), samples = plan.scene.image.size, plan.samples_per_pixel
    step = min(height, max(1, plan.band // tall) * tall)
    for top in range(0, height, step):
        rows, begun = range(top, min(height, top + step)), perf_counter()
        sums = np.zeros((len(rows), width, 3), np.int64)
        progress = options.on_progress
        if progress and step < height:
            done = top, height
            progress = lambda part, of, begin=done, own=len(rows): options.on_progress(  # noqa: E731
                round((begin[0] + own * part / of) * 100), begin[1] * 100
            )
        tracing.add(sums, rows, 0, samples, progress)
        traced = perf_counter()
        part = tracing.pixels(sums, samples)
        timings["iterate"] += traced - begun
        timings["color"] += perf_counter() - traced
        yield rows, part


def facts_of(tracing: Tracing, timings: dict[str, float]) -> dict[str, Any]:
    """Return the facts of a picture's making, as of `fractals.io.summary.PictureFacts`."""
    plan = tracing.plan
    return {
        "scene": plan.scene,
        "timings": timings,
        "device": plan.device,
        "precision": plan.precision,
        "method": plan.method,
        "loop": LOOPS.get(plan.device, "kernel"),
    }


def make() -> Solids:
    """Return the family."""
    return Solids()
