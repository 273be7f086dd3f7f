"""ViewWork: a view in passes: a coarse picture, tiles from the focus outwards, at rest exact tiles.

The engine runs its steps. `fractals.explorer.view_work` has the passes.
"""

import json
import math
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.compilation import announced
from fractals.errors import OptionError
from fractals.explorer.protocol import Where, pack_pixels, pack_table, pack_values
from fractals.explorer.scheduler import VIEW, DrawingTask, Engine, Steps
from fractals.explorer.values import ViewValues
from fractals.io.escape_data import EscapeData, arrays_of
from fractals.kernels.layout import EscapeTile
from fractals.rendering.drawing import (
    Drawing,
    copy_numbers,
    draw_tile,
    open_drawing,
    pixel_type,
    sampled,
)
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan, Tile, make_plan
from fractals.rendering.shading import Painter
from fractals.scene.model import Scene
from fractals.scene.paint import Paint
from fractals.threads import run_tiles

# What a client wants to see, and the view that is drawn for it.


@dataclass
class Request:
    """What a client wants to see."""

    scene: Scene  # of the size of the canvas
    # frame, paint: as of PROTOCOL.md
    frame: int
    paint: int
    focus: tuple[float, float]  # pixel at which tiles begin
    moving: bool  # whether only the coarse picture is drawn at first
    # values, remote: whether values are sent for a shader; whether messages are compressed
    values: bool
    remote: bool
    put: Callable[[str | bytes, int, int], None]  # ``put(message, frame, paint)`` sends
    keeps_raw: bool = True  # whether raw numbers stay in memory for a recoloring

    def say(self, kind: str, **keys: Any) -> None:
        """Send a text message."""
        self.put(json.dumps({"t": kind, **keys}), 0, 0)


@dataclass
class Picture:
    """A view that is drawn: what a later recoloring or a question about it needs."""

    request: Request
    drawing: Drawing  # with the scene's own supersampling
    single: Drawing  # with one sample a pixel; iterated, or read from `raw`
    values: ViewValues
    raw: EscapeData | None = None  # of all samples of `single`, once they are computed
    rate: float = 0.0  # samples a second of one thread, in the coarse picture
    seconds: float = 0.0  # work so far
    # Whether `raw` has the very numbers that the scene's own colorings are computed from
    raw_is_exact: bool = True
    complete: bool = False  # whether the client has all values


def needs_of(plan: Plan) -> tuple[bool, tuple[str, ...]]:
    """Return what the colorings of a plan need besides count and z."""
    return plan.layers.derivative, tuple(plan.layers.statistics.names)


def same_view(old: Scene, scene: Scene) -> bool:
    """Tell whether two scenes differ in nothing but their colors."""
    return old.model_copy(update={"color": scene.color}) == scene


def same_values(old: Scene, scene: Scene) -> bool:
    """Tell whether the layers of two scenes have equal values, however these are colored."""

    def facts(paint: Paint) -> tuple[Any, ...]:
        return paint.coloring, paint.transfer, paint.mask, paint.range

    first, second = ([each.color, *each.color.layers] for each in (old, scene))
    return [facts(paint) for paint in first] == [facts(paint) for paint in second]


def at_one_sample(scene: Scene) -> Scene:
    """Return a scene with one sample a pixel, on the grid."""
    update = {"supersampling": 1, "antialias": "grid"}
    return scene.model_copy(update={"image": scene.image.model_copy(update=update)})


# ViewMessages: what is sent to a client while its view is drawn.


class ViewMessages:
    """Sends what a request asks for, in its newest paint."""

    def __init__(self, request: Request) -> None:
        self.request = request
        # Held while a message of the newest paint is sent, and while the paint is changed
        self.lock = threading.Lock()

    def status(self, what: str) -> None:
        """Send what is being done."""
        self.request.say("status", frame=self.request.frame, what=what)

    def paused(self, seconds: float) -> None:
        """Send that the view waits until the user says to go on."""
        self.request.say("paused", frame=self.request.frame, seconds=int(seconds))

    def layers(self, values: ViewValues) -> None:
        """Send how values become colors."""
        request = self.request
        request.say("layers", frame=request.frame, paint=request.paint, layers=values.described())
        if request.values:
            for k, table in enumerate(values.tables()):
                self._put(pack_table, Where(request.frame, w=3, h=len(table), layer=k), table)

    def values(
        self, values: ViewValues, tile: Tile, found: Sequence[NDArray[np.float64]], step: int = 1
    ) -> None:
        """Send the values of every layer in a tile; `step`: pixels a sample."""
        for k, (layer, part) in enumerate(zip(values.layers, found, strict=True)):
            where = replace(self._where(tile, step), layer=k)
            self._put(pack_values, where, layer.centered(part), self.request.remote)

    def pixels(self, tile: Tile, pixels: NDArray[Any], step: int = 1) -> None:
        """Send the pixels of a tile; `step`: pixels a sample."""
        self._put(pack_pixels, self._where(tile, step), pixels, self.request.remote)

    def drawn(self, name: str, picture: Picture, seconds: float, **facts: Any) -> None:
        """Send that a pass has ended."""
        request = self.request
        request.say(
            "drawn",
            frame=request.frame,
            paint=request.paint,
            ms=round(1e3 * seconds, 1),
            max_iterations=picture.single.source.max_iterations,
            **facts,
            **{"pass": name},
        )

    def _where(self, tile: Tile, step: int) -> Where:
        return Where(self.request.frame, tile.x, tile.y, tile.width, tile.height, step)

    def _put(self, pack: Callable[..., bytes], where: Where, *content: Any) -> None:
        """Send a message of the newest paint, which may change while the message is packed."""
        request = self.request
        while True:
            paint = request.paint
            message = pack(replace(where, paint=paint), *content)
            with self.lock:
                if request.paint == paint:
                    request.put(message, request.frame, paint)
                    return


# TileBatches: runs the tiles of a view in all threads, some in each step of the engine.


MAX_SECONDS = 60.0  # of work on a view, until the user says to go on
TILE_SECONDS = 0.02  # of a thread: stale work ends within about this time
SIDES = (256, 128, 64, 32)  # pixels of a tile
SLOW_SIDES = (32, 16, 8, 4)  # where others would wait too long; they iterate more slowly
SLOW_SECONDS = 0.25  # of such a tile
MAX_LIMIT = 10**8  # iterations of a sample while others are connected: some seconds
MAX_STEPS = 2**31  # iterations of a tile while others are connected: some seconds
STEP_SECONDS = 0.25  # of a step of the engine, where it has more tiles than threads
LONG = 3600.0  # seconds until paused work looks again whether it may go on


class TileBatches:
    """Runs the tiles of a view until newer work replaces the view."""

    def __init__(self, engine: Engine, work: DrawingTask, messages: ViewMessages) -> None:
        self.engine, self.work, self.messages = engine, work, messages
        self.allowed = MAX_SECONDS  # seconds of work, after which the view is paused

    def go_on(self) -> None:
        """Allow four times as much work."""
        self.allowed *= 4
        self.work.not_before = 0.0

    def run(self, tiles: Sequence[Tile], draw: Callable[[Tile], None]) -> None:
        """Call ``draw(tile)`` for each tile, in all threads; raise `Stale` for replaced work."""

        def unless_stale(tile: Tile) -> dict[str, float]:
            if not self.work.stale():
                draw(tile)
            return {}

        run_tiles(list(tiles), unless_stale, self.engine.backend("float64").threads)
        self.work.check()

    def paced(
        self, drawing: Drawing, tiles: Sequence[Tile], draw: Callable[[Tile], None]
    ) -> Iterator[float]:
        """Run tiles, four for each thread at once or fewer slow ones; yield seconds after each.

        While several clients are connected, tiles are so small that each ends in some seconds even
        if every sample takes all iterations: the CPU's loop can't be stopped.

        Raises
        ------
        OptionError
            A single sample could take much longer.
        """
        limit, direct = drawing.source.max_iterations, drawing.plan.method == "direct"
        most = MAX_STEPS // (limit * drawing.plan.supersampling**2) if direct else MAX_STEPS
        threads = max(1, drawing.backend.threads)
        waiting, count = deque(tiles), 4 * threads
        while waiting:
            batch: list[Tile] = []
            while waiting and len(batch) < count:
                tile = waiting.popleft()
                if self.engine.crowded():
                    if direct and limit > MAX_LIMIT:
                        raise OptionError(
                            f"others are connected: lower max_iterations to {MAX_LIMIT}"
                        )
                    tile, *rest = smaller(tile, most)
                    waiting.extendleft(reversed(rest))
                batch.append(tile)
            begun = monotonic()
            self.run(batch, draw)
            seconds = monotonic() - begun
            count = threads if seconds > STEP_SECONDS else 4 * threads
            yield seconds

    def steps(
        self,
        picture: Picture,
        drawing: Drawing,
        tiles: Sequence[Tile],
        draw: Callable[[Tile], None],
    ) -> Steps:
        """Run tiles, some for each thread in a step of the engine."""
        for seconds in self.paced(drawing, tiles, draw):
            picture.seconds += seconds
            if picture.seconds > self.allowed:
                self.messages.paused(self.allowed)
                while picture.seconds > self.allowed:
                    yield monotonic() + LONG
            yield None


def smaller(tile: Tile, most: int) -> list[Tile]:
    """Return a tile in parts of at most `most` pixels, or of one pixel."""
    if tile.width * tile.height <= max(1, most):
        return [tile]
    x, y, width, height = tile
    if width >= height:
        half = width // 2
        parts = [Tile(x, y, half, height), Tile(x + half, y, width - half, height)]
    else:
        half = height // 2
        parts = [Tile(x, y, width, half), Tile(x, y + half, width, height - half)]
    return [each for part in parts for each in smaller(part, most)]


def tile_side(rate: float, n: int) -> int:
    """Return the side of a tile of about TILE_SECONDS.

    Parameters
    ----------
    rate : float
        Samples a second of one thread.
    n : int
        Samples across a pixel.
    """
    pixels, slow = (rate * seconds / n**2 for seconds in (TILE_SECONDS, SLOW_SECONDS))
    found = [side for side in SIDES if side * side <= pixels]
    found += [side for side in SLOW_SIDES if side * side <= slow]
    return found[0] if found else SLOW_SIDES[-1]


def tiles_outwards(size: tuple[int, int], focus: tuple[float, float], side: int) -> list[Tile]:
    """Return the tiles of a picture, the nearest to the focus first."""
    width, height = size
    tiles = [
        Tile(x, y, min(side, width - x), min(side, height - y))
        for y in range(0, height, side)
        for x in range(0, width, side)
    ]
    x, y = focus
    return sorted(tiles, key=lambda t: math.hypot(t.x + t.width / 2 - x, t.y + t.height / 2 - y))


# ViewDrawings: opens what computes and colors the samples of a view.


STATUS_SECONDS = 0.5  # between two messages while a reference orbit is computed


class ViewDrawings:
    """Opens the drawings of a request, in the engine's thread."""

    def __init__(self, engine: Engine, work: DrawingTask, messages: ViewMessages) -> None:
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


# The passes over a view: a coarse picture, the values of every pixel, and exact pixels.


FRAME_RATE = 20  # coarse pictures a second that the step is chosen for
STEPS = (2, 4, 8)  # pixels a sample of the coarse picture


class Passes:
    """Draws a picture, each pass in steps of the engine."""

    def __init__(
        self,
        picture: Picture,
        drawings: ViewDrawings,
        batches: TileBatches,
        messages: ViewMessages,
    ) -> None:
        self.picture, self.drawings = picture, drawings
        self.batches, self.messages, self.request = batches, messages, messages.request
        self.stale = batches.work.stale

    # ------------------------------------------------------------------ coarse picture

    def coarse(self, rate: float) -> Steps:
        """Draw one sample in some pixels; `rate`: samples a second, where none was measured."""
        picture, request = self.picture, self.request
        step = coarse_step(picture, picture.rate or rate)
        across, down = (-(-side // step) for side in request.scene.image.size)
        single = picture.single
        coarse = sampled(single, step) if picture.raw is None else single
        values = [np.empty((down, across)) for _ in picture.values.layers]
        counts = np.empty((down, across), np.int32)
        pixels = np.empty((down, across, 3), np.uint8)
        painter = self._coarse_painter(coarse)
        source = coarse.source

        def draw(tile: Tile) -> None:
            raw = self._coarse_samples(coarse, tile, step)
            window = tile.window()
            for found, part in zip(picture.values.plain(tile, raw), values, strict=True):
                part[window] = found
            single.backend.to_host(raw.count, counts[window])
            if painter:
                rgb = painter.paint(tile, raw, source.max_iterations, source.count_offset)
                single.backend.to_host(rgb, pixels[window])

        threads = max(1, single.backend.threads)
        rows = max(
            1, min(down // (4 * threads), int((picture.rate or rate) * TILE_SECONDS / across))
        )
        strips = [Tile(0, y, across, min(rows, down - y)) for y in range(0, down, rows)]
        seconds = 0.0
        for spent in self.batches.paced(coarse, strips, draw):
            seconds += spent
            if spent > STEP_SECONDS:
                yield None
        for layer, part in zip(picture.values.layers, values, strict=True):
            layer.settle(part)
        picture.values.settled = True
        if picture.raw is None:
            picture.rate = across * down / max(seconds, 1e-4) / threads
        self.messages.layers(picture.values)
        whole = Tile(0, 0, across, down)
        if request.values:
            self.messages.values(picture.values, whole, values, step)
        elif painter:
            self.messages.pixels(whole, pixels, step)
        self.messages.drawn(
            "coarse",
            picture,
            seconds,
            **_share_inside(counts, source.max_iterations),
            method=picture.drawing.plan.method,
        )
        yield None

    def _coarse_painter(self, coarse: Drawing) -> Painter | None:
        """Return what colors the coarse picture, if pixels are sent of samples by themselves."""
        if self.request.values or self.picture.drawing.plan.layers.whole:
            return None
        plan = self.picture.single.plan
        return Painter(coarse.backend, plan.scene, plan, plan.layers, np.uint8)

    def _coarse_samples(self, coarse: Drawing, tile: Tile, step: int) -> EscapeTile:
        """Return the escape data of a tile that counts samples of the coarse picture."""
        if self.picture.raw is None:
            return coarse.source.iterate(tile, stop=self.stale)
        size = self.request.scene.image.size
        i = np.minimum(np.arange(tile.width) * step + step // 2, size[0] - 1)[None]
        j = np.arange(tile.y, tile.y + tile.height) * step + step // 2
        j = np.minimum(j, size[1] - 1)[:, None]
        i, j = np.broadcast_arrays(i, j)
        return coarse.source.iterate_some(i, j, (tile.height, tile.width))

    # ------------------------------------------------------------------ values

    def values(self) -> Steps:
        """Send the values of one sample a pixel; keep its raw numbers where they are not kept."""
        begun, picture, single = monotonic(), self.picture, self.picture.single
        stored = picture.raw is not None
        side = SIDES[0] if stored else tile_side(picture.rate, 1)
        planes = {}
        if self.request.keeps_raw and not stored:
            planes = _empty_planes(single)

        def draw(tile: Tile) -> None:
            raw = single.source.iterate(tile, stop=self.stale)
            if not self.stale():
                copy_numbers(single, raw, {n: part[tile.window()] for n, part in planes.items()})
                self.messages.values(picture.values, tile, picture.values.plain(tile, raw))

        yield from self.batches.steps(picture, single, self._tiles(side), draw)
        if planes:
            picture.raw = _escape_data(single, planes, at_one_sample(single.plan.scene))
        self.messages.drawn("values", picture, monotonic() - begun)

    # ------------------------------------------------------------------ exact pixels

    def exact(self) -> Steps:
        """Draw the pixels of `fractals.render`."""
        begun, picture = monotonic(), self.picture
        drawing = yield from self._exact_drawing()

        def draw(tile: Tile) -> None:
            rgb = np.empty((tile.height, tile.width, 3), drawing.dtype)
            draw_tile(drawing, tile, rgb, self.stale)
            if not self.stale():
                self.messages.pixels(tile, rgb)

        side = tile_side(picture.rate, drawing.plan.supersampling)
        yield from self.batches.steps(picture, drawing, self._tiles(side), draw)
        self.messages.drawn("exact", picture, monotonic() - begun)

    def _exact_drawing(self) -> Generator[float | None, None, Drawing]:
        """Return a drawing with a painter; where layers rank all samples, iterate these first."""
        picture, plan = self.picture, self.drawings.plan(self.request.scene)
        raw = picture.raw if picture.raw_is_exact else None
        if plan.supersampling > 1 or plan.jittered:
            raw = None  # it has one sample a pixel, on the grid
        if raw is None and plan.layers.whole:
            raw = yield from self._all_samples(plan.supersampling)
        if raw is None:
            return self.drawings.iterating(plan, picture)
        return self.drawings.stored(plan, picture, raw)

    def _all_samples(self, n: int) -> Generator[float | None, None, EscapeData]:
        """Return the raw numbers of all samples, n x n of a pixel."""
        drawing = self.picture.drawing
        planes = _empty_planes(drawing)

        def keep(tile: Tile) -> None:
            window = tile.window(n)
            raw = drawing.source.iterate(tile, stop=self.stale)
            copy_numbers(drawing, raw, {k: part[window] for k, part in planes.items()})

        tiles = self._tiles(tile_side(self.picture.rate, n))
        yield from self.batches.steps(self.picture, drawing, tiles, keep)
        return _escape_data(drawing, planes, self.request.scene)

    def _tiles(self, side: int) -> list[Tile]:
        return tiles_outwards(self.request.scene.image.size, self.request.focus, side)


def coarse_step(picture: Picture, rate: float) -> int:
    """Return the step at which a coarse picture takes a twentieth of a second, or the last.

    `rate`: samples a second of one thread.
    """
    if picture.raw is not None:
        return STEPS[1]
    pixels = math.prod(picture.single.plan.size)
    at_once = rate * max(1, picture.single.backend.threads) / FRAME_RATE
    return next((step for step in STEPS if pixels / step**2 <= at_once), STEPS[-1])


def _share_inside(counts: NDArray[np.int32], max_iterations: int) -> dict[str, Any]:
    """Return the share of samples inside, and the ends of the counts of the others."""
    inside = counts >= max_iterations
    escaped = counts[~inside]
    return {
        "inside": round(float(inside.mean()), 4),
        "least": int(escaped.min()) if escaped.size else None,
        "most": int(escaped.max()) if escaped.size else None,
    }


def _empty_planes(drawing: Drawing) -> dict[str, NDArray[Any]]:
    """Return arrays for the raw numbers of all samples."""
    n, (width, height) = drawing.plan.supersampling, drawing.plan.size
    return {name: np.empty((height * n, width * n), t) for name, t in drawing.planes.items()}


def _escape_data(drawing: Drawing, planes: dict[str, NDArray[Any]], scene: Scene) -> EscapeData:
    source = drawing.source
    return EscapeData(
        **arrays_of(planes),
        max_iterations=source.max_iterations,
        scene=scene,
        method=drawing.plan.method,
        count_offset=source.count_offset,
    )


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
        As of `DrawingTask`.
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
        self.picture: Picture | None = None  # once it is begun
        self.exact = False  # whether values are complete, and exact tiles are next
        self.work = DrawingTask(
            key, self.steps, VIEW, ready, failed
        )  # to be submitted to the engine
        self.messages = ViewMessages(request)
        self.batches = TileBatches(engine, self.work, self.messages)
        self.drawings = ViewDrawings(engine, self.work, self.messages)

    def steps(self, work: DrawingTask) -> Steps:
        """Yield after each step: see `fractals.explorer.scheduler`."""
        try:
            yield from self._passes(work)
        finally:
            with self.messages.lock:
                self.exact = True

    def _passes(self, work: DrawingTask) -> Steps:
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
