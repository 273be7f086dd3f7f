"""RefinedView: the view of a scene whose pixels are not drawn one by one, such as a flame.

The family of the scene says how its picture becomes ever finer.
"""

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic

from fractals.backends.compilation import announced
from fractals.explorer.scheduler import DrawingTask, Engine, Steps
from fractals.explorer.shown import REST, ShownView
from fractals.rendering.families import Refined, Refinement, family_of
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Tile
from fractals.scene.model import Scene

BAND = 2**18  # pixels of a message: more than one waits until there is room again


def refinement_of(
    engine: Engine, work: DrawingTask, scene: Scene, before: "ShownView | None" = None
) -> Refinement:
    """Return a picture that becomes ever finer until the work is replaced."""
    task = weakref.ref(work)  # a view keeps its refinement: both would wait for the collector

    def watch(_done: int, _all: int) -> None:
        if found := task():
            found.check()

    options = RenderOptions(
        device=engine.kind, threads=engine.threads, progress=watch, on_message=lambda line: None
    )
    old = before.refinement if isinstance(before, RefinedView) and before.opened else None
    return family_of(scene).refine(scene, options, engine.backend, old)


@dataclass(kw_only=True, eq=False)
class RefinedView(ShownView):
    """A client's view of a picture that becomes ever finer."""

    most_kept: int = 2**30  # bytes of sums that all such views keep together, once they are drawn

    refinement: Refinement = field(init=False)

    def open(self) -> None:
        """Open what draws, and compile its programs."""
        with announced(lambda: self.send_status("compiling")):
            self.refinement = refinement_of(self.engine, self, self.scene, self.before)
            self.refinement.prepare()

    def compile(self) -> None:
        """Compile all programs of the view."""
        self.open()

    def passes(self) -> Steps:
        """Draw the view, ever finer; yield after each step."""
        self.send_status("preparing")
        yield from self.engine.prepared(self, self.scene, "pixels", self.open)
        self.before = None
        self.opened = True
        self.check()
        begun, before = monotonic(), self.engine.spent()
        for picture in self.refinement.pictures():
            seconds = monotonic() - begun
            yield from self.worked(self.engine.spent() - before)
            if picture:
                yield from self.send(picture)
                name = "exact" if picture.exact else "coarse" if picture.step > 1 else "finer"
                self.send_drawn(name, seconds, said=picture.said)
                if self.moving and not picture.exact:
                    yield self.begun + REST
            begun, before = monotonic(), self.engine.spent()
        if not self.engine.keeps(self, self.refinement.kept, self.most_kept):
            self.refinement.free()

    def send(self, picture: Refined) -> Iterator[None]:
        """Send a picture in bands, as the client takes them."""
        height, width = picture.pixels.shape[:2]
        rows = max(1, BAND // width) if picture.step == 1 else height  # coarse ones are whole
        for top in range(0, height, rows):
            band = picture.pixels[top : top + rows]
            place = top * picture.step
            self.send_pixels(Tile(0, place, width, len(band)), band, picture.step)
            yield None
