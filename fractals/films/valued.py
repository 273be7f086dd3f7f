"""Frames from a strip that keeps values: the samples in sight are colored for each frame.

So colors may change during a zoom, and what is measured in widths of the frame, or ranked among its
values, is that of each frame. Texels of level 0 are single samples, and those of level 1 mean
colors of 2 x 2. A texel of another level is the mean color of 4 x 4 samples, which were picked from
those of its band evenly. A frame is made in rings, so that few texels are held at a time.
"""

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.films.bands import Texels
from fractals.films.frames import FilmConstants
from fractals.films.gather import FrameMaker, Places, Span, polar
from fractals.films.motion import Moment
from fractals.films.planes import Frame
from fractals.films.samples import FrameTile, PackedSamples, Sampler, block_of, from_flat, number_of
from fractals.films.strip import Key, SampleLayout, Strip
from fractals.films.texel_files import HOST, TexelFiles, check_texels
from fractals.kernels.strip import CHANNELS, SPARE
from fractals.rendering.layered import LayeredPainter
from fractals.rendering.options import RenderOptions
from fractals.rendering.shading import Fill, Painter
from fractals.rendering.tiles import Tile
from fractals.scene.geometry import Layers, ResolvedLayer
from fractals.scene.paint import Color
from fractals.threads import run_tiles

# The samples that a strip of values holds: every row at the finest level that frames take of it.
#
# A level has every second sample and row of the level before, in turn the second and the first of
# two, so that its samples stay near the middles of their squares.


# Returns rows of a band at its finest level: ``draw(band, first, last)``, from the band's first on.
Draw = Callable[[int, int, int], Iterable[tuple[int, PackedSamples]]]


class Held:
    """Samples, in chunks of rows of a level.

    `room`: ``room(rows, columns, block)`` returns room for samples. `draw`: ``draw(band, first,
    last)`` yields some rows of a band at its finest level after the other: the first one's number,
    and samples. `folder`: of files.
    """

    def __init__(
        self,
        layout: SampleLayout,
        room: Callable[[int, int, int], PackedSamples],
        draw: Draw,
        folder: Path | None,
    ) -> None:
        self.layout, self._room, self._draw = layout, room, draw
        self.files = TexelFiles(layout, folder, self._sizes)
        self._chunks: dict[Key, PackedSamples] = {}
        # Of bands whose rows are drawn one after the other: the file's level, samples, and rows.
        self._files: dict[int, tuple[int, PackedSamples, NDArray[np.bool_]]] = {}

    @property
    def size(self) -> int:
        """Return the bytes of all samples."""
        return sum(kept.size for kept in self._chunks.values())

    def read(self, level: int, first: int, last: int) -> PackedSamples | None:
        """Return rows of a level, all in one band, from what is held of it or of finer levels."""
        parts, row = [], first
        while row < last:
            part = self._some(level, row, last)
            if part is None:
                return None
            parts.append(part)
            row += part.codes.shape[1]
        if len(parts) == 1:
            return parts[0]
        codes, scales = ([getattr(part, name) for part in parts] for name in ("codes", "scales"))
        return PackedSamples(np.concatenate(codes, 1), np.concatenate(scales, 1))

    def _some(self, level: int, first: int, last: int) -> PackedSamples | None:
        """Return the first of some rows of a level: as many as one chunk holds."""
        for down in range(level + 1):
            start, step, rows = (
                first_sample(level, down),
                1 << down,
                self.layout.chunk(level - down),
            )
            row = (first << down) + start
            if kept := self._chunks.get((level - down, row // rows)):
                own = row % rows
                stop = min(rows, own + (last - first - 1) * step + 1)
                return kept.taken(slice(own, stop, step), start, step)
        return None

    def keep(self, regions: list[range]) -> None:
        """Hold the samples of regions (see `SampleLayout.regions`), and no others."""
        wanted = dict.fromkeys(self.layout.chunks(regions))
        held, missing = {}, []
        for key in wanted:
            kept = self._chunks.get(key) or self._coarsened(key)
            if kept:
                held[key] = kept
            else:
                missing.append(key)
        self._chunks = held
        bands: dict[int, list[Key]] = {}
        for level, k in missing:
            band = k * self.layout.chunk(level) >> (self.layout.bits - level)
            bands.setdefault(band, []).append((level, k))
        for band in sorted(bands, reverse=True):
            self._make(band, bands[band])

    def make(self, band: int) -> None:
        """Hold all samples of a band, and no others."""
        finest = self.layout.finest(band)
        rows, chunk = self.layout.rows >> finest, self.layout.chunk(finest)
        self._chunks = {}
        keys = range(band * rows // chunk, (band + 1) * rows // chunk)
        self._make(band, [(finest, k) for k in keys])

    def _coarsened(self, key: Key) -> PackedSamples | None:
        level, k = key
        rows = self.layout.chunk(level)
        kept = self.read(level, k * rows, (k + 1) * rows)
        if kept is None:
            return None
        return PackedSamples(np.ascontiguousarray(kept.codes), np.ascontiguousarray(kept.scales))

    def _make(self, band: int, keys: list[Key]) -> None:
        """Hold chunks of a band, once all of them are whole: drawing may be interrupted."""
        made = {key: self._room_of(band, key[0], self.layout.chunk(key[0])) for key in keys}
        self._fill(band, dict(made))
        self._chunks |= made

    def _fill(self, band: int, made: dict[Key, PackedSamples]) -> None:
        """Fill chunks of a band, from its file where that has them."""
        layout, finest = self.layout, self.layout.finest(band)
        level, stored = self._stored(band)
        if stored:
            for key in [key for key in made if key[0] >= level]:
                self._spread(band, key, made.pop(key), level, 0, stored)
        if not made:
            return
        ends = [row for key in made for row in self.layout.within(band, key, finest)]
        first, last = min(ends), max(ends)
        whole = layout.rows >> finest
        if self.files.holds(finest):
            first, last = 0, whole
        targets = list(made.items())
        if self.files.folder and not stored:
            if band not in self._files or self._files[band][0] != level:
                room = self._room_of(band, level, layout.rows >> level)
                self._files[band] = level, room, np.zeros(whole, bool)
            targets.append(((level, -1), self._files[band][1]))
        for row, part in self._draw(band, first, last):
            for key, into in targets:
                self._spread(band, key, into, finest, row, part)
        if band in self._files:
            _, room, drawn = self._files[band]
            drawn[first:last] = True
            if drawn.all():
                with self.files.open(band) as file:
                    file.put(level, 0, room.flat()[None])
                del self._files[band]

    def _spread(
        self, band: int, key: Key, into: PackedSamples, level: int, first: int, part: PackedSamples
    ) -> None:
        """Copy to a chunk (-1: the whole band) what it has of rows of a band at a level."""
        down = key[0] - level
        start, step = first_sample(key[0], down), 1 << down
        begin = 0 if key[1] < 0 else self.layout.within(band, key, key[0])[0]
        row = max(begin, -((start - first) // step))
        last = min(begin + into.codes.shape[1], -((start - first - part.codes.shape[1]) // step))
        if row < last:
            own = (row << down) + start - first
            rows = slice(own, own + (last - row - 1) * step + 1, step)
            into.fill(row - begin, part.taken(rows, start, step))

    def _stored(self, band: int) -> tuple[int, PackedSamples | None]:
        """Return the level of a band that its file holds, and what it holds."""
        ((level, size),) = self._sizes(band, 0 if self.files.holds(0) else 1).items()
        found = np.empty(size, np.uint16)
        if not self.files.read(band, {level: found}):
            return level, None
        return level, from_flat(found, self._room_of(band, level, self.layout.rows >> level))

    def _room_of(self, band: int, level: int, rows: int) -> PackedSamples:
        layout, finest = self.layout, self.layout.finest(band)
        block = block_of(layout.columns >> finest) >> (level - finest)
        return self._room(rows, layout.columns >> level, max(1, block))

    def _sizes(self, band: int, first: int) -> dict[int, int]:
        """Return how many numbers of 2 bytes the file of a band has: those of one level."""
        level = max(first, self.layout.finest(band))
        room = self._room_of(band, level, self.layout.rows >> level)
        return {level: room.codes.size + 2 * room.scales.size}


def first_sample(level: int, down: int) -> int:
    """Return the number of the first sample of a level among those of one `down` levels finer."""
    return sum((1 << (k - 1)) * ((level - down + k) & 1) for k in range(1, down + 1))


AT_ONCE = 2**16  # samples that a thread colors at a time
RANKED = 2**17  # about how many pixels of a frame are looked at to rank its values
ACROSS = 512  # pixels of a ring in a row of its arrays


@dataclass(frozen=True)
class _Ring:
    """Pixels of a frame between two distances from the fixed point."""

    span: Span  # the octaves from the rim between which they lie
    # Their numbers, row by row; the last one fills the last row; ndarray of int32, shape (rows *
    # ACROSS,)
    pixels: NDArray[np.int32]
    places: Places  # where the pixels lie in the strip


@dataclass(frozen=True)
class _Piece:
    """Rows of texels of a level within a band."""

    level: int
    rows: range  # of the level, from the first band on


class ValuedGather(FrameMaker):
    """A `FrameMaker` whose bands hold samples."""

    def __init__(
        self, strip: Strip, facts: FilmConstants, options: RenderOptions, folder: Path | None
    ) -> None:
        assert strip.colors
        super().__init__(strip, facts, options)
        self._colors, self._painting = strip.colors, self.bands.backend
        self.sampler = Sampler(strip, self.bands, strip.recipe)
        self.held = Held(strip.sampled, self.sampler.room, self._drawn, folder)
        self.files = self.held.files
        self._painters: tuple[Moment, Color, list[Painter]] | None = None
        self._texels = self.backend.empty((SPARE, CHANNELS), np.uint16)
        self._looks, self._rings = self._divided()

    def keep(self, shallow: float, deep: float, kept: Span) -> None:
        """Make the samples that frames need, and drop others."""
        span = (shallow, deep) if self.files.shared else kept  # others make bands, too
        self.held.keep(self.strip.sampled.regions(*span))

    def make(self, band: int) -> None:
        """Make all samples of a band; drop other bands."""
        self.held.make(band)

    def frame(self, moment: Moment) -> Frame:
        """Return the pixels of a frame."""
        width, height = self.strip.size
        found = np.empty((height * width, 3), np.uint16)
        for ring in self._rings:
            starts = self._draw(moment, ring.span)
            pixels = self.gathered(moment, ring.places, self._texels, starts)
            found[ring.pixels] = pixels.reshape(-1, 3)
        return found.reshape(height, width, 3)

    def _divided(self) -> tuple[tuple[NDArray[np.float32], ...], list[_Ring]]:
        """Return turns and depths of the pixels that are looked at for ranks, and the rings."""
        strip, to_device = self.strip, self.backend.to_device
        width, height = strip.size
        places: tuple[Any, ...] = polar(strip, self.backend)
        if self.backend.kind not in HOST:
            found = tuple(np.empty(device.shape, device.dtype) for device in places)
            for device, host in zip(places, found, strict=True):
                self.backend.to_host(device, host)
            places = found
        turns, depths, _ = places
        step = max(1, math.isqrt(width * height // RANKED))
        looks = tuple(
            part[step // 2 :: step, step // 2 :: step].ravel() for part in (depths, turns)
        )
        octaves = strip.layout.octave
        borders = np.array(strip.sampled.borders) * octaves
        numbers = np.searchsorted(borders, depths.ravel(), "right")
        rings = []
        for k in range(len(borders) + 1):
            pixels = np.flatnonzero(numbers == k).astype(np.int32)
            if len(pixels):
                pixels = np.pad(pixels, (0, -len(pixels) % ACROSS), mode="edge")
                flat = (part.reshape(width * height, -1)[pixels] for part in places)
                shape = len(pixels) // ACROSS, ACROSS
                turned, deep, axes = (part.reshape(*shape, *part.shape[1:]) for part in flat)
                own = tuple(map(to_device, (turned[..., 0], deep[..., 0], axes)))
                span = float(deep.min()) / octaves, float(deep.max()) / octaves
                rings.append(_Ring(span, pixels, own))
        return looks, rings

    def _drawn(self, band: int, first: int, last: int) -> Iterator[tuple[int, PackedSamples]]:
        """Yield samples of rows of a band at its finest level, and the first row's number."""
        drawing = self.bands.open(band, 0)
        rows = self.strip.part_rows
        for row in range(first, last, rows):
            yield row, self.sampler.draw(drawing, row, min(row + rows, last))

    def _draw(self, moment: Moment, ring: Span) -> NDArray[np.int64]:
        """Color the texels of a ring of a frame.

        Returns `StripTexels.starts`. A texel does not depend on the ring.
        """
        layout = self.strip.sampled
        painters = self._painters_at(moment)
        ranges, starts = [], np.zeros((layout.bits + 1, layout.bands), np.int64)
        end = 0
        for level in range(layout.bits + 1):
            rows = layout.ring_rows(level, moment.octaves, ring)
            columns = layout.columns >> level
            first = (np.arange(layout.bands) << (layout.bits - level)) - rows.start
            starts[level] = end + first * columns
            ranges.append((rows, end))
            end += len(rows) * columns
        if self._texels.shape[0] < end + SPARE:
            empty = np.empty if self.backend.kind in HOST else self.backend.empty
            check_texels(self.backend, end + end // 16 + SPARE)
            self._texels = empty((end + end // 16 + SPARE, CHANNELS), np.uint16)
        for level, (rows, begin) in enumerate(ranges):
            if not rows:
                continue
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
                self.backend.copy_to(sharp, room)
        return starts

    def _color(
        self, painter: Painter, moment: Moment, level: int, rows: range, sharp: Texels
    ) -> None:
        """Fill texels of a level, from a row on; rows beyond the strip are as its last one."""
        layout, finer = self.strip.layout, min(level, self.strip.layout.finer)
        columns = layout.columns >> level
        last = min(rows.start + len(sharp), layout.bands << (layout.bits - level))
        most = self.strip.sampled.chunk(level - finer) >> finer  # of a chunk
        high = max(1, (AT_ONCE >> 2 * finer) // columns)
        pieces, row = [], rows.start
        while row < last:
            end = min(row + high, (row // most + 1) * most, last)
            pieces.append(_Piece(level, range(row, end)))
            row = end

        def paint(piece: _Piece) -> dict[str, float]:
            raw: Any = self._samples_of(piece, moment)
            tile = Tile(0, 0, columns, len(piece.rows))
            facts = self.facts
            rgb = painter.paint(tile, raw, facts.max_iterations, facts.count_offset)
            begin = piece.rows.start - rows.start
            self._painting.to_host(rgb, sharp[begin : begin + len(piece.rows)])
            return {}

        run_tiles(pieces, paint, self._painting.threads)
        sharp[last - rows.start :] = sharp[last - rows.start - 1]

    def _samples_of(self, piece: _Piece, moment: Moment) -> FrameTile:
        """Return the samples of which texels are made, on the device."""
        level = max(0, piece.level - self.strip.layout.finer)
        n = 1 << (piece.level - level)
        first, last = piece.rows.start * n, piece.rows.stop * n
        kept = self.held.read(level, first, last)
        assert kept
        rows = (np.arange(first, last, dtype=np.float64) + 0.5) * 2**level
        return self.sampler.tile(kept, rows[:, None], moment)

    def _painters_at(self, moment: Moment) -> list[Painter]:
        """Return what colors single samples, means of 2 x 2, and so on, as at a moment."""
        scene = self._colors(moment.seconds)
        if self._painters:
            at, color, painters = self._painters
            if at is moment or (color == scene.color and not painters[0].layers.whole):
                return painters
        plan = self.bands.plane(scene)
        values = partial(self._values_in_sight, moment, plan.layers)
        identity = np.arange(2**16, dtype=np.uint16)
        single = LayeredPainter(
            self._painting, plan, np.dtype(np.uint16), identity, values, self.sampler.placing
        )
        painters = [copy.copy(single) for _ in range(self.strip.layout.finer + 1)]
        for k, painter in enumerate(painters):
            painter.plan = replace(plan, supersampling=1 << k)
        self._painters = moment, scene.color, painters
        return painters

    def _values_in_sight(
        self, moment: Moment, layers: Layers, layer: ResolvedLayer, fill: Fill
    ) -> NDArray[np.floating[Any]]:
        """Return a layer's values of pixels that are spread evenly over a frame."""
        layout, number = self.strip.layout, number_of(layers, layer)
        depths, turns = self._looks
        turn = self.turn(moment)
        at = self.row(moment) + depths.astype(np.float64)
        levels = depths / layout.octave + layout.rim_level + 1 - layout.finer
        levels = np.clip(levels, 0, layout.levels - 1)
        found = []
        for level in range(layout.levels):
            own = levels.astype(int) == level
            row = (at[own] / 2**level).astype(np.int64)
            column = ((turns[own] + turn) % 1 * (layout.columns >> level)).astype(np.int64)
            column = np.minimum(column, (layout.columns >> level) - 1)
            chunks = row // self.strip.sampled.chunk(level)
            for chunk in np.unique(chunks):
                these = chunks == chunk
                kept = self._picked(level, row[these], column[these])
                raw = self.sampler.tile(kept, at[own][these][None], moment).raw
                found.append(self.sampler.values(kept, number, fill, raw).ravel())
        return np.concatenate(found)

    def _picked(
        self, level: int, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> PackedSamples:
        """Return single samples of a chunk, each with its own scales: one row."""
        first = int(rows.min())
        kept = self.held.read(level, first, int(rows.max()) + 1)
        assert kept
        block = kept.codes.shape[2] // max(1, kept.scales.shape[2])
        codes = kept.codes[:, rows - first, columns]
        return PackedSamples(
            codes[:, None], kept.scales[:, rows - first, columns // block][:, None]
        )
