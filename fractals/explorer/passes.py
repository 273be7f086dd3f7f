"""The passes over a view: a coarse picture, the values of every pixel, and exact pixels."""

import math
from collections.abc import Generator
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.explorer.picture import Picture, at_one_sample
from fractals.explorer.scheduler import Steps
from fractals.explorer.tile_batches import (
    SIDES,
    STEP_SECONDS,
    TILE_SECONDS,
    TileBatches,
    tile_side,
    tiles_outwards,
)
from fractals.explorer.view_drawings import ViewDrawings
from fractals.explorer.view_messages import ViewMessages
from fractals.io.escape_data import EscapeData, arrays_of
from fractals.kernels.layout import EscapeTile
from fractals.rendering.drawing import Drawing, copy_numbers, draw_tile, sampled
from fractals.rendering.plan import noise_note
from fractals.rendering.shading import Painter
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene

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
        note = noise_note(drawing.plan)
        facts = {"note": note} if note else {}
        self.messages.drawn("exact", picture, monotonic() - begun, **facts)

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
