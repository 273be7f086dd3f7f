"""ViewDrawings: opens what computes and colors the samples of a view."""

from dataclasses import replace
from time import monotonic

import numpy as np

from fractals.backends.compilation import announced
from fractals.explorer.picture import (
    Picture,
    Request,
    at_one_sample,
    needs_of,
    same_values,
    same_view,
)
from fractals.explorer.scheduler import Engine, Work
from fractals.explorer.values import ViewValues
from fractals.explorer.view_messages import ViewMessages
from fractals.io.escape_data import EscapeData
from fractals.rendering.drawing import Drawing, draw_tile, open_drawing, pixel_type, sampled
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan, make_plan
from fractals.rendering.shading import Painter
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene

STATUS_SECONDS = 0.5  # between two messages while a reference orbit is computed


class ViewDrawings:
    """Opens the drawings of a request, in the engine's thread."""

    def __init__(self, engine: Engine, work: Work, messages: ViewMessages) -> None:
        self.engine, self.work, self.messages = engine, work, messages

    @property
    def request(self) -> Request:
        """Return the request, whose colors may change."""
        return self.messages.request

    def picture(self, before: Picture | None) -> Picture:
        """Return the picture to draw; it shares with the picture before what serves both."""
        if before and (found := self._kept(before)):
            return found
        with announced(lambda: self.messages.status("compiling")):
            return (before and self._recolored(before)) or self._opened()

    def _kept(self, before: Picture) -> Picture | None:
        """Return the picture before, if the client has its values and they are the same."""
        scene, old = self.request.scene, before.request.scene
        if not before.complete or before.request.frame != self.request.frame:
            return None  # the client has no values of a frame that is new, even at the same place
        if not (same_view(old, scene) and same_values(old, scene)):
            return None
        return replace(before, request=self.request, seconds=0.0)

    def _recolored(self, before: Picture) -> Picture | None:
        """Return the picture of the same view in other colors, from numbers that are kept."""
        scene = self.request.scene
        if before.raw is None or not same_view(before.request.scene, scene):
            return None
        plan = self.plan(scene)
        if plan.layers.lacking(before.raw.planes):
            return None
        backend = self.engine.backend(plan.precision)
        single = self.plan(at_one_sample(scene))
        stored = open_drawing(single, backend, self._options(), shading=False, stored=before.raw)
        picture = Picture(self.request, before.drawing, stored, ViewValues(stored), before.raw)
        picture.rate = before.rate
        old_needs, needs = (needs_of(each) for each in (before.drawing.plan, plan))
        if old_needs != needs:  # statistics are computed step by step, and z then rounds otherwise
            picture.drawing = open_drawing(plan, backend, self._options(), shading=False)
        picture.raw_is_exact = before.raw_is_exact and old_needs == needs
        return picture

    def _opened(self) -> Picture:
        plan = self.plan(self.request.scene)
        backend = self.engine.backend(plan.precision)
        drawing = open_drawing(plan, backend, self._options(), shading=False)
        single = sampled(drawing)
        values = ViewValues(single)
        one = Tile(0, 0, 1, 1)
        values.plain(one, single.source.iterate(one, 1))  # compiles: the coarse picture is timed
        return Picture(self.request, drawing, single, values)

    def compile(self) -> None:
        """Draw a pixel, so that all programs of the view are compiled."""
        picture = self.picture(None)
        drawing = picture.drawing
        if not drawing.plan.layers.whole:
            tile, rgb = Tile(0, 0, 1, 1), np.empty((1, 1, 3), drawing.dtype)
            draw_tile(self.iterating(drawing.plan, picture), tile, rgb, self.work.stale)

    def stored(self, plan: Plan, picture: Picture, raw: EscapeData) -> Drawing:
        """Return a drawing that colors raw numbers of all samples."""
        return open_drawing(plan, picture.drawing.backend, self._options(), stored=raw)

    def iterating(self, plan: Plan, picture: Picture) -> Drawing:
        """Return a drawing that iterates the samples of a picture, and colors them."""
        backend, scene = picture.drawing.backend, plan.scene
        painter = Painter(backend, scene, plan, plan.layers, pixel_type(scene))
        # The source's own plan has the colors of the view that it was opened for.
        return Drawing(plan, backend, picture.drawing.source, painter)

    def plan(self, scene: Scene) -> Plan:
        """Return the plan of a scene on the engine's device."""
        backend = self.engine.backend(scene.iteration.number_type)
        return make_plan(scene, backend.kind, threads=backend.threads or 1)

    def _options(self) -> RenderOptions:
        """Return options whose progress ends replaced work, and sends a status."""
        said = [monotonic()]

        def watch(_done: int, _all: int) -> None:
            self.work.check()
            if monotonic() - said[0] > STATUS_SECONDS:
                said[0] = monotonic()
                self.messages.status("reference")

        return RenderOptions(force=True, progress=watch, on_message=lambda line: None)
