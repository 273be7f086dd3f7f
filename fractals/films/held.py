"""The samples that a strip of values holds: every row at the finest level that frames take of it.

A level has every second sample and row of the level before, in turn the second and the first of
two, so that its samples stay near the middles of their squares.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fractals.films.kept import Kept, block_of, from_flat
from fractals.films.regions import Key, SampleLayout
from fractals.films.texels import Files

# Returns rows of a band at its finest level: ``draw(band, first, last)``, from the band's first on.
Draw = Callable[[int, int, int], Iterable[tuple[int, Kept]]]


class Held:
    """Samples, in chunks of rows of a level.

    Parameters
    ----------
    layout : SampleLayout
    room : callable
        ``room(rows, columns, block)`` returns room for samples.
    draw : callable
        ``draw(band, first, last)`` yields some rows of a band at its finest level after the other:
        the first one's number, and samples.
    folder : Path, optional
        Of files.
    """

    def __init__(
        self,
        layout: SampleLayout,
        room: Callable[[int, int, int], Kept],
        draw: Draw,
        folder: Path | None,
    ) -> None:
        self.layout, self._room, self._draw = layout, room, draw
        self.files = Files(layout, folder, self._sizes)
        self._chunks: dict[Key, Kept] = {}
        # Of bands whose rows are drawn one after the other: the file's level, samples, and rows.
        self._files: dict[int, tuple[int, Kept, NDArray[np.bool_]]] = {}

    @property
    def size(self) -> int:
        """Return the bytes of all samples."""
        return sum(kept.size for kept in self._chunks.values())

    def read(self, level: int, first: int, last: int) -> Kept | None:
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
        return Kept(np.concatenate(codes, 1), np.concatenate(scales, 1))

    def _some(self, level: int, first: int, last: int) -> Kept | None:
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
        """Hold the samples of regions, as of `SampleLayout.regions`, and no others."""
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

    def _coarsened(self, key: Key) -> Kept | None:
        level, k = key
        rows = self.layout.chunk(level)
        kept = self.read(level, k * rows, (k + 1) * rows)
        if kept is None:
            return None
        return Kept(np.ascontiguousarray(kept.codes), np.ascontiguousarray(kept.scales))

    def _make(self, band: int, keys: list[Key]) -> None:
        """Make chunks of a band, from its file where that has them."""
        layout, finest = self.layout, self.layout.finest(band)
        level, stored = self._stored(band)
        made = {key: self._room_of(band, key[0], self.layout.chunk(key[0])) for key in keys}
        self._chunks |= made
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

    def _spread(self, band: int, key: Key, into: Kept, level: int, first: int, part: Kept) -> None:
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

    def _stored(self, band: int) -> tuple[int, Kept | None]:
        """Return the level of a band that its file holds, and what it holds."""
        ((level, size),) = self._sizes(band, 0 if self.files.holds(0) else 1).items()
        found = np.empty(size, np.uint16)
        if not self.files.read(band, {level: found}):
            return level, None
        return level, from_flat(found, self._room_of(band, level, self.layout.rows >> level))

    def _room_of(self, band: int, level: int, rows: int) -> Kept:
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
