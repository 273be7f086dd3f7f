"""What all views show: pictures of every family, ever finer, and whole ones while they move."""

import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.compilation import announced
from fractals.explorer.packing import Where, pack_pixels
from fractals.explorer.scheduler import STEP_SECONDS, DrawingTask, Engine, Steps
from fractals.kernels.layout import EscapeTile
from fractals.rendering.drawing import Drawing, Sink, make_painter
from fractals.rendering.families import Refined, Refinement, family_of
from fractals.rendering.iteration import Direct, Stop
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan, make_plan
from fractals.rendering.probing import Pairs
from fractals.rendering.shading import constants_of
from fractals.rendering.tiles import Tile
from fractals.scene.credits import SAID
from fractals.scene.geometry import matrix
from fractals.scene.model import Scene

STATUS_SECONDS = 0.5  # between two messages about the same work
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
    ahead: "Ahead | None" = None  # once some of the work is done
    done: float = 0.0  # share of the work of the pass, as told
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
        self.ahead = None  # the clock went on meanwhile

    def worked(self, seconds: float) -> Steps:
        """Count seconds of work; pause after much work, until the user says to go on."""
        self.seconds += seconds
        if self.seconds > self.allowed:
            self.say("paused", frame=self.frame, seconds=int(self.allowed))
            while self.seconds > self.allowed:
                yield monotonic() + LONG
        yield None

    def send_status(self, what: str, **more: Any) -> None:
        """Send what is being done."""
        self.say("status", frame=self.frame, what=what, **more)

    def send_ahead(self, what: str, share: float) -> None:
        """Send what is being done, which share of the work is done, and how long the rest takes."""
        if self.ahead is None:
            self.ahead = Ahead(share)
        elif (left := self.ahead.left(share)) is not None:
            self.say("status", frame=self.frame, what=what, share=round(share, 3), left=left)

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


class Ahead:
    """How long a view takes until it is sharp, by the share of its work that has been done."""

    def __init__(self, share: float) -> None:
        self._begun = self._told = monotonic()
        self._first = share

    def left(self, share: float) -> float | None:
        """Return the seconds that are left; None: too soon after the last ones."""
        now, gained = monotonic(), share - self._first
        if gained <= 0 or now - self._told < STATUS_SECONDS:
            return None
        self._told = now
        return round((now - self._begun) * (1 - share) / gained, 1)


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

    most_kept: int = 2**30  # bytes of sums that all drawn views of this kind keep together

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
            # The pace is that of what follows the first look and a first short step
            if self.refinement.share > 0:
                self.send_ahead("exact", self.refinement.share)
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


# --- MovedView: whole pictures of a view that moves, from rows and columns of the one before
#
# As in XaoS (Hubička, 1996), a row or column within a pixel of where the new picture needs one is
# shown again. Missing rows and columns are computed at their exact places, as many as the time
# allows, so errors do not add up. The exact picture contains no reused pixels.

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOVED_RATE = 30  # pictures a second that the new samples of moved ones are counted for
LEAST_SECONDS = 0.002  # of a moved picture, that tell how fast samples are
STEPS = (8, 4, 2, 1)  # pixels without a row or column, the widest gaps first
SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.06, 0.0)  # of the gaps that are filled


@dataclass(frozen=True)
class KnownPixels:
    """Pixels of a picture, and where their columns and rows lie along its axes, in the plane."""

    like: Any  # what else their colors depend on
    columns: Floats  # to the right
    rows: Floats  # downwards
    pixels: NDArray[np.uint8]  # shape (rows, columns, 3)


def axes(plan: Plan) -> tuple[Floats, Floats]:
    """Return the positions of a plan's pixels along the picture's axes, to the right and down."""
    a, b, c, d = map(float, matrix(plan.view))
    (x, y), (width, height), pixel = map(float, plan.center), plan.size, float(plan.pixel)
    area = a * d - b * c
    across, down = (d * x - b * y) / area, (c * x - a * y) / area
    columns: Floats = across + np.linspace(-1, 1, width) * ((width - 1) * pixel / 2)
    rows: Floats = down + np.linspace(-1, 1, height) * ((height - 1) * pixel / 2)
    return columns, rows


def in_plane(plan: Plan, columns: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """Return what `fractals.rendering.sampling.coordinates` does, of positions along the axes."""
    a, b, c, d = map(float, matrix(plan.view))
    return np.stack([a * columns, c * columns]), np.stack([-b * rows, -d * rows])


def nearest(known: Floats, axis: Floats) -> Indices:
    """Return for each pixel of an axis the known position that it takes, or -1.

    Both ascend. Each position is taken once, by the pixel that it is nearest to; where two are
    nearest to one pixel, the farther one goes to the next pixel if that has none.
    """
    taken = np.full(len(axis), -1)
    if axis[-1] == axis[0]:
        return taken  # its pixels are apart by less than float64 tells
    place = (known - axis[0]) * ((len(axis) - 1) / (axis[-1] - axis[0]))
    inside = np.flatnonzero((place > -0.5) & (place < len(axis) - 0.5))
    pixel = np.rint(place[inside]).astype(np.int64)
    off = place[inside] - pixel
    order = np.argsort(-abs(off), kind="stable")  # the nearest is written last
    taken[pixel[order]] = inside[order]
    left = taken[pixel] != inside
    beside = pixel[left] + np.where(off[left] > 0, 1, -1)
    free = (beside >= 0) & (beside < len(axis))
    free[free] = taken[beside[free]] < 0
    taken[beside[free]] = inside[left][free]
    return taken


def gaps(taken: Indices, focus: float) -> tuple[Indices, int]:
    """Return the pixels without a position, and how many of them a picture needs at least.

    The first ones fill the widest gaps, and those of equal gaps begin at the focus.
    """
    filled, order = taken >= 0, []
    for step in STEPS:
        begins = np.arange(0, len(filled), step)
        found = begins[~np.logical_or.reduceat(filled, begins)] + step // 2
        found = np.minimum(found, len(filled) - 1)
        filled[found] = True
        order.append(found[np.argsort(abs(found - focus))])
    return np.concatenate(order), len(order[0])


@dataclass(frozen=True)
class MovedAxis:
    """The positions along one axis of a moved picture: some are known, and others are added."""

    pixels: Indices  # that have a position; ascending
    sources: Indices  # the known position of each; -1: it is added
    positions: Floats

    @property
    def added(self) -> Indices:
        """Return which of the positions are added."""
        return np.flatnonzero(self.sources < 0)

    def shown(self, count: int) -> Indices:
        """Return the position that each of an axis's pixels shows: the nearest."""
        middles = (self.pixels[1:] + self.pixels[:-1] + 1) // 2
        return np.searchsorted(middles, np.arange(count), side="right")


def moved(
    known: tuple[Floats, Floats],
    wanted: tuple[Floats, Floats],
    focus: tuple[float, float],
    most: float,
) -> list[MovedAxis]:
    """Return columns and rows of a picture that needs at most about `most` new samples.

    `known`, `wanted`: positions along both axes; `focus`: the pixel where gaps are filled first.
    """
    taken = [nearest(*each) for each in zip(known, wanted, strict=True)]
    missing = [gaps(*each) for each in zip(taken, focus, strict=True)]
    across, down = (np.count_nonzero(each >= 0) for each in taken)
    for share in SHARES:
        counts = [least + int(share * (len(each) - least)) for each, least in missing]
        columns, rows = counts
        if rows * (across + columns) + columns * down <= most:
            break
    found = []
    for old, axis, sources, (order, _), count in zip(
        known, wanted, taken, missing, counts, strict=True
    ):
        there = sources >= 0
        positions = axis.copy()
        positions[there] = old[sources[there]]
        there[order[:count]] = True
        pixels = np.flatnonzero(there)
        found.append(MovedAxis(pixels, sources[pixels], positions[pixels]))
    return found


class MovedPicture:
    """The picture of a plan's view: known pixels, and those of rows and columns that are added."""

    def __init__(
        self, plan: Plan, known: KnownPixels | None, focus: tuple[float, float], most: float
    ) -> None:
        """`most`: new samples, about."""
        self.size, none = plan.size, np.zeros(0)
        old = (known.columns, known.rows) if known else (none, none)
        self.columns, self.rows = moved(old, axes(plan), focus, most)
        shape = len(self.rows.pixels), len(self.columns.pixels), 3
        self.pixels = np.empty(shape, np.uint8)
        if known:  # what is added replaces the last ones
            kept = known.pixels[self.rows.sources]
            np.take(kept, self.columns.sources, axis=1, mode="wrap", out=self.pixels)
        self.added = 0  # samples

    def parts(self) -> Iterator[tuple[Floats, Floats, NDArray[np.uint8]]]:
        """Yield positions of columns and rows, and the pixels that are to be filled there."""
        columns, rows = self.columns, self.rows
        kept = np.flatnonzero(rows.sources >= 0)
        whole = np.arange(len(columns.pixels))
        for across, down in ((whole, rows.added), (columns.added, kept)):
            if not (across.size and down.size):
                continue
            pixels = np.empty((len(down), len(across), 3), np.uint8)
            yield columns.positions[across], rows.positions[down], pixels
            self.pixels[down[:, None], across] = pixels
            self.added += len(down) * len(across)

    def known(self, like: Any) -> KnownPixels:
        """Return the pixels for the next picture."""
        return KnownPixels(like, self.columns.positions, self.rows.positions, self.pixels)

    def whole(self) -> NDArray[np.uint8]:
        """Return the picture; where neither row nor column is there, the nearest pixels."""
        width, height = self.size
        if self.pixels.shape[:2] == (height, width):
            return self.pixels
        rows, columns = self.rows.shown(height), self.columns.shown(width)
        return self.pixels[rows].take(columns, axis=1)


@dataclass(kw_only=True, eq=False)
class MovedView(ShownView):
    """A view whose pictures move with it, where the client gets pixels and no values."""

    focus: tuple[float, float] = (0.0, 0.0)  # pixel at which tiles begin
    shader: bool = True  # whether the client colors values; otherwise it gets pixels

    # With one sample a pixel; iterated, or read from raw numbers
    single: Drawing = field(init=False)
    known: KnownPixels | None = None  # of the newest whole picture
    moved: bool = False  # whether the client has got a moved picture

    def _plan(self, scene: Scene) -> Plan:
        """Return the plan of a scene on the engine's device; its painters are made apart."""
        backend = self.engine.backend(scene.iteration.number_type)
        return make_plan(scene, backend.kind, threads=backend.threads or 1, keeps="nothing")

    def moves_rows(self) -> bool:
        """Tell whether a moved picture is made of rows and columns of the one before."""
        plan = self.single.plan
        if self.shader or self.remote or not self.rate or min(plan.size) == 1:
            return False
        if plan.deep or plan.doubled:
            return False
        # These need more of a sample than its own numbers
        if plan.layers.whole or plan.layers.masks or plan.explicit_positions:
            return False
        if self.scene.relief.heights != "none":
            return False
        return self.moving or (self.known is not None and self.known.like == self._like())

    def _like(self) -> Any:
        """Return what the color of a sample depends on beside its place."""
        scene, single = toned_alone(self.scene), self.single
        view = scene.view.model_copy(update=dict.fromkeys(("center", "width", "zoom", "frame")))
        same = scene.model_copy(update={"view": view, **dict.fromkeys(SAID, "")})
        constants = [constants_of(single.plan, layer) for layer in single.plan.layers.drawn]
        return same, single.source.count_offset, constants, single.backend

    def draw_moved(self) -> Steps:
        """Send a whole picture, with rows and columns of the one before."""
        single, source, like = self.single, self.single.source, self._like()
        assert isinstance(source, Direct)
        plan = self._plan(toned_alone(self.scene))
        painter = make_painter(single.backend, plan, np.uint8)
        threads = max(1, single.backend.threads)
        known = self.known if self.known and self.known.like == like else None
        picture = MovedPicture(plan, known, self.focus, self.rate * threads / MOVED_RATE)
        seconds = 0.0
        for columns, rows, pixels in picture.parts():
            here = replace(single, source=source.at(*in_plane(plan, columns, rows)))

            def take(tile: Tile, stop: Stop, here: Drawing = here, out: Any = pixels) -> Any:
                def use(raw: EscapeTile, flags: Pairs) -> None:
                    rgb = painter.paint(tile, raw, source.max_iterations, source.count_offset)
                    single.backend.all_to_host([*flags, (rgb, out[tile.window()])])

                here.source.iterate_for(tile, use, stop)
                return {}

            height = -(-len(rows) // (4 * threads))
            strips = [
                Tile(0, y, len(columns), min(height, len(rows) - y))
                for y in range(0, len(rows), height)
            ]
            sink = Sink(partial(here.room.take, take))
            for spent in self.engine.batches(self, here, strips, sink):
                seconds += spent
                if spent > STEP_SECONDS:
                    yield None
        if seconds > LEAST_SECONDS:
            self.rate = picture.added / seconds / threads
        self.known, self.moved = picture.known(like), True
        self.send_pixels(Tile(0, 0, *plan.size), picture.whole())
        yield None


def at_one_sample(scene: Scene) -> Scene:
    """Return a scene with one sample a pixel, on the grid."""
    update, scene = {"supersampling": 1, "antialias": "grid"}, scene.in_samples()
    return scene.model_copy(update={"image": scene.image.model_copy(update=update)})


def toned_alone(scene: Scene) -> Scene:
    """Return a scene with one sample a pixel, developed as far as no pixel's place is needed."""
    plain = {"bloom": 0.0, "vignette": 0.0, "grain": 0.0}
    return at_one_sample(scene).model_copy(
        update={"develop": scene.develop.model_copy(update=plain)}
    )
