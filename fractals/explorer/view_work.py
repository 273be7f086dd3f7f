"""ViewWork: a view in passes: a coarse picture, tiles from the focus outwards, at rest exact tiles.

The engine runs its steps. `fractals.explorer.passes` has the passes.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any

from fractals.explorer.passes import Passes
from fractals.explorer.picture import Picture, Request, same_values
from fractals.explorer.scheduler import VIEW, Engine, Steps, Work
from fractals.explorer.tile_batches import TileBatches
from fractals.explorer.view_drawings import ViewDrawings
from fractals.explorer.view_messages import ViewMessages
from fractals.scene.model import Scene

REST = 0.25  # seconds without input, after which exact tiles are drawn


class ViewWork:
    """Draws a client's newest view.

    Parameters
    ----------
    engine : Engine
    request : Request
    before : Picture, optional
        The view that was drawn before, of the same client.
    key : tuple
        The key of the work; newer work of the same key replaces it.
    ready, failed : callable
        As of `Work`.

    Attributes
    ----------
    work : Work
        To be submitted to the engine.
    picture : Picture, optional
        Once it is begun.
    """

    def __init__(
        self,
        engine: Engine,
        request: Request,
        before: Picture | None,
        key: tuple[Any, ...],
        ready: Callable[[], bool],
        failed: Callable[[str], None],
    ) -> None:
        self.engine, self.request, self.before = engine, request, before
        self.rate = before.rate if before else 0.0
        self.begun = monotonic()
        self.picture: Picture | None = None
        self.exact = False  # whether values are complete, and exact tiles are next
        self.work = Work(key, self.steps, VIEW, ready, failed)
        self.messages = ViewMessages(request)
        self.batches = TileBatches(engine, self.work, self.messages)
        self.drawings = ViewDrawings(engine, self.work, self.messages)

    def steps(self, work: Work) -> Steps:
        """Yield after each step: see `fractals.explorer.scheduler`."""
        try:
            yield from self._passes(work)
        finally:
            with self.messages.lock:
                self.exact = True

    def _passes(self, work: Work) -> Steps:
        request, messages = self.request, self.messages
        messages.status("preparing")
        what = "values" if request.values else "pixels"
        picture = yield from self.engine.prepared(
            work, request.scene, what, lambda: self.drawings.picture(self.before)
        )
        self.before = None  # its arrays are large
        with messages.lock:
            self.picture = picture
            picture.values.repaint(request.scene)  # it may have changed meanwhile
        work.check()
        passes = Passes(picture, self.drawings, self.batches, messages)
        if picture.complete and request.values:
            messages.layers(picture.values)
        else:
            yield None
            yield from passes.coarse(self.rate)
            if request.moving:
                yield self.begun + REST
            if request.values:
                yield from passes.values()
        with messages.lock:
            picture.complete = self.exact = True
        yield self.begun + REST
        messages.status("exact")
        yield from passes.exact()

    def repaint(self, scene: Scene, paint: int, say: Callable[[], None]) -> bool:
        """Take colors that change no value while values are computed; False: draw anew.

        ``say()`` tells the client, between the last message of the old paint and the first of the
        new one.
        """
        with self.messages.lock:
            old = self.request.scene
            if self.exact or self.work.stale() or not same_values(old, scene):
                return False
            self.request.scene, self.request.paint = scene, paint
            say()
            if self.picture:
                self.picture.values.repaint(scene)
        if self.picture and self.picture.values.settled:
            self.messages.layers(self.picture.values)
        return True

    def go_on(self) -> None:
        """Continue after the view was paused."""
        self.batches.go_on()
