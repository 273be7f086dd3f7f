"""What the views of all families of images have in common, and those that become ever finer."""

import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from numpy.typing import NDArray

from fractals.backends.compilation import announced
from fractals.explorer.protocol import Where, pack_pixels
from fractals.explorer.scheduler import DrawingTask, Engine, Steps
from fractals.rendering.families import Refined, Refinement, family_of
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Tile
from fractals.scene.model import Scene

REST = 0.25  # seconds without input, after which more than the coarse picture is drawn
MAX_SECONDS = 60.0  # of work on a view, as of `Engine.spent`, until the user says to go on
LONG = 3600.0  # seconds until paused work looks again whether it may go on


@dataclass(kw_only=True, eq=False)
class ShownView(DrawingTask):
    """A client's view of a scene, and the messages about it."""

    engine: Engine
    scene: Scene  # of the size of the canvas; its colors may change: see `repaint`
    # frame, paint: as of PROTOCOL.md
    frame: int
    paint: int
    moving: bool = False  # whether only the coarse picture is drawn at first
    remote: bool = False  # whether messages are compressed
    say: Callable[..., None] = lambda kind, **keys: None  # ``say(kind, **keys)`` sends a text
    # ``put(message, frame, paint)`` sends a binary message
    put: Callable[[bytes, int, int], None] = lambda message, frame, paint: None
    # The client's view before; None once this one is opened, because its arrays are large
    before: "ShownView | None" = None
    opened: bool = False  # whether it is open, so that questions and the next view may use it
    rate: float = 0.0  # samples a second of one thread, in the last coarse picture; 0: not known

    begun: float = field(default_factory=monotonic)
    seconds: float = 0.0  # of work so far
    allowed: float = MAX_SECONDS  # seconds of work, after which the view is paused
    # Held while a message of the newest paint is sent, and while the paint is changed
    lock: threading.Lock = field(default_factory=threading.Lock)

    def compile(self) -> None:
        """Draw little, so that all programs of the view are compiled."""
        raise NotImplementedError

    def repaint(self, scene: Scene, paint: int, tell: Callable[[], None]) -> bool:
        """Take other colors while the view is drawn; False: it must be drawn anew."""
        return False

    def serves(self, scene: Scene) -> bool:
        """Tell whether the client has all that it needs to show the scene in other colors."""
        return False

    def go_on(self) -> None:
        """Continue after the view was paused: allow four times as much work."""
        self.allowed *= 4
        self.not_before = 0.0

    def worked(self, seconds: float) -> Steps:
        """Count seconds of work; pause after much work, until the user says to go on."""
        self.seconds += seconds
        if self.seconds > self.allowed:
            self.say("paused", frame=self.frame, seconds=int(self.allowed))
            while self.seconds > self.allowed:
                yield monotonic() + LONG
        yield None

    def send_status(self, what: str) -> None:
        """Send what is being done."""
        self.say("status", frame=self.frame, what=what)

    def send_pixels(self, tile: Tile, pixels: NDArray[Any], step: int = 1) -> None:
        """Send the pixels of a tile; `step`: pixels a sample."""
        self._put(pack_pixels, Where(self.frame, *tile, step), pixels, self.remote)

    def facts(self) -> dict[str, Any]:
        """Return the facts that the message `drawn` of every pass has."""
        return {}

    def send_drawn(self, name: str, seconds: float, **facts: Any) -> None:
        """Send that a pass has ended."""
        self.say(
            "drawn",
            frame=self.frame,
            paint=self.paint,
            ms=round(1e3 * seconds, 1),
            **self.facts(),
            **facts,
            **{"pass": name},
        )

    def _put(self, pack: Callable[..., bytes], where: Where, *content: Any) -> None:
        """Send a message of the newest paint, which may change while the message is packed."""
        while True:
            paint = self.paint
            message = pack(replace(where, paint=paint), *content)
            with self.lock:
                if self.paint == paint:
                    self.put(message, self.frame, paint)
                    return


# --- Views whose pixels are not drawn one by one, such as of a flame
#
# The family of the scene says how its picture becomes ever finer.

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
