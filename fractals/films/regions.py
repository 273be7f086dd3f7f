"""The layout of a strip that keeps samples: what is held of them, and what rings of frames take."""

import itertools
import math
from collections.abc import Iterator

from fractals.films.bands import MARGIN, Layout

CHUNK = 64  # rows of samples that are held or dropped together: a power of two
RINGS = 7  # of an octave at the rim, in which a frame is made
AT_BORDER = 0.01  # octaves by which rounding may move the border of a level's service

Key = tuple[int, int]  # of a chunk: its level, and how many chunks of the level are above it


class SampleLayout(Layout):
    """A `Layout` with `finer` above 0."""

    @property
    def borders(self) -> list[float]:
        """Return the octaves from the rim of a frame where one ring of pixels ends.

        A ring takes one level, or few texels.
        """
        first = math.floor(self.rim_level) + 1 - self.rim_level  # the first level ends here
        parts = math.ceil(first * RINGS)
        return [first * k / parts for k in range(1, parts + 1)] + [first + 0.5, first + 1]

    def ring_rows(self, level: int, octaves: float, ring: tuple[float, float]) -> range:
        """Return the rows of texels of a level that a ring of a frame takes.

        `ring`: the octaves from the frame's rim between which the ring lies.
        """
        begins, ends = self._served(level)
        begins, ends = max(begins - AT_BORDER, ring[0]), min(ends + AT_BORDER, ring[1])
        if begins > ends:
            return range(0)
        slack = 2.5 * 2**level
        first = MARGIN + (octaves + begins) * self.octave - slack
        last = MARGIN + (octaves + ends) * self.octave + slack
        begin = max(0, math.floor(first / 2**level))
        return range(begin, min(self.bands << (self.bits - level), int(last // 2**level) + 1))

    def regions(self, shallow: float, deep: float) -> list[range]:
        """Return the rows of level 0 that frames between two depths take at each kept level.

        Rows that they take at several levels are those of the finest one.
        """
        begin = min(self.rows_of(level, shallow, deep).start << level for level in (0, 1))
        found = []
        for level in range(self.levels):
            texels = level + self.finer
            last = self._taken(texels, shallow, deep)[1] + self.blurred + AT_BORDER * self.octave
            end = (int(last // 2**texels) + 4) << texels
            end = max(begin, min(end, self.bands * self.rows))
            found.append(range(begin, end))
            begin = end
        return found

    def bands_of(self, shallow: float, deep: float) -> set[int]:
        """Return the bands that frames between two depths in octaves need."""
        keys = self.chunks(self.regions(shallow, deep))
        return {k * self.chunk(level) >> (self.bits - level) for level, k in keys}

    def ring_texels(self) -> list[list[int]]:
        """Return how many texels of each level a frame takes, ring by ring."""
        return [
            [
                len(self.ring_rows(level, self.depth / 2, ring)) * (self.columns >> level)
                for level in range(self.bits + 1)
            ]
            for ring in itertools.pairwise([0.0, *self.borders, self.reach])
        ]

    def held_samples(self, shallow: float, deep: float) -> int:
        """Return how many samples are held for frames between two depths."""
        keys = dict.fromkeys(self.chunks(self.regions(shallow, deep)))
        return sum(self.chunk(level) * (self.columns >> level) for level, _ in keys)

    def chunk(self, level: int) -> int:
        """Return the rows of a chunk of a level."""
        return min(CHUNK, self.rows >> level)

    def chunks(self, regions: list[range]) -> Iterator[Key]:
        """Yield the chunks that hold regions."""
        for level, region in enumerate(regions):
            row = region.start
            while row < region.stop:
                own = max(level, self.finest(row >> self.bits))
                high = self.chunk(own) << own
                yield own, row // high
                row = (row // high + 1) * high

    def within(self, band: int, key: Key, level: int) -> tuple[int, int]:
        """Return the first row of a chunk in its band, at a level, and the one after the last."""
        rows, top = self.chunk(key[0]), band << (self.bits - key[0])
        down = key[0] - level
        return (key[1] * rows - top) << down, ((key[1] + 1) * rows - top) << down
