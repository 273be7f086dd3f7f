"""Frames from a strip that keeps values: the samples in sight are colored for each frame.

So colors may change during a zoom, and what is measured in widths of the frame, or ranked among its
values, is that of each frame. Texels of level 0 are single samples, and those of level 1 mean
colors of 2 x 2. A texel of another level is the mean color of 4 x 4 samples, which were picked from
those of its band evenly.
"""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.films.bands import CHANNELS, MARGIN, Texels, Values, widest
from fractals.films.gather import Frame, Gather
from fractals.films.motion import Moment
from fractals.films.strip_plan import PART, StripPlan
from fractals.films.texels import HOST, Files, copy_to
from fractals.kernels.layout import EscapeTile
from fractals.rendering.shading import Fill, Painter
from fractals.rendering.tiles import Tile
from fractals.scene.layers import ResolvedLayer, make_layers
from fractals.scene.model import Scene
from fractals.scene.paint import Color
from fractals.threads import run_tiles

AT_ONCE = 2**17  # samples that a thread colors at a time
RANKED = 2**17  # about how many pixels of a frame are looked at to rank its values


@dataclass(frozen=True)
class _Piece:
    """Rows of texels of a level within a band."""

    level: int
    band: int
    rows: range  # of the level, from the first band on


class ValuedGather(Gather):
    """A `Gather` whose bands hold samples, as `BandMaker.values` returns them."""

    def __init__(self, strip: StripPlan) -> None:
        assert strip.colors
        super().__init__(strip)
        self.files = Files(strip.layout, strip.folder, np.uint32, strip.words)
        self._colors, self._painting = strip.colors, self.maker.backend
        layers = make_layers(strip.scene)
        self._derivative, self._ranks = layers.derivative, layers.whole
        self._held: dict[tuple[int, int], Values] = {}
        self._painters: tuple[Scene, list[Painter]] | None = None
        self._texels = self.backend.empty((0, CHANNELS), np.uint16)
        self._colored: tuple[Color, NDArray[np.int64]] | None = None
        width, height = strip.size
        step = max(1, math.isqrt(width * height // RANKED))
        self._looks = slice(step // 2, None, step)

    def has(self, level: int, band: int) -> bool:
        """Tell whether a level of a band is held."""
        return (level, band) in self._held

    def drop(self, level: int, wanted: range) -> None:
        """Free a level of the bands that are not wanted."""
        for each in [each for each in self._held if each[0] == level and each[1] not in wanted]:
            del self._held[each]

    def fill(self, band: int, shallow: float, deep: float) -> None:
        """Make the levels of a band that these frames or shallower ones need."""
        layout = self.strip.layout
        finest, wanted = layout.finest(band), self.wanted(band, shallow, deep)
        kept = self.files.read(band, min(wanted))
        if kept is not None:
            for level in wanted:
                self._held[level, band] = kept[level].reshape(_shape(self.strip, level))
            return
        made = {
            level: np.empty(_shape(self.strip, level), np.uint32)
            for level in range(finest, layout.levels)
            if level in wanted or self.files.holds(level)
        }
        drawing = self.maker.open(band, 0)
        rows = layout.rows >> finest
        part = min(rows, PART)
        for first in range(0, rows, part):
            samples = self.maker.values(drawing, first, first + part)
            for level, into in made.items():
                _pick(samples, first, level - finest, into)
        self.files.write(band, {level: made[level] for level in made if self.files.holds(level)})
        self._held |= {(level, band): made[level] for level in wanted}

    def hold(self, moments: Sequence[Moment]) -> None:
        """Make what frames need, and color all of it if it has the same colors in all of them."""
        super().hold(moments)
        self._colored = None
        if self._derivative or self._ranks or len(moments) < 2:
            return
        color = self._colors(moments[0].seconds).color
        if all(self._colors(moment.seconds).color == color for moment in moments):
            octaves = [moment.octaves for moment in moments]
            self._colored = color, self._draw(moments[0], min(octaves), max(octaves))

    def frame(self, moment: Moment) -> Frame:
        """Return the pixels of a frame."""
        if self._colored and self._colored[0] == self._colors(moment.seconds).color:
            return self.gathered(moment, self._texels, self._colored[1])
        self._colored = None
        starts = self._draw(moment, moment.octaves, moment.octaves)
        return self.gathered(moment, self._texels, starts)

    def _draw(self, moment: Moment, shallow: float, deep: float) -> NDArray[np.int64]:
        """Color the texels of frames between two depths in octaves, as at a moment.

        Returns `StripTexels.starts`. A texel does not depend on the depths.
        """
        layout = self.strip.layout
        painters = self._painters_at(moment)
        ranges, starts = [], np.zeros((layout.bits + 1, layout.bands), np.int64)
        end = 0
        for level in range(layout.bits + 1):
            rows = layout.rows_of(level, shallow, deep)
            columns = layout.columns >> level
            first = (np.arange(layout.bands) << (layout.bits - level)) - rows.start
            starts[level] = end + first * columns
            ranges.append((rows, end))
            end += len(rows) * columns
        if self._texels.shape[0] < end:
            self._texels = self.backend.empty((end, CHANNELS), np.uint16)
        for level, (rows, begin) in enumerate(ranges):
            columns = layout.columns >> level
            room = self._texels[begin : begin + len(rows) * columns]
            room = room.reshape(len(rows), columns, CHANNELS)
            down, across = self.shutter.ways(rows, level)
            more = math.ceil(float(down.max())) + 1 if down.any() or across.any() else 0
            direct = not more and self.backend.kind in HOST
            sharp = room if direct else np.empty((len(rows) + more, columns, CHANNELS), np.uint16)
            self._color(painters[min(level, layout.finer)], moment, level, rows, sharp)
            if more:
                self.blur(room, sharp, down, across)
            elif not direct:
                copy_to(self.backend, sharp, room)
        return starts

    def _color(
        self, painter: Painter, moment: Moment, level: int, rows: range, sharp: Texels
    ) -> None:
        """Fill texels of a level, from a row on; rows beyond the strip are as its last one."""
        layout = self.strip.layout
        bits, columns = layout.bits - level, layout.columns >> level
        last = min(rows.start + len(sharp), layout.bands << bits)
        high = max(1, (AT_ONCE >> 2 * min(level, layout.finer)) // columns)
        pieces, row = [], rows.start
        while row < last:
            end = min(row + high, ((row >> bits) + 1) << bits, last)
            pieces.append(_Piece(level, row >> bits, range(row, end)))
            row = end

        def paint(piece: _Piece) -> dict[str, float]:
            raw = self._samples_of(piece, moment)
            tile = Tile(0, 0, columns, len(piece.rows))
            source = self.strip.facts
            rgb = painter.paint(tile, raw, source.max_iterations, source.count_offset)
            begin = piece.rows.start - rows.start
            self._painting.to_host(rgb, sharp[begin : begin + len(piece.rows)])
            return {}

        run_tiles(pieces, paint, self._painting.threads)
        sharp[last - rows.start :] = sharp[last - rows.start - 1]

    def _samples_of(self, piece: _Piece, moment: Moment) -> EscapeTile:
        """Return the samples of which texels are made, with dz of a frame, on the device."""
        layout, level = self.strip.layout, max(0, piece.level - self.strip.layout.finer)
        n = 1 << (piece.level - level)
        begin = piece.band << (layout.bits - level)
        first, last = piece.rows.start * n, piece.rows.stop * n
        samples = self._held[level, piece.band][:, first - begin : last - begin]
        rows = (np.arange(first, last, dtype=np.float64) + 0.5) * 2**level
        return self._escape_tile(samples, rows[:, None], moment)

    def _escape_tile(
        self, samples: Values, rows: NDArray[np.float64], moment: Moment
    ) -> EscapeTile:
        """Return samples, which lie in rows of level 0, with dz per width of a frame."""
        strip, to_device, real = self.strip, self._painting.to_device, self._painting.real
        numbers = samples[1:].view(np.float32).astype(real)
        dz = np.zeros((2, 1, 1), real)
        if self._derivative:
            turn = math.radians(moment.rotation - widest(strip.part).rotation)
            cos, sin = math.cos(turn), math.sin(-turn if strip.scene.view.mirror else turn)
            octaves = (rows - MARGIN) / strip.layout.octave - moment.octaves
            # NumPy's function differs between CPUs.
            powers = np.array([2.0**octave for octave in octaves.ravel().tolist()])
            scale = strip.size[0] / strip.fixed.rim * powers.reshape(octaves.shape)
            p, q = numbers[2], numbers[3]
            dz = np.stack([(p * cos - q * sin) * scale, (p * sin + q * cos) * scale]).astype(real)
        planes = numbers[4 if self._derivative else 2 :]
        if not len(planes):
            planes = np.zeros((1, 1, 1), real)
        count = np.ascontiguousarray(samples[0]).view(np.int32)
        return EscapeTile(*map(to_device, (count, *numbers[:2], *dz, planes)))

    def _painters_at(self, moment: Moment) -> list[Painter]:
        """Return what colors single samples, means of 2 x 2, and so on, as at a moment."""
        scene = self._colors(moment.seconds)
        last = self._painters
        if last and last[0].color == scene.color and not last[1][0].layers.whole:
            return last[1]
        plan = self.maker.plane(scene)
        values = partial(self._values_in_sight, moment)
        identity = np.arange(2**16, dtype=np.uint16)
        layers, dtype = plan.layers, np.dtype(np.uint16)
        single = Painter(self._painting, plan.scene, plan, layers, dtype, values, identity)
        painters = [copy.copy(single) for _ in range(self.strip.layout.finer + 1)]
        for k, painter in enumerate(painters):
            painter.plan = replace(plan, supersampling=1 << k)
        self._painters = scene, painters
        return painters

    def _values_in_sight(
        self, moment: Moment, layer: ResolvedLayer, fill: Fill
    ) -> NDArray[np.floating[Any]]:
        """Return a layer's values of pixels that are spread evenly over a frame."""
        backend, layout = self._painting, self.strip.layout
        depths, turns = (np.empty(self.strip.size[::-1], np.float32) for _ in range(2))
        self.backend.to_host(self.depths, depths)
        self.backend.to_host(self.turns, turns)
        depths, turns = (part[self._looks, self._looks].ravel() for part in (depths, turns))
        turn = self.turn(moment)
        at = self.row(moment) + depths.astype(np.float64)
        levels = depths / layout.octave + layout.rim_level + 1 - layout.finer
        levels = np.clip(levels, 0, layout.levels - 1)
        picked, rows = [], []
        for level in range(layout.levels):
            own = levels.astype(int) == level
            row = (at[own] / 2**level).astype(np.int64)
            column = ((turns[own] + turn) % 1 * (layout.columns >> level)).astype(np.int64)
            column = np.minimum(column, (layout.columns >> level) - 1)
            bands = row >> (layout.bits - level)
            row &= (1 << (layout.bits - level)) - 1
            for band in np.unique(bands):
                these = bands == band
                picked.append(self._held[level, int(band)][:, row[these], column[these]])
                rows.append(at[own][these])
        samples, place = np.concatenate(picked, 1), np.concatenate(rows)
        raw = self._escape_tile(samples[:, None], place[None], moment)
        on_device = backend.empty(raw.count.shape, backend.real)
        fill(on_device, raw, self.strip.facts.max_iterations, self.strip.facts.count_offset)
        found = np.empty(raw.count.shape, backend.real)
        backend.to_host(on_device, found)
        return found


def _shape(strip: StripPlan, level: int) -> tuple[int, int, int]:
    """Return the shape of the samples of a level of a band."""
    return strip.words, strip.layout.rows >> level, strip.layout.columns >> level


def _pick(samples: Values, first: int, down: int, into: Values) -> None:
    """Copy the samples that a level `down` levels coarser has, from a row of the band on.

    Of each square of samples that one in the middle is taken.
    """
    step, half = 1 << down, (1 << down) // 2
    begin = (half - first) % step  # the first row that is taken
    rows = samples[:, begin::step, half::step]
    at = (first + begin) // step
    into[:, at : at + rows.shape[1]] = rows
