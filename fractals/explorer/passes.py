"""A view in passes: a coarse picture, tiles from the focus outwards, and at rest exact tiles."""

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.explorer.picture import (
    Picture,
    Request,
    at_one_sample,
    needs_of,
    same_values,
    same_view,
)
from fractals.explorer.protocol import Where, pack_pixels, pack_table, pack_values
from fractals.explorer.scheduler import Engine, Steps, Work
from fractals.explorer.values import ViewValues
from fractals.io.escape_data import EscapeData, arrays_of
from fractals.rendering.drawing import (
    Drawing,
    copy_numbers,
    draw_tile,
    open_drawing,
    pixel_type,
    sampled,
)
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan, make_plan
from fractals.rendering.shading import Painter
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene
from fractals.threads import run_tiles

REST = 0.25  # seconds without input, after which exact tiles are drawn
MAX_SECONDS = 60.0  # of work on a view, until the user says to go on
TILE_SECONDS = 0.02  # of a thread: stale work ends within about this time
SIDES = (256, 128, 64, 32)  # pixels of a tile
FRAME_RATE = 20  # coarse pictures a second that the step is chosen for
STEPS = (2, 4, 8)  # pixels a sample of the coarse picture
LONG = 3600.0  # seconds until paused work looks again whether it may go on


class ViewWork:
    """Draws a client's newest view, in steps of the engine."""

    def __init__(self, engine: Engine, request: Request, before: Picture | None) -> None:
        self.engine, self.request, self.before = engine, request, before
        self.rate = before.rate if before else 0.0
        self.begun = monotonic()
        self.allowed = MAX_SECONDS
        self.picture: Picture | None = None
        self.exact = False  # whether values are complete, and exact tiles are next
        self.lock = threading.Lock()  # held while a message of the newest paint is put

    def steps(self, work: Work) -> Steps:
        """Yield after each step: see `fractals.explorer.scheduler`."""
        self.work = work
        try:
            yield from self._passes(work)
        finally:
            with self.lock:
                self.exact = True

    def _passes(self, work: Work) -> Steps:
        request = self.request
        request.say("status", frame=request.frame, what="preparing")
        picture = self._kept() or self._recolored() or self._opened()
        self.before = None  # its arrays are large
        with self.lock:
            self.picture = picture
            picture.values.repaint(request.scene)  # it may have changed meanwhile
        work.check()
        if picture.complete and request.values:
            self._describe(picture)
        else:
            yield None
            yield from self._coarse(picture)
            if request.moving:
                yield self.begun + REST
            if request.values and picture.raw is None:
                yield from self._values(picture)
            elif request.values:
                yield from self._recolor_values(picture)
        with self.lock:
            picture.complete = self.exact = True
        yield self.begun + REST
        request.say("status", frame=request.frame, what="exact")
        yield from self._exact(picture)

    def repaint(self, scene: Scene, paint: int, say: Callable[[], None]) -> bool:
        """Take colors that change no value while values are computed; False: draw anew.

        ``say()`` tells the client, between the last message of the old paint and the first of the
        new one.
        """
        with self.lock:
            old = self.request.scene
            if self.exact or self.work.stale() or not same_values(old, scene):
                return False
            self.request.scene, self.request.paint = scene, paint
            say()
            if self.picture:
                self.picture.values.repaint(scene)
        if self.picture and self.picture.values.settled:
            self._describe(self.picture)
        return True

    # ------------------------------------------------------------------ preparing

    def _kept(self) -> Picture | None:
        """Return the picture before, if the client has its values and they are the same."""
        before, scene = self.before, self.request.scene
        if before is None or not before.complete:
            return None
        old = before.request.scene
        if before.request.frame != self.request.frame:
            return None  # the client has no values of a frame that is new, even at the same place
        if not (same_view(old, scene) and same_values(old, scene)):
            return None
        return replace(before, request=self.request, seconds=0.0)

    def _options(self) -> RenderOptions:
        said = [monotonic()]

        def watch(_done: int, _all: int) -> None:
            self.work.check()
            if monotonic() - said[0] > 0.5:
                said[0] = monotonic()
                self.request.say("status", frame=self.request.frame, what="reference")

        return RenderOptions(force=True, progress=watch, on_message=lambda line: None)

    def _plan(self, scene: Scene) -> Plan:
        backend = self.engine.backend(scene.iteration.number_type)
        return make_plan(scene, backend.kind, threads=backend.threads or 1)

    def _opened(self) -> Picture:
        plan = self._plan(self.request.scene)
        backend = self.engine.backend(plan.precision)
        drawing = open_drawing(plan, backend, self._options(), shading=False)
        single = sampled(drawing)
        values = ViewValues(single)
        one = Tile(0, 0, 1, 1)
        values.plain(one, single.source.iterate(one, 1))  # compiles: the coarse picture is timed
        return Picture(self.request, drawing, single, values)

    def _recolored(self) -> Picture | None:
        """Return the picture of the same view in other colors, from numbers that are kept."""
        before, scene = self.before, self.request.scene
        if before is None or before.raw is None:
            return None
        if not same_view(before.request.scene, scene):
            return None
        plan = self._plan(scene)
        if plan.layers.lacking(before.raw.planes):
            return None
        backend = self.engine.backend(plan.precision)
        single = self._plan(at_one_sample(scene))
        stored = open_drawing(single, backend, self._options(), shading=False, stored=before.raw)
        picture = Picture(self.request, before.drawing, stored, ViewValues(stored), before.raw)
        picture.rate = before.rate
        old_needs, needs = (needs_of(each) for each in (before.drawing.plan, plan))
        if old_needs != needs:  # statistics are computed step by step, and z then rounds otherwise
            picture.drawing = open_drawing(plan, backend, self._options(), shading=False)
        picture.raw_is_exact = before.raw_is_exact and old_needs == needs
        return picture

    # ------------------------------------------------------------------ coarse picture

    def _coarse(self, picture: Picture) -> Steps:
        begun, request = monotonic(), self.request
        step = self._step(picture)
        across, down = (-(-side // step) for side in request.scene.image.size)
        coarse = sampled(picture.single, step) if picture.raw is None else None
        whole = [np.empty((down, across)) for _ in picture.values.layers]
        counts = np.empty((down, across), np.int32)
        pixels = np.empty((down, across, 3), np.uint8)
        painter = None
        if not request.values and not picture.drawing.plan.layers.whole:
            single = picture.single.plan
            painter = Painter(
                coarse.backend if coarse else picture.single.backend,
                single.scene,
                single,
                single.layers,
                np.uint8,
            )
        rows = max(1, down // (4 * max(1, picture.single.backend.threads)))
        strips = [Tile(0, y, across, min(rows, down - y)) for y in range(0, down, rows)]

        def work(tile: Tile) -> dict[str, float]:
            if self.work.stale():
                return {}
            if coarse:
                source = coarse.source
                raw = source.iterate(tile, stop=self.work.stale)
            else:
                source, size = picture.single.source, request.scene.image.size
                i = np.minimum(np.arange(across) * step + step // 2, size[0] - 1)[None]
                j = np.arange(tile.y, tile.y + tile.height) * step + step // 2
                j = np.minimum(j, size[1] - 1)[:, None]
                i, j = np.broadcast_arrays(i, j)
                raw = source.iterate_some(i, j, (tile.height, tile.width))
            window = tile.window()
            for values, part in zip(picture.values.plain(tile, raw), whole, strict=True):
                part[window] = values
            picture.single.backend.to_host(raw.count, counts[window])
            if painter:
                rgb = painter.paint(tile, raw, source.max_iterations, source.count_offset)
                picture.single.backend.to_host(rgb, pixels[window])
            return {}

        self._run(strips, work)
        self.work.check()
        for each, part in zip(picture.values.layers, whole, strict=True):
            each.settle(part)
        picture.values.settled = True
        seconds = monotonic() - begun
        threads = max(1, picture.single.backend.threads)
        if picture.raw is None:
            picture.rate = across * down / max(seconds, 1e-4) / threads
        self._describe(picture)
        if request.values:
            for k, (each, part) in enumerate(zip(picture.values.layers, whole, strict=True)):
                where = Where(request.frame, w=across, h=down, step=step, layer=k)
                self._put(pack_values, where, each.centered(part), request.remote)
        elif painter:
            where = Where(request.frame, w=across, h=down, step=step)
            self._put(pack_pixels, where, pixels, request.remote)
        source = picture.single.source
        inside = counts >= source.max_iterations
        escaped = counts[~inside]
        request.say(
            "drawn",
            frame=request.frame,
            paint=request.paint,
            ms=round(1e3 * seconds, 1),
            max_iterations=source.max_iterations,
            inside=round(float(inside.mean()), 4),
            least=int(escaped.min()) if escaped.size else None,
            most=int(escaped.max()) if escaped.size else None,
            method=picture.drawing.plan.method,
            **{"pass": "coarse"},
        )
        yield None

    def _step(self, picture: Picture) -> int:
        """Return the step at which a coarse picture takes a twentieth of a second, or the last."""
        rate = picture.rate or self.rate
        pixels = math.prod(self.request.scene.image.size)
        at_once = rate * max(1, picture.single.backend.threads) / FRAME_RATE
        if picture.raw is not None:
            return STEPS[1]
        return next((step for step in STEPS if pixels / step**2 <= at_once), STEPS[-1])

    def _describe(self, picture: Picture) -> None:
        request = self.request
        request.say(
            "layers", frame=request.frame, paint=request.paint, layers=picture.values.described()
        )
        if request.values:
            for k, table in enumerate(picture.values.tables()):
                where = Where(request.frame, w=3, h=len(table), layer=k)
                self._put(pack_table, where, table)

    # ------------------------------------------------------------------ tiles

    def _values(self, picture: Picture) -> Steps:
        """Iterate one sample a pixel; send values, and keep the raw numbers."""
        request, single = self.request, picture.single
        begun = monotonic()
        size = single.plan.size
        if request.keeps_raw:
            planes = {n: np.empty(size[::-1], t) for n, t in single.planes.items()}
        else:
            planes = {}
        tiles = self._tiles(picture, 1)

        def work(tile: Tile) -> dict[str, float]:
            if self.work.stale():
                return {}
            raw = single.source.iterate(tile, stop=self.work.stale)
            if self.work.stale():
                return {}
            copy_numbers(single, raw, {n: part[tile.window()] for n, part in planes.items()})
            self._send_values(picture, tile, picture.values.plain(tile, raw))
            return {}

        yield from self._batches(picture, tiles, work)
        if planes:
            source = single.source
            picture.raw = EscapeData(
                **arrays_of(planes),
                max_iterations=source.max_iterations,
                scene=at_one_sample(single.plan.scene),
                method=single.plan.method,
                count_offset=source.count_offset,
            )
        self._drawn("values", begun)

    def _recolor_values(self, picture: Picture) -> Steps:
        """Send the values of numbers that are kept."""
        begun = monotonic()
        source, tiles = picture.single.source, self._tiles(picture, 1, SIDES[0])

        def work(tile: Tile) -> dict[str, float]:
            if not self.work.stale():
                found = picture.values.plain(tile, source.iterate(tile))
                self._send_values(picture, tile, found)
            return {}

        yield from self._batches(picture, tiles, work)
        self._drawn("values", begun)

    def _send_values(
        self, picture: Picture, tile: Tile, found: Sequence[NDArray[np.float64]]
    ) -> None:
        request = self.request
        for k, (each, part) in enumerate(zip(picture.values.layers, found, strict=True)):
            where = Where(request.frame, tile.x, tile.y, tile.width, tile.height, 1, k)
            self._put(pack_values, where, each.centered(part), request.remote)

    def _exact(self, picture: Picture) -> Steps:
        """Draw the pixels of `fractals.render`."""
        begun, request = monotonic(), self.request
        drawing = yield from self._exact_drawing(picture)
        n = drawing.plan.supersampling
        tiles = self._tiles(picture, n)

        def work(tile: Tile) -> dict[str, float]:
            if self.work.stale():
                return {}
            rgb = np.empty((tile.height, tile.width, 3), drawing.dtype)
            draw_tile(drawing, tile, rgb, self.work.stale)
            if not self.work.stale():
                where = Where(request.frame, tile.x, tile.y, tile.width, tile.height)
                self._put(pack_pixels, where, rgb, request.remote)
            return {}

        yield from self._batches(picture, tiles, work)
        self._drawn("exact", begun)

    def _exact_drawing(self, picture: Picture) -> Any:
        """Return a drawing with a painter; where layers rank all samples, iterate these first."""
        drawing, scene = picture.drawing, self.request.scene
        plan, backend = self._plan(scene), picture.drawing.backend
        if plan.supersampling == 1 and not plan.jittered and picture.raw and picture.raw_is_exact:
            return open_drawing(plan, backend, self._options(), stored=picture.raw)
        if plan.layers.whole:
            n = plan.supersampling
            shape = plan.size[1] * n, plan.size[0] * n
            planes = {name: np.empty(shape, dtype) for name, dtype in drawing.planes.items()}

            def keep(tile: Tile) -> dict[str, float]:
                if not self.work.stale():
                    window = tile.window(n)
                    raw = drawing.source.iterate(tile, stop=self.work.stale)
                    copy_numbers(drawing, raw, {k: part[window] for k, part in planes.items()})
                return {}

            yield from self._batches(picture, self._tiles(picture, n), keep)
            source = drawing.source
            raw = EscapeData(
                **arrays_of(planes),
                max_iterations=source.max_iterations,
                scene=scene,
                method=plan.method,
                count_offset=source.count_offset,
            )
            return open_drawing(plan, backend, self._options(), stored=raw)
        painter = Painter(backend, scene, plan, plan.layers, pixel_type(scene))
        # The source's own plan has the colors of the view that it was opened for.
        return Drawing(plan, backend, drawing.source, painter)

    def _tiles(self, picture: Picture, n: int, side: int = 0) -> list[Tile]:
        """Return tiles of about TILE_SECONDS, from the focus outwards."""
        width, height = self.request.scene.image.size
        if not side:
            pixels = picture.rate * TILE_SECONDS / n**2
            side = next((s for s in SIDES if s * s <= pixels), SIDES[-1])
        tiles = [
            Tile(x, y, min(side, width - x), min(side, height - y))
            for y in range(0, height, side)
            for x in range(0, width, side)
        ]
        x, y = self.request.focus
        return sorted(
            tiles, key=lambda t: math.hypot(t.x + t.width / 2 - x, t.y + t.height / 2 - y)
        )

    def _batches(
        self, picture: Picture, tiles: Sequence[Tile], work: Callable[[Tile], dict[str, float]]
    ) -> Steps:
        """Do the work of tiles, some for each thread in a step."""
        threads = max(1, picture.drawing.backend.threads)
        for k in range(0, len(tiles), 4 * threads):
            begun = monotonic()
            self._run(tiles[k : k + 4 * threads], work)
            self.work.check()
            picture.seconds += monotonic() - begun
            if picture.seconds > self.allowed:
                self.request.say("paused", frame=self.request.frame, seconds=int(self.allowed))
                while picture.seconds > self.allowed:
                    yield monotonic() + LONG
            yield None

    def _run(self, tiles: Iterable[Tile], work: Callable[[Tile], dict[str, float]]) -> None:
        run_tiles(list(tiles), work, self.engine.backend("float64").threads)

    def _put(self, pack: Callable[..., bytes], where: Where, *content: Any) -> None:
        """Send a message of the newest paint."""
        request = self.request
        while True:
            paint = request.paint
            message = pack(replace(where, paint=paint), *content)
            with self.lock:
                if request.paint == paint:
                    request.put(message, request.frame, paint)
                    return

    def _drawn(self, name: str, begun: float) -> None:
        request, source = self.request, self.picture.single.source if self.picture else None
        request.say(
            "drawn",
            frame=request.frame,
            paint=request.paint,
            ms=round(1e3 * (monotonic() - begun), 1),
            max_iterations=source.max_iterations if source else None,
            **{"pass": name},
        )
