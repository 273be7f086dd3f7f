"""ClientView: what a client sees, drawn from coarse to exact.

`ClientView.passes` tells what happens to a view, from top to bottom. A view is a task of the
engine, whose steps run in the drawing thread. If the next view has only other colors, it takes from
this one what serves both.
"""

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.compilation import announced
from fractals.color import palette as spaces
from fractals.explorer.packing import Where, pack_table, pack_values
from fractals.explorer.scheduler import STEP_SECONDS, Steps
from fractals.explorer.shown import (
    REST,
    STATUS_SECONDS,
    KnownPixels,
    MovedView,
    at_one_sample,
    axes,
    toned_alone,
)
from fractals.kernels.layout import EscapeTile
from fractals.kernels.ranks import EDGE_COUNT, edges
from fractals.rendering.develop import toned
from fractals.rendering.drawing import (
    Drawing,
    Sink,
    developed,
    draw_tile,
    empty_planes,
    make_painter,
    numbers_of,
    open_drawing,
    plane_sink,
    sampled,
)
from fractals.rendering.fit import CURVES, fit_values
from fractals.rendering.iteration import Stop
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan, noise_note
from fractals.rendering.probing import Pairs
from fractals.rendering.raw_numbers import EscapeData, escape_data
from fractals.rendering.recoloring import Recoloring, open_stored
from fractals.rendering.sampling import indices
from fractals.rendering.tiles import Tile
from fractals.scene.credits import SAID
from fractals.scene.geometry import ResolvedLayer, make_layers
from fractals.scene.model import Scene
from fractals.scene.paint import Color, LayerGroup, Paint, PictureMask

# The numbers that a shader colors: curve(v) - c0 of each layer, and the layers' descriptions.


Floats = NDArray[np.float64]


def same_values(old: Scene, scene: Scene) -> bool:
    """Tell whether the layers of two scenes have equal values, however these are colored."""

    def facts(paint: Paint) -> tuple[Any, ...]:
        mask = getattr(paint, "picture_mask", None)
        return paint.coloring, paint.transfer, paint.mask, paint.range, mask

    def groups(over: Color | LayerGroup) -> list[Any]:
        return [
            (k, each.picture_mask, len(each.layers), groups(each))
            for k, each in enumerate(over.layers)
            if isinstance(each, LayerGroup)
        ]

    one, two = old.color, scene.color
    same = list(map(facts, one.paints)) == list(map(facts, two.paints))
    return same and groups(one) == groups(two)


@dataclass
class LayerValues:
    """Computes the values of one layer."""

    layer: ResolvedLayer
    fill: Any
    # The median of the view's values, which is subtracted, so that float32 keeps its digits
    c0: float = 0.0
    table: Floats | None = None  # of a coloring that ranks values; ndarray, optional
    # The values of the coarse picture: what fits and histograms are made of; ndarray
    coarse: Floats = field(default_factory=lambda: np.zeros(0))

    def settle(self, found: Floats) -> None:
        """Set what depends on the whole view, from the coarse picture's plain values."""
        known = found[np.isfinite(found)]
        if self.layer.coloring.rank_table:
            self.table = np.asarray(self.layer.coloring.rank_table(known), np.float64)
        curved = self.curved(found)
        self.coarse = curved[np.isfinite(curved)]
        self.c0 = float(np.median(self.coarse)) if self.coarse.size else 0.0

    def curved(self, found: Floats) -> Floats:
        """Return values after rank, range and transfer; NaN where the layer draws nothing."""
        values = found
        if self.table is not None:
            assert len(self.table) == EDGE_COUNT + 1
            ranks = np.interp(found, edges(self.table[0]), self.table[1:])
            values = np.where(np.isnan(found), np.nan, ranks)
        with np.errstate(invalid="ignore", over="ignore"):
            if self.layer.paint.range:
                low, high = self.layer.paint.range
                values = np.where((values >= low) & (values <= high), values, np.nan)
            return np.asarray(CURVES[self.layer.transfer](values), np.float64)

    def centered(self, found: Floats) -> NDArray[np.float32]:
        """Return what is sent: curve(v) - c0 in float32."""
        return (self.curved(found) - self.c0).astype(np.float32)


class ViewValues:
    """Computes the values of all layers of a drawing with one sample a pixel."""

    def __init__(self, drawing: Drawing) -> None:
        plan = drawing.plan
        self.drawing, self.scene = drawing, plan.scene
        self.color, self.resolved = plan.scene.color, plan.layers
        self.settled = False  # whether the coarse picture has set c0
        self.painter = make_painter(drawing.backend, plan, np.uint8, encode=spaces.encoding())
        self.layers = [
            LayerValues(layer, self.painter.value_program(layer)) for layer in plan.layers.drawn
        ]

    def settle(self, found: Sequence[Floats]) -> None:
        """Set what depends on the whole view, from the coarse picture's plain values."""
        for each, part in zip(self.layers, found, strict=True):
            each.settle(part)
        self.settled = True

    def repaint(self, scene: Scene) -> None:
        """Take other palettes, densities, offsets and blends, which change no value."""
        self.scene, self.color, self.resolved = scene, scene.color, make_layers(scene)
        for each, layer in zip(self.layers, self.resolved.drawn, strict=True):
            each.layer = layer

    def plain(self, tile: Tile, raw: EscapeTile, more: Pairs = ()) -> list[Floats]:
        """Return each layer's values v of a tile's samples, before the transfer.

        `more`: other arrays on the device, and those of the host to which they are copied as well.
        """
        backend, source = self.drawing.backend, self.drawing.source
        turned = self.painter.turned(tile, raw)
        pairs = []
        for each in self.layers:
            on_device = backend.empty((tile.height, tile.width), backend.real)
            each.fill(on_device, turned, source.max_iterations, source.count_offset)
            pairs.append((on_device, np.empty((tile.height, tile.width), backend.real)))
        backend.all_to_host([*pairs, *more])
        return [values.astype(np.float64, copy=False) for _, values in pairs]

    def weights(self, tile: Tile, step: int) -> list[NDArray[np.float32]]:
        """Return how much each of the masks lets through of a tile's samples."""
        i, j = indices(tile.window())
        return self.painter.weights(i * step + step // 2, j * step + step // 2)

    def tables(self) -> list[NDArray[np.float32]]:
        """Return the layers' lookup tables, in the space in which their colors are mixed."""
        inside = self.color.inside
        found = [each.layer.paint.make_palette().lookup(inside) for each in self.layers]
        if len(found) > 1:
            return [spaces.srgb_from_linear(table).astype(np.float32) for table in found]
        return [toned(self.scene, found[0])]

    def described(self) -> dict[str, Any]:
        """Return the descriptions of the layers and of the groups, as of PROTOCOL.md."""
        space, masks = "srgb" if len(self.layers) > 1 else "linear", self.resolved.masks
        groups = self.resolved.groups

        def plane(mask: PictureMask | None) -> int | None:
            return len(self.layers) + [each is mask for each in masks].index(True) if mask else None

        layers = [
            {
                "coloring": each.layer.coloring.name,
                "c0": each.c0,
                "density": each.layer.paint.density,
                "offset": each.layer.paint.offset,
                "cyclic": (palette := each.layer.paint.make_palette()).cyclic,
                "entries": len(palette.lookup("#000")) - 2,
                "space": space,
                "transfer": each.layer.transfer,
                "blend": each.layer.blend if k else "normal",
                "opacity": each.layer.opacity,
                "mask": plane(each.layer.mask),
                "group": groups.index(each.layer.group) if each.layer.group else None,
            }
            for k, each in enumerate(self.layers)
        ]
        blended = [
            {
                "blend": group.blend,
                "opacity": group.over.opacity,
                "mask": plane(group.over.picture_mask),
                "outer": groups.index(group.outer) if group.outer else None,
            }
            for group in groups
        ]
        return {"layers": layers, "groups": blended, "planes": len(layers) + len(masks)}

    def fit(self, layer: int, always: bool) -> tuple[float, float]:
        """Return density and offset of a layer, as `fractals.rendering.fit` chooses them."""
        each = self.layers[layer]
        cyclic = each.layer.paint.make_palette().cyclic
        return fit_values(each.coarse, cyclic, always)

    def histogram(self, layer: int, bins: int) -> tuple[float, float, list[int]]:
        """Return the ends, and how many samples lie in each of equal steps between them."""
        coarse = self.layers[layer].coarse
        if not coarse.size:
            return 0.0, 1.0, [0] * bins
        low, high = (float(part) for part in (coarse.min(), coarse.max()))
        high = high if high > low else low + 1
        counts, _ = np.histogram(coarse, bins, (low, high))
        return low, high, [int(count) for count in counts]


class OrbitOptions(RenderOptions):
    """Options whose progress is that of a reference orbit: ``progress(steps, most)``."""

    def on_steps(self, tiles: int, most: int) -> Callable[[int], None] | None:
        """Return what is called with the steps of an orbit."""
        progress = self.on_progress
        return (lambda steps: progress(steps, most)) if progress else None


FRAME_RATE = 20  # coarse pictures a second that the step is chosen for
COARSE_STEPS = (2, 4, 8)  # pixels a sample of the coarse picture
TILE_SECONDS = 0.02  # of a thread: stale work ends within about this time
SIDES = (256, 128, 64, 32)  # pixels of a tile
SLOW_SIDES = (32, 16, 8, 4)  # for slow views, whose larger tiles would keep other views waiting
SLOW_SECONDS = 0.25  # of a tile of SLOW_SIDES


@dataclass(kw_only=True, eq=False)
class ClientView(MovedView):
    """A client's view of a scene whose samples have values, as of `passes`."""

    keeps_raw: bool = True  # whether raw numbers stay in memory for a recoloring

    # What `open` finds, and what questions and the next view need
    drawing: Drawing = field(init=False)  # with the scene's own supersampling
    values: ViewValues = field(init=False)
    raw: EscapeData | None = None  # of all samples of `single`, once they are computed
    # Whether `raw` has the very numbers that the scene's own colorings are computed from
    raw_is_exact: bool = True
    complete: bool = False  # whether the client has all values, and exact pixels are next

    def passes(self) -> Steps:
        """Draw the view from coarse to exact; yield after each step."""
        self.send_status("preparing")
        what = "values" if self.shader else "pixels"
        yield from self.engine.prepared(self, self.scene, what, self.open)
        self.before = None
        with self.lock:
            self.opened = True
            self.values.repaint(self.scene)  # it may have changed meanwhile
        self.check()
        if self.complete and self.shader:
            self.send_layers()
        else:
            yield None
            if self.moves_rows():
                yield from self.draw_moved()
                yield self.begun + REST
            yield from self.draw_coarse()
            if self.moving:
                yield self.begun + REST
            if self.shader:
                yield from self.draw_values()
        with self.lock:
            self.complete = True
        yield self.begun + REST
        self.send_status("exact")
        yield from self.draw_exact()

    # ------------------------------------------------------------------ while it is drawn

    def repaint(self, scene: Scene, paint: int, tell: Callable[[], None]) -> bool:
        """Take colors that change no value while values are computed; False: draw anew.

        ``tell()`` tells the client, between the last message of the old paint and the first of the
        new one.
        """
        with self.lock:
            ended = self.stale() or not self.engine.busy(self.key)
            if ended or self.complete or not same_values(self.scene, scene):
                return False
            self.scene, self.paint = scene, paint
            tell()
            if self.opened:
                self.values.repaint(scene)
        if self.opened and self.values.settled:
            self.send_layers()
        return True

    def serves(self, scene: Scene) -> bool:
        """Tell whether the client has all values of a scene in other colors."""
        return self.complete and same_values(self.scene, scene)

    # ------------------------------------------------------------------ before it is drawn

    def open(self) -> None:
        """Open what computes and colors samples, or take what serves from the view before."""
        before = self.before if isinstance(self.before, ClientView) else None
        if before:
            self.rate, self.known = before.rate, before.known
            backend = self.engine.backend(self.scene.iteration.number_type)
            if before.drawing.backend is not backend:  # the drawing ran on a GPU that failed
                before = None
        # A client has no values of a frame that is new, even at the same place.
        known = before and before.complete and before.frame == self.frame
        if before and known and self._is_seen_by(before) and same_values(before.scene, self.scene):
            self.drawing, self.single, self.values = before.drawing, before.single, before.values
            self.raw, self.raw_is_exact, self.complete = before.raw, before.raw_is_exact, True
            return
        with announced(lambda: self.send_status("compiling")):
            if not (before and before.raw and self._recolors(before, before.raw)):
                self._open_anew()

    def _is_seen_by(self, before: "ClientView") -> bool:
        """Tell whether the view before differs in its colors and how it is developed alone."""
        own = {"color": self.scene.color, "develop": self.scene.develop}
        own |= {key: getattr(self.scene, key) for key in SAID}
        return before.scene.model_copy(update=own) == self.scene

    def _recolors(self, before: "ClientView", raw: EscapeData) -> bool:
        """Take the raw numbers of the view before, if other colors of the same view need no others.

        Statistics are computed step by step, and z then rounds otherwise: where the colorings need
        others, these raw numbers serve values, but not exact pixels.
        """
        plan = self._plan(self.scene)
        if not self._is_seen_by(before) or plan.layers.lacking(raw.planes):
            return False
        backend = self.engine.backend(plan.number)
        single = self._plan(at_one_sample(self.scene))
        self.single = Drawing(single, backend, Recoloring(backend, single, raw))
        self.values, self.drawing = ViewValues(self.single), before.drawing
        same = needs_of(before.drawing.plan) == needs_of(plan)
        if not same:
            self.drawing = open_drawing(plan, backend, self._options())
        self.raw, self.raw_is_exact = raw, before.raw_is_exact and same
        return True

    def _open_anew(self) -> None:
        plan = self._plan(self.scene)
        backend = self.engine.backend(plan.number)
        # Raw numbers belong to the old drawing, and values, too, where a GPU failed after them.
        self.raw, self.raw_is_exact, self.complete = None, True, False
        self.drawing = open_drawing(plan, backend, self._options())
        self.single = sampled(self.drawing)
        self.values = ViewValues(self.single)
        one = Tile(0, 0, 1, 1)  # compiles: the coarse picture is timed
        self.values.plain(one, self.single.source.iterate(one, 1))

    def compile(self) -> None:
        """Draw a pixel, so that all programs of the view are compiled."""
        self.open()
        plan = self.drawing.plan
        if not plan.layers.whole:
            drawing = self._iterating(plan)
            rgb = np.empty((1, 1, 3), drawing.dtype)
            draw_tile(drawing, Tile(0, 0, 1, 1), rgb, self.stale)

    def _options(self) -> RenderOptions:
        """Return options whose progress ends replaced work, and sends a status."""
        said = [monotonic()]

        def watch(done: int, most: int) -> None:
            self.check()
            if monotonic() - said[0] > STATUS_SECONDS:
                said[0] = monotonic()
                self.send_status("reference", done=done, of=most)

        return OrbitOptions(force=True, progress=watch, on_message=lambda line: None)

    def _iterating(self, plan: Plan) -> Drawing:
        """Return a drawing that iterates samples and colors them as a plan says."""
        backend = self.drawing.backend
        painter = make_painter(backend, plan, plan.scene.image.dtype)
        # The source's own plan has the colors of the view that it was opened for.
        return Drawing(plan, backend, self.drawing.source, painter)

    # ------------------------------------------------------------------ the coarse picture

    def draw_coarse(self) -> Steps:
        """Send one sample of step x step pixels, and find what depends on the whole view."""
        single, step = self.single, coarse_step(self)
        backend, plan = single.backend, single.plan
        coarse = sampled(single, step) if self.raw is None else single
        source, limit = coarse.source, coarse.source.max_iterations
        across, down = (-(-side // step) for side in plan.size)
        values = [np.empty((down, across)) for _ in self.values.layers]
        counts = np.empty((down, across), np.int32)
        pixels = np.empty((down, across, 3), np.uint8)
        painter = None
        if not (self.shader or plan.layers.whole or self.moved):
            # The plan of the samples may have old colors.
            plan = self._plan(toned_alone(self.scene))
            painter = make_painter(backend, plan, np.uint8)

        def take(tile: Tile, stop: Stop) -> dict[str, float]:
            window = tile.window()

            def use(raw: EscapeTile, flags: Pairs) -> None:
                more = [*flags, (raw.count, counts[window])]
                if painter:
                    rgb = painter.paint(tile, raw, limit, source.count_offset)
                    more.append((rgb, pixels[window]))
                for found, part in zip(self.values.plain(tile, raw, more), values, strict=True):
                    part[window] = found

            if self.raw is None:
                source.iterate_for(tile, use, stop)
            else:
                use(coarse_samples(coarse, tile, step), ())
            return {}

        threads, sink = max(1, backend.threads), Sink(partial(coarse.room.take, take))
        rate, rows, y = self.rate, 0, 0
        seconds = lasted = 0.0
        while y < down:
            # Where the rate is not known, the first strips are short, and tell it.
            before = rows
            rows = max(1, min(down // (4 * threads), int(rate * TILE_SECONDS / across)))
            end = min(down, y + 4 * threads * rows)
            strips = [Tile(0, top, across, min(rows, end - top)) for top in range(y, end, rows)]
            if rows > before:  # what strips cost beside their samples is less from now on
                first, lasted = y, 0.0
            for spent in self.engine.batches(self, coarse, strips, sink):
                seconds, lasted = seconds + spent, lasted + spent
                if spent > STEP_SECONDS:
                    yield None
            y = end
            rate = across * (y - first) / max(lasted, 1e-4) / threads
        self.values.settle(values)
        if self.raw is None:
            self.rate = rate
        self.send_layers()
        whole = Tile(0, 0, across, down)
        if self.shader:
            self.send_values(whole, values, step)
        elif painter:
            self.send_pixels(whole, pixels, step)
        inside, escaped = counts >= limit, counts[counts < limit]
        self.send_drawn(
            "coarse",
            seconds,
            inside=round(float(inside.mean()), 4),
            least=int(escaped.min()) if escaped.size else None,
            most=int(escaped.max()) if escaped.size else None,
            method=self.drawing.plan.method,
        )
        yield None

    # ------------------------------------------------------------------ values

    def draw_values(self) -> Steps:
        """Send the values of one sample a pixel; keep its raw numbers where they are not kept."""
        begun, single = monotonic(), self.single
        planes = empty_planes(single) if self.keeps_raw and self.raw is None else {}

        def take(tile: Tile, stop: Stop) -> dict[str, float]:
            window = tile.window()
            own = {name: part[window] for name, part in planes.items()}
            found: list[Floats] = []

            def use(raw: EscapeTile, flags: Pairs) -> None:
                if not stop():
                    more = [*flags, *numbers_of(single, raw, own)]
                    found[:] = self.values.plain(tile, raw, more)

            single.source.iterate_for(tile, use, stop)
            if found and not stop():
                self.send_values(tile, found)
            return {}

        side = SIDES[0] if self.raw else tile_side(self.rate, 1)
        yield from self.draw_tiles(single, Sink(partial(single.room.take, take)), side)
        if planes:
            self.raw = escape_data(single, planes, at_one_sample(single.plan.scene))
        self.send_drawn("values", monotonic() - begun)

    # ------------------------------------------------------------------ exact pixels

    def draw_exact(self) -> Steps:
        """Send the pixels of `fractals.render`."""
        begun, self.done = monotonic(), 0.0
        drawing = yield from self._exact_drawing()
        width, height = drawing.plan.size
        light = np.empty((height, width, 3), np.float32) if drawing.glows else None
        keeps = not self.shader and self.scene.develop == toned_alone(self.scene).develop
        whole = np.empty((height, width, 3), np.uint8) if keeps else None

        def take(tile: Tile, stop: Stop) -> dict[str, float]:
            rgb = np.empty((tile.height, tile.width, 3), drawing.dtype)
            seconds = draw_tile(drawing, tile, rgb, stop)
            if light is not None:
                light[tile.window()] = rgb
            elif not stop():
                self.send_pixels(tile, rgb)
                if whole is not None:
                    whole[tile.window()] = rgb
            return seconds

        side = tile_side(self.rate, drawing.plan.supersampling)
        yield from self.draw_tiles(drawing, Sink(take), side)
        if light is not None:
            pixels = developed(drawing, light)
            for tile in tiles_outwards(drawing.plan.size, self.focus, SIDES[0]):
                self.check()
                self.send_pixels(tile, pixels[tile.window()])
                yield None
        if whole is not None:
            self.known = KnownPixels(self._like(), *axes(self.single.plan), whole)
        note = noise_note(drawing.plan)
        self.send_drawn("exact", monotonic() - begun, **({"note": note} if note else {}))

    def _exact_drawing(self) -> Generator[float | None, None, Drawing]:
        """Return a drawing with a painter; where layers rank all samples, iterate these first."""
        plan = self._plan(self.scene)
        on_grid = plan.supersampling == 1 and not plan.jittered  # as the samples of `raw` are
        raw = self.raw if self.raw_is_exact and on_grid else None
        if raw is None and plan.layers.whole:
            raw = yield from self._all_samples()
        if raw is None:
            return self._iterating(plan)
        return open_stored(plan, self.drawing.backend, raw, self._options())

    def _all_samples(self) -> Generator[float | None, None, EscapeData]:
        """Return the raw numbers of all samples of the scene's own supersampling."""
        drawing = self.drawing
        planes = empty_planes(drawing)
        side = tile_side(self.rate, drawing.plan.supersampling)
        yield from self.draw_tiles(drawing, plane_sink(drawing, planes), side)
        return escape_data(drawing, planes, self.scene)

    # ------------------------------------------------------------------ tiles

    def draw_tiles(self, drawing: Drawing, sink: Sink, side: int) -> Steps:
        """Draw tiles from the focus outwards, in steps of the engine; pause after much work."""
        tiles = tiles_outwards(drawing.plan.size, self.focus, side)
        # Samples a pixel: those of the values, which a shader gets first, and of the exact pixels
        values, exact = int(self.shader), self.drawing.plan.supersampling**2
        what, before, own = "exact", values, exact
        if drawing is self.single:
            what, before, own = "drawing", 0, values
        pixels = math.prod(drawing.plan.size)
        areas: list[int] = []

        def take(tile: Tile, stop: Stop) -> Mapping[str, float]:
            taken = sink.take(tile, stop)
            areas.append(tile.width * tile.height)
            return taken

        for seconds in self.engine.batches(self, drawing, tiles, replace(sink, take=take)):
            yield from self.worked(seconds)
            done = (before + own * sum(areas) / pixels) / (values + exact)
            if done > self.done:  # samples that layers rank are drawn again, in little time
                self.done = done
                self.send_ahead(what, done)

    # ------------------------------------------------------------------ messages

    def send_layers(self) -> None:
        """Send how values become colors."""
        self.say("layers", frame=self.frame, paint=self.paint, **self.values.described())
        if self.shader:
            for k, table in enumerate(self.values.tables()):
                self._put(pack_table, Where(self.frame, w=3, h=len(table), layer=k), table)

    def send_values(self, tile: Tile, found: Sequence[NDArray[np.float64]], step: int = 1) -> None:
        """Send the values of every layer in a tile; `step`: pixels a sample."""
        for k, (layer, part) in enumerate(zip(self.values.layers, found, strict=True)):
            where = Where(self.frame, *tile, step, layer=k)
            self._put(pack_values, where, layer.centered(part), self.remote)
        for k, weights in enumerate(self.values.weights(tile, step), len(found)):
            self._put(pack_values, Where(self.frame, *tile, step, layer=k), weights, self.remote)

    def facts(self) -> dict[str, Any]:
        """Return the facts that the message `drawn` of every pass has."""
        return {"max_iterations": self.single.source.max_iterations}


def needs_of(plan: Plan) -> tuple[bool, tuple[str, ...]]:
    """Return what the colorings of a plan need besides count and z."""
    return plan.layers.derivative, tuple(plan.layers.statistics.names)


def coarse_step(view: ClientView) -> int:
    """Return the step at which a coarse picture takes a twentieth of a second, or the last."""
    if view.raw is not None:
        return COARSE_STEPS[1]
    pixels = math.prod(view.single.plan.size)
    at_once = view.rate * max(1, view.single.backend.threads) / FRAME_RATE
    return next((step for step in COARSE_STEPS if pixels / step**2 <= at_once), COARSE_STEPS[-1])


def coarse_samples(drawing: Drawing, tile: Tile, step: int) -> EscapeTile:
    """Return every step-th sample of raw numbers; the tile counts these samples."""
    width, height = drawing.plan.size
    i = np.arange(tile.x, tile.x + tile.width) * step + step // 2
    i = np.minimum(i, width - 1)[None]
    j = np.arange(tile.y, tile.y + tile.height) * step + step // 2
    j = np.minimum(j, height - 1)[:, None]
    i, j = np.broadcast_arrays(i, j)
    return drawing.source.iterate_some(i, j, (tile.height, tile.width))


def tile_side(rate: float, n: int) -> int:
    """Return the side of a tile of about TILE_SECONDS; `rate`: samples a second, n x n a pixel."""
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
